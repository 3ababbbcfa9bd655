// Binary search in a row whose columns `col` returns by their number.
// Returns the first position from `low` to `high` whose column is not below k.
template <class C> __device__ __forceinline__ i64 lower_bound(const C& col, i64 low, i64 high, i64 k) {
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    if ((i64)col[middle] < k) low = middle + 1;
    else high = middle;
  }
  return low;
}
