// All rounds of a device loop on a multivector, each column on its own: a cluster of blocks runs one column until its
// frontier is empty, then the next one. Columns do not wait for each other, and a round costs a barrier of the cluster.
// While the loop runs, the bits of a column are consecutive: those that a product may not reach again (`closed`), of all
// columns. `order` lists the lines of a column in the order in which they are found: a frontier is a part of it.
#include "formats/csr/columns.cuh"
#include "kernels/frontier.cuh"
#if SUMS
#include "formats/bitmap/lines.cuh"
#endif
#include "formats/bitmap/saved.cuh"
typedef UInt<BITS>::type line_t;  // of a bitmap's line, or of 64 positions of it

// Of `number` columns of `lines` positions each: `words` half words of closed bits, and the list. counts: where the first
// frontiers end in the lists, then where they begin. front: the bits of the frontier whose values sums read.
struct ColumnsOf {
  u32* closed;
  u32* front;
  u32* order;
  u32* counts;
  i64 number, lines, words;

  __device__ __forceinline__ u32* bits_of(i64 c) const { return closed + c * words; }
  __device__ __forceinline__ u32* front_of(i64 c) const { return front + c * words; }
  __device__ __forceinline__ i64 first_of(i64 c) const { return 32 * c * words; }  // position of a column
  __device__ __forceinline__ u32* list_of(i64 c) const { return order + c * lines; }
};

#ifdef KERNEL_begin_columns
// Before the rounds of a nested loop, by one block: they run if the round around them does. saves: lists continue those of
// a stack.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    begin_columns(i64 n, Control control, i64 limit, i64* rounds, u32* counts, SavedColumns saved, i64 saves) {
  await_previous();
  const bool runs = control.runs();
  if (threadIdx.x == 0) {
    rounds[0] = rounds[2] = 0, rounds[1] = runs ? limit : 0;
    if (saves) saved.numbers[1] = saved.numbers[0];
  }
  for (i64 c = threadIdx.x; c < n; c += BLOCK)
    counts[c] = counts[n + c] = saves ? saved.ends_of(c)[saved.heights[c]] : 0;
}
#endif  // KERNEL_begin_columns

#ifdef KERNEL_enter_columns
// Transpose the bits of the mask and of the frontier, and list the frontier, which is left without entries.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    enter_columns(i64 n, i64 per_line, const i64* rounds, ColumnsOf columns, line_t* frontier, line_t* mask) {
  await_previous();
  if (rounds[0] >= rounds[1]) return;
  for (i64 first = thread_number() / 32 * 32; first < n; first += (i64)gridDim.x * BLOCK) {
    const i64 j = first + WARP_LANE;
    for (i64 w = 0; w < per_line; ++w) {
      const u64 found = j < n ? frontier[j * per_line + w] : 0, masked = j < n ? mask[j * per_line + w] : 0;
      if (found) frontier[j * per_line + w] = 0;
      if (found & masked) mask[j * per_line + w] = (line_t)(masked & ~found);  // the first round writes it again
#pragma unroll
      for (int b0 = 0; b0 < BITS; b0 += 32) {
        const u32 here = (u32)((found | masked) >> b0);
        u32 mine = 0, front = 0;
#pragma unroll 4
        for (int b = 0; b < (BITS < 32 ? BITS : 32); ++b) {
          const u32 half = __ballot_sync(ALL_LANES, here >> b & 1);
          const u32 of_front = FRONT ? __ballot_sync(ALL_LANES, (u32)(found >> b0) >> b & 1) : 0;
          if (WARP_LANE == b) mine = half, front = of_front;
        }
        const i64 c = w * 64 + b0 + WARP_LANE;
        if (WARP_LANE < BITS && c < columns.number) {
          columns.bits_of(c)[first / 32] = mine;
          if (FRONT) columns.front_of(c)[first / 32] = front;
        }
      }
      for (u64 todo = found; todo; todo &= todo - 1) {
        const i64 c = w * 64 + __ffsll(todo) - 1;
        const u32 at = atomicAdd(columns.counts + c, 1u);
        if ((i64)at < columns.lines) columns.list_of(c)[at] = (u32)j;
      }
    }
  }
}
#endif  // KERNEL_enter_columns

