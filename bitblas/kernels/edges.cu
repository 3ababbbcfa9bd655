// The edges of an undirected graph: their numbers, and the triangles that contain each. Each edge is stored once, at the
// end that comes first in an order of the vertices.
#include "kernels/views.cuh"
#include "formats/csr/search.cuh"
#include "kernels/edge_counts.cuh"

#ifdef KERNEL_number_edges
// Of two vertices, whether the first comes before the second in the order by rising degree.
__device__ __forceinline__ bool comes_before(const PTR_T* ptr, i64 i, i64 j) {
  const i64 a = (i64)ptr[i + 1] - (i64)ptr[i], b = (i64)ptr[j + 1] - (i64)ptr[j];
  return a < b || (a == b && i < j);
}

// The number of the edge of each of n entries: its place in the rows of `next_ptr`, `next_col`, which hold each edge
// once, at the end that comes before the other. A self loop gets the number of edges.
extern "C" __global__ void __launch_bounds__(BLOCK)
    number_edges(i64 n, i64 rows, const PTR_T* ptr, const COL_T* col, const PTR_T* next_ptr, const COL_T* next_col,
                 ITEM_T* edge) {
  const i64 p = thread_number();
  if (p >= n) return;
  const i64 i = range_of(ptr, rows, p), j = (i64)col[p];
  const bool ahead = comes_before(ptr, i, j);
  const i64 from = ahead ? i : j, to = ahead ? j : i;
  const i64 begin = i == j ? (i64)next_ptr[rows] : (i64)next_ptr[from];
  edge[p] = (ITEM_T)(i == j ? begin : lower_bound(next_col, begin, (i64)next_ptr[from + 1], to));
}
#endif  // KERNEL_number_edges

#ifdef KERNEL_edge_triangles
// Add the number of triangles that contain each edge, or BY_VERTEX each vertex. ptr, col hold each edge once, at the end
// that comes first in an order of the vertices. A triangle u, v, w in this order is found at u: w is in the rows of u and
// of v. LANES threads take a row u, whose columns are in shared memory with a filter of WORDS words that excludes most
// other columns; each warp compares them with the row of one v after the other.
#define GROUPS (BLOCK / LANES)
#define FILTER_BITS (32 * WORDS)

__device__ __forceinline__ void meet_in_group() {
  if (LANES == 32) __syncwarp();
  else __syncthreads();
}

