// Scatter: t(where[k]) = u(k) for each entry of u.
// Used to build vectors and to assign by index; indices may be in any order.
// JOIN 0: a duplicate index is reported in `flags`. JOIN 1: duplicates are combined by a monoid in any order, in cells
// that hold its identity. CLEAR: t has entries already and loses those where u has none. MARKS 0: both vectors are
// full.
// Arguments: where, the target indices; u_*, the input vector; t_*, the output; flags[TWICE], flags[OUTSIDE], set to 1
// for bad indices.
#include "kernels/views.cuh"
#if JOIN
#include "kernels/push.cuh"
#endif
#define TWICE 0  // flags, set to 1
#define OUTSIDE 1

__device__ __forceinline__ bool exchange_bit(u64* bits, i64 i, bool on) {  // returns whether the bit was set before
  u32* half = (u32*)bits + (i >> 5);
  const u32 bit = 1u << (i & 31);
  return (on ? atomicOr(half, bit) : atomicAnd(half, ~bit)) & bit;
}

#if JOIN
// Integers have atomics for the most common monoids, which need no retries.
#if ATOMIC
__device__ __forceinline__ void sum_into(u64* t_bits, T_T* t_val, i64 i, Z_T z) {
#if ATOMIC == 1
  typedef typename Cell<sizeof(T_T)>::type cell_t;  // the sum wraps, signed or not
  atomicAdd((cell_t*)t_val + i, (cell_t)z);
#elif ATOMIC == 2
  if (z < *(volatile T_T*)(t_val + i)) atomicMin(t_val + i, z);
#else
  if (z > *(volatile T_T*)(t_val + i)) atomicMax(t_val + i, z);
#endif
  if (!bit_now(t_bits, i)) mark(t_bits, i);
}
#else
#define sum_into scatter
#endif
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
place(i64 n, i64 size, const i64* where, const u64* u_bits, i64 u_bits_stride, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso,
      i64 u_stride, u64* t_bits, STORED(T_T)* t_val, u32* flags) {
  const i64 k = thread_number();
  const i64 i = k < n ? where[k] : 0;
  const bool inside = i >= 0 && i < size;
  if (!inside) poke(flags + OUTSIDE, 1u);
  const bool has = k < n && inside && allowed(u_bits, u_bits_stride, u_bits_stride ? 0ull : ~0ull, k);
#if JOIN
  bool mine = has;
  const Z_T x = has ? take(load<U_T>(u_val, u_iso, u_stride, k)) : IDENTITY;
  // If lanes of a warp have the same index (a histogram, a giant component), one of them adds the sum of all.
  for (int round = 0; round < 2; ++round) {
    const u32 rest = __ballot_sync(ALL_LANES, mine);
    if (!rest) break;
    const int leader = __ffs(rest) - 1;
    const i64 common = __shfl_sync(ALL_LANES, i, leader);
    bool some = mine && i == common;
    if (__popc(__ballot_sync(ALL_LANES, some)) == 1) break;
    mine = mine && !some;
    Z_T sum = x;
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const bool other = shuffle_xor(ALL_LANES, some, d);
      const Z_T y = shuffle_xor(ALL_LANES, sum, d);
      join(some, sum, other, y);
    }
    if ((threadIdx.x & 31) == leader) sum_into(t_bits, t_val, i, sum);
  }
  if (mine) sum_into(t_bits, t_val, i, x);
#else
#if MARKS
  if (k < n && inside && (has || CLEAR) && exchange_bit(t_bits, i, has) && has && !CLEAR) poke(flags + TWICE, 1u);
#endif
#if DENSE && T_BOOL
  const bool x = has && take(load<U_T>(u_val, u_iso, u_stride, k));
  if (x || (CLEAR && k < n && inside)) exchange_bit(t_val, i, x);
#elif DENSE
  if (has) t_val[i] = take(load<U_T>(u_val, u_iso, u_stride, k));
#endif
#endif
}
