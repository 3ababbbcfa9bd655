// Encode and decode nibble rows, and read facts about them.
#include "formats/nib/walk.cuh"

#ifdef KERNEL_encode
// Encode CSR rows as nibbles (layout.py), LANES lanes per row.
// FILL 0: sizes[row] = its number of nibbles. FILL 1: write them, and where each row ends; ends[row] is the same,
// counted from the start of its group of rows. Words are zero before, because rows share them. first: the number of
// the first row.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    encode(i64 n, i64 first, const PTR_T* ptr, const int* col, i64* sizes, const i64* heads, const i64* ends,
           u32* words) {
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
    const u32 up_to = sum_upto<LANES>(length, lane);
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
#endif  // KERNEL_encode

#ifdef KERNEL_decode
// Decode nibble rows to CSR rows, LANES lanes per row: all rows, or (row_stride 1) those listed in row_of.
// FILL 0: counts[k] = number of entries of the k-th row. FILL 1: write their columns from counts[k] on. columns, numbers:
// for other codes.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    decode(i64 n, const i64* row_of, i64 row_stride, i64 columns, const i64* heads, const u32* words, i64* counts,
           int* col, i64* numbers) {
  (void)columns, (void)col, (void)numbers;
  const i64 k = thread_number() / LANES, row = row_stride && k < n ? row_of[k] : k;
  const int lane = threadIdx.x & (LANES - 1);
#if FILL
  Walk<LANES, true> walk;
  if (k < n) walk = Walk<LANES, true>(words, row_extent(heads, words, row), row, counts[k], lane);
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll
    for (int x = 0; x < COMPLETED; ++x)
      if (found.has(x)) col[found.number(x)] = (int)found.at(x);
  }
#else
  Extent x = {0, 0};
  if (k < n) x = row_extent(heads, words, row);
  i64 count = 0;
  for (i64 word = (x.at >> 3) + lane; word * 8 < x.end; word += LANES) {
    u32 stops = words[word] & STOPS;
    if (word * 8 < x.at) stops &= ~0u << 4 * (x.at & 7);
    if (x.end - word * 8 < 8) stops &= (1u << 4 * (x.end & 7)) - 1;
    count += __popc(stops);
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) count += shuffle_xor(ALL_LANES, count, d);
  if (k < n && lane == 0) counts[k] = count;
#endif
}
#endif  // KERNEL_decode

#ifdef KERNEL_marks
// Marks of the segments of long rows, `part` words each except for what the first value needs.
// One warp per row rows[h], whose first segment is number first[h].

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    marks(i64 n, const i64* heads, const u32* words, i64 part, const i64* rows, const i64* first, i64* begin) {
  const i64 hub = thread_number() / 32;
  if (hub >= n) return;
  const int lane = threadIdx.x & 31;
  const Extent x = row_extent(heads, words, rows[hub]);
  const i64 at = first[hub], count = (words_of(x) + part - 1) / part;
  if (lane == 0) {
    begin[MARK * at] = x.at, begin[MARK * at + 1] = rows[hub], begin[MARK * at + 2] = 0;
    begin[MARK * (at + count) - 1] = x.end;
  }
  Walk<32, true> walk(words, x, rows[hub], 0, lane);
  while (walk.more()) {
    const i64 word = walk.at + 8 * lane;
    Found found;
    walk.step(words, lane, found);
    i64 before = word - found.open;
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const u32 column = found.next();
      const i64 here = word + found.from;
      const i64 s = (here - x.at) / (8 * part);  // a value contains at most one segment start
      if (s > (before - x.at) / (8 * part) && s < count) {
        i64* mark = begin + MARK * (at + s);
        mark[0] = mark[-1] = here, mark[1] = column, mark[2] = found.entry + k + 1;
      }
      before = here;
    }
  }
}
#endif  // KERNEL_marks

#ifdef KERNEL_mirror
#include "kernels/views.cuh"
#define MIRROR
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_mirror

#ifdef KERNEL_hub_columns
#define HUB_COLUMNS
#define HUB_STEPS 32
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_hub_columns
