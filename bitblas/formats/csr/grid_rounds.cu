// All rounds of one advance along rows, in one launch (kernels/grid_rounds.cuh).
#undef BLOCK
#define BLOCK THREADS  // larger than those of other kernels, so that fewer blocks have to meet
#include "formats/csr/advance.cuh"
#include "kernels/cluster.cuh"
#include "kernels/grid.cuh"
#include "loop/gpu/report.cuh"
#include "kernels/grid_rounds.cuh"
