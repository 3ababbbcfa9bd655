// All rounds of a loop in one launch: the blocks of the whole grid run at the same time and meet after each round, which
// costs less than a launch. For searches along rows of very different lengths: of each position any product will do, and
// what has been in a frontier is masked. These positions are bits in Closed, all that an edge has to read.
// A frontier is listed as chunks: CHUNK entries of a row or fewer, so that all warps have as much work, and a warp need
// not load where a row begins. A round that pulls lists nothing; the next one that pushes lists the entries by their bits.
// Include after the layout's advance.cuh (BLOCK is THREADS), cluster.cuh (Buffers) and grid.cuh.
#include "kernels/advance_pull.cuh"
#define FIRST_CHUNK (1ull << 63)
#define FEW_CHUNKS 4  // of a row, which its own lane writes
#define AHEAD 8  // lanes of a warp that load their chunk before it is known how many there are

// Entries of a row from `begin` on. row: its number, their number (<< 32), and FIRST_CHUNK of each row.
struct alignas(16) Chunk {
  u64 row;
  i64 begin;

  __device__ __forceinline__ bool is_first() const { return row >> 63; }
  __device__ __forceinline__ Item item() const {
    return {(u32)row, (PTR_T)begin, (PTR_T)(begin + ((u32)(row >> 32) & ~(1u << 31)))};
  }
};

// What is known about a frontier when all blocks have met.
struct Found {
  u64 chunks, entries, work, stop;
};
struct Numbers {  // zeros before the launch
  u64 gate;
  Found found[3];  // of the frontier, the next one, and the one after that, in rotation
};

// Two lists of up to `capacity` chunks, in rotation; a longer one is not stored, and such a frontier pulls.
struct ChunkLists {
  Chunk *first, *second;
  u64 capacity;
};

// The chunks that a block has found.
struct ChunkStage {
  Chunk chunks[STAGED];
  u32 count, room;  // chunks, and how many are staged if there are more than STAGED
  u64 first;
};
union GridMemory {
  ChunkStage stage;
#if PULLS
  Deferred deferred;
#endif
};

// The next frontier, as a round finds it.
struct NextFrontier {
  ChunkStage& stage;
  Chunk* list;
  u64 capacity;
  Found* found;
  u64 entries, work;  // of this thread

  __device__ __forceinline__ void begin() {  // the whole block, which then meets
    if (threadIdx.x == 0) stage.count = 0, stage.room = STAGED;
    entries = work = 0;
  }
  __device__ __forceinline__ static Chunk chunk(const Item& x, u32 s) {
    const u32 length = (u32)(x.end - x.begin), from = s * CHUNK, left = length - from;
    return {x.unit | (u64)(left < CHUNK ? left : CHUNK) << 32 | (s ? 0 : FIRST_CHUNK), (i64)x.begin + from};
  }
  // Called by the whole warp: append the rows of lanes with `add`, N per lane.
  template <int N> __device__ __forceinline__ void append(const bool* add, const Item* row) {
    u32 parts[N], mine = 0;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const u32 length = add[k] ? (u32)(row[k].end - row[k].begin) : 0;
      parts[k] = length > CHUNK ? (length + CHUNK - 1) / CHUNK : add[k];
      mine += parts[k], entries += add[k], work += length;
    }
    if (!__any_sync(ALL_LANES, mine != 0)) return;
    const u32 before = group_sum_below<32>(mine), all = __shfl_sync(ALL_LANES, before + mine, 31);
    u32 at = 0;
    if (WARP_LANE == 0) at = atomicAdd(&stage.count, all);
    at = __shfl_sync(ALL_LANES, at, 0);
    const bool fits = at + all <= STAGED;
    u64 to = at;
    if (!fits) {
      if (WARP_LANE == 0 && at < STAGED) stage.room = at;  // of the groups that did not fit, one began inside
      if (WARP_LANE == 0) to = atomicAdd(&found->chunks, (u64)all);
      to = __shfl_sync(ALL_LANES, to, 0);
      if (to + all > capacity) return;  // not stored
    }
    Chunk* const chunks = fits ? stage.chunks : list;
    to += before;
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const bool many = parts[k] > FEW_CHUNKS;
      for (u32 s = 0; s < parts[k] && !many; ++s) chunks[to + s] = chunk(row[k], s);
      if (__any_sync(ALL_LANES, many)) put_chunks(chunks, to, row[k], many ? parts[k] : 0);
      to += parts[k];
    }
  }
  // Called by the whole warp: the chunks of a row of each lane, from `to` on; lanes take turns.
  __device__ __forceinline__ void put_chunks(Chunk* chunks, u64 to, const Item& row, u32 parts) {
    const u32 end = parts + group_sum_below<32>(parts), all = __shfl_sync(ALL_LANES, end, 31);
    for (u32 first = 0; first < all; first += 32) {
      const u32 x = first + WARP_LANE;
      int owner = 0;
#pragma unroll
      for (int d = 16; d; d >>= 1) {
        const u32 until = __shfl_sync(ALL_LANES, end, owner + d - 1);
        if (until <= x) owner += d;
      }
      const u32 s = x - (__shfl_sync(ALL_LANES, end, owner) - __shfl_sync(ALL_LANES, parts, owner));
      const u64 at = __shfl_sync(ALL_LANES, to, owner) + s;
      const Item one = {__shfl_sync(ALL_LANES, row.unit, owner), __shfl_sync(ALL_LANES, row.begin, owner),
                        __shfl_sync(ALL_LANES, row.end, owner)};
      if (x < all) chunks[at] = chunk(one, s);
    }
  }
  // The whole block: store what was staged. lists: whether anything was.
  __device__ __forceinline__ void end(bool lists) {
    __shared__ u64 sums[WARPS][2];  // additions to one number would wait for each other
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      entries += __shfl_xor_sync(ALL_LANES, entries, d);
      work += __shfl_xor_sync(ALL_LANES, work, d);
    }
    if (WARP_LANE == 0) sums[threadIdx.x / 32][0] = entries, sums[threadIdx.x / 32][1] = work;
    __syncthreads();
    const u32 count = !lists ? 0 : stage.count <= STAGED ? stage.count : stage.room;
    if (threadIdx.x == THREADS - 1 && count) stage.first = atomicAdd(&found->chunks, (u64)count);
    if (threadIdx.x < 32) {
      add_of_warp(&found->entries, WARP_LANE < WARPS ? sums[WARP_LANE][0] : 0);
      add_of_warp(&found->work, WARP_LANE < WARPS ? sums[WARP_LANE][1] : 0);
    }
    __syncthreads();
    if (count && stage.first + count <= capacity)
      for (u32 k = threadIdx.x; k < count; k += THREADS) list[stage.first + k] = stage.chunks[k];
  }
};

