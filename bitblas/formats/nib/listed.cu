// Small rounds of a body of passes and one step, along rows in nibbles. The text of the passes is generated (see
// loop/fused/listed.py).
#include "formats/nib/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/listed.cuh"
