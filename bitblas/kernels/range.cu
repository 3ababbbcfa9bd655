// Whether indices lie in -dim .. dim - 1: flags of all that are negative, or outside.
#define NEGATIVE 1u
#define OUTSIDE 2u

extern "C" __global__ void __launch_bounds__(BLOCK, 4) range(i64 n, i64 dim, const i64* indices, u32* flags) {
  const i64 k = thread_number();
  const i64 i = k < n ? indices[k] : 0;
  if (__syncthreads_or(i < 0) && threadIdx.x == 0) atomicOr(flags, NEGATIVE);
  if (__syncthreads_or(k < n && (i < -dim || i >= dim)) && threadIdx.x == 0) atomicOr(flags, OUTSIDE);
}
