// T<mask> = A (+).(x) X by rows of A: X and T are bitmaps, whose lines are the columns and the rows of A. Of values
// LANES lanes share a word of a line, a place or two each, so that values are read side by side; of WORDS they share the
// entries of its row. A sum has the order of its row's entries.
// MODE: ROWS, lines of T; PARTS, segments of long rows, whose sums are lines of a bitmap of their own (WORDS: joined to
// T); JOIN, runs of lines of X, as where parts are joined, and A is not read.
#include "formats/bitmap/lines.cuh"
#define ROWS 0
#define PARTS 1
#define JOIN 2
#define AHEAD 4  // words that a lane asks for before it uses the first

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const PTR_T* begin, const PTR_T* end, const i64* row_of, i64 row_stride, const column_t* col,
     i64 width, const value_t* a_val, A_T a_iso, i64 a_stride, i64 words, u64 last, const LINE_T* x_bits,
     const STORED(U_T)* x_val, U_T x_iso, i64 x_stride, const LINE_T* mask, i64 mask_stride, u64 mask_invert,
     LINE_T* t_bits, sums_t* t_val, const i64* asked, i64 least, i64 most) {
  if (*asked < least || *asked >= most) return;
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = unit < n;
  const i64 number = inside ? unit / words : 0, w = inside ? unit % words : 0;
  const i64 line = inside && row_stride ? row_of[number] : number;
  const i64 to = (MODE == PARTS && KIND == VALUES ? number : line) * words + w;
  i64 e = inside ? (i64)begin[number] : 0, stop = inside ? (i64)end[number] : 0;
  if (stop - e > longest) stop = e;  // its segments are rows of another launch
  const u64 places = inside ? open_places(mask, mask_stride, mask_invert, last, words, line, w) : 0;
  if (!places) stop = e;
  const Columns columns(col, width);
#if KIND == WORDS
  u64 found = 0;
  for (e += lane; e < stop && found != places; e += AHEAD * LANES) {
    i64 k[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i * LANES < stop ? e + i * LANES : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) found |= x_bits[k[i] * words + w] & places;
  }
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
  if (!inside || lane) return;
  if (MODE == PARTS) or_places(t_bits, to, found);
  else t_bits[to] = (LINE_T)found;
#else
  const Values values = {a_val, a_iso, a_stride};
  Z_T sum[PER];
  bool some[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) some[p] = false, sum[p] = Z_T();
  for (; e < stop; e += AHEAD) {
    i64 k[AHEAD];
    u64 x[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 next = e + i < stop ? e + i : e;
      k[i] = MODE == JOIN ? next : (i64)columns[next];
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) x[i] = e + i < stop ? x_bits[k[i] * words + w] & places : 0;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (!x[i]) continue;
      const A_T a = MODE == JOIN ? A_T() : values.at(e + i);
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        const int b = lane + p * LANES;
        if (!(x[i] >> b & 1) || (HAS_TERMINAL == 2 && some[p])) continue;
        const U_T u = load<U_T>(x_val, x_iso, x_stride, (k[i] * words + w) * BITS + b);
        join(some[p], sum[p], true, mul(a, u, line, k[i], w * BITS + b));
      }
    }
  }
  u64 found = 0;
#if Z_BOOL
  u64 true_ = 0;
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    const int group = threadIdx.x & 31 & ~(LANES - 1);
    const u64 lanes = ~0ull >> (64 - LANES);
    found |= (__ballot_sync(ALL_LANES, some[p]) >> group & lanes) << p * LANES;
#if Z_BOOL
    true_ |= (__ballot_sync(ALL_LANES, some[p] && sum[p]) >> group & lanes) << p * LANES;
#else
    if (some[p]) t_val[to * BITS + lane + p * LANES] = sum[p];
#endif
  }
  if (!inside || lane) return;
  t_bits[to] = (LINE_T)found;
#if Z_BOOL
  t_val[to] = (LINE_T)true_;
#endif
#endif
}
