// w<mask, accum, replace> = t in place: the last step of a statement whose t was made by another kernel.
#include "kernels/vector.cuh"
#include "kernels/merge.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
merge(i64 n, i64 size, u64* w_bits, STORED(W_T)* w_val, const u64* t_bits, const STORED(T_T)* t_val, T_T t_iso,
      i64 t_step, const u64* mask, i64 mask_step, u64 mask_flip, i64 replace) {
  const i64 p = thread_number();
  const bool inside = p < size;
  const bool open = inside && allowed(mask, mask_step, mask_flip, p);
  const bool has_t = open && bit_of(t_bits, p);
  const T_T t = has_t ? load<T_T>(t_val, t_iso, t_step, p) : T_T(0);
  merge_position(inside, open, has_t, t, p, p < n * 64, replace != 0, w_bits, w_val);
}
