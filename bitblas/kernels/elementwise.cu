// Element-wise operation on vectors: w<mask, replace> = f(u, v).
// One source for apply, select, eWiseAdd, eWiseMult and eWiseUnion.
// MODE: LEFT where u has an entry; BOTH where both have one; UNION where at least one has (a single value is copied);
// FILLED is UNION with a default for the missing operand. KEEP (select): keep the entries of u for which f is true,
// with u's values.
// PLACES: position p is the matrix entry (rows[p], cols[p]), which f receives as its indices. W_ISO: only bits are
// written.
// Arguments: operands u_*, v_* with u_default, v_default; rows, cols; the mask; output w_*.
#include "kernels/views.cuh"
#include "kernels/merge.cuh"
#define LEFT 0
#define BOTH 1
#define UNION 2
#define FILLED 3
#define AT_ONCE (64 / LANES)

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
elementwise(i64 n, i64 size, const u64* u_bits, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride, const u64* v_bits,
            const STORED(V_T)* v_val, ARGUMENT(V_T) v_iso, i64 v_stride, ARGUMENT(U_T) u_default, ARGUMENT(V_T) v_default, const i64* rows,
            const i64* cols, const u64* mask, i64 mask_stride, u64 mask_invert, i64 replace, u64* w_bits,
            STORED(W_T)* w_val) {
  // A warp has some consecutive half words: their bits are loaded together, then the values.
  const i64 first = thread_number() / 32 * (32 * AT_ONCE) + (threadIdx.x & 31);
  bool open[AT_ONCE], has_u[AT_ONCE], has_v[AT_ONCE], present[AT_ONCE];
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    const bool inside = p < size;
    open[k] = inside && allowed(mask, mask_stride, mask_invert, p);
    has_u[k] = inside && bit_of(u_bits, p);
    has_v[k] = MODE != LEFT && inside && bit_of(v_bits, p);
  }
  U_T x[AT_ONCE];
  V_T y[AT_ONCE];
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    present[k] = open[k] & (MODE == LEFT ? has_u[k] : MODE == BOTH ? has_u[k] & has_v[k] : has_u[k] | has_v[k]);
    x[k] = present[k] && has_u[k] ? load<U_T>(u_val, u_iso, u_stride, p) : u_default;
    y[k] = present[k] && (MODE == LEFT || has_v[k]) ? load<V_T>(v_val, v_iso, v_stride, p) : v_default;
  }
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    T_T t = T_T();
    if (present[k]) {
      const i64 i = PLACES ? rows[p] : p, j = PLACES ? cols[p] : 0;
#if KEEP
      present[k] = f(x[k], y[k], i, j);
      t = cast<T_T>(x[k]);
#else
      if (MODE == UNION && !has_v[k]) t = cast<T_T>(x[k]);
      else if (MODE == UNION && !has_u[k]) t = cast<T_T>(y[k]);
      else t = cast<T_T>(f(x[k], y[k], i, j));
#endif
    }
    merge_position(p < size, open[k], present[k], t, p, p < n * 64, replace != 0, w_bits, w_val);
  }
}
