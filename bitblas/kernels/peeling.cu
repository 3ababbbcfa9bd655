// Peeling: remove items with too few counts, level by level, until none is left. Items are the vertices of an undirected
// graph, counted by their remaining neighbours (core numbers), or with TRUSS its edges, counted by their remaining
// triangles (truss numbers). This is C<M> = A plus.pair A' after some entries of A have gone, at the cost of the rows of
// these entries: each triangle of a removed edge is found by intersecting the rows of its ends, and the counts of its
// other edges are lowered by integer atomics.
//
// A level L removes items with at most L counts, round by round; items that fall to L form the next round. All levels run
// in one launch on the whole GPU, whose blocks meet after each round. The first block runs small rounds alone, at the
// cost of a barrier of one block. COMPACT: rows are copied without their removed edges each time half of the edges has
// gone, so that no row is read in full long after most of it was removed.
//
// TRIANGLES: each edge has a list of its triangles and a bit for each instead of a count. A removed edge clears the bit of
// a triangle at its other edges. Several edges of a triangle may be removed at the same time, since clearing a bit twice
// is clearing it once, and one thread sees the last bit above L go. So no edge waits for a round: a warp goes on with the
// edges that it has found for HERE rounds of its own before the blocks meet.
//
// Kabir, Madduri: Parallel k-core decomposition on multicore platforms, and shared-memory graph truss decomposition.
// IPDPS workshops and HiPC 2017.
#include "kernels/grid.cuh"
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"
#include "formats/csr/search.cuh"
#include "kernels/edge_counts.cuh"

// Rows of the symmetric matrix and, with TRUSS, the number of the edge of each entry, and the ends of each edge. The live_
// arrays are the same rows without removed edges, at the same places, and where they end (COMPACT). With TRIANGLES, ptr is
// where the list of each edge begins in `triangles` (edge_counts.cuh), and the other arrays are not used.
struct PeelGraph {
  const PTR_T* ptr;
  const COL_T* col;
  const ITEM_T* edge;
  const COL_T* tail;
  const COL_T* head;
  PTR_T* live_end;
  COL_T* live_col;
  ITEM_T* live_edge;
  u64* triangles;
};

// The remaining counts of the items (TRIANGLES: only at the begin and the end), the round in which each is removed (TRUSS;
// all ones: none yet; not with TRIANGLES), and its level.
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

// The state: what comes next; the level; counts up to `below` were removed at earlier levels; the number of the round;
// items left; scans; the length of the list of items, which has removed ones too, and how often it was copied without
// them (0: the list is all items); items left when the rows were copied, and how often that was; the gate of the barrier.
// For the scans in turn the items left, NONE_LEFT less the lowest count among them, those in the copied list, and the
// elements of the frontier that begins the level; for the rounds in turn the elements of the frontier. A number is
// cleared two turns after it was counted: other blocks may still read it in the next turn. All are 0 before the launch.
enum { MODE, LEVEL, BELOW, ROUND, LEFT, SCANS, LISTED, COPIES, LIVE, ROW_COPIES, GATE };
enum { KEPT = GATE + 1, LOWEST = KEPT + 3, COPIED = LOWEST + 3, STARTED = COPIED + 3, FOUND = STARTED + 3 };
enum { SCAN, EXPAND, DONE, ROWS };
#define NONE_LEFT 0x7fffffffffffffffll
// An element of a frontier is an item and the number of its segment; with TRIANGLES, a triangle as the list of a removed
// edge has it.
#define ITEM_BITS 40
#define ITEM_MASK ((1ll << ITEM_BITS) - 1)

struct PeelState {
  i64 mode, level, below, last, round, left, scans, listed, copies, live, row_copies;

