// t = A (+).(x) u for a full u, rows graded by their length (grades.py): as many lanes share a row as it has use for, and
// neighbours have rows of about the same length. What is dealt out, to a warp each, are runs of `pieces`: first the
// segments of long rows, whose sums go to `parts`, then rows, the longest first. Blocks stay, RESIDENT of them on a
// multiprocessor, and hold u for columns below `held` in shared memory: where columns are numbered by degree, most
// entries read it there.
#include "kernels/product.cuh"
#include "kernels/values.cuh"
#include "formats/csr/columns.cuh"

typedef PLACE(PTR_T) place_t;

struct Run {
  int log_lanes;  // that share a row
  u32 first, rows, length, row;
  PTR_T begin;
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pull_graded(i64 n, const u32* run, const u32* piece, i64 segments, const PTR_T* begin, const u16* length, const u32* row,
            const column_t* col, i64 width, const value_t* a_val, A_T a_iso, i64 a_stride, const U_T* u_val, U_T u_iso,
            i64 u_stride, i64 held, i64 size, const u64* reached, Z_T* parts, u64* t_bits, Z_T* t_val) {
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
#if SHARED_BYTES
  extern __shared__ u64 shared[];
  U_T* const here = (U_T*)shared;
  const COL_T first_far = (COL_T)held;
  for (u32 j = threadIdx.x; j < (u32)held; j += THREADS) here[j] = load<U_T>(u_val, u_iso, u_stride, j);
#else
  (void)held;
#endif
  for (i64 w = (i64)blockIdx.x * THREADS + threadIdx.x; w < (size + 63) / 64; w += (i64)gridDim.x * THREADS)
    t_bits[w] = reached[w];
  const Values values = {a_val, a_iso, a_stride};
  // What a run is, and the pieces of it that this lane keeps for all; asked for before the run ahead of it is summed.
  u32 grade = 0;
  const auto ask = [&](u32 k) {
    Run x = {};
    if (k >= (u32)n) return x;
    while (k >= run[grade + 1]) ++grade;
    // Rows of this grade have at most 2^log entries; a run has 2^LOG_RUN of them, or 32 rows.
    const int log = LOG_LONGEST - grade, few = LOG_RUN - log, wide = log - LOG_LANE;
    const u32 rows = few < 0 ? 1 : few < 5 ? 1 << few : 32;
    x.log_lanes = wide < 0 ? 0 : wide < 5 ? wide : 5;
    x.first = piece[grade] + (k - run[grade]) * rows;
    x.rows = piece[grade + 1] - x.first < rows ? piece[grade + 1] - x.first : rows;
    if (lane < x.rows) x.begin = begin[x.first + lane], x.length = length[x.first + lane], x.row = row[x.first + lane];
    return x;
  };
  Run next = ask(blockIdx.x + gridDim.x * (threadIdx.x / 32));
#if SHARED_BYTES
  __syncthreads();
#endif
  for (u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32); k < (u32)n; k += warps) {
    const Run of = next;
    next = ask(k + warps);
    const u32 lanes = 1u << of.log_lanes, l = lane & (lanes - 1);
    for (u32 done = 0; done < of.rows; done += 32 >> of.log_lanes) {
      const u32 r = done + (lane >> of.log_lanes);
      place_t e = (place_t)__shfl_sync(ALL_LANES, of.begin, r);
      const place_t stop = e + __shfl_sync(ALL_LANES, of.length, r);
      const u32 to = __shfl_sync(ALL_LANES, of.row, r);
      Z_T sum = BEGIN;
      e += l;
      for (Columns entries(col, width, e); e < stop; e += UNROLL * lanes, entries.skip(UNROLL * lanes)) {
        COL_T j[UNROLL];
        A_T a[UNROLL];
        U_T x[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
          const bool has = e + i * lanes < stop;
          j[i] = 0, x[i] = U_T(), a[i] = a_iso;
          if (has) j[i] = entries.at(e, i * lanes), a[i] = values.at(e + i * lanes);
        }
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
          const bool has = e + i * lanes < stop;
#if SHARED_BYTES
          if (has && j[i] >= first_far) x[i] = load<U_T>(u_val, u_iso, u_stride, j[i]);
          if (has && j[i] < first_far) x[i] = here[j[i]];
#else
          if (has) x[i] = load<U_T>(u_val, u_iso, u_stride, j[i]);
#endif
        }
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
          if (e + i * lanes < stop) sum = add(sum, mul(a[i], x[i], 0, j[i]));
      }
      for (u32 d = lanes / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
      if (l == 0 && r < of.rows) (of.first + r < segments ? parts : t_val)[to] = sum;
    }
  }
}
