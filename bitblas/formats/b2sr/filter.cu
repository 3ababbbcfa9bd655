// Filter entries: clear the bits of entries that are not kept; `some` marks tiles that have any left.
// One thread per tile.
// keep: a flag per entry; left: output bits.
#include "formats/b2sr/tile.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
filter(i64 n, const word_t* bits, const PLACE_T* value_ptr, const u8* keep, word_t* left, u8* some) {
  const i64 tile = thread_number();
  if (tile >= n) return;
  const int words = TILE == 4 ? 1 : TILE * TILE / 64;
  i64 rank = value_ptr[tile];
  bool any = false;
  for (int k = 0; k < words; ++k) {
    u64 word = 0;
    for (u64 rest = bits[tile * words + k]; rest; rest &= rest - 1)
      if (keep[rank++]) word |= rest & (~rest + 1);
    left[tile * words + k] = (word_t)word;
    any = any || word;
  }
  some[tile] = any;
}
