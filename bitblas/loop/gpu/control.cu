// Control flow of loops on a device: begin a nested loop, end a round or a loop, and report to the host.
#include "kernels/frontier.cuh"

// Conditional nodes of CUDA graphs, which run the rounds of a loop.
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                                                unsigned int value);
#endif

// Whether a while node of the graph runs its body. handle: 0 if the host makes the launches.
__device__ __forceinline__ void set_conditional(u64 handle, bool runs) {
#ifndef __CUDA_EMU__
  if (handle) cudaGraphSetConditional(handle, runs);
#else
  (void)handle, (void)runs;
#endif
}

#include "loop/gpu/report.cuh"

#ifdef KERNEL_enter
// Decide whether a nested loop begins: its own condition holds, the enclosing round runs, and no stop of the outermost
// loop is requested (kernels/frontier.cuh). pieces, done: what is reported to the host otherwise (report_to_host),
// unless already reported: with `follows`, this kernel comes after the end of a body that may have reported, which
// going[1] then records.
extern "C" __global__ void __launch_bounds__(BLOCK, 1)
    enter(i64 n, const u64* condition, const u64* around, const i64* rounds, i64 ahead, const i64* outermost,
          u64 handle, u64* going, i64 pieces, const u64* piece, u64* done, i64 follows) {
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
    finish(i64 n, const int* sources, u64* states, const u64* condition, i64* rounds, i64 copies, i64* outermost,
           u64 handle, u64* going, i64 ranks, const i64* of_ranks, i64 pieces, const u64* piece, u64* done, i64 last) {
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
    const bool continues = *condition != 0 && rounds[0] < rounds[1] && !ends;
    reports = pieces && !continues && (last || !ends);  // after a request to stop, rounds of a cluster may still follow
    going[0] = continues, going[1] = reports;
    set_conditional(handle, continues);
  }
  __syncthreads();
  if (reports) report_to_host(piece, pieces, done);
}
#endif  // KERNEL_finish

#ifdef KERNEL_unrotate
// After the last round of a nested loop, copy a vector that its advances write from one of three buffers back to the
// first. Words of 32 bits. rounds: of the nested loop (kernels/frontier.cuh); steps: advances in each round.
extern "C" __global__ void __launch_bounds__(BLOCK, 8)
    unrotate(i64 n, i64 size, const i64* rounds, i64 steps, u32* first, const u32* second, const u32* third) {
  (void)n;
  const i64 rotation = (rounds[2] - rounds[4]) * steps % 3;
  if (rotation == 0) return;
  const u32* from = rotation == 1 ? second : third;
  for (i64 k = thread_number(); k < size; k += (i64)gridDim.x * BLOCK) first[k] = from[k];
}
#endif  // KERNEL_unrotate

#ifdef KERNEL_move
// Copy data into the memory of a program before its rounds, and out of it afterwards: fill or copy pieces of memory, as listed
// in a table that the host has written. Pieces of one launch do not overlap. reports: the launch has one block, which sets
// `reported` when all is done; the host polls it.
#define PIECES 32  // pieces in shared memory at a time
#define AHEAD 4  // words that a thread loads before it writes
#define WIDENED 8  // the same, if they are widened

struct alignas(16) Pair {
  u64 low, high;
};
#define CHUNK (BLOCK * AHEAD * sizeof(Pair))  // bytes that a block copies at a time

__device__ __forceinline__ u8 filled(const Piece& x, u64 i, u8) { return (u8)(x.pattern[i >> 3 & 1] >> 8 * (i & 7)); }
__device__ __forceinline__ u64 filled(const Piece& x, u64 i, u64) { return x.pattern[i & 1]; }
__device__ __forceinline__ Pair filled(const Piece& x, u64, Pair) { return {x.pattern[0], x.pattern[1]}; }
__device__ __forceinline__ void differ(const Piece&, u64, u8&) {}
__device__ __forceinline__ void differ(const Piece& x, u64 i, u64& w) {
  if (i == x.at) w = x.word;
}
__device__ __forceinline__ void differ(const Piece& x, u64 i, Pair& w) {
  if (i == x.at >> 1) (x.at & 1 ? w.high : w.low) = x.word;
}

