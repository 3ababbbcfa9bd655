// Small rounds of a loop body with element-wise kernels and one advance, along nibble rows.
// loop/codegen/cuda_worklist.py generates the text of the element-wise kernels.
#include "formats/nib/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/listed.cuh"
