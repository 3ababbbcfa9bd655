// Pull SpMV by rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes share a row; rows that the mask excludes are not read, and a terminal value ends a row early.
// STAGED: the lanes of a warp load entries of 32 rows of a matrix together.
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
#elif STAGED
  // The lanes of a warp load adjacent entries of its 32 rows, whose products then are in shared memory, where each lane
  // sums those of its row. Every 32 products are followed by an unused place: rows of equal lengths are in other banks.
  __shared__ Z_T products[BLOCK / 32][STAGE + STAGE / 32];
  Z_T* const here = products[threadIdx.x / 32];
  const u32 lane = threadIdx.x & 31;
  place_t low = __shfl_sync(ALL_LANES, e, 0), high = stop;
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const place_t other = shuffle_xor(ALL_LANES, high, d);
    high = other > high ? other : high;
  }
  for (; low < high; low += STAGE) {
    for (u32 from = lane; from < STAGE && low + from - lane < high; from += 32 * UNROLL) {
      COL_T j[UNROLL];
      A_T weight[UNROLL];
      U_T value[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        const place_t at = low + from + 32 * i;
        j[i] = at < high ? load_once(col.col + at) : 0, weight[i] = at < high ? a.once(at) : A_T(a.iso);
      }
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) value[i] = u.at(j[i]);
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) here[from + 32 * i + (from + 32 * i) / 32] = mul(weight[i], value[i], 0, j[i]);
    }
    __syncwarp();
    const u32 begin = e > low ? (u32)(e - low) : 0, end = stop < low + STAGE ? (u32)(stop - low) : STAGE;
    for (u32 p = begin; stop > low && p < end; ++p) join(x.some, x.sum, true, here[p + p / 32]);
    __syncwarp();
  }
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
