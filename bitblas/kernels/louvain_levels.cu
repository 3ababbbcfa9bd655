// Louvain and Leiden: a pass through all levels in one launch. The blocks run at the same time and meet at barriers of the
// grid; the method is that of algorithms/communities/louvain.py, and the numbers are the same.
// Rows of a level are binned by length: groups of 8 lanes or a warp hold short rows in registers, a warp or a block has a
// hash table in shared memory, and hubs are read in parts of BLOCK_ROW entries, which are summed in shared memory and then
// added to a table in global memory. The order of sums and of lists differs from run to run; sums of integers do not.
// SUM: the type of weights, which holds the sum of all.
#include "formats/csr/search.cuh"
#include "kernels/grid.cuh"
#include "kernels/views.cuh"

#define FREE 0xffffffffu  // no key, in a table
#define GROUP 8  // lanes of a short row
#define BATCH 4  // entries or slots that a thread reads at a time: their loads are in flight together
#define SLOTS (2 * (WARPS * WARP_ROW > BLOCK_ROW ? WARPS * WARP_ROW : BLOCK_ROW))  // of a block's tables
#define MOST_GAIN 4503599627370496.0  // 2^52: more only with an extreme resolution

// The same numbers as `random_hash(x, key)` of the algorithms.
__device__ __forceinline__ u32 stir(u32 x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
__device__ __forceinline__ u32 drawn(i64 x, i64 key) { return stir(stir((u32)x) ^ (u32)key); }

// ---- State, memory, barriers.

// A level: rows with weights, the weight of each vertex and of its self loop. stride 0: all weights are 1.
struct Graph {
  i64 n, nvals;
  const i64* ptr;
  const int* col;
  const SUM_T* values;
  i64 stride;
  const i64* degree;
  const i64* loop;
  __device__ __forceinline__ i64 length(i64 v) const { return ptr[v + 1] - ptr[v]; }
  __device__ __forceinline__ SUM_T weight(i64 e) const { return stride ? values[e] : 1; }
};

// Lists of a step that all blocks share, and the gain of its moves. Three are used in turn: one is read, one is cleared.
// Listed rows are of a kind: for a block, or hubs. taken: how many of the units that blocks share are taken.
enum { LONG, HUBS };
struct Lists {
  u64 rows[2], moved[2], parts, slots, taken;
  i64 gained, entries;
};

// The first words of `state`: what the host reads, and where the next launch goes on.
struct State {
  i64 n, nvals, level, done, key, inside, sweeps, longest[2];
  u64 gate;
  Lists lists[3];
};

// Memory of a pass. Arrays of a number per vertex have room for those of the first level.
struct VertexArrays {
  i64 vertices;  // of the first level
  int* whole;  // the vertex of this level that contains each of them
  int* label;  // community of each vertex
  int* part;  // vertex of the next level that contains each vertex
  int* target;  // where a vertex moves
  int* number;  // of a label
  int* finer;  // of a part
  int* size;  // of a part; entries of a row of the next level
  i64* sigma;  // sum of the degrees of a community
  i64* tied;  // weight from a vertex to its community; sum of the degrees of a part
  i64* base;  // first slot of a row of the next level
  u8* active;  // whether a vertex may move, or join a part
};
struct Best {
  double score;
  u32 key;
  i64 own;  // the sum of the row's own key
};
struct RowLists {
  int* movers;  // short rows that move: a segment for each block
  int *long_rows, *hubs;  // listed rows
  int *moved_rows, *moved_hubs;
  int* part_hub;
  int* part_number;
  Best* part_best;
  i64* hub_slot;
  i64* block_sums;
};
// Tables of hubs and of the next level: between their uses all slots are FREE, with sum 0.
struct Slot {
  u32 key;
  SUM_T sum;
};
// The present level, unless it is the first one. The next level replaces it.
struct LevelArrays {
  i64* ptr;
  int* col;
  SUM_T* values;
  i64* degree;
  i64* loop;
};
struct Memory : VertexArrays, RowLists {
  Slot* table;
  LevelArrays next;
  __device__ __forceinline__ int* rows(int kind) const { return kind == LONG ? long_rows : hubs; }
  __device__ __forceinline__ int* moved(int kind) const { return kind == LONG ? moved_rows : moved_hubs; }
};

// Shared memory of a block: tables, results of its warps, lanes with short rows, number of movers, the number of chunks
// that its warps have taken, or the unit that comes next.
struct Shared {
  u32* keys;
  SUM_T* sums;
  Best* best;
  i64* totals;
  int* turns;
  u32* moved;
  u32* taken;
};

// The sum over the lower threads of a block, and over all of them.
__device__ __noinline__ i64 sum_below(i64 x, i64* totals, i64& all) {
  i64 sum = x;
#pragma unroll 1
  for (int d = 1; d < 32; d <<= 1) {
    const i64 below = __shfl_up_sync(ALL_LANES, sum, d);
    if ((threadIdx.x & 31) >= d) sum += below;
  }
  if ((threadIdx.x & 31) == 31) totals[threadIdx.x / 32] = sum;
  __syncthreads();
  i64 lower = 0, tile = 0;
#pragma unroll 4
  for (int w = 0; w < WARPS; ++w) {
    lower += w < threadIdx.x / 32 ? totals[w] : 0;
    tile += totals[w];
  }
  __syncthreads();
  all = tile;
  return lower + sum - x;
}

// write(i, sum of value(j) for j < i), and the sum of all. All blocks meet inside.
template <class Value, class Write>
__device__ __forceinline__ i64 scan(i64 n, Barrier& barrier, const Memory& m, const Shared& shared, Value value,
                                    Write write) {
  const i64 chunk = (n + gridDim.x - 1) / gridDim.x, low = chunk * blockIdx.x;
  const i64 high = low + chunk < n ? low + chunk : n;
  i64 mine = 0;
#pragma unroll 1
  for (i64 i = low + threadIdx.x; i < high; i += THREADS) mine += value(i);
  mine = total_of_block(mine, shared.totals);
  if (threadIdx.x == 0) m.block_sums[blockIdx.x] = mine;
  barrier.meet();
  i64 before = 0, all = 0;
#pragma unroll 1
  for (int b = threadIdx.x; b < gridDim.x; b += THREADS) {
    const i64 x = m.block_sums[b];
    all += x;
    before += b < blockIdx.x ? x : 0;
  }
  before = total_of_block(before, shared.totals);
  all = total_of_block(all, shared.totals);
#pragma unroll 1
  for (i64 at = low; at < high; at += THREADS) {
    const i64 i = at + threadIdx.x, x = i < high ? value(i) : 0;
    i64 tile;
    const i64 lower = sum_below(x, shared.totals, tile);
    if (i < high) write(i, before + lower);
    before += tile;
  }
  return all;
}

// visit(x, range of x, whether x < count) for all x, by warps that take consecutive ones. ptr: where each of n ranges
// begins. All lanes of a warp visit at the same time.
template <class Visit>
__device__ __forceinline__ void for_ranges(i64 count, const i64* ptr, i64 n, Visit visit) {
  const i64 warps = all_threads() / 32, share = count / (32 * warps) + 1, chunk = 32 * (share < 16 ? share : 16);
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (i64 begin = first_thread() / 32 * chunk; begin < count; begin += warps * chunk) {
    const i64 end = begin + chunk < count ? begin + chunk : count;
    const i64 border = range_of(ptr, n, lane ? end - 1 : begin), high = __shfl_sync(ALL_LANES, border, 1);
    i64 low = __shfl_sync(ALL_LANES, border, 0);
#pragma unroll 1
    for (i64 x = begin + lane; x - lane < end; x += 32) {
      const i64 i = x < end ? range_between(ptr, low, high, x) : high;
      visit(x, i, x < end);
      low = __shfl_sync(ALL_LANES, i, 31);
    }
  }
}

// ---- Sums by key. Lanes of a warp with the same key add up before they touch memory.

// The sum over the lanes of `peers`, in the lowest of them. All lanes of the warp call it.
template <class T> __device__ __noinline__ T sum_of_peers(u32 peers, T x) {
  const int lane = threadIdx.x & 31;
  u32 rank = __popc(peers & lanes_below()), after = peers & (0xfffffffeu << lane);
  while (__any_sync(ALL_LANES, after != 0)) {
    const int next = after ? __ffs(after) - 1 : lane;
    const T y = __shfl_sync(ALL_LANES, x, next);
    if (after) x += y;
    after &= __ballot_sync(ALL_LANES, !(rank & 1u));
    rank >>= 1;
  }
  return x;
}

// The weight of the entries e of the lanes of `peers`, in the lowest of them.
__device__ __forceinline__ SUM_T weight_of_peers(const Graph& g, u32 peers, bool valid, i64 e) {
  return g.stride ? sum_of_peers<SUM_T>(peers, valid ? g.values[e] : 0) : (SUM_T)__popc(peers);
}

__device__ __forceinline__ void add_to(u32* sum, u32 x) { atomicAdd(sum, x); }
__device__ __forceinline__ void add_to(i64* sum, i64 x) { atomicAdd((u64*)sum, (u64)x); }

// sums[k] += x in the lanes with valid; all lanes of the warp call it.
__device__ __noinline__ void add_by_key(i64* sums, bool valid, u32 k, i64 x) {
  const u32 peers = __match_any_sync(ALL_LANES, valid ? k : FREE);
  x = sum_of_peers(peers, x);
  if (valid && !(peers & lanes_below())) atomicAdd((u64*)sums + k, (u64)x);
}

__device__ __forceinline__ u32* key_at(u32* keys, u32 i) { return keys + i; }
__device__ __forceinline__ u32* key_at(Slot* table, u32 i) { return &table[i].key; }

// The number of a lane with valid among all lanes with its k: count[k]++. All lanes of the warp call it.
__device__ __noinline__ int next_of_key(int* count, bool valid, int k) {
  const u32 peers = __match_any_sync(ALL_LANES, valid ? (u32)k : FREE);
  const int leader = __ffs(peers) - 1;
  int first = 0;
  if (valid && (threadIdx.x & 31) == leader) first = atomicAdd(count + k, __popc(peers));
  return __shfl_sync(ALL_LANES, first, leader) + __popc(peers & lanes_below());
}

// Append the v of the lanes with valid to a list; all lanes of the warp call it.
__device__ __noinline__ void append(bool valid, int v, u64* count, int* list) {
  const u32 lanes = __ballot_sync(ALL_LANES, valid);
  if (!lanes) return;
  const int leader = __ffs(lanes) - 1;
  u64 first = 0;
  if ((threadIdx.x & 31) == leader) first = atomicAdd(count, (u64)__popc(lanes));
  first = __shfl_sync(ALL_LANES, first, leader);
  if (valid) list[first + __popc(lanes & lanes_below())] = v;
}

// The slot of a key in a table of `size` slots, which has room for it. claimed: whether the key is new.
template <class Table> __device__ __forceinline__ u32 find_slot(Table* table, u32 size, u32 k, bool& claimed) {
  u32 i = __umulhi(k * 2654435769u, size);
  for (;;) {
    u32 was = peek(key_at(table, i));
    if (was == FREE) was = atomicCAS(key_at(table, i), FREE, k);
    claimed = was == FREE;
    if (claimed || was == k) return i;
    if (++i == size) i = 0;
  }
}

__device__ __forceinline__ void join(Best& a, const Best& b) {
  a.own += b.own;
  if (b.key == FREE) return;
  if (a.key == FREE || b.score > a.score || (b.score == a.score && b.key < a.key)) a.score = b.score, a.key = b.key;
}

// The best of the lanes of a group, in each of them.
__device__ __noinline__ Best join_group(Best best, int lanes) {
#pragma unroll 1
  for (int d = lanes / 2; d; d >>= 1) {
    const Best other = {__shfl_xor_sync(ALL_LANES, best.score, d), __shfl_xor_sync(ALL_LANES, best.key, d),
                        __shfl_xor_sync(ALL_LANES, best.own, d)};
    join(best, other);
  }
  return best;
}

// The best of a block, in thread 0.
__device__ __forceinline__ void join_block(Best& best, Best* of_warps) {
  best = join_group(best, 32);
  if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x < 32) {
    best = {0, FREE, 0};
    if (threadIdx.x < WARPS) best = of_warps[threadIdx.x];
    best = join_group(best, 32);
  }
  __syncthreads();
}

