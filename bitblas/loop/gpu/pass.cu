// Statements that treat every position by itself, fused: a thread a position, a warp a half word of bits. Scalars are
// computed before by every thread; sums of entries by blocks, in an order that depends on the grid alone, and the block
// that is done last joins them. SOME(h) is false where the statements do nothing in half word h. The text of the statements is generated (see pointwise.py).
#include "kernels/vector.cuh"
#include "kernels/frontier.cuh"
#include "loop/gpu/indexed.cuh"

// Writes the half word of bits of a warp, whose first position is p.
__device__ __forceinline__ void put_half(u64* bits, i64 p, bool bit, bool inside) {
  const u32 half = __ballot_sync(ALL_LANES, bit);
  if (WARP_LANE == 0 && inside) ((u32*)bits)[p >> 5] = half;
}

// The sum over the block, in thread 0; `part` and `has` are the block's.
template <class T, class Add> __device__ __forceinline__ void join_block(bool& some, T& sum, Add add, T* part, u8* has) {
  part[threadIdx.x] = sum;
  has[threadIdx.x] = some;
  for (int half = BLOCK / 2; half; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half && has[threadIdx.x + half]) {
      const T more = part[threadIdx.x + half];
      part[threadIdx.x] = sum = some ? add(sum, more) : more;
      has[threadIdx.x] = some = true;
    }
  }
  __syncthreads();
}

// Whether this block is the last one that is done: it sees what the others have written.
__device__ __forceinline__ bool is_last(u32* ticket) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    if (last) *ticket = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pass(i64 n, i64 size, const u64* condition, i64* rounds, i64 ahead PARAMETERS) {
  (void)n;
  if (!may_run(condition, rounds, ahead)) return;
  if (thread_number() == 0) rounds[2] = rounds[0] + ahead + 1;
  const i64 round = rounds[0] + ahead;
  (void)round;
  BEFORE
  // A warp looks at 32 of its half words at a time, and goes through those where there is something to do.
  const i64 halves = (size + 31) / 32, warps = (i64)gridDim.x * (BLOCK / 32);
  for (i64 first = thread_number() / 32; first < halves; first += 32 * warps) {
    const i64 mine = first + WARP_LANE * warps;
    u32 todo = __ballot_sync(ALL_LANES, mine < halves && (SOME(mine)));
    for (; todo; todo &= todo - 1) {
      const i64 p = (first + (__ffs(todo) - 1) * warps) * 32 + WARP_LANE;
      const bool inside = p < size;
      (void)inside;
      AT_POSITION
    }
  }
  AFTER
}
