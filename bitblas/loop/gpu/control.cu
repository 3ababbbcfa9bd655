// Control flow of loops on a device: begin a nested loop, end a round or a loop, and report to the host.
#include "kernels/frontier.cuh"
#include "loop/gpu/conditional.cuh"

// Report the end of a loop to the host: the kernel that ends it writes the rounds and the scalars, so that the host
// continues while the graph finishes. pieces: those of move.cu whose destination is the host, of eight words at most.
#define PIECE_WORDS 10
#define PIECE_FROM 1
#define PIECE_BYTES 4

// Called by the whole block. reported: the word that the host polls.
__device__ __forceinline__ void report_to_host(const u64* pieces, i64 count, u64* reported) {
  for (i64 k = threadIdx.x / 8; k < count; k += BLOCK / 8) {
    const u64* const piece = pieces + k * PIECE_WORDS;
    const u64 to = piece[0], from = piece[PIECE_FROM], bytes = piece[PIECE_BYTES], at = threadIdx.x % 8 * 8;
    if (at + 8 <= bytes) ((u64*)to)[at / 8] = ((const u64*)from)[at / 8];
    else
      for (u64 b = at; b < bytes; ++b) ((u8*)to)[b] = ((const u8*)from)[b];
#ifndef __CUDA_EMU__
    __threadfence_system();
#endif
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
#ifndef __CUDA_EMU__
  __threadfence_system();
#endif
  *(volatile u64*)reported = 1;
}

#ifdef KERNEL_enter
// Decide whether a nested loop begins: its own condition holds, the enclosing round runs, and no stop of the outermost
// loop is requested (kernels/frontier.cuh). pieces, done: what is reported to the host otherwise (report_to_host),
// unless already reported: with `follows`, this kernel comes after the end of a body that may have reported, which
// going[1] then records.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
enter(i64 n, const u64* condition, const u64* around, const i64* rounds, i64 ahead, const i64* outermost, u64 handle,
      u64* going, i64 pieces, const u64* piece, u64* done, i64 follows) {
  await_previous();
  (void)n;
  const bool begins = *condition != 0 && may_run(around, rounds, ahead) && *(volatile const i64*)(outermost + 3) == 0 &&
                      outermost[5] == 0;
  const bool reports = pieces && !begins && !(follows && going[1]);
  __syncthreads();
  if (threadIdx.x == 0) {
    *going = begins;
    set_conditional(handle, begins);
  }
  if (reports) report_to_host(piece, pieces, done);
}
#endif  // KERNEL_enter

#ifdef KERNEL_finish
// End a run of the body: move frontier states to where the next run expects them, and decide whether the loop
// continues. One block. sources[s]: the state that state s takes over, s or a later one, or -1 for zeros; `condition`
// is the number that must be nonzero. outermost: the rounds of the outermost loop, which store faults and the request
// to stop (frontier.cuh). ranks: the number of ranks that run the same loop, 0 if one; of_ranks: what each reports of
// these, four words from the request to stop on, so that all end after the same round with the same fault; a rank whose
// calls were aborted (-1) receives nothing. pieces, done: what is reported to the host when the loop has ended
// (report_to_host); going[1]: whether it was reported; last: no rounds in a cluster follow.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
finish(i64 n, const int* sources, u64* states, const u64* condition, i64* rounds, i64 copies, i64* outermost, u64 handle,
       u64* going, i64 ranks, const i64* of_ranks, i64 pieces, const u64* piece, u64* done,
       i64 last) {
  await_previous();
  for (i64 first = 0; first < n; first += BLOCK) {  // sources are later states, which have not been written yet
    const i64 k = first + threadIdx.x;
    const u64 moved = k < n && sources[k / 8] >= 0 ? states[sources[k / 8] * 8 + k % 8] : 0;
    __syncthreads();
    if (k < n) states[k] = moved;
  }
  __shared__ bool reports;
  __syncthreads();
  if (threadIdx.x == 0) {
    rounds[0] += copies;
    const i64 stop = *(volatile const i64*)(outermost + 3);
    bool ends = ranks ? stop == -1 : stop != 0 || outermost[5] != 0;
    for (i64 r = ranks - 1; r >= 0; --r) {
      const i64* known = of_ranks + 4 * r;
      ends |= known[0] != 0 || known[2] != 0;
      if (known[2]) outermost[5] = known[2], outermost[6] = known[3];
    }
    const bool again = *condition != 0 && rounds[0] < rounds[1] && !ends;
    reports = pieces && !again && (last || !ends);  // after a request to stop, rounds of a cluster may still follow
    going[0] = again, going[1] = reports;
    set_conditional(handle, again);
  }
  __syncthreads();
  if (reports) report_to_host(piece, pieces, done);
}
#endif  // KERNEL_finish

#ifdef KERNEL_settle
// After the last round of a nested loop, copy a vector that its advances write from one of three buffers back to the
// first. Words of 32 bits. rounds: of the nested loop (kernels/frontier.cuh); steps: advances in each round.
extern "C" __global__ void __launch_bounds__(BLOCK, 8)
settle(i64 n, i64 size, const i64* rounds, i64 steps, u32* first, const u32* second, const u32* third) {
  (void)n;
  const i64 turned = (rounds[2] - rounds[4]) * steps % 3;
  if (turned == 0) return;
  const u32* from = turned == 1 ? second : third;
  for (i64 k = thread_number(); k < size; k += (i64)gridDim.x * BLOCK) first[k] = from[k];
}
#endif  // KERNEL_settle
