// The rows too long for one group of lanes: their segments were summed as rows of their own (`part`); one block joins
// the segments of each of them, threads strided, then a tree, so that the order of the additions is fixed.
// ROWS: rows in a unit (1 for CSR, T for a tile row); unit h covers rows hub[h] * ROWS .. + ROWS - 1.
#include "kernels/product.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
hubs(i64 n, const i64* hub, const i64* first, const u64* part_bits, const STORED(Z_T)* part_val, const u64* mask,
     i64 mask_step, u64 mask_flip, u64* t_bits, STORED(Z_T)* t_val) {
  __shared__ Z_T sums[BLOCK];
  __shared__ u8 somes[BLOCK];
  const i64 h = blockIdx.x / ROWS, r = blockIdx.x % ROWS, row = hub[h] * ROWS + r;
  bool some = false;
  Z_T sum = IDENTITY;
  if (allowed(mask, mask_step, mask_flip, row))
    for (i64 s = first[h] + threadIdx.x; s < first[h + 1]; s += BLOCK) {
      const i64 p = s * ROWS + r;
      if (!bit_of(part_bits, p)) continue;
      if (KIND == WORDS)
        some = true;
      else
        join(some, sum, true, load<Z_T>(part_val, IDENTITY, 1, p));
    }
  sums[threadIdx.x] = sum;
  somes[threadIdx.x] = some;
  for (int half = BLOCK / 2; half; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) {
      join(some, sum, somes[threadIdx.x + half], sums[threadIdx.x + half]);
      sums[threadIdx.x] = sum;
      somes[threadIdx.x] = some;
    }
  }
  if (threadIdx.x == 0 && some) {
    const u32 bit = 1u << (row & 31);
    atomicOr((u32*)t_bits + (row >> 5), bit);
    if (KIND != WORDS) {
#if Z_BOOL
      if (sum) atomicOr((u32*)t_val + (row >> 5), bit);
#else
      t_val[row] = sum;
#endif
    }
  }
}
