// Strongly connected components in one launch, on the whole GPU. Each vertex has a random priority. The least priority
// that reaches a vertex, and the least that it reaches, spread along the edges at the same time. If they are equal, the
// vertex is in the component of the vertex with that priority. Vertices with different pairs are in different components,
// so from then on only edges between equal pairs count, and the rest begins again.
// Alabandi, Sands, Biros, Burtscher: A high-performance algorithm for identifying strongly connected components. SC 2023.
//
// Sparse graphs are contracted first, because their paths are long. A vertex without in-edges or without out-edges is a
// component. Each other vertex picks one in-edge (in odd rounds: one out-edge). Picks that form a cycle are in one
// component and become one vertex. A vertex whose in-edges all come from one vertex u joins u: whatever reaches it, except
// itself, reaches u. Edges between what is left are the next round's. When the rest has components, rounds are undone from
// the last to the first: a vertex that joined u is in the component of u if and only if it reaches u.
#include "kernels/grid.cuh"
#include "kernels/views.cuh"

#define DONE (~u64(0))  // the pair of a vertex whose component is known

// A bijection of 31 bits: priorities by vertex.
#define BITS_31 0x7fffffffu
__device__ __forceinline__ u32 priority(u32 v) {
  v = (v ^ v >> 16) * 0x85EBCA6Bu & BITS_31;
  v = (v ^ v >> 13) * 0xC2B2AE35u & BITS_31;
  return v ^ v >> 16;
}
__device__ __forceinline__ u32 vertex_of(u32 x) {
  x = (x ^ x >> 16) * 0x7ED1B41Du & BITS_31;
  x = (x ^ x >> 13 ^ x >> 26) * 0xA5CB9243u & BITS_31;
  return x ^ x >> 16;
}

// The edges from and to each vertex.
struct Links {
  const PTR_T* ptr;
  const COL_T* col;
  const PTR_T* back_ptr;
  const COL_T* back_col;
};

// Item 2 v: what reaches v; item 2 v + 1: what v reaches. least: twice the least priority, and 1 if the item is in a list:
// one atomic operation lowers a value and says who appends the item, without fences.
struct Items {
  u32* least;
  u32* now;
  u32* next;
};

// What all blocks count: items of the next round, by turns, and vertices that are left.
struct Counts {
  u64 gate;
  u64 items[3];
  u64 left[2];
};

#ifdef KERNEL_strong_rounds
// Lower a value. Returns whether the item is to be appended to a list.
__device__ __forceinline__ bool lowers(u32* cell, u32 value) {
  const u32 listed = value << 1 | 1u, old = atomicMin(cell, listed);
  return listed < old && !(old & 1u);
}

// Spread the values of up to 32 items, one in each lane (`has`), along their edges; put(item, found) gets the items whose
// value falls, in lanes with found. All lanes of the warp call it. The lanes share all edges of the items.
template <class Put>
__device__ __forceinline__ void spread(const Links& links, const Items& items, const u64* pair, bool has, u32 item,
                                       Put put) {
  const int lane = threadIdx.x & 31;
  const u32 v = item >> 1;
  const bool back = item & 1;
  u32 x = 0xffffffffu;
  i64 begin = 0, length = 0;
  u64 mine = DONE;
  if (has) {
    const PTR_T* ptr = back ? links.back_ptr : links.ptr;
    begin = ptr[v];
    length = (i64)ptr[v + 1] - begin;
    mine = pair[v];
    u32* cell = items.least + item;
    x = atomicAnd(cell, ~1u) >> 1;  // a thread that lowers it after this appends the item to a list again
    // The value of the vertex that has this priority may be lower by now.
    const u32 other = load_fresh(items.least + (2 * (u64)vertex_of(x) + back)) >> 1;
    if (other < x) x = lowers(cell, other) ? atomicAnd(cell, ~1u) >> 1 : other;
  }
  i64 ends = length;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const i64 below = __shfl_up_sync(ALL_LANES, ends, d);
    if (lane >= d) ends += below;
  }
  const i64 total = __shfl_sync(ALL_LANES, ends, 31);
  for (i64 k = lane; k - lane < total; k += 32) {
    // The lane whose edges include the k-th one.
    int owner = 0;
#pragma unroll
    for (int d = 16; d; d >>= 1)
      if (__shfl_sync(ALL_LANES, ends, owner + d - 1) <= k) owner += d;
    const i64 first = __shfl_sync(ALL_LANES, begin - (ends - length), owner);
    const u32 from = __shfl_sync(ALL_LANES, item, owner), value = __shfl_sync(ALL_LANES, x, owner);
    const u64 its = __shfl_sync(ALL_LANES, mine, owner);
    bool found = false;
    u32 to = 0;
    if (k < total) {
      const u32 w = (u32)(from & 1 ? links.back_col : links.col)[first + k];
      to = 2 * w + (from & 1);
      const u64 theirs = pair[w];
      const u32 now = peek(items.least + to) >> 1;
      found = theirs == its && value < now && lowers(items.least + to, value);
    }
    put(to, found);
  }
}

