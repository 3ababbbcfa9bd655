// Scatter products into t by atomics. Before the launch, t's bits are zero and its cells hold the monoid's identity.
// Used only for monoids whose sums do not depend on the order: floating-point addition never uses atomics. A cell is 4
// or 8 bytes, as compare-and-swap requires.
#include "kernels/product.cuh"

__device__ __forceinline__ bool mark(u64* bits, i64 j) {  // true for the thread that set the bit
  const u32 bit = 1u << (j & 31);
  return !(atomicOr((u32*)bits + (j >> 5), bit) & bit);
}

template <int SIZE> struct Cell;
template <> struct Cell<4> { typedef u32 type; };
template <> struct Cell<8> { typedef u64 type; };

template <class T> __device__ __forceinline__ void join_cell(T* at, Z_T z) {
  typedef typename Cell<sizeof(T)>::type cell_t;
  cell_t* cell = (cell_t*)at;
  union { T value; cell_t raw; } old, next;
  old.raw = *(volatile cell_t*)cell;
  for (;;) {
    next.value = T(add(cast<Z_T>(old.value), z));
    if (next.raw == old.raw) break;
    const cell_t seen = atomicCAS(cell, old.raw, next.raw);
    if (seen == old.raw) break;
    old.raw = seen;
  }
}

__device__ __forceinline__ bool scatter(u64* t_bits, C_T* t_val, i64 j, Z_T z) {  // true for the first product at j
#if HAS_TERMINAL == 2  // any: keep the first
  if (bit_now(t_bits, j) || !mark(t_bits, j)) return false;
  t_val[j] = C_T(z);
  return true;
#else
  join_cell(t_val + j, z);
  return !bit_now(t_bits, j) && mark(t_bits, j);
#endif
}
