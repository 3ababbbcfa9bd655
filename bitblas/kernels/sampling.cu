// Neighbour sampling for batches: edges of a frontier, and the edges up to a time.
#include "kernels/views.cuh"

#ifdef KERNEL_sample_edges
// Edges of the nodes of a frontier. All, if there are no more than requested; with REPLACE as many independent draws;
// otherwise Floyd's sample without replacement, or, if few edges are left out, each with the remaining probability
// (Bentley, Floyd: Programming pearls: a sample of brilliance. Communications of the ACM 30, 1987; Knuth: The Art of
// Computer Programming 2, 3.4.2, algorithm S). Random numbers are hashes of the seed, the node and the draw, so the
// sample is the same on every device.
// frontier: nodes, or (DISJOINT) owner * nodes + node. entry, key, center: output, `offset` says where.

// Random number k of a node, below `bound`.
__device__ __forceinline__ i64 draw(u64 state, i64 k, i64 bound) {
  return (i64)(scramble(state + (u64)k) % (u64)bound);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    sample_edges(i64 n, const i64* frontier, const i64* stop, const i64* ptr, const COL_T* col, const i64* offset,
                 i64 nodes, i64 first, u64 seed, i64* entry, i64* key, i64* center) {
  const i64 f = thread_number();
  if (f >= n) return;
  const i64 which = frontier[f], owner = DISJOINT ? which / nodes : 0, begin = ptr[which - owner * nodes];
  const i64 degree = stop[f] - begin, to = offset[f], count = offset[f + 1] - to;
  const u64 state = scramble(seed + scramble((u64)which));
  if (count == degree && !REPLACE) {
    for (i64 j = 0; j < count; ++j) entry[to + j] = begin + j;
  } else if (REPLACE) {
    for (i64 j = 0; j < count; ++j) entry[to + j] = begin + draw(state, j, degree);
  } else if (count * count > 4 * degree) {
    for (i64 e = 0, found = 0; e < degree; ++e)
      if (draw(state, e, degree - e) < count - found) entry[to + found++] = begin + e;
  } else {
    for (i64 j = 0; j < count; ++j) {
      const i64 last = degree - count + j, e = begin + draw(state, j, last + 1);
      bool has = false;
      for (i64 p = to; p < to + j; ++p) has = has || entry[p] == e;
      entry[to + j] = has ? begin + last : e;
    }
  }
  for (i64 p = to; p < to + count; ++p) key[p] = owner * nodes + (i64)col[entry[p]], center[p] = first + f;
}
#endif  // KERNEL_sample_edges

#ifdef KERNEL_edges_before
// The end of the edges of each node that are not later than its time; the edges of a node ascend by time.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    edges_before(i64 n, const i64* frontier, const i64* ptr, const TIME_T* time, const TIME_T* until, i64 nodes,
                 i64* stop) {
  const i64 f = thread_number();
  if (f >= n) return;
  const i64 owner = frontier[f] / nodes, v = frontier[f] - owner * nodes;
  i64 low = ptr[v], high = ptr[v + 1];
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    if (time[middle] <= until[owner]) low = middle + 1;
    else high = middle;
  }
  stop[f] = low;
}
#endif  // KERNEL_edges_before
