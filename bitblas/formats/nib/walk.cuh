// Read nibble rows: one lane value by value (Scan), or G lanes side by side (Walk). See coded_kernels.cuh for the interface.
#include "formats/blocks.cuh"

__device__ __forceinline__ Extent row_extent(const i64* heads, const u32* words, i64 row) {
  return extent_of<8>(heads, words, row);
}
__device__ __forceinline__ i64 words_of(const Extent& x) { return (x.end - x.at + 7) >> 3; }

// The part of a long row that a pull searches before its segments.
__device__ __forceinline__ Extent first_part(const Extent& x, i64 longest) { return {x.at, x.at + 8 * longest}; }

// A mark, the start of a segment of a long row: a nibble, the column before it, the number of entries before it in its
// row (0: start of the row), and the end of the segment.
#define MARK 4
#define STOPS 0x88888888u

// The 3 low bits of each of eight nibbles, concatenated.
__device__ __forceinline__ u32 without_stops(u32 w) {
  w = (w & 0x07070707u) | (w & 0x70707070u) >> 1;
  w = (w & 0x003f003fu) | (w & 0x3f003f00u) >> 2;
  return (w & 0xfffu) | (w >> 16) << 12;
}

// Walk a row with one lane, value by value from a window of 16 nibbles. For pulls that end at the first hit: they read
// few nibbles, while Walk would decode whole words. A value has at most 11 nibbles.
struct Scan {
  i64 at;  // the next nibble
  u32 left;  // nibbles left
  u32 column;  // the previous column; before the first value the row
  bool first;  // no value has been read yet
  u64 window;  // from `at` on; zeros if nothing was loaded

  __device__ __forceinline__ Scan() : at(0), left(0), column(0), first(false), window(0) {}
  // As a Walk, which also numbers entries.
  __device__ __forceinline__ Scan(const u32*, const Extent& x, i64 row, i64, int)
      : at(x.at), left((u32)(x.end - x.at)), column((u32)row), first(true), window(0) {}
  __device__ __forceinline__ Scan(const u32*, const i64* mark, i64, i64, int)
      : at(mark[0]), left((u32)(mark[3] - mark[0])), column((u32)mark[1]), first(mark[2] == 0), window(0) {}

  __device__ __forceinline__ bool more() const { return left != 0; }

  // The next column, as long as there are more.
  __device__ __forceinline__ u32 next(const u32* words) {
    const u64 stops = (u64)STOPS << 32 | STOPS;
    if (!(window & stops)) {
      const u32* word = words + (at >> 3);
      const u32 shift = (u32)(at & 7) * 4, middle = word[1];
      window = (u64)__funnelshift_r(middle, word[2], shift) << 32 | __funnelshift_r(word[0], middle, shift);
    }
    const int bits = __ffsll((i64)(window & stops));
    const u64 mine = window & (~0ull >> (64 - bits));
    u32 value = without_stops((u32)mine);
    if (mine >> 32) value |= without_stops((u32)(mine >> 32)) << 24;
    window >>= bits;
    at += bits >> 2, left -= min((u32)bits >> 2, left);  // the remaining nibbles may end within a value
    column += first ? (value >> 1) ^ (0u - (value & 1)) : value + 1;
    first = false;
    return column;
  }

  enum { FOUND = 4 };
  struct Found {
    bool some[FOUND];
    u32 column[FOUND];

    __device__ __forceinline__ bool has(int k) const { return some[k]; }
    __device__ __forceinline__ u32 at(int k) const { return column[k]; }
    __device__ __forceinline__ i64 number(int) const { return 0; }
  };
  __device__ __forceinline__ void step(const u32* words, int, Found& to) {
#pragma unroll
    for (int k = 0; k < FOUND; ++k) {
      to.some[k] = more();
      to.column[k] = to.some[k] ? next(words) : 0;
    }
  }
  __device__ __forceinline__ void stop() { left = 0; }
};

#define COMPLETED 8  // values that a lane completes in a step, at most

// Values that a lane completes in a step: one column after the other (`count`, `next`), or, in unrolled loops, by the
// nibbles at which values end (`has`, `at`, `number`), which costs half as much. A loop uses one of the two ways.
struct Found {
  int count;
  u32 bits, stops;  // unread bits of the word, and ends of values
  u32 from;  // nibbles of the word read so far
  u32 column;  // the last column; initially such that the first value can be taken from the word alone
  u32 open;  // nibbles of the first value in earlier words
  i64 entry;  // number of the first value among the entries of the matrix
  u32 base, ahead[COMPLETED];  // the column at each nibble that ends one

  __device__ __forceinline__ bool has(int k) const { return stops >> (4 * k + 3) & 1; }
  __device__ __forceinline__ u32 at(int k) const { return base + ahead[k]; }
  __device__ __forceinline__ i64 number(int k) const { return entry + __popc(stops & ((1u << 4 * k) - 1)); }

  // The next one; call at most `count` times.
  __device__ __forceinline__ u32 next() {
    const u32 end = (__ffs(stops) + 3) >> 2, size = 3 * (end - from);
    column += (bits & ((1u << size) - 1)) + 1;
    stops &= stops - 1, bits >>= size, from = end;
    return column;
  }
};

