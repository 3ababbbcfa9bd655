// Frontiers: the active entries that one round of a device loop hands to the next; and clusters, which run small rounds.
// In addition to its bits a frontier has an unordered list of the units (rows, tile rows) that have entries, and a
// state of 8 numbers.
#define ENTRIES 0  // entries of the product
#define LIST_LENGTH 1  // units in the list
#define DENSE 2  // nonzero: there is no list, every unit is visited
#define WORK 3  // entries of the matrix in the rows of these entries; of a multivector, nonempty words
#define SEGMENTS 4  // segments of long rows among them
#define REMAINING 5  // entries that remained when the round ended
#define SEEN 6  // work of all frontiers before this one

#define WARP_LANE (threadIdx.x & 31)

// Whether a round runs, evaluated when all these numbers are loaded: compilers would load them after the branch, one
// more trip to the L2 cache later. The numbers are never all ones.
template <class... T> __device__ __forceinline__ bool runs_with(bool runs, T... numbers) {
  u64 all = ~0ull;
  const u64 each[] = {sizeof(T) == 4 ? (u64)numbers << 32 | numbers : (u64)numbers...};
#pragma unroll
  for (u64 x : each) all &= x;
  return runs & (all != ~0ull);
}

// Round counters: [0] rounds before this run of the body, [1] the limit, [2] rounds done, [3] nonzero: stop requested,
// [4] rounds done by a cluster (rounds.cuh), after which buffers are in their original roles, [5] nonzero: an index
// vector was out of range (loop/gpu/elementwise.cu), [6] that index.
__device__ __forceinline__ bool may_run(const u64* condition, const i64* rounds, i64 ahead) {
  return (*condition != 0) & (rounds[0] + ahead < rounds[1]);  // no short circuit: both loads are issued at once
}

// When a kernel of a round runs: the loop condition, the round counters, and the number of this round after the first.
struct Control {
  const u64* condition;
  i64* rounds;
  i64 ahead;

  __device__ __forceinline__ bool runs() const { return may_run(condition, rounds, ahead); }
};

// An index is out of range, or missing. faults: [0] 1 + twice the number of the statement, plus one if it is missing; [1]
// the index.
__device__ __forceinline__ void report_fault(i64* faults, i64 what, i64 index) {
  if (atomicCAS((u64*)faults, 0ull, (u64)what) == 0) faults[1] = index;
}

// Whether this block is the last one to finish: it then sees what the others have written.
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

// Called by the whole warp: count the lanes with `add`, and return the number of each.
template <class C> __device__ __forceinline__ C next_number(bool add, C* count) {
  const u32 who = __ballot_sync(ALL_LANES, add);
  if (!who) return 0;
  const int leader = __ffs(who) - 1;
  C first = 0;
  if (WARP_LANE == leader) first = atomicAdd(count, (C)__popc(who));
  return __shfl_sync(ALL_LANES, first, leader) + __popc(who & ((1u << WARP_LANE) - 1u));
}
// The same for lanes that append their unit to the list.
__device__ __forceinline__ void append(bool add, u32 unit, u32* list, u64* count) {
  const u64 at = next_number(add, count);
  if (add) list[at] = unit;
}

// Add the sum of x over the warp to *to.
__device__ __forceinline__ void add_of_warp(u64* to, u64 x) {
#pragma unroll
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL_LANES, x, d);
  if (WARP_LANE == 0 && x) atomicAdd(to, x);
}

// The same over the block, which calls it together: thousands of warps adding to one address would serialize.
__device__ __forceinline__ void add_of_block(u64* to, u64 x) {
  __shared__ u64 sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  add_of_warp(&sum, x);
  __syncthreads();
  if (threadIdx.x == 0 && sum) atomicAdd(to, sum);
}

// A block stages its part of the next frontier in shared memory and adds to the counters once: hundreds of additions to
// one address would serialize.
#define STAGE 2048
#define LONG_ROWS 256  // long rows, which are cut
struct Stage {
  u32 units[STAGE];
  struct {
    u32 unit, count, first;
  } longs[LONG_ROWS];
  u32 count, room;  // units, and how many are staged if there are more than STAGE
  u32 long_count, parts;  // segments of the long rows
  u64 first, first_part, entries, work;
};

__device__ __forceinline__ void begin_stage(Stage& stage) {  // the whole block
  if (threadIdx.x == 0) {
    stage.count = stage.long_count = stage.parts = 0, stage.room = STAGE;
    stage.entries = stage.work = 0;
  }
  __syncthreads();
}

// Cut a row into `count` segments. Called rarely, from many places.
__device__ __noinline__ void put_segments(Stage& stage, u32 unit, u32 count, u32* segments, u64* state) {
  const u32 at = atomicAdd(&stage.long_count, 1u);
  if (at < LONG_ROWS) {
    stage.longs[at] = {unit, count, atomicAdd(&stage.parts, count)};
    return;
  }
  const u64 first = atomicAdd(state + SEGMENTS, (u64)count);
  for (u32 s = 0; s < count; ++s) segments[2 * (first + s)] = unit, segments[2 * (first + s) + 1] = s;
}

