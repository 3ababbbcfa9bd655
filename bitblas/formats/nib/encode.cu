// Encode CSR rows as nibbles (layout.py), LANES lanes per row.
// FILL 0: sizes[row] = its number of nibbles. FILL 1: write them, and where each row ends; ends[row] is the same,
// counted from the start of its group of rows. Words are zero before, because rows share them. first: the number of
// the first row.
#include "formats/nib/row.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
encode(i64 n, i64 first, const PTR_T* ptr, const int* col, i64* sizes, const i64* heads, const i64* ends, u32* words) {
  (void)sizes, (void)heads, (void)ends, (void)words;
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  i64 begin = 0, stop = 0;
  if (row < n) begin = ptr[row], stop = ptr[row + 1];
#if FILL
  i64 base = stop > begin ? begin_of<8>(heads, ends, row) : 0;
  if (row < n && lane == 0) put_end<8>(heads, ends, words, row);
#else
  i64 size = 0;
#endif
  for (i64 e = begin + lane; __any_sync(ALL_LANES, e < stop); e += LANES) {
    u32 value = 0, length = 0;
    if (e < stop) {
      const int apart = col[e] - (int)(e == begin ? first + row : col[e - 1]);
      value = e > begin ? (u32)apart - 1 : apart >= 0 ? 2 * (u32)apart : 2 * (u32)(-(apart + 1)) + 1;
      length = value ? (34 - __clz(value)) / 3 : 1;
    }
#if FILL
    u32 up_to = length;
#pragma unroll
    for (int d = 1; d < LANES; d <<= 1) {
      const u32 below = __shfl_up_sync(ALL_LANES, up_to, d, LANES);
      if (lane >= d) up_to += below;
    }
    if (e < stop) {
      u64 code = 8ull << 4 * (length - 1);
      for (u32 k = 0; k < length; ++k) code |= (u64)(value >> 3 * k & 7) << 4 * k;
      put_bits(words, (u64)(base + up_to - length) * 4, code);
    }
    base += LANES > 1 ? __shfl_sync(ALL_LANES, up_to, LANES - 1, LANES) : up_to;
#else
    size += length;
#endif
  }
#if !FILL
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) size += shuffle_xor(ALL_LANES, size, d);
  if (row < n && lane == 0) sizes[row] = size;
#endif
}
