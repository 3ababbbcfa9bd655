// Fused element-wise statements of a loop. A lane loads a half word of the bits of each vector. A warp processes its half
// words, POSITIONS at once, with one thread per position of each; or (FEW) each lane processes the few positions of its own;
// or (BY_WORDS) operations on bits process half words, and only values are written position by position. Every thread first
// computes the scalars. Blocks sum entries in an order that depends on the grid alone; the block that finishes last combines
// the sums, and computes the scalars that depend on them.
// SOME: the positions of a lane's half word outside of which the statements do nothing; SAMPLE(i), if there are many half words:
// those of half word i, loaded before everything else. The text is generated (codegen/cuda_kernels.py).
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"

#define MANY 4  // positions whose values a thread reads before it writes them
#define PARTS 3  // sums of blocks that a thread of the last block loads before it adds them
#define SPARSE 4  // bits of a half word up to which each lane processes those of its own

// ---- Gather and scatter through index vectors. An index out of range is reported once, and counts as no entry.
// faults: as in report_fault. ----

__device__ __forceinline__ void report_missing(bool missing, i64* faults, i64 statement) {
  if (missing) report_fault(faults, 2 * statement + 2, 0);
}

// The position of an index; -1 if there is none. from_end: negative indices count from the end.
__device__ __forceinline__ i64 place_of(bool has, i64 index, i64 size, bool from_end, i64* faults, i64 statement) {
  if (!has) return -1;
  const i64 at = from_end && index < 0 ? index + size : index;
  if (at >= 0 && at < size) return at;
  report_fault(faults, 2 * statement + 1, index);
  return -1;
}

// Accumulate in any order. A value that changes nothing is not written, because many threads may share a cell.
template <class T> __device__ __forceinline__ void join_plus(T* at, T x) {  // wraps, signed and unsigned
  typedef typename Cell<sizeof(T)>::type cell_t;
  if (x) atomicAdd((cell_t*)at, (cell_t)x);
}
template <class T> __device__ __forceinline__ void join_min(T* at, T x) {
  if (x < *(volatile T*)at) atomicMin(at, x);
}
template <class T> __device__ __forceinline__ void join_max(T* at, T x) {
  if (x > *(volatile T*)at) atomicMax(at, x);
}
template <class T, class Add> __device__ __forceinline__ void join_any_order(T* at, T x, Add add) {
  update_cell(at, [&](T old) { return add(old, x); });
}

// ---- Positions of half words. ----

// Whether no lane has more than a few positions: then all lanes can work at once.
__device__ __forceinline__ bool is_sparse(u32 here, int few = SPARSE) {
  return !__any_sync(ALL_LANES, __popc(here) > few);
}

// Set bits of the half word that lane `owner` holds, one from each lane; or (own) in each lane, the bit `at` of its own.
__device__ __forceinline__ void put_bits(u32& half, int owner, int at, bool own, bool bit) {
  if (own) {
    const u32 place = owner < 0 ? 0u : 1u << at;
    half = (half & ~place) | (bit ? place : 0u);
    return;
  }
  const u32 all = __ballot_sync(ALL_LANES, bit);
  if (WARP_LANE == owner) half = all;
}

// put(p, get(p)) at the positions of the half words `here`, whose numbers are `mine`; all lanes call it.
template <class Get, class Store> __device__ __forceinline__ void fill_half(u32 here, i64 mine, Get get, Store store) {
  if (is_sparse(here)) {
    for (u32 todo = here; todo;) {  // two at once
      const u32 more = todo & (todo - 1);
      const i64 p = mine * 32 + __ffs(todo) - 1, q = more ? mine * 32 + __ffs(more) - 1 : p;
      const auto x = get(p), y = get(q);
      store(p, x);
      if (more) store(q, y);
      todo = more & (more - 1);
    }
    return;
  }
  for (u32 todo = __ballot_sync(ALL_LANES, here != 0); todo;) {
    i64 p[MANY];
    bool on[MANY];
    decltype(get(i64(0))) x[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      const int owner = todo ? __ffs(todo) - 1 : 0;
      p[i] = __shfl_sync(ALL_LANES, mine, owner) * 32 + WARP_LANE;
      on[i] = (__shfl_sync(ALL_LANES, here, owner) >> WARP_LANE & 1) && todo;
      todo &= todo - 1;
    }
#pragma unroll
    for (int i = 0; i < MANY; ++i)
      if (on[i]) x[i] = get(p[i]);
#pragma unroll
    for (int i = 0; i < MANY; ++i)
      if (on[i]) store(p[i], x[i]);
  }
}

// The positions of the half words `here` at which get(p) holds.
template <class Get> __device__ __forceinline__ u32 kept_half(u32 here, i64 mine, Get get) {
  u32 kept = 0;
  if (is_sparse(here)) {
    for (u32 todo = here; todo; todo &= todo - 1)
      if (get(mine * 32 + __ffs(todo) - 1)) kept |= todo & (0u - todo);
    return kept;
  }
  for (u32 todo = __ballot_sync(ALL_LANES, here != 0); todo;) {
    int owner[MANY];
    bool on[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      owner[i] = todo ? __ffs(todo) - 1 : -1;
      const u32 half = __shfl_sync(ALL_LANES, here, owner[i] & 31);
      const i64 p = __shfl_sync(ALL_LANES, mine, owner[i] & 31) * 32 + WARP_LANE;
      on[i] = todo && (half >> WARP_LANE & 1) && get(p);
      todo &= todo - 1;
    }
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      const u32 half = __ballot_sync(ALL_LANES, on[i]);
      if (WARP_LANE == owner[i]) kept = half;
    }
  }
  return kept;
}

