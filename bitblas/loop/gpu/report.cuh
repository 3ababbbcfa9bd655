// Copies before and after the rounds of a loop, and the report of its end to the host (loop/gpu/transfer.py).
// A piece of memory to fill or copy (loop/gpu/transfer.py).
struct Piece {
  u64 to;          // an address; 0: nothing to do
  u64 from[3];     // addresses: of three rotating buffers, the current one after all rounds is copied; 0: fill
  u64 bytes;
  u64 steps;       // in a round
  u64 pattern[2];  // 16 bytes, to fill with
  u64 at, word;    // index and value of a 64-bit word that differs; at is ~0 if there is none
  u64 widens;      // 1 or 2: integers of so many bytes become integers of 64 bits
};
#define PIECE_WORDS (sizeof(Piece) / 8)

// Report the end of a loop to the host: the kernel that ends it writes the rounds and the scalars, so that the host
// continues while the graph finishes. pieces: those whose destination is the host, of eight words at most.
// Called by the whole block. reported: the word that the host polls.
__device__ __forceinline__ void report_to_host(const u64* pieces, i64 count, u64* reported) {
  for (i64 k = threadIdx.x / 8; k < count; k += BLOCK / 8) {
    const Piece& piece = ((const Piece*)pieces)[k];
    const u64 to = piece.to, from = piece.from[0], bytes = piece.bytes, at = threadIdx.x % 8 * 8;
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
