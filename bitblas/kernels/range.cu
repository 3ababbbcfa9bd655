// Range check of indices: flags[0] is set if one is negative, flags[1] if one is outside of -dim .. dim - 1.

extern "C" __global__ void __launch_bounds__(BLOCK, 4) range(i64 n, i64 dim, const i64* indices, u32* flags) {
  const i64 k = thread_number();
  const i64 i = k < n ? indices[k] : 0;
  if (__syncthreads_or(i < 0) && threadIdx.x == 0) flags[0] = 1;
  if (__syncthreads_or(k < n && (i < -dim || i >= dim)) && threadIdx.x == 0) flags[1] = 1;
}
