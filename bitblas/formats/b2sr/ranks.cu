// Count the bits of each tile. Their prefix sums are the ranks by which values are found.
// counts: output.
#include "formats/b2sr/tile.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) ranks(i64 n, const word_t* bits, i64* counts) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  const int words = TILE == 4 ? 1 : TILE * TILE / 64;
  i64 sum = 0;
  for (int k = 0; k < words; ++k) sum += __popcll(bits[tile * words + k]);
  counts[tile] = sum;
}
