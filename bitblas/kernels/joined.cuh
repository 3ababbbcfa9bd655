// Load-balanced advance: walk the rows of a warp's lanes as one concatenated list.
// All lanes then have entries, however much row lengths differ.
#define LANE_OF_WARP (threadIdx.x & 31)

// Entries that a lane takes at a time; their columns, bits and cells are loaded together. As many as registers hold.
enum { AT_ONCE = KIND == VALUES && sizeof(Z_T) > 4 ? 2 : 4 };

// take(has, e, owner, low, high) for AT_ONCE entries of each lane, from rows [e, stop), one row per lane and shorter
// than 2^26. Arrays: whether there is an entry, its position, and the lane that owns its row. low, high: the range of
// the warp's entries of this call (numbered 32 by 32) that are in the lane's own row. Called by the whole warp.
template <class P, class Take> __device__ __forceinline__ void walk_joined(P e, P stop, Take take) {
  const u32 length = (u32)(stop - e);
  const u32 end = length + group_sum_below<32>(length);
  const u32 total = __shfl_sync(ALL_LANES, end, 31);
  const P begin = e - (P)(end - length);  // where the row would begin if it came first
  for (u32 first = 0; first < total; first += 32 * AT_ONCE) {
    bool has[AT_ONCE];
    P place[AT_ONCE];
    int owner[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      const u32 x = first + k * 32 + LANE_OF_WARP;
      has[k] = x < total;
      place[k] = 0, owner[k] = 0;
      if (first + k * 32 >= total) continue;  // uniform over the warp
#pragma unroll
      for (int d = 16; d; d >>= 1) {
        const u32 until = __shfl_sync(ALL_LANES, end, owner[k] + d - 1);
        if (until <= x) owner[k] += d;
      }
      place[k] = __shfl_sync(ALL_LANES, begin, owner[k]) + (P)x;
    }
    const u32 low = end - length, after = first + 32 * AT_ONCE;
    take(has, place, owner, low > first ? low - first : 0, end < after ? end > first ? end - first : 0 : 32 * AT_ONCE);
  }
}

// The same for one row that the whole warp shares.
template <class P, class Take> __device__ __forceinline__ void walk_row(P e, P stop, Take take) {
  for (; e < stop; e += 32 * AT_ONCE) {
    bool has[AT_ONCE];
    P place[AT_ONCE];
    int owner[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      place[k] = e + k * 32 + LANE_OF_WARP, owner[k] = 0;
      has[k] = place[k] < stop;
    }
    take(has, place, owner, 0u, 0u);
  }
}
