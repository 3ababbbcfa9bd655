// A round of a program by rows in nibbles: kernels/step_rows.cuh. LANES lanes decode a row together, so many rows at a time
// as a warp has such groups; a warp decodes a segment of a long one. Of rows that pull (for WORDS) the first word is decoded by one lane, what follows, where it is needed, by the
// warp.
#include "formats/nib/rows.cuh"
#define PULL_FORM() const i64 *pull_heads, const u32 *pull_words
#define PULL_FORM_OF() {pull_heads, pull_words}

#define PARTS 1
enum { AT_ONCE = 1 };
typedef i64 entry_t;
typedef u32 number_t;

template <class Take> __device__ __forceinline__ void walk_rows(const Rows& rows, const Item& mine, Take take) {
  u32 todo = __ballot_sync(ALL_LANES, mine.begin < mine.end);
  while (todo) {
    u32 own = todo;  // the row of this group of lanes
#pragma unroll
    for (int g = 0; g < 32 / LANES; ++g) {
      if (g < WARP_LANE / LANES) own &= own - 1;
      todo &= todo - 1;
    }
    const int owner = own ? __ffs(own) - 1 : 0;
    const u32 i = __shfl_sync(ALL_LANES, mine.unit, owner);
    Item row = {};
    if (own) row = rows.item(i);  // once more: it is near, and registers are few
    rows.along(row, WARP_LANE & (LANES - 1), LANES, [&](bool has, i64 j, i64 e) {
      const number_t column = (number_t)j;
      take(&has, &column, &e, &owner);
    });
  }
}

template <class Take>
__device__ __forceinline__ void walk_segment(const Rows& rows, u32 i, u32 s, int, i64 longest, Take take) {
  rows.along_segment(i, s, longest, [&](bool has, i64 j, i64 e) {
    const number_t column = (number_t)j;
    const int owner = 0;
    take(&has, &column, &e, &owner);
  });
}

struct Back {
  const i64* heads;
  const u32* words;

  struct Row {  // where it lies would take registers that there are not
    bool wanted;
  };
  __device__ __forceinline__ Row row(i64, bool wanted) const { return {wanted}; }

  // Whether u has an entry in row j; the warp calls it together.
  __device__ __forceinline__ Hit look(const Row& x, i64 j, const u64* u_bits) const {
    Walk<1, false> alone;
    if (x.wanted) alone = Walk<1, false>(row_extent(heads, words, j), j, 0);
    bool hit = false;
    const auto see = [&](Found& of) {
#pragma unroll
      for (int at = 0; at < COMPLETED; ++at)
        if (of.has(at)) hit = bit_of(u_bits, of.at(at)) || hit;
    };
    if (alone.more()) {
      Found of;
      alone.step(words, 0, of);
      see(of);
    }
    u32 rest = __ballot_sync(ALL_LANES, !hit && alone.more());
    for (; rest; rest &= rest - 1) {
      const int owner = __ffs(rest) - 1;
      const bool before = hit;
      hit = false;
      Walk<32, false> walk(alone, owner);
      u32 who = 0;
      while (walk.more() && !who) {
        Found of;
        walk.step(words, WARP_LANE, of);
        see(of);
        who = __ballot_sync(ALL_LANES, hit);
      }
      hit = WARP_LANE == owner ? who != 0 : before;
    }
    return {hit, 0, 0};
  }
};

#include "kernels/step_rows.cuh"
