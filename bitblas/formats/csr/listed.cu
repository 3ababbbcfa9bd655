// Small rounds of a body of passes and one step, along rows. The text of the passes is generated (see loop/listed.py).
#include "formats/csr/along.cuh"
#include "kernels/listed.cuh"

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
listed(i64 n, i64 size, i64 longest, i64 from, u64 most, u64 most_work, u64* condition, i64* rounds, u64* state,
       u64* old_state, u64* t_bits, u64* next_bits, u64* old_bits, C_T* t_val, C_T* next_val, C_T* old_val,
       const u64* u_bits, const STORED(U_T)* u_val, U_T u_iso, i64 u_stride, u32* list, const u32* old_list,
       u32* segments, u64* on, u32* spill, u32* other_spill, u32* item_spill, const u64* mask, i64 mask_stride,
       u64 mask_invert, FORM(), const value_t* a_val, A_T a_iso, i64 a_stride PARAMETERS) {
  (void)n;
  __shared__ Lists lists;
  const Units form = FORM_OF();
  const Along along = {form, {a_val, a_iso, a_stride}, u_iso, u_stride, mask, mask_stride, mask_invert};
  Small small = {lists, form, {t_bits, next_bits, old_bits, t_val, next_val, old_val}, size, longest, from, most,
                 most_work, condition, rounds, state, old_state, list, old_list, segments, on, spill, other_spill,
                 item_spill};
  small.start();
  if (!small.begin([&](i64 h) { return ANY_SPARSE(h); })) return;
  SCALARS
  if (STEP_FIRST) small.choose(U_BITS);
  while (small.goes_on()) {
    if (small.done && !(REMAINS)) break;
    const i64 round = small.first + small.done;
    (void)round;
    PASSES_BEFORE
    small.push(along, U_BITS, U_VAL, COUNTS_STEP, [&](i64 i) { AT_ENTRY(i) });
    PASSES_AFTER
    ++small.done;
  }
  small.end(!COUNTS_STEP, (u64)(REMAINS));
  STORE_SCALARS
}
