// Rounds of a device loop that take the frontiers of a multivector back from a stack, each column on its own: a cluster of
// blocks follows one column from its last frontier to the first, then the next column (column_rounds.cu is the way there).
#include "formats/csr/columns.cuh"
#include "kernels/frontier.cuh"

#ifdef KERNEL_clear_saved
#include "formats/bitmap/saved.cuh"
// The stack becomes empty.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) clear_saved(i64 n, Control control, SavedColumns saved) {
  await_previous();
  (void)n;
  if (!control.runs()) return;
  for (i64 c = thread_number(); c < saved.number; c += (i64)gridDim.x * BLOCK) saved.heights[c] = 0;
  if (thread_number() == 0) saved.numbers[0] = 0;
}
#endif  // KERNEL_clear_saved

#ifdef KERNEL_pop_saved
#include "formats/bitmap/saved.cuh"
// Take the last frontier into u, whose n words have no entries. values: of u, if `valued`.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pop_saved(i64 n, i64 stride, Control control, SavedColumns saved, u64* bits, u64* values, i64 valued) {
  await_previous();
  (void)n;
  const u64 top = saved.numbers[0];
  if (!runs_with(control.runs(), top) || top == 0) return;
  const i64 every = ((i64)gridDim.x * BLOCK + saved.number - 1) / saved.number;  // threads of a column
  for (i64 k = thread_number(); k < every * saved.number; k += (i64)gridDim.x * BLOCK) {
    const i64 c = k / every;
    const u32 *const ends = saved.ends_of(c), *const list = saved.list_of(c);
    const bool has = saved.heights[c] == top;
    for (i64 e = has ? ends[top - 1] + k % every : 0, end = has ? ends[top] : 0; e < end; e += every) {
      set_bit(bits, list[e] * stride + c);
      if (valued) set_bit(values, list[e] * stride + c);
    }
  }
  if (!is_last((u32*)(saved.numbers + 2))) return;
  for (i64 c = threadIdx.x; c < saved.number; c += BLOCK)
    if (saved.heights[c] == top) saved.heights[c] = top - 1;
  if (threadIdx.x == 0) saved.numbers[0] = top - 1;
}
#endif  // KERNEL_pop_saved

#ifdef KERNEL_enter_saved
#include "formats/bitmap/saved.cuh"
// Before the rounds: they run if the last frontier, in the `n` words of `bits`, has entries, which are dropped.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    enter_saved(i64 n, Control control, i64* rounds, SavedColumns saved, u64* bits) {
  await_previous();
  if (!control.runs()) return;
  if (thread_number() == 0) saved.numbers[1] = saved.numbers[0];
  for (i64 k = thread_number(); k < n; k += (i64)gridDim.x * BLOCK) {
    if (!bits[k]) continue;
    bits[k] = 0;
    poke(rounds + 1, (i64)1 << 62);
  }
}
#endif  // KERNEL_enter_saved

#ifdef KERNEL_to_columns
typedef UInt<BITS>::type line_t;  // of a bitmap's line, or of 64 positions of it
// Copy a vector column by column, `number` columns: leave_columns (column_rounds.cu) is the way back.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    to_columns(i64 n, i64 per_line, const i64* rounds, i64 number, const line_t* bits, const V_T* values, u32* to_bits,
               V_T* to_values) {
  await_previous();
  if (rounds[1] == 0) return;
  constexpr int COLUMNS = sizeof(V_T) > 4 ? 16 : 32;  // of a tile
  __shared__ V_T tiles[BLOCK / 32][COLUMNS][33];
  V_T(&tile)[COLUMNS][33] = tiles[threadIdx.x / 32];
  const i64 words = (n + 31) / 32;
  for (i64 first = thread_number() / 32 * 32; first < n; first += (i64)gridDim.x * BLOCK) {
    const i64 j = first + WARP_LANE;
    for (i64 w = 0; w < per_line; ++w) {
      const u64 has = j < n ? bits[j * per_line + w] : 0;
#pragma unroll
      for (int b0 = 0; b0 < BITS; b0 += 32) {
        u32 mine = 0;
#pragma unroll 4
        for (int b = 0; b < (BITS < 32 ? BITS : 32); ++b) {
          const u32 half = __ballot_sync(ALL_LANES, has >> (b0 + b) & 1);
          if (WARP_LANE == b) mine = half;
        }
        const i64 c = w * 64 + b0 + WARP_LANE;
        if (WARP_LANE < BITS && c < number) to_bits[c * words + first / 32] = mine;
      }
      if (!VALUES || !__any_sync(ALL_LANES, has != 0)) continue;
      for (int b0 = 0; b0 < BITS; b0 += COLUMNS) {
        const int count = BITS < COLUMNS ? BITS : COLUMNS;
#pragma unroll 4
        for (int row = 0; row < 32; ++row) {
          const u64 places = __shfl_sync(ALL_LANES, has, row);
          if (WARP_LANE < count && places >> (b0 + WARP_LANE) & 1)
            tile[WARP_LANE][row] = values[((first + row) * per_line + w) * BITS + b0 + WARP_LANE];
        }
        __syncwarp();
#pragma unroll 4
        for (int b = 0; b < count; ++b)
          if (has >> (b0 + b) & 1) to_values[32 * words * (w * 64 + b0 + b) + j] = tile[b][WARP_LANE];
        __syncwarp();
      }
    }
  }
}
#endif  // KERNEL_to_columns