// Integers first .. end of a piece, an even number of them, as integers of 64 bits; by a block. Two: a pair of them.
template <class I, class Two> __device__ __forceinline__ void widen(const Piece& x, u64 from, u64 first, u64 end) {
  for (first = first / 2 + threadIdx.x; first < end / 2; first += WIDENED * BLOCK) {
    Two two[WIDENED];
#pragma unroll
    for (int k = 0; k < WIDENED; ++k)
      two[k] = first + k * BLOCK < end / 2 ? ((const Two*)from)[first + k * BLOCK] : (Two)0;
#pragma unroll
    for (int k = 0; k < WIDENED; ++k)
      if (first + k * BLOCK < end / 2)
        ((Pair*)x.to)[first + k * BLOCK] = {(u64)(i64)(I)two[k], (u64)(i64)(I)(two[k] >> 8 * sizeof(I))};
  }
}

// Copy or fill words first .. end of a piece, by a block.
template <class W> __device__ __forceinline__ void move_words(const Piece& x, u64 from, u64 first, u64 end) {
  W* const to = (W*)x.to;
  for (first += threadIdx.x; first < end; first += AHEAD * BLOCK) {
    W w[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const u64 i = first + k * BLOCK;
      w[k] = from ? i < end ? ((const W*)from)[i] : W() : filled(x, i, W());
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const u64 i = first + k * BLOCK;
      differ(x, i, w[k]);
      if (i < end) to[i] = w[k];
    }
  }
}

// Blocks take chunks of all pieces in turn, so that no piece waits for another one.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    move(i64 n, const u64* table, const i64* rounds, u64* reported, i64 enters, i64 reports) {
  await_previous();
  __shared__ u64 here[PIECES * PIECE_WORDS];
  __shared__ u64 before[PIECES + 1];  // chunks of the pieces before
  const u64 by_grid =
      enters ? 0 : (u64)(rounds[2] - rounds[4]);  // not read if `enters`: this launch may be copying them in
  for (i64 first = 0; first < n; first += PIECES) {
    const int count = (int)(n - first < PIECES ? n - first : PIECES);
    __syncthreads();
    for (int k = threadIdx.x; k < count * (int)PIECE_WORDS; k += BLOCK) here[k] = table[first * PIECE_WORDS + k];
    __syncthreads();
    const Piece* const pieces = (const Piece*)here;
    if (threadIdx.x < 32) {
      const int k = threadIdx.x;
      u64 sum = k < count && pieces[k].to ? (pieces[k].bytes + CHUNK - 1) / CHUNK : 0;
#pragma unroll
      for (int d = 1; d < 32; d <<= 1) {
        const u64 below = __shfl_up_sync(ALL_LANES, sum, d);
        if (k >= d) sum += below;
      }
      before[k + 1] = sum;
      if (k == 0) before[0] = 0;
    }
    __syncthreads();
    int k = 0;
    for (u64 chunk = blockIdx.x; chunk < before[PIECES]; chunk += gridDim.x) {
      while (chunk >= before[k + 1]) ++k;
      const Piece& x = pieces[k];
      const u64 from = x.from[by_grid * x.steps % 3];
      const u64 begin = (chunk - before[k]) * CHUNK, end = begin + CHUNK < x.bytes ? begin + CHUNK : x.bytes;
      if (x.widens) {
        if (x.widens == 1) widen<signed char, u16>(x, from, begin, end);
        else widen<short, u32>(x, from, begin / 2, end / 2);
        continue;
      }
      const u64 odd = x.to | from;
      const int width = odd & 7 ? 1 : odd & 15 ? 8 : 16;
      const u64 whole = end / width * width;
      if (width == 16) move_words<Pair>(x, from, begin / 16, whole / 16);
      else if (width == 8) move_words<u64>(x, from, begin / 8, whole / 8);
      if (width > 1 && end - whole >= 8) move_words<u64>(x, from, whole / 8, end / 8);
      move_words<u8>(x, from, width > 1 ? end / 8 * 8 : begin, end);
    }
  }
  if (reports) report_to_host(nullptr, 0, reported);
}
#endif  // KERNEL_move

#ifdef KERNEL_set_entries
// Set bits of a frontier that has been cleared. list: how many, and their positions. One block.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) set_entries(i64 n, const u64* list, u64* bits) {
  await_previous();
  (void)n;
  const u64 count = list[0];
  for (u64 k = threadIdx.x; k < count; k += BLOCK) set_bit(bits, (i64)list[1 + k]);
}
#endif  // KERNEL_set_entries
