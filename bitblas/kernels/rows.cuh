// Find the row (or tile row) of an entry by binary search in the row pointers: the last one that begins at or before
// it.

// Search from row `low` on, which begins at or before the entry; nearby rows are found in few steps.
template <class P> __device__ __forceinline__ i64 row_from(const P* ptr, i64 low, i64 rows, i64 entry) {
  i64 step = 1;
  while (low + step < rows && (i64)ptr[low + step] <= entry) low += step, step <<= 1;
  i64 high = low + step < rows ? low + step : rows;
  while (high - low > 1) {
    const i64 middle = (low + high) >> 1;
    if ((i64)ptr[middle] <= entry) low = middle;
    else high = middle;
  }
  return low;
}

// The same for a whole warp that searches for one entry: 32 positions are compared at a time.
template <class P> __device__ __forceinline__ i64 row_of_warp(const P* ptr, i64 rows, i64 entry) {
  i64 low = 0, high = rows;
  while (high - low > 1) {
    const i64 step = (high - low + 31) >> 5, at = low + (threadIdx.x & 31) * step;
    const u32 before = __ballot_sync(ALL_LANES, at < high && (i64)ptr[at] <= entry);
    low += (i64)(__popc(before) - 1) * step;
    high = low + step < high ? low + step : high;
  }
  return low;
}
