// w<mask, accum, replace> = A (+).(x) u row by row: LANES lanes decode a row together, and end it at a terminal value.
// begin: heads of groups of rows; of segments of long rows (row_stride 1) marks, and `end` where each ends. `longest`
// counts words, as a lane reads them.
#include "kernels/ending.cuh"
#include "kernels/values.cuh"
#include "formats/nib/walk.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pull(i64 n, i64 longest, const i64* begin, const i64* end, const i64* row_of, i64 row_stride, const u32* words,
     const PLACE_T* value_ptr, const value_t* a_val, A_T a_iso, i64 a_stride, const u64* u_bits,
     const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u64* mask, i64 mask_stride, u64 mask_invert, Z_T product,
     const u64* w_bits, const STORED(W_T)* w_val, W_T w_iso, i64 w_stride, i64 moved, i64 replace, u64* t_bits,
     STORED(W_T)* t_val) {
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = unit < n;
  const i64 row = row_stride && inside ? row_of[unit] : unit;
  // A hub: its segments are rows of another launch. Presence alone is looked for in the hub's beginning at once, and
  // its segments only set the bit, while it is missing.
  const bool segment = PRESENCE && row_stride;
  bool hub = false;
  const bool open = inside && allowed(mask, mask_stride, mask_invert, row) && !(segment && bit_of(t_bits, row));
  Walk<LANES, RANKED> walk;
  if (open) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (row_stride) {
      walk = Walk<LANES, RANKED>(begin + 3 * unit, end[unit], number);
    } else {
      Extent x = row_extent(begin, words, row);
      if (words_of(x) > longest) hub = !PRESENCE, x.end = PRESENCE ? x.at + 8 * longest : x.at;
      walk = Walk<LANES, RANKED>(x, row, number);
    }
  }
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  bool some = false;
  Z_T sum = IDENTITY;
  i64 count = 0;
#if KIND == WORDS && U_FULL
  some = walk.more();
#else
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#if KIND == VALUES
    A_T a[COMPLETED];
    U_T x[COMPLETED];
#endif
    bool has[COMPLETED];
    u32 j[COMPLETED];
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k) {
      has[k] = k < found.count;
      j[k] = has[k] ? found.next() : 0;
      if (!U_FULL) has[k] = has[k] && bit_of(u_bits, j[k]);
#if KIND == VALUES
      a[k] = RANKED && has[k] ? values.at(found.entry + k) : a_iso;
      x[k] = has[k] ? load<U_T>(u_val, u_iso, u_stride, j[k]) : U_T();
#else
      some = some || has[k];
      count += has[k];
#endif
    }
#if KIND == VALUES
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k)
      if (has[k] && !is_final(some, sum)) join(some, sum, true, mul(a[k], x[k], row, j[k]));
#endif
#if KIND == WORDS || (KIND == VALUES && HAS_TERMINAL)
    const bool done = KIND == WORDS ? some : is_final(some, sum);
    if (LANES == 1 ? done : (__ballot_sync(ALL_LANES, done) & group_mask<LANES>()) != 0) walk.stop();
#endif
  }
#endif
  if (KIND == COUNT) {
#pragma unroll
    for (int d = LANES / 2; d; d >>= 1) count += shuffle_xor(ALL_LANES, count, d);
    some = count > 0;
    if (some) sum = repeated(product, count);
  } else {
    if (KIND == WORDS) sum = product;
    join_lanes(some, sum, 1);
  }
  if (segment) {
    if (some && lane == 0) atomicOr((u32*)t_bits + (row >> 5), 1u << (row & 31));
    return;
  }
  Ending done = {false, false};
  if (inside && lane == 0)
    done = finish(unit, open && !hub, some, sum, w_bits, w_val, w_iso, w_stride, moved, hub ? 0 : replace, t_val);
  write_bits<1>(t_bits, n, unit, done.present);
#if STORE && W_BOOL
  write_bits<1>(t_val, n, unit, done.value);
#endif
}
