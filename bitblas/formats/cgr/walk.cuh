// Read the columns of CGR rows: walk a row with G lanes, and read an interval from a bitset. See coded_kernels.cuh for
// the interface.
// In a walk, each lane takes a segment, first of intervals, then of residuals.
// Lanes that share one segment split the columns of its intervals, or decode its residuals together, each from its own
// nibble on.
#include "formats/blocks.cuh"
// The code's parameters. A layout has these values; benchmarks/papers.py compiles others.
#ifndef SEGMENT
#define SEGMENT 256  // bits
#endif
#ifndef LEAST
#define LEAST 4  // least columns of an interval
#endif
#ifndef ZETA
#define ZETA 3  // bits of a residual per zero before it
#endif
#define DIGIT (ZETA + 1)                        // a code of residuals has a multiple of so many bits
#define MOST_DIGITS ((32 + ZETA - 1) / ZETA)    // of one code

__device__ __forceinline__ Extent row_extent(const i64* heads, const u32* words, i64 row) {
  return extent_of<32>(heads, words, row);
}
__device__ __forceinline__ i64 words_of(const Extent& x) { return (x.end - x.at + 31) >> 5; }

// The 64 bits from bit `at` on.
__device__ __forceinline__ u64 window(const u32* words, i64 at) {
  const u32* word = words + (at >> 5);
  const u32 shift = (u32)at & 31;
  return (u64)__funnelshift_l(word[1], word[0], shift) << 32 | __funnelshift_l(word[2], word[1], shift);
}

// Gamma code of a number: h zeros, a 1, and h more bits, which together with the 1 are the number plus 1.
__device__ __forceinline__ u32 gamma_at(const u32* words, i64& at) {
  const u64 bits = window(words, at);
  const int h = __clzll((i64)bits);
  at += 2 * h + 1;
  return (u32)(bits >> (63 - 2 * h)) - 1;
}

// zeta_k, k = ZETA: h zeros, a 1, and k (h + 1) bits, which are the number plus 1. `used`: bits of the window read.
__device__ __forceinline__ u32 zeta_in(u64 window, u32& used) {
  const u64 bits = window << used;
  const u32 h = (u32)__clzll((i64)bits), size = ZETA * (h + 1);
  used += DIGIT * (h + 1);
  return (u32)(bits << (h + 1) >> (64 - size)) - 1;
}
#define ZETA_BITS (DIGIT * MOST_DIGITS)  // at most

// The signed distance of a segment's first value from the row.
__device__ __forceinline__ u32 unfolded(u32 value) { return (value >> 1) ^ (0u - (value & 1)); }

// ---- Walks. ----

#ifndef TAKEN
#define TAKEN 4  // columns that a lane finds in a step, at most
#endif
#define MARK 6  // numbers per mark, the start of a part of a long row (convert.cu): the starts of the first segments
#ifndef TWO_PHASES
#define TWO_PHASES 0  // 1: lanes of a warp do not read residuals while others read intervals (docs/evaluations.md)
#endif

// Nothing: presence is searched in the parts of a long row, which set the bit themselves.
__device__ __forceinline__ Extent first_part(const Extent& x, i64) { return {x.at, x.at}; }

// Columns that a lane finds in a step, or (RANGES) a whole interval. entry: number of the first among the entries of
// the matrix.
struct Found {
  bool some[TAKEN];
  u32 column[TAKEN];
  u32 from, length;
  i64 entry;

  __device__ __forceinline__ bool has(int k) const { return some[k]; }
  __device__ __forceinline__ u32 at(int k) const { return column[k]; }
  __device__ __forceinline__ i64 number(int k) const { return entry + k; }
};
// f(column, entry) for each.
template <class F> __device__ __forceinline__ void each(const Found& found, F f) {
#pragma unroll
  for (int k = 0; k < TAKEN; ++k)
    if (found.has(k)) f(found.at(k), found.number(k));
}

