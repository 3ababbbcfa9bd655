// Find the range i with ptr[i] <= x < ptr[i + 1], of n ranges: the row of an entry.
template <class T> __device__ __forceinline__ i64 range_of(const T* ptr, i64 n, i64 x) {
  i64 low = 0, high = n - 1;  // the last i with ptr[i] <= x
  while (low < high) {
    const i64 middle = (low + high + 1) >> 1;
    if ((i64)ptr[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}
