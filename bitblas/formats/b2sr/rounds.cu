// Small rounds of one step along tile rows: LANES lanes share one, an item a lane.
#include "formats/b2sr/along.cuh"
#include "kernels/rounds.cuh"
