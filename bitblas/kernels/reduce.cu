// Reductions: the sum of a vector, the work of a frontier, and the segments of long rows.
#include "kernels/views.cuh"

#ifdef KERNEL_reduce
// Reduce a vector: one block per chunk of `per` words, threads strided, then a tree.
// The order of additions depends only on the size, so the same input gives the same bits.
// FLAGS: presence is an array of bytes instead of bits.
#define AHEAD 4  // values that a thread loads before it adds any
#if FLAGS
struct Entries {
  const u8* bits;
  const U_T* values;
  ARGUMENT(U_T) iso;
  i64 stride;

  __device__ __forceinline__ bool has(i64 p) const { return bits[p] != 0; }
  __device__ __forceinline__ U_T at(i64 p) const { return values[p]; }
};
#else
typedef VectorView<U_T> Entries;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    reduce(i64 n, i64 per, i64 size, Entries u, u8* sum_present, Z_T* sums) {
  __shared__ Z_T part[BLOCK];
  __shared__ u8 some[BLOCK];
  const i64 first = (i64)blockIdx.x * per * 64;
  i64 end = first + per * 64;
  if (end > size) end = size;
  Z_T sum = IDENTITY;
  bool any = false;
  for (i64 begin = first + threadIdx.x; begin < end; begin += AHEAD * BLOCK) {
    bool has[AHEAD];
    Z_T x[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const i64 p = begin + k * BLOCK;
      has[k] = p < end && u.has(p);
      x[k] = has[k] ? cast<Z_T>(u.at(p)) : IDENTITY;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (has[k]) {
        sum = any ? add(sum, x[k]) : x[k];
        any = true;
      }
  }
  join_block(any, sum, [](Z_T x, Z_T y) { return add(x, y); }, part, some);
  if (threadIdx.x == 0) {
    sum_present[blockIdx.x] = any;
    sums[blockIdx.x] = sum;
  }
}
#endif  // KERNEL_reduce

#ifdef KERNEL_weigh
// Frontier work: count the entries (tiles) in the rows (tile rows) where u has an entry.
// The direction rule compares it with the work of a pull.
// ROWS: rows in a unit. A thread takes a word of u; blocks add integer sums to `total`, in any order.
// ptr: start of each row (tile row), in entries (tiles).

extern "C" __global__ void __launch_bounds__(BLOCK, 4) weigh(i64 n, const u64* u_bits, const PTR_T* ptr, u64* total) {
  const i64 word = thread_number();
  u64 sum = 0;
  for (u64 rest = word < n ? u_bits[word] : 0ull; rest;) {
    const int unit = (__ffsll(rest) - 1) / ROWS;
    const i64 at = word * (64 / ROWS) + unit;
    sum += ptr[at + 1] - ptr[at];
    rest &= ROWS == 64 ? 0ull : ~(((1ull << (ROWS & 63)) - 1) << (unit * ROWS));
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0 && sum) atomicAdd(total, sum);
}
#endif  // KERNEL_weigh

#ifdef KERNEL_hubs
// Combine the partial sums of long rows (hubs) and apply the epilogue.
// Rows too long for one group of lanes are cut into segments, whose sums the launch before wrote as rows of `part`.
// One block reduces the segments of a hub: threads strided, then a tree, so the order of additions is fixed. The
// launch before leaves these rows of w unchanged.
// ROWS: rows in a unit (1 for CSR, T for a tile row); unit h covers rows hub[h] * ROWS .. hub[h] * ROWS + ROWS - 1.
#include "kernels/product.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    hubs(i64 n, const i64* hub, const i64* first, DenseView<Z_T> part, MaskView mask, Epilogue to) {
  await_previous();
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
  if (segments > 1) join_block(some, sum, [](Z_T x, Z_T y) { return add(x, y); }, sums, somes);
  if (threadIdx.x == 0) {
    const Ending done = finish(row, open, some, sum, to, to.replace);
    exchange_bit(to.t.bits, row, done.present);
#if W_BOOL
    exchange_bit(to.t.values, row, done.value);
#endif
  }
}
#endif  // KERNEL_hubs
