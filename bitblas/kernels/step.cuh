// What the steps of every format share: products of a frontier by pushing, which give a frontier.
#include "kernels/push.cuh"
#include "kernels/frontier.cuh"

// Bit j of a mask; ALSO: the entries of u count as set, because AT_ENTRY sets them while others read.
#define open(j) \
  (((((mask_stride ? ((const u32*)mask)[(j) >> 5] : 0u) | (ALSO ? ((const u32*)u_bits)[(j) >> 5] : 0u)) ^             \
     (u32)mask_invert) >>                                                                                            \
    ((j) & 31)) & 1u)

// Bits and cells of the frontier that is no longer needed are cleared: t of the round after begins with none.
#if KIND == VALUES && HAS_TERMINAL != 2
#define CELLS_BEGIN 1  // products are joined to what the cell holds
#else
#define CELLS_BEGIN 0
#endif

// Half words of bits that a unit has.
template <class F> __device__ __forceinline__ void each_half(u32 unit, F f) {
  for (int h = 0; h < (PER == 64 ? 2 : 1); ++h) f((i64)unit * PER / 32 + h);
}
template <class F> __device__ __forceinline__ void each_place(u32 unit, i64 size, F f) {
  for (i64 p = (i64)unit * PER; p < ((i64)unit + 1) * PER && p < size; ++p) f(p);
}

__device__ __forceinline__ void clear_unit(u32 unit, i64 size, u64* bits, C_T* val) {
  each_half(unit, [&](i64 h) { ((u32*)bits)[h] = 0; });
  if (CELLS_BEGIN) each_place(unit, size, [&](i64 p) { val[p] = C_T(BEGIN); });
}

// All that a frontier has, by its list or all of it, thread `me` of `all`.
__device__ __forceinline__ void clear_frontier(bool dense, const u32* list, i64 listed, i64 size, u64* bits, C_T* val, i64 me,
                                               i64 all) {
  if (!dense) {
    for (i64 k = me; k < listed; k += all) clear_unit(list[k], size, bits, val);
    return;
  }
  for (i64 h = me; h < (size + 31) / 32; h += all) ((u32*)bits)[h] = 0;
  for (i64 p = me; CELLS_BEGIN && p < size; p += all) val[p] = C_T(BEGIN);
}