// Slots of the table of a row, or of a vertex of the next level, for so many keys at most.
__device__ __forceinline__ i64 slots_for(i64 keys) { return keys + keys / 2; }

// ---- Rules: which vertices may move, the keys of neighbours and their weights, and whether a vertex moves to the best key.

// A row in its turn. own: its own key; home: the community in which keys are looked for.
struct Row {
  i64 v;
  u32 own;
  int home;
  double share;
};

// Active vertices of one class move to the neighbouring community that gains most.
struct Move {
  const Memory& m;
  const Graph& g;
  double factor;  // share = factor * degree
  i64 key;
  u32 which;
  __device__ __forceinline__ bool draw(i64 v) const {
    const bool now = m.active[v] && (drawn(v, key) & (CLASSES - 1)) == which;
    if (now) m.active[v] = 0;
    return now;
  }
  __device__ __forceinline__ Row row(i64 v) const { return {v, (u32)m.label[v], 0, (double)g.degree[v] * factor}; }
  __device__ __forceinline__ u32 key_of(const Row&, int u) const { return (u32)m.label[u]; }
  __device__ __forceinline__ double weight(u32 k) const { return (double)m.sigma[k]; }
  __device__ __forceinline__ bool moves(const Row& row, const Best& best, i64& gained) const {
    const double left = (double)m.sigma[row.own] - (double)g.degree[row.v];
    const double stay = (double)(best.own - g.loop[row.v]) - row.share * left;
    if (best.key == FREE || !(best.score > stay)) return false;
    const double gain = best.score - stay;
    gained += (i64)((gain < MOST_GAIN ? gain : MOST_GAIN) * (double)GAIN_UNIT);
    return true;
  }
  __device__ __forceinline__ i64 move(i64 v, bool valid) const {  // the entries of its row
    const int from = valid ? m.label[v] : 0, to = valid ? m.target[v] : 0;
    const i64 degree = valid ? g.degree[v] : 0;
    add_by_key(m.sigma, valid, (u32)from, -degree);
    add_by_key(m.sigma, valid, (u32)to, degree);
    if (valid) m.label[v] = to;
    return valid ? g.length(v) : 0;
  }
};