// The positions that the mask excludes, and those found so far. Adjacent ones are in adjacent words, which a warp loads
// together: they are often found at the same time, and atomics on one word wait for each other.
struct Closed {
  u32* words;  // 1 << log
  i64 log;

  __device__ __forceinline__ u32* word(u32 j) const { return words + (j & ((1u << log) - 1)); }
  __device__ __forceinline__ u32 bit(u32 j) const { return 1u << (j >> log); }
};

// List the entries of a frontier by its bits, and close them and what is masked: all warps take half words far apart.
__device__ __forceinline__ void list_entries(const Rows& A, const u64* bits, const MaskView& mask, const Closed& closed,
                                             i64 size, u32 warp, u32 warps, NextFrontier& next) {
  const u32 halves = (u32)((size + 31) / 32);
  for (u32 first = warp; first < halves; first += 32 * warps) {
    const u32 h = first + WARP_LANE * warps;
    const u32 here = h < halves ? ((const u32*)bits)[h] : 0, masked = h < halves ? mask.stored(h) : 0;
    for (u32 todo = __ballot_sync(ALL_LANES, (here | masked) != 0); todo; todo &= todo - 1) {
      const int owner = __ffs(todo) - 1;
      const u32 i = 32 * (first + owner * warps) + WARP_LANE;
      const bool add = __shfl_sync(ALL_LANES, here, owner) >> WARP_LANE & 1;
      if (__shfl_sync(ALL_LANES, here | masked, owner) >> WARP_LANE & 1) atomicOr(closed.word(i), closed.bit(i));
      const Item row = add ? A.item(i) : Item{};
      next.append<1>(&add, &row);
    }
  }
}

// Entries of rows, AT_ONCE per lane, reach columns j that are not closed yet.
struct Reach {
  const Rows& A;
  const SourceView& u;
  const FrontierView& t;
  const Values& a;
  Closed closed;
  NextFrontier& next;
  u32 i;  // row of this lane

  __device__ __forceinline__ void operator()(const bool* has, const number_t* j, const entry_t* e, const int* owner) {
    bool fresh[AT_ONCE];
    Item row[AT_ONCE];
    u32 word[AT_ONCE];
#if KIND == VALUES
    const Factors factors(a, u, i, has, e, owner);
#else
    (void)e, (void)owner;
#endif
    // Results of loads and atomics are used only when all are in flight.
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) word[k] = has[k] ? peek(closed.word((u32)j[k])) : ~0u;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      fresh[k] = has[k] && !(word[k] & closed.bit((u32)j[k]));
      row[k] = {};
      if (fresh[k]) row[k] = A.item((u32)j[k]), A.issue_loads(row[k]);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k)
      word[k] = fresh[k] ? atomicOr(closed.word((u32)j[k]), closed.bit((u32)j[k])) : ~0u;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      fresh[k] = fresh[k] && !(word[k] & closed.bit((u32)j[k]));
      if (!fresh[k]) continue;
      set_bit(t.bits, (i64)j[k]);
#if KIND == VALUES
      t.values[j[k]] = C_T(factors.product(k, j[k]));
