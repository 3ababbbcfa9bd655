// Community detection: whose turn it is, moves between communities, neighbours of moved vertices, merges of single
// vertices into parts, and components inside communities.
// All sums are integers, so the order in which threads add them does not matter. A weight is an FP64 number below 2^53,
// which holds it exactly, so a comparison of gains gives the same answer on every device.
#include "kernels/views.cuh"

// The same numbers as `random_hash(vertex, ..)` of the algorithms; key: the number that is mixed in last.
__device__ __forceinline__ u32 stir(u32 x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}
__device__ __forceinline__ u32 drawn(i64 vertex, i64 key) { return stir(stir((u32)vertex) ^ (u32)key); }

__device__ __forceinline__ void add_to(i64* sum, i64 x) { atomicAdd((u64*)sum, (u64)x); }

#ifdef KERNEL_draw_turns
// The active vertices of one class of a random partition into `classes` (a power of two) classes; they are active no
// longer. weight: sigma in FP64.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    draw_turns(i64 n, i64 key, i64 classes, i64 which, u8* active, const i64* sigma, u8* turn, double* weight) {
  const i64 v = thread_number();
  if (v >= n) return;
  const bool now = active[v] && (drawn(v, key) & (u32)(classes - 1)) == (u32)which;
  turn[v] = now;
  if (now) active[v] = 0;
  weight[v] = (double)sigma[v];
}
#endif  // KERNEL_draw_turns

#ifdef KERNEL_move_vertices
#define MOST_GAIN 4503599627370496.0  // 2^52: more only with an extreme resolution

// Move the vertices whose best community scores more than their own. score: sum of weights - share * weight of the
// community; own: the weight to the own community, including `loop`. moved: whether each vertex moved. totals: number of
// moves, sum of their gains times GAIN_UNIT, number of entries of their rows.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    move_vertices(i64 n, const u8* turn, const int* best, const double* score, const i64* own, const i64* degree,
                  const i64* loop, const double* share, const double* weight, const PTR_T* ptr, int* label, i64* sigma,
                  u8* moved, i64* totals) {
  const i64 v = thread_number();
  i64 entries = 0, gained = 0;
  bool moves = false;
  if (v < n) {
    const int to = turn[v] ? best[v] : -1, from = label[v];
    if (to >= 0) {
      const double stay = (double)(own[v] - loop[v]) - share[v] * (weight[from] - (double)degree[v]);
      moves = score[v] > stay;
      if (moves) {
        const double gain = score[v] - stay;
        gained = (i64)((gain < MOST_GAIN ? gain : MOST_GAIN) * GAIN_UNIT);
        entries = (i64)ptr[v + 1] - (i64)ptr[v];
        add_to(sigma + from, -degree[v]);
        add_to(sigma + to, degree[v]);
        label[v] = to;
      }
    }
    moved[v] = moves;
  }
  const u32 count = __popc(__ballot_sync(ALL_LANES, moves));
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    gained += __shfl_xor_sync(ALL_LANES, gained, d);
    entries += __shfl_xor_sync(ALL_LANES, entries, d);
  }
  if (count && (threadIdx.x & 31) == 0) {
    add_to(totals, count);
    add_to(totals + 1, gained);
    add_to(totals + 2, entries);
  }
}
#endif  // KERNEL_move_vertices

#ifdef KERNEL_mark_neighbors
// Activate the neighbours of moved vertices that are in another community. If the rows of moved vertices (totals[2]
// entries) hold more than one entry of four, all vertices become active.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    mark_neighbors(i64 n, i64 entries, const PTR_T* ptr, const COL_T* col, const int* label, const u8* moved,
                   const i64* totals, u8* active) {
  const i64 v = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  if (v >= n) return;
  if (4 * totals[2] > entries) {
    if (lane == 0) active[v] = 1;
  } else if (moved[v]) {
    const i64 end = ptr[v + 1];
    const int own = label[v];
    for (i64 p = (i64)ptr[v] + lane; p < end; p += LANES)
      if (label[col[p]] != own) poke(active + col[p], (u8)1);
  }
}
#endif  // KERNEL_mark_neighbors