#ifdef KERNEL_leave_columns
// Transpose the closed bits into those of the mask, and the values that the rounds have written for it. VALUES 1: of
// entries that it has not had, 2: of all.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    leave_columns(i64 n, i64 per_line, const i64* rounds, ColumnsOf columns, line_t* mask, const V_T* by_column,
                  V_T* values) {
  await_previous();
#if VALUES
  constexpr int COLUMNS = sizeof(V_T) > 4 ? 16 : 32;  // of a tile
  __shared__ V_T tiles[BLOCK / 32][COLUMNS][33];
  V_T(&tile)[COLUMNS][33] = tiles[threadIdx.x / 32];
#else
  (void)by_column, (void)values;
#endif
  if (rounds[2] == 0) return;
  for (i64 first = thread_number() / 32 * 32; first < n; first += (i64)gridDim.x * BLOCK) {
    const i64 j = first + WARP_LANE;
    for (i64 w = 0; w < per_line; ++w) {
      u64 mine = 0;
#pragma unroll
      for (int b0 = 0; b0 < BITS; b0 += 32) {
        const i64 c = w * 64 + b0 + WARP_LANE;
        const u32 half = WARP_LANE < BITS && c < columns.number ? columns.bits_of(c)[first / 32] : 0;
#pragma unroll 4
        for (int row = 0; row < 32; ++row) {
          const u32 line = __ballot_sync(ALL_LANES, half >> row & 1);
          if (WARP_LANE == row) mine |= (u64)line << b0;
        }
      }
#if VALUES
      const u64 added = j >= n ? 0 : VALUES == 1 ? mine & ~(u64)mask[j * per_line + w] : mine;
      for (int b0 = 0; b0 < BITS; b0 += COLUMNS) {
        const int count = BITS < COLUMNS ? BITS : COLUMNS;
        __syncwarp();
#pragma unroll 4
        for (int b = 0; b < count; ++b)
          if (added >> (b0 + b) & 1) tile[b][WARP_LANE] = by_column[columns.first_of(w * 64 + b0 + b) + j];
        __syncwarp();
#pragma unroll 4
        for (int row = 0; row < 32; ++row) {
          const u64 places = __shfl_sync(ALL_LANES, added, row);
          if (WARP_LANE < count && places >> (b0 + WARP_LANE) & 1)
            values[((first + row) * per_line + w) * BITS + b0 + WARP_LANE] = tile[WARP_LANE][row];
        }
      }
#endif
      if (j < n) mask[j * per_line + w] = (line_t)mine;
    }
  }
}
#endif  // KERNEL_leave_columns

#ifdef KERNEL_column_rounds
// A round is: the fused element-wise statements at the entries of the frontier (AT_ENTRY; codegen/cuda_kernels.py), then
// t<!mask> = A' any.pair u, presence only, where the mask has had all entries of frontiers. LANES lanes share a row.
// SUMS: and t gets values, the sums of the products along the rows of A', taken at the lines that have been found.
// SAVES: each round begins with a push of its frontier on a stack, whose lists are those of the columns.
// COPIES: each block has a copy of the closed bits in shared memory. Of several blocks these are out of date in what
// others have found in this round, so that `closed` in global memory decides.
#define AT_ONCE 4  // rows of which a lane loads an entry before it uses the first
#define ROWS (AT_ONCE * GROUPS)  // at most 32

// The values of a column: at(p) is that of the row that is processed.
template <class T> struct OfColumn {
  T* value;
  __device__ __forceinline__ T& operator[](i64) const { return *value; }
};
#define OF_COLUMN(T, values) (OfColumn<T>{(values) + columns.first_of(c) + row})

// What a round has found. stops: whether a stop is requested.
struct Found {
  u32 entries, stops;
};

