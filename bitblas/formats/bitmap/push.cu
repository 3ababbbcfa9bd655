// T<mask> = A' (+).(x) X by the lines of X that have entries: X and T are bitmaps, whose lines are the rows and the
// columns of A; T has no bits before. LANES lanes share a row of A. Of WORDS alone: sums of values are pulled.
#include "formats/bitmap/lines.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const column_t* col,
     i64 width, const value_t* a_val, A_T a_iso, i64 a_stride, i64 words, u64 last, const LINE_T* x_bits,
     const STORED(U_T)* x_val, U_T x_iso, i64 x_stride, const LINE_T* mask, i64 mask_stride, u64 mask_invert,
     LINE_T* t_bits, sums_t* t_val, const i64* asked, i64 least, i64 most) {
  if (*asked < least || *asked >= most) return;
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 number = unit / words, w = unit % words;
  const u64 x = x_bits[(row_stride ? row_of[number] : number) * words + w];
  if (!x) return;
  i64 e = begin[number];
  const i64 stop = end[number];
  if (stop - e > longest) return;  // a hub: its segments are rows of another launch
  const Columns columns(col, width);
  for (e += threadIdx.x & (LANES - 1); e < stop; e += LANES) {
    const i64 line = columns[e];
    const u64 places = x & open_places(mask, mask_stride, mask_invert, last, words, line, w);
    if (places & ~(u64)load_fresh(t_bits + line * words + w)) or_places(t_bits, line * words + w, places);
  }
}