// A random half of the settled single vertices join the part of their own community that gains most. A part that may
// vanish in this round is too heavy to be joined. sigma of parts: `tied`.
struct Join {
  const Memory& m;
  const Graph& g;
  double factor;
  i64 key;
  __device__ __forceinline__ bool draw(i64 v) const {
    return m.active[v] && m.size[v] == 1 && m.part[v] == (int)v && !(drawn(v, key) & 1u);
  }
  __device__ __forceinline__ Row row(i64 v) const { return {v, (u32)v, m.label[v], (double)g.degree[v] * factor}; }
  __device__ __forceinline__ u32 key_of(const Row& row, int u) const {
    return m.label[u] == row.home ? (u32)m.part[u] : FREE;
  }
  __device__ __forceinline__ double weight(u32 k) const { return draw((i64)k) ? 1e300 : (double)m.tied[k]; }
  __device__ __forceinline__ bool moves(const Row&, const Best& best, i64&) const {
    return best.key != FREE && best.score > 0 && !draw((i64)best.key);
  }
  __device__ __forceinline__ i64 move(i64 v, bool valid) const {
    const int to = valid ? m.target[v] : 0;
    add_by_key(m.tied, valid, (u32)to, valid ? g.degree[v] : 0);
    if (valid) {
      m.part[v] = to;
      m.size[v] = 0;
      m.tied[v] = 0;
      atomicAdd(m.size + to, 1);
    }
    return 0;
  }
};

__device__ __forceinline__ Best candidate(const Row& row, u32 k, i64 sum, double weight) {
  if (k == row.own) return {0, FREE, sum};
  const double score = (double)sum - row.share * weight;
  return {score, score == score ? k : FREE, 0};
}

// ---- The best key of a row.

// A row of at most G entries, one for each lane of a group. All lanes of the warp call it.
template <int G, class Rule>
__device__ __forceinline__ Best best_in_lanes(const Graph& g, const Rule& rule, const Row& row, bool open) {
  const int lane = threadIdx.x & (G - 1);
  const i64 e = open ? g.ptr[row.v] + lane : 0;
  const bool has = open && e < g.ptr[row.v + 1];
  const u32 k = has ? rule.key_of(row, g.col[e]) : FREE;
  SUM_T sum = 0;
  bool first = true;
  if (G == 32) {
    const u32 peers = __match_any_sync(ALL_LANES, k);
    sum = weight_of_peers(g, peers, k != FREE, e);
    first = !(peers & lanes_below());
  } else {
    const SUM_T mine = k != FREE ? g.weight(e) : 0;
    sum = mine;
#pragma unroll
    for (int j = 0; j < G; ++j) {
      const u32 other = shuffle_from<G>(k, j);
      const SUM_T y = shuffle_from<G>(mine, j);
      if (other != k || j == lane) continue;
      sum += y;
      first = first && j > lane;
    }
  }
  Best best = {0, FREE, 0};
  if (first && k != FREE) best = candidate(row, k, sum, rule.weight(k));
  return join_group(best, G);
}

