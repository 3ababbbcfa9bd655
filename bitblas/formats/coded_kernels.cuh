// Kernels of coded rows (coded.py), for each code. Define PULL, PUSH, LINES, MIRROR, HUB_COLUMNS or ADVANCE, and include
// after the code's walk.cuh, which defines
// - row_extent and words_of: the units of a row, and their number of words; first_part: what a pull searches of a long
//   row before its parts
// - Walk<G, NUMBERED, RANGES>: G lanes walk through a row, or from a mark (MARK numbers) through a part of a long one,
//   and number its entries. more(), stop(), and step(words, lane, found), which all lanes of the warp call together
// - Found: what a lane finds in a step. has(k), at(k) and number(k): whether there is a k-th column (of FOUND), the
//   column, and the number of its entry; each(found, f) for all of them. With RANGES also `length` columns from `from`
//   on, and `entry`, the number of the first; HAS_RANGES: the code has some.

#ifdef PULL
// Pull SpMV: w<mask, accum, replace> = A (+).(x) u. LANES lanes read a row, and stop at a terminal value.
// rows.begin: heads of groups of rows; of parts of long rows (row_stride 1), marks. `longest` is in words.
// PullWalk: how a row is walked. take_ranges(found, sum, a, row, u) adds the ranges of lanes.

extern "C" __global__ void __launch_bounds__(BLOCK, PULL_BLOCKS)
    pull(i64 n, i64 longest, RowsView<i64> rows, const u32* words, const PLACE_T* value_ptr, Values a,
         VectorView<U_T> u, MaskView mask, ARGUMENT(Z_T) product, Epilogue to) {
  Row of(n, rows, mask, to.t.bits);
  PullWalk walk;
#if KIND == WORDS && U_FULL
  bool filled = true;  // a part belongs to a nonempty row
#endif
  if (of.open) {
    const i64 number = RANKED ? (i64)value_ptr[of.row] : 0;
    if (rows.row_stride) {
      walk = PullWalk(words, rows.begin + MARK * of.unit, of.row, number, of.lane);
    } else {
      Extent x = row_extent(rows.begin, words, of.row);
#if KIND == WORDS && U_FULL
      filled = x.at < x.end;
#endif
      if (words_of(x) > longest) of.hub = !PRESENCE, x = PRESENCE ? first_part(x, longest) : Extent{x.at, x.at};
      walk = PullWalk(words, x, of.row, number, of.lane);
    }
  }
  (void)a;
  Sum x = {false, IDENTITY, 0};
#if KIND == WORDS && U_FULL
  x.some = of.open && filled;
#else
  while (__any_sync(ALL_LANES, walk.more())) {
    PullWalk::Found found;
    walk.step(words, of.lane, found);
#if HAS_RANGES
    take_ranges(found, x, a, of.row, u);
#endif
    bool has[PullWalk::FOUND];
    u32 j[PullWalk::FOUND];
#pragma unroll
    for (int k = 0; k < PullWalk::FOUND; ++k) has[k] = found.has(k), j[k] = found.at(k);
    x.take(has, j, [&](int k) { return RANKED ? a.at(found.number(k)) : a.iso; }, a.iso, of.row, u);
#if KIND == WORDS || (KIND == VALUES && HAS_TERMINAL)
    if (LANES == 1 ? x.done() : (__ballot_sync(ALL_LANES, x.done()) & group_mask<LANES>()) != 0) walk.stop();
#endif
  }
#endif
  end_row(of, x, product, to);
}
#endif  // PULL

#ifdef PUSH
// Push SpMV: t = A' (+).(x) u along the rows where u has an entry. LANES lanes share a row.
// push_ranges(found, row, t, mask, reach) pushes the ranges of lanes; reach(i, j, e): entry e, of row i and column j.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push(i64 n, i64 longest, RowsView<i64> rows, const u32* words, const PLACE_T* value_ptr, Values a,
         VectorView<U_T> u, MaskView mask, ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const i64 row = rows.row_stride && unit < n ? rows.row_of[unit] : unit;
  typedef Walk<LANES, RANKED, true> Lanes;
  Lanes walk;
  if (unit < n && u.has(row)) {
    const i64 number = RANKED ? (i64)value_ptr[row] : 0;
    if (rows.row_stride) {
      walk = Lanes(words, rows.begin + MARK * unit, row, number, lane);
    } else {
      Extent x = row_extent(rows.begin, words, row);
      if (words_of(x) > longest) x.end = x.at;  // a long row: its parts are processed by another launch
      walk = Lanes(words, x, row, number, lane);
    }
  }
  const auto reach = [&](i64 i, i64 j, i64 e) {
    if (!mask.allows(j)) return;
    if (KIND == WORDS) {
      if (!bit_now(t.bits, j)) mark(t.bits, j);
    } else {
      scatter(t.bits, t.values, j, mul(RANKED ? a.at(e) : A_T(a.iso), u.at(i), j, i));
    }
  };
  while (__any_sync(ALL_LANES, walk.more())) {
    Found found;
    walk.step(words, lane, found);
#if HAS_RANGES
    push_ranges(found, row, t, mask, reach);
#endif
    each(found, [&](i64 j, i64 e) { reach(row, j, e); });
  }
}
#endif  // PUSH

