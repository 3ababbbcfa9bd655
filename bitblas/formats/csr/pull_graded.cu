#ifndef PIPED
#define PIPED 0
#endif
// t = A (+).(x) u for a full u, rows graded by their length (grades.py): as many lanes share a row as it has use for, and
// neighbours have rows of about the same length. What is dealt out, to a warp each, are runs of `pieces`: first the
// segments of long rows, whose sums go to `parts`, then rows, the longest first. Blocks stay, RESIDENT of them on a
// multiprocessor, and hold u for columns below `held` in shared memory: where columns are numbered by degree, most
// entries read it there.
#include "kernels/product.cuh"
#include "kernels/values.cuh"
#include "formats/csr/columns.cuh"

typedef PLACE(PTR_T) place_t;

#ifndef HINT
#define HINT 0
#endif
#ifndef XHINT
#define XHINT 0
#endif
#if HINT == 2
__device__ __forceinline__ COL_T stream(const COL_T* p) { COL_T v; asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
#elif HINT == 3
__device__ __forceinline__ COL_T stream(const COL_T* p) { COL_T v; asm("ld.global.nc.L1::no_allocate.L2::256B.b32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
#elif HINT == 1
__device__ __forceinline__ COL_T stream(const COL_T* p) { return load_once(p); }
#else
__device__ __forceinline__ COL_T stream(const COL_T* p) { return *p; }
#endif
#if XHINT == 1
__device__ __forceinline__ U_T far(const U_T* p) { U_T v; asm("ld.global.nc.L1::evict_last.f32 %0, [%1];" : "=f"(v) : "l"(p)); return v; }
#elif XHINT == 2
__device__ __forceinline__ U_T far(const U_T* p) { return __ldg(p); }
#else
__device__ __forceinline__ U_T far(const U_T* p) { return *p; }
#endif

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
#if PIPED
  u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32);
  if (k >= (u32)n) return;
  Run of = next;
  next = ask(k + warps);
  u32 done = 0, to;
  place_t e, stop;
  const auto open_pass = [&] {
    const u32 r = done + (lane >> of.log_lanes);
    e = (place_t)__shfl_sync(ALL_LANES, of.begin, r);
    stop = e + __shfl_sync(ALL_LANES, of.length, r);
    to = __shfl_sync(ALL_LANES, of.row, r);
    if (r >= of.rows) to = ~0u;
    e += lane & ((1u << of.log_lanes) - 1);
  };
  COL_T ahead[UNROLL];
  A_T a_ahead[UNROLL];
  const auto ask_columns = [&] {
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const place_t at = e + (i << of.log_lanes);
      ahead[i] = ~(COL_T)0, a_ahead[i] = a_iso;
      if (at < stop) ahead[i] = stream(col + at), a_ahead[i] = values.at(at);
    }
  };
  open_pass();
  ask_columns();
  Z_T sum = BEGIN;
  while (true) {
    COL_T j[UNROLL];
    A_T a[UNROLL];
    U_T x[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) j[i] = ahead[i], a[i] = a_ahead[i];
    const int log_lanes = of.log_lanes;
    const u32 now = to;
    const bool part = of.first + done < segments;
    e += UNROLL << log_lanes;
    const bool ends = log_lanes < 5 || e - lane >= stop;
    bool more = true;
    if (ends) {
      done += 32 >> log_lanes;
      if (done >= of.rows) {
        k += warps, more = k < (u32)n, done = 0;
        of = next;
        next = ask(k + warps);
      }
      open_pass();
    }
    if (more) ask_columns();
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      x[i] = U_T();
#if SHARED_BYTES
      if (j[i] != ~(COL_T)0 && j[i] >= first_far) x[i] = far(u_val + j[i]);
      if (j[i] >= 0 && j[i] < first_far) x[i] = here[j[i]];
#else
      if (j[i] != ~(COL_T)0) x[i] = far(u_val + j[i]);
#endif
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
      if (j[i] != ~(COL_T)0) sum = add(sum, mul(a[i], x[i], 0, j[i]));
    if (ends) {
      for (u32 d = (1u << log_lanes) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
      if (!(lane & ((1u << log_lanes) - 1)) && now != ~0u) (part ? parts : t_val)[now] = sum;
      sum = BEGIN;
    }
    if (!more) break;
  }
}
#else
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
          if (has) j[i] = stream(col + (e + i * lanes)), a[i] = values.at(e + i * lanes);
        }
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) {
          const bool has = e + i * lanes < stop;
#if SHARED_BYTES
          if (has && j[i] >= first_far) x[i] = far(u_val + j[i]);
          if (has && j[i] < first_far) x[i] = here[j[i]];
#else
          if (has) x[i] = far(u_val + j[i]);
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
#endif
