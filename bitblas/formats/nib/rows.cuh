// Nibble rows for an advance (formats/coded_rows.cuh).
#define PER 1  // positions per unit
#include "kernels/reach.cuh"
#include "formats/nib/walk.cuh"
#define OWN_TYPE const i64*
#define OWN mark_end
#define ROW_WALK(G) Walk<G, RANKED>(all, x.unit, number)
#define PART_WALK(m) Walk<32, RANKED>(mark + 3 * (m), mark_end[m], number)

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
