// CGR rows for an advance (formats/coded_rows.cuh).
#define PER 1  // positions per unit
#include "kernels/reach.cuh"
#include "formats/cgr/range.cuh"
#define TAKEN 2  // processing a column costs more than finding it
#include "formats/cgr/walk.cuh"
#define OWN_TYPE i64
#define OWN segment
#define ROW_WALK(G) Walk<G, RANKED, false>(words, all, segment, x.unit, number, lane)
#define PART_WALK(m) Walk<32, RANKED, false>(words, mark + MARK * (m), segment, i, number, lane)

template <class F> __device__ __forceinline__ void each_found(Found& of, F reached) {
#pragma unroll 1
  for (int k = 0; k < TAKEN; ++k) {
    const bool has = of.has[0];
    if (!__any_sync(ALL_LANES, has)) break;
    reached(has, of.at[0], of.entry + k);
#pragma unroll
    for (int next = 1; next < TAKEN; ++next) of.has[next - 1] = of.has[next], of.at[next - 1] = of.at[next];
    of.has[TAKEN - 1] = false;
  }
}
// All of them together.
template <int N, class F> __device__ __forceinline__ void some_found(Found& of, F take) {
  static_assert(N == TAKEN, "a step asks for as many as a lane finds");
  i64 e[N];
#pragma unroll
  for (int i = 0; i < N; ++i) e[i] = of.entry + i;
  if (__any_sync(ALL_LANES, of.has[0])) take(of.has, of.at, e);
}
#include "formats/coded_rows.cuh"