__device__ __forceinline__ u32 filter_bit(i64 w) { return ((u32)w * 2654435761u) >> 16 & (FILTER_BITS - 1); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    edge_triangles(i64 n, const COL_T* rows, const PTR_T* ptr, const COL_T* col, COL_T* count) {
  __shared__ COL_T columns[GROUPS * ROOM];
  __shared__ u32 found[GROUPS * ROOM], filter[GROUPS * WORDS];
  const int group = threadIdx.x / LANES, me = threadIdx.x % LANES, lane = threadIdx.x & 31;
  const i64 unit = (i64)blockIdx.x * GROUPS + group;
  if (unit >= n) return;  // whole groups
  COL_T* const mine = columns + group * ROOM;
  u32 *const sums = found + group * ROOM, *const bits = filter + group * WORDS;
  const i64 u = (i64)rows[unit], begin = (i64)ptr[u], end = (i64)ptr[u + 1];
  for (i64 first = begin; first < end; first += ROOM) {
    const i64 size = end - first < ROOM ? end - first : ROOM;
    for (int k = me; k < WORDS; k += LANES) bits[k] = 0;
    meet_in_group();
    for (i64 k = me; k < size; k += LANES) {
      const COL_T w = col[first + k];
      mine[k] = w, sums[k] = 0;
      atomicOr(bits + (filter_bit(w) >> 5), 1u << (filter_bit(w) & 31));
    }
    meet_in_group();
    for (i64 p = begin + me / 32; p < end; p += LANES / 32) {
      const i64 v = (i64)col[p], stop = (i64)ptr[v + 1];
      u32 closed = 0;
      for (i64 q = (i64)ptr[v] + lane; q < stop; q += 32) {
        const COL_T w = col[q];
        if (!(bits[filter_bit(w) >> 5] >> (filter_bit(w) & 31) & 1)) continue;
        const i64 k = lower_bound(mine, 0, size, (i64)w);
        if (k == size || mine[k] != w) continue;
        ++closed;
        atomicAdd(sums + k, 1u);
        if (!BY_VERTEX) add_atomically(count + q, 1);
      }
      __syncwarp();
#pragma unroll
      for (int d = 16; d; d >>= 1) closed += __shfl_xor_sync(ALL_LANES, closed, d);
      if (lane == 0 && closed && !BY_VERTEX) add_atomically(count + p, closed);
      if (lane == 0 && closed && BY_VERTEX) add_atomically(count + u, closed), add_atomically(count + v, closed);
    }
    meet_in_group();
    for (i64 k = me; k < size; k += LANES)
      if (sums[k]) add_atomically(count + (BY_VERTEX ? (i64)mine[k] : first + k), sums[k]);
    meet_in_group();
  }
}
#endif  // KERNEL_edge_triangles

// A graph whose rows here are all short: one thread for each of n edges u, v merges the rows of its ends, and calls
// `found` for each triangle, with the places of the edges u, w and v, w.
template <class F>
__device__ __forceinline__ void merge_rows(i64 u, i64 v, const PTR_T* ptr, const COL_T* col, const F& found) {
  i64 a = (i64)ptr[u], b = (i64)ptr[v];
  const i64 a_end = (i64)ptr[u + 1], b_end = (i64)ptr[v + 1];
  while (a < a_end && b < b_end) {
    const i64 x = (i64)col[a], y = (i64)col[b];
    if (x == y) found(a, b);
    a += x <= y, b += y <= x;
  }
}

#ifdef KERNEL_merge_triangles
// Add the number of triangles that contain each edge, or BY_VERTEX each vertex, as above.
extern "C" __global__ void __launch_bounds__(BLOCK)
    merge_triangles(i64 n, const COL_T* tail, const PTR_T* ptr, const COL_T* col, COL_T* count) {
  const i64 p = thread_number();
  if (p >= n) return;
  const i64 u = (i64)tail[p], v = (i64)col[p];
  u32 closed = 0;
  merge_rows(u, v, ptr, col, [&](i64 a, i64 b) {
    ++closed;
    add_atomically(count + (BY_VERTEX ? (i64)col[a] : a), 1);
    if (!BY_VERTEX) add_atomically(count + b, 1);
  });
  if (!closed) return;
  add_atomically(count + (BY_VERTEX ? u : p), closed);
  if (BY_VERTEX) add_atomically(count + v, closed);
}
#endif  // KERNEL_merge_triangles

#ifdef KERNEL_reserve_triangles
// Where the list of the triangles of each edge begins: blocks reserve places in any order. totals: the places of all
// lists, and of the longest; 0 before.
extern "C" __global__ void __launch_bounds__(BLOCK)
    reserve_triangles(i64 n, const COL_T* count, PTR_T* first, u64* totals) {
  __shared__ u32 places, most;
  __shared__ u64 begin;
  const i64 p = thread_number();
  const u32 own = p < n ? (u32)count[p] + 1 : 0, lane = threadIdx.x & 31;
  if (threadIdx.x == 0) places = most = 0;
  u32 up_to = own, largest = own;
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const u32 before = __shfl_up_sync(ALL_LANES, up_to, d), other = __shfl_xor_sync(ALL_LANES, largest, d);
    if (lane >= d) up_to += before;
    if (other > largest) largest = other;
  }
  __syncthreads();
  u32 at = 0;
  if (lane == 31) at = atomicAdd(&places, up_to), atomicMax(&most, largest);
  at = __shfl_sync(ALL_LANES, at, 31) + up_to - own;
  __syncthreads();
  if (threadIdx.x == 0) begin = atomicAdd(totals, (u64)places), atomicMax(totals + 1, (u64)most);
  __syncthreads();
  if (p < n) first[p] = (PTR_T)(begin + at);
}
#endif  // KERNEL_reserve_triangles

#ifdef KERNEL_list_triangles
// List the triangles of each edge, of which it has at most 32 (edge_counts.cuh), with the number of triangles in the
// place of the bits. The lists are 0 before.
extern "C" __global__ void __launch_bounds__(BLOCK)
    list_triangles(i64 n, const COL_T* tail, const PTR_T* ptr, const COL_T* col, const PTR_T* first, u64* triangles) {
  const i64 p = thread_number();
  if (p >= n) return;
  ((u32*)(triangles + first[p]))[1] = (u32)p;
  merge_rows((i64)tail[p], (i64)col[p], ptr, col, [&](i64 a, i64 b) {
    const u64 list[3] = {(u64)first[p], (u64)first[a], (u64)first[b]};
    u64 number[3], side[3];
    for (int k = 0; k < 3; ++k) number[k] = atomicAdd((u32*)(triangles + list[k]), 1u);
    for (int k = 0; k < 3; ++k) side[k] = list[k] | number[k] << PLACE_BITS;
    for (int k = 0; k < 3; ++k) triangles[list[k] + 1 + number[k]] = side[(k + 1) % 3] | side[(k + 2) % 3] << 32;
  });
}
#endif  // KERNEL_list_triangles
