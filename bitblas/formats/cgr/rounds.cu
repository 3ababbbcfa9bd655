// Small rounds of one step along rows of intervals and residuals: a group of LANES lanes pushes along a row.
#include "formats/cgr/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/rounds.cuh"
