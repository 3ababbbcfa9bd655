// Kernels on the bits and values of vectors: pack, count, compact, scatter, gather, compare.
#include "kernels/views.cuh"

// Position p of t becomes a copy of entry i of u, if `present`. Called by whole warps, for the 32 positions of half a
// word. VALUED 0: the vectors are iso, only bits are read and written.
template <int VALUED, int BOOLS, class T>
__device__ __forceinline__ void copy_entry(bool present, i64 p, i64 n, const DenseView<T>& u, i64 i,
                                           const OutputView<T>& t) {
  const u32 half = __ballot_sync(ALL_LANES, present);
  const bool writer = (p & 31) == 0 && p < n * 64;
  if (writer) ((u32*)t.bits)[p >> 5] = half;
  if (VALUED && BOOLS) {
    const u32 values = __ballot_sync(ALL_LANES, present && bit_of((const u64*)u.values, i));
    if (writer) ((u32*)t.values)[p >> 5] = values;
  } else if (VALUED && present) {
    t.values[p] = u.values[i];
  }
}

#ifdef KERNEL_pack
// Pack an array of bools into a bitset.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) pack(i64 n, i64 size, const bool* flags, u64* bits) {
  const i64 p = thread_number();
  const u32 half = __ballot_sync(ALL_LANES, p < size && flags[p]);
  if ((p & 31) == 0 && p < n * 64) ((u32*)bits)[p >> 5] = half;
}
#endif  // KERNEL_pack

#ifdef KERNEL_initialize
// Clear a vector before a push: no bit is set, and every cell holds the initial value of a sum.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) initialize(i64 n, i64 size, u64* bits, C_T* cells) {
  const i64 p = thread_number();
  if (p < size) cells[p] = C_T(BEGIN);
  if ((p & 63) == 0 && p < n * 64) bits[p >> 6] = 0;
}
#endif  // KERNEL_initialize

#ifdef KERNEL_bits
// Masked assignment on presence bits: w<mask, replace> = t in place, for vectors whose values do not change.
// A stride of 0 reads one word for all positions; as t, inverted or not, that means all entries or none.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    bits(i64 n, i64 size, u64* w, MaskView t, MaskView mask, i64 replace) {
  const i64 word = thread_number();
  if (word >= n) return;
  const i64 left = size - word * 64;
  const u64 inside = left >= 64 ? ~0ull : left > 0 ? (1ull << left) - 1 : 0ull;
  const u64 open = mask.word(word), fresh = t.word(word);
  w[word] = inside & ((fresh & open) | (replace ? 0ull : w[word] & ~open));
}
#endif  // KERNEL_bits

#ifdef KERNEL_count
// Count set bits: counts[c] = number of set bits in chunk c of CHUNK words, one block per chunk.
// The sums give the number of entries of a vector and the offset of each chunk in a compacted list.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) count(i64 n, i64 words, const u64* bits, u32* counts) {
  const i64 first = (i64)blockIdx.x * CHUNK;
  u32 sum = 0;
  for (i64 w = first + threadIdx.x; w < first + CHUNK && w < words; w += BLOCK) sum += __popcll(bits[w]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}
#endif  // KERNEL_count

#ifdef KERNEL_compact
// Compact a vector's entries into ascending lists of indices and values (stream compaction).
// One block handles a chunk of CHUNK words. `counts` gives the position of the chunk's first entry. A warp takes 32
// words and writes them half by half.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    compact(i64 n, i64 words, const u64* bits, const u32* counts, VectorValues<U_T> u, i64* indices, U_T* values) {
  static_assert(CHUNK == BLOCK, "a thread reads one word");
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 first = (i64)blockIdx.x * CHUNK + warp * 32;
  const u64 word = first + lane < words ? bits[first + lane] : 0ull;
  __shared__ u32 in_warp[BLOCK / 32];
  u32 all;
  const u32 below = block_sum_below(__popcll(word), in_warp, all);
  u64 before = 0;
  for (i64 c = threadIdx.x; c < blockIdx.x; c += BLOCK) before += counts[c];
  i64 place = (i64)block_sum(before) + __shfl_sync(ALL_LANES, below, 0);
  for (int half = 0; half < 64; ++half) {
    const u32 mine = (u32)(half & 1 ? word >> 32 : word), those = __shfl_sync(ALL_LANES, mine, half >> 1);
    if ((those >> lane) & 1u) {
      const i64 p = (first * 2 + half) * 32 + lane, to = place + __popc(those & ((1u << lane) - 1u));
      indices[to] = p;
      values[to] = u.at(p);
    }
    place += __popc(those);
  }
}
#endif  // KERNEL_compact

#ifdef KERNEL_dense
// Expand a vector to a plain dense array, with `fill` where there is no entry. BOOL values become one byte each.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) dense(i64 n, VectorView<U_T> u, ARGUMENT(U_T) fill, U_T* out) {
  const i64 p = thread_number();
  if (p < n) out[p] = u.has(p) ? u.at(p) : U_T(fill);
}
#endif  // KERNEL_dense

