// Binary searches, and a hash set in shared memory.

// Find the last i from `low` to `high` with ptr[i] <= x.
template <class T> __device__ __forceinline__ i64 range_between(const T* ptr, i64 low, i64 high, i64 x) {
  while (low < high) {
    const i64 middle = (low + high + 1) >> 1;
    if ((i64)ptr[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Find the range i with ptr[i] <= x < ptr[i + 1], of n ranges: the row of an entry.
template <class T> __device__ __forceinline__ i64 range_of(const T* ptr, i64 n, i64 x) {
  return range_between(ptr, 0, n - 1, x);
}

// Search in a row whose columns `col` returns by their number.
// Returns the first position from `low` to `high` whose column is not below k.
template <class C> __device__ __forceinline__ i64 lower_bound(const C& col, i64 low, i64 high, i64 k) {
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    if ((i64)col[middle] < k) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Hash set of column numbers in shared memory: open addressing with linear probing.
#define NO_KEY ((COL_T) - 1)

__device__ __forceinline__ u32 slot_of(u64 key, int shift) { return (u32)key * 2654435761u >> shift; }

// Find or insert a key: its slot, or -1 - slot if it is new. The table must not be full.
template <class C> __device__ __forceinline__ int insert(C* keys, u32 last, int shift, C key) {
  for (u32 slot = slot_of(key, shift);; slot = (slot + 1) & last) {
    C found;
    if constexpr (sizeof(C) == 8) found = (C)atomicCAS((u64*)keys + slot, ~u64(0), (u64)key);
    else found = (C)atomicCAS((u32*)keys + slot, ~u32(0), (u32)key);
    if (found == C(-1)) return -1 - (int)slot;
    if (found == key) return (int)slot;
  }
}

// Find a key: its slot, or -1. The table must not be full.
template <class C> __device__ __forceinline__ int lookup(const C* keys, u32 last, int shift, C key) {
  for (u32 slot = slot_of(key, shift);; slot = (slot + 1) & last) {
    const C found = keys[slot];
    if (found == key) return (int)slot;
    if (found == C(-1)) return -1;
  }
}