// pair: of each vertex; DONE for those whose label is known. component: a vertex of the component of each vertex.
// smallest: the number of vertices. label: smallest vertex of the component.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    strong_rounds(i64 n, i64 vertices, Links links, Items items, u64* pair, int* component, int* smallest, i64* label,
                  u64* count_words) {
  (void)n;
  __shared__ u32 queue[2][QUEUE];
  __shared__ u32 lengths[2];
  Counts& counts = *(Counts*)count_words;
  Barrier barrier = {&counts.gate, 0};
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u32 round = 0;
  for (u32 pass = 0;; ++pass) {
    // All that are left begin with their own priority.
    for (i64 at = first_thread(); (at & ~31) < vertices; at += all_threads()) {
      const bool left = at < vertices && pair[at] != DONE;
      const u32 lanes = __ballot_sync(ALL_LANES, left);
      u64 base = 0;
      if (lane == 0 && lanes) base = atomicAdd(counts.items + round % 3, 2 * (u64)__popc(lanes));
      base = __shfl_sync(ALL_LANES, base, 0) + 2 * __popc(lanes & ((1u << lane) - 1u));
      if (!left) continue;
      for (u32 side = 0; side < 2; ++side) {
        items.least[2 * at + side] = priority((u32)at) << 1 | 1u;
        items.now[base + side] = (u32)(2 * at + side);
      }
    }
    if (first_thread() == 0) counts.left[pass & 1] = 0;
    barrier.meet();
    // Rounds: a block goes on with the items that it finds while they fit into its queue.
    for (u64 size; (size = counts.items[round % 3]) != 0; ++round) {
      u64& after = counts.items[(round + 1) % 3];
      u32* next = round & 1 ? items.now : items.next;
      const u32* now = round & 1 ? items.next : items.now;
      if (threadIdx.x == 0) lengths[0] = lengths[1] = 0;
      __syncthreads();
      u32 side = 0;
      auto put = [&](u32 item, bool found) {
        const u32 lanes = __ballot_sync(ALL_LANES, found);
        if (!lanes) return;
        const u32 below = __popc(lanes & ((1u << lane) - 1u)), count = __popc(lanes);
        u32 base = 0;
        if (lane == 0) base = atomicAdd(lengths + side, count);
        base = __shfl_sync(ALL_LANES, base, 0);
        const u32 room = base < QUEUE ? QUEUE - base : 0;
        if (found && below < room) queue[side][base + below] = item;
        if (count <= room) return;
        u64 rest = 0;
        if (lane == 0) rest = atomicAdd(&after, (u64)(count - room));
        rest = __shfl_sync(ALL_LANES, rest, 0);
        if (found && below >= room) next[rest + below - room] = item;
      };
      for (u64 at = 32 * (blockIdx.x + (u64)gridDim.x * warp); at < size; at += 32 * (u64)gridDim.x * WARPS)
        spread(links, items, pair, at + lane < size, at + lane < size ? now[at + lane] : 0, put);
      for (int turn = 0; turn < TURNS; ++turn) {
        __syncthreads();
        const u32 length = lengths[side] < QUEUE ? lengths[side] : QUEUE, full = side;
        if (!length) break;
        side ^= 1;
        if (threadIdx.x == 0) lengths[side] = 0;
        __syncthreads();
        for (u32 at = 32 * warp; at < length; at += THREADS)
          spread(links, items, pair, at + lane < length, at + lane < length ? queue[full][at + lane] : 0, put);
      }
      __syncthreads();
      // What is left in the queue.
      const u32 length = lengths[side] < QUEUE ? lengths[side] : QUEUE;
      __shared__ u64 base;
      if (threadIdx.x == 0) base = length ? atomicAdd(&after, (u64)length) : 0;
      __syncthreads();
      for (u32 at = threadIdx.x; at < length; at += THREADS) next[base + at] = queue[side][at];
      if (first_thread() == 0) counts.items[(round + 2) % 3] = 0;
      barrier.meet();
    }
    // Vertices that are reached by, and reach, the same least priority are in the component of its vertex.
    u64 left = 0;
    for (i64 v = first_thread(); v < vertices; v += all_threads()) {
      if (pair[v] == DONE) continue;
      const u32 a = items.least[2 * v] >> 1, b = items.least[2 * v + 1] >> 1;
      if (a == b) {
        component[v] = (int)vertex_of(a);
        if (peek(smallest + vertex_of(a)) > (int)v) atomicMin(smallest + vertex_of(a), (int)v);
        pair[v] = DONE;
      } else {
        pair[v] = (u64)a << 32 | b;
        ++left;
      }
    }
    if (left) atomicAdd(counts.left + (pass & 1), left);
    barrier.meet();
    if (!counts.left[pass & 1]) break;
    round += round & 1;  // the lists begin with `now`
    if (first_thread() == 0) counts.items[round % 3] = counts.items[(round + 1) % 3] = 0;
    barrier.meet();
  }
  for (i64 v = first_thread(); v < vertices; v += all_threads())
    if (component[v] >= 0) label[v] = smallest[component[v]];
}
#endif  // KERNEL_strong_rounds

