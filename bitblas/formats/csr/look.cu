// Sample a matrix by rows to estimate its structure (formats/sampling.py): tile fill, gaps, row lengths, and search
// depth.
// A block does one of three things, by its number. The first `balls` grow a ball around a vertex that an evenly spaced
// edge leaves. The next ones inspect `samples` entries, a warp each. The last ones read row pointers, in `ranges`
// ranges of rows.
// Output: sizes of balls; ends: per range of rows; seen: per sampled entry.
#include "formats/csr/ball.cuh"
#include "formats/csr/search.cuh"
#include "kernels/scramble.cuh"

// Sample one entry: number of entries in its tile of size 4, 8, 16, 32, 64; bit length of its column; in 6 bits from
// bit 8 on, bit length of its gap from the previous entry of its row, less 1 (for the first of a row: of twice its
// distance from the diagonal; formats/nib); above them 1 if it is among four consecutive columns, 2 if it is the first
// of them (formats/cgr).
__device__ __forceinline__ void look_around(const PTR_T* ptr, const Column& column, i64 rows, i64 row, i64 e,
                                            u16* seen) {
  const i64 col = column[e], low = col & ~63LL, end = (row | 63) + 1 < rows ? (row | 63) + 1 : rows;
  const int lane = threadIdx.x & 31;
  u64 counts = 0;  // 12 bits each: entries that share a tile of 4, of 8 but not of 4, ..
  for (i64 r = (row & ~63LL) + lane; r < end; r += 32) {
    const i64 stop = ptr[r + 1];
    for (i64 e = lower_bound(column, ptr[r], stop, low); e < stop; ++e) {
      const i64 there = column[e];
      if (there - low > 63) break;
      const u32 apart = (u32)((r ^ row) | (there ^ col));
      counts += 1ull << 12 * ((apart > 3) + (apart > 7) + (apart > 15) + (apart > 31));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) counts += __shfl_xor_sync(ALL_LANES, counts, d);
  u32 sum = 0;
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    sum += (u32)(counts >> 12 * k) & 4095;
    if (lane == k) seen[k] = (u16)sum;
  }
  if (lane == 5) {
    const bool first = e == (i64)ptr[row];
    const i64 apart = col - (first ? row : (i64)column[e - 1] + 1);
    const int gap = 64 - __clzll(first ? apart < 0 ? -2 * apart - 1 : 2 * apart : apart);
    i64 low_end = e, high_end = e + 1;  // run of consecutive columns around it, as far as four need
    while (low_end > (i64)ptr[row] && e - low_end < 3 && (i64)column[low_end - 1] == col - (e - low_end) - 1) --low_end;
    while (high_end < (i64)ptr[row + 1] && high_end - e < 4 && (i64)column[high_end] == col + (high_end - e)) ++high_end;
    const int run = high_end - low_end < 4 ? 0 : low_end == e ? 2 : 1;
    seen[5] = (u16)(64 - __clzll(col) | gap << 8 | run << 14);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
look(i64 n, i64 rows, i64 nvals, const PTR_T* ptr, const Column::stored* col, i64 width, i64 balls, i64 samples,
     i64 ranges, i64* sizes, i64* ends, u16* seen) {
  (void)n;
  const Column column(col, width);
  const i64 sampling = (samples + BLOCK / 32 - 1) / (BLOCK / 32);
  i64 unit = blockIdx.x;
  if (unit < balls) {
    grow_ball(ptr, column, range_of(ptr, rows, (2 * unit + 1) * nvals / (2 * balls)), sizes + unit * (HOPS + 1));
    return;
  }
  unit -= balls;
  if (unit < sampling) {
    const i64 k = unit * (BLOCK / 32) + threadIdx.x / 32;
    if (k >= samples) return;
    const i64 first = k * nvals / samples, next = (k + 1) * nvals / samples;  // one of these, chosen by hash
    const i64 e = first + (i64)(scramble((u64)k) % (u64)(next - first));
    look_around(ptr, column, rows, range_of(ptr, rows, e), e, seen + 6 * k);
    return;
  }
  unit -= sampling;
  __shared__ i64 heads[BLOCK / 32], longest[BLOCK / 32];
  i64 head = 0, most = 0;
  for (i64 r = unit * rows / ranges + threadIdx.x; r < (unit + 1) * rows / ranges; r += BLOCK) {
    const i64 length = (i64)ptr[r + 1] - (i64)ptr[r];
    head += length < HEAD ? length : HEAD;
    most = length > most ? length : most;
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const i64 other = __shfl_xor_sync(ALL_LANES, most, d);
    head += __shfl_xor_sync(ALL_LANES, head, d);
    most = other > most ? other : most;
  }
  if ((threadIdx.x & 31) == 0) heads[threadIdx.x / 32] = head, longest[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x) return;
#pragma unroll
  for (int warp = 1; warp < BLOCK / 32; ++warp) {
    head += heads[warp];
    most = longest[warp] > most ? longest[warp] : most;
  }
  ends[2 * unit] = head;
  ends[2 * unit + 1] = most;
}