template <int G, bool NUMBERED, bool RANGES = false> struct Walk {
  enum { FOUND = TAKEN };
  typedef ::Found Found;
  i64 at, area;
  const i64* mark;  // of a part of a row
  i64 number;  // of the row's first entry
  u32 entry, base;  // within the row: the lane's next entry, and (G > 1) the end of those that its group has taken
  u32 row, column;
  u32 segments, next;
  u32 left, run;  // codes left in the segment, and columns left in the interval
  u32 first : 1, runs : 1, together : 1, done : 1;

  __device__ __forceinline__ Walk()
      : at(0), area(0), mark(nullptr), number(0), entry(0), base(0), row(0), column(0), segments(0), next(0), left(0),
        run(0), first(false), runs(false), together(false), done(true) {}
  // A row whose entries are numbered from `number` on.
  __device__ __forceinline__ Walk(const u32* words, const Extent& x, i64 row, i64 number, int lane) : Walk() {
    if (x.at == x.end) return;
    done = false, runs = true, this->row = (u32)row;
    this->number = number, next = lane;
    begin_area(words, x.at);
    join(words, lane);
  }
  // A part of a long row.
  __device__ __forceinline__ Walk(const u32* words, const i64* mark, i64 row, i64 number, int lane) : Walk() {
    done = false, runs = true, this->row = (u32)row, this->mark = mark;
    this->number = number, next = lane;
    area = mark[0], segments = (u32)mark[1], entry = base = (u32)mark[2];
    join(words, lane);
  }

  __device__ __forceinline__ bool more() const { return !done; }
  __device__ __forceinline__ void stop() { done = true, left = run = 0; }

  // Called by all lanes of the warp.
  __device__ __forceinline__ void step(const u32* words, int lane, Found& to) {
    refill(words, lane);
#pragma unroll
    for (int k = 0; k < TAKEN; ++k) to.some[k] = false, to.column[k] = 0;
    to.from = to.length = 0, to.entry = number + entry;
    const bool joint = G > 1 && together;
    if (G > 1 && __any_sync(ALL_LANES, joint && !runs)) decode_together(words, lane, to);
    const bool inside = !done && runs;
    if (inside && !run && left) {
      follow(gamma_at(words, at));
      run = gamma_at(words, at) + LEAST;
    }
    if (G > 1 && !RANGES && lead(lane, inside && !joint, to)) return;
    if (done || (joint && !runs)) return;
    if (runs) {
      if (RANGES) {
        if (!joint || lane == 0) to.from = column, to.length = run;
        count(run);
        column += run - (run > 0), run = 0;
      } else if (run) {
        const u32 wide = joint ? TAKEN * G : TAKEN, some = run < wide ? run : wide, mine = joint ? TAKEN * lane : 0;
#pragma unroll
        for (int k = 0; k < TAKEN; ++k) to.some[k] = mine + k < some, to.column[k] = column + mine + k;
        to.entry += mine;
        count(some);
        run -= some, column += some - !run;
      }
    } else if (left) {
      u64 bits = window(words, at);
      u32 used = 0;
      const u32 before = left;
#pragma unroll
      for (int k = 0; k < TAKEN; ++k) {
        if (!left) continue;
        if (k && used > 64 - ZETA_BITS) at += used, bits = window(words, at), used = 0;
        follow(zeta_in(bits, used));
        to.some[k] = true, to.column[k] = column;
      }
      at += used;
      count(before - left);
    }
  }

 private:
  __device__ __forceinline__ void begin_area(const u32* words, i64 begin) {
    at = begin;
    segments = gamma_at(words, at) + 1;
    area = at;
  }
  __device__ __forceinline__ void follow(u32 value) {
    column += first ? unfolded(value) : value + 1;
    first = false, --left;
  }
  __device__ __forceinline__ void count(u32 some) {
    if (NUMBERED) entry += some;
  }
  // Begin the lane's next segment.
  __device__ __forceinline__ void begin(const u32* words) {
    at = area + (i64)next * SEGMENT;
    left = gamma_at(words, at);
    column = row, first = true, next += G;
  }

  __device__ __forceinline__ void refill(const u32* words, int lane) {
    if (G == 1) {
      if (!done && !left && !run && next < segments) begin(words);
      const bool idle = done || (!left && !run);  // only a single segment may have no codes
      const bool wait = TWO_PHASES && __any_sync(ALL_LANES, runs && !idle);
      if (done || !idle || wait) return;
      if (runs) residuals(words, at, lane);
      else done = true;
      if (!done && next < segments) begin(words);
      if (!left && next >= segments) done = true;
      return;
    }
    const u32 mine = group_mask<G>();
    for (int kind = 0; kind < 2; ++kind) {  // after the intervals, continue with the residuals
      const bool idle = !(__ballot_sync(ALL_LANES, !done && (left || run)) & mine);
      const u32 begun = next - lane;  // of the group's segments
      const bool batch = idle && !done && begun < segments;
      if (batch) {
        if (next < segments) begin(words);
        else next += G;
      }
      if (NUMBERED && __any_sync(ALL_LANES, batch)) {
        const u32 some = batch && left ? runs ? columns_of(words) : left : 0, upto = sum_upto<G>(some, lane);
        const u32 all = __shfl_sync(ALL_LANES, upto, G - 1, G);
        if (batch) entry = base + upto - some, base += all;
      }
      const bool turns = idle && !done && !batch;
      // The lane that had the last segment of intervals is at the start of the residuals.
      const i64 after = __shfl_sync(ALL_LANES, at, (segments - 1) & (G - 1), G);
      if (!__any_sync(ALL_LANES, turns)) break;
      if (turns && runs) residuals(words, after, lane);
      else if (turns) done = true;
    }
  }
  // The columns of the intervals in the segment that has begun.
  __device__ __forceinline__ u32 columns_of(const u32* words) const {
    i64 place = at;
    u32 found = 0;
    for (u32 k = 0; k < left; ++k) gamma_at(words, place), found += gamma_at(words, place) + LEAST;
    return found;
  }
  __device__ __forceinline__ void residuals(const u32* words, i64 after, int lane) {
    if (G > 1 && !mark) {
      if (together) base = entry;
      else entry = base;
    }
    runs = together = false, next = lane;
    if (!mark) {
      begin_area(words, after);
    } else {
      area = mark[3], segments = (u32)mark[4];
      entry = base = (u32)mark[5];
    }
    join(words, lane);
  }
  // All lanes share one segment.
  __device__ __forceinline__ void join(const u32* words, int lane) {
    if (G == 1 || segments != 1) return;
    at = area, left = gamma_at(words, at);
    column = row, first = true, next = G + lane, together = true;
  }
  // Share a lane's long interval among its group; returns whether there was one. Long means at least half of a step of
  // the group: a lane alone would take G / 2 steps.
  __device__ __forceinline__ bool lead(int lane, bool own, Found& to) {
    const u32 wide = TAKEN * G, longs = __ballot_sync(ALL_LANES, own && run >= wide / 2) & group_mask<G>();
    const int leader = longs ? (__ffs(longs) - 1) & (G - 1) : 0;
    const u32 from = __shfl_sync(ALL_LANES, column, leader, G), before = __shfl_sync(ALL_LANES, entry, leader, G);
    const u32 long_run = __shfl_sync(ALL_LANES, run, leader, G), some = long_run < wide ? long_run : wide;
    if (!longs) return false;
#pragma unroll
    for (int k = 0; k < TAKEN; ++k) to.some[k] = TAKEN * lane + k < some, to.column[k] = from + TAKEN * lane + k;
    to.entry = number + before + TAKEN * lane;
    if (lane == leader) {
      count(some);
      run -= some, column += some - !run;
    }
    return true;
  }
  // All lanes of a group are at the same bit. A code begins at the first nibble (DIGIT bits) and at the end of each
  // code; the reachable starts are found by pointer jumping (pos = pos[pos]).
  __device__ __forceinline__ void decode_together(const u32* words, int lane, Found& to) {
    const bool mine = together && !runs && left;
    u32 value = 0, to_lane = G, used = 0;
    if (mine) {
      const u64 bits = window(words, at + DIGIT * lane);
      const int zeros = __clzll((i64)bits);
      if (zeros < MOST_DIGITS)
        value = zeta_in(bits, used), to_lane = lane + zeros + 1;  // otherwise no code begins there
    }
    u32 reached = 1u << lane;
    const u32 after = to_lane;
#pragma unroll
    for (int round = 1; round < G; round <<= 1) {
      const int there = to_lane & (G - 1);
      const u32 theirs = __shfl_sync(ALL_LANES, reached, there, G), beyond = __shfl_sync(ALL_LANES, to_lane, there, G);
      if (to_lane < G) reached |= theirs, to_lane = beyond;
    }
    const u32 begins = __shfl_sync(ALL_LANES, reached, 0, G), rank = __popc(begins & ((1u << lane) - 1));
    const bool has = mine && begins >> lane & 1 && rank < left;
    const u32 sum = sum_upto<G>(has ? lane == 0 && first ? unfolded(value) : value + 1 : 0, lane);
    const u32 all = __ballot_sync(ALL_LANES, has) & group_mask<G>();
    const int last = mine ? (31 - __clz((int)all)) & (G - 1) : 0;
    const u32 steps = __shfl_sync(ALL_LANES, after, last, G), ahead = __shfl_sync(ALL_LANES, sum, last, G);
    if (!mine) return;
    to.some[0] = has, to.column[0] = column + sum, to.entry = number + entry + rank;
    count(__popc(all));
    at += DIGIT * steps, column += ahead;
    left -= __popc(all), first = false;
  }
};

// ---- A range of positions of a bitset, word by word: an interval needs no list of columns. ----

// f(k, bits): half word number k, and its bits within the range; stops when f returns false.
template <class F> __device__ __forceinline__ void words_in(u32 from, u32 length, F f) {
  if (!length) return;
  const u32 last = from + length - 1;
  for (u32 k = from >> 5; k <= last >> 5; ++k) {
    u32 bits = ~0u;
    if (k == from >> 5) bits &= ~0u << (from & 31);
    if (k == last >> 5) bits &= ~0u >> (31 - (last & 31));
    if (!f(k, bits)) return;
  }
}
__device__ __forceinline__ bool any_in(const u64* set, u32 from, u32 length) {
  bool found = false;
  words_in(from, length, [&](u32 k, u32 bits) { return !(found = (((const u32*)set)[k] & bits) != 0); });
  return found;
}
__device__ __forceinline__ i64 count_in(const u64* set, u32 from, u32 length) {
  i64 found = 0;
  words_in(from, length, [&](u32 k, u32 bits) { return found += __popc(((const u32*)set)[k] & bits), true; });
  return found;
}