  __device__ __forceinline__ void begin(i64 n, i64 first, i64 to) {
    mode = SCAN, level = first, below = -1, last = to, round = scans = copies = row_copies = 0;
    left = listed = live = n;
  }
  __device__ __forceinline__ void load(const i64* state) {
    mode = load_fresh(state + MODE), level = load_fresh(state + LEVEL), below = load_fresh(state + BELOW);
    round = load_fresh(state + ROUND), left = load_fresh(state + LEFT);
    scans = load_fresh(state + SCANS), listed = load_fresh(state + LISTED), copies = load_fresh(state + COPIES);
    live = load_fresh(state + LIVE), row_copies = load_fresh(state + ROW_COPIES);
  }
  __device__ __forceinline__ void store(i64* state) const {  // by one thread
    state[MODE] = mode, state[LEVEL] = level, state[BELOW] = below, state[ROUND] = round, state[LEFT] = left;
    state[SCANS] = scans, state[LISTED] = listed, state[COPIES] = copies, state[LIVE] = live;
    state[ROW_COPIES] = row_copies;
  }
  __device__ __forceinline__ void enter_level(i64 next) {
    below = level, level = next;
    mode = level > last ? DONE : SCAN;
  }
  __device__ __forceinline__ bool copies_list() const { return 2 * left <= listed; }
  __device__ __forceinline__ void after_scan(i64 kept, i64 lowest, i64 found) {
    if (copies_list()) listed = kept, ++copies;
    left = kept, ++scans;
    if (!kept) mode = DONE;  // nothing is left whose count could fall
    else if (found) mode = COMPACT && 2 * kept <= live ? ROWS : EXPAND;
    else enter_level(lowest);
  }
  __device__ __forceinline__ void after_rows() { live = left, ++row_copies, mode = EXPAND; }
  __device__ __forceinline__ void after_expand(i64 found) {
    ++round;
    if (!found) enter_level(level + 1);
  }
};

#define BATCH (LANES < 32 ? 1 : 4)  // neighbors of a removed vertex that a lane lowers at a time

// The threads that run a step: all, or those of the first block.
struct Team {
  i64 me, size;
};

struct Peel {
  i64 n, rows;
  PeelGraph graph;
  PeelItems items;
  PeelLists lists;
  i64* state;
  PeelState now;
#if TRIANGLES
  i64* spare;  // 32 elements that lanes of this warp give to others
#endif
  // The rows as they are now
  const COL_T* col;
  const ITEM_T* edge;
  const PTR_T* end;

  __device__ __forceinline__ void use_rows() {
    const bool copied = COMPACT && now.row_copies;
    col = copied ? graph.live_col : graph.col;
    edge = copied ? graph.live_edge : graph.edge;
    end = copied ? graph.live_end : graph.ptr + 1;
  }
  __device__ __forceinline__ i64 length(i64 v) const { return (i64)end[v] - (i64)graph.ptr[v]; }
#if TRIANGLES
  __device__ __forceinline__ u32* bits_of(i64 item) const { return (u32*)(graph.triangles + graph.ptr[item]); }
  __device__ __forceinline__ i64 count_of(i64 item) const { return __popc(peek(bits_of(item))); }
#else
  __device__ __forceinline__ i64 count_of(i64 item) const { return (i64)peek(items.count + item); }
#endif
  // How many elements an item with a count becomes.
  __device__ __forceinline__ i64 segments(i64 item) const {
#if TRIANGLES
    return count_of(item);
#elif !SEGMENTED
    return 1;
#elif TRUSS
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
#if TRIANGLES
    const u64* const list = graph.triangles + graph.ptr[item] + 1;
    u32 bits = peek(bits_of(item));
    for (i64 k = 0; k < parts; ++k, bits &= bits - 1) to[k] = (i64)list[__ffs((int)bits) - 1];
#else
    for (i64 k = 0; k < parts; ++k) to[k] = item | k << ITEM_BITS;
#endif
  }
  __device__ __forceinline__ void remove(i64 item, i64 round) const {
    items.level[item] = (COL_T)now.level;
#if TRUSS && !TRIANGLES
    poke(items.mark + item, (u32)round);
#else
    (void)round;
#endif
  }
#if TRIANGLES
  // An edge of a triangle of a removed edge, and the bits that it had before that of the triangle was cleared. The first
  // triangles of its list are read before it is known whether it is removed too: that is one trip to memory less.
  struct Side {
    const u64* list;
    u32 bit, had, item;
    u64 first, second;

