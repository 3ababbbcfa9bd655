// Positions of a row of numbers that a lane reads and writes at once: PIECES pieces of VEC positions, SIDE * VEC apart.
// SIDE lanes take a row: all LANES of its group, unless a kernel says otherwise. With VEC > 1, rows begin at multiples
// of their bytes, up to 16.
#ifndef SIDE
#define SIDE LANES
#endif
template <class T> struct alignas(sizeof(T) * VEC < 16 ? sizeof(T) * VEC : 16) Positions {
  T at[VEC];
};
template <class T> struct Share {
  Positions<T> piece[PIECES];
  __device__ __forceinline__ void read(const T* from) {
#pragma unroll
    for (int q = 0; q < PIECES; ++q) piece[q] = *(const Positions<T>*)(from + q * SIDE * VEC);
  }
  __device__ __forceinline__ void write(T* to) const {
#pragma unroll
    for (int q = 0; q < PIECES; ++q) *(Positions<T>*)(to + q * SIDE * VEC) = piece[q];
  }
  __device__ __forceinline__ T& operator[](int j) { return piece[j / VEC].at[j % VEC]; }
};
