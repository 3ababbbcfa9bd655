// Views: what a kernel's arguments are. The host passes their fields one by one (operations/operands.py, same order);
// device/launch.py packs them, so every view begins and ends with a field of 8 bytes.
// Values of BOOL vectors are a bitset. Values are iso (stride 0) or dense (stride 1).
template <class T> struct Stored { typedef T type; };
template <> struct Stored<bool> { typedef u64 type; };
#define STORED(T) typename Stored<T>::type

template <class T> struct Load {
  static __device__ __forceinline__ T at(const T* values, T iso, i64 stride, i64 i) { return stride ? values[i] : iso; }
};
template <> struct Load<bool> {
  static __device__ __forceinline__ bool at(const u64* values, bool iso, i64 stride, i64 i) {
    return stride ? bit_of(values, i) : iso;
  }
};
template <class T> __device__ __forceinline__ T load(const STORED(T)* values, T iso, i64 stride, i64 i) {
  return Load<T>::at(values, iso, stride, i);
}
// The same for a vector that is written in place: other threads write adjacent bits of BOOL values.
template <class T> __device__ __forceinline__ T load_in_place(const STORED(T)* values, T iso, i64 stride, i64 i) {
  return load<T>(values, iso, stride, i);
}
template <> __device__ __forceinline__ bool load_in_place<bool>(const u64* values, bool iso, i64 stride, i64 i) {
  return stride ? bit_now(values, i) : iso;
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

// The values of a matrix's entries, iso or an array (packed ones: values.cuh).
template <class T> struct MatrixValues {
  const T* values;
  ARGUMENT(T) iso;
  i64 stride;

  __device__ __forceinline__ T at(i64 e) const { return stride ? values[e] : T(iso); }
};

// An unsigned integer of N bits. It also stores 4.
template <int N> struct UInt { typedef u64 type; };
template <> struct UInt<4> { typedef u8 type; };
template <> struct UInt<8> { typedef u8 type; };
template <> struct UInt<16> { typedef u16 type; };
template <> struct UInt<32> { typedef u32 type; };

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
