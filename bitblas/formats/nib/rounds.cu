// Small rounds of one step along rows in nibbles: a group of LANES lanes pushes along a row.
#include "formats/nib/along.cuh"
#include "kernels/rounds.cuh"
