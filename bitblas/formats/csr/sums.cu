// Repeated sums: t = A (+).(x) u for a full u, by a copy of the rows in slices (sums.py), one launch per part.
// A warp takes a slice: 2^log lanes share a piece of a row, and take VEC adjacent entries each in a step. Columns and
// values of a step are adjacent in memory. Sums have a fixed order: entries of a lane, lanes, pieces, parts.
#ifdef KERNEL_begin_sums
// The values of u in the order of the columns, and the bits of t.
#include "kernels/views.cuh"

// PERMUTED: `order` has the columns, otherwise they are in the given order.
extern "C" __global__ void __launch_bounds__(BLOCK)
    begin_sums(i64 n, const u32* order, i64 words, const u64* reached, i64 columns, VectorValues<U_T> u, MaskView mask,
               U_T* ordered, u64* t_bits) {
  const i64 i = thread_number();
  if (i < columns) ordered[i] = u.at(PERMUTED ? order[i] : i);
  if (i < words) t_bits[i] = reached[i] & mask.word(i);
}
#endif  // KERNEL_begin_sums

#ifdef KERNEL_sums
#include "kernels/product.cuh"
#if NARROW
typedef u16 column_t;
#else
typedef u32 column_t;
#endif
#define NO_COLUMN ((column_t) ~0u)
#define IN_SEGMENTS (1u << 31)
#define ADDS (1u << 30)

// What a lane loads at once, and does not read again.
template <class T> struct alignas(sizeof(T) * VEC < 16 ? sizeof(T) * VEC : 16) Unit {
  T at[VEC];
};
template <int bytes> struct Chunk {
  typedef uint4 type;
};
template <> struct Chunk<8> {
  typedef u64 type;
};
template <> struct Chunk<4> {
  typedef u32 type;
};
template <class T> __device__ __forceinline__ Unit<T> load_unit(const T* from) {
#ifdef __CUDA_EMU__
  return *(const Unit<T>*)from;
#else
  typedef typename Chunk<sizeof(Unit<T>)>::type chunk_t;
  Unit<T> unit;
#pragma unroll
  for (u32 i = 0; i < sizeof(Unit<T>) / sizeof(chunk_t); ++i)
    ((chunk_t*)&unit)[i] = load_once((const chunk_t*)from + i);
  return unit;
#endif
}

// NARROW: 16-bit columns, of which those below `hot` have their vector values in shared memory. WEIGHTED: entries have values of their
// own. table, row, col, first: of the part (sums.py). u: in the order of the columns.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sums(i64 n, const i64* table, const u32* row, const column_t* col, i64 first, Values a, const U_T* u, i64 hot,
         Z_T* parts, Z_T* t_val) {
#if SHARED_BYTES
  extern __shared__ u64 shared[];
  U_T* const here = (U_T*)shared;
  for (u32 j = threadIdx.x; j < (u32)hot; j += THREADS) here[j] = u[j];
  __syncthreads();
#endif
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
  const i64* of = table;  // the class of the slice: four numbers
  for (u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32); k < (u32)n; k += warps) {
    while (k >= of[4]) of += 4;
    const u32 slice = k - (u32)of[0], log = (u32)of[3] & 255, steps = (u32)of[3] >> 8;
    const u32 name = row[of[1] + slice * (32 >> log) + (lane >> log)];
    i64 slot = of[2] + ((i64)slice * steps * 32 + lane) * VEC;
    Z_T sum = BEGIN;
    for (u32 step = 0; step < steps; ++step, slot += 32 * VEC) {
      const Unit<column_t> j = load_unit(col + (slot - first));
#if WEIGHTED
      const Unit<A_T> weight = load_unit(a.values + slot);
#endif
      U_T x[VEC];
#pragma unroll
      for (int i = 0; i < VEC; ++i) {
        x[i] = U_T();
#if SHARED_BYTES
        if (j.at[i] < hot) x[i] = here[j.at[i]];
        else
#endif
        if (j.at[i] != NO_COLUMN) x[i] = u[j.at[i]];
      }
#pragma unroll
      for (int i = 0; i < VEC; ++i) {
#if WEIGHTED
        const A_T w = weight.at[i];
#else
        const A_T w = a.iso;
#endif
        if (j.at[i] != NO_COLUMN) sum = add(sum, mul(w, x[i], 0, j.at[i]));
      }
    }
    for (u32 d = (1u << log) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    if ((lane & ((1u << log) - 1)) || name == ~0u) continue;
    if (name & IN_SEGMENTS) parts[name & ~IN_SEGMENTS] = sum;
    else if (name & ADDS) t_val[name & ~ADDS] = add(t_val[name & ~ADDS], sum);
    else t_val[name] = sum;
  }
}
#endif  // KERNEL_sums