// Read the entries begin to end (at least one), by lane `me` of `step`, and sum them by key: add(key, sum).
template <class Rule, class Add>
__device__ __forceinline__ void sum_entries(const Graph& g, const Rule& rule, const Row& row, i64 begin, i64 end,
                                            int me, int step, Add add) {
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (i64 e = begin + me; e - lane < end; e += BATCH * step) {
    int u[BATCH];
    u32 key[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; ++j) u[j] = g.col[e + j * step < end ? e + j * step : end - 1];
#pragma unroll
    for (int j = 0; j < BATCH; ++j) key[j] = rule.key_of(row, u[j]);
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
      const i64 x = e + j * step;
      if (x - lane >= end) break;
      const u32 k = x < end ? key[j] : FREE, peers = __match_any_sync(ALL_LANES, k);
      const SUM_T sum = weight_of_peers(g, peers, k != FREE, x);
      if (k != FREE && !(peers & lanes_below())) add(k, sum);
      __syncwarp();
    }
  }
}

// The best key of the slots begin to end of a table: `at` reads a slot, `leave` is called after that.
template <class Rule, class At, class Leave>
__device__ __forceinline__ Best best_of_slots(const Rule& rule, const Row& row, i64 begin, i64 end, int step, At at,
                                              Leave leave) {
  Best best = {0, FREE, 0};
#pragma unroll 1
  for (i64 s = begin; s < end; s += BATCH * step) {
    Slot slot[BATCH];
    double weight[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
      slot[j] = {FREE, 0};
      if (s + j * step < end) slot[j] = at(s + j * step);
    }
#pragma unroll
    for (int j = 0; j < BATCH; ++j) weight[j] = rule.weight(slot[j].key == FREE ? row.own : slot[j].key);
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
      if (slot[j].key == FREE) continue;
      join(best, candidate(row, slot[j].key, slot[j].sum, weight[j]));
      leave(s + j * step);
    }
  }
  return best;
}

// A row of at most WARP_ROW entries, by a warp with a table in shared memory.
template <class Rule> __device__ __forceinline__ Best best_of_warp(const Graph& g, const Rule& rule, const Row& row,
                                                                   const Shared& shared) {
  const int lane = threadIdx.x & 31, table = threadIdx.x / 32 * (2 * WARP_ROW);
  u32* keys = shared.keys + table;
  SUM_T* sums = shared.sums + table;
  const i64 begin = g.ptr[row.v], end = g.ptr[row.v + 1];
  const u32 size = (u32)(2 * (end - begin));
#pragma unroll 1
  for (u32 s = lane; s < size; s += 32) keys[s] = FREE, sums[s] = 0;
  __syncwarp();
  bool claimed;
  sum_entries(g, rule, row, begin, end, lane, 32,
              [&](u32 k, SUM_T x) { sums[find_slot(keys, size, k, claimed)] += x; });
  Best best = best_of_slots(rule, row, lane, size, 32, [&](i64 s) { return Slot{keys[s], sums[s]}; }, [](i64) {});
  best = join_group(best, 32);
  __syncwarp();
  return best;
}

// Sum entries in the table of the block: `size` slots.
template <class Rule>
__device__ __forceinline__ void fill_table(const Graph& g, const Rule& rule, const Row& row, i64 begin, i64 end,
                                           u32 size, const Shared& shared) {
#pragma unroll 1
  for (u32 s = threadIdx.x; s < size; s += THREADS) shared.keys[s] = FREE, shared.sums[s] = 0;
  __syncthreads();
  bool claimed;
  sum_entries(g, rule, row, begin, end, threadIdx.x, THREADS,
              [&](u32 k, SUM_T x) { add_to(shared.sums + find_slot(shared.keys, size, k, claimed), x); });
  __syncthreads();
}

// ---- A step: each vertex of a turn finds its best key, then those that gain move.