typedef CsrView<PTR_T, AnyColumn<PACKED, COL_T>> RowsOf;
#if SUMS
// Sums along `rows` of the values of the frontier; cells: values of all columns, at the lines that `front` has.
struct SumsOf {
  RowsOf rows;
  Values a;
  const Z_T* first;  // the values of the first frontiers, in the bitmap
  Z_T* cells;
};
// The value of the entry at the only position that statements read.
struct OneValue {
  Z_T value;
  __device__ __forceinline__ Z_T operator[](i64) const { return value; }
};
#define SUMS_ARGUMENTS , SumsOf sums
#else
#define SUMS_ARGUMENTS
#endif

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
    column_rounds(i64 n, i64 stride, i64* rounds, i64* outermost, ColumnsOf columns, SavedColumns saved, i64 statement,
                  u64* frontier, RowsOf rows SUMS_ARGUMENTS PARAMETERS) {
  await_previous();
  const i64 begun = rounds[0], limit = rounds[1];
  if (begun >= limit) return;
  __shared__ Found all_found[3];  // by the rounds in rotation; those of the first block of the cluster
#if COPIES
  extern __shared__ __align__(16) u32 copy[];
#endif
  const u32 rank = rank_in_cluster(), clusters = gridDim.x / PEERS;
  const bool leads = rank == 0 && threadIdx.x == 0;
  Found* const found = at_peer(all_found, 0);
  const auto of_rows = rows.columns();
  const u32 warp = threadIdx.x / 32 * PEERS + rank, warps = WARPS * PEERS;
  const i64 me = (i64)rank * THREADS + threadIdx.x, everyone = (i64)PEERS * THREADS;
  for (i64 c = blockIdx.x / PEERS; c < columns.number; c += clusters) {
    u32* const list = columns.list_of(c);
    u32* const stored = columns.bits_of(c);
#if COPIES
    u32* const closed = copy;
    for (i64 h = threadIdx.x; h < columns.words; h += THREADS) copy[h] = stored[h];
#else
    u32* const closed = stored;
#endif
    if (leads) all_found[0] = all_found[1] = all_found[2] = {};
    meet();
    u32 begin = columns.counts[columns.number + c], end = columns.counts[c], turn = 0;
    i64 done = 0;
#if SAVES
    // Frontiers that were saved when this column had none.
    const u64 saved_before = saved.numbers[1];
    u32* const ends = saved.ends_of(c);
    for (i64 k = saved.heights[c] + 1 + me; k <= (i64)saved_before; k += everyone) ends[k] = begin;
    // A stack has room for each line once.
    const auto check_room = [&](i64 rounds_done) {
      if (begin == end || (end <= columns.lines && (i64)saved_before + rounds_done < columns.lines)) return;
      if (leads) report_fault(outermost + 5, 2 * statement + 1, end);
      end = begin;
    };
    check_room(0);
#else
    (void)saved, (void)statement;
#endif
#if SUMS
    u32* const front = columns.front_of(c);
    Z_T* const cells = sums.cells + columns.first_of(c);
    const auto of_sums = sums.rows.columns();
    ListedRows<RowsOf> summed = {sums.rows, list, warp, warps};
    u32 old = begin;  // where the previous frontier begins
    for (u32 k = begin + (u32)me; k < end; k += (u32)everyone) cells[list[k]] = sums.first[(i64)list[k] * stride + c];
    meet();
#endif
    for (bool stops = false; begin != end && begun + done < limit && !stops; ++done) {
      Found* const now = found + turn;
      turn = turn == 2 ? 0 : turn + 1;
      if (leads) {
        found[turn] = {};
        now->stops = load_fresh(outermost + 3) != 0;
      }
#if SAVES
      if (leads) ends[saved_before + done + 1] = end;
#endif
#if SUMS
      for (u32 k = old + (u32)me; k < begin; k += (u32)everyone) {
        const u32 j = list[k];
        atomicAnd(front + (j >> 5), ~(1u << (j & 31)));
      }
#endif
      const u32 count = end - begin;
#if COPIES && PEERS > 1
      for (u32 k = threadIdx.x; k < count; k += THREADS) {
        const u32 j = list[begin + k];
        atomicOr(copy + (j >> 5), 1u << (j & 31));
      }
#endif
      u32 share = (count + warps - 1) / warps;  // rows that a warp takes at a time
      share = share < ROWS ? share : ROWS;
      const auto has_row = [&](u32 first) { return WARP_LANE < share && first + WARP_LANE < count; };
      const auto row_at = [&](u32 first) { return has_row(first) ? list[begin + first + WARP_LANE] : 0; };
      // Rows of the next turns are loaded before those of this one are used.
      const u32 step = warps * share;
      u32 row = row_at(warp * share), next_row = row_at(warp * share + step);
      PTR_T from = rows.ptr[row], until = rows.ptr[row + 1];
      for (u32 first = warp * share; first < count; first += step) {
        const bool mine = has_row(first);
        const u32 later_row = row_at(first + 2 * step);
        const PTR_T next_from = rows.ptr[next_row], next_until = rows.ptr[next_row + 1];
        issue_load(later_row), issue_load(next_from), issue_load(next_until);
        if (!mine) until = from;
#if STATEMENTS
        if (mine) {
          const i64 rounds[] = {begun}, ahead = done;
          (void)rounds, (void)ahead;
#if SUMS
          const OneValue own_value = {cells[row]};
          (void)own_value;
#endif
          AT_ENTRY((i64)row * stride + c)
        }
        __syncwarp();
#endif
#if SUMS
        if (mine) atomicOr(front + (row >> 5), 1u << (row & 31));
#endif
        PTR_T e[AT_ONCE], stop[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
          e[k] = __shfl_sync(ALL_LANES, from, k * GROUPS + WARP_LANE / LANES) + WARP_LANE % LANES;
          stop[k] = __shfl_sync(ALL_LANES, until, k * GROUPS + WARP_LANE / LANES);
        }
        for (bool more = true; more;) {
          // Loads and atomics are used when all are in flight.
          u32 j[AT_ONCE], word[AT_ONCE], before = 0, all = 0;
          bool fresh[AT_ONCE];
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) j[k] = e[k] < stop[k] ? (u32)of_rows[e[k]] : 0;
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) word[k] = e[k] < stop[k] ? peek((const u32*)closed + (j[k] >> 5)) : ~0u;
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            const u32 bit = 1u << (j[k] & 31);
            fresh[k] = !(word[k] & bit);
            if (fresh[k]) word[k] = atomicOr(closed + (j[k] >> 5), bit);
          }
#if COPIES && PEERS > 1
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            const u32 bit = 1u << (j[k] & 31);
            fresh[k] = fresh[k] && !(word[k] & bit);
            if (fresh[k]) word[k] = atomicOr(stored + (j[k] >> 5), bit);
          }
#endif
          bool left = false;
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            fresh[k] = fresh[k] && !(word[k] >> (j[k] & 31) & 1);
            const u32 who = __ballot_sync(ALL_LANES, fresh[k]);
            word[k] = all + __popc(who & ((1u << WARP_LANE) - 1u)), all += __popc(who);
            e[k] += LANES, left = left || e[k] < stop[k];
          }
          more = __any_sync(ALL_LANES, left);
          if (!all) continue;
          if (WARP_LANE == 0) before = atomicAdd(&now->entries, all);
          before = end + __shfl_sync(ALL_LANES, before, 0);
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k)
            if (fresh[k] && (!SAVES || before + word[k] < (u32)columns.lines)) list[before + word[k]] = j[k];
        }
        row = next_row, next_row = later_row, from = next_from, until = next_until;
      }
      meet();
