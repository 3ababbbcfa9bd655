// Count entries per segment of the pieces that several lanes share (binning.py), to locate values that differ.
// One warp per piece.
// before[mark[grade] ..]: the entries of a piece before each of its segments. total[p]: the entries of all segments of
// piece p.
#include "kernels/base.cuh"
#include "formats/cgr/code.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
counts(i64 n, i64 segment, const u32* words, const i64* begin, const u32* shape, const u32* piece, const u32* mark, u32* before,
       i64* total) {
  const i64 p = thread_number() / 32;
  if (p >= n) return;
  const u32 lane = threadIdx.x & 31;
  u32 grade = 0;
  while (p >= piece[grade + 1]) ++grade;
  const u32 later = shape[4 * p], runs = shape[4 * p + 1], here = shape[4 * p + 2], s = shape[4 * p + 3] + lane;
  u32 count = 0;
  if (lane < here) {
    const bool in_runs = s < runs;
    i64 at = begin[p] + (in_runs ? (i64)s * segment : later + (i64)(s - runs) * segment);
    count = gamma_at(words, at);
    if (in_runs) {
      u32 left = count;
      for (count = 0; left; --left) gamma_at(words, at), count += gamma_at(words, at) + LEAST;
    }
  }
  u32 upto = count;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const u32 below = __shfl_up_sync(ALL_LANES, upto, d);
    if (lane >= d) upto += below;
  }
  const u32 lanes = 32u >> grade;
  if (lane < lanes) before[mark[grade] + (p - piece[grade]) * lanes + lane] = upto - count;
  if (lane == 31) total[p] = upto;
}
