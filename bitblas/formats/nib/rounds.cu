// Small rounds of one step along rows in nibbles: a group of LANES lanes pushes along a row.
#include "formats/nib/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/rounds.cuh"
