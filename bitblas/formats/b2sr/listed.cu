// Small rounds of a body of passes and one step, along tile rows. The text of the passes is generated (see loop/fused/listed.py).
#include "formats/b2sr/along.cuh"
#include "kernels/listed.cuh"
