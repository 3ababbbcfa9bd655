// Contraction S' A S: the entries of a matrix, summed by the groups of their row and column.
// A key is the group of the row, that of the column, and (with values) the number of the entry, from high to low bits.
// Sorted keys have the entries of each pair of groups one after another, in the order of the rows of A. A warp sums a
// chunk of CHUNK keys by segmented scans; `join_chunks` adds the sums of chunks in which no pair begins to the pair that
// goes on there. Sums are in a fixed order: 32 entries as a tree, these from left to right, chunks as a tree.
#include "kernels/views.cuh"
#include "formats/csr/search.cuh"
#include "formats/csr/columns.cuh"

#ifdef KERNEL_pair_keys
// keys[e] = the pair of groups of entry e, and its number in the lowest `number_bits` bits; all ones if an end is in no
// group (negative). PART entries per block.
typedef CsrView<PTR_T, AnyColumn<A_PACKED, COL_T>> MatrixA;

extern "C" __global__ void __launch_bounds__(BLOCK)
    pair_keys(i64 n, i64 nvals, i64 nrows, MatrixA A, const int* group, i64 group_bits, i64 number_bits, KEY_T* keys) {
  __shared__ i64 rows[2];
  const i64 begin = (i64)blockIdx.x * PART, end = begin + PART < nvals ? begin + PART : nvals;
  if (threadIdx.x < 64) {  // the rows of the first and of the last entry
    const i64 row = row_of_warp(A.ptr, nrows, threadIdx.x < 32 ? begin : end - 1);
    if ((threadIdx.x & 31) == 0) rows[threadIdx.x / 32] = row;
  }
  __syncthreads();
  const auto columns = A.columns();
  i64 low = rows[0];
  for (i64 e = begin + threadIdx.x; e < end; e += BLOCK) {
    low = range_between(A.ptr, low, rows[1], e);
    const int r = group[low], c = group[(i64)columns[e]];
    const u64 pair = (u64)r << group_bits | (u64)c;
    keys[e] = (r | c) < 0 ? (KEY_T)~0ull : (KEY_T)(number_bits ? pair << number_bits | (u64)e : pair);
  }
}
#endif  // KERNEL_pair_keys

// The pair of each of 32 sorted keys (all ones: none is left), in the lanes of a warp, and that before it.
template <class K> struct SortedKeys {
  const K* keys;
  i64 size, number_bits;
  __device__ __forceinline__ u64 pair(i64 i) const { return i >= 0 && i < size ? (u64)keys[i] >> number_bits : ~0ull; }
  __device__ __forceinline__ u64 before(u64 pair, u64 last) const {
    const u64 found = __shfl_up_sync(ALL_LANES, pair, 1);
    return (threadIdx.x & 31) ? found : last;
  }
};

#ifdef KERNEL_count_pairs
// count[c]: the pairs whose first key is in chunk c.
extern "C" __global__ void __launch_bounds__(BLOCK) count_pairs(i64 n, SortedKeys<KEY_T> sorted, i64* count) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;  // whole warps
  const i64 begin = chunk * CHUNK + (threadIdx.x & 31);
  i64 sum = 0;
#pragma unroll
  for (int k = 0; k < CHUNK; k += 32)
    sum += __popc(
        __ballot_sync(ALL_LANES, begin + k < sorted.size && sorted.pair(begin + k) != sorted.pair(begin + k - 1)));
  if ((threadIdx.x & 31) == 0) count[chunk] = sum;
}
#endif  // KERNEL_count_pairs

#ifdef KERNEL_sum_pairs
// The rows of the result. sums: of COUNT the number of entries. lead: the sum of the entries of each chunk that belong to
// the last pair of the chunks before it.
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

template <class T> __device__ __forceinline__ T shuffle_up(T x, int d) {
  return (T)__shfl_up_sync(ALL_LANES, (typename Travel<T>::type)x, d);
}

// A warp per chunk. order: the number of the entry of each key, with ORDERED; else it is in the key. before: the pairs whose
// first key is in an earlier chunk.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    sum_pairs(i64 n, SortedKeys<KEY_T> sorted, i64 group_bits, i64 groups, const i64* order, MatrixValues<A_T> a,
              const i64* before, PairRows to) {
  const i64 chunk = thread_number() / 32, begin = chunk * CHUNK;
  if (chunk >= n) return;  // whole warps
  const int lane = threadIdx.x & 31;
  const u32 below = (2u << lane) - 1;  // this lane and the lower ones
  const u64 low_bits_of_group = (1ull << group_bits) - 1;
  u64 pairs[CHUNK / 32];
  Z_T values[CHUNK / 32];
#pragma unroll
  for (int k = 0; k < CHUNK / 32; ++k) {
    const i64 i = begin + 32 * k + lane;
    const bool has = i < sorted.size;
    const u64 key = has ? (u64)sorted.keys[i] : 0;
    pairs[k] = has ? key >> sorted.number_bits : ~0ull;
    values[k] = Z_T(0);
#if COUNT
    if (has) values[k] = Z_T(1);
#elif ORDERED
    if (has) values[k] = take(a.at(order[i]));
#else
    if (has) values[k] = take(a.at((i64)(key & ((1ull << sorted.number_bits) - 1))));
#endif
  }
  const i64 first_number = before[chunk];
  i64 number = first_number;
  u64 last = sorted.pair(begin - 1);
  Z_T open = 0;  // the sum of the last pair so far
  auto write = [&](i64 k, Z_T sum) {
    if (k < first_number) to.lead[chunk] = sum;
    else to.sums[k] = sum;
  };
#pragma unroll
  for (int k = 0; k < CHUNK / 32; ++k) {
    const i64 i = begin + 32 * k + lane;
    const u64 pair = pairs[k], left = sorted.before(pair, last);
    const bool first = i < sorted.size && pair != left;
    const u32 firsts = __ballot_sync(ALL_LANES, first), mine = firsts & below;
    const int start = mine ? 31 - __clz(mine) : 0;
    const i64 me = number + __popc(mine) - 1, row = (i64)(pair >> group_bits);
    // Rows: this one begins here, and empty ones before it; after the last key the rest.
    const bool ends = i == sorted.size - 1;
    fill(to.ptr, first && i ? (i64)(left >> group_bits) + 1 : 0, first ? row : -1, me);
    if (__any_sync(ALL_LANES, ends)) fill(to.ptr, ends ? row + 1 : 0, ends ? groups : -1, me + 1);
    if (first) to.col[me] = (int)(pair & low_bits_of_group);
    // A segmented scan: the sum from the first entry of the pair on.
    Z_T sum = values[k];
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const Z_T x = shuffle_up(sum, d);
      if (lane - d >= start) sum = x + sum;
    }
    if (!mine) sum = open + sum;
    if (lane == 0 && first) write(me - 1, open);
    if (lane < 31 && (firsts >> lane >> 1 & 1)) write(me, sum);
    open = shuffle_from<32>(sum, 31);
    last = __shfl_sync(ALL_LANES, pair, 31);
    number += __popc(firsts);
  }
  if (lane == 0) write(number - 1, open);
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