#ifdef KERNEL_equal
// Compare two vectors of one type: set differ[0] = 1 if their entries or values differ, otherwise leave it unchanged.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    equal(i64 n, i64 size, VectorView<U_T> u, VectorView<U_T> v, u32* differ) {
  const i64 p = thread_number();
  bool other = false;
  if (p < size) {
    const bool has = u.has(p);
    other = has != v.has(p) || (has && !(u.at(p) == v.at(p)));
  }
  if (__syncthreads_or(other) && threadIdx.x == 0) *differ = 1u;
}
#endif  // KERNEL_equal

#ifdef KERNEL_gather
// Gather: t(k) = u(where[k]), extraction by index. FULL: u has an entry everywhere.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    gather(i64 n, i64 size, const i64* where, DenseView<U_T> u, OutputView<U_T> t) {
  const i64 k = thread_number();
  const i64 i = k < size ? where[k] : 0;
  copy_entry<DENSE, U_BOOL>(k < size && (FULL || bit_of(u.bits, i)), k, n, u, i, t);
}
#endif  // KERNEL_gather

#ifdef KERNEL_insert_nodes
// Insert gaps into a vector at the positions of virtual nodes: t(p) = u(k), where p is the k-th position that is not in
// the bitset `nodes`. Positions in `nodes` get no entry. before: number of nodes before each 64-bit word.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    insert_nodes(i64 n, i64 size, const u64* nodes, const u32* before, DenseView<U_T> u, OutputView<U_T> t) {
  const i64 p = thread_number();
  const u64 here = p < size ? nodes[p >> 6] : ~0ull;
  const bool other = !(here >> (p & 63) & 1);
  const i64 k = other ? p - before[p >> 6] - __popcll(here & ((1ull << (p & 63)) - 1)) : 0;
  copy_entry<DENSE, U_BOOL>(other && bit_of(u.bits, k), p, n, u, k, t);
}
#endif  // KERNEL_insert_nodes

#ifdef KERNEL_remove_nodes
// Remove the positions of virtual nodes from a vector, the inverse of `insert_nodes`: t(k) = u(p).
// start: the position p of each 64th k.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    remove_nodes(i64 n, i64 size, const u64* nodes, const u32* start, DenseView<U_T> u, OutputView<U_T> t) {
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
  copy_entry<DENSE, U_BOOL>(k < size && bit_of(u.bits, p), k, n, u, p, t);
}
#endif  // KERNEL_remove_nodes

#ifdef KERNEL_put
// Scattered single writes in place. Indices are distinct.
// Item k is (index, whether the entry is present afterwards, the bits of its value in whole words).
#define VALUE_WORDS ((sizeof(U_T) + 7) / 8)
#define ITEM (2 + VALUE_WORDS)

extern "C" __global__ void __launch_bounds__(BLOCK, 4) put(i64 n, const u64* items, OutputView<U_T> w) {
  const i64 k = thread_number();
  if (k >= n) return;
  const i64 i = (i64)items[ITEM * k];
  const bool stays = items[ITEM * k + 1] != 0;
  exchange_bit(w.bits, i, stays);
#if DENSE && U_BOOL
  exchange_bit(w.values, i, stays && (items[ITEM * k + 2] & 1));
#elif DENSE
  union {
    u64 raw[VALUE_WORDS];
    U_T value;
  } x;
#pragma unroll
  for (int word = 0; word < VALUE_WORDS; ++word) x.raw[word] = items[ITEM * k + 2 + word];
  if (stays) w.values[i] = x.value;
#endif
}
#endif  // KERNEL_put

#ifdef KERNEL_place
// Scatter: t(where[k]) = u(k) for each entry of u, to build vectors and to assign by index; indices in any order.
// JOIN 0: a duplicate index is reported in `flags`. JOIN 1: duplicates are combined by a monoid in any order, in cells
// that hold its identity. CLEAR: t has entries already and loses those where u has none. MARKS 0: both vectors are
// full. flags[TWICE], flags[OUTSIDE] are set to 1 for bad indices.
#if JOIN
#include "kernels/product.cuh"
#endif
#define TWICE 0
#define OUTSIDE 1

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
    place(i64 n, i64 size, const i64* where, const u64* u_bits, i64 u_bits_stride, VectorValues<U_T> u,
          OutputView<T_T> t, u32* flags) {
  const i64 k = thread_number();
  const i64 i = k < n ? where[k] : 0;
  const bool inside = i >= 0 && i < size;
  if (!inside) poke(flags + OUTSIDE, 1u);
  const MaskView entries = {u_bits, u_bits_stride, u_bits_stride ? 0ull : ~0ull};
  const bool has = k < n && inside && entries.allows(k);
#if JOIN
  bool mine = has;
  const Z_T x = has ? take(u.at(k)) : IDENTITY;
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
    join_warp(some, sum, [](Z_T a, Z_T b) { return add(a, b); });
    if ((threadIdx.x & 31) == leader) sum_into(t.bits, t.values, i, sum);
  }
  if (mine) sum_into(t.bits, t.values, i, x);
#else
#if MARKS
  if (k < n && inside && (has || CLEAR) && exchange_bit(t.bits, i, has) && has && !CLEAR) poke(flags + TWICE, 1u);
#endif
#if DENSE && T_BOOL
  const bool x = has && take(u.at(k));
  if (x || (CLEAR && k < n && inside)) exchange_bit(t.values, i, x);
#elif DENSE
  if (has) t.values[i] = take(u.at(k));
#endif
#endif
}
#endif  // KERNEL_place
