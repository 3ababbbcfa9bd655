// Loads of several adjacent elements.
#include "kernels/views.cuh"

// N adjacent elements that a lane loads at once, in as few loads as possible, and does not read again.
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Unit {
  T at[N];
};
template <int bytes> struct Chunk {
  typedef uint4 type;
};
template <> struct Chunk<8> {
  typedef u64 type;
};
template <> struct Chunk<4> {
  typedef u32 type;
};
template <int N, class T> __device__ __forceinline__ Unit<T, N> load_unit(const T* from) {
  typedef Unit<T, N> unit_t;
#ifdef __CUDA_EMU__
  return *(const unit_t*)from;
#else
  typedef typename Chunk<sizeof(unit_t)>::type chunk_t;
  unit_t unit;
#pragma unroll
  for (u32 i = 0; i < sizeof(unit_t) / sizeof(chunk_t); ++i) ((chunk_t*)&unit)[i] = load_once((const chunk_t*)from + i);
  return unit;
#endif
}

// Elements i .. i + N of an array, of which those from `end` on are unspecified; i is a multiple of N, and below `end`,
// which is at most the length of the array. aligned: the array begins at a multiple of 16 bytes.
template <int N, class T> __device__ __forceinline__ Unit<T, N> unit_at(const T* array, i64 i, i64 end, bool aligned) {
  if (aligned && i + N <= end) return load_unit<N>(array + i);
  Unit<T, N> unit;
#pragma unroll
  for (int k = 0; k < N; ++k) unit.at[k] = array[i + k < end ? i + k : i];
  return unit;
}
