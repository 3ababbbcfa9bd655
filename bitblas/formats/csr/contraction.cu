// Contraction S' A S: the entries of a matrix, summed by the groups of their row and column.
// A key is the group of the row, that of the column, and (with values) the number of the entry, from high to low bits.
// Sorted keys have the entries of each pair of groups one after another, in the order of the rows of A. A block sums a
// chunk of CHUNK keys by a segmented scan; `join_chunks` adds the sums of chunks that have no first entry of a pair to the
// pair that goes on there. Sums are in a fixed order: entries of a thread from left to right, threads and chunks as a tree.
#include "kernels/views.cuh"
#include "formats/csr/search.cuh"
#include "formats/csr/columns.cuh"
#define ITEMS (CHUNK / BLOCK)  // keys of a thread

#ifdef KERNEL_pair_keys
// keys[e] = the pair of groups of entry e, and its number in the lowest `number_bits` bits. One chunk per block.
typedef CsrView<PTR_T, AnyColumn<A_PACKED, COL_T>> MatrixA;

extern "C" __global__ void __launch_bounds__(BLOCK)
    pair_keys(i64 n, i64 nvals, i64 nrows, MatrixA A, const int* group, i64 group_bits, i64 number_bits, KEY_T* keys) {
  __shared__ i64 rows[2];
  const i64 begin = (i64)blockIdx.x * CHUNK, end = begin + CHUNK < nvals ? begin + CHUNK : nvals;
  if (threadIdx.x < 64) {  // the rows of the first and of the last entry
    const i64 row = row_of_warp(A.ptr, nrows, threadIdx.x < 32 ? begin : end - 1);
    if ((threadIdx.x & 31) == 0) rows[threadIdx.x / 32] = row;
  }
  __syncthreads();
  const auto columns = A.columns();
  i64 low = rows[0];
  for (i64 e = begin + threadIdx.x; e < end; e += BLOCK) {
    low = range_between(A.ptr, low, rows[1], e);
    const u64 pair = (u64)group[low] << group_bits | (u64)group[(i64)columns[e]];
    keys[e] = (KEY_T)(number_bits ? pair << number_bits | (u64)e : pair);
  }
}
#endif  // KERNEL_pair_keys

// Sorted keys; which of the keys of a thread are the first of their pair, a bit each.
template <class K> struct SortedKeys {
  const K* keys;
  i64 size, number_bits;
  __device__ __forceinline__ u64 pair(i64 i) const { return (u64)keys[i] >> number_bits; }
  __device__ __forceinline__ u32 firsts(i64 begin, u64* pairs) const {
    u64 before = begin && begin < size ? pair(begin - 1) : ~0ull;  // no pair: a pair has less than 64 bits
    u32 found = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      pairs[k] = begin + k < size ? pair(begin + k) : before;
      found |= (u32)(pairs[k] != before) << k;
      before = pairs[k];
    }
    return found;
  }
};

template <class T> __device__ __forceinline__ T shuffle_up(T x, int d) {
  return (T)__shfl_up_sync(ALL_LANES, (typename Travel<T>::type)x, d);
}

#ifdef KERNEL_count_pairs
// count[c]: the pairs whose first key is in chunk c.
extern "C" __global__ void __launch_bounds__(BLOCK) count_pairs(i64 n, SortedKeys<KEY_T> sorted, i64* count) {
  u64 pairs[ITEMS];
  const u32 firsts = sorted.firsts((i64)blockIdx.x * CHUNK + threadIdx.x * ITEMS, pairs);
  const u32 sum = block_sum<u32>(__popc(firsts));
  if (threadIdx.x == 0) count[blockIdx.x] = sum;
}
#endif  // KERNEL_count_pairs

#ifdef KERNEL_sum_pairs
// The rows of the result. before: the pairs whose first key is in an earlier chunk. order: the number of the entry of each
// key, with ORDERED; else it is in the key. sums: of COUNT the number of entries. lead: the sum of the entries of each
// chunk that belong to the last pair of the chunks before it.
struct PairRows {
  i64* ptr;
  int* col;
  Z_T* sums;
  Z_T* lead;
};

