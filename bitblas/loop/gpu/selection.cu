// Greedy selection by fixed priorities, in any order, in one launch (loop/gpu/selection.py): a vertex is selected when
// all neighbours of better priority are excluded, and excludes its neighbours.
// Burtscher, Devale, Azimi, Jaiganesh, Powers: A high-quality and fast maximal independent set implementation for GPUs.
// ACM Trans. Parallel Computing 5 (2018).
#include "kernels/grid.cuh"
#include "kernels/views.cuh"

#ifdef KERNEL_select_by_priority
// What a vertex is: excluded, selected, or the upper half of its priority, between these.
#define EXCLUDED 0u
#define SELECTED 0xffffffffu
// Numbers of the launch.
#define GATE 0
#define UNDONE 1  // neighbours have the same priority, so the answer depends on the rounds; or a stop was requested
#define VOTES 2  // three numbers
#define FEW 8  // entries of a long row that one lane reads
#define AT_ONCE 4  // entries whose loads overlap
#define VISITS 32  // of a warp, until it looks for a request to stop

// The upper 32 bits of a priority, in the order of priorities.
__device__ __forceinline__ u32 key_of(P_T x) {
  const u64 sign = P_T(-1) < P_T(0) ? 1ull << 63 : 0;
  u64 bits = ((u64)x << (64 - 8 * sizeof(P_T))) ^ sign;
  if (LEAST) bits = ~bits;
  const u32 high = (u32)(bits >> 32);
  return high == EXCLUDED ? 1u : high == SELECTED ? SELECTED - 1 : high;
}

// The graph, the priorities, what each vertex is, and the number of entries of its row that need not be read again.
struct Vertices {
  const PTR_T* ptr;
  const COL_T* col;
  const P_T* priority;
  u32* key;
  u32* passed;

  // Whether neighbour w of v, undecided with `mine`, is v's superior. SELECTED is better than all priorities.
  __device__ __forceinline__ bool is_better(u32 w, u32 its, u32 v, u32 mine, u64* numbers) const {
    if (its != mine || w == v) return its > mine;
    const P_T a = priority[w], b = priority[v];
    if (a != b) return LEAST ? a < b : a > b;
    poke(numbers + UNDONE, 1ull);
    return w < v;
  }
};

// What became of an undecided vertex.
enum { WAITS, IS_EXCLUDED, PASSES, GOES_ON };

// Read the row of v from e on, until the entry of a better vertex; of a long one FEW entries. FRESH: what other threads have
// written just now; otherwise older values may be seen, which only make v wait.
template <bool FRESH>
__device__ __forceinline__ int read_row(const Vertices& g, u32 v, u32 mine, PTR_T& e, PTR_T end, u64* numbers) {
  const PTR_T stop = end - e > SHORT ? e + FEW : end;
  while (e < stop) {
    u32 w[AT_ONCE], its[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) w[k] = stop - e > k ? (u32)g.col[e + k] : v;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) its[k] = FRESH ? load_fresh(g.key + w[k]) : peek(g.key + w[k]);
    int first = AT_ONCE;  // the first one that may be better
    u32 other = v, key = EXCLUDED;
#pragma unroll
    for (int k = AT_ONCE - 1; k >= 0; --k)
      if (its[k] >= mine && w[k] != v) first = k, other = w[k], key = its[k];
    if (other == v) {
      e = stop - e > AT_ONCE ? e + AT_ONCE : stop;
      continue;
    }
    e += first;
    if (g.is_better(other, key, v, mine, numbers)) return key == SELECTED ? IS_EXCLUDED : WAITS;
    ++e;
  }
  return e < end ? GOES_ON : PASSES;
}

// Exclude a neighbour of a selected vertex. Many exclude a hub, whose writes follow each other, so they read it first.
__device__ __forceinline__ void exclude(u32* key) {
  if (!HUBS || peek(key) != EXCLUDED) poke(key, EXCLUDED);
}