    __device__ __forceinline__ Side(u64* triangles, u32 side)
        : list(triangles + (side & PLACE_MASK)), bit(1u << (side >> PLACE_BITS)), item(((const u32*)list)[1]),
          first(list[1]), second(list[2]) {
      issue_load(item), issue_load(first), issue_load(second);
      had = atomicAnd((u32*)triangles + 2 * (side & PLACE_MASK), ~bit);
    }
  };
  // Whether an edge falls to the level, which removes it, by one thread, and has a triangle left: `next`. Others go to the
  // frontier.
  __device__ __forceinline__ bool lower(const Side& side, i64& next) const {
    u32 bits = side.had & ~side.bit;
    if (bits == side.had || __popc(bits) != (int)now.level) return false;
    remove(side.item, now.round + 1);
    if (!bits) return false;
    const int k = __ffs((int)bits);
    next = (i64)(k == 1 ? side.first : k == 2 ? side.second : side.list[k]);
    bits &= bits - 1;
    if (bits) {
      i64* to = frontier(now.round + 1) + atomicAdd(next_found(), (u64)__popc(bits));
      for (; bits; bits &= bits - 1) *to++ = (i64)side.list[__ffs((int)bits)];
    }
    return true;
  }
  // A triangle of a removed edge for each lane that has one, then those of the edges that fall, and so on for HERE rounds.
  // Of two edges that fall, a lane keeps one and gives the other one's to a lane that has none.
  __device__ __forceinline__ void expand(i64 element, bool some) const {
    for (int turn = 0; turn < HERE && __any_sync(ALL_LANES, some); ++turn) {
      after_vote();
      i64 other = 0;
      bool more = false;
      if (some) {
        const Side f(graph.triangles, (u32)element), g(graph.triangles, (u32)((u64)element >> 32));
        some = lower(f, element);
        more = lower(g, other);
        if (more && !some) element = other, some = true, more = false;
      }
      const u32 givers = __ballot_sync(ALL_LANES, more);
      if (!givers) continue;
      const u32 takers = __ballot_sync(ALL_LANES, !some);
      const int at = __popc(takers & lanes_below()), from = __popc(givers & lanes_below());
      const bool given = more && from < __popc(takers);
      if (given) spare[from] = other;
      __syncwarp();
      if (more && !given) add_to_next(other);
      if (!some && at < __popc(givers)) element = spare[at], some = true;
      __syncwarp();
    }
    if (some) add_to_next(element);
  }
  __device__ __forceinline__ void add_to_next(i64 element) const {
    frontier(now.round + 1)[atomicAdd(next_found(), 1ull)] = element;
  }
  // No edge is removed yet.
  __device__ __forceinline__ void set_bits() const {
    for (i64 item = first_thread(); item < n; item += all_threads()) {
      const u32 count = (u32)items.count[item];
      items.level[item] = (COL_T)-1;
      *bits_of(item) = count ? ~0u >> (32 - count) : 0u;
    }
  }
  __device__ __forceinline__ void set_counts() const {
    for (i64 item = first_thread(); item < n; item += all_threads()) items.count[item] = (COL_T)count_of(item);
  }
#else
  // One count less; an item that falls to the level is removed in the next round.
  __device__ __forceinline__ void lower(i64 item) const {
    if ((i64)peek(items.count + item) <= now.level) return;
    if ((i64)add_atomically(items.count + item, -1) == now.level + 1) append(item);
  }
  __device__ __forceinline__ void append(i64 item) const {
    remove(item, now.round + 1);
    const i64 parts = segments(item);
    put(item, now.round + 1, atomicAdd(next_found(), (u64)parts), parts);
  }
  // An element of the frontier, by a group of LANES threads.
  __device__ __forceinline__ void expand(i64 element, int lane) const {
    const i64 item = element & ITEM_MASK, first = (element >> ITEM_BITS) * SEGMENT;
#if TRUSS
    i64 a = (i64)graph.tail[item], b = (i64)graph.head[item];
    if (length(b) < length(a)) {
      const i64 longer = a;
      a = b, b = longer;
    }
    i64 from = (i64)graph.ptr[b];
    const i64 b_end = (i64)end[b];
    const u32 round = (u32)now.round;
#else
    const i64 a = item;
#endif
    const i64 begin = (i64)graph.ptr[a] + first, row_end = (i64)end[a];
    const i64 stop = begin + SEGMENT < row_end ? begin + SEGMENT : row_end;
#if TRUSS
    for (i64 p = begin + lane; p < stop; p += LANES) {
      const i64 w = (i64)col[p];
      if (w == a || w == b) continue;
      const i64 f = (i64)edge[p];
      const u32 f_mark = peek(items.mark + f);
      if (f_mark < round) continue;
      from = lower_bound(col, from, b_end, w);  // columns rise
      if (from == b_end) break;
      if ((i64)col[from] != w) continue;
      const i64 g = (i64)edge[from];
      const u32 g_mark = peek(items.mark + g);
      if (g_mark < round) continue;
      // Of the edges of a triangle that are removed in one round, that with the lowest number lowers the others.
      if (f_mark > round && (g_mark > round || item < g)) lower(f);
      if (g_mark > round && (f_mark > round || item < f)) lower(g);
    }
#else
    // Each lane lowers several neighbors at a time, whose memory operations overlap.
    for (i64 p = begin + lane; p < stop; p += BATCH * LANES) {
      i64 w[BATCH];
      bool falls[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) w[k] = p + k * LANES < stop ? (i64)col[p + k * LANES] : a;
#pragma unroll
      for (int k = 0; k < BATCH; ++k) falls[k] = w[k] != a && (i64)peek(items.count + w[k]) > now.level;
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
        if (falls[k]) falls[k] = (i64)add_atomically(items.count + w[k], -1) == now.level + 1;
#pragma unroll
      for (int k = 0; k < BATCH; ++k)
        if (falls[k]) append(w[k]);
    }
#endif
  }
#endif  // TRIANGLES
  __device__ __forceinline__ void expand_all(Team team, i64 size) const {
    const i64* const elements = frontier(now.round);
    if (team.me == 0) state[FOUND + (now.round + 2) % 3] = 0;
#if TRIANGLES
    // One for each warp first: few elements are spread over all
    const i64 warps = team.size / 32;
    for (i64 k = team.me / 32; k < size; k += team.size) {
      const i64 own = k + WARP_LANE * warps;
      expand(own < size ? elements[own] : 0, own < size);
    }
#else
    for (i64 k = team.me / LANES; k < size; k += team.size / LANES) expand(elements[k], threadIdx.x % LANES);
#endif
  }
  // Remove the items with at most `level` counts, list those that begin the level, and find the lowest count of the
  // others.
  __device__ __forceinline__ void scan_all(Team team) const {
    const ITEM_T* const left = now.copies & 1 ? lists.kept : lists.left;
    ITEM_T* const kept = now.copies & 1 ? lists.left : lists.kept;
    const i64 slot = now.scans % 3, after = (now.scans + 1) % 3;
    if (team.me == 0) {
      state[KEPT + after] = state[LOWEST + after] = state[STARTED + after] = state[COPIED + after] = 0;
    }
    const bool copies = now.copies_list();
    u64* const started = (u64*)state + STARTED + slot;
    i64 lowest = NONE_LEFT;
    u64 stayed = 0;
    for (i64 place = team.me; place - WARP_LANE < now.listed; place += team.size) {
      const bool inside = place < now.listed;
      const i64 item = !inside ? 0 : now.copies ? (i64)left[place] : place;
      const i64 count = inside ? count_of(item) : 0;
      const bool stays = inside && count > now.level, goes = inside && !stays && count > now.below;
      if (copies) {
        const u64 at = next_number(stays, (u64*)state + COPIED + slot);
        if (stays) kept[at] = (ITEM_T)item;
      }
      if (goes) remove(item, now.round);
      const i64 parts = goes && count > 0 ? segments(item) : 0;
      const u64 single = next_number(parts == 1, started);
      if (parts == 1) put(item, now.round, single, 1);
      if (parts > 1) put(item, now.round, atomicAdd(started, (u64)parts), parts);
      if (stays && count < lowest) lowest = count;
      stayed += stays;
    }
    add_of_warp((u64*)state + KEPT + slot, stayed);
#pragma unroll
    for (int d = 16; d; d >>= 1) {
      const i64 other = __shfl_xor_sync(ALL_LANES, lowest, d);
      lowest = other < lowest ? other : lowest;
    }
    if (WARP_LANE == 0 && lowest != NONE_LEFT) atomicMax((u64*)state + LOWEST + slot, (u64)(NONE_LEFT - lowest));
  }
#if COMPACT
  // Copy the rows without the edges that were removed before this round, each by a warp.
  __device__ __forceinline__ void copy_rows(Team team) const {
    for (i64 v = team.me / 32; v < rows; v += team.size / 32) {
      const i64 begin = (i64)graph.ptr[v], stop = (i64)end[v];
      i64 to = begin;
      __syncwarp();  // all have read the end
      for (i64 p = begin + WARP_LANE; p - WARP_LANE < stop; p += 32) {
        const ITEM_T f = p < stop ? edge[p] : (ITEM_T)n;  // self loops have the number of edges
        const COL_T w = p < stop ? col[p] : (COL_T)0;
        const bool stays = (i64)f < n && peek(items.mark + f) >= (u32)now.round;
        const u32 all = __ballot_sync(ALL_LANES, stays);  // all have read
        after_vote();
        if (stays) {
          const i64 at = to + __popc(all & lanes_below());
          graph.live_col[at] = w, graph.live_edge[at] = f;
        }
        to += __popc(all);
        __syncwarp();
      }
      if (WARP_LANE == 0) graph.live_end[v] = (PTR_T)to;
    }
  }
#endif
  // Whether the first block runs the next step alone: of a few elements, or items.
  __device__ __forceinline__ bool is_small(i64 found) const {
    return (now.mode == EXPAND && found <= SMALL_ROUND) || (now.mode == SCAN && now.listed <= SMALL_SCAN);
  }
};

