// Counts of vertices and edges, lowered and raised by many threads.
template <class T> __device__ __forceinline__ T add_atomically(T* to, i64 x) {
  if (sizeof(T) == 8) return (T)atomicAdd((u64*)to, (u64)x);
  return (T)atomicAdd((int*)to, (int)x);
}

// A list of the triangles of an edge: a word with a bit for each triangle in the low half and the number of the edge in
// the high one, then a word for each triangle with its other two edges, in halves: where their lists begin, and from
// PLACE_BITS on, which of the triangles there this is.
#define PLACE_BITS 27
#define PLACE_MASK ((1u << PLACE_BITS) - 1u)
