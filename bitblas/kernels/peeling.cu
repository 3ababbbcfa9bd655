// Peeling: remove items with too few counts, level by level, until none is left. Items are the vertices of an undirected
// graph, counted by their remaining neighbours (core numbers), or with TRUSS its edges, counted by their remaining
// triangles (truss numbers). This is C<M> = A plus.pair A' after some entries of A have gone, at the cost of the rows of
// these entries: each triangle of a removed edge is found by intersecting the rows of its ends, and the counts of its
// other edges are lowered by integer atomics.
//
// A level L removes items with at most L counts, round by round; items that fall to L form the next round. Rounds with
// few items run inside one cluster (peel_rounds), which also looks for the items of the next level while few are left.
// Others run on the whole GPU (peel_scan, peel_expand). All three are launched in turn, and the state selects the one
// that works.
//
// Kabir, Madduri: Parallel k-core decomposition on multicore platforms, and shared-memory graph truss decomposition.
// IPDPS workshops and HiPC 2017.
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"
#include "formats/csr/search.cuh"
#include "kernels/edge_counts.cuh"

// Rows of the symmetric matrix and, with TRUSS, the number of the edge of each entry, and the ends of each edge.
struct PeelGraph {
  const PTR_T* ptr;
  const COL_T* col;
  const ITEM_T* edge;
  const COL_T* tail;
  const COL_T* head;
};

// The remaining counts of the items, the round in which each is removed (TRUSS; all ones: none yet), and its level.
struct PeelItems {
  COL_T* count;
  u32* mark;
  COL_T* level;
};

// The frontier of this round and the next one, and the items left before and after a scan. They swap their roles.
struct PeelLists {
  i64* now;
  i64* next;
  ITEM_T* left;
  ITEM_T* kept;
};

// The state: what comes next; the level; counts up to `below` were removed at earlier levels; the last level; the number
// of the round; items left after the scans so far; for the scans in turn the items kept, the lowest count among them, and
// the elements of the frontier that begins the level; for the rounds in turn the elements of the frontier; blocks that
// are done. A number is cleared two turns after it was counted: other blocks may still read it in the next turn.
enum { MODE, LEVEL, BELOW, LAST, ROUND, LEFT, SCANS, KEPT, LOWEST = KEPT + 3, STARTED = LOWEST + 3 };
enum { FOUND = STARTED + 3, TICKET = FOUND + 3 };
enum { SCAN, EXPAND, DONE };
#define NONE_LEFT 0x7fffffffffffffffll
#define ITEM_BITS 40  // an element of a frontier is an item and the number of its segment

struct PeelState {
  i64 mode, level, below, last, round, left, scans;

  __device__ __forceinline__ void load(const i64* state) {
    mode = state[MODE], level = state[LEVEL], below = state[BELOW], last = state[LAST], round = state[ROUND];
    left = state[LEFT], scans = state[SCANS];
  }
  // By one thread, when no other uses the state. found: the length of the frontier.
  __device__ __forceinline__ void store(i64* state, i64 found) const {
    state[MODE] = mode, state[LEVEL] = level, state[BELOW] = below, state[ROUND] = round, state[LEFT] = left;
    state[SCANS] = scans, state[TICKET] = 0;
    for (int k = 0; k < 3; ++k) {
      state[KEPT + k] = state[STARTED + k] = state[FOUND + k] = 0;
      state[LOWEST + k] = NONE_LEFT;
    }
    state[FOUND + round % 3] = found;
  }
  __device__ __forceinline__ void enter_level(i64 next) {
    below = level, level = next;
    mode = level > last ? DONE : SCAN;
  }
  __device__ __forceinline__ void after_scan(i64 kept, i64 lowest, i64 found) {
    left = kept, ++scans;
    if (!kept) mode = DONE;  // nothing is left whose count could fall
    else if (found) mode = EXPAND;
    else enter_level(lowest);
  }
  __device__ __forceinline__ void after_expand(i64 found) {
    ++round;
    if (!found) enter_level(level + 1);
  }
};

struct Peel {
  PeelGraph graph;
  PeelItems items;
  PeelLists lists;
  i64* state;
  PeelState now;

