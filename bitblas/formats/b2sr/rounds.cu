// Small rounds of one advance along tile rows: LANES lanes share a tile row, one item per lane.
#include "formats/b2sr/along.cuh"
#include "kernels/rounds.cuh"
