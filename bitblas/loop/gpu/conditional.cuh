// Conditional nodes of CUDA graphs, which run the rounds of a loop.
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

// Whether a while node of the graph runs its body. handle: 0 if the host makes the launches.
__device__ __forceinline__ void set_conditional(u64 handle, bool runs) {
#ifndef __CUDA_EMU__
  if (handle) cudaGraphSetConditional(handle, runs);
#else
  (void)handle, (void)runs;
#endif
}