#ifdef ROUNDS  // what both kernels of contraction use
// What contraction stores about each vertex.
struct Clusters {
  u32* pick;  // the priority of the neighbor it picks; of a vertex that joined another one, that neighbor
  int* tree;  // a vertex of the same tree of picks
  int* head;  // the vertex that it became part of
  u32* gone;  // 4 times the round in which it was removed, and why; LIVE before
  u8* several;  // whether the edges that it picks from lead to several vertices
  u8* ends;  // whether it has edges in the other direction
};
#define LIVE (~0u)
#define ALONE 0u  // a component
#define CYCLE 1u  // on a cycle of picks
#define JOINED 2u  // reached through its head only
#define RETURNS 3u  // the same, and reaches its head

// Edges (from << 32 | to) of round k: begin[k] .. begin[k + 1].
struct Lists {
  u64 gate;
  u64 rounds;
  u64 begin[ROUNDS + 3];
};

// Edge k of a list: the end that picks, and the end that is picked.
struct Edge {
  int to, from;
  __device__ __forceinline__ Edge(u64 edge, u32 round) {
    to = (int)(round & 1 ? edge >> 32 : edge & 0xffffffffu);
    from = (int)(round & 1 ? edge & 0xffffffffu : edge >> 32);
  }
};
#endif

#ifdef KERNEL_strong_contract
#include "formats/csr/search.cuh"
#define NONE (~0u)
#define CHUNK 8  // entries whose rows a thread finds by one search

