// Push SpMM with a bitmap: T<mask> = A' (+).(x) X by the lines of X that have entries.
// X and T are bitmaps whose lines are the rows and the columns of A; the bits of T are zero before.
// A thread inspects each word; a warp walks the rows of the words that have entries. WORDS only: sums of values are
// pulled.
#include "formats/bitmap/lines.cuh"
#define AHEAD 4  // entries that a lane loads before it uses the first

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
push(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const column_t* col,
     i64 width, const value_t* a_val, ARGUMENT(A_T) a_iso, i64 a_stride, i64 words, u64 last, const LINE_T* x_bits,
     const STORED(U_T)* x_val, ARGUMENT(U_T) x_iso, i64 x_stride, const LINE_T* mask, i64 mask_stride, u64 mask_invert,
     LINE_T* t_bits, sums_t* t_val, const i64* asked, i64 least, i64 most) {
  if (*asked < least || *asked >= most) return;
  const i64 unit = thread_number();
  const bool inside = unit < n;
  const i64 number = inside ? unit / words : 0, mine = inside ? unit % words : 0;
  const u64 some = inside ? x_bits[(row_stride ? row_of[number] : number) * words + mine] : 0;
  const i64 from = some ? (i64)begin[number] : 0;
  i64 until = some ? (i64)end[number] : 0;
  if (until - from > longest) until = from;  // a hub: its segments are processed by another launch
  const Columns columns(col, width);
  for (u32 todo = __ballot_sync(ALL_LANES, from < until); todo; todo &= todo - 1) {
    const int owner = __ffs(todo) - 1;
    const u64 x = __shfl_sync(ALL_LANES, some, owner);
    const i64 w = __shfl_sync(ALL_LANES, mine, owner), stop = __shfl_sync(ALL_LANES, until, owner);
    for (i64 e = __shfl_sync(ALL_LANES, from, owner) + (threadIdx.x & 31); e < stop; e += AHEAD * 32) {
      i64 line[AHEAD];
      u64 places[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) line[i] = columns[e + i * 32 < stop ? e + i * 32 : e];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        places[i] = x & open_places(mask, mask_stride, mask_invert, last, words, line[i], w);
        places[i] &= ~(u64)load_fresh(t_bits + line[i] * words + w);
      }
#pragma unroll
      for (int i = 0; i < AHEAD; ++i)
        if (places[i]) or_places(t_bits, line[i] * words + w, places[i]);
    }
  }
}
