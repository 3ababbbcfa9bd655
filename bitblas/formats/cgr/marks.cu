// Marks of the parts of long rows, `size` words each. One warp per row rows[h], whose first part is number first[h].
// A mark has, for the intervals and then for the residuals that begin in the part: the start of the first segment, the
// number of segments, and the entries of the row before them.
#include "formats/cgr/walk.cuh"

// Segments of an area that begin before bit `limit`.
__device__ __forceinline__ i64 begun(i64 area, i64 segments, i64 segment, i64 limit) {
  if (limit <= area) return 0;
  const i64 found = (limit - area - 1) / segment + 1;
  return found < segments ? found : segments;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 3)
marks(i64 n, i64 segment, const i64* heads, const u32* words, i64 size, const i64* rows, const i64* first, i64* begin) {
  const i64 hub = thread_number() / 32;
  if (hub >= n) return;
  const int lane = threadIdx.x & 31;
  const Extent x = row_extent(heads, words, rows[hub]);
  const i64 width = 32 * size, parts = (words_of(x) + size - 1) / size;
  i64 place = x.at, before = 0;
  for (int kind = 0; kind < 2; ++kind) {
    const i64 segments = (i64)gamma_at(words, place) + 1, area = place;
    i64 end = 0;
    for (i64 s = 0; s < segments; s += 32) {
      const i64 mine = s + lane;
      i64 at = area + mine * segment, count = 0;
      if (mine < segments) {
        count = gamma_at(words, at);
        if (!kind) {
          u32 left = (u32)count;
          for (count = 0; left; --left) gamma_at(words, at), count += (i64)gamma_at(words, at) + LEAST;
        }
      }
      i64 upto = count;
#pragma unroll
      for (int d = 1; d < 32; d <<= 1) {
        const i64 below = __shfl_up_sync(ALL_LANES, upto, d);
        if (lane >= d) upto += below;
      }
      // The first segment of a part determines how many entries precede it.
      const i64 part = mine < segments ? (area + mine * segment - x.at) / width : 0;
      if (mine < segments && begun(area, segments, segment, x.at + part * width) == mine)
        begin[MARK * (first[hub] + part) + 3 * kind + 2] = before + upto - count;
      before += __shfl_sync(ALL_LANES, upto, 31);
      end = __shfl_sync(ALL_LANES, at, (int)((segments - 1) & 31));
    }
    for (i64 part = lane; part < parts; part += 32) {
      const i64 low = begun(area, segments, segment, x.at + part * width);
      const i64 high = part + 1 < parts ? begun(area, segments, segment, x.at + (part + 1) * width) : segments;
      i64* mark = begin + MARK * (first[hub] + part) + 3 * kind;
      mark[0] = area + low * segment, mark[1] = high - low;
      if (low == high) mark[2] = 0;
    }
    place = end;
  }
}
