// Small rounds of one advance along CGR rows: a group of LANES lanes pushes along a row.
#include "formats/cgr/rows.cuh"
#include "kernels/along_rows.cuh"
#define KEEPS false  // registers would be spilled
#include "kernels/rounds.cuh"