// Find the best keys of short rows; put longer ones into lists. The rows of a block go to its next free warp.
template <class Rule>
__device__ __forceinline__ void choose_short(const Graph& g, const Memory& m, const Rule& rule, Lists& lists,
                                             int* movers, const Shared& shared, i64& gained) {
  const int lane = threadIdx.x & 31;
  int* turns = shared.turns + threadIdx.x / 32 * 32;
  auto decide = [&](const Row& row, const Best& best) {
    if (!rule.moves(row, best, gained)) return;
    m.target[row.v] = (int)best.key;
    movers[atomicAdd(shared.moved, 1u)] = (int)row.v;
  };
  const i64 chunks = (g.n + 31) / 32;
#pragma unroll 1
  for (;;) {
    u32 turn = 0;
    if (lane == 0) turn = atomicAdd(shared.taken, 1u);
    const i64 q = blockIdx.x + (i64)gridDim.x * __shfl_sync(ALL_LANES, turn, 0);
    if (q >= chunks) break;
    const i64 base = 32 * q, v = base + lane;
    const bool now = v < g.n && rule.draw(v);
    const i64 length = now ? g.length(v) : 0;
    if (length > BLOCK_ROW) {
      const i64 parts = (length + BLOCK_ROW - 1) / BLOCK_ROW;
      const u64 h = atomicAdd(lists.rows + HUBS, 1ull), p = atomicAdd(&lists.parts, (u64)parts);
      m.hubs[h] = (int)v;
      m.target[v] = 0;
      m.hub_slot[h] = (i64)atomicAdd(&lists.slots, (u64)slots_for(length));
#pragma unroll 1
      for (i64 j = 0; j < parts; ++j) m.part_hub[p + j] = (int)h, m.part_number[p + j] = (int)j;
    }
    append(length > WARP_ROW && length <= BLOCK_ROW, (int)v, lists.rows + LONG, m.long_rows);
    const u32 few = __ballot_sync(ALL_LANES, length > 0 && length <= GROUP);
    if (few) {
      if (few >> lane & 1u) turns[__popc(few & lanes_below())] = lane;
      __syncwarp();
      const int count = __popc(few);
#pragma unroll 1
      for (int i = lane / GROUP; i - lane / GROUP < count; i += 32 / GROUP) {
        const bool open = i < count;
        const Row row = open ? rule.row(base + turns[i]) : Row();
        const Best best = best_in_lanes<GROUP>(g, rule, row, open);
        if (open && (lane & (GROUP - 1)) == 0) decide(row, best);
      }
      __syncwarp();
    }
#pragma unroll 1
    for (u32 rest = __ballot_sync(ALL_LANES, length > GROUP && length <= 32); rest; rest &= rest - 1) {
      const Row row = rule.row(base + __ffs(rest) - 1);
      const Best best = best_in_lanes<32>(g, rule, row, true);
      if (lane == 0) decide(row, best);
    }
#pragma unroll 1
    for (u32 rest = __ballot_sync(ALL_LANES, length > 32 && length <= WARP_ROW); rest; rest &= rest - 1) {
      const Row row = rule.row(base + __ffs(rest) - 1);
      const Best best = best_of_warp(g, rule, row, shared);
      if (lane == 0) decide(row, best);
    }
  }
}

// Hubs: a block for each part, whose sums go to the table of the hub; then long rows: a block for each. A block takes the
// next of them when it is free.
template <class Rule>
__device__ __forceinline__ void choose_long(const Graph& g, const Memory& m, const Rule& rule, Lists& lists,
                                            const Shared& shared, i64& gained) {
  const u32 parts = (u32)lists.parts, all = parts + (u32)lists.rows[LONG];
  auto take = [&] { return threadIdx.x ? 0 : gridDim.x + (u32)atomicAdd(&lists.taken, 1ull); };
  auto share = [&](u32 taken) {
    if (threadIdx.x == 0) *shared.taken = taken;
    __syncthreads();
    return *shared.taken;
  };
  u32 unit = blockIdx.x;
#pragma unroll 1
  while (unit < parts) {
    const u32 following = take();
    const int h = m.part_hub[unit];
    const Row row = rule.row(m.hubs[h]);
    const i64 low = g.ptr[row.v] + (i64)m.part_number[unit] * BLOCK_ROW, last = g.ptr[row.v + 1];
    const i64 high = low + BLOCK_ROW < last ? low + BLOCK_ROW : last;
    fill_table(g, rule, row, low, high, 2 * BLOCK_ROW, shared);
    Slot* table = m.table + m.hub_slot[h];
    const u32 slots = (u32)slots_for(g.length(row.v));
    bool claimed;
#pragma unroll 1
    for (u32 s = threadIdx.x; s < 2 * BLOCK_ROW; s += THREADS)
      if (shared.keys[s] != FREE) add_to(&table[find_slot(table, slots, shared.keys[s], claimed)].sum, shared.sums[s]);
    unit = share(following);
  }
#pragma unroll 1
  while (unit < all) {
    const u32 following = take();
    const Row row = rule.row(m.long_rows[unit - parts]);
    const i64 begin = g.ptr[row.v], end = g.ptr[row.v + 1];
    const u32 size = (u32)(2 * (end - begin));
    fill_table(g, rule, row, begin, end, size, shared);
    Best best = best_of_slots(
        rule, row, threadIdx.x, size, THREADS, [&](i64 s) { return Slot{shared.keys[s], shared.sums[s]}; }, [](i64) {});
    join_block(best, shared.best);
    if (threadIdx.x == 0) m.target[row.v] = rule.moves(row, best, gained) ? (int)best.key : -1;
    unit = share(following);
  }
}

// The best key of each hub: a block for each part of its table, which is free afterwards. The last of its blocks
// decides; target counts them.
template <class Rule>
__device__ __forceinline__ void choose_hubs(const Graph& g, const Memory& m, const Rule& rule, const Lists& lists,
                                            const Shared& shared, i64& gained) {
#pragma unroll 1
  for (u64 p = blockIdx.x; p < lists.parts; p += gridDim.x) {
    const int part = m.part_number[p];
    const i64 h = m.part_hub[p];
    const Row row = rule.row(m.hubs[h]);
    const i64 length = g.length(row.v), low = part * slots_for(BLOCK_ROW), slots = slots_for(length);
    const i64 high = low + slots_for(BLOCK_ROW) < slots ? low + slots_for(BLOCK_ROW) : slots;
    Slot* table = m.table + m.hub_slot[h];
    Best best = best_of_slots(
        rule, row, low + threadIdx.x, high, THREADS, [&](i64 s) { return table[s]; },
        [&](i64 s) { table[s] = {FREE, 0}; });
    join_block(best, shared.best);
    const int parts = (int)((length + BLOCK_ROW - 1) / BLOCK_ROW);
    if (threadIdx.x == 0) {
      m.part_best[p] = best;
      __threadfence();
      *shared.turns = atomicAdd(m.target + row.v, 1);
      __threadfence();
    }
    __syncthreads();
    const bool last = *shared.turns == parts - 1;
    __syncthreads();
    if (!last) continue;
    best = {0, FREE, 0};
#pragma unroll 1
    for (int j = threadIdx.x; j < parts; j += THREADS) {
      const volatile Best& other = m.part_best[p - part + j];
      join(best, Best{other.score, other.key, other.own});
    }
    join_block(best, shared.best);
    if (threadIdx.x == 0) m.target[row.v] = rule.moves(row, best, gained) ? (int)best.key : -1;
  }
}

