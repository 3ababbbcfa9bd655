// Words per coded row, counted from its first unit on. One thread per row.
#include "formats/blocks.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) extents(i64 n, const i64* heads, const u32* words, i64* sizes) {
  const i64 row = thread_number();
  if (row >= n) return;
  const Extent x = extent_of<IN_WORD>(heads, words, row);
  sizes[row] = (x.end - x.at + IN_WORD - 1) / IN_WORD;
}
