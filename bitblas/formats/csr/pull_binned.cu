// Degree-binned pull SpMV: t = A (+).(x) u for a full u, rows sorted by length (kernels.py).
// Each row gets as many lanes as it can use, and neighbouring lanes have rows of similar length.
// If columns are numbered by degree, most entries read u in shared memory (formats/binned.cuh). A lane loads the columns
// of a step, UNROLL entries, before it reads u for the previous ones.
// run, piece, segments, begin, length, row: the schedule (kernels.py). reached: the bits of t.
// MASKED: rows that the mask excludes have no entries here, and t gets no bits there.
#ifdef KERNEL_pull_binned
#include "formats/binned.cuh"
#include "formats/csr/columns.cuh"

typedef PLACE(PTR_T) place_t;

struct Run {
  int log_lanes;  // log2 of the lanes that share a row
  u32 first, rows, length, row;
  PTR_T begin;
};
#define NO_ROW (~0u)

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    pull_binned(i64 n, const u32* run, const u32* piece, i64 segments, const PTR_T* begin, const u16* length,
                const u32* row, ColumnsView col, Values a, VectorValues<U_T> u, i64 hot, i64 size, const u64* reached,
                Z_T* parts, u64* t_bits, Z_T* t_val MASK()) {
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
  const U_T* const here = begin_pull(u, hot, size, reached, t_bits MASK_OF());
  const COL_T first_far = (COL_T)hot;
  (void)here, (void)first_far;
  // A run, and its pieces that this lane keeps for the group.
  u32 grade = 0;
  const auto load_run = [&](u32 k) {
    Run x = {};
    if (k >= (u32)n) return x;
    while (k >= run[grade + 1]) ++grade;
    // Rows of this grade have at most 2^log entries; a run has 2^LOG_RUN entries, or 32 rows.
    const int log = LOG_LONGEST - grade, few = LOG_RUN - log, wide = log - LOG_LANE;
    const u32 rows = few < 0 ? 1 : few < 5 ? 1 << few : 32;
    x.log_lanes = wide < 0 ? 0 : wide < 5 ? wide : 5;
    x.first = piece[grade] + (k - run[grade]) * rows;
    x.rows = piece[grade + 1] - x.first < rows ? piece[grade + 1] - x.first : rows;
    const u32 p = x.first + lane;
    if (lane >= x.rows) return x;
    x.row = row[p];
#if MASKED
    if (!mask.allows(x.row)) return x.row = NO_ROW, x;
#endif
    x.begin = begin[p], x.length = length[p];
    if (p < segments) x.row = p;  // its place in `parts`
    return x;
  };
  u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32);
  Run of = load_run(k), next = load_run(k + warps);
#if SHARED_BYTES
  __syncthreads();
#endif
  if (k >= (u32)n) return;

  // The current rows of the warp, from `done` on, one per group of lanes.
  u32 done = 0, to;
  place_t e, stop;
  const auto open_rows = [&] {
    const u32 r = done + (lane >> of.log_lanes);
    e = (place_t)__shfl_sync(ALL_LANES, of.begin, r) + (lane & ((1u << of.log_lanes) - 1));
    stop = (place_t)__shfl_sync(ALL_LANES, of.begin, r) + __shfl_sync(ALL_LANES, of.length, r);
    to = __shfl_sync(ALL_LANES, of.row, r);
    if (r >= of.rows) to = NO_ROW;
  };
  COL_T j_next[UNROLL];  // negative: none
  A_T weight_next[UNROLL];
  const auto load_columns = [&] {
    const Columns entries(col, e);
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const place_t at = e + (i << of.log_lanes);
      j_next[i] = -1, weight_next[i] = a.iso;
      if (at < stop) j_next[i] = entries.once(e, i << of.log_lanes), weight_next[i] = a.once(at);
    }
  };
  open_rows();
  load_columns();
  Z_T sum = BEGIN;
  for (bool more = true; more;) {
    COL_T j[UNROLL];
    A_T weight[UNROLL];
    U_T x[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) j[i] = j_next[i], weight[i] = weight_next[i], x[i] = U_T();
    const int log_lanes = of.log_lanes;
    const u32 at = to;
    const bool part = of.first + done < segments;
    e += UNROLL << log_lanes;
    // Rows of fewer than 32 lanes take one step; uniform over the warp.
    const bool ends = log_lanes < 5 || e - lane >= stop;
    if (ends) {
      done += 32 >> log_lanes;
      if (done >= of.rows) {
        k += warps, more = k < (u32)n, done = 0;
        of = next;
        next = load_run(k + warps);
      }
      open_rows();
    }
    if (more) load_columns();
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
#if SHARED_BYTES
      if (j[i] >= first_far) x[i] = u.at(j[i]);
      if (j[i] >= 0 && j[i] < first_far) x[i] = here[j[i]];
#else
      if (j[i] >= 0) x[i] = u.at(j[i]);
#endif
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
      if (j[i] >= 0) sum = add(sum, mul(weight[i], x[i], 0, j[i]));
    if (!ends) continue;
    for (u32 d = (1u << log_lanes) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    if (at != NO_ROW && !(lane & ((1u << log_lanes) - 1))) (part ? parts : t_val)[at] = sum;
    sum = BEGIN;
  }
}
#endif  // KERNEL_pull_binned