// Walk a row with G lanes side by side: each takes a word of eight nibbles and the values that end in it. Values end at a
// nibble with bit 3, so lanes need no guess; the unfinished value at the end of a word is passed to the next lane.
template <int G, bool NUMBERED, bool RANGES = false> struct Walk {
  enum { FOUND = COMPLETED };
  typedef ::Found Found;
  i64 at, entry;  // of the group: the next nibble, and the number of the next entry
  u32 left;  // nibbles left
  u32 column;  // the previous column; before the first value the row
  bool first;  // no value has been read yet
  u32 tail, tails;  // an unfinished value, and its nibbles

  __device__ __forceinline__ Walk() : at(0), entry(0), left(0), column(0), first(false), tail(0), tails(0) {}
  // From the beginning of row `row`, whose entries are numbered from `number` on.
  __device__ __forceinline__ Walk(const u32*, const Extent& x, i64 row, i64 number, int)
      : at(x.at), entry(number), left((u32)(x.end - x.at)), column((u32)row), first(true), tail(0), tails(0) {}
  // From a mark on.
  __device__ __forceinline__ Walk(const u32*, const i64* mark, i64, i64 number, int)
      : at(mark[0]), entry(number + mark[2]), left((u32)(mark[3] - mark[0])), column((u32)mark[1]), first(mark[2] == 0),
        tail(0), tails(0) {}
  // From the position of lane `owner`, which walked alone; now G lanes continue together.
  __device__ __forceinline__ Walk(const Scan& alone, int owner)
      : at(__shfl_sync(ALL_LANES, alone.at, owner)), entry(0), left(__shfl_sync(ALL_LANES, alone.left, owner)),
        column(__shfl_sync(ALL_LANES, alone.column, owner)), first(__shfl_sync(ALL_LANES, (int)alone.first, owner)),
        tail(0), tails(0) {}

  __device__ __forceinline__ bool more() const { return left != 0; }
  __device__ __forceinline__ void stop() { left = 0; }

  // Called by all lanes of the warp together.
  __device__ __forceinline__ void step(const u32* words, int lane, Found& to) {
    const i64 mine = at + 8 * lane;
    u32 w = 0, size = 0;  // nibbles in the word
    if (8 * lane < left) {
      size = left - 8 * lane < 8 ? left - 8 * lane : 8;
      const u32* word = words + (mine >> 3);
      w = __funnelshift_r(word[0], word[1], (u32)(mine & 7) * 4);
      if (size < 8) w &= (1u << 4 * size) - 1;
    }
    const u32 stops = w & STOPS, bits = without_stops(w);
    const u32 closed = stops ? 8 - (__clz(stops) >> 2) : 0;  // nibbles of values that end here
    u32 rest = closed < 8 ? bits >> 3 * closed : 0, rests = size - closed;
    u32 head = tail, heads = tails;
    if (G > 1) {
      // A value has at most 11 nibbles: a word without an end is between two that have one.
      if (__any_sync(ALL_LANES, !stops && size)) {
        const u32 below = __shfl_up_sync(ALL_LANES, lane || stops ? rest : tail | rest << 3 * tails, 1, G);
        const u32 belows = __shfl_up_sync(ALL_LANES, lane || stops ? rests : tails + rests, 1, G);
        if (!stops) {
          rest = (lane ? below : tail) | rest << 3 * (lane ? belows : tails);
          rests += lane ? belows : tails;
        }
      }
      const u32 up = __shfl_up_sync(ALL_LANES, rest, 1, G), ups = __shfl_up_sync(ALL_LANES, rests, 1, G);
      if (lane) head = up, heads = ups;
      tail = __shfl_sync(ALL_LANES, rest, G - 1, G), tails = __shfl_sync(ALL_LANES, rests, G - 1, G);
    } else {
      if (!stops) rest = tail | rest << 3 * tails, rests += tails;
      tail = rest, tails = rests;
    }
    // The first value of the row is in the lowest lane that completes one.
    bool leads = first && stops;
    if (G > 1) {
      const u32 who = __ballot_sync(ALL_LANES, stops != 0) & group_mask<G>();
      leads = leads && (u32)__ffs(who) - 1 == (threadIdx.x & 31);
      first = first && !who;
    } else {
      first = first && !stops;
    }
    // The part of the first value outside of this word; for a row's first value, the offset that makes it a gap.
    u32 more = 0, turned = 0;
    if (stops) {
      const u32 part = bits & ((1u << 3 * ((__ffs(stops) + 3) >> 2)) - 1), value = part << 3 * heads | head;
      turned = leads ? ((value >> 1) ^ (0u - (value & 1))) - 1 - value : 0;
      more = value - part + turned;
    }
    to = {__popc(stops), bits, stops, 0, 0, heads, 0, 0, {}};
    u32 sum = 0, value = head, length = 3 * heads;
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k) {
      value |= (w >> 4 * k & 7) << (length & 31);  // beyond the row's end there are zeros
      const bool ends = to.has(k);
      sum = ends ? sum + value + 1 : sum;
      length = ends ? 0 : length + 3;
      value = ends ? 0 : value;
      to.ahead[k] = sum;
    }
    sum += turned;
    const u32 before = sum_upto<G>(sum, lane);
    to.column = column + before - sum + more;
    to.base = column + before - sum + turned;
    column += G > 1 ? __shfl_sync(ALL_LANES, before, G - 1, G) : sum;
    if (NUMBERED) {
      const u32 below = group_sum_below<G>(to.count);
      to.entry = entry + below;
      entry += G > 1 ? __shfl_sync(ALL_LANES, below + to.count, G - 1, G) : to.count;
    }
    const u32 done = left < 8 * G ? left : 8 * G;
    at += done, left -= done;
  }
};

// f(column, entry) for each that a lane found.
template <class F> __device__ __forceinline__ void each(Found& found, F f) {
#pragma unroll 1
  for (int k = 0; k < found.count; ++k) {
    const u32 column = found.next();
    f(column, found.entry + k);
  }
}