// One visit of 32 vertices from `base` on, of which `undecided` are; returns those that still are. Called by the warp.
template <bool FRESH> __device__ __forceinline__ u32 visit(const Vertices& g, u32 base, u32 undecided, u64* numbers) {
  const int lane = threadIdx.x & 31;
  const u32 v = base + lane;
  u32 mine = EXCLUDED, passed = 0;
  PTR_T begin = 0, end = 0;
  if (undecided >> lane & 1) {
    mine = load_fresh(g.key + v);
    begin = g.ptr[v], end = g.ptr[v + 1];
    if (FRESH) passed = g.passed[v];
  }
  const bool waits = mine != EXCLUDED;
  PTR_T e = begin + (PTR_T)passed;
  int what = waits ? read_row<FRESH>(g, v, mine, e, end, numbers) : IS_EXCLUDED;
  // The warp reads long rows together.
  for (u32 left = __ballot_sync(ALL_LANES, what == GOES_ON); left; left &= left - 1) {
    const int owner = __ffs(left) - 1;
    const u32 its = __shfl_sync(ALL_LANES, mine, owner);
    const i64 from = __shfl_sync(ALL_LANES, e, owner), to = __shfl_sync(ALL_LANES, end, owner);
    u32 first = 0;
    int found = PASSES;
    i64 at = from;
    for (; at < to && found == PASSES; at += found == PASSES ? 32 * AT_ONCE : 0) {
      u32 w[AT_ONCE], key[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) w[k] = at + 32 * k + lane < to ? (u32)g.col[at + 32 * k + lane] : base + owner;
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) key[k] = load_fresh(g.key + w[k]);
#pragma unroll 1
      for (int k = 0; k < AT_ONCE && found == PASSES; ++k) {
        const bool better = w[k] != base + owner && g.is_better(w[k], key[k], base + owner, its, numbers);
        const u32 who = __ballot_sync(ALL_LANES, better);
        if (!who) continue;
        first = 32 * k + __ffs(who) - 1;
        found = __any_sync(ALL_LANES, better && key[k] == SELECTED) ? IS_EXCLUDED : WAITS;
      }
    }
    if (lane == owner) e = (PTR_T)(at + first), what = found;
  }
  if (waits && what == WAITS) g.passed[v] = (u32)(e - begin);
  if (waits && what == IS_EXCLUDED) poke(g.key + v, EXCLUDED);
  const bool selected = waits && what == PASSES;
  if (selected) poke(g.key + v, SELECTED);
  // Exclude the neighbours: those of better priority are excluded already, the others are still undecided.
  const bool is_short = end - begin <= SHORT;
  if (selected && is_short)
    for (e = begin; e < end; ++e) {
      const u32 w = (u32)g.col[e];
      if (w != v) exclude(g.key + w);
    }
  for (u32 left = __ballot_sync(ALL_LANES, selected && !is_short); left; left &= left - 1) {
    const int owner = __ffs(left) - 1;
    const i64 from = __shfl_sync(ALL_LANES, begin, owner), to = __shfl_sync(ALL_LANES, end, owner);
#pragma unroll 4
    for (i64 at = from + lane; at < to; at += 32) {
      const u32 w = (u32)g.col[at];
      if (w != base + owner) exclude(g.key + w);
    }
  }
  return __ballot_sync(ALL_LANES, waits && what == WAITS);
}

// size: number of vertices. waiting: those to decide, none afterwards; members: the selected ones join these. undecided:
// a word for each share of 32 vertices. rounds: of the loop (kernels/frontier.cuh); a `limit` other than `unlimited`, and ties, leave
// everything to the rounds of the body; a request to stop ends both.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    select_by_priority(i64 n, i64 size, Vertices g, u64* waiting, u64* members, u32* undecided, i64* rounds,
                       i64 unlimited, u64* numbers) {
  (void)n;
  if (rounds[1] != unlimited) return;
  Barrier barrier = {numbers + GATE, 0};
  const int lane = threadIdx.x & 31;
  const u32 first = (u32)(first_thread() / 32), step = gridDim.x * WARPS, halves = (u32)((size + 31) / 32);
  for (u32 h = first; h < halves; h += step) {
    const u32 v = 32 * h + lane;
    const u32 bits = ((const u32*)waiting)[h];
    if (v < size) g.key[v] = bits >> lane & 1 ? key_of(g.priority[v]) : EXCLUDED;
  }
  barrier.meet();
  // Up to 32 warps share a word, if there are more warps than words.
  u32 log_shares = 0;
  while (log_shares < 5 && 2 * halves << log_shares <= step) ++log_shares;
  const u32 words = halves << log_shares;
  bool more = false;
  for (u32 k = first; k < words; k += step) {
    const u32 h = k >> log_shares, share = ((lane ^ k) & ((1u << log_shares) - 1)) == 0;
    const u32 lanes = __ballot_sync(ALL_LANES, share) & ((const u32*)waiting)[h];
    const u32 left = visit<false>(g, 32 * h, lanes, numbers);
    if (lane == 0) undecided[k] = left;
    more |= left != 0;
  }
  for (u32 visits = 1; barrier.visits_again(more, numbers + VOTES); ++visits) {
    __syncwarp();
    if (visits % VISITS == 0 && __any_sync(ALL_LANES, *(volatile const i64*)(rounds + 3) != 0)) {
      poke(numbers + UNDONE, 1ull);
      break;
    }
    more = false;
    for (u32 k = first; k < words; k += step) {
      u32 left = undecided[k];
      if (!left) continue;
      left = visit<true>(g, k >> log_shares << 5, left, numbers);
      __syncwarp();
      if (lane == 0) undecided[k] = left;
      more |= left != 0;
    }
  }
  barrier.meet();
  if (load_fresh(numbers + UNDONE)) return;
  for (u32 h = first; h < halves; h += step) {
    const u32 v = 32 * h + lane;
    const u32 chosen = __ballot_sync(ALL_LANES, v < size && load_fresh(g.key + v) == SELECTED);
    if (lane == 0 && chosen) ((u32*)members)[h] |= chosen;
    if (lane == 0) ((u32*)waiting)[h] = 0;
  }
  if (first_thread() == 0) rounds[0] = rounds[2] = rounds[4] = 1;
}
#endif  // KERNEL_select_by_priority
