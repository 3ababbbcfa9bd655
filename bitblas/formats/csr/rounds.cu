// Small rounds of one step along rows: a group of LANES lanes pushes along a row.
#include "formats/csr/along.cuh"
#include "kernels/rounds.cuh"
