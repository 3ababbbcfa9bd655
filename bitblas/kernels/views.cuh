// Views: what a kernel's arguments are. The host passes their fields one by one (operations/operands.py, same order);
// device/cuda.py packs them, so every view begins and ends with a field of 8 bytes.
// Values of BOOL vectors are a bitset. Values are iso (stride 0) or dense (stride 1).
template <class T> struct Stored {
  typedef T type;
  enum { AS_BITS = 0 };
};
template <> struct Stored<bool> {
  typedef u64 type;
  enum { AS_BITS = 1 };
};
#define STORED(T) typename Stored<T>::type

template <class T> __device__ __forceinline__ T load(const STORED(T)* values, T iso, i64 stride, i64 i) {
  if constexpr (Stored<T>::AS_BITS) return stride ? bit_of(values, i) : iso;
  else return stride ? values[i] : iso;
}
// The same for a vector that is written in place: other threads write adjacent bits of BOOL values.
template <class T> __device__ __forceinline__ T load_in_place(const STORED(T)* values, T iso, i64 stride, i64 i) {
  if constexpr (Stored<T>::AS_BITS) return stride ? bit_now(values, i) : iso;
  else return stride ? values[i] : iso;
}

// An input vector: presence bits and values.
template <class T> struct VectorView {
  const u64* bits;
  const STORED(T)* values;
  ARGUMENT(T) iso;
  i64 stride;

  __device__ __forceinline__ bool has(i64 i) const { return bit_of(bits, i); }
  __device__ __forceinline__ T at(i64 i) const { return load<T>(values, iso, stride, i); }
};

// An input vector whose values are an array, or are not read.
template <class T> struct DenseView {
  const u64* bits;
  const STORED(T)* values;
};

// The values of a vector whose presence bits are elsewhere, or which is full.
template <class T> struct VectorValues {
  const STORED(T)* values;
  ARGUMENT(T) iso;
  i64 stride;

  __device__ __forceinline__ T at(i64 i) const { return load<T>(values, iso, stride, i); }
};

// The values of a matrix's entries, iso or an array (packed ones: product.cuh).
template <class T> struct MatrixValues {
  const T* values;
  ARGUMENT(T) iso;
  i64 stride;

  __device__ __forceinline__ T at(i64 e) const { return stride ? values[e] : T(iso); }
};

// An unsigned integer of N bits. It also stores 4.
template <int N> struct UInt {
  typedef u64 type;
};
template <> struct UInt<4> {
  typedef u8 type;
};
template <> struct UInt<8> {
  typedef u8 type;
};
template <> struct UInt<16> {
  typedef u16 type;
};
template <> struct UInt<32> {
  typedef u32 type;
};

// The N positions of a bitset from N * k on, a bit each, while other threads set bits.
template <int N> __device__ __forceinline__ u64 part_now(const u64* bits, i64 k) {
  const auto* parts = (const typename UInt<N>::type*)bits;
  if constexpr (N == 4) return (peek(parts + (k >> 1)) >> (4 * (k & 1))) & 15u;
  else return peek(parts + k);
}

// The mask rule: which positions of the output may be written (GraphBLAS C API 2.1, section 2.3.4). A complemented mask
// has invert ~0; no mask is one zero word with stride 0 and invert ~0. Half words are read, as they are written: a mask
// may be the presence bits of the output itself.
struct MaskView {
  const u64* bits;
  i64 stride;
  u64 invert;

  // A half word in two steps, between which other loads are issued: what is stored (0 if there is no mask), and the
  // positions that it allows.
  __device__ __forceinline__ u32 stored(i64 h) const { return stride ? peek((const u32*)bits + h) : 0u; }
  __device__ __forceinline__ u32 allowed(u32 stored) const { return stored ^ (u32)invert; }
  // The 32 positions of half word h, a bit each; the 64 of a word.
  __device__ __forceinline__ u32 half(i64 h) const { return peek((const u32*)bits + h * stride) ^ (u32)invert; }
  __device__ __forceinline__ u64 word(i64 w) const { return peek(bits + w * stride) ^ invert; }
  __device__ __forceinline__ bool allows(i64 i) const { return half(i >> 5) >> (i & 31) & 1u; }
  // The N positions from N * k on: a tile row, or a word of a bitmap. also: positions that count as set. Without a mask,
  // nothing is loaded.
  template <int N> __device__ __forceinline__ u64 part(i64 k, u64 also = 0) const {
    return ((stride ? part_now<N>(bits, k) : 0ull) | also) ^ (invert & (~0ull >> (64 - N)));
  }
};

// The rows that a product computes: row pointers, and the same shifted by one; or (row_stride 1) segments of long rows,
// with the row of each.
template <class P> struct RowsView {
  const P* begin;
  const P* end;
  const i64* row_of;
  i64 row_stride;
};

// The arrays of a result.
template <class T> struct OutputView {
  u64* bits;
  STORED(T)* values;
};

