// Small rounds of a body of passes and one step, along rows. The text of the passes is generated (see loop/fused/listed.py).
#include "formats/csr/rows.cuh"
#include "kernels/along_rows.cuh"
#include "kernels/listed.cuh"