// The last vertex above v. Paths are shortened by halves.
__device__ __forceinline__ int top_of(int* above, int v) {
  for (int next = peek(above + v); next != v;) {
    const int second = peek(above + next);
    if (second != next) poke(above + v, second);
    v = next;
    next = second;
  }
  return v;
}

// label[v]: v. edges: room for the edges of all rounds; it stops when the next round may not fit, when two rounds remove
// too few edges, or when none is left.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    strong_contract(i64 n, i64 vertices, const PTR_T* ptr, const COL_T* col, Clusters cluster, u64* edges, i64 room,
                    i64* label, u64* words) {
  (void)n;
  Lists& lists = *(Lists*)words;
  Barrier barrier = {&lists.gate, 0};
  const int lane = threadIdx.x & 31;
  const i64 entries = (i64)ptr[vertices];
  for (i64 e = CHUNK * first_thread(); e < entries; e += CHUNK * all_threads()) {
    i64 v = range_of(ptr, vertices, e);
    for (i64 at = e; at < entries && at < e + CHUNK; ++at) {
      while ((i64)ptr[v + 1] <= at) ++v;
      edges[at] = (u64)v << 32 | (u32)col[at];
    }
  }
  for (i64 v = first_thread(); v < vertices; v += all_threads()) {
    label[v] = cluster.tree[v] = cluster.head[v] = (int)v;
    cluster.pick[v] = NONE;
    cluster.gone[v] = LIVE;
    cluster.several[v] = cluster.ends[v] = 0;
  }
  if (first_thread() == 0) lists.begin[1] = lists.begin[2] = (u64)entries;
  barrier.meet();
  u32 round = 0;
  for (u64 before = ~0ull;; ++round) {
    const u64 begin = lists.begin[round], size = lists.begin[round + 1] - begin;
    const u32 twist = round * 0x9E3779B9u & BITS_31, gone = round << 2;
    for (u64 k = first_thread(); k < size; k += all_threads()) {
      const Edge edge(edges[begin + k], round);
      if (edge.from == edge.to) continue;
      const u32 key = priority((u32)edge.from ^ twist);
      u32 old = peek(cluster.pick + edge.to);
      if (key < old) old = atomicMin(cluster.pick + edge.to, key);
      if (old != NONE && old != key) poke(cluster.several + edge.to, (u8)1);
      poke(cluster.ends + edge.from, (u8)1);
    }
    barrier.meet();
    // Trees of picks: the pick that joins no two trees closes a cycle.
    for (i64 v = first_thread(); v < vertices; v += all_threads()) {
      if (peek(cluster.gone + v) != LIVE) continue;
      if (cluster.pick[v] == NONE || !cluster.ends[v]) {
        poke(cluster.gone + v, gone | ALONE);
        continue;
      }
      auto next = [&](int x) { return (int)(vertex_of(cluster.pick[x]) ^ twist); };
      int a = top_of(cluster.tree, (int)v), b = top_of(cluster.tree, next((int)v));
      while (a != b) {
        const int high = a < b ? b : a, low = a < b ? a : b, found = atomicCAS(cluster.tree + high, high, low);
        if (found == high) break;
        a = top_of(cluster.tree, found);
        b = top_of(cluster.tree, low);
      }
      if (a != b) continue;
      for (int x = next((int)v); x != (int)v; x = next(x)) {
        cluster.head[x] = (int)v;
        poke(cluster.gone + x, gone | CYCLE);
      }
      cluster.several[v] = 1;  // the vertex that the cycle becomes joins none in this round
    }
    barrier.meet();
    for (i64 v = first_thread(); v < vertices; v += all_threads()) {
      if (peek(cluster.gone + v) != LIVE) continue;
      const u32 u = vertex_of(cluster.pick[v]) ^ twist;
      if (!cluster.several[v] && peek(cluster.gone + u) != (gone | ALONE)) {
        poke(cluster.gone + v, gone | JOINED);
        cluster.pick[v] = u;
        cluster.head[v] = (int)u;
      } else {
        cluster.pick[v] = NONE;
        cluster.tree[v] = (int)v;
        cluster.several[v] = cluster.ends[v] = 0;
      }
    }
    barrier.meet();
    for (u64 k = first_thread(); k - lane < size; k += all_threads()) {
      int a = 0, b = 0;
      if (k < size) {
        a = (int)(edges[begin + k] >> 32), b = (int)(edges[begin + k] & 0xffffffffu);
        const bool left = cluster.gone[a] != (gone | ALONE) && cluster.gone[b] != (gone | ALONE);
        a = left ? top_of(cluster.head, a) : 0;
        b = left ? top_of(cluster.head, b) : 0;
      }
      const u32 lanes = __ballot_sync(ALL_LANES, a != b);
      u64 base = 0;
      if (lane == 0 && lanes) base = atomicAdd(lists.begin + round + 2, (u64)__popc(lanes));
      base = __shfl_sync(ALL_LANES, base, 0);
      if (a != b) edges[base + __popc(lanes & lanes_below())] = (u64)(u32)a << 32 | (u32)b;
    }
    barrier.meet();
    const u64 end = lists.begin[round + 2], after = end - begin - size;
    if (!after || round + 1 == ROUNDS || end + after > (u64)room || (round & 1 && 8 * after > KEPT * before)) break;
    if (!(round & 1)) before = size;
    if (first_thread() == 0) lists.begin[round + 3] = end;
  }
  if (first_thread() == 0) lists.rounds = round + 1;
}
#endif  // KERNEL_strong_contract