// One turn. Returns the lists, which hold its rows until the turn after the next one.
template <class Rule>
__device__ __forceinline__ Lists& take_turn(const Graph& g, const Memory& m, const Rule& rule, State& state,
                                            i64 longest, int* movers, const Shared& shared, Barrier& barrier,
                                            u32& turn) {
  Lists& lists = state.lists[turn % 3];
  if (threadIdx.x == 0) *shared.moved = 0, *shared.taken = 0;
  __syncthreads();
  i64 gained = 0, entries = 0;
  choose_short(g, m, rule, lists, movers, shared, gained);
  if (longest > WARP_ROW) {
    barrier.meet();
    choose_long(g, m, rule, lists, shared, gained);
  }
  if (longest > BLOCK_ROW) {
    barrier.meet();
    choose_hubs(g, m, rule, lists, shared, gained);
  }
  barrier.meet();
  if (first_thread() == 0) state.lists[(turn + 1) % 3] = Lists();
  const u32 moved = *shared.moved;
#pragma unroll 1
  for (u32 i = threadIdx.x; i / 32 * 32 < moved; i += THREADS) {
    const bool valid = i < moved;
    entries += rule.move(valid ? movers[i] : 0, valid);
  }
#pragma unroll 1
  for (int kind = LONG; kind <= HUBS; ++kind)
#pragma unroll 1
    for (u64 i = (u64)first_thread(); i / 32 * 32 < lists.rows[kind]; i += (u64)all_threads()) {
      const i64 v = i < lists.rows[kind] ? m.rows(kind)[i] : 0;
      const bool valid = i < lists.rows[kind] && m.target[v] >= 0;
      entries += rule.move(v, valid);
      append(valid, (int)v, lists.moved + kind, m.moved(kind));
    }
  gained = total_of_block(gained, shared.totals);
  entries = total_of_block(entries, shared.totals);
  if (threadIdx.x == 0 && gained) atomicAdd((u64*)&lists.gained, (u64)gained);
  if (threadIdx.x == 0 && entries) atomicAdd((u64*)&lists.entries, (u64)entries);
  barrier.meet();
  ++turn;
  return lists;
}

// Activate the neighbours in other communities of the vertices that moved. If their rows hold more than one entry of
// four, all vertices become active.
__device__ __forceinline__ void activate(const Graph& g, const Memory& m, const Lists& lists, const int* movers,
                                         const Shared& shared) {
  if (4 * lists.entries > g.nvals) {
#pragma unroll 1
    for (i64 v = first_thread(); v < g.n; v += all_threads()) m.active[v] = 1;
    return;
  }
  auto mark = [&](i64 v, int me, int step) {
    const int own = m.label[v];
#pragma unroll 1
    for (i64 e = g.ptr[v] + me; e < g.ptr[v + 1]; e += step)
      if (m.label[g.col[e]] != own) poke(m.active + g.col[e], (u8)1);
  };
#pragma unroll 1
  for (u32 i = threadIdx.x / GROUP; i < *shared.moved; i += THREADS / GROUP)
    mark(movers[i], threadIdx.x & (GROUP - 1), GROUP);
#pragma unroll 1
  for (int kind = LONG; kind <= HUBS; ++kind)
#pragma unroll 1
    for (u64 i = blockIdx.x; i < lists.moved[kind]; i += gridDim.x) mark(m.moved(kind)[i], threadIdx.x, THREADS);
}

// ---- Levels.

// The number of each label that occurs, in ascending order, and how many there are. number: 0 before.
__device__ __forceinline__ i64 number_labels(i64 n, const int* label, int* number, const Memory& m,
                                             const Shared& shared, Barrier& barrier) {
#pragma unroll 1
  for (i64 v = first_thread(); v < n; v += all_threads()) poke(number + label[v], 1);
  barrier.meet();
  const i64 count = scan(
      n, barrier, m, shared, [&](i64 i) { return (i64)number[i]; },
      [&](i64 i, i64 before) { number[i] = (int)before; });
  barrier.meet();
  return count;
}

// part: a finer partition into connected parts, each named by one of its vertices.
__device__ __forceinline__ void refine(const Graph& g, const Memory& m, State& state, double factor, i64 key,
                                       i64 longest, int* movers, const Shared& shared, Barrier& barrier, u32& turn) {
  // tied[v] = the weight from v to its community, with the self loop. (It is 0 before.)
  for_ranges(g.nvals, g.ptr, g.n, [&](i64 e, i64 v, bool valid) {
    const bool inner = valid && m.label[v] == m.label[g.col[e]];
    add_by_key(m.tied, inner, (u32)v, inner ? g.weight(e) : 0);
  });
  barrier.meet();
  // Vertices loosely tied to their community stay alone: w(v, C - v) < share k(v) sigma(C - v).
#pragma unroll 1
  for (i64 v = first_thread(); v < g.n; v += all_threads()) {
    const double share = (double)g.degree[v] * factor;
    m.active[v] = (double)(m.tied[v] - g.loop[v]) >= share * (double)(m.sigma[m.label[v]] - g.degree[v]);
    m.part[v] = (int)v;
    m.size[v] = 1;
    m.tied[v] = g.degree[v];
  }
  barrier.meet();
#pragma unroll 1
  for (int k = 0; k < JOINS; ++k)
    take_turn(g, m, Join{m, g, factor, drawn(key, SWEEPS + k)}, state, longest, movers, shared, barrier, turn);
}

