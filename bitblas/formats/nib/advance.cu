// Advances on nibble rows, in the rounds of a device loop (formats/coded_rows.cuh).
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#include "formats/nib/walk.cuh"

template <class F> __device__ __forceinline__ void each_found(Found& of, F reached) {
#pragma unroll 1
  for (int k = 0; __any_sync(ALL_LANES, k < of.count); ++k) {
    const bool has = k < of.count;
    reached(has, has ? (i64)of.next() : 0, RANKED && has ? of.entry + k : 0);
  }
}
// The same, N at a time.
template <int N, class F> __device__ __forceinline__ void some_found(Found& of, F take) {
#pragma unroll 1
  for (int k = 0; __any_sync(ALL_LANES, k < of.count); k += N) {
    bool has[N];
    u32 j[N];
    i64 e[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      has[i] = k + i < of.count;
      j[i] = has[i] ? of.next() : 0, e[i] = RANKED && has[i] ? of.entry + k + i : 0;
    }
    take(has, j, e);
  }
}
#include "formats/coded_rows.cuh"

#ifdef KERNEL_rounds
// Small rounds of one advance along nibble rows: a group of LANES lanes pushes along a row.
#include "kernels/cluster.cuh"
#include "kernels/rounds.cuh"
#endif  // KERNEL_rounds

#ifdef KERNEL_worklist_rounds
// Small rounds of a loop body with element-wise kernels and one advance, along nibble rows.
// loop/codegen/cuda_kernels.py generates the text of the element-wise kernels.
#include "kernels/cluster.cuh"
#include "kernels/worklist_rounds.cuh"
#endif  // KERNEL_worklist_rounds

#ifdef KERNEL_advance
// Advance on nibble rows, one round of a device loop (kernels/advance_rows.cuh).
// LANES lanes decode a row together, a warp a segment of a long one.
// Rows that pull (WORDS only) are read by one lane each as long as many lanes have work, then by several lanes, a few
// rows at a time.
#define ADVANCE_BLOCKS (__CUDA_ARCH__ >= 900 && KIND != WORDS ? 4 : 3)  // with four, registers would be spilled
#define ADVANCE
#include "formats/coded_kernels.cuh"
#define ALONE 12    // rows per warp from which on each lane searches its own
#define TOGETHER 8  // lanes that share each of the other rows

struct PullRows : Search {
  // Whether u has an entry in row j, for the lanes with `needed`; called by the whole warp.
  __device__ __forceinline__ Hit search(i64 j, bool needed, const u64* u_bits) const {
    Scan alone;
    if (needed) alone = Scan(words, row_extent(heads, words, j), j, 0, 0);
    bool hit = false;
    while (__popc(__ballot_sync(ALL_LANES, alone.more())) >= ALONE) {
      hit = hits(alone, 0, u_bits) || hit;
      if (hit) alone.stop();
    }
    const auto start = [&](int owner) { return Walk<TOGETHER, false>(alone, owner); };
    const auto on = [&](Walk<TOGETHER, false>& walk, int lane) { return hits(walk, lane, u_bits); };
    hit = search_together<TOGETHER>(alone.more(), start, on) || hit;
    return {hit, 0, 0};
  }
};

#include "kernels/advance_rows.cuh"
#endif  // KERNEL_advance
