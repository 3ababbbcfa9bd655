// Breadth-first search from one vertex by one block, as long as its vertices fit a hash table in shared memory.
#include "formats/csr/any_column.cuh"
#include "formats/csr/ranges.cuh"
#include "formats/csr/table.cuh"
#include "kernels/blocks.cuh"
typedef AnyColumn<PACKED, COL_T> Column;

#define MOST (SLOTS / 4 * 3)  // vertices of a ball
#define CLIP 65535            // reported if a ball has more than MOST

// sizes[h]: number of vertices within h edges of `from`, for h up to HOPS; unchanged if more than MOST could be found
// (within one edge it follows from the row length of `from`, unless an edge is a loop).
__device__ __forceinline__ void grow_ball(const PTR_T* ptr, const Column& column, i64 from, i64* sizes) {
  __shared__ COL_T vertices[SLOTS];
  __shared__ u16 queue[MOST];  // their slots, in discovery order
  __shared__ i64 begin[BLOCK];
  __shared__ u32 below[BLOCK], parts[BLOCK / 32], found;
  for (u32 slot = threadIdx.x; slot < SLOTS; slot += BLOCK) vertices[slot] = NO_KEY;
  __syncthreads();
  if (threadIdx.x == 0) {
    queue[0] = (u16)(-1 - insert(vertices, SLOTS - 1, 32 - LOG_SLOTS, (COL_T)from));
    found = 1;
    sizes[0] = 1;
  }
  __syncthreads();
  u32 first = 0, last = 1, total;  // range of the queue whose edges are next
  for (int hop = 1; hop <= HOPS; ++hop) {
    u32 edges = 0;
    for (u32 q = first + threadIdx.x; q < last; q += BLOCK) {
      const i64 length = (i64)ptr[vertices[queue[q]] + 1] - (i64)ptr[vertices[queue[q]]];
      edges += length < CLIP ? (u32)length : CLIP;
    }
    block_sum_below(edges, parts, total);
    if (last + total > MOST) {
      if (hop == 1 && threadIdx.x == 0) sizes[1] = 1 + (i64)ptr[from + 1] - (i64)ptr[from];
      return;
    }
    for (u32 some = first; some < last; some += BLOCK) {  // the threads share the edges of BLOCK vertices
      const u32 q = some + threadIdx.x;
      const i64 start = q < last ? (i64)ptr[vertices[queue[q]]] : 0;
      const i64 end = q < last ? (i64)ptr[vertices[queue[q]] + 1] : 0;
      begin[threadIdx.x] = start;
      below[threadIdx.x] = block_sum_below((u32)(end - start), parts, total);
      __syncthreads();
      for (u32 edge = threadIdx.x; edge < total; edge += BLOCK) {
        const i64 owner = range_of(below, BLOCK, edge);
        const int slot = insert(vertices, SLOTS - 1, 32 - LOG_SLOTS, column[begin[owner] + (edge - below[owner])]);
        if (slot < 0) queue[atomicAdd(&found, 1u)] = (u16)(-1 - slot);
      }
      __syncthreads();
    }
    first = last;
    last = found;
    if (threadIdx.x == 0) sizes[hop] = last;
    __syncthreads();  // reads of `found` are done before it grows
  }
}
