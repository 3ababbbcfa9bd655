// Advance on CGR rows, one round of a device loop (kernels/step_rows.cuh).
// LANES lanes read a row, a warp a part of a long one.
// Rows that pull (WORDS only) are read by one lane each; what is left after some steps is read by several lanes, a few
// rows at a time.
#include "formats/cgr/rows.cuh"
#define STEP_BLOCKS 3  // blocks per multiprocessor: with four, registers would be spilled
#include "kernels/decoded_rows.cuh"
#define PULL_FORM()                                                                                                   \
  const i64 *pull_heads, const u32 *pull_words, i64 pull_segment, const u32 *pull_likely, const u64 *pull_rows,        \
      i64 pull_guesses
#define PULL_FORM_OF() {{pull_likely, pull_rows, pull_guesses}, pull_heads, pull_words, pull_segment}
#define ALONE 8     // steps that each lane walks its own row
#define TOGETHER 8  // lanes that share a row afterwards

struct Back : Likely {
  const i64* heads;
  const u32* words;
  i64 segment;

  template <class W> __device__ __forceinline__ bool hits(W& walk, int lane, const u64* u_bits) const {
    Found of;
    walk.step(words, lane, of);
    bool hit = of.length && any_in(u_bits, of.from, of.length);
#pragma unroll
    for (int k = 0; k < TAKEN; ++k)
      if (of.has[k]) hit = bit_of(u_bits, of.at[k]) || hit;
    return hit;
  }
  // Whether u has an entry in row j, for the lanes with `wanted`; called by the whole warp.
  __device__ __forceinline__ Hit look(i64 j, bool wanted, const u64* u_bits) const {
    Extent x = {0, 0};
    if (wanted) x = row_extent(heads, words, j);
    Walk<1, false, true> alone(words, x, segment, j, 0, 0);
    bool hit = false;
    for (int k = 0; k < ALONE && __any_sync(ALL_LANES, alone.more()); ++k) {
      hit = hits(alone, 0, u_bits) || hit;
      if (hit) alone.stop();
    }
    const auto start = [&](int owner) {
      const Extent all = {__shfl_sync(ALL_LANES, x.at, owner), __shfl_sync(ALL_LANES, x.end, owner)};
      const i64 row = __shfl_sync(ALL_LANES, j, owner);
      return Walk<TOGETHER, false, true>(words, all, segment, row, 0, WARP_LANE & (TOGETHER - 1));
    };
    const auto on = [&](Walk<TOGETHER, false, true>& walk, int lane) { return hits(walk, lane, u_bits); };
    hit = look_together<TOGETHER>(alone.more(), start, on) || hit;
    return {hit, 0, 0};
  }
};

#include "kernels/step_rows.cuh"
