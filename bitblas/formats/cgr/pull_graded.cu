// Degree-binned pull on CGR rows (formats/graded_codes.cuh).
// A lane reads one segment, or a whole row with at most one segment of each kind.
// RANKED: `before` has the entries of a piece before each of its segments; those of a grade begin at mark[grade].
#include "kernels/base.cuh"
#include "formats/cgr/code.cuh"
#define PIECES() const i64 *begin, const u32 *shape, const u32* near
#define CODES() const u32 *words, i64 segment, const u32 *mark, const u32* before
#define PIECES_OF {begin, shape, near, segment, mark, before}

struct Pieces {
  const i64* begin;
  const u32 *shape, *near;
  i64 segment;
  const u32 *mark, *before;
};

struct Lane {
  i64 at;
  u32 row, later, runs, here, base;  // from Grades.shape
  // The three current words of residuals and the index of the first; shift: bit in w0.
  u32 w0, w1, w2, word, shift;
  u32 entries;  // of the piece, before this lane's
  bool mine, alone, in_runs;

  __device__ __forceinline__ void ask(const Pieces& of, u32 grade, u32 number, u32 p) {
    at = of.begin[p], row = of.near[p];
    alone = grade == 5, mine = true, here = 1;
    if (RANKED && !alone) entries = of.before[of.mark[grade] + 32 * number + (threadIdx.x & 31)];
    if (!alone) later = of.shape[4 * p], runs = of.shape[4 * p + 1], here = of.shape[4 * p + 2], base = of.shape[4 * p + 3];
  }
  __device__ __forceinline__ void open(const Pieces& of, const u32*, u32 log_lanes) {
    const u32 number = threadIdx.x & ((1u << log_lanes) - 1), s = base + number;
    mine = mine && number < here;
    in_runs = mine && (alone || s < runs);
    at += in_runs ? (i64)s * of.segment : later + (i64)(s - runs) * of.segment;
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
      u32 gap = bits << (h + 1) >> (29 - 3 * h), used = 4 * (h + 1);  // the gap plus 1
      if (!WIDTH && h > 7) {  // a code of more than 32 bits
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
#include "formats/graded_codes.cuh"
