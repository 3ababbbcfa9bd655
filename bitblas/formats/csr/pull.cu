// Pull SpMV by rows: w<mask, accum, replace> = A (+).(x) u.
// LANES lanes share a row; rows that the mask excludes are not read, and a terminal value ends a row early.
// A lane loads UNROLL entries before it uses the first: consecutive ones if columns are packed, interleaved ones if
// they are plain, so that loads coalesce.
// STAGED, for a full u, rows of very different lengths and no mask: the block reads the entries of its consecutive rows
// as one run.
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
#if STAGED
  // Neighbouring threads read neighbouring entries, STAGE at a time, and pass products to their rows through shared
  // memory; BEGIN is neutral. Hubs are holes in the run; none is shorter than STAGE, so at most one begins in a stage.
  __shared__ Z_T staged[STAGE];
  __shared__ place_t run[2];
  const i64 first = (i64)blockIdx.x * (BLOCK / LANES), after = first + BLOCK / LANES;
  place_t at = 0, all = 0;
  if (first < n) at = (place_t)rows.begin[first], all = (place_t)rows.end[(after < n ? after : n) - 1];
  const bool holes = __syncthreads_or(of.hub);
  x.some = e < stop;
  x.sum = BEGIN;
  while (at < all) {
    place_t until = all - at > STAGE ? at + STAGE : all;
    if (holes) {
      if (threadIdx.x == 0) run[0] = at, run[1] = until;
      __syncthreads();
      if (of.hub && of.lane == 0) {
        const place_t from = (place_t)rows.begin[of.unit];
        if (from == at) run[0] = (place_t)rows.end[of.unit];
        else if (from > at && from < until) run[1] = from;
      }
      __syncthreads();
      const place_t next = run[0];
      until = run[1];
      __syncthreads();
      if (next != at) {
        at = next;
        continue;
      }
    }
    COL_T j[STAGE / BLOCK];
    A_T weight[STAGE / BLOCK];
    const Columns entries(col, at + threadIdx.x);
#pragma unroll
    for (int i = 0; i < STAGE / BLOCK; ++i) {
      const place_t k = at + threadIdx.x + i * BLOCK;
      if (k < until) j[i] = entries.once(at + threadIdx.x, i * BLOCK), weight[i] = a.once(k);
    }
#pragma unroll
    for (int i = 0; i < STAGE / BLOCK; ++i) {
      const int k = threadIdx.x + i * BLOCK;
      if (k < until - at) staged[k] = mul(weight[i], u.at(j[i]), 0, j[i]);
    }
    __syncthreads();
    const place_t low = e > at ? e : at, high = stop < until ? stop : until;
    for (place_t k = low + of.lane; k < high; k += LANES) x.sum = add(x.sum, staged[k - at]);
    __syncthreads();
    at = until;
  }
#elif KIND == WORDS && U_FULL
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
