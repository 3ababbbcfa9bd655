// Hash set of column numbers in shared memory: open addressing with linear probing.
#define NO_KEY ((COL_T)-1)

__device__ __forceinline__ u32 slot_of(COL_T key, int shift) { return (u32)key * 2654435761u >> shift; }

// Find or insert a key: its slot, or -1 - slot if it is new. The table must not be full.
__device__ __forceinline__ int insert(COL_T* keys, u32 last, int shift, COL_T key) {
  for (u32 slot = slot_of(key, shift);; slot = (slot + 1) & last) {
#if COL_64
    const COL_T found = (COL_T)atomicCAS((u64*)keys + slot, (u64)NO_KEY, (u64)key);
#else
    const COL_T found = (COL_T)atomicCAS((u32*)keys + slot, (u32)NO_KEY, (u32)key);
#endif
    if (found == NO_KEY) return -1 - (int)slot;
    if (found == key) return (int)slot;
  }
}

// Find a key: its slot, or -1. The table must not be full.
__device__ __forceinline__ int lookup(const COL_T* keys, u32 last, int shift, COL_T key) {
  for (u32 slot = slot_of(key, shift);; slot = (slot + 1) & last) {
    const COL_T found = keys[slot];
    if (found == key) return (int)slot;
    if (found == NO_KEY) return -1;
  }
}