#endif
    }
    next.append<AT_ONCE>(fresh, row);
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    grid_rounds(i64 n, AdvanceLimits limits, u64 pull_cost, i64* rounds, u64* words, Closed closed, Buffers b,
                ChunkLists lists, i64 pieces, const u64* piece, u64* reported, MaskView mask, FORM(), Values a,
                PULL_FORM() PARAMETERS) {
  await_previous();
  (void)n;
  Numbers* const numbers = (Numbers*)words;
  extern __shared__ __align__(16) u64 dynamic[];
  static_assert(sizeof(GridMemory) <= SHARED_BYTES, "shared memory");
  GridMemory& memory = *(GridMemory*)dynamic;
  __shared__ Found known;
  Barrier barrier = {&numbers->gate, 0};
  const Rows A = FORM_OF();
  const i64 size = limits.size, first = rounds[0], limit = rounds[1];
  const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x / 32), warps = gridDim.x * WARPS;
  NextFrontier next = {memory.stage, lists.first, lists.capacity, numbers->found, 0, 0};
  const i64 words_of_bits = (size + 63) / 64;
  next.begin();
  __syncthreads();
  list_entries(A, b.bits, mask, closed, size, warp, warps, next);
  next.end(true);
  barrier.meet();
  bool listed = true;
  u64 seen = 0;
  i64 done = 0;
  int now = 0;
  for (;; ++done) {
    Found* const here = numbers->found + now;
    now = now == 2 ? 0 : now + 1;
    next.found = numbers->found + now;
    const Chunk* const list = done & 1 ? lists.second : lists.first;
    if (threadIdx.x == 0) {  // thousands of warps that load one address would wait for each other
      const u64 loaded[] = {load_fresh(&here->chunks), load_fresh(&here->entries), load_fresh(&here->work),
                            load_fresh(&here->stop)};
      known = {loaded[0], loaded[1], loaded[2], loaded[3]};
    }
    const u64 own = warp + (u64)WARP_LANE * warps;
    const bool early = listed && WARP_LANE < AHEAD && own < lists.capacity;
    Chunk ahead = {};
    if (early) ahead = list[own];
    issue_load(ahead.row), issue_load(ahead.begin);
    next.list = done & 1 ? lists.first : lists.second;
    next.begin();
    __syncthreads();
    const u64 entries = known.entries, work = known.work, stop = known.stop;
    u64 chunks = known.chunks;
    if (!entries || first + done >= limit || stop) break;
    // A pull takes as long as a push of pull_cost entries, however few rows are left, unless that must list them first.
    AdvanceLimits either = limits;
    if (listed) either.all_work += pull_cost;
    bool pull = PULLS && either.pulls(work, entries, seen);
    if (!pull && !listed) {
      NextFrontier again = {memory.stage, (Chunk*)list, lists.capacity, here, 0, 0};
      list_entries(A, b.bits, mask, closed, size, warp, warps, again);
      again.entries = again.work = 0;
      again.end(true);
      barrier.meet();
      if (threadIdx.x == 0) known.chunks = load_fresh(&here->chunks);
      next.begin();
      __syncthreads();
      chunks = known.chunks;
    }
    pull = pull || (PULLS && chunks > lists.capacity);
    if (first_thread() == 0) {
      numbers->found[now == 2 ? 0 : now + 1] = {};
      if (*(volatile const i64*)(rounds + 3)) next.found->stop = 1;
    }
    for (i64 w = first_thread(); w < words_of_bits; w += all_threads()) b.old_bits[w] = 0;
    const SourceView u = {b.bits, (const STORED(U_T)*)b.val, U_T(), 1, nullptr, nullptr, nullptr};
    const FrontierView t = {b.next_bits, b.next_val, nullptr, nullptr, nullptr};
    const auto entry = [&](i64 i) {
      const i64 rounds[] = {first}, ahead = done;
      (void)rounds, (void)ahead;
      AT_ENTRY(i)
    };
    if (!pull) {
      Reach push = {A, u, t, a, closed, next, 0};
      for (u32 k = warp; k < chunks; k += 32 * warps) {
        const u64 at = k + (u64)WARP_LANE * warps;
        Chunk x = {};
        if (at < chunks) x = early && k == warp ? ahead : list[at];
        const Item row = x.item();
        push.i = row.unit;
        if (x.is_first()) entry((i64)row.unit);
        walk_rows(A, row, push);
      }
    }
#if PULLS
    if (pull) {
      each_entry(b.bits, size, first_thread(), all_threads(), entry);
      const PullRows back = PULL_FORM_OF();
      const bool same = is_same(back, A);
      pull_rows(back, u, t, mask, a.stride, size, warp, warps, memory.deferred,
                [&](const Hit& hit, i64 j, const pull_row_t& row) {
                  pulled_value(back, u, t, a, hit, j);
                  next.entries += hit.some;
                  if (hit.some) next.work += same ? pull_row_length(row) : A.work_of(A.item((u32)j));
                });
      __syncthreads();
    }
#endif
    next.end(!pull);
    seen += work;
    listed = !pull;
    barrier.meet();
    b.rotate();
  }
  if (first_thread() == 0) rounds[0] = rounds[2] = first + done;
  __syncthreads();
  if (blockIdx.x == 0 && pieces) report_to_host(piece, pieces, reported);
}