// The next level, whose vertices are `size` parts: its rows, in no order, and the weights of its vertices.
__device__ __forceinline__ void contract(const Graph& g, const Memory& m, i64 size, const Shared& shared,
                                         Barrier& barrier) {
  const LevelArrays& next = m.next;
  i64 *base = m.base, *degree = m.sigma;
  int *length = m.size, *order = m.movers;
  const bool sorts = g.nvals > SORTED;
#pragma unroll 1
  for (i64 v = first_thread(); v < size; v += all_threads()) base[v] = 0, degree[v] = 0, length[v] = 0;
  barrier.meet();
  // base[c] = entries of the rows in c; whole = part[whole]; the community of c: target
#pragma unroll 1
  for (i64 v = first_thread(); (v & ~31) < g.n; v += all_threads()) {
    const bool valid = v < g.n;
    const int c = valid ? m.part[v] : 0;
    add_by_key(base, valid, (u32)c, valid ? g.length(v) : 0);
    add_by_key(degree, valid, (u32)c, valid ? g.degree[v] : 0);
    if (valid) poke(m.target + c, m.label[v]);
    if (sorts) next_of_key(length, valid, c);
  }
#pragma unroll 1
  for (i64 v = first_thread(); v < m.vertices; v += all_threads()) m.whole[v] = m.part[m.whole[v]];
  barrier.meet();
  // A table for each row: its keys are at most its entries, or all vertices. (The degrees of the present level have been
  // read.)
  const i64 slots = scan(
      size, barrier, m, shared, [&](i64 c) { return slots_for(base[c] < size ? base[c] : size); },
      [&](i64 c, i64 before) { base[c] = before, next.degree[c] = degree[c], next.loop[c] = 0; });
  if (first_thread() == 0) base[size] = slots;
  // In a large graph the rows of a vertex of the next level follow each other, so that its table is in cache meanwhile.
  // order: the vertices of the present level; ptr: where their rows begin in this order.
  const i64* ptr = g.ptr;
  if (sorts) {
    barrier.meet();
    scan(
        size, barrier, m, shared, [&](i64 c) { return (i64)length[c]; },
        [&](i64 c, i64 before) { length[c] = (int)before; });
    barrier.meet();
#pragma unroll 1
    for (i64 v = first_thread(); (v & ~31) < g.n; v += all_threads()) {
      const int at = next_of_key(length, v < g.n, v < g.n ? m.part[v] : 0);
      if (v < g.n) order[at] = (int)v;
    }
    barrier.meet();
    scan(
        g.n, barrier, m, shared, [&](i64 i) { return g.length(order[i]); },
        [&](i64 i, i64 before) { m.tied[i] = before; });
    ptr = m.tied;
#pragma unroll 1
    for (i64 c = first_thread(); c < size; c += all_threads()) length[c] = 0;
  }
  barrier.meet();
  auto add = [&](u64 pair, SUM_T x) {
    const u32 c = (u32)(pair >> 32);
    bool claimed;
    Slot* table = m.table + base[c];
    add_to(&table[find_slot(table, (u32)(base[c + 1] - base[c]), (u32)pair, claimed)].sum, x);
    if (claimed) atomicAdd(length + c, 1);
  };
  // Few large communities have few pairs with many entries each. A block sums those that it meets first in shared memory.
  u64* pairs = (u64*)shared.sums;
  SUM_T* sums = (SUM_T*)(pairs + SLOTS / 2);
#pragma unroll 1
  for (int s = threadIdx.x; s < SLOTS / 2; s += THREADS) pairs[s] = ~0ull, sums[s] = 0;
  __syncthreads();
  for_ranges(g.nvals, ptr, g.n, [&](i64 x, i64 i, bool valid) {
    const i64 v = sorts ? order[i] : i, e = g.ptr[v] + x - ptr[i];
    const u32 c = valid ? (u32)m.part[v] : FREE, d = valid ? (u32)m.part[g.col[e]] : FREE;
    const u64 pair = (u64)c << 32 | d;
    const u32 peers = __match_any_sync(ALL_LANES, pair);
    const SUM_T sum = weight_of_peers(g, peers, valid, e);
    if (valid && !(peers & lanes_below())) {
      const u32 s = __umulhi((c * 0x85EBCA6Bu ^ d) * 2654435769u, SLOTS / 2);
      u64 was = peek(pairs + s);
      if (was == ~0ull) was = atomicCAS(pairs + s, ~0ull, pair);
      if (was == ~0ull || was == pair) add_to(sums + s, sum);
      else add(pair, sum);
    }
  });
  __syncthreads();
#pragma unroll 1
  for (int s = threadIdx.x; s < SLOTS / 2; s += THREADS)
    if (pairs[s] != ~0ull) add(pairs[s], sums[s]);
  barrier.meet();
  const i64 nvals = scan(
      size, barrier, m, shared, [&](i64 c) { return (i64)length[c]; },
      [&](i64 c, i64 before) { next.ptr[c] = before, length[c] = 0; });
  if (first_thread() == 0) next.ptr[size] = nvals;
  barrier.meet();
  for_ranges(slots, base, size, [&](i64 s, i64 c, bool valid) {
    Slot found = {FREE, 0};
    if (valid) found = m.table[s];
    const bool used = found.key != FREE;
    const i64 left = next_of_key(length, used, (int)c), at = next.ptr[c] + left;
    if (!used) return;
    next.col[at] = (int)found.key;
    next.values[at] = found.sum;
    if ((i64)found.key == c) next.loop[c] = (i64)found.sum;
    m.table[s] = {FREE, 0};
  });
#pragma unroll 1
  for (i64 c = first_thread(); c < size; c += all_threads()) m.label[c] = m.target[c];
}

