// Push along the entries of a row: combine one product with its output position, and report whether it is new.
// Also the result type of a pulled row (Hit).
#include "kernels/step.cuh"
#include "kernels/values.cuh"

// Entry j of t gets the product z. Returns true for the thread that created the entry; mark_it() returns whether it was
// the first to set the bit.
template <class Mark>
__device__ __forceinline__ bool reach(const u64* t_bits, C_T* t_val, i64 j, Z_T z, Mark mark_it) {
  if (KIND == WORDS) return !bit_now(t_bits, j) && mark_it();
#if CELLS_BEGIN
  return join_anew(t_val + j, z, cell_at(t_val + j)) && mark_it();
#else
  if (bit_now(t_bits, j) || !mark_it()) return false;
  t_val[j] = C_T(z);
  return true;
#endif
}
// The same for entry e of the matrix and entry i of u, if entry j was missing when it was loaded, or if products are
// combined.
__device__ __forceinline__ bool reach_anew(u64* t_bits, C_T* t_val, i64 j, i64 e, i64 i, const Values& a,
                                           const STORED(U_T)* u_val, U_T u_iso, i64 u_stride) {
#if CELLS_BEGIN
  return reach(t_bits, t_val, j, mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i), [&] { return mark(t_bits, j); });
#endif
  if (!mark(t_bits, j)) return false;
#if KIND == VALUES
  t_val[j] = C_T(mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i));
#endif
  return true;
}

// What a pulling row has found: an entry of u, and the matrix entry that led there (KIND VALUES).
struct Hit {
  bool some;
  i64 from, place;
};
