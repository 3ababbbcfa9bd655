// Degree-binned nibble rows (binning.py): pieces are rows, or segments of 32 CHUNK entries of longer rows.
// A lane takes at most CHUNK entries, so a row gets as many lanes as it needs, a power of two; a segment gets 32.
#define CHUNK (1 << LOG_CHUNK)
#define LONGEST (32 * CHUNK)

// log2 of the lanes that share a piece.
__device__ __forceinline__ u32 lanes_of(u32 length) {
  const u32 more = (length - 1) >> LOG_CHUNK;
  return more ? 32 - __clz(more) : 0;
}
// The part of lane number `lane`: entries from `begin` on.
struct Share {
  u32 begin, count;
};
__device__ __forceinline__ Share share_of(u32 length, u32 log_lanes, u32 lane) {
  const u32 least = length >> log_lanes, more = length & ((1u << log_lanes) - 1);
  return {lane * least + (lane < more ? lane : more), least + (lane < more)};
}
// The lane that takes entry e.
__device__ __forceinline__ u32 taker_of(u32 length, u32 log_lanes, u32 e) {
  const u32 least = length >> log_lanes, more = length & ((1u << log_lanes) - 1), wide = more * (least + 1);
  return e < wide ? e / (least + 1) : more + (e - wide) / least;
}

// The 3 low bits of each of eight nibbles, concatenated (walk.cuh: without_stops), by sums of products of bytes.
__device__ __forceinline__ u32 threes_of(u32 w) {
#ifdef __CUDA_EMU__
  return without_stops(w);
#else
  w = (w & 0x07070707u) | (w & 0x70707070u) >> 1;
  const u32 weights = 0x00400001u;  // of the first and second byte of a pair
  return __dp2a_lo(weights, w, 0u) | __dp2a_hi(weights, w, 0u) << 12;
#endif
}
