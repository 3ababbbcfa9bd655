// A walk through the nibbles of a row, by G lanes side by side: each takes a word of eight, and what it completes. No
// lane guesses where a value begins: it ends at a nibble with bit 3, and what a word leaves open goes to the next lane.
#include "formats/nib/row.cuh"
#define PER 8  // values that a lane completes at most in a step
#define STOPS 0x88888888u

// The 3 low bits of each of eight nibbles, side by side.
__device__ __forceinline__ u32 without_stops(u32 w) {
  w = (w & 0x07070707u) | (w & 0x70707070u) >> 1;
  w = (w & 0x003f003fu) | (w & 0x3f003f00u) >> 2;
  return (w & 0xfffu) | (w >> 16) << 12;
}

// What a lane completes in a step: columns, and the number of the first of them among the entries of the matrix. `ends`:
// where each value ends in its word, in nibbles; `open`: nibbles of the first one in words before.
struct Found {
  int count;
  u32 open;
  u32 column[PER];
  u32 ends;  // 4 bits each
  i64 entry;
};

template <int G, bool NUMBERED> struct Walk {
  i64 at, end, entry;  // of the group: the nibbles left, and the number of the next entry
  u32 column;          // the one before; of the first value the row
  bool first;          // no value has been read
  u32 tail, tails;     // what is open of a value, and its nibbles

  __device__ __forceinline__ Walk() : at(0), end(0), entry(0), column(0), first(false), tail(0), tails(0) {}
  // From the beginning of row `row`, whose entries are numbered from `number` on.
  __device__ __forceinline__ Walk(const Extent& x, i64 row, i64 number)
      : at(x.at), end(x.end), entry(number), column((u32)row), first(true), tail(0), tails(0) {}
  // From a mark on: a nibble, the column before and the entries before it in its row (0: it is the row's beginning).
  __device__ __forceinline__ Walk(const i64* mark, i64 stop, i64 number)
      : at(mark[0]), end(stop), entry(number + mark[2]), column((u32)mark[1]), first(mark[2] == 0), tail(0), tails(0) {}

  __device__ __forceinline__ bool more() const { return at < end; }
  __device__ __forceinline__ void stop() { at = end; }

  // The lanes of the warp call it together.
  __device__ __forceinline__ void step(const u32* words, int lane, Found& to) {
    const i64 mine = at + 8 * lane;
    const i64 left = end - mine;
    u32 w = 0;
    int size = 0;  // nibbles
    if (left > 0) {
      size = left < 8 ? (int)left : 8;
      const u32* word = words + (mine >> 3);
      w = __funnelshift_r(word[0], word[1], (u32)(mine & 7) * 4);
      if (size < 8) w &= (1u << 4 * size) - 1;
    }
    const u32 stops = w & STOPS, bits = without_stops(w);
    const int closed = stops ? 8 - (__clz(stops) >> 2) : 0;  // nibbles of values that end here
    u32 rest = closed < 8 ? bits >> 3 * closed : 0, rests = size - closed;
    u32 head = tail, heads = tails;
    if (G > 1) {
      // A value has at most 11 nibbles: a word without an end lies between two that have one.
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
    to.count = __popc(stops), to.open = heads, to.ends = 0;
    u32 sum = 0, from = 0, todo = stops;
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      if (k >= to.count) break;
      const u32 place = (__ffs(todo) + 3) >> 2;  // one after the value
      todo &= todo - 1;
      u32 v = (bits >> 3 * from) & ((1u << 3 * (place - from)) - 1);
      if (k == 0) v = v << 3 * heads | head;
      from = place;
      to.ends |= place << 4 * k;
      sum += k == 0 && leads ? (v >> 1) ^ (0u - (v & 1)) : v + 1;
      to.column[k] = sum;
    }
    u32 before = sum;
#pragma unroll
    for (int d = 1; d < G; d <<= 1) {
      const u32 below = __shfl_up_sync(ALL_LANES, before, d, G);
      if (lane >= d) before += below;
    }
    const u32 base = column + before - sum;
#pragma unroll
    for (int k = 0; k < PER; ++k)
      if (k < to.count) to.column[k] += base;
    column += G > 1 ? __shfl_sync(ALL_LANES, before, G - 1, G) : sum;
    if (NUMBERED) {
      const u32 below = group_sum_below<G>(to.count);
      to.entry = entry + below;
      entry += G > 1 ? __shfl_sync(ALL_LANES, below + to.count, G - 1, G) : to.count;
    }
    at = at + 8 * G < end ? at + 8 * G : end;
  }
};
