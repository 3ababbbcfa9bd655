// Small rounds of a loop body with element-wise kernels and one advance, along tile rows.
// loop/codegen/cuda_worklist.py generates the text of the element-wise kernels.
#include "formats/b2sr/along.cuh"
#include "kernels/listed.cuh"
