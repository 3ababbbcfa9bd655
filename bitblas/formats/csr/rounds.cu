// Small rounds of one step along rows: a group of LANES lanes pushes along a row.
#include "formats/csr/along.cuh"
#include "kernels/rounds.cuh"

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
rounds(i64 n, i64 size, i64 longest, i64 from, u64 most, u64 most_work, i64* rounds, u64* state, u64* old_state,
       u64* u_bits, u64* t_bits, u64* old_bits, C_T* u_val, C_T* t_val, C_T* old_val, u32* list, u32* spill,
       const u32* old_list, u32* segments, const u64* mask, i64 mask_stride, u64 mask_invert, FORM(),
       const value_t* a_val, A_T a_iso, i64 a_stride PARAMETERS) {
  (void)n;
  const Units form = FORM_OF();
  const Along along = {form, {a_val, a_iso, a_stride}, U_T(), 1, mask, mask_stride, mask_invert};
  const Buffers b = {u_bits, t_bits, old_bits, u_val, t_val, old_val};
  run_rounds(along, b, size, longest, from, most, most_work, rounds, state, old_state, list, spill, old_list,
             segments, ENTRY_OF_ROUND);
}
