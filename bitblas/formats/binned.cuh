// Degree-binned pulls: t = A (+).(x) u for a full u. Rows are sorted by length (kernels.py of each format).
// Each warp takes runs of pieces: first the segments of long rows, whose sums go to `parts`, then rows, the longest
// first. Blocks are persistent, RESIDENT per multiprocessor, and keep u for columns below `hot` in shared memory.
// Plain rows have a kernel of their own (csr/pull_binned.cu), coded rows share the one below.
#include "kernels/product.cuh"
#if MASKED
#define MASK() , MaskView mask
#define MASK_OF() , mask
#else
#define MASK()
#define MASK_OF()
#endif

// Begin a pull: copy the first `hot` values of u to shared memory (call __syncthreads before they are read), and write
// the bits of t.
__device__ __forceinline__ const U_T* begin_pull(const VectorValues<U_T>& u, i64 hot, i64 size, const u64* reached,
                                                 u64* t_bits MASK()) {
  U_T* here = nullptr;
#if SHARED_BYTES
  extern __shared__ u64 shared[];
  here = (U_T*)shared;
  for (u32 j = threadIdx.x; j < (u32)hot; j += THREADS) here[j] = u.at(j);
#endif
  for (i64 w = (i64)blockIdx.x * THREADS + threadIdx.x; w < (size + 63) / 64; w += (i64)gridDim.x * THREADS) {
#if MASKED
    t_bits[w] = reached[w] & mask.word(w);
#else
    t_bits[w] = reached[w];
#endif
  }
  return here;
}

#ifdef PIECES
// Degree-binned pull along coded rows.
// Each lane decodes its part of a row by itself, so lanes exchange nothing while decoding; the lanes of a warp have
// parts of similar length.
// Runs have 32 lanes. A lane decodes AHEAD columns while its loads of u are in flight. A warp prefetches the words of its
// next run, and the position of the one after that.
// RANKED: entries have values of their own, contiguous per lane from `first` on; first[p] is the number of the first
// entry of piece p. MASKED: rows that the mask excludes are skipped, and t gets no bits there.
// Include after the layout's definitions: PIECES() and CODES(), kernel parameters for the pieces and the codes; Pieces
// and PIECES_OF, which combine them for Lane; load(pieces, grade, number, p), which loads the lane's part of piece p in
// run `number` of the grade; open(pieces, words, log_lanes); before(log_lanes), the number of entries of the piece
// before the lane's part (RANKED); and run(pieces, words, sums), which passes the decoded columns to sums.each(left,
// next) and sums.range(from, length). All lanes of a warp call these together.
// Arguments: the schedule (run, piece, segments, row, PIECES()), CODES(), `first`, values a_*, the vector u_*, `hot`,
// and the output: `reached` has the bits of t, `parts` gets the sums of segments.
#define AHEAD (RANKED && sizeof(A_T) + sizeof(U_T) > 8 ? UNROLL / 2 : UNROLL)  // otherwise registers would be spilled
#define LONG 64  // columns of a range from which on the lanes of a warp share it

struct Run {
  u32 log_lanes, piece, row;
  bool inside;
  PLACE_T first;
  Lane lane;
};

// The sum of a lane, and its operands.
struct Sums {
  VectorValues<U_T> u;
  const U_T* here;  // shared memory, for columns below `hot`
  u32 hot;
  Values values;
  PLACE_T entry;  // number of the next entry
  Z_T sum;

