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