#if SUMS
      old = begin;
#endif
      begin = end, end += now->entries, stops = now->stops;
#if SAVES
      check_room(done + 1);
#endif
#if SUMS
      for (summed.start(begin, end); summed.more();) {
        const auto line = summed.take();
        bool some;
        Z_T sum;
        sum_of_row(
            line, of_sums, sums.a, c, some, sum, [&](u32 j) { return front[j >> 5] >> (j & 31) & 1; },
            [&](u32 j) { return cells[j]; });
        if (line.is && WARP_LANE % SUM_LANES == 0) cells[line.row] = sum;
      }
      meet();
#endif
    }
#if SAVES
    if (leads && done) {
      saved.heights[c] = (u32)(saved_before + done);
      atomicMax((u64*)saved.numbers, saved_before + (u64)done);
    }
#endif
    // A frontier that no round has processed is not closed.
    for (u32 k = begin + (u32)me; k < end; k += (u32)everyone) {
      const u32 j = list[k];
      atomicAnd((PEERS > 1 ? stored : closed) + (j >> 5), ~(1u << (j & 31)));
      set_bit(frontier, (i64)j * stride + c);
    }
    meet();
#if COPIES && PEERS == 1
    for (i64 h = threadIdx.x; h < columns.words; h += THREADS) stored[h] = copy[h];
#endif
    if (leads && done) atomicMax((u64*)rounds + 2, (u64)(begun + done));
  }
}
#endif  // KERNEL_column_rounds