  __device__ __forceinline__ U_T value_at(u32 j) const {
#if SHARED_BYTES
    if (j < hot) return here[j];
#endif
    return u.at(j);
  }
  // The matrix value of entry + i.
  __device__ __forceinline__ A_T weight(int i) const { return RANKED ? values[(i64)(entry + i)] : A_T(values.iso); }
  __device__ __forceinline__ void take(A_T a, U_T x, u32 j) { sum = add(sum, mul(a, x, 0, j)); }
  // Add columns next(), `left` of them.
  template <class Next> __device__ __forceinline__ void each(u32 left, Next next) {
    U_T x[AHEAD];
    A_T a[AHEAD];
    u32 loaded = 0, j_of[AHEAD];  // loads in flight
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) x[i] = U_T(), j_of[i] = 0, a[i] = values.iso;
    if (__all_sync(ALL_LANES, left >= AHEAD)) {
      left -= AHEAD, loaded = AHEAD;
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) j_of[i] = next();
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) x[i] = value_at(j_of[i]), a[i] = weight(i);
      entry += AHEAD;
      while (__all_sync(ALL_LANES, left >= AHEAD)) {
        left -= AHEAD;
        u32 j[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) j[i] = next();
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) take(a[i], x[i], j_of[i]);
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) j_of[i] = j[i], x[i] = value_at(j[i]), a[i] = weight(i);
        entry += AHEAD;
      }
    }
    while (__any_sync(ALL_LANES, left)) {  // lanes have different numbers of columns
      u32 j[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) j[i] = i < left ? next() : 0;
      take_loaded(a, x, j_of, loaded);
      loaded = left;
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        j_of[i] = j[i];
        if (i < loaded) x[i] = value_at(j[i]), a[i] = weight(i);
      }
      entry += AHEAD;
      left = left > AHEAD ? left - AHEAD : 0;
    }
    take_loaded(a, x, j_of, loaded);
  }
  // Add `length` columns from `from` on. Long ranges are shared by all lanes of the warp, in an order that depends only
  // on the length.
  __device__ __forceinline__ void range(u32 from, u32 length) {
    const u32 lane = threadIdx.x & 31, whole = length;
    for (u32 longs = __ballot_sync(ALL_LANES, length >= LONG); longs; longs &= longs - 1) {
      const int owner = __ffs(longs) - 1;
      const u32 low = __shfl_sync(ALL_LANES, from, owner), many = __shfl_sync(ALL_LANES, length, owner);
      const PLACE_T first = RANKED ? __shfl_sync(ALL_LANES, entry, owner) : 0;
      Z_T share = BEGIN;
      for (u32 j = lane; j < many; j += 32) {
        const A_T a = RANKED ? values[(i64)(first + j)] : A_T(values.iso);
        share = add(share, mul(a, value_at(low + j), 0, low + j));
      }
#pragma unroll
      for (int d = 16; d; d >>= 1) share = add(share, shuffle_xor(ALL_LANES, share, d));
      if (lane == (u32)owner) sum = add(sum, share), length = 0;
    }
    for (u32 j = 0; j < length; j += UNROLL) {
      U_T x[UNROLL];
      A_T a[UNROLL];
#pragma unroll
      for (int i = 0; i < UNROLL; ++i) {
        x[i] = j + i < length ? value_at(from + j + i) : U_T();
        a[i] = RANKED && j + i < length ? values[(i64)(entry + j + i)] : A_T(values.iso);
      }
#pragma unroll
      for (int i = 0; i < UNROLL; ++i)
        if (j + i < length) take(a[i], x[i], from + j + i);
    }
    if (RANKED) entry += whole;
  }

 private:
  __device__ __forceinline__ void take_loaded(const A_T (&a)[AHEAD], const U_T (&x)[AHEAD], const u32 (&j)[AHEAD],
                                              u32 loaded) {
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (i < loaded) take(a[i], x[i], j[i]);
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    pull_binned(i64 n, const u32* run, const u32* piece, i64 segments, const u32* row, PIECES(), CODES(),
                const PLACE_T* first, Values a, VectorValues<U_T> u, i64 hot, i64 size, const u64* reached, Z_T* parts,
                u64* t_bits, Z_T* t_val MASK()) {
  (void)first;
  const Pieces pieces = PIECES_OF;
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
  const U_T* const here = begin_pull(u, hot, size, reached, t_bits MASK_OF());
  u32 grade = 0;
  const auto load_run = [&](u32 k) {
    Run x = {};
    if (k >= (u32)n) return x;
    while (k >= run[grade + 1]) ++grade;
    const u32 number = k - run[grade];
    x.log_lanes = 5 - grade;
    x.piece = piece[grade] + (number << grade) + (lane >> x.log_lanes);
    x.inside = x.piece < piece[grade + 1];
    if (x.inside) x.row = row[x.piece];
#if MASKED
    x.inside = x.inside && mask.allows(x.row);
#endif
    if (x.inside) x.lane.load(pieces, grade, number, x.piece);
    if (RANKED && x.inside) x.first = first[x.piece];
    return x;
  };
  Sums sums = {u, here, (u32)hot, a, 0, BEGIN};
  u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32);
  Run of = load_run(k), next = load_run(k + warps);
  of.lane.open(pieces, words, of.log_lanes);
#if SHARED_BYTES
  __syncthreads();
#endif
  for (; k < (u32)n; k += warps) {
    const Run after = load_run(k + 2 * warps);
    next.lane.open(pieces, words, next.log_lanes);
    sums.sum = BEGIN;
    if (RANKED) sums.entry = of.first + of.lane.before(of.log_lanes);
    of.lane.run(pieces, words, sums);
    Z_T sum = sums.sum;
    for (u32 d = (1u << of.log_lanes) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    if (of.inside && !(lane & ((1u << of.log_lanes) - 1)))
      *(of.piece < segments ? parts + of.piece : t_val + of.row) = sum;
    of = next, next = after;
  }
}
#endif  // PIECES
