// Advance on nibble rows, one round of a device loop (kernels/step_rows.cuh).
// LANES lanes decode a row together, a warp a segment of a long one.
// Rows that pull (WORDS only) are read by one lane each as long as many lanes have work, then by several lanes, a few
// rows at a time.
#include "formats/nib/rows.cuh"
#define STEP_BLOCKS (__CUDA_ARCH__ >= 900 && KIND != WORDS ? 4 : 3)  // with four, registers would be spilled
#include "kernels/decoded_rows.cuh"
#define PULL_FORM() const i64 *pull_heads, const u32 *pull_words, const u32 *pull_likely, const u64 *pull_rows, i64 pull_guesses
#define PULL_FORM_OF() {{pull_likely, pull_rows, pull_guesses}, pull_heads, pull_words}
#define FEW 4       // values that a lane tests at a time
#define ALONE 12    // rows per warp from which on each lane searches its own
#define TOGETHER 8  // lanes that share each of the other rows

struct Back : Likely {
  const i64* heads;
  const u32* words;

  template <class W> __device__ __forceinline__ bool hits(W& walk, int lane, const u64* u_bits) const {
    Found of;
    walk.step(words, lane, of);
    bool hit = false;
#pragma unroll
    for (int k = 0; k < COMPLETED; ++k)
      if (of.has(k)) hit = bit_of(u_bits, of.at(k)) || hit;
    return hit;
  }
  // Whether u has an entry in row j, for the lanes with `wanted`; called by the whole warp.
  __device__ __forceinline__ Hit look(i64 j, bool wanted, const u64* u_bits) const {
    Scan alone;
    if (wanted) alone = Scan(row_extent(heads, words, j), j, 0);
    bool hit = false;
    while (__popc(__ballot_sync(ALL_LANES, alone.more() && !hit)) >= ALONE) {
      bool has[FEW];
      u32 at[FEW];
#pragma unroll
      for (int k = 0; k < FEW; ++k) {
        has[k] = !hit && alone.more();
        at[k] = has[k] ? alone.next(words) : 0;
      }
#pragma unroll
      for (int k = 0; k < FEW; ++k) hit = (has[k] && bit_of(u_bits, at[k])) || hit;
    }
    const auto start = [&](int owner) { return Walk<TOGETHER, false>(alone, owner); };
    const auto on = [&](Walk<TOGETHER, false>& walk, int lane) { return hits(walk, lane, u_bits); };
    hit = look_together<TOGETHER>(!hit && alone.more(), start, on) || hit;
    return {hit, 0, 0};
  }
};

#include "kernels/step_rows.cuh"
