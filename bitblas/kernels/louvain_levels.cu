// Louvain and Leiden: a pass through all levels in one launch. The blocks run at the same time and meet at barriers of the
// grid; the method is that of algorithms/communities/louvain.py, and the numbers are the same.
// Rows of a level are binned by length: groups of 8 lanes or a warp hold short rows in registers, a warp or a block has a
// hash table in shared memory, and hubs are read in parts of BLOCK_ROW entries, which are summed in shared memory and then
// added to a table in global memory. The order of sums and of lists differs from run to run; sums of integers do not.
#include "formats/csr/search.cuh"
#include "kernels/grid.cuh"
#include "kernels/views.cuh"

#define FREE 0xffffffffu  // no key, in a table
#define GROUP 8  // lanes of a short row
#define MOST_GAIN 4503599627370496.0  // 2^52: more only with an extreme resolution

// The same numbers as `random_hash(x, key)` of the algorithms.
__device__ __forceinline__ u32 stir(u32 x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
__device__ __forceinline__ u32 drawn(i64 x, i64 key) { return stir(stir((u32)x) ^ (u32)key); }

// ---- State, memory, barriers.

// A level: rows with INT64 weights, the weight of each vertex and of its self loop. stride 0: all weights are 1.
struct Graph {
  i64 n, nvals;
  const i64* ptr;
  const int* col;
  const i64* values;
  i64 stride;
  const i64* degree;
  const i64* loop;
  __device__ __forceinline__ i64 length(i64 v) const { return ptr[v + 1] - ptr[v]; }
  __device__ __forceinline__ i64 weight(i64 e) const { return stride ? values[e] : 1; }
};

// Lists of a step that all blocks share, and the gain of its moves. Three are used in turn: one is read, one is cleared.
struct Lists {
  u64 rows, hubs, parts, slots;
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
  i64 rows;  // vertices of the first level
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
struct RowLists {
  int* movers;  // short rows that move: a segment for each block
  int* long_rows;
  int* hub;
  int* part_hub;
  int* part_number;
  i64* hub_slot;
  i64* block_sums;
};
// Tables of hubs and of the next level: between their uses all slots are FREE, with sum 0.
struct Tables {
  u32* keys;
  i64* sums;
};
struct LevelArrays {
  i64* ptr;
  int* col;
  i64* values;
  i64* degree;
  i64* loop;
};
struct Memory : VertexArrays, RowLists, Tables {
  LevelArrays odd, even;  // levels, which take turns
};

struct Best {
  double score;
  u32 key;
  i64 own;  // the sum of the row's own key
};

// Shared memory of a block: tables, results of its warps, lanes with short rows, number of movers.
struct Shared {
  u32* keys;
  i64* sums;
  Best* best;
  i64* totals;
  int* turns;
  u32* moved;
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

// ---- Sums by key. Lanes of a warp with the same key add up before they touch memory.

// The sum over the lanes of `peers`, in the lowest of them. All lanes of the warp call it.
__device__ __noinline__ i64 sum_of_peers(u32 peers, i64 x) {
  const int lane = threadIdx.x & 31;
  u32 rank = __popc(peers & lanes_below()), after = peers & (0xfffffffeu << lane);
  while (__any_sync(ALL_LANES, after != 0)) {
    const int next = after ? __ffs(after) - 1 : lane;
    const i64 y = __shfl_sync(ALL_LANES, x, next);
    if (after) x += y;
    after &= __ballot_sync(ALL_LANES, !(rank & 1u));
    rank >>= 1;
  }
  return x;
}

// sums[k] += x in the lanes with valid; all lanes of the warp call it.
__device__ __noinline__ void add_by_key(i64* sums, bool valid, u32 k, i64 x) {
  const u32 peers = __match_any_sync(ALL_LANES, valid ? k : FREE);
  x = sum_of_peers(peers, x);
  if (valid && !(peers & lanes_below())) atomicAdd((u64*)sums + k, (u64)x);
}

// The slot of a key in a table of `size` slots, which is not full. claimed: whether the key is new.
__device__ __forceinline__ u32 find_slot(u32* keys, u32 size, u32 k, bool& claimed) {
  u32 i = __umulhi(k * 2654435769u, size);
  for (;;) {
    u32 was = peek(keys + i);
    if (was == FREE) was = atomicCAS(keys + i, FREE, k);
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
  if (threadIdx.x == 0)
#pragma unroll 1
    for (int w = 1; w < WARPS; ++w) join(best, of_warps[w]);
  __syncthreads();
}

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

template <class Rule> __device__ __forceinline__ Best candidate(const Rule& rule, const Row& row, u32 k, i64 sum) {
  if (k == row.own) return {0, FREE, sum};
  const double score = (double)sum - row.share * rule.weight(k);
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
  i64 sum = k != FREE ? g.weight(e) : 0;
  bool first = true;
  if (G == 32) {
    const u32 peers = __match_any_sync(ALL_LANES, k);
    sum = sum_of_peers(peers, sum);
    first = !(peers & lanes_below());
  } else {
    const i64 mine = sum;
#pragma unroll
    for (int j = 0; j < G; ++j) {
      const u32 other = shuffle_from<G>(k, j);
      const i64 y = shuffle_from<G>(mine, j);
      if (other != k || j == lane) continue;
      sum += y;
      first = first && j > lane;
    }
  }
  Best best = {0, FREE, 0};
  if (first && k != FREE) best = candidate(rule, row, k, sum);
  return join_group(best, G);
}

// Read the entries begin to end, by lane `me` of `step`, and sum them by key: add(key, sum).
template <class Rule, class Add>
__device__ __forceinline__ void sum_entries(const Graph& g, const Rule& rule, const Row& row, i64 begin, i64 end,
                                            int me, int step, Add add) {
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (i64 e = begin + me; e - lane < end; e += step) {
    const u32 k = e < end ? rule.key_of(row, g.col[e]) : FREE;
    const u32 peers = __match_any_sync(ALL_LANES, k);
    const i64 x = sum_of_peers(peers, k != FREE ? g.weight(e) : 0);
    if (k != FREE && !(peers & lanes_below())) add(k, x);
    __syncwarp();
  }
}

// A row of at most WARP_ROW entries, by a warp with a table in shared memory.
template <class Rule> __device__ __forceinline__ Best best_of_warp(const Graph& g, const Rule& rule, const Row& row,
                                                                   const Shared& shared) {
  const int lane = threadIdx.x & 31, table = threadIdx.x / 32 * (2 * WARP_ROW);
  u32* keys = shared.keys + table;
  i64* sums = shared.sums + table;
  const i64 begin = g.ptr[row.v], end = g.ptr[row.v + 1];
  const u32 size = (u32)(2 * (end - begin));
#pragma unroll 1
  for (u32 s = lane; s < size; s += 32) keys[s] = FREE, sums[s] = 0;
  __syncwarp();
  bool claimed;
  sum_entries(g, rule, row, begin, end, lane, 32, [&](u32 k, i64 x) { sums[find_slot(keys, size, k, claimed)] += x; });
  Best best = {0, FREE, 0};
#pragma unroll 1
  for (u32 s = lane; s < size; s += 32)
    if (keys[s] != FREE) join(best, candidate(rule, row, keys[s], sums[s]));
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
              [&](u32 k, i64 x) { atomicAdd((u64*)shared.sums + find_slot(shared.keys, size, k, claimed), (u64)x); });
  __syncthreads();
}

// ---- A step: each vertex of a turn finds its best key, then those that gain move.

// Find the best keys of short rows; put longer ones into lists.
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
  for (i64 q = blockIdx.x + (i64)gridDim.x * (threadIdx.x / 32); q < chunks; q += (i64)gridDim.x * WARPS) {
    const i64 base = 32 * q, v = base + lane;
    const bool now = v < g.n && rule.draw(v);
    const i64 length = now ? g.length(v) : 0;
    if (length > BLOCK_ROW) {
      const i64 parts = (length + BLOCK_ROW - 1) / BLOCK_ROW;
      const u64 h = atomicAdd(&lists.hubs, 1ull), p = atomicAdd(&lists.parts, (u64)parts);
      m.hub[h] = (int)v;
      m.hub_slot[h] = (i64)atomicAdd(&lists.slots, 2 * (u64)length);
#pragma unroll 1
      for (i64 j = 0; j < parts; ++j) m.part_hub[p + j] = (int)h, m.part_number[p + j] = (int)j;
    } else if (length > WARP_ROW) {
      m.long_rows[atomicAdd(&lists.rows, 1ull)] = (int)v;
    }
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

// Long rows: a block for each; hubs: a block for each part, whose sums go to the table of the hub.
template <class Rule>
__device__ __forceinline__ void choose_long(const Graph& g, const Memory& m, const Rule& rule, const Lists& lists,
                                            const Shared& shared, i64& gained) {
#pragma unroll 1
  for (u64 i = blockIdx.x; i < lists.rows; i += gridDim.x) {
    const Row row = rule.row(m.long_rows[i]);
    const i64 begin = g.ptr[row.v], end = g.ptr[row.v + 1];
    const u32 size = (u32)(2 * (end - begin));
    fill_table(g, rule, row, begin, end, size, shared);
    Best best = {0, FREE, 0};
#pragma unroll 1
    for (u32 s = threadIdx.x; s < size; s += THREADS)
      if (shared.keys[s] != FREE) join(best, candidate(rule, row, shared.keys[s], shared.sums[s]));
    join_block(best, shared.best);
    if (threadIdx.x == 0) m.target[row.v] = rule.moves(row, best, gained) ? (int)best.key : -1;
  }
#pragma unroll 1
  for (u64 p = blockIdx.x; p < lists.parts; p += gridDim.x) {
    const int h = m.part_hub[p];
    const Row row = rule.row(m.hub[h]);
    const i64 low = g.ptr[row.v] + (i64)m.part_number[p] * BLOCK_ROW, last = g.ptr[row.v + 1];
    const i64 high = low + BLOCK_ROW < last ? low + BLOCK_ROW : last;
    fill_table(g, rule, row, low, high, 2 * BLOCK_ROW, shared);
    u32* keys = m.keys + m.hub_slot[h];
    i64* sums = m.sums + m.hub_slot[h];
    const u32 size = (u32)(2 * g.length(row.v));
    bool claimed;
#pragma unroll 1
    for (u32 s = threadIdx.x; s < 2 * BLOCK_ROW; s += THREADS)
      if (shared.keys[s] != FREE)
        atomicAdd((u64*)sums + find_slot(keys, size, shared.keys[s], claimed), (u64)shared.sums[s]);
    __syncthreads();
  }
}

// The best key of each hub, by a block; its table is free afterwards.
template <class Rule>
__device__ __forceinline__ void choose_hubs(const Graph& g, const Memory& m, const Rule& rule, const Lists& lists,
                                            const Shared& shared, i64& gained) {
#pragma unroll 1
  for (u64 h = blockIdx.x; h < lists.hubs; h += gridDim.x) {
    const Row row = rule.row(m.hub[h]);
    u32* keys = m.keys + m.hub_slot[h];
    i64* sums = m.sums + m.hub_slot[h];
    Best best = {0, FREE, 0};
#pragma unroll 1
    for (i64 s = threadIdx.x; s < 2 * g.length(row.v); s += THREADS) {
      if (keys[s] == FREE) continue;
      join(best, candidate(rule, row, keys[s], sums[s]));
      keys[s] = FREE, sums[s] = 0;
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
  if (threadIdx.x == 0) *shared.moved = 0;
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
  const u64 lengths[2] = {lists.rows, lists.hubs};
#pragma unroll 1
  for (int list = 0; list < 2; ++list)
#pragma unroll 1
    for (u64 i = (u64)first_thread(); i / 32 * 32 < lengths[list]; i += (u64)all_threads()) {
      const i64 v = i < lengths[list] ? (list ? m.hub : m.long_rows)[i] : 0;
      entries += rule.move(v, i < lengths[list] && m.target[v] >= 0);
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
  const u64 lengths[2] = {lists.rows, lists.hubs};
#pragma unroll 1
  for (int list = 0; list < 2; ++list)
#pragma unroll 1
    for (u64 i = blockIdx.x; i < lengths[list]; i += gridDim.x) {
      const i64 v = (list ? m.hub : m.long_rows)[i];
      if (m.target[v] >= 0) mark(v, threadIdx.x, THREADS);
    }
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
#pragma unroll 1
  for (i64 e = first_thread(); (e & ~31) < g.nvals; e += all_threads()) {
    const i64 v = e < g.nvals ? range_of(g.ptr, g.n, e) : 0;
    const bool inner = e < g.nvals && m.label[v] == m.label[g.col[e]];
    add_by_key(m.tied, inner, (u32)v, inner ? g.weight(e) : 0);
  }
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
__device__ __forceinline__ void contract(const Graph& g, const Memory& m, i64 size, const LevelArrays& next,
                                         const Shared& shared, Barrier& barrier) {
  i64 *base = m.base, *ptr = next.ptr, *loop = next.loop, *degree = next.degree;
  int* length = m.size;
#pragma unroll 1
  for (i64 v = first_thread(); v < size; v += all_threads()) base[v] = 0, degree[v] = 0, loop[v] = 0, length[v] = 0;
  barrier.meet();
  // base[c] = entries of the rows in c; whole = part[whole]; the community of c: target
#pragma unroll 1
  for (i64 v = first_thread(); (v & ~31) < g.n; v += all_threads()) {
    const bool valid = v < g.n;
    const int c = valid ? m.part[v] : 0;
    add_by_key(base, valid, (u32)c, valid ? g.length(v) : 0);
    add_by_key(degree, valid, (u32)c, valid ? g.degree[v] : 0);
    if (valid) poke(m.target + c, m.label[v]);
  }
#pragma unroll 1
  for (i64 v = first_thread(); v < m.rows; v += all_threads()) m.whole[v] = m.part[m.whole[v]];
  barrier.meet();
  // A table for each row: two slots for each entry, or for each vertex.
  const i64 slots = scan(
      size, barrier, m, shared, [&](i64 c) { return 2 * (base[c] < size ? base[c] : size); },
      [&](i64 c, i64 before) { base[c] = before; });
  if (first_thread() == 0) base[size] = slots;
  barrier.meet();
#pragma unroll 1
  for (i64 e = first_thread(); (e & ~31) < g.nvals; e += all_threads()) {
    const bool valid = e < g.nvals;
    const u32 c = valid ? (u32)m.part[range_of(g.ptr, g.n, e)] : FREE, d = valid ? (u32)m.part[g.col[e]] : FREE;
    const u32 peers = __match_any_sync(ALL_LANES, (u64)c << 32 | d);
    const i64 x = sum_of_peers(peers, valid ? g.weight(e) : 0);
    if (valid && !(peers & lanes_below())) {
      bool claimed;
      const i64 slot = base[c] + find_slot(m.keys + base[c], (u32)(base[c + 1] - base[c]), d, claimed);
      atomicAdd((u64*)m.sums + slot, (u64)x);
      if (claimed) atomicAdd(length + c, 1);
    }
  }
  barrier.meet();
  const i64 nvals = scan(
      size, barrier, m, shared, [&](i64 c) { return (i64)length[c]; }, [&](i64 c, i64 before) { ptr[c] = before; });
  if (first_thread() == 0) ptr[size] = nvals;
  barrier.meet();
#pragma unroll 1
  for (i64 s = first_thread(); s < slots; s += all_threads()) {
    const u32 d = m.keys[s];
    if (d == FREE) continue;
    const i64 c = range_of(base, size, s), at = ptr[c] + atomicSub(length + c, 1) - 1, x = m.sums[s];
    next.col[at] = (int)d;
    next.values[at] = x;
    if ((i64)d == c) loop[c] = x;
    m.keys[s] = FREE, m.sums[s] = 0;
  }
#pragma unroll 1
  for (i64 c = first_thread(); c < size; c += all_threads()) m.label[c] = m.target[c];
}

#ifdef KERNEL_louvain_levels
// Move in CLASSES classes, at most SWEEPS times, refine (if leiden) in JOINS rounds, contract, from level to level, until
// no vertices merge or `levels` levels are made. label: of the vertices of the present level. found: at the end, the
// label of each vertex of the first level. sigma: then the degrees of the last level. factor: resolution / sum of
// degrees; enough: the least gain of a sweep that goes on.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    louvain_levels(i64 n, Graph first, VertexArrays vertices, RowLists lists, Tables tables, LevelArrays odd,
                   LevelArrays even, int* found, i64* state_words, i64 leiden, i64 levels, double factor,
                   double enough) {
  (void)n;
  const Memory m = {vertices, lists, tables, odd, even};
  extern __shared__ u64 dynamic[];
  __shared__ Best best[WARPS];
  __shared__ i64 totals[WARPS];
  __shared__ int lanes[THREADS];
  __shared__ u32 moved;
  const int most = 2 * (WARPS * WARP_ROW > BLOCK_ROW ? WARPS * WARP_ROW : BLOCK_ROW);
  const Shared shared = {(u32*)((i64*)dynamic + most), (i64*)dynamic, best, totals, lanes, &moved};
  State& state = *(State*)state_words;
  Barrier barrier = {&state.gate, 0};
  u32 turn = 0;
  i64 level = state.level, key = state.key, rounds = state.sweeps;
  const i64 last = level + levels;
  Graph g = first;
  for (;;) {
    if (level) {
      const LevelArrays now = level & 1 ? m.odd : m.even;
      const bool begins = level == state.level;  // this launch begins here
      g = {begins ? state.n : g.n,
           begins ? state.nvals : g.nvals,
           now.ptr,
           now.col,
           now.values,
           1,
           now.degree,
           now.loop};
    }
    barrier.meet();
    if (level == last) {
      if (first_thread() == 0)
        state.n = g.n, state.nvals = g.nvals, state.level = level, state.key = key, state.sweeps = rounds;
      return;
    }
    key = drawn(key, level);
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
      ++rounds;
      if (2 * ((double)gained / (double)GAIN_UNIT) <= enough) break;
    }
    // Numbers of communities; vertices of the next level: these, or their connected parts if those are fewer than vertices.
    i64 size = number_labels(g.n, m.label, m.number, m, shared, barrier);
    bool finer = false;
    if (leiden) {
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
    const LevelArrays next = level & 1 ? m.even : m.odd;
    contract(g, m, size, next, shared, barrier);
    g.n = size;
    g.nvals = next.ptr[size];
    ++level;
  }
  i64 inside = 0;
#pragma unroll 1
  for (i64 v = first_thread(); v < m.rows; v += all_threads()) found[v] = m.label[m.whole[v]];
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
