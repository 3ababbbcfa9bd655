// Shared parts of all product kernels: how sums are kept, combined and ended early.
// Work is a list of rows begin[i] .. end[i]; for a whole matrix these are its row pointers, and its row pointers
// shifted by one. row_of (stride 1) gives the row numbers if the list holds segments of long rows.
// KIND: WORDS, only presence matters (all products are equal, and so is any sum of them); COUNT, all products are
// equal and the sum of k of them has a closed form; VALUES, the general case.
// Arguments of products: rows (the rows to compute); the layout's arrays; a (matrix values); u; mask; product (the value of
// all products; KIND WORDS and COUNT); to or t (the result).
#include "kernels/views.cuh"
#define WORDS 0
#define COUNT 1
#define VALUES 2

// Unsigned positions, so that a lane may step past the end of 2^31 entries.
template <class T> struct Unsigned {
  typedef u64 type;
};
template <> struct Unsigned<int> {
  typedef u32 type;
};
#define PLACE(T) typename Unsigned<T>::type

// Sums with a flag for "no product yet": GraphBLAS has no implicit zero.
__device__ __forceinline__ void join(bool& some, Z_T& sum, bool more, Z_T z) {
  if (more) sum = some ? add(sum, z) : z;
  some = some || more;
}
__device__ __forceinline__ bool is_final(bool some, Z_T sum) {
  return HAS_TERMINAL == 2 ? some : HAS_TERMINAL == 1 ? some && sum == TERMINAL : false;
}

// The sum over lanes that are `first`, 2 * `first`, .. apart within groups of LANES; every lane of the group gets it.
__device__ __forceinline__ void join_lanes(bool& some, Z_T& sum, int first) {
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) {
    if (d < first) break;
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const Z_T z = shuffle_xor(ALL_LANES, sum, d);
    join(some, sum, other, z);
  }
}

// ---- Pushes. Scatter products into t by atomics. Before the launch, t's bits are zero and its cells hold the monoid's identity.
// Used only for monoids whose sums do not depend on the order: floating-point addition never uses atomics. A cell is 4
// or 8 bytes, as compare-and-swap requires.

template <class T> __device__ __forceinline__ void join_cell(T* at, Z_T z) {
  update_cell(at, [&](T old) { return T(add(cast<Z_T>(old), z)); });
}

// Returns true for the first product at j.
template <class T> __device__ __forceinline__ bool scatter(u64* t_bits, T* t_val, i64 j, Z_T z) {
#if HAS_TERMINAL == 2  // any: keep the first
  if (bit_now(t_bits, j) || !mark(t_bits, j)) return false;
  t_val[j] = T(z);
  return true;
#else
  join_cell(t_val + j, z);
  return !bit_now(t_bits, j) && mark(t_bits, j);
#endif
}

#ifdef VALUES_PACKED
// ---- Values of a matrix's entries: iso, an array, or packed.
// One value for all (iso, stride 0), an array (stride 1), or VALUES_PACKED: the value of entry e is `iso` + number e
// of a packed string with `stride` bits per number.

#if VALUES_PACKED
typedef u32 value_t;  // element type of the array
#else
typedef A_T value_t;
#endif

// The view of a matrix's values.
struct Values {
  const value_t* values;
  ARGUMENT(A_T) iso;
  i64 stride;

  // Value of entry e, if there is more than one value.
  __device__ __forceinline__ A_T operator[](i64 e) const {
#if VALUES_PACKED
    return based(A_T(iso), packed_at(values, e, (u32)stride));
#else
    return values[e];
#endif
  }
  __device__ __forceinline__ A_T at(i64 e) const { return VALUES_PACKED || stride ? (*this)[e] : A_T(iso); }
  // The same for a value that is not read again; packed words are read again, for neighbouring entries.
  __device__ __forceinline__ A_T once(i64 e) const {
#if VALUES_PACKED
    return (*this)[e];
#else
    return stride ? load_once(values + e) : A_T(iso);
#endif
  }
};
#endif

#ifdef MERGE
// ---- Epilogue of a product kernel (views.cuh): write the bits of the result.
#define PRESENCE (KIND == WORDS && !STORE)  // bits only: no values are summed or written

// Write BITS bits for unit `unit` of the bitset t, provided by the first lane of every group of LANES. All threads of
// the grid call it. It writes whole bytes of a warp's or block's units, and all bytes of the words that hold n units if
// the launch has a group for each of their bits (`pull_blocks`).
template <int BITS> __device__ __forceinline__ void write_bits(u64* t_bits, i64 n, i64 unit, u64 value) {
  const bool first = (threadIdx.x & (LANES - 1)) == 0;
  const bool inside = unit < ((n + 64 / BITS - 1) & -(64 / BITS));  // within the words
  if (BITS == 64) {
    if (first && inside) poke(t_bits + unit, value);
  } else if (BITS == 32) {
    if (first && inside) poke((u32*)t_bits + unit, (u32)value);
  } else if (BITS == 16) {
    if (first && inside) poke((u16*)t_bits + unit, (u16)value);
  } else if (BITS == 8) {
    if (first && inside) poke((u8*)t_bits + unit, (u8)value);
  } else {
    constexpr int wide = 32 / LANES * BITS;  // bits written per warp
    u32 part = first ? (u32)value << ((threadIdx.x & 31) / LANES * BITS) : 0u;
#pragma unroll
    for (int d = 16; d; d >>= 1) part |= __shfl_xor_sync(ALL_LANES, part, d);
    if (wide >= 8) {
      if ((threadIdx.x & 31) == 0 && inside) {
        const i64 at = thread_number() / 32;
        if (wide == 32) poke((u32*)t_bits + at, part);
        else if (wide == 16) poke((u16*)t_bits + at, (u16)part);
        else poke((u8*)t_bits + at, (u8)part);
      }
    } else {
      constexpr int warps = wide < 8 ? 8 / wide : 1, bytes = BLOCK / 32 / warps;  // warps per byte; bytes per block
      __shared__ u8 parts[BLOCK / 32];
      __syncthreads();
      if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = (u8)part;
      __syncthreads();
      if (threadIdx.x < bytes) {
        u32 byte = 0;
#pragma unroll
        for (int k = 0; k < warps; ++k) byte |= (u32)parts[threadIdx.x * warps + k] << (k * wide);
        const i64 at = (i64)blockIdx.x * bytes + threadIdx.x;
        if (at < (n * BITS + 63) / 64 * 8) poke((u8*)t_bits + at, (u8)byte);
      }
    }
  }
}
#endif
