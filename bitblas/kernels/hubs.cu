// Combine the partial sums of long rows (hubs) and apply the epilogue.
// Rows too long for one group of lanes are cut into segments, whose sums the launch before wrote as rows of `part`.
// One block reduces the segments of a hub: threads strided, then a tree, so the order of additions is fixed. The
// launch before leaves these rows of w unchanged.
// ROWS: rows in a unit (1 for CSR, T for a tile row); unit h covers rows hub[h] * ROWS .. hub[h] * ROWS + ROWS - 1.
#include "kernels/ending.cuh"

__device__ __forceinline__ void put_bit(u64* bits, i64 i, bool value) {  // other blocks write to the same word
  const u32 bit = 1u << (i & 31);
  if (value) atomicOr((u32*)bits + (i >> 5), bit);
  else atomicAnd((u32*)bits + (i >> 5), ~bit);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
hubs(i64 n, const i64* hub, const i64* first, DenseView<Z_T> part, MaskView mask, Epilogue to) {
  __shared__ Z_T sums[BLOCK];
  __shared__ u8 somes[BLOCK];
  const i64 h = blockIdx.x / ROWS, r = blockIdx.x % ROWS, row = hub[h] * ROWS + r;
  bool some = false;
  Z_T sum = IDENTITY;
  const bool open = mask.allows(row);
  const i64 segments = open ? first[h + 1] - first[h] : 0;  // the same in all threads
  for (i64 s = threadIdx.x; s < segments; s += BLOCK) {
    const i64 p = (first[h] + s) * ROWS + r;
    if (bit_of(part.bits, p)) join(some, sum, true, load<Z_T>(part.values, IDENTITY, 1, p));
  }
  sums[threadIdx.x] = sum;
  somes[threadIdx.x] = some;
  int half = segments > 1 ? BLOCK / 2 : 0;
  while (half >= segments && half > 0) half /= 2;  // threads beyond have no segment
  for (; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      join(some, sum, somes[threadIdx.x + half], sums[threadIdx.x + half]);
      sums[threadIdx.x] = sum;
      somes[threadIdx.x] = some;
    }
  }
  if (threadIdx.x == 0) {
    const Ending done = finish(row, open, some, sum, to, to.replace);
    put_bit(to.t.bits, row, done.present);
#if W_BOOL
    put_bit(to.t.values, row, done.value);
#endif
  }
}
