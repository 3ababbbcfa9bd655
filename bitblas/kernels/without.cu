// Remove the positions of virtual nodes from a vector: the inverse of among.cu.
// t(k) = u(p), where p is the k-th position that is not in the bitset `nodes`.
// start: the position p of each 64th k. DENSE 0: the vector is iso, only bits are read and written.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
without(i64 n, i64 size, const u64* nodes, const u32* start, const u64* u_bits, const STORED(U_T)* u_val, u64* t_bits,
        STORED(U_T)* t_val) {
  const i64 k = thread_number();
  i64 p = 0;
  if (k < size) {
    const i64 from = start[k >> 6];
    i64 word = from >> 6;
    u64 others = ~nodes[word] >> (from & 63) << (from & 63);
    u32 left = k & 63;  // other positions to skip
    for (u32 some; (some = __popcll(others)) <= left; others = ~nodes[++word]) left -= some;
    u32 low = 0;
#pragma unroll
    for (u32 wide = 32; wide; wide >>= 1) {
      const u32 some = __popcll(others >> low & ((1ull << wide) - 1));
      if (some <= left) {
        left -= some;
        low += wide;
      }
    }
    p = word * 64 + low;
  }
  const bool present = k < size && bit_of(u_bits, p);
  const u32 half = __ballot_sync(ALL_LANES, present);
  const bool writer = (k & 31) == 0 && k < n * 64;
  if (writer) ((u32*)t_bits)[k >> 5] = half;
#if DENSE && U_BOOL
  const u32 values = __ballot_sync(ALL_LANES, present && bit_of(u_val, p));
  if (writer) ((u32*)t_val)[k >> 5] = values;
#elif DENSE
  if (present) t_val[k] = u_val[p];
#endif
}