#ifdef LINES
// Products with a multivector. `longest` is in words. Define PULL_LINES or PUSH_LINES in addition.
typedef Walk<LANES, RANKED> LinesWalk;
#include "formats/bitmap/walked.cuh"

__device__ __forceinline__ LinesWalk lines_walk(const RowsView<i64>& rows, const u32* words, const PLACE_T* value_ptr,
                                                i64 longest, i64 unit, i64 row, int lane) {
  const i64 number = RANKED ? (i64)value_ptr[row] : 0;
  if (rows.row_stride) return LinesWalk(words, rows.begin + MARK * unit, row, number, lane);
  Extent x = row_extent(rows.begin, words, row);
  if (words_of(x) > longest) x.end = x.at;
  return LinesWalk(words, x, row, number, lane);
}

#ifdef PULL_LINES
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    pull_lines(i64 n, i64 longest, RowsView<i64> rows, const u32* words, const PLACE_T* value_ptr, Values a,
               i64 per_line, u64 last, LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed,
               i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const auto begin = [&](i64 unit, i64 row, int lane) {
    return lines_walk(rows, words, value_ptr, longest, unit, row, lane);
  };
  pull_along(n, rows, words, begin, a, per_line, last, x, mask, nodes, t);
}
#endif  // PULL_LINES

#ifdef PUSH_LINES
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_lines(i64 n, i64 longest, RowsView<i64> rows, const u32* words, const PLACE_T* value_ptr, Values a,
               i64 per_line, u64 last, LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed,
               i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  (void)a, (void)nodes;
  const auto begin = [&](i64 unit, i64 row, int lane) {
    return lines_walk(rows, words, value_ptr, longest, unit, row, lane);
  };
  push_along(n, rows, words, begin, per_line, last, x, mask, t);
}
#endif  // PUSH_LINES
#endif  // LINES

#ifdef MIRROR
// Symmetry test: per group of rows, the hash difference of entries and their mirror images (kernels/views.cuh). A warp
// walks one row after the other.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    mirror(i64 n, i64 rows, const i64* heads, const u32* words, u64* sums) {
  const i64 group = thread_number() / 32;
  if (group >= n) return;
  const i64 first = group * GROUP_ROWS, end = first + GROUP_ROWS < rows ? first + GROUP_ROWS : rows;
  const int lane = threadIdx.x & 31;
  u64 sum = 0;
  for (i64 row = first; row < end; ++row) {
    const u64 left = scramble((u64)row);
    Walk<32, false> walk(words, row_extent(heads, words, row), row, 0, lane);
    while (__any_sync(ALL_LANES, walk.more())) {
      Found found;
      walk.step(words, lane, found);
#pragma unroll
      for (int k = 0; k < walk.FOUND; ++k)
        if (found.has(k)) sum += unlike_mirror(left, scramble((u64)found.at(k)));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if (lane == 0) sums[group] = sum;
}
#endif  // MIRROR

#ifdef HUB_COLUMNS
// Hub columns for pulls: of each row the column, among its first ones, whose own row has most words (`length`).
// A pull probably hits there if the vector was found along rows. ~0 for an empty row. LANES lanes per row, of which
// each takes at most HUB_STEPS steps: the rest of longer rows is skipped. best: output.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    hub_columns(i64 n, const i64* heads, const u32* words, const i64* length, u32* best) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  Extent x = {0, 0};
  if (row < n) x = row_extent(heads, words, row);
  Walk<LANES, false> walk(words, x, row, 0, lane);
  i64 most = -1;
  u32 at = ~0u;
  for (int step = 0; step < HUB_STEPS && __any_sync(ALL_LANES, walk.more()); ++step) {
    Found found;
    walk.step(words, lane, found);
#pragma unroll
    for (int k = 0; k < walk.FOUND; ++k) {
      const i64 here = found.has(k) ? length[found.at(k)] : -1;
      if (here > most) most = here, at = found.at(k);
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) {
    const i64 there = __shfl_xor_sync(ALL_LANES, most, d);
    const u32 j = __shfl_xor_sync(ALL_LANES, at, d);
    if (there > most) most = there, at = j;
  }
  if (row < n && lane == 0) best[row] = at;
}
#endif  // HUB_COLUMNS

#ifdef ADVANCE
// Search of rows that pull, in the rounds of a device loop (kernels/advance_rows.cuh).
#include "kernels/decoded_rows.cuh"
#define PULL_FORM() PullView pulled
#define PULL_FORM_OF() {pulled.hub_column, pulled.heads, pulled.words}

struct PullView {
  const i64* heads;
  const u32* words;
  HubColumns hub_column;
};
struct Search : HubColumns {
  const i64* heads;
  const u32* words;

  template <class W> __device__ __forceinline__ bool hits(W& walk, int lane, const u64* u_bits) const {
    typename W::Found found;
    walk.step(words, lane, found);
#if HAS_RANGES
    bool hit = found.length && any_in(u_bits, found.from, found.length);
#else
    bool hit = false;
#endif
#pragma unroll
    for (int k = 0; k < W::FOUND; ++k)
      if (found.has(k)) hit = bit_of(u_bits, found.at(k)) || hit;
    return hit;
  }
};
#endif  // ADVANCE