  __device__ __forceinline__ i64 length(i64 v) const { return (i64)graph.ptr[v + 1] - (i64)graph.ptr[v]; }
  __device__ __forceinline__ i64 segments(i64 item) const {
#if TRUSS
    const i64 a = length((i64)graph.tail[item]), b = length((i64)graph.head[item]);
    return ((a < b ? a : b) + SEGMENT - 1) / SEGMENT;
#else
    return (length(item) + SEGMENT - 1) / SEGMENT;
#endif
  }
  // The list of a round, and the number of its elements.
  __device__ __forceinline__ i64* frontier(i64 round) const { return round & 1 ? lists.next : lists.now; }
  __device__ __forceinline__ u64* next_found() const { return (u64*)state + FOUND + (now.round + 1) % 3; }
  __device__ __forceinline__ void put(i64 item, i64 round, u64 at, i64 parts) const {
    i64* const to = frontier(round) + at;
    for (i64 k = 0; k < parts; ++k) to[k] = item | k << ITEM_BITS;
  }
  __device__ __forceinline__ void remove(i64 item, i64 round) const {
    items.level[item] = (COL_T)now.level;
#if TRUSS
    poke(items.mark + item, (u32)round);
#endif
  }
  // One count less; an item that falls to the level is removed in the next round.
  __device__ __forceinline__ void lower(i64 item) const {
    if ((i64)peek(items.count + item) <= now.level) return;
    if ((i64)add_atomically(items.count + item, -1) != now.level + 1) return;
    remove(item, now.round + 1);
    const i64 parts = segments(item);
    put(item, now.round + 1, atomicAdd(next_found(), (u64)parts), parts);
  }
  // An element of the frontier, by a group of LANES threads.
  __device__ __forceinline__ void expand(i64 element, int lane) const {
    const i64 item = element & ((1ll << ITEM_BITS) - 1), first = (element >> ITEM_BITS) * SEGMENT;
#if TRUSS
    i64 a = (i64)graph.tail[item], b = (i64)graph.head[item];
    if (length(b) < length(a)) {
      const i64 longer = a;
      a = b, b = longer;
    }
    const i64 b_begin = (i64)graph.ptr[b], b_end = (i64)graph.ptr[b + 1];
    const u32 round = (u32)now.round;
#else
    const i64 a = item;
#endif
    const i64 begin = (i64)graph.ptr[a] + first, row_end = (i64)graph.ptr[a + 1];
    const i64 end = begin + SEGMENT < row_end ? begin + SEGMENT : row_end;
    for (i64 p = begin + lane; p < end; p += LANES) {
      const i64 w = (i64)graph.col[p];
#if TRUSS
      if (w == a || w == b) continue;
      const i64 f = (i64)graph.edge[p];
      const u32 f_mark = peek(items.mark + f);
      if (f_mark < round) continue;
      const i64 q = lower_bound(graph.col, b_begin, b_end, w);
      if (q == b_end || (i64)graph.col[q] != w) continue;
      const i64 g = (i64)graph.edge[q];
      const u32 g_mark = peek(items.mark + g);
      if (g_mark < round) continue;
      // Of the edges of a triangle that are removed in one round, that with the lowest number lowers the others.
      if (f_mark > round && (g_mark > round || item < g)) lower(f);
      if (g_mark > round && (f_mark > round || item < f)) lower(g);
#else
      if (w != a) lower(w);
#endif
    }
  }
  // Called by the whole warp, each lane with a place of the list of those left, or none: remove items with at most
  // `level` counts, and list the others. Returns the lowest count among them.
  __device__ __forceinline__ i64 scan(i64 place, bool inside) const {
    const ITEM_T* const left = now.scans & 1 ? lists.kept : lists.left;
    ITEM_T* const kept = now.scans & 1 ? lists.left : lists.kept;
    const i64 item = !inside ? 0 : now.scans ? (i64)left[place] : place;
    const i64 count = inside ? (i64)peek(items.count + item) : 0;
    const bool stays = inside && count > now.level, goes = inside && !stays && count > now.below;
    const u64 at = next_number(stays, (u64*)state + KEPT + now.scans % 3);
    if (stays) kept[at] = (ITEM_T)item;
    if (goes) remove(item, now.round);
    const i64 parts = goes && count > 0 ? segments(item) : 0;
    u64* const started = (u64*)state + STARTED + now.scans % 3;
    const u64 single = next_number(parts == 1, started);
    if (parts == 1) put(item, now.round, single, 1);
    if (parts > 1) put(item, now.round, atomicAdd(started, (u64)parts), parts);
    return stays ? count : NONE_LEFT;
  }
  __device__ __forceinline__ void report_lowest(i64 lowest) const {  // the whole warp
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const i64 other = __shfl_xor_sync(ALL_LANES, lowest, d);
      lowest = other < lowest ? other : lowest;
    }
    if (WARP_LANE == 0 && lowest != NONE_LEFT) atomicMin((u64*)state + LOWEST + now.scans % 3, (u64)lowest);
  }
};

// Called by whole blocks: whether this one is the last to be done.
__device__ __forceinline__ bool is_last_block(i64* state) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd((u64*)state + TICKET, 1ull) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  return last;
}

