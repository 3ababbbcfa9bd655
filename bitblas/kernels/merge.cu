// w<mask, accum, replace> = t in place: the last step of every GraphBLAS statement (C API 2.1, section 2.3.4).
#include "kernels/vector.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
merge(i64 n, i64 size, u64* w_bits, STORED(W_T)* w_val, const u64* t_bits, const STORED(T_T)* t_val, T_T t_iso,
      i64 t_step, const u64* mask, i64 mask_step, u64 mask_flip, i64 replace) {
  const i64 p = thread_number();
  const bool inside = p < size;
  const bool open = inside && allowed(mask, mask_step, mask_flip, p);
  const bool has_w = inside && bit_of(w_bits, p), has_t = open && bit_of(t_bits, p);
  const bool present = open ? has_t || (ACCUM && has_w) : has_w && !replace;
#if W_BOOL
  bool w = has_w && bit_of(w_val, p);
  if (has_t) {
    const T_T t = load<T_T>(t_val, t_iso, t_step, p);
    w = ACCUM && has_w ? accum(w, t) : cast<bool>(t);
  }
  const u32 values = __ballot_sync(ALL_LANES, present && w);
#else
  if (has_t) {
    const T_T t = load<T_T>(t_val, t_iso, t_step, p);
    w_val[p] = ACCUM && has_w ? accum(w_val[p], t) : cast<W_T>(t);
  }
#endif
  const u32 bits = __ballot_sync(ALL_LANES, present);
  if ((p & 31) == 0 && p < n * 64) {
    ((u32*)w_bits)[p >> 5] = bits;
#if W_BOOL
    ((u32*)w_val)[p >> 5] = values;
#endif
  }
}
