// Advances on CGR rows, in the rounds of a device loop (formats/coded_rows.cuh).
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#define TAKEN 2  // processing a column costs more than finding it
#include "formats/cgr/walk.cuh"
#define HAS_RANGES 1

template <class F> __device__ __forceinline__ void each_found(Found& of, F reached) {
#pragma unroll 1
  for (int k = 0; k < TAKEN; ++k) {
    const bool has = of.has(0);
    if (!__any_sync(ALL_LANES, has)) break;
    reached(has, of.at(0), of.number(k));
#pragma unroll
    for (int next = 1; next < TAKEN; ++next) of.some[next - 1] = of.some[next], of.column[next - 1] = of.column[next];
    of.some[TAKEN - 1] = false;
  }
}
// All of them together.
template <int N, class F> __device__ __forceinline__ void some_found(Found& of, F take) {
  static_assert(N == TAKEN, "a step asks for as many as a lane finds");
  i64 e[N];
#pragma unroll
  for (int i = 0; i < N; ++i) e[i] = of.number(i);
  if (__any_sync(ALL_LANES, of.has(0))) take(of.some, of.column, e);
}
#include "formats/coded_rows.cuh"

#ifdef KERNEL_rounds
// Small rounds of one advance along CGR rows: a group of LANES lanes pushes along a row.
#include "kernels/cluster.cuh"
#define KEEPS false  // registers would be spilled
#include "kernels/rounds.cuh"
#endif  // KERNEL_rounds

#ifdef KERNEL_worklist_rounds
// Small rounds of a loop body with element-wise kernels and one advance, along CGR rows.
// loop/codegen/cuda_kernels.py generates the text of the element-wise kernels.
#include "kernels/cluster.cuh"
#include "kernels/worklist_rounds.cuh"
#endif  // KERNEL_worklist_rounds

#ifdef KERNEL_advance
// Advance on CGR rows, one round of a device loop (kernels/advance_rows.cuh).
// LANES lanes read a row, a warp a part of a long one.
// Rows that pull (WORDS only) are read by one lane each; what is left after some steps is read by several lanes, a few
// rows at a time.
#define ADVANCE_BLOCKS 3  // blocks per multiprocessor: with four, registers would be spilled
#define ADVANCE
#include "formats/coded_kernels.cuh"
#define ALONE 8     // steps that each lane walks its own row
#define TOGETHER 8  // lanes that share a row afterwards

struct PullRows : Search {
  // Whether u has an entry in row j, for the lanes with `needed`; called by the whole warp.
  __device__ __forceinline__ Hit search(i64 j, bool needed, const u64* u_bits) const {
    Extent x = {0, 0};
    if (needed) x = row_extent(heads, words, j);
    Walk<1, false, true> alone(words, x, j, 0, 0);
    bool hit = false;
    for (int k = 0; k < ALONE && __any_sync(ALL_LANES, alone.more()); ++k) {
      hit = hits(alone, 0, u_bits) || hit;
      if (hit) alone.stop();
    }
    const auto start = [&](int owner) {
      const Extent all = {__shfl_sync(ALL_LANES, x.at, owner), __shfl_sync(ALL_LANES, x.end, owner)};
      const i64 row = __shfl_sync(ALL_LANES, j, owner);
      return Walk<TOGETHER, false, true>(words, all, row, 0, WARP_LANE & (TOGETHER - 1));
    };
    const auto on = [&](Walk<TOGETHER, false, true>& walk, int lane) { return hits(walk, lane, u_bits); };
    hit = search_together<TOGETHER>(alone.more(), start, on) || hit;
    return {hit, 0, 0};
  }
};

#include "kernels/advance_rows.cuh"
#endif  // KERNEL_advance
