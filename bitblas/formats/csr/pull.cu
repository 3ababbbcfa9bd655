// Pull SpMV by rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes share a row; rows that the mask excludes are not read, and a terminal value ends a row early.
// A lane loads UNROLL entries before it uses the first: consecutive ones if columns are packed, interleaved ones if
// they are plain, so that loads coalesce.
#include "kernels/pull_rows.cuh"
#include "formats/csr/columns.cuh"

typedef PLACE(PTR_T) place_t;

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView col, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, Epilogue to) {
  Row of(n, rows, mask, to.t.bits);
  place_t e = 0, stop = 0;
  if (of.open) {
    e = (place_t)rows.begin[of.unit];
    stop = (place_t)rows.end[of.unit];
    if ((i64)(stop - e) > longest) of.hub = !PRESENCE, stop = PRESENCE ? e + (place_t)longest : e;
  }
  (void)a;
  Sum x = {false, IDENTITY, 0};
#if KIND == WORDS && U_FULL
  x.some = e < stop;
#else
  constexpr int APART = SIDE_BY_SIDE ? 1 : LANES;  // distance of the entries that a lane takes at once
  e += of.lane * (SIDE_BY_SIDE ? UNROLL : 1);
  for (Columns entries(col, e); e < stop; e += UNROLL * LANES, entries.skip(UNROLL * LANES)) {
    bool has[UNROLL];
    COL_T j[UNROLL];
#if PACKED
    entries.read<UNROLL>(j, (u32)(stop - e));
#endif
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const place_t next = e + i * APART;
      has[i] = next < stop;
#if KIND == WORDS
      // Avoids a load that depends on a test; OR ignores repeated entries.
      if (!PACKED) j[i] = entries.at(has[i] ? next : e, 0);
      has[i] = true;
#else
      if (!PACKED) j[i] = has[i] ? entries.at(next, 0) : 0;
#endif
    }
    x.take(has, j, [&](int k) { return a.at(e + k * APART); }, a.iso, of.row, u);
    if (x.done()) break;
  }
#endif
  end_row(of, x, product, to);
}