// Called by the whole warp: append via the stage, N units per lane.
template <int N, class U>
__device__ __forceinline__ void append_staged(Stage& stage, const bool* add, const U* unit, u32* list, u64* count) {
  u32 who[N], all = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) who[k] = __ballot_sync(ALL_LANES, add[k]), all += __popc(who[k]);
  if (!all) return;
  u32 at = 0;
  if (WARP_LANE == 0) at = atomicAdd(&stage.count, all);
  at = __shfl_sync(ALL_LANES, at, 0);
  const bool fits = at + all <= STAGE;
  if (!fits && at < STAGE && WARP_LANE == 0) stage.room = at;  // of the groups that did not fit, one began inside
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (fits && add[k]) stage.units[at + __popc(who[k] & ((1u << WARP_LANE) - 1u))] = (u32)unit[k];
    at += __popc(who[k]);
  }
  if (fits) return;
#pragma unroll
  for (int k = 0; k < N; ++k) append(add[k], (u32)unit[k], list, count);
}
__device__ __forceinline__ void append_staged(Stage& stage, bool add, u32 unit, u32* list, u64* count) {
  append_staged<1>(stage, &add, &unit, list, count);
}

// Called by the block. segments: output list of the segments of long rows.
__device__ __forceinline__ void flush_stage(Stage& stage, u64 entries, u64 work, u32* list, u32* segments, u64* state) {
  add_of_warp(&stage.entries, entries);
  add_of_warp(&stage.work, work);
  __syncthreads();
  const u32 count = stage.count <= STAGE ? stage.count : stage.room;
  const u32 longs = stage.long_count < LONG_ROWS ? stage.long_count : LONG_ROWS;
  if (threadIdx.x == 32 && longs) stage.first_part = atomicAdd(state + SEGMENTS, (u64)stage.parts);
  if (threadIdx.x == 0) {
    if (count) stage.first = atomicAdd(state + LIST_LENGTH, (u64)count);
    if (stage.entries) atomicAdd(state + ENTRIES, stage.entries);
    if (stage.work) atomicAdd(state + WORK, stage.work);
  }
  __syncthreads();
  for (u32 k = threadIdx.x; k < count; k += BLOCK) list[stage.first + k] = stage.units[k];
  for (u32 k = threadIdx.x / 32; k < longs; k += BLOCK / 32) {
    const auto& row = stage.longs[k];
    for (u32 s = WARP_LANE; s < row.count; s += 32) {
      u32* const at = segments + 2 * (stage.first_part + row.first + s);
      at[0] = row.unit, at[1] = s;
    }
  }
}

__device__ __forceinline__ void set_bit(u64* bits, i64 p) { atomicOr((u32*)bits + (p >> 5), 1u << (p & 31)); }
__device__ __forceinline__ void clear_bit(u64* bits, i64 p) { atomicAnd((u32*)bits + (p >> 5), ~(1u << (p & 31))); }

// Force a load to be issued here, together with its neighbours, although its value is used later: the compiler's front
// end would move it to its use, after the wait for the others.
template <class T> __device__ __forceinline__ void issue_load(const T& x) {
#ifndef __CUDA_EMU__
  if (sizeof(T) == 8) asm volatile("" ::"l"((u64)x));
  else asm volatile("" ::"r"((u32)x));
#else
  (void)x;
#endif
}

// ---- Thread-block clusters: blocks that run at the same time, meet at a barrier and read each other's shared memory.
// GPUs before compute capability 9.0 have no clusters; there a cluster is one block. Launch such a kernel with CLUSTER
// blocks.
#if CLUSTER > 1 && (defined(__CUDA_EMU__) || __CUDA_ARCH__ >= 900)
#define IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#define PEERS CLUSTER
#else
#define IN_CLUSTER
#define PEERS 1
#endif

// Number of this block in its cluster.
__device__ __forceinline__ u32 rank_in_cluster() {
#if PEERS == 1
  return 0;
#elif defined(__CUDA_EMU__)
  return emu_cluster_rank();
#else
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#endif
}

// The same variable in the shared memory of block `rank` of the cluster, which must not have exited.
template <class T> __device__ __forceinline__ T* at_peer(T* shared, u32 rank) {
#if PEERS == 1
  (void)rank;
  return shared;
#elif defined(__CUDA_EMU__)
  return (T*)emu_peer((void*)shared, rank);
#else
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
#endif
}

// An atomic or of a variable in the shared memory of block `rank`; returns what it was.
__device__ __forceinline__ u32 or_at_peer(u32* shared, u32 rank, u32 bits) {
#if PEERS == 1 || defined(__CUDA_EMU__)
  return atomicOr(at_peer(shared, rank), bits);
#else
  u32 old;
  asm volatile(
      "{\n.reg .u32 there;\nmapa.shared::cluster.u32 there, %1, %2;\n"
      "atom.relaxed.cluster.shared::cluster.or.b32 %0, [there], %3;\n}"
      : "=r"(old)
      : "r"((u32)__cvta_generic_to_shared(shared)), "r"(rank), "r"(bits)
      : "memory");
  return old;
#endif
}

// All threads of the cluster call it. Earlier writes to any memory are visible to all of them afterwards.
__device__ __forceinline__ void meet_in_cluster() {
#if PEERS == 1
  __threadfence();
  __syncthreads();
#elif defined(__CUDA_EMU__)
  emu_cluster_barrier();
#else
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}
