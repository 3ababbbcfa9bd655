// Compact a vector's entries into ascending lists of indices and values (stream compaction).
// One block handles a chunk of CHUNK words. `counts` (count.cu) gives the position of the chunk's first entry. A warp
// takes 32 words and writes them half by half.
#include "kernels/blocks.cuh"
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
compact(i64 n, i64 words, const u64* bits, const u32* counts, const STORED(U_T)* u_val, ARGUMENT(U_T) u_iso, i64 u_stride,
        i64* indices, U_T* values) {
  static_assert(CHUNK == BLOCK, "a thread reads one word");
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 first = (i64)blockIdx.x * CHUNK + warp * 32;
  const u64 word = first + lane < words ? bits[first + lane] : 0ull;
  __shared__ u32 in_warp[BLOCK / 32];
  u32 sum = __popcll(word);
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if (lane == 0) in_warp[warp] = sum;
  u64 before = 0;
  for (i64 c = threadIdx.x; c < blockIdx.x; c += BLOCK) before += counts[c];
  i64 place = (i64)block_sum(before);  // its barrier also covers in_warp
  for (int w = 0; w < warp; ++w) place += in_warp[w];
  for (int half = 0; half < 64; ++half) {
    const u32 mine = (u32)(half & 1 ? word >> 32 : word), those = __shfl_sync(ALL_LANES, mine, half >> 1);
    if ((those >> lane) & 1u) {
      const i64 p = (first * 2 + half) * 32 + lane, to = place + __popc(those & ((1u << lane) - 1u));
      indices[to] = p;
      values[to] = load<U_T>(u_val, u_iso, u_stride, p);
    }
    place += __popc(those);
  }
}
