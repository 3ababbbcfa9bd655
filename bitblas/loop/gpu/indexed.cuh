// Gather and scatter through index vectors. An index out of range is reported once, and counts as no entry.
// faults: [0] 1 + twice the number of the statement, plus one if an index is missing; [1] the index.

__device__ __forceinline__ void tell(i64* faults, i64 what, i64 index) {
  if (atomicCAS((u64*)faults, 0ull, (u64)what) == 0) faults[1] = index;
}

__device__ __forceinline__ void tell_missing(bool missing, i64* faults, i64 statement) {
  if (missing) tell(faults, 2 * statement + 2, 0);
}

// The position of an index; -1 if there is none. from_end: negative indices count from the end.
__device__ __forceinline__ i64 place_of(bool has, i64 index, i64 size, bool from_end, i64* faults, i64 statement) {
  if (!has) return -1;
  const i64 at = from_end && index < 0 ? index + size : index;
  if (at >= 0 && at < size) return at;
  tell(faults, 2 * statement + 1, index);
  return -1;
}

__device__ __forceinline__ bool mark_bit(u64* bits, i64 p) {  // true for the thread that set the bit
  const u32 bit = 1u << (p & 31);
  return !(atomicOr((u32*)bits + (p >> 5), bit) & bit);
}

template <int SIZE> struct Swapped;
template <> struct Swapped<4> { typedef u32 type; };
template <> struct Swapped<8> { typedef u64 type; };

// Accumulate in any order. A value that changes nothing is not written, because many threads may share a cell.
template <class T> __device__ __forceinline__ void join_plus(T* at, T x) {  // wraps, signed and unsigned
  typedef typename Swapped<sizeof(T)>::type cell_t;
  if (x) atomicAdd((cell_t*)at, (cell_t)x);
}
template <class T> __device__ __forceinline__ void join_min(T* at, T x) {
  if (x < *(volatile T*)at) atomicMin(at, x);
}
template <class T> __device__ __forceinline__ void join_max(T* at, T x) {
  if (x > *(volatile T*)at) atomicMax(at, x);
}
template <class T, class Add> __device__ __forceinline__ void join_any_order(T* at, T x, Add add) {
  typedef typename Swapped<sizeof(T)>::type cell_t;
  cell_t* cell = (cell_t*)at;
  union { T value; cell_t raw; } old, next;
  old.raw = *(volatile cell_t*)cell;
  for (;;) {
    next.value = add(old.value, x);
    if (next.raw == old.raw) break;
    const cell_t seen = atomicCAS(cell, old.raw, next.raw);
    if (seen == old.raw) break;
    old.raw = seen;
  }
}
