// Decide whether a nested loop begins: its own condition holds, the enclosing round runs, and no stop of the outermost loop is
// requested (kernels/frontier.cuh). pieces, done: what is reported to the host otherwise (tell.cuh), unless already reported:
// with `follows`, this kernel comes after the end of a body that may have reported, which going[1] then records.
#include "kernels/frontier.cuh"
#include "loop/gpu/tell.cuh"
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
enter(i64 n, const u64* condition, const u64* around, const i64* rounds, i64 ahead, const i64* outermost, u64 handle,
      u64* going, i64 pieces, const u64* piece, u64* done, i64 follows) {
  await_previous();
  (void)n;
  const bool begins = *condition != 0 && may_run(around, rounds, ahead) && *(volatile const i64*)(outermost + 3) == 0 &&
                      outermost[5] == 0;
  const bool tells = pieces && !begins && !(follows && going[1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    *going = begins;
#ifndef __CUDA_EMU__
    if (handle) cudaGraphSetConditional(handle, begins);  // 0 if the host makes the launches
#else
    (void)handle;
#endif
  }
  if (tells) tell_host(piece, pieces, done);
}
