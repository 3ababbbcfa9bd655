// Repeated sums: t = A (+).(x) u for a full u, by a copy of the rows in slices (sums.py), one launch per part.
// A warp takes a slice: 2^log lanes share a piece of a row, and take VEC adjacent entries each in a step. Columns and
// values of a step are adjacent in memory. Sums have a fixed order: entries of a lane, lanes, pieces, parts.
#ifdef KERNEL_order_sums
// The values of u in the order of the columns. PERMUTED: `order` has the columns, otherwise they are in the given order.
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    order_sums(i64 n, const u32* order, VectorValues<U_T> u, U_T* ordered, const u64* condition, const i64* rounds,
               i64 ahead) {
  await_previous();
  if (!may_run(condition, rounds, ahead)) return;
  const i64 i = thread_number();
  if (i < n) ordered[i] = u.at(PERMUTED ? order[i] : i);
}
#endif  // KERNEL_order_sums

#ifdef KERNEL_fill_sums
// Write columns into the slots of pieces of rows, and (keeps) the places of entries. The entries of all pieces are
// numbered in the order of the pieces. of: the piece of such a number; ends: the first number of a piece; begin: its
// first entry; base: its first slot; lanes: log2 of the lanes that share it. number: of the column of an entry, from
// `block` on; order (ordered): the place of an entry. first: the slot of col[0]; low: the place of the first entry.
#include "kernels/base.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    fill_sums(i64 n, const i64* of, const i64* ends, const i64* begin, const i64* base, const i64* lanes,
              const i64* number, i64 block, const i64* order, i64 ordered, i64 low, COL_T* col, i64 first,
              PTR_T* places, i64 keeps) {
  const i64 k = thread_number();
  if (k >= n) return;
  const i64 piece = of[k], e = k - ends[piece], entry = begin[piece] + e, unit = e / VEC, log = lanes[piece];
  const i64 slot = base[piece] + ((unit >> log) * 32 + (unit & ((1 << log) - 1))) * VEC + e % VEC;
  col[slot - first] = (COL_T)(number[entry] - block);
  if (keeps) places[slot] = (PTR_T)((ordered ? order[entry] : entry) + low);
}
#endif  // KERNEL_fill_sums

#ifdef KERNEL_sums
#include "kernels/product.cuh"
#include "kernels/frontier.cuh"
#define IN_SEGMENTS (1u << 31)
#define ADDS (1u << 30)
#define NEAR (1u << 16)  // flag of a class
// KIND_OF_PART: 16-bit columns of a hot block; 32-bit columns; rows of 16-bit differences and of 32-bit columns.
#define HOT 0
#define WIDE 1
#define MIXED 2

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

// The sum of a lane's slots: `steps` units, 32 units apart. at(c): the vector's value for column c as it is stored.
template <class C, class At>
__device__ __forceinline__ Z_T sum_slots(const C* col, const A_T* weights, A_T iso, u32 steps, At at) {
  Z_T sum = BEGIN;
  for (; steps; --steps, col += 32 * VEC) {
    const Unit<C> j = load_unit(col);
#if WEIGHTED
    const Unit<A_T> weight = load_unit(weights);
    weights += 32 * VEC;
#endif
    U_T x[VEC];
#pragma unroll
    for (int i = 0; i < VEC; ++i) x[i] = j.at[i] == (C) ~(C)0 ? U_T() : at(j.at[i]);
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
#if WEIGHTED
      iso = weight.at[i];
#endif
      if (j.at[i] != (C) ~(C)0) sum = add(sum, mul(iso, x[i], 0, 0));
    }
  }
  return sum;
}

// table, row: of the part. narrow, wide: its columns of 16 and 32 bits, which begin at slots `first` and `first_wide`.
// u: in the order of the columns, from the first one of a hot block on; `hot`: of these, how many are in shared memory
// (ALL_HOT: all). The first part (size above 0) writes the bits of t: `reached`, where the mask allows. MASKED: pieces of
// rows that the mask excludes are not read. condition, rounds, ahead: whether a round of a loop runs (frontier.cuh).
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    sums(i64 n, const i64* table, const u32* row, const u16* narrow, i64 first, const u32* wide, i64 first_wide,
         i64 block, Values a, i64 hot, i64 size, const u64* reached, const U_T* ordered, Z_T* parts, MaskView mask,
         u64* t_bits, Z_T* t_val, const u64* condition, const i64* rounds, i64 ahead) {
  await_previous();
  if (!may_run(condition, rounds, ahead)) return;
  const U_T* const u = ordered + block;
  for (i64 w = (i64)blockIdx.x * THREADS + threadIdx.x; w < size; w += (i64)gridDim.x * THREADS)
    t_bits[w] = reached[w] & mask.word(w);
#if SHARED_BYTES
  extern __shared__ __align__(16) u64 shared[];
  U_T* const here = (U_T*)shared;
  // A block begins at a multiple of 16 bytes, unless all columns are in one.
  const u32 quads = (u32)(hot * sizeof(U_T) / 16);
  u32 filled = 0;
  if (((u64)u & 15) == 0) {
#pragma unroll 4
    for (u32 j = threadIdx.x; j < quads; j += THREADS) ((uint4*)here)[j] = ((const uint4*)u)[j];
    filled = quads * 16 / sizeof(U_T);
  }
  for (u32 j = filled + threadIdx.x; j < (u32)hot; j += THREADS) here[j] = u[j];
  __syncthreads();
#endif
  const u32 lane = threadIdx.x & 31, warps = gridDim.x * (THREADS / 32);
  const i64* of = table;  // the class of the slice: four numbers
  for (u32 k = blockIdx.x + gridDim.x * (threadIdx.x / 32); k < (u32)n; k += warps) {
    while (k >= of[4]) of += 4;
    const u32 slice = k - (u32)of[0], shape = (u32)of[3], log = shape & 255, steps = shape >> 8 & 255;
    const u32 name = row[of[1] + slice * (32 >> log) + (lane >> log)];
#if MASKED
    const bool open = name != ~0u && ((name & IN_SEGMENTS) || mask.allows(name & ~ADDS));
#else
    const bool open = name != ~0u;
#endif
    const u32 todo = MASKED && !open ? 0 : steps;
    const i64 slot = of[2] + ((i64)slice * steps * 32 + lane) * VEC;
    const auto far = [&](u32 j) { return u[j]; };
    const auto near = [&](u16 j) { return u[(i64)name + j - 32768]; };
    (void)far, (void)near;
#if KIND_OF_PART == HOT
    Z_T sum = sum_slots(narrow + (slot - first), a.values + slot, a.iso, todo, [&](u16 j) {
#if SHARED_BYTES
      return ALL_HOT || j < (u32)hot ? here[j] : u[j];
#else
      return u[j];
#endif
    });
#elif KIND_OF_PART == WIDE
    Z_T sum = sum_slots(wide + (slot - first_wide), a.values + slot, a.iso, todo, far);
#else
    Z_T sum = shape & NEAR ? sum_slots(narrow + (slot - first), a.values + slot, a.iso, todo, near)
                           : sum_slots(wide + (slot - first_wide), a.values + slot, a.iso, todo, far);
#endif
    for (u32 d = (1u << log) / 2; d; d /= 2) sum = add(sum, shuffle_xor(ALL_LANES, sum, d));
    if ((lane & ((1u << log) - 1)) || !open) continue;
    if (name & IN_SEGMENTS) parts[name & ~IN_SEGMENTS] = sum;
    else if (name & ADDS) t_val[name & ~ADDS] = add(t_val[name & ~ADDS], sum);
    else t_val[name] = sum;
  }
}
#endif  // KERNEL_sums
