// Defer pulling rows that had no hit at their first guess, so that all lanes of a warp stay busy.
// Each warp collects such rows until it has enough for all of its lanes. Long rows are processed by the whole block
// (BY_BLOCK). The layout defines the row type (back_row_t) and walks 32 rows at a time.
#define APART 4         // rows of a warp, up to which they are far from each other
#define MOST_ROWS 512   // of a warp at a time
#define SLOTS 64        // of a warp: it takes 32 rows as soon as it has them
#define LONGEST 1024    // entries of a row, from which on a block looks at it
#define LONG_SLOTS 32   // rows that wait for that; further ones are looked at by their warp

// Rows of a warp at a time, of so many: a power of two, that every warp has some.
__device__ __forceinline__ u32 rows_at_once(i64 rows, u32 warps) {
  u32 share = 1;
  while (share < MOST_ROWS && rows > (i64)warps * share) share *= 2;
  return share;
}

// Bits of rows of a warp that follow each other from `first` on, one a lane, the last row in the first lane: no more than a
// half word has.
__device__ __forceinline__ void set_bits(u64* bits, u32 first, u32 rows, bool has) {
  const u32 word = __brev(__ballot_sync(ALL_LANES, has)) >> (32 - rows) << (first & 31);
  if (WARP_LANE == 0 && word) atomicOr((u32*)bits + (first >> 5), word);
}

struct Deferred {
  struct {
    back_row_t row[SLOTS];
    u32 number[SLOTS];
    u16 list[MOST_ROWS];         // of the rows that it has now those that are wanted
    u32 found[MOST_ROWS / 32];  // bits of those that have found an entry at the first look
  } of_warp[BLOCK / 32];
#if BY_BLOCK
  back_row_t row[LONG_SLOTS];
  u32 number[LONG_SLOTS], count;
#endif

  // The whole warp calls it: how many rows of it wait then.
  __device__ __forceinline__ u32 put(bool add, const back_row_t& x, u32 number_of, u32 waiting) {
    auto& own = of_warp[threadIdx.x / 32];
    const u32 who = __ballot_sync(ALL_LANES, add), at = waiting + __popc(who & ((1u << WARP_LANE) - 1u));
    if (add) own.row[at] = x, own.number[at] = number_of;
    __syncwarp();
    return waiting + __popc(who);
  }
  // The last 32 of those that wait, or all, one a lane; those that are long wait for the block.
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
