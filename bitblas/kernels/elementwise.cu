// w<mask, replace> = f(u, v) position by position: apply, select, element-wise add, mult and union in one source.
// MODE: LEFT where u has an entry; BOTH where both have; UNION where either has (the other's value alone is kept);
// FILLED as UNION with defaults for what is missing. KEEP: the entries of u for which f is true, with u's values.
// PLACES: position p stands for the entry (rows[p], cols[p]) of a matrix. W_ISO: bits alone are written.
#include "kernels/vector.cuh"
#include "kernels/merge.cuh"
#define LEFT 0
#define BOTH 1
#define UNION 2
#define FILLED 3

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
elementwise(i64 n, i64 size, const u64* u_bits, const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, const u64* v_bits,
            const STORED(V_T)* v_val, V_T v_iso, i64 v_stride, U_T u_default, V_T v_default, const i64* rows,
            const i64* cols, const u64* mask, i64 mask_stride, u64 mask_invert, i64 replace, u64* w_bits,
            STORED(W_T)* w_val) {
  const i64 p = thread_number();  // 64 threads a word: the lanes of a warp share half a word
  const bool inside = p < size;
  const bool open = inside && allowed(mask, mask_stride, mask_invert, p);
  const bool has_u = open && bit_of(u_bits, p);
  const bool has_v = MODE != LEFT && open && bit_of(v_bits, p);
  bool present = MODE == LEFT ? has_u : MODE == BOTH ? has_u && has_v : has_u || has_v;
  T_T t = T_T();
  if (present) {
    const i64 i = PLACES ? rows[p] : p, j = PLACES ? cols[p] : 0;
    U_T x = has_u ? load<U_T>(u_val, u_iso, u_stride, p) : u_default;
    V_T y = MODE == LEFT || has_v ? load<V_T>(v_val, v_iso, v_stride, p) : v_default;
#if KEEP
    present = f(x, y, i, j);
    t = cast<T_T>(x);
#else
    if (MODE == UNION && !has_v) t = cast<T_T>(x);
    else if (MODE == UNION && !has_u) t = cast<T_T>(y);
    else t = cast<T_T>(f(x, y, i, j));
#endif
  }
  merge_position(inside, open, present, t, p, p < n * 64, replace != 0, w_bits, w_val);
}