#ifdef KERNEL_saved_rounds
// A round is: pop a frontier; t<frontier, replace> = A (+).(x) x; statements at the entries of the frontier (AT_SUM;
// codegen/cuda_kernels.py), which may write x. Neither t nor the frontier has entries after the last round, which finds the
// stack empty. sums, has: of a column, in the order of its list. x, and the vectors of the statements, are copies column
// by column, of `words` half words of bits each. EMPTY_WORD: one of the n words of vectors that the statements write only
// there.
#define SUMS 1
#include "formats/bitmap/lines.cuh"
#include "formats/bitmap/saved.cuh"

typedef CsrView<PTR_T, AnyColumn<PACKED, COL_T>> RowsOf;

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
    saved_rounds(i64 n, i64 words, i64* rounds, const i64* outermost, SavedColumns saved, Z_T* sums, u8* has,
                 RowsOf rows, Values a, const u32* all_x_bits, const U_T* all_x_values PARAMETERS) {
  await_previous();
  if (rounds[1] == 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) rounds[2] = 1;  // there is something to copy back
  __shared__ i64 stop_requested;  // in the first block of the cluster
  const u32 rank = rank_in_cluster(), clusters = gridDim.x / PEERS;
  const i64 me = (i64)rank * THREADS + threadIdx.x, everyone = (i64)PEERS * THREADS;
  for (i64 k = (i64)blockIdx.x * THREADS + threadIdx.x; k < n; k += (i64)gridDim.x * THREADS) { EMPTY_WORD(k) }
  const u32 warp = threadIdx.x / 32 * PEERS + rank, warps = WARPS * PEERS;
  const auto columns = rows.columns();
  for (i64 c = blockIdx.x / PEERS; c < saved.number; c += clusters) {
    const u32 *const list = saved.list_of(c), *const ends = saved.ends_of(c);
    Z_T* const sum_of = sums + c * saved.lines;
    u8* const has_sum = has + c * saved.lines;
    const u32* const x_bits = all_x_bits + c * words;
    const U_T* const x_values = all_x_values + 32 * c * words;
    const u32 height = saved.heights[c];
    meet();  // all have read it
    ListedRows<RowsOf> summed = {rows, list, warp, warps};
    u32 begin = height ? ends[height - 1] : 0, end = height ? ends[height] : 0;
    summed.start(begin, end);
    for (u32 level = height; level; --level) {
      const u32 before = level > 1 ? ends[level - 2] : 0;  // where the next one begins
      issue_load(before);
      if (me == 0) stop_requested = load_fresh(outermost + 3);
      while (summed.more()) {
        const auto line = summed.take();
        bool some;
        Z_T sum;
        sum_of_row(
            line, columns, a, c, some, sum, [&](u32 j) { return x_bits[j >> 5] >> (j & 31) & 1; },
            [&](u32 j) { return x_values[j]; });
        if (line.is && WARP_LANE % SUM_LANES == 0) sum_of[line.number] = sum, has_sum[line.number] = some;
      }
      summed.start(before, begin);
      meet();
      const bool stops = *at_peer(&stop_requested, 0) != 0;
      const i64 ahead = (i64)saved.numbers[1] - level;
      (void)ahead, (void)rounds;
      for (u32 k = begin + (u32)me; k < end; k += (u32)everyone) {
        const bool some_here = has_sum[k];
        const Z_T sum_here = sum_of[k];
        AT_SUM(32 * c * words + list[k])
      }
      meet();
      if (stops) return;
      end = begin, begin = before;
    }
    if (me == 0) saved.heights[c] = 0;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) saved.numbers[0] = 0;
}
#endif  // KERNEL_saved_rounds
