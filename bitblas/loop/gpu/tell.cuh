// Report the end of a loop to the host: the kernel that ends it writes the rounds and the scalars, so that the host continues
// while the graph finishes. pieces: those of move.cu whose destination is the host, of eight words at most.
#define PIECE_WORDS 10
#define PIECE_FROM 1
#define PIECE_BYTES 4

// Called by the whole block. told: the word that the host polls.
__device__ __forceinline__ void tell_host(const u64* pieces, i64 count, u64* told) {
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
  *(volatile u64*)told = 1;
}
