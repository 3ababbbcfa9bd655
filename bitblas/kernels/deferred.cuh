// Defer pulling rows that had no hit at their first guess, so that all lanes of a warp stay busy.
// Each warp collects such rows until it has enough for all of its lanes. Long rows are processed by the whole block
// (BY_BLOCK). The layout defines the row type (back_row_t) and walks 32 rows at a time.
#define APART 4         // with at most this many rows per warp, the rows are spread far apart
#define MOST_ROWS 512   // rows of a warp at a time
#define SLOTS 64        // deferred rows of a warp; it processes 32 as soon as it has them
#define LONGEST 1024    // entries of a row from which on the whole block searches it
#define LONG_SLOTS 32   // long rows that a block can queue; a warp searches further ones itself

// Rows that a warp takes at a time: a power of two such that every warp gets some.
__device__ __forceinline__ u32 rows_at_once(i64 rows, u32 warps) {
  u32 share = 1;
  while (share < MOST_ROWS && rows > (i64)warps * share) share *= 2;
  return share;
}

// Set bits of a warp's consecutive rows from `first` on, one per lane, the last row in lane 0. They are within one half
// word.
__device__ __forceinline__ void set_bits(u64* bits, u32 first, u32 rows, bool has) {
  const u32 word = __brev(__ballot_sync(ALL_LANES, has)) >> (32 - rows) << (first & 31);
  if (WARP_LANE == 0 && word) atomicOr((u32*)bits + (first >> 5), word);
}

struct Deferred {
  struct {
    back_row_t row[SLOTS];
    u32 number[SLOTS];
    u16 list[MOST_ROWS];         // the wanted ones among its current rows
    u32 found[MOST_ROWS / 32];  // bits of the rows whose first guess hit
  } of_warp[BLOCK / 32];
#if BY_BLOCK
  back_row_t row[LONG_SLOTS];
  u32 number[LONG_SLOTS], count;
#endif

  // Called by the whole warp. Returns the number of its deferred rows afterwards.
  __device__ __forceinline__ u32 put(bool add, const back_row_t& x, u32 number_of, u32 waiting) {
    auto& own = of_warp[threadIdx.x / 32];
    const u32 who = __ballot_sync(ALL_LANES, add), at = waiting + __popc(who & ((1u << WARP_LANE) - 1u));
    if (add) own.row[at] = x, own.number[at] = number_of;
    __syncwarp();
    return waiting + __popc(who);
  }
  // Take the last 32 deferred rows, or all, one per lane; long ones are queued for the block.
  __device__ __forceinline__ back_row_t take(u32& waiting, u32& number_of) {
    const auto& own = of_warp[threadIdx.x / 32];
    const u32 few = waiting < 32 ? waiting : 32;
    waiting -= few;
    back_row_t x = {};
    if (WARP_LANE < few) x = own.row[waiting + WARP_LANE], number_of = own.number[waiting + WARP_LANE];
    __syncwarp();
#if BY_BLOCK
    if ((i64)x.end - (i64)x.begin > LONGEST) {
      const u32 at = atomicAdd(&count, 1u);
      if (at < LONG_SLOTS) row[at] = x, number[at] = number_of, x = {};
    }
#endif
    return x;
  }
};
