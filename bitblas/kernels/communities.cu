// Community detection: the self loop of each vertex, and components inside communities. Moves and levels are in
// louvain_levels.cu.
#include "kernels/views.cuh"

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

#ifdef KERNEL_link_inside
// Components by union-find, inside of communities: of the entries `first` to `last` of each row, those whose ends have
// the same label join the trees of their ends, the larger root below the smaller. parent: the number of a vertex of the
// same tree, the own one at a root. known: for each label a root, or a negative number; the rows of the vertices right
// below it are not read. A lane reads a row of at most FEW entries, a warp others.
// Jaiganesh, Burtscher: A high-performance connected components implementation for GPUs. HPDC 2018.
// Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling. IPDPS 2018.
#define FEW 8

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

__device__ __forceinline__ void join_trees(int* parent, int v, int u) {
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

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    link_inside(i64 n, const PTR_T* ptr, const COL_T* col, const int* label, i64 first, i64 last, const int* known,
                int* parent) {
  const i64 v = thread_number();
  const int lane = threadIdx.x & 31;
  i64 begin = 0, end = 0;
  if (v < n && peek(parent + v) != known[label[v]]) {
    const i64 low = (i64)ptr[v], high = (i64)ptr[v + 1];
    begin = low + first;
    end = low + last < high ? low + last : high;
  }
  const bool few = end - begin <= FEW;
  if (few)
    for (i64 p = begin; p < end; ++p)
      if (label[col[p]] == label[v]) join_trees(parent, (int)v, (int)col[p]);
  for (u32 rest = __ballot_sync(ALL_LANES, !few); rest; rest &= rest - 1) {
    const int from = __ffs(rest) - 1, row = (int)(v - lane + from), own = label[row];
    const i64 high = __shfl_sync(ALL_LANES, end, from);
    for (i64 p = __shfl_sync(ALL_LANES, begin, from) + lane; p < high; p += 32)
      if (label[col[p]] == own) join_trees(parent, row, (int)col[p]);
  }
}
#endif  // KERNEL_link_inside

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