#ifdef KERNEL_louvain_levels
// Move in CLASSES classes, at most SWEEPS times, refine in JOINS rounds (if leiden; with more than SMALL entries only
// the first level), contract, from level to level, until no vertices merge or `levels` levels are made. label:
// of the vertices of the present level. found: at the end, the label of each vertex of the first level (`part` can be that
// memory). sigma: then the degrees of the last level. factor: resolution / sum of degrees; enough: the least gain of a
// sweep that goes on.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    louvain_levels(i64 n, Graph first, VertexArrays vertices, RowLists lists, Slot* table, LevelArrays next, int* found,
                   i64* state_words, i64 leiden, i64 levels, double factor, double enough) {
  (void)n;
  const Memory m = {vertices, lists, table, next};
  extern __shared__ u64 dynamic[];
  __shared__ Best best[WARPS];
  __shared__ i64 totals[WARPS];
  __shared__ int lanes[THREADS];
  __shared__ u32 moved, taken;
  const Shared shared = {(u32*)((SUM_T*)dynamic + SLOTS), (SUM_T*)dynamic, best, totals, lanes, &moved, &taken};
  State& state = *(State*)state_words;
  Barrier barrier = {&state.gate, 0};
  u32 turn = 0;
  // In shared memory, because registers are few.
  __shared__ Graph g;
  __shared__ i64 level, key, rounds, last;
  if (threadIdx.x == 0) {
    level = state.level, key = state.key, rounds = state.sweeps, last = level + levels;
    g = first;
    if (level) g = {state.n, state.nvals, next.ptr, next.col, next.values, 1, next.degree, next.loop};
  }
  for (;;) {
    barrier.meet();
    if (level == last) {
      if (first_thread() == 0)
        state.n = g.n, state.nvals = g.nvals, state.level = level, state.key = key, state.sweeps = rounds;
      return;
    }
    __syncthreads();
    if (threadIdx.x == 0) key = drawn(key, level);
    // sigma = the sum of the degrees of each community
    i64 longest = 0;
#pragma unroll 1
    for (i64 v = first_thread(); v < g.n; v += all_threads()) {
      m.sigma[v] = 0, m.tied[v] = 0, m.number[v] = 0, m.finer[v] = 0, m.active[v] = 1;
      longest = longest < g.length(v) ? g.length(v) : longest;
    }
#pragma unroll 1
    for (int d = 16; d; d >>= 1) {
      const i64 other = __shfl_xor_sync(ALL_LANES, longest, d);
      longest = longest < other ? other : longest;
    }
    if (first_thread() == 0) state.longest[level + 1 & 1] = 0;
    if ((threadIdx.x & 31) == 0 && longest > load_fresh(state.longest + (level & 1)))
      atomicMax(state.longest + (level & 1), longest);
    barrier.meet();
    longest = state.longest[level & 1];
#pragma unroll 1
    for (i64 v = first_thread(); (v & ~31) < g.n; v += all_threads())
      add_by_key(m.sigma, v < g.n, v < g.n ? (u32)m.label[v] : 0, v < g.n ? g.degree[v] : 0);
    barrier.meet();
    // Sweeps, until one gains at most `enough`.
    const i64 chunks = (g.n + 31) / 32, segment = (chunks + gridDim.x - 1) / gridDim.x * 32;
    int* movers = m.movers + segment * blockIdx.x;
#pragma unroll 1
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
      i64 gained = 0;
#pragma unroll 1
      for (u32 which = 0; which < CLASSES; ++which) {
        const Move rule = {m, g, factor, drawn(key, sweep), which};
        const Lists& turns = take_turn(g, m, rule, state, longest, movers, shared, barrier, turn);
        activate(g, m, turns, movers, shared);
        gained += turns.gained;
        barrier.meet();
      }
      if (threadIdx.x == 0) ++rounds;
      if (2 * ((double)gained / (double)GAIN_UNIT) <= enough) break;
    }
    // Numbers of communities; vertices of the next level: these, or their connected parts if those are fewer than vertices.
    i64 size = number_labels(g.n, m.label, m.number, m, shared, barrier);
    bool finer = false;
    if (leiden && (level == 0 || g.nvals <= SMALL)) {
      refine(g, m, state, factor, key, longest, movers, shared, barrier, turn);
      const i64 parts = number_labels(g.n, m.part, m.finer, m, shared, barrier);
      finer = parts < g.n;
      size = finer ? parts : size;
    }
#pragma unroll 1
    for (i64 v = first_thread(); v < g.n; v += all_threads()) {
      m.label[v] = m.number[m.label[v]];
      m.part[v] = finer ? m.finer[m.part[v]] : m.label[v];
    }
    barrier.meet();
    if (size == g.n) break;
    contract(g, m, size, shared, barrier);
    __syncthreads();
    if (threadIdx.x == 0) {
      g = {size, next.ptr[size], next.ptr, next.col, next.values, 1, next.degree, next.loop};
      ++level;
    }
  }
  i64 inside = 0;
#pragma unroll 1
  for (i64 v = first_thread(); v < m.vertices; v += all_threads()) found[v] = m.label[m.whole[v]];
#pragma unroll 1
  for (i64 v = first_thread(); v < g.n; v += all_threads()) {
    m.sigma[v] = g.degree[v];
    inside += g.loop[v];
  }
  inside = total_of_block(inside, shared.totals);
  if (threadIdx.x == 0) atomicAdd((u64*)&state.inside, (u64)inside);
  if (first_thread() == 0) state.n = g.n, state.level = level, state.done = 1, state.sweeps = rounds;
}
#endif  // KERNEL_louvain_levels
