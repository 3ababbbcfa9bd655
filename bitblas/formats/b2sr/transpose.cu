// Transpose the bits of tiles: tile k of the result is the transpose of tile source[k].
// ORDER = 0 writes the bits. ORDER = 1 writes, for each entry of the transpose, its position in the original tiles. A
// lane takes a row (two for T = 64). Bits move by butterfly exchanges: rows and columns whose numbers differ in one
// bit swap.
// value_ptr, t_value_ptr: ranks of the original tiles and of the result's (ORDER); t_bits, places: output.
#include "formats/b2sr/tile.cuh"

#if TILE == 64
typedef u64 bits_t;
#else
typedef u32 bits_t;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
transpose(i64 n, const PTR_T* source, const word_t* bits, const PLACE_T* value_ptr, const PLACE_T* t_value_ptr,
     word_t* t_bits, PLACE_T* places) {
  const i64 tile = thread_number() / ROW_LANES;
  const int lane = threadIdx.x & (ROW_LANES - 1);
  if (tile >= n) return;
  const u32 group = group_mask<ROW_LANES>();
  const i64 from = source[tile];
  bits_t row[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) row[k] = (bits_t)tile_row_bits(bits, from, lane * LANE_ROWS + k);
#if ORDER
  __shared__ bits_t straight[BLOCK * LANE_ROWS];
  __shared__ u32 before[BLOCK * LANE_ROWS];  // entries of the tile before each row
  const int head = threadIdx.x / ROW_LANES * TILE;
  u32 mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  u32 below = group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    straight[head + lane * LANE_ROWS + k] = row[k];
    before[head + lane * LANE_ROWS + k] = below;
    below += __popcll(row[k]);
  }
  __syncwarp(group);
#endif
#pragma unroll
  for (int d = TILE / 2; d; d >>= 1) {
    const bits_t low = (bits_t)(~0ull / ((1ull << d) + 1));  // columns whose number has bit d clear
    if (d < LANE_ROWS) {
      const bits_t upper = row[0], lower = row[LANE_ROWS - 1];
      row[0] = (upper & low) | ((lower & low) << d);
      row[LANE_ROWS - 1] = ((upper >> d) & low) | (lower & ~low);
    } else {
#pragma unroll
      for (int k = 0; k < LANE_ROWS; ++k) {
        const bits_t other = shuffle_xor(group, row[k], d / LANE_ROWS);
        row[k] = (lane * LANE_ROWS) & d ? ((other >> d) & low) | (row[k] & ~low) : (row[k] & low) | ((other & low) << d);
      }
    }
  }
#if ORDER
  mine = 0;
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) mine += __popcll(row[k]);
  i64 place = (i64)t_value_ptr[tile] + group_sum_below<ROW_LANES>(mine);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k)
    for (bits_t rest = row[k]; rest; rest &= rest - 1) {
      const int r = head + __ffsll(rest) - 1;
      const bits_t left = straight[r] & (((bits_t)1 << (lane * LANE_ROWS + k)) - 1);
      places[place++] = (PLACE_T)((i64)value_ptr[from] + before[r] + __popcll(left));
    }
#elif TILE == 4
  u32 whole = row[0] << (4 * lane);
  whole |= shuffle_xor(group, whole, 1);
  whole |= shuffle_xor(group, whole, 2);
  if (lane == 0) t_bits[tile] = (u16)whole;
#else
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) ((row_t*)t_bits)[tile * TILE + lane * LANE_ROWS + k] = (row_t)row[k];
#endif
}
