// Whether a loop inside a round begins: its own condition holds, the round around it runs, and nobody wants the outermost
// loop to stop (kernels/frontier.cuh). One thread.
#include "kernels/frontier.cuh"
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
enter(i64 n, const u64* condition, const u64* around, const i64* rounds, i64 ahead, const i64* outermost, u64 handle,
      u64* going) {
  await_previous();
  (void)n;
  if (threadIdx.x != 0) return;
  const bool begins = *condition != 0 && may_run(around, rounds, ahead) && *(volatile const i64*)(outermost + 3) == 0 &&
                      outermost[5] == 0;
  *going = begins;
#ifndef __CUDA_EMU__
  if (handle) cudaGraphSetConditional(handle, begins);  // none where the host makes the launches
#else
  (void)handle;
#endif
}