#ifdef KERNEL_strong_expand
// label: of the vertices that no round removed, a vertex of their component, then of all the smallest one.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    strong_expand(i64 n, i64 vertices, Clusters cluster, const u64* edges, i64* label, u64* words) {
  (void)n;
  Lists& lists = *(Lists*)words;
  Barrier barrier = {&lists.gate, 0};
  for (u32 round = (u32)lists.rounds; round--;) {
    auto left_in_it = [&](int v) { return peek(cluster.gone + v) >> 2 == round; };
    auto top = [&](int v) {
      while (left_in_it(v)) v = cluster.head[v];
      return v;
    };
    // Vertices that joined another one, and from which an edge leads to the component of their top
    for (u64 k = lists.begin[round] + first_thread(); k < lists.begin[round + 1]; k += all_threads()) {
      const Edge edge(edges[k], round);
      if (peek(cluster.gone + edge.from) != (round << 2 | JOINED)) continue;
      const bool left = left_in_it(edge.to), cycle = peek(cluster.gone + edge.to) == (round << 2 | CYCLE);
      if ((left && !cycle) || label[left ? cluster.head[edge.to] : edge.to] != label[top(edge.from)]) continue;
      for (int x = edge.from;
           atomicCAS(cluster.gone + x, round << 2 | JOINED, round << 2 | RETURNS) == (round << 2 | JOINED);)
        x = (int)cluster.pick[x];
    }
    barrier.meet();
    for (i64 v = first_thread(); v < vertices; v += all_threads())
      if (left_in_it((int)v) && cluster.gone[v] & 1u) label[v] = label[top((int)v)];
    barrier.meet();
  }
  int* smallest = cluster.tree;
  for (i64 v = first_thread(); v < vertices; v += all_threads()) smallest[v] = (int)vertices;
  barrier.meet();
  for (i64 v = first_thread(); v < vertices; v += all_threads())
    if (peek(smallest + label[v]) > (int)v) atomicMin(smallest + label[v], (int)v);
  barrier.meet();
  for (i64 v = first_thread(); v < vertices; v += all_threads()) label[v] = smallest[label[v]];
}
#endif  // KERNEL_strong_expand
