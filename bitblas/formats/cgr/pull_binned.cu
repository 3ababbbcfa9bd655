// Degree-binned pull on CGR rows (kernels.py): the pieces of rows, the entries in them, and the pull.
#include "formats/cgr/walk.cuh"

#ifdef KERNEL_pieces
// Pieces of rows for a degree-binned pull (kernels.py), one thread per row.
// Writes the start of the first interval segment, the offset in bits of the first residual segment, and the number of
// segments of each kind (0 if the only one has no codes).

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pieces(i64 n, const i64* heads, const u32* words, i64* begin, i64* later, i64* runs, i64* others) {
  const i64 row = thread_number();
  if (row >= n) return;
  const Extent x = row_extent(heads, words, row);
  if (x.at == x.end) return;
  i64 at = x.at;
  for (int kind = 0; kind < 2; ++kind) {
    const i64 count = (i64)gamma_at(words, at) + 1, area = at;
    at = area + (count - 1) * SEGMENT;
    u32 left = gamma_at(words, at);
    const bool some = count > 1 || left;
    if (!kind) {
      begin[row] = area, runs[row] = some ? count : 0;
      for (; left; --left) gamma_at(words, at), gamma_at(words, at);
    } else {
      later[row] = area - begin[row], others[row] = some ? count : 0;
    }
  }
}
#endif  // KERNEL_pieces

#ifdef KERNEL_counts
// Count entries per segment of the pieces that several lanes share (kernels.py), to locate values that differ.
// One warp per piece.
// before[mark[grade] ..]: the entries of a piece before each of its segments. total[p]: the entries of all segments of
// piece p.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    counts(i64 n, const u32* words, const i64* begin, const u32* shape, const u32* piece, const u32* mark, u32* before,
           i64* total) {
  const i64 p = thread_number() / 32;
  if (p >= n) return;
  const u32 lane = threadIdx.x & 31;
  u32 grade = 0;
  while (p >= piece[grade + 1]) ++grade;
  const u32 later = shape[4 * p], runs = shape[4 * p + 1], here = shape[4 * p + 2], s = shape[4 * p + 3] + lane;
  u32 count = 0;
  if (lane < here) {
    const bool in_runs = s < runs;
    i64 at = begin[p] + (in_runs ? (i64)s * SEGMENT : later + (i64)(s - runs) * SEGMENT);
    count = gamma_at(words, at);
    if (in_runs) {
      u32 left = count;
      for (count = 0; left; --left) gamma_at(words, at), count += gamma_at(words, at) + LEAST;
    }
  }
  const u32 upto = sum_upto<32>(count, lane);
  const u32 lanes = 32u >> grade;
  if (lane < lanes) before[mark[grade] + (p - piece[grade]) * lanes + lane] = upto - count;
  if (lane == 31) total[p] = upto;
}
#endif  // KERNEL_counts

#ifdef KERNEL_pull_binned
// Degree-binned pull on CGR rows (formats/binned.cuh).
// A lane reads one segment, or a whole row with at most one segment of each kind.
// RANKED: `before` has the entries of a piece before each of its segments; those of a grade begin at mark[grade].
#define PIECES() const i64 *begin, const u32 *shape, const u32 *near
#define CODES() const u32 *words, const u32 *mark, const u32 *before
#define PIECES_OF {begin, shape, near, mark, before}

struct Pieces {
  const i64* begin;
  const u32 *shape, *near;
  const u32 *mark, *before;
};

struct Lane {
  i64 at;
  u32 row, later, runs, here, base;  // from Grades.shape
  // The three current words of residuals and the index of the first; shift: bit in w0.
  u32 w0, w1, w2, word, shift;
  u32 entries;  // of the piece, before this lane's
  bool mine, alone, in_runs;

  __device__ __forceinline__ void load(const Pieces& of, u32 grade, u32 number, u32 p) {
    at = of.begin[p], row = of.near[p];
    alone = grade == 5, mine = true, here = 1;
    if (RANKED && !alone) entries = of.before[of.mark[grade] + 32 * number + (threadIdx.x & 31)];
    if (!alone)
      later = of.shape[4 * p], runs = of.shape[4 * p + 1], here = of.shape[4 * p + 2], base = of.shape[4 * p + 3];
  }
  __device__ __forceinline__ void open(const Pieces& of, const u32*, u32 log_lanes) {
    const u32 number = threadIdx.x & ((1u << log_lanes) - 1), s = base + number;
    mine = mine && number < here;
    in_runs = mine && (alone || s < runs);
    at += in_runs ? (i64)s * SEGMENT : later + (i64)(s - runs) * SEGMENT;
  }
  __device__ __forceinline__ u32 before(u32) const { return entries; }
  template <class S>
  __device__ __forceinline__ void run(const Pieces&, const u32* words, S& sums) {
    u32 left = in_runs ? gamma_at(words, at) : 0, column = row;
    for (bool first = true; __any_sync(ALL_LANES, left); first = false) {
      u32 from = 0, length = 0;
      if (left) {
        const u32 gap = gamma_at(words, at);
        length = gamma_at(words, at) + LEAST;
        from = column + (first ? unfolded(gap) : gap + 1);
        column = from + length - 1, --left;
      }
      sums.range(from, length);
    }
    if (in_runs && alone) gamma_at(words, at), in_runs = false;
    left = mine && !in_runs ? gamma_at(words, at) : 0;
    column = row;
    if (!left) at = 0;
    u32 none = 0;
    const u32* const from = words + (at >> 5);
    shift = (u32)at & 31;
    word = 0, w0 = from[0], w1 = from[1], w2 = from[2];
    const u32 value = left ? zeta_in(window(words, at), none) : 0;  // later values are coded as gaps
    column += unfolded(value) - value - 1;
    sums.each(left, [&] {
      refill(from);
      const u32 bits = __funnelshift_l(w1, w0, shift), h = (u32)__clz((int)bits);
      u32 gap = bits << (h + 1) >> (32 - ZETA * (h + 1)), used = DIGIT * (h + 1);  // the gap plus 1
      if (!WIDTH && h >= 32 / DIGIT) {  // a code of more than 32 bits
        used = 0, gap = zeta_in((u64)bits << 32 | __funnelshift_l(w2, w1, shift), used) + 1;
        shift += 32, used -= 32;
        refill(from);
      }
      shift += used;
      return column += gap;
    });
  }

 private:
  __device__ __forceinline__ void refill(const u32* from) {
    const bool next = shift >= 32;
    word += next, shift -= next ? 32 : 0;
    w0 = next ? w1 : w0, w1 = next ? w2 : w1;
    load_if(w2, from + (word + 2), next);
  }
};
#include "formats/binned.cuh"
#endif  // KERNEL_pull_binned