#ifdef KERNEL_sum_by_label
// sums[label[v]] += x[v].
extern "C" __global__ void __launch_bounds__(BLOCK, 4) sum_by_label(i64 n, const int* label, const i64* x, i64* sums) {
  const i64 v = thread_number();
  if (v < n && x[v]) add_to(sums + label[v], x[v]);
}
#endif  // KERNEL_sum_by_label

#ifdef KERNEL_diagonal
// out[v]: the value of entry (v, v); not written if there is none.
#include "formats/csr/search.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    diagonal(i64 n, const PTR_T* ptr, const COL_T* col, const i64* values, i64 iso, i64 stride, i64* out) {
  const i64 v = thread_number();
  if (v >= n) return;
  const i64 end = ptr[v + 1], p = lower_bound(col, ptr[v], end, v);
  if (p < end && (i64)col[p] == v) out[v] = stride ? values[p] : iso;
}
#endif  // KERNEL_diagonal

#ifdef KERNEL_same_label
#include "formats/csr/search.cuh"

// For each entry whether both of its ends have the same label.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    same_label(i64 n, i64 nrows, const PTR_T* ptr, const COL_T* col, const int* label, u8* same) {
  const i64 p = thread_number();
  if (p < n) same[p] = label[range_of(ptr, nrows, p)] == label[col[p]];
}
#endif  // KERNEL_same_label

#ifdef KERNEL_draw_joins
// The single vertices that may join another part in this round: a random half of the settled ones. A part has the number
// of a vertex. weight: sigma in FP64; a part that may vanish in this round is too heavy to be joined.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    draw_joins(i64 n, i64 key, const u8* settled, const int* part, const int* size, const i64* sigma, u8* turn,
               double* weight) {
  const i64 v = thread_number();
  if (v >= n) return;
  const bool now = settled[v] && part[v] == v && size[v] == 1 && (drawn(v, key) & 1u) == 0;
  turn[v] = now;
  weight[v] = now ? 1e300 : (double)sigma[v];
}
#endif  // KERNEL_draw_joins

#ifdef KERNEL_join_parts
// Single vertices join the part that gains most, if any does. (If the resolution is tiny, no part is too heavy: the one
// that gains most may vanish, and is not joined.)
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    join_parts(i64 n, const u8* turn, const int* best, const double* score, const i64* degree, int* part, int* size,
               i64* sigma) {
  const i64 v = thread_number();
  if (v >= n || !turn[v] || best[v] < 0 || !(score[v] > 0)) return;
  const int to = best[v];
  if (turn[to]) return;
  part[v] = to;
  size[v] = 0;
  atomicAdd(size + to, 1);
  sigma[v] = 0;
  add_to(sigma + to, degree[v]);
}
#endif  // KERNEL_join_parts

#ifdef KERNEL_link_entries
#include "formats/csr/search.cuh"

// Components by union-find: the entries that are kept join the trees of their ends, the larger root below the smaller.
// parent: the number of a vertex of the same tree, the own one at a root.
// Jaiganesh, Burtscher: A high-performance connected components implementation for GPUs. HPDC 2018.
__device__ __forceinline__ int root_of(int* parent, int v) {
  int above = peek(parent + v);
  while (above != v) {
    const int next = peek(parent + above);
    if (next != above) poke(parent + v, next);
    v = above;
    above = next;
  }
  return v;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    link_entries(i64 n, i64 nrows, const PTR_T* ptr, const COL_T* col, const int* label, int* parent) {
  const i64 p = thread_number();
  if (p >= n) return;
  const int v = (int)range_of(ptr, nrows, p), u = (int)col[p];
  if (u >= v || label[u] != label[v]) return;
  int a = root_of(parent, v), b = root_of(parent, u);
  while (a != b) {
    if (a < b) {
      const int swapped = a;
      a = b;
      b = swapped;
    }
    const int found = atomicCAS(parent + a, a, b);
    if (found == a) break;
    a = root_of(parent, found);
    b = root_of(parent, b);
  }
}
#endif  // KERNEL_link_entries

#ifdef KERNEL_flatten
// root[v]: the root of the tree of v.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) flatten(i64 n, const int* parent, int* root) {
  const i64 v = thread_number();
  if (v >= n) return;
  int at = (int)v;
  while (parent[at] != at) at = parent[at];
  root[v] = at;
}
#endif  // KERNEL_flatten
