// Small rounds of one advance along nibble rows: a group of LANES lanes pushes along a row.
#include "formats/nib/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/rounds.cuh"
