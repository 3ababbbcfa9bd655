// Write a result: w<mask, accum, replace> = t, the last step of every GraphBLAS operation (C API 2.1, section 2.3.4).
// Bits change in place. So do values, unless w was iso (old_iso) and now gets an array. STORE 0: the iso value stays,
// only bits change.
// Arguments: old values of w (old_val, old_iso, old_stride); result t_*; the mask; `replace`; output w_bits and w_val.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
merge(i64 n, i64 size, u64* w_bits, const STORED(W_T)* old_val, ARGUMENT(W_T) old_iso, i64 old_stride, const u64* t_bits,
      const STORED(T_T)* t_val, ARGUMENT(T_T) t_iso, i64 t_stride, const u64* mask, i64 mask_stride, u64 mask_invert, i64 replace,
      STORED(W_T)* w_val) {
  const i64 p = thread_number();
  const bool inside = p < size;
  const bool open = inside && allowed(mask, mask_stride, mask_invert, p);
  const bool had = inside && bit_of(w_bits, p), news = open && bit_of(t_bits, p);
  const bool present = news || (had && (open ? ACCUM : !replace));
#if STORE
  W_T w = W_T();
  if (had && (ACCUM || !news)) w = load<W_T>(old_val, old_iso, old_stride, p);
  if (news) {
    const T_T t = load<T_T>(t_val, t_iso, t_stride, p);
    w = ACCUM && had ? accum(w, t) : take(t);
  }
#if W_BOOL
  const u32 values = __ballot_sync(ALL_LANES, present && w);
#else
  if (news || (present && !old_stride)) w_val[p] = w;
#endif
#endif
  const u32 bits = __ballot_sync(ALL_LANES, present);
  after_vote();
  if ((p & 31) == 0 && p < n * 64) {
    ((u32*)w_bits)[p >> 5] = bits;
#if STORE && W_BOOL
    ((u32*)w_val)[p >> 5] = values;
#endif
  }
}