#ifdef KERNEL_peel_scan
// Begin a level, if more items are left than `most_scanned`, the most that the cluster scans.
extern "C" __global__ void __launch_bounds__(BLOCK)
    peel_scan(i64 n, PeelGraph graph, PeelItems items, PeelLists lists, i64* state, i64 most_items, i64 most_scanned) {
  Peel peel = {graph, items, lists, state, {}};
  peel.now.load(state);
  if (peel.now.mode != SCAN || peel.now.left <= most_scanned) return;
  i64 lowest = NONE_LEFT;
  for (i64 first = (i64)blockIdx.x * BLOCK; first < peel.now.left; first += (i64)gridDim.x * BLOCK) {
    const i64 place = first + threadIdx.x, count = peel.scan(place, place < peel.now.left);
    lowest = count < lowest ? count : lowest;
  }
  peel.report_lowest(lowest);
  if (!is_last_block(state) || threadIdx.x != 0) return;
  const i64 slot = peel.now.scans % 3, found = load_fresh(state + STARTED + slot);
  peel.now.after_scan(load_fresh(state + KEPT + slot), load_fresh(state + LOWEST + slot), found);
  peel.now.store(state, found);
}
#endif  // KERNEL_peel_scan

#ifdef KERNEL_peel_expand
// A round of more than `most_items` elements, the most that the cluster takes.
extern "C" __global__ void __launch_bounds__(BLOCK)
    peel_expand(i64 n, PeelGraph graph, PeelItems items, PeelLists lists, i64* state, i64 most_items,
                i64 most_scanned) {
  Peel peel = {graph, items, lists, state, {}};
  peel.now.load(state);
  const i64 size = state[FOUND + peel.now.round % 3];
  if (peel.now.mode != EXPAND || size <= most_items) return;
  const i64* const frontier = peel.frontier(peel.now.round);
  for (i64 k = thread_number() / LANES; k < size; k += (i64)gridDim.x * (BLOCK / LANES))
    peel.expand(frontier[k], threadIdx.x % LANES);
  if (!is_last_block(state) || threadIdx.x != 0) return;
  const i64 found = load_fresh(state + FOUND + (peel.now.round + 1) % 3);
  peel.now.after_expand(found);
  peel.now.store(state, found);
}
#endif  // KERNEL_peel_expand

#ifdef KERNEL_peel_rounds
// Rounds of up to `most_items` elements and scans of up to `most_scanned` items, inside one cluster, until neither
// follows.
// Blocks take turns, so that even few items are spread over all of them.
__device__ __forceinline__ u32 first_of_warp() { return (threadIdx.x / 32 * PEERS + rank_in_cluster()) * 32; }

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS)
    peel_rounds(i64 n, PeelGraph graph, PeelItems items, PeelLists lists, i64* state, i64 most_items,
                i64 most_scanned) {
  Peel peel = {graph, items, lists, state, {}};
  PeelState& now = peel.now;
  now.load(state);
  i64 found = state[FOUND + now.round % 3];
  const u32 me = first_of_warp() + WARP_LANE;
  meet_in_cluster();  // all have loaded the state
  while ((now.mode == SCAN && now.left <= most_scanned) || (now.mode == EXPAND && found <= most_items)) {
    if (now.mode == SCAN) {
      const i64 slot = now.scans % 3;
      if (me == 0) {
        state[KEPT + (slot + 1) % 3] = state[STARTED + (slot + 1) % 3] = 0;
        state[LOWEST + (slot + 1) % 3] = NONE_LEFT;
      }
      i64 lowest = NONE_LEFT;
      for (i64 first = first_of_warp(); first < now.left; first += PEERS * THREADS) {
        const i64 place = first + WARP_LANE, count = peel.scan(place, place < now.left);
        lowest = count < lowest ? count : lowest;
      }
      peel.report_lowest(lowest);
      meet_in_cluster();
      found = load_fresh(state + STARTED + slot);
      now.after_scan(load_fresh(state + KEPT + slot), load_fresh(state + LOWEST + slot), found);
    } else {
      if (me == 0) state[FOUND + (now.round + 2) % 3] = 0;
      const i64* const frontier = peel.frontier(now.round);
      for (i64 k = me / LANES; k < found; k += PEERS * THREADS / LANES) peel.expand(frontier[k], threadIdx.x % LANES);
      meet_in_cluster();
      found = load_fresh(state + FOUND + (now.round + 1) % 3);
      now.after_expand(found);
    }
  }
  meet_in_cluster();  // all have read the numbers
  if (me == 0) now.store(state, found);
}
#endif  // KERNEL_peel_rounds
