// t = A (+).(x) u for a full u, rows graded by their length (grades.py): a lane reads one segment, or all of a row that has
// no more than one of each kind. What is dealt out, to a warp each, are runs of 32 lanes: first segments of long rows, whose
// sums go to `parts`, then rows, the longest first. Blocks stay, RESIDENT of them on a multiprocessor, and hold u for
// columns below `hot` in shared memory. A lane decodes UNROLL columns while what it asked for of u is on its way.
#include "kernels/product.cuh"
#include "kernels/values.cuh"
#include "formats/cgr/code.cuh"
#define LONG 64  // columns of an interval that the lanes of a warp share

// Residuals: the words from the one on in which they are.
struct Code {
  u32 w0, w1, w2, shift;
  i64 word;
  __device__ __forceinline__ void open(const u32* words, i64 at) {
    word = at >> 5, shift = (u32)at & 31;
    w0 = words[word], w1 = words[word + 1], w2 = words[word + 2];
  }
  __device__ __forceinline__ u32 bits(const u32* words) {
    if (shift >= 32) {
      shift -= 32, ++word;
      w0 = w1, w1 = w2, w2 = words[word + 2];
    }
    return __funnelshift_l(w1, w0, shift);
  }
  __device__ __forceinline__ u32 next(const u32* words) {
    const u32 b = bits(words), h = (u32)__clz((int)b);
    if (h > 7) {  // a code of more than 32 bits
      u32 used = 0;
      const u64 wide = (u64)b << 32 | __funnelshift_l(w2, w1, shift);
      const u32 value = zeta_in(wide, used);
      shift += 32, bits(words);
      shift += used - 32;
      return value;
    }
    shift += 4 * (h + 1);
    return (b << (h + 1) >> (29 - 3 * h)) - 1;
  }
};

struct Run {
  u32 log_lanes, first, row, length;  // length: segments from the first one of the piece on, or 1
  u32 runs, base;  // segments of intervals, and how many segments of either kind are in pieces before
  i64 begin, later;
  bool inside;
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pull_graded(i64 n, const u32* run, const u32* piece, i64 segments, const i64* begin, const u32* shape, const u32* row,
            const u32* words, i64 segment, const PLACE_T* value_ptr, const value_t* a_val, A_T a_iso, i64 a_stride,
            const U_T* u_val, U_T u_iso, i64 u_stride, i64 hot, i64 size, const u64* reached, Z_T* parts, u64* t_bits,
            Z_T* t_val) {
  (void)value_ptr, (void)a_val, (void)a_stride;
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
#if SHARED_BYTES
  extern __shared__ u64 shared[];
  U_T* const here = (U_T*)shared;
  for (u32 j = threadIdx.x; j < (u32)hot; j += THREADS) here[j] = load<U_T>(u_val, u_iso, u_stride, j);
#else
  (void)hot;
#endif
  for (i64 w = (i64)blockIdx.x * THREADS + threadIdx.x; w < (size + 63) / 64; w += (i64)gridDim.x * THREADS)
    t_bits[w] = reached[w];
  const auto value_at = [&](u32 j) {
#if SHARED_BYTES
    if (j < (u32)hot) return here[j];
#endif
    return load<U_T>(u_val, u_iso, u_stride, j);
  };
  u32 grade = 0;
  const auto ask_run = [&](u32 k) {
    Run x = {};
    if (k >= (u32)n) return x;
    while (k >= run[grade + 1]) ++grade;
    x.log_lanes = 5 - grade;
    x.first = piece[grade] + ((k - run[grade]) << grade);
    const u32 p = x.first + (lane >> x.log_lanes);
    x.inside = p < piece[grade + 1];
    if (!x.inside) return x;
    x.begin = begin[p], x.row = row[p], x.length = 1;
    if (grade < 5) x.later = shape[4 * p], x.runs = shape[4 * p + 1], x.length = shape[4 * p + 2], x.base = shape[4 * p + 3];
    return x;
  };
  u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32);
  Run next = ask_run(k);
#if SHARED_BYTES
  __syncthreads();
#endif
  for (; k < (u32)n; k += warps) {
    const Run of = next;
    next = ask_run(k + warps);
    const u32 l = lane & ((1u << of.log_lanes) - 1), s = of.base + l;
    const bool mine = of.inside && l < of.length, alone = of.log_lanes == 0;
    bool in_runs = mine && (alone || s < of.runs);
    i64 at = of.begin + (in_runs ? (i64)s * segment : of.later + (i64)(s - of.runs) * segment);
    Z_T sum = BEGIN;
    u32 left = in_runs ? gamma_at(words, at) : 0, column = of.row;
    for (bool first = true; __any_sync(ALL_LANES, left); first = false) {
      u32 from = 0, length = 0;
      if (left) {
        const u32 gap = gamma_at(words, at);
        length = gamma_at(words, at) + LEAST;
        from = column + (first ? unfolded(gap) : gap + 1);
        column = from + length - 1, --left;
      }
      for (u32 longs = __ballot_sync(ALL_LANES, length >= LONG); longs; longs &= longs - 1) {
        const int owner = __ffs(longs) - 1;
        const u32 low = __shfl_sync(ALL_LANES, from, owner), many = __shfl_sync(ALL_LANES, length, owner);
        Z_T share = BEGIN;
        for (u32 j = lane; j < many; j += 32) share = add(share, mul(a_iso, value_at(low + j), 0, low + j));
#pragma unroll
        for (int d = 16; d; d >>= 1) share = add(share, shuffle_xor(ALL_LANES, share, d));
        if (lane == (u32)owner) sum = add(sum, share), length = 0;
      }
      for (u32 j = 0; j < length; j += UNROLL) {
        U_T x[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i) x[i] = j + i < length ? value_at(from + j + i) : U_T();
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
          if (j + i < length) sum = add(sum, mul(a_iso, x[i], 0, from + j + i));
      }
    }
    bool first = true;
    column = of.row;
    if (in_runs && alone) gamma_at(words, at), in_runs = false;
    left = mine && !in_runs ? gamma_at(words, at) : 0;
    Code code;
    code.open(words, left ? at : 0);
    U_T x[UNROLL];
    u32 before = 0, j_of[UNROLL];  // so many of x are asked for
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) x[i] = U_T(), j_of[i] = 0;
    const auto add_all = [&] {
#pragma unroll
      for (int i = 0; i < UNROLL; ++i)
        if (i < before) sum = add(sum, mul(a_iso, x[i], 0, j_of[i]));
    };
    while (__any_sync(ALL_LANES, left)) {
      u32 j[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        if (i < left) {
          const u32 value = code.next(words);
          column += first ? unfolded(value) : value + 1;
          first = false;
        }
        j[i] = column;
      }
      add_all();
      before = left;
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        j_of[i] = j[i];
        if (i < before) x[i] = value_at(j[i]);
      }
      left = left > UNROLL ? left - UNROLL : 0;
    }
    add_all();
    for (u32 d = (1u << of.log_lanes) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    const u32 p = of.first + (lane >> of.log_lanes);
    if (of.inside && l == 0) *(p < segments ? parts + p : t_val + of.row) = sum;
  }
}