#if !BY_WORDS
// A position in one of the half words: the lane that holds it, the bit, and the vectors' contents there.
struct Here {
  int owner, at;
  bool inside;
  i64 p;
  MEMBERS
};
#endif

// The same for values of one byte: if a half word has many positions, its lane reads all 32 at once.
template <class T, class Get>
__device__ __forceinline__ u32 kept_bytes(u32 here, i64 mine, i64 size, const T* values, Get get) {
  const bool whole = here != 0 && (mine + 1) * 32 <= size;
  if (is_sparse(here) || !__any_sync(ALL_LANES, whole))
    return kept_half(here, mine, [&](i64 p) { return get(p, values[p]); });
  const u32 left = kept_half(whole ? 0u : here, mine, [&](i64 p) { return get(p, values[p]); });
  if (!whole) return left;
  u64 bytes[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) bytes[k] = ((const u64*)values)[mine * 4 + k];
  u32 kept = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) kept |= (u32)(get(mine * 32 + i, (T)(bytes[i / 8] >> i % 8 * 8)) ? 1 : 0) << i;
  return kept & here;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    elementwise(i64 n, i64 size, const u64* condition, i64* rounds, i64 ahead PARAMETERS) {
  await_previous();
  (void)n;
  if (!may_run(condition, rounds, ahead)) return;
  if (thread_number() == 0) rounds[2] = rounds[0] + ahead + 1;
  const i64 round = rounds[0] + ahead;
  (void)round;
  BEFORE
  // A warp processes 32 half words at a time: consecutive ones, as far as there are enough for all warps.
  const i64 halves = (size + 31) / 32;
  const i64 warps = (i64)gridDim.x * (BLOCK / 32);
  int run = 32;
  while (run > 1 && halves < run * warps) run >>= 1;
#ifdef SAMPLE
  __shared__ u8 sampled_lists[BLOCK / 32][AHEAD * 32];
  u8* const sampled_list = sampled_lists[threadIdx.x / 32];
#endif
  for (i64 first = thread_number() / 32 * run; first < halves; first += AHEAD * 32 * warps) {
    // The half word with index x among those of the warp.
    const auto half = [&](int x) { return first + (x & (run - 1)) + ((x & 31 & ~(run - 1)) + (x >> 5) * 32) * warps; };
    int count = 32;
#ifdef SAMPLE
    // Half words with entries, which are few if frontiers are small, are distributed over the lanes.
    u32 sampled[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const i64 at = half(32 * i + WARP_LANE);
      sampled[i] = at < halves ? SAMPLE(at) : 0u;
    }
    count = 0;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const u32 who = __ballot_sync(ALL_LANES, sampled[i] != 0);
      if (sampled[i]) sampled_list[count + __popc(who & ((1u << WARP_LANE) - 1u))] = (u8)(32 * i + WARP_LANE);
      count += __popc(who);
    }
    __syncwarp();
#endif
    for (int from = 0; from < count; from += 32) {
#ifdef SAMPLE
      const i64 mine = from + WARP_LANE < count ? half(sampled_list[from + WARP_LANE]) : halves;
#else
      const i64 mine = half(WARP_LANE);
#endif
      const bool exists = mine * 32 < size;
      const u32 all = !exists ? 0u : size - mine * 32 >= 32 ? ~0u : (1u << (size & 31)) - 1u;
      (void)all;
      LOAD_WORDS
      const u32 some = exists ? (SOME) : 0u;
#if BY_WORDS
      AT_WORDS
#else
      const bool few = FEW && is_sparse(some, FEW);
      // Values of several positions are loaded before any of them is used.
      const auto may_continue = [&](u32 todo) { return few ? __any_sync(ALL_LANES, todo != 0) != 0 : todo != 0; };
      for (u32 todo = few ? some : __ballot_sync(ALL_LANES, some != 0); may_continue(todo);) {
        Here all_here[POSITIONS];
#pragma unroll
        for (int i = 0; i < POSITIONS; ++i, todo &= todo - 1) {
          Here& here = all_here[i];
          const int next = __ffs(todo) - 1, owner = here.owner = few && todo ? WARP_LANE : next;
          const int at = here.at = few ? next & 31 : WARP_LANE;
          const i64 p = here.p = __shfl_sync(ALL_LANES, mine, owner & 31) * 32 + at;
          const bool inside = here.inside = owner >= 0 && p < size;
          (void)inside, (void)at;
          NAMES
          LOAD
        }
#pragma unroll
        for (int i = 0; i < POSITIONS; ++i) {
          Here& here = all_here[i];
          const int owner = here.owner, at = here.at;
          const i64 p = here.p;
          const bool inside = here.inside;
          (void)owner, (void)at, (void)p, (void)inside;
          NAMES
          AT_POSITION
        }
      }
#endif
      if (some) { STORE_WORDS }
    }
#ifdef SAMPLE
    __syncwarp();  // all lanes have read the list
#endif
  }
  AFTER
}
