// End a run of the body: move frontier states to where the next run expects them, and decide whether the loop continues.
// One block. sources[s]: the state that state s takes over, s or a later one, or -1 for zeros; `condition` is the number that
// must be nonzero. outermost: the rounds of the outermost loop, which store faults and the request to stop (frontier.cuh).
// ranks: the number of ranks that run the same loop, 0 if one; told: what each reports of these, four words from the request
// to stop on, so that all end after the same round with the same fault; a rank whose calls were aborted (-1) receives nothing.
// pieces, done: what is reported to the host when the loop has ended (tell.cuh); going[1]: whether it was reported; last: no
// rounds in a cluster follow.
#include "kernels/base.cuh"
#include "loop/gpu/tell.cuh"
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
finish(i64 n, const int* sources, u64* states, const u64* condition, i64* rounds, i64 copies, i64* outermost, u64 handle,
       u64* going, i64 ranks, const i64* told, i64 pieces, const u64* piece, u64* done,
       i64 last) {
  await_previous();
  for (i64 first = 0; first < n; first += BLOCK) {  // sources are later states, which have not been written yet
    const i64 k = first + threadIdx.x;
    const u64 moved = k < n && sources[k / 8] >= 0 ? states[sources[k / 8] * 8 + k % 8] : 0;
    __syncthreads();
    if (k < n) states[k] = moved;
  }
  __shared__ bool tells;
  __syncthreads();
  if (threadIdx.x == 0) {
    rounds[0] += copies;
    const i64 stop = *(volatile const i64*)(outermost + 3);
    bool ends = ranks ? stop == -1 : stop != 0 || outermost[5] != 0;
    for (i64 r = ranks - 1; r >= 0; --r) {
      const i64* known = told + 4 * r;
      ends |= known[0] != 0 || known[2] != 0;
      if (known[2]) outermost[5] = known[2], outermost[6] = known[3];
    }
    const bool again = *condition != 0 && rounds[0] < rounds[1] && !ends;
    tells = pieces && !again && (last || !ends);  // after a request to stop, rounds of a cluster may still follow
    going[0] = again, going[1] = tells;
#ifndef __CUDA_EMU__
    if (handle) cudaGraphSetConditional(handle, again);  // 0 if the host makes the launches
#else
    (void)handle;
#endif
  }
  __syncthreads();
  if (tells) tell_host(piece, pieces, done);
}
