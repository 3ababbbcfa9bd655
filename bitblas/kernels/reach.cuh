// A push along entries of rows: how one of them reaches its column; and what a pull finds.
#include "kernels/step.cuh"
#include "kernels/values.cuh"

// Entry j of t gets the product of entry e of the matrix and entry i of u; true for the one that made it.
__device__ __forceinline__ bool reach(u64* t_bits, C_T* t_val, i64 j, i64 e, i64 i, const Values& a,
                                      const STORED(U_T)* u_val, U_T u_iso, i64 u_stride) {
  if (KIND == WORDS) return !bit_of(t_bits, j) && mark(t_bits, j);
  return scatter(t_bits, t_val, j, mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i));
}
// The same where entry j was not there when it was asked for, unless products are joined.
__device__ __forceinline__ bool reach_anew(u64* t_bits, C_T* t_val, i64 j, i64 e, i64 i, const Values& a,
                                           const STORED(U_T)* u_val, U_T u_iso, i64 u_stride) {
  if (CELLS_BEGIN) return reach(t_bits, t_val, j, e, i, a, u_val, u_iso, u_stride);
  if (!mark(t_bits, j)) return false;
#if KIND == VALUES
  t_val[j] = C_T(mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i));
#endif
  return true;
}

// What a row that pulls has found: an entry of u, and which of its own led there (of KIND VALUES).
struct Hit {
  bool some;
  i64 from, place;
};
