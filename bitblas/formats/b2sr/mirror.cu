// Symmetry test on tiles: per chunk of CHUNK tiles, the hash difference of entries and mirror images.
// Hashes: kernels/scramble.cuh. A warp takes a chunk; lane r takes row r of a tile.
#include "formats/b2sr/tile.cuh"
#include "formats/csr/ranges.cuh"
#include "kernels/scramble.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
mirror(i64 n, i64 tile_rows, i64 tiles, const PTR_T* tile_ptr, const COL_T* tile_col, const word_t* bits, u64* sums) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;
  const i64 end = (chunk + 1) * CHUNK, stop = end < tiles ? end : tiles;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  u64 sum = 0;
  for (i64 tile = chunk * CHUNK + (threadIdx.x & 31) / ROW_LANES; tile < stop; tile += 32 / ROW_LANES) {
    const i64 top = range_of(tile_ptr, tile_rows, tile) * TILE, left = (i64)tile_col[tile] * TILE;
#pragma unroll
    for (int k = 0; k < LANE_ROWS; ++k) {
      const int r = lane * LANE_ROWS + k;
      const u64 row = scramble((u64)(top + r));
      for (u64 rest = tile_row_bits(bits, tile, r); rest; rest &= rest - 1)
        sum += unlike_mirror(row, scramble((u64)(left + __ffsll(rest) - 1)));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[chunk] = sum;
}
