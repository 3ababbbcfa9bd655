// Counts of vertices and edges, lowered and raised by many threads.
template <class T> __device__ __forceinline__ T add_atomically(T* to, i64 x) {
  if (sizeof(T) == 8) return (T)atomicAdd((u64*)to, (u64)x);
  return (T)atomicAdd((int*)to, (int)x);
}
