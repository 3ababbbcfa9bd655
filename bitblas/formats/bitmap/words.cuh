// Words of the bitmap of a multivector that is the frontier of a device loop, with their list.
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"
#define LINES_IN_WORD (64 / BITS)

// A frontier that is read: its bits, and the words that have, or had, entries, unless its state says DENSE.
struct ListView {
  const u64* bits;
  const u32* list;
  const u64* state;
};
// One that is written.
struct NextList {
  u64* bits;
  u32* list;
  u64* state;
};

// Position of the set bit that has `number` set bits below it.
__device__ __forceinline__ int place_of_bit(u64 bits, u32 number) {
  int place = 0;
#pragma unroll
  for (int d = 32; d; d >>= 1) {
    const u32 below = __popcll(bits & ((1ull << d) - 1));
    if (number < below) continue;
    number -= below, bits >>= d, place += d;
  }
  return place;
}

// f(inside, word, place) for the places of a word from each lane, a lane a place, 32 at a time. Called by the whole warp.
template <class F> __device__ __forceinline__ void each_place(u64 places, u32 word, F f) {
  const u32 before = group_sum_below<32>(__popcll(places));
  const u32 total = __shfl_sync(ALL_LANES, before + __popcll(places), 31);
  for (u32 done = 0; done < total; done += 32) {
    const u32 number = done + WARP_LANE;
    int owner = 0;  // last lane with at most that many places before its own
#pragma unroll
    for (int d = 16; d; d >>= 1)
      if (__shfl_sync(ALL_LANES, before, owner + d) <= number) owner += d;
    const u64 bits = __shfl_sync(ALL_LANES, places, owner);
    const u32 at = __shfl_sync(ALL_LANES, word, owner), first_of = __shfl_sync(ALL_LANES, before, owner);
    const bool inside = number < total;
    f(inside, at, inside ? place_of_bit(bits, number - first_of) : 0);
  }
}

// The words of `lines` lines: of BITS bits each (per_line 1), or of several words. last: the valid positions of the last
// word of a line.
struct WordsOf {
  i64 lines, per_line;
  u64 last;

  // The word number w of line j; x at its place there; the reverse.
  __device__ __forceinline__ i64 at(i64 j, i64 w) const { return BITS == 64 ? j * per_line + w : j / LINES_IN_WORD; }
  __device__ __forceinline__ u64 shifted(u64 x, i64 j) const { return x << (j % LINES_IN_WORD * BITS & 63); }
  __device__ __forceinline__ u64 places_at(u64 word, i64 j) const {
    return word >> (j % LINES_IN_WORD * BITS & 63) & ~0ull >> (64 - BITS);
  }
  __device__ __forceinline__ u64 line(const u64* bits, i64 j, i64 w) const { return places_at(bits[at(j, w)], j); }
  // Line number `number` of a word, and its places; the number of the word within its line.
  __device__ __forceinline__ i64 row(i64 word, int number) const {
    return BITS < 64 ? word * LINES_IN_WORD + number : per_line == 1 ? word : word / per_line;
  }
  __device__ __forceinline__ u64 places_of(u64 x, int number) const { return places_at(x, number); }
  __device__ __forceinline__ i64 of_line(i64 word) const { return BITS < 64 || per_line == 1 ? 0 : word % per_line; }
  // The places of a line among those that a mask allows in its word.
  __device__ __forceinline__ u64 open(u64 allowed, i64 j, i64 w) const {
    return places_at(allowed, j) & (w == per_line - 1 ? last : ~0ull);
  }
};