// ptr[i] = value for first <= i <= last, for each lane of a warp.
__device__ __forceinline__ void fill(i64* ptr, i64 first, i64 last, i64 value) {
  for (u32 open = __ballot_sync(ALL_LANES, first <= last); open; open &= open - 1) {
    const int lane = __ffs(open) - 1;
    const i64 begin = __shfl_sync(ALL_LANES, first, lane), end = __shfl_sync(ALL_LANES, last, lane);
    const i64 number = __shfl_sync(ALL_LANES, value, lane);
    for (i64 i = begin + (threadIdx.x & 31); i <= end; i += 32) ptr[i] = number;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    sum_pairs(i64 n, SortedKeys<KEY_T> sorted, i64 group_bits, i64 groups, const i64* order, MatrixValues<A_T> a,
              const i64* before, PairRows to) {
  __shared__ u32 parts[BLOCK / 32];
  __shared__ Z_T sums[BLOCK / 32];
  __shared__ bool starts[BLOCK / 32];
  const i64 begin = (i64)blockIdx.x * CHUNK + threadIdx.x * ITEMS;
  const u64 low_bits_of_group = (1ull << group_bits) - 1;
  u64 pairs[ITEMS];
  const u32 firsts = sorted.firsts(begin, pairs);
  Z_T values[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    values[k] = Z_T(0);
    if (begin + k >= sorted.size) continue;
#if COUNT
    values[k] = Z_T(1);
#elif ORDERED
    values[k] = take(a.at(order[begin + k]));
#else
    values[k] = take(a.at((i64)((u64)sorted.keys[begin + k] & ((1ull << sorted.number_bits) - 1))));
#endif
  }
  u32 total;
  const i64 first_number = before[blockIdx.x] + block_sum_below(__popc(firsts), parts, total);
  // The pairs that begin here. `last`: the row of the pair before.
  i64 last = begin == 0 || begin >= sorted.size ? -1 : (i64)(sorted.pair(begin - 1) >> group_bits);
  i64 number = first_number;
  Z_T sum = 0, lead = 0;
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const bool is_first = firsts >> k & 1;
    const i64 row = is_first ? (i64)(pairs[k] >> group_bits) : last;
    fill(to.ptr, last + 1, row, number);
    last = row;
    if (is_first) {
      if (number == first_number) lead = sum;
      else to.sums[number - 1] = sum;
      sum = 0;
      to.col[number++] = (int)(pairs[k] & low_bits_of_group);
    }
    sum = sum + values[k];
  }
  fill(to.ptr, last + 1, begin < sorted.size && begin + ITEMS >= sorted.size ? groups : -1, number);
  // A segmented scan over the threads: the sum since the last first key of all lower threads, and whether there is one.
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const Z_T mine = sum;
  bool some = firsts != 0;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const Z_T x = shuffle_up(sum, d);
    const bool start = __shfl_up_sync(ALL_LANES, (int)some, d);
    if (lane < d) continue;
    if (!some) sum = x + sum;
    some = some || start;
  }
  if (lane == 31) sums[warp] = sum, starts[warp] = some;
  Z_T left = shuffle_up(sum, 1);
  bool open = __shfl_up_sync(ALL_LANES, (int)some, 1);
  if (lane == 0) left = 0, open = false;
  __syncthreads();
  Z_T of_warps = 0;
  bool started = false;
  for (int w = 0; w < warp; ++w) {
    of_warps = starts[w] ? sums[w] : of_warps + sums[w];
    started = started || starts[w];
  }
  if (!open) left = of_warps + left;
  open = open || started;
  // The pair that the first key of this thread ends; the last pair of the chunk.
  if (firsts && open) to.sums[first_number - 1] = left + lead;
  else if (firsts) to.lead[blockIdx.x] = left + lead;
  if (threadIdx.x != BLOCK - 1) return;
  sum = firsts ? mine : left + mine;
  if (total) to.sums[number - 1] = sum;
  else to.lead[blockIdx.x] = sum;
}
#endif  // KERNEL_sum_pairs

#ifdef KERNEL_join_chunks
// A warp per chunk adds to the last pair that begins there what the following chunks have of it. before: as in `sum_pairs`.
extern "C" __global__ void __launch_bounds__(BLOCK) join_chunks(i64 n, const i64* before, const Z_T* lead, Z_T* sums) {
  const i64 chunk = thread_number() / 32, lane = threadIdx.x & 31;
  if (chunk >= n || before[chunk] == before[chunk + 1]) return;  // whole warps
  Z_T sum = 0;
  for (i64 c = chunk + 1; c < n; c += 32) {
    const bool has = c + lane < n;
    // the first of these chunks in which another pair begins
    const u32 ends = __ballot_sync(ALL_LANES, has && before[c + lane] != before[c + lane + 1]);
    if (has && !(ends & ((1u << lane) - 1))) sum = sum + lead[c + lane];
    if (ends) break;
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum = sum + shuffle_xor(ALL_LANES, sum, d);
  if (lane == 0) sums[before[chunk + 1] - 1] = sums[before[chunk + 1] - 1] + sum;
}
#endif  // KERNEL_join_chunks
