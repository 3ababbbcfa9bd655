// What goes into the memory of a program before its rounds and comes out of it after them: pieces of memory are filled or
// copied, as a table says that the host has written. Those of one launch do not overlap.
struct Piece {
  u64 to;          // an address; 0: nothing to do
  u64 from[3];     // addresses: the buffer that the steps of all rounds have turned to is copied; 0: filled
  u64 bytes;
  u64 steps;       // in a round
  u64 pattern[2];  // 16 bytes, to fill with
  u64 at, word;    // the 64-bit word that differs, and what it is; at is ~0: none
};
#define PIECE_WORDS (sizeof(Piece) / 8)
#define PIECES 32  // that a block holds at a time
#define AHEAD 4    // words that a thread asks for before it writes

template <class W> __device__ __forceinline__ void move_words(const Piece& x, const W* from, u64 first, u64 end, u64 all) {
  W* const to = (W*)x.to;
  for (; first < end; first += AHEAD * all) {
    W w[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const u64 i = first + k * all;
      if (from) w[k] = i < end ? from[i] : W(0);
      else w[k] = sizeof(W) == 8 ? (W)x.pattern[i & 1] : (W)(x.pattern[i >> 3 & 1] >> 8 * (i & 7));
      if (sizeof(W) == 8 && i == x.at) w[k] = (W)x.word;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (first + k * all < end) to[first + k * all] = w[k];
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) move(i64 n, const u64* table, const i64* rounds) {
  __shared__ u64 here[PIECES * PIECE_WORDS];
  const u64 by_grid = (u64)(rounds[2] - rounds[4]), all = (u64)gridDim.x * BLOCK;
  for (i64 first = 0; first < n; first += PIECES) {
    const int count = (int)(n - first < PIECES ? n - first : PIECES);
    __syncthreads();
    for (int k = threadIdx.x; k < count * (int)PIECE_WORDS; k += BLOCK) here[k] = table[first * PIECE_WORDS + k];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const Piece& x = ((const Piece*)here)[k];
      if (!x.to) continue;
      const u64 from = x.from[by_grid * x.steps % 3];
      const u64 me = (thread_number() + (u64)k * 32) % all;  // small ones go to different warps
      const u64 whole = (x.to | from) & 7 ? 0 : x.bytes / 8;
      move_words(x, (const u64*)from, me, whole, all);
      move_words(x, (const u8*)from, whole * 8 + me, x.bytes, all);
    }
  }
}