#ifdef KERNEL_peel_levels
// n: items. rows: of the matrix. first, last: levels. most: for the CPU.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    peel_levels(i64 n, i64 rows, PeelGraph graph, PeelItems items, PeelLists lists, i64* state, i64 first, i64 last,
                i64 most) {
  (void)most;
#if TRIANGLES
  __shared__ i64 spare[THREADS];
  Peel peel = {n, rows, graph, items, lists, state, {}, spare + threadIdx.x / 32 * 32, nullptr, nullptr, nullptr};
#else
  Peel peel = {n, rows, graph, items, lists, state, {}, nullptr, nullptr, nullptr};
#endif
  Barrier barrier = {(u64*)state + GATE, 0};
  PeelState& now = peel.now;
  now.begin(n, first, last);
  i64 found = 0;
  // Warps of different blocks follow each other, so that few elements are spread over all multiprocessors.
  const Team all = {((i64)(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + (threadIdx.x & 31), all_threads()};
  const Team block = {(i64)threadIdx.x, THREADS};
#if TRIANGLES
  peel.set_bits();
  barrier.meet();
#endif
  while (now.mode != DONE) {
    const bool small = peel.is_small(found);
    if (small) barrier.meet();  // all have read the numbers, which the first block is about to change
    for (bool more = !small || blockIdx.x == 0; more; more = small && peel.is_small(found)) {
      const Team team = small ? block : all;
      const i64 mode = now.mode, slot = mode == EXPAND ? (now.round + 1) % 3 : now.scans % 3;
      peel.use_rows();
      if (mode == SCAN) peel.scan_all(team);
      if (mode == EXPAND) peel.expand_all(team, found);
#if COMPACT
      if (mode == ROWS) peel.copy_rows(team);
#endif
      if (small) __syncthreads();
      else barrier.meet();
      if (mode == ROWS) {
        now.after_rows();
      } else if (mode == EXPAND) {
        found = load_fresh(state + FOUND + slot);
        now.after_expand(found);
      } else {
        found = load_fresh(state + STARTED + slot);
        now.after_scan(load_fresh(state + KEPT + slot), NONE_LEFT - load_fresh(state + LOWEST + slot), found);
      }
    }
    if (!small) continue;
    // The others go on where the first block has stopped.
    if (first_thread() == 0) now.store(state), state[FOUND + 3] = found;
    barrier.meet();
    now.load(state);
    found = load_fresh(state + FOUND + 3);
  }
#if TRIANGLES
  peel.set_counts();
#endif
}
#endif  // KERNEL_peel_levels
