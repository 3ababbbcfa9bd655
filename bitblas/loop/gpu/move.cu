// Copy data into the memory of a program before its rounds, and out of it afterwards: fill or copy pieces of memory, as listed
// in a table that the host has written. Pieces of one launch do not overlap. reports: the launch has one block, which sets
// `reported` when all is done; the host polls it.
struct Piece {
  u64 to;          // an address; 0: nothing to do
  u64 from[3];     // addresses: of three rotating buffers, the current one after all rounds is copied; 0: fill
  u64 bytes;
  u64 steps;       // in a round
  u64 pattern[2];  // 16 bytes, to fill with
  u64 at, word;    // index and value of a 64-bit word that differs; at is ~0 if there is none
};
#define PIECE_WORDS (sizeof(Piece) / 8)
#define PIECES 32  // pieces in shared memory at a time
#define AHEAD 4    // words that a thread loads before it writes

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
  const u64 by_grid = enters ? 0 : (u64)(rounds[2] - rounds[4]);  // not read if `enters`: this launch may be copying them in
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
      const u64 odd = x.to | from;
      const int width = odd & 7 ? 1 : odd & 15 ? 8 : 16;
      const u64 whole = end / width * width;
      if (width == 16) move_words<Pair>(x, from, begin / 16, whole / 16);
      else if (width == 8) move_words<u64>(x, from, begin / 8, whole / 8);
      if (width > 1 && end - whole >= 8) move_words<u64>(x, from, whole / 8, end / 8);
      move_words<u8>(x, from, width > 1 ? end / 8 * 8 : begin, end);
    }
  }
  if (!reports) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
#ifndef __CUDA_EMU__
  __threadfence_system();
#endif
  *(volatile u64*)reported = 1;
}
