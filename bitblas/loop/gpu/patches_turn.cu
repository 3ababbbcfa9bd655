// Decide whether a fixpoint by patches continues (formats/csr/patches.cu): some are active, no stop is requested. One thread.
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
patches_turn(i64 n, const u32* state, const i64* rounds, u64 handle, u64* going) {
  (void)n;
  if (threadIdx.x != 0) return;
  const bool again = state[0] != 0 && state[8] == 0 && *(volatile const i64*)(rounds + 3) == 0;
  *going = again;
#ifndef __CUDA_EMU__
  if (handle) cudaGraphSetConditional(handle, again);  // 0 if the host makes the launches
#else
  (void)handle;
#endif
}
