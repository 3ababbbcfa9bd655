// The words of each row, as lanes read them: from its first nibble on. One thread a row.
#include "formats/nib/row.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
extents(i64 n, const i64* heads, const u32* words, i64* sizes) {
  const i64 row = thread_number();
  if (row < n) sizes[row] = words_of(row_extent(heads, words, row));
}
