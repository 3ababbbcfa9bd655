// Reduce a vector: one block per chunk of `per` words, threads strided, then a tree.
// The order of additions depends only on the size, so the same input gives the same bits.
// FLAGS: presence is an array of bytes instead of bits.
#include "kernels/views.cuh"
#define AHEAD 4  // values that a thread loads before it adds any
#if FLAGS
typedef u8 presence_t;
#define HAS(present, p) (present[p] != 0)
#define VALUE(values, iso, stride, p) values[p]
typedef U_T stored_t;
#else
typedef u64 presence_t;
#define HAS bit_of
#define VALUE load<U_T>
typedef STORED(U_T) stored_t;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
reduce(i64 n, i64 per, i64 size, const presence_t* u_bits, const stored_t* u_val, ARGUMENT(U_T) u_iso, i64 u_stride,
       u8* sum_present, Z_T* sums) {
  __shared__ Z_T part[BLOCK];
  __shared__ u8 some[BLOCK];
  const i64 first = (i64)blockIdx.x * per * 64;
  i64 end = first + per * 64;
  if (end > size) end = size;
  Z_T sum = IDENTITY;
  u8 any = 0;
  for (i64 begin = first + threadIdx.x; begin < end; begin += AHEAD * BLOCK) {
    bool has[AHEAD];
    Z_T x[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const i64 p = begin + k * BLOCK;
      has[k] = p < end && HAS(u_bits, p);
      x[k] = has[k] ? cast<Z_T>(VALUE(u_val, u_iso, u_stride, p)) : IDENTITY;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (has[k]) {
        sum = any ? add(sum, x[k]) : x[k];
        any = 1;
      }
  }
  part[threadIdx.x] = sum;
  some[threadIdx.x] = any;
  for (int half = BLOCK / 2; half; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half && some[threadIdx.x + half]) {
      const Z_T x = part[threadIdx.x + half];
      part[threadIdx.x] = some[threadIdx.x] ? add(part[threadIdx.x], x) : x;
      some[threadIdx.x] = 1;
    }
  }
  if (threadIdx.x == 0) {
    sum_present[blockIdx.x] = some[0];
    sums[blockIdx.x] = part[0];
  }
}
