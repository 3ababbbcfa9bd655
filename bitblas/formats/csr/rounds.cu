// Small rounds of one advance along rows: a group of LANES lanes pushes along a row.
#include "formats/csr/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/rounds.cuh"
