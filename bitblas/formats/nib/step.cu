// A round of a program by rows in nibbles: kernels/step_rows.cuh. LANES lanes decode a row together, a warp a segment of a
// long one. Of rows that pull (for WORDS) the first word is decoded by one lane, what follows, where it is needed, by the
// warp.
#include "formats/nib/rows.cuh"
#include "kernels/decoded_rows.cuh"
#define PULL_FORM() const i64 *pull_heads, const u32 *pull_words
#define PULL_FORM_OF() {pull_heads, pull_words}

struct Back {
  const i64* heads;
  const u32* words;

  // Whether u has an entry in row j, for the lanes that want to know; the warp calls it together.
  __device__ __forceinline__ Hit look(i64 j, bool wanted, const u64* u_bits) const {
    Walk<1, false> alone;
    if (wanted) alone = Walk<1, false>(row_extent(heads, words, j), j, 0);
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