#ifdef MERGE
// Epilogue: write w<mask, accum, replace> = t, the last step of every operation (C API 2.1, section 2.3.4), in the kernel
// that computes t, or from a vector t. MERGE 0: the result is t alone. MERGE 1: where t has no entry, w keeps its own: its
// old bits and values are read from w_*, and copied if the result is in other arrays (moved). STORE: values are written
// too, not only presence.
struct Epilogue {
  VectorView<W_T> w;
  i64 moved, replace;
  OutputView<W_T> t;
};
struct Ending {
  bool present, value;  // value: the bit, if values are a bitset
};
template <class Z>
__device__ __forceinline__ Ending finish(i64 row, bool open, bool some, Z sum, const Epilogue& to, i64 replace) {
  const bool had = MERGE && bit_now(to.w.bits, row), news = open && some;
  Ending end = {news || (had && (open ? ACCUM : !replace)), false};
#if STORE
  if (!end.present) return end;
#if MERGE
  if (!news && !W_BOOL && !to.moved) return end;  // the value is already in place
  W_T w = take(sum);
  if (!news || (ACCUM && had)) {
    const W_T old = load_in_place<W_T>(to.w.values, to.w.iso, to.w.stride, row);
    w = news ? accum(old, sum) : old;
  }
#else
  const W_T w = take(sum);
#endif
#if W_BOOL
  end.value = w;
#else
  to.t.values[row] = w;
#endif
#endif
  return end;
}
#endif

// ---- Packed integers: numbers of `width` bits (1 to 32) in a little-endian string of 32-bit words.
// Number k occupies bits [k * width, (k + 1) * width). One padding word follows the last, so that two words can always
// be read.
__device__ __forceinline__ u32 low_bits(u32 width) { return 0xffffffffu >> (32 - width); }

__device__ __forceinline__ u32 packed_at(const u32* string, i64 k, u32 width) {
  const u64 at = (u64)k * width;
  const u32* word = string + (at >> 5);
  return __funnelshift_r(word[0], word[1], (u32)at & 31) & low_bits(width);
}

// Values as offsets from a base, modulo 2^64; floats here are integers that fit 64 bits.
template <class T> __device__ __forceinline__ T based(T base, u32 number) { return (T)(i64)((u64)(i64)base + number); }
template <class T> __device__ __forceinline__ u32 above(T value, T base) {
  return (u32)((u64)(i64)value - (u64)(i64)base);
}

// ---- Find the row (or tile row) of an entry by binary search in the row pointers: the last one that begins at or before
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

// ---- Hashes of indices for the symmetry test.
// 64-bit pseudorandom numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014).
// Each entry contributes the difference between the hash of its position and that of its mirror image. It is 0 on the
// diagonal. The sum over all entries (modulo 2^64, in any order) is 0 if every entry has its mirror image; otherwise
// it is 0 with probability 2^-64.
__device__ __forceinline__ u64 scramble(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// row, column: hashed
__device__ __forceinline__ u64 unlike_mirror(u64 row, u64 column) {
  return scramble(row * 3 + column) - scramble(column * 3 + row);
}

// ---- Bits and cells that many threads write. A cell is 4 or 8 bytes, as compare-and-swap requires.
// Set or clear a bit while other threads write to the same word; returns whether it was set before.
__device__ __forceinline__ bool exchange_bit(u64* bits, i64 i, bool on) {
  u32* half = (u32*)bits + (i >> 5);
  const u32 bit = 1u << (i & 31);
  return (on ? atomicOr(half, bit) : atomicAnd(half, ~bit)) & bit;
}
__device__ __forceinline__ bool mark(u64* bits, i64 i) { return !exchange_bit(bits, i, true); }

template <int SIZE> struct Cell;
template <> struct Cell<4> {
  typedef u32 type;
};
template <> struct Cell<8> {
  typedef u64 type;
};
template <class T> union CellOf {
  T value;
  typename Cell<sizeof(T)>::type raw;
};

// Replace a cell, in which `old` was seen, by next(its value); a value that does not change is not written. Returns the
// old value.
template <class T, class Next> __device__ __forceinline__ CellOf<T> update_cell(T* at, CellOf<T> old, Next next_of) {
  for (;;) {
    CellOf<T> next;
    next.value = next_of(old.value);
    if (next.raw == old.raw) return old;
    const auto seen = atomicCAS((decltype(next.raw)*)at, old.raw, next.raw);
    if (seen == old.raw) return old;
    old.raw = seen;
  }
}
template <class T, class Next> __device__ __forceinline__ void update_cell(T* at, Next next_of) {
  CellOf<T> old;
  old.raw = *(volatile decltype(old.raw)*)at;
  update_cell(at, old, next_of);
}

// ---- Sums with a flag for "no value yet": of a warp, in all lanes; of a block, in thread 0, `part` and `has` are in shared
// memory.
template <class T, class Add> __device__ __forceinline__ void join_warp(bool& some, T& sum, Add add) {
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const T x = shuffle_xor(ALL_LANES, sum, d);
    if (other) sum = some ? add(sum, x) : x;
    some = some || other;
  }
}
template <class T, class Add> __device__ __forceinline__ void join_block(bool& some, T& sum, Add add, T* part,
                                                                         u8* has) {
  part[threadIdx.x] = sum;
  has[threadIdx.x] = some;
  for (int half = BLOCK / 2; half >= 32; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half && has[threadIdx.x + half]) {
      const T more = part[threadIdx.x + half];
      part[threadIdx.x] = sum = some ? add(sum, more) : more;
      has[threadIdx.x] = some = true;
    }
  }
  if (threadIdx.x < 32) join_warp(some, sum, add);  // in the same order
  __syncthreads();
}
