// Vectors in kernels: presence bits, and values that are iso (stride 0) or dense (stride 1).
// BOOL values are a bitset.
// Kernel arguments of a vector x come as a group: x_bits, x_val, x_iso, x_stride. A mask is the group mask,
// mask_stride (0: one word for all positions), mask_invert (all ones: complemented). See allowed().
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

// Bit `place` of a mask. No mask is one zero word, read with stride 0 and inverted. Half words are read, as they are
// written: a mask may be the presence bits of the output itself.
__device__ __forceinline__ bool allowed(const u64* mask, i64 stride, u64 invert, i64 place) {
  return ((peek((const u32*)mask + (place >> 5) * stride) ^ (u32)invert) >> (place & 31)) & 1u;
}
