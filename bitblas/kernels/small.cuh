// What small rounds inside one cluster share (rounds.cuh, listed.cuh).
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#define GROUPS_OF_BLOCK (THREADS / LANES)

// Where the three buffers of the frontier's vector lie: it is read, written and cleared.
struct Buffers {
  u64 *bits, *next_bits, *old_bits;
  C_T *val, *next_val, *old_val;
  __device__ __forceinline__ void turn() {
    u64* const b = old_bits;
    old_bits = bits, bits = next_bits, next_bits = b;
    C_T* const v = old_val;
    old_val = val, val = next_val, next_val = v;
  }
};

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
