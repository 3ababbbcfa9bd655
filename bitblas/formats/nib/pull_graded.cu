// t = A (+).(x) u for a full u, rows graded by their length (grades.py): each lane decodes CHUNK entries at most, one
// after the other, so that nothing of a value goes from lane to lane. What is dealt out, to a warp each, are runs of 32
// lanes that have about as many entries: first segments of long rows, whose sums go to `parts`, then rows, the longest
// first. Blocks stay, RESIDENT of them on a multiprocessor, and hold u for columns below `hot` in shared memory. A lane
// decodes UNROLL columns while what it asked for of u is on its way, and a warp asks for its next run while it is at one.
#include "kernels/product.cuh"
#include "kernels/values.cuh"
#include "formats/nib/walk.cuh"
#include "formats/nib/graded.cuh"

// A lane's codes: the words from the one on in which it is.
struct Code {
  u32 w0, w1, w2, word, shift, column;
  __device__ __forceinline__ void open(const u32* words, u32 begin, u32 before) {
    word = begin >> 3, shift = (begin & 7) * 4, column = before;
    w0 = words[word], w1 = words[word + 1], w2 = words[word + 2];
  }
  __device__ __forceinline__ u32 window(const u32* words) {
    if (shift >= 32) {
      shift -= 32, ++word;
      w0 = w1, w1 = w2, w2 = words[word + 2];
    }
    return __funnelshift_r(w0, w1, shift);
  }
  __device__ __forceinline__ u32 next(const u32* words) {
    u32 w = window(words), size = __ffs(w & STOPS), low = 0, lows = 0;
    if (!size) {  // a value of more than eight nibbles
      low = without_stops(w), lows = 24, shift += 32;
      w = window(words), size = __ffs(w & STOPS);
    }
    shift += size;
    column += (without_stops(w & ~0u >> (32 - size)) << lows | low) + 1;
    return column;
  }
};

struct Run {
  u32 log_lanes, first, length, row, begin, column;
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
pull_graded(i64 n, const u32* run, const u32* piece, const u32* mark, i64 segments, const u32* begin, const u32* column,
            const u16* length, const u32* row, const u32* words, const PLACE_T* value_ptr, const value_t* a_val, A_T a_iso,
            i64 a_stride, const U_T* u_val, U_T u_iso, i64 u_stride, i64 hot, i64 size, const u64* reached, Z_T* parts,
            u64* t_bits, Z_T* t_val) {
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
  u32 grade = 0;
  const auto ask_run = [&](u32 k) {
    Run x = {};
    if (k >= (u32)n) return x;
    while (k >= run[grade + 1]) ++grade;
    const u32 number = k - run[grade];
    x.log_lanes = 5 - grade;
    x.first = piece[grade] + (number << grade);
    const u32 p = x.first + (lane >> x.log_lanes);
    if (p < piece[grade + 1]) {
      const u32 at = mark[grade] + 32 * number + lane;
      x.length = length[p], x.row = row[p], x.begin = begin[at], x.column = column[at];
    }
    return x;
  };
  u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32);
  Run of = ask_run(k), next = ask_run(k + warps);
  Code code;
  code.open(words, of.begin, of.column);
#if SHARED_BYTES
  __syncthreads();
#endif
  for (; k < (u32)n; k += warps) {
    const Run after = ask_run(k + 2 * warps);
    Code ahead;
    ahead.open(words, next.begin, next.column);
    const u32 share = share_of(of.length, of.log_lanes), done = (lane & ((1u << of.log_lanes) - 1)) * share;
    const u32 left = of.length <= done ? 0 : of.length - done < share ? of.length - done : share;
    const u32 most = __shfl_sync(ALL_LANES, left, 0);
    Z_T sum = BEGIN;
    U_T x[UNROLL];
    u32 before = 0, j_of[UNROLL];  // so many of x are asked for
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) x[i] = U_T(), j_of[i] = 0;
    const auto add_all = [&] {
#pragma unroll
      for (int i = 0; i < UNROLL; ++i)
        if (i < before) sum = add(sum, mul(a_iso, x[i], 0, j_of[i]));
    };
    for (u32 at = 0; at < most; at += UNROLL) {
      u32 j[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) j[i] = at + i < left ? code.next(words) : 0;
      add_all();
      before = at < left ? left - at : 0;
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        j_of[i] = j[i];
#if SHARED_BYTES
        if (i < before && j[i] >= (u32)hot) x[i] = load<U_T>(u_val, u_iso, u_stride, j[i]);
        if (i < before && j[i] < (u32)hot) x[i] = here[j[i]];
#else
        if (i < before) x[i] = load<U_T>(u_val, u_iso, u_stride, j[i]);
#endif
      }
    }
    add_all();
    for (u32 d = (1u << of.log_lanes) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    if (left && done == 0) (of.first + (lane >> of.log_lanes) < segments ? parts : t_val)[of.row] = sum;
    of = next, next = after, code = ahead;
  }
}
