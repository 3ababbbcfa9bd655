// Shared parts of an advance in every layout: products of a frontier by pushing, whose result is a frontier.
#include "kernels/product.cuh"
#include "kernels/frontier.cuh"

// Whether a mask allows position j. ALSO: the entries of u count as set, because AT_ENTRY sets them while others read.
__device__ __forceinline__ bool is_open(const MaskView& mask, const u64* u_bits, i64 j) {
  const u32 also = ALSO ? peek((const u32*)u_bits + (j >> 5)) : 0u;
  return mask.allowed(mask.stored(j >> 5) | also) >> (j & 31) & 1u;
}

// Bits and cells of the old frontier are cleared, because the next round's t must start empty.
#if KIND == VALUES && HAS_TERMINAL != 2
#define CELLS_BEGIN 1  // products are combined with the value in the cell
#else
#define CELLS_BEGIN 0
#endif

// JOIN: the hardware atomic for the monoid: plus, min, max (1, 2, 3); 0: compare and swap.
template <int SIZE> struct Signed;
template <> struct Signed<4> {
  typedef int type;
};
template <> struct Signed<8> {
  typedef i64 type;
};

#if CELLS_BEGIN
template <class T> __device__ __forceinline__ T cell_at(const T* at) {
  union {
    T value;
    typename Cell<sizeof(T)>::type raw;
  } cell;
  cell.raw = *(const volatile typename Cell<sizeof(T)>::type*)at;
  return cell.value;
}

typedef typename Cell<sizeof(C_T)>::type cell_t;

// Combine z with a cell that held `seen` when it was loaded; returns the old value.
__device__ __forceinline__ cell_t join_to(C_T* at, Z_T z, C_T seen) {
  CellOf<C_T> old, next;
  old.value = seen;
#if JOIN
  next.value = C_T(add(cast<Z_T>(seen), z));
  if (next.raw == old.raw) return old.raw;
#if JOIN == 1
  next.value = C_T(z);
  return atomicAdd((cell_t*)at, next.raw);
#elif JOIN == 3
  old.value = atomicMax(at, C_T(z));
  return old.raw;
#elif !JOIN_FLOAT
  old.value = atomicMin(at, C_T(z));
  return old.raw;
#else
  // Floats with a positive sign are ordered like integers, negative ones in reverse, and NaN, the initial value of a
  // cell, is above all.
  if (z == z) {
    typedef typename Signed<sizeof(C_T)>::type signed_t;
    next.value = C_T(z);
    const bool negative = (signed_t)next.raw < 0;
    return negative ? atomicMax((cell_t*)at, next.raw) : (cell_t)atomicMin((signed_t*)at, (signed_t)next.raw);
  }
#endif
#endif
#if !JOIN || JOIN_FLOAT
  return update_cell(at, old, [&](C_T value) { return C_T(add(cast<Z_T>(value), z)); }).raw;
#endif
}

// Whether a cell held its initial value. A thread for which this is true must set the bit.
__device__ __forceinline__ bool is_initial(cell_t raw) {
  union {
    C_T value;
    cell_t raw;
  } begin;
  begin.value = C_T(BEGIN);
  return raw == begin.raw;
}
__device__ __forceinline__ bool join_is_first(C_T* at, Z_T z, C_T seen) { return is_initial(join_to(at, z, seen)); }
#endif
// Load into the L2 cache what other loads will need later.
__device__ __forceinline__ void prefetch(const void* at) {
#ifndef __CUDA_EMU__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
  (void)at;
#endif
}

// f for the half words of a unit's bits.
template <class F> __device__ __forceinline__ void each_half(u32 unit, F f) {
  for (int h = 0; h < (PER == 64 ? 2 : 1); ++h) f((i64)unit * PER / 32 + h);
}
template <class F> __device__ __forceinline__ void each_place(u32 unit, i64 size, F f) {
  for (i64 p = (i64)unit * PER; p < ((i64)unit + 1) * PER && p < size; ++p) f(p);
}

__device__ __forceinline__ void clear_unit(u32 unit, i64 size, u64* bits, C_T* val) {
  each_half(unit, [&](i64 h) { poke((u32*)bits + h, 0u); });
  if (CELLS_BEGIN) each_place(unit, size, [&](i64 p) { val[p] = C_T(BEGIN); });
}

// Clear all of a frontier, by its list or densely, as thread `me` of `all`.
__device__ __forceinline__ void clear_frontier(bool dense, const u32* list, i64 list_length, i64 size, u64* bits,
                                               C_T* val, i64 me, i64 all) {
  if (!dense) {
    for (i64 k = me; k < list_length; k += all) clear_unit(list[k], size, bits, val);
    return;
  }
  for (i64 h = me; h < (size + 31) / 32; h += all) ((u32*)bits)[h] = 0;
  for (i64 p = me; CELLS_BEGIN && p < size; p += all) val[p] = C_T(BEGIN);
}

// f(p) for every entry of a bitset of `size` bits, as thread `me` of `all` (a multiple of 32). Several words are loaded
// before the first is used.
#define WORDS_AT_ONCE 4
template <class F> __device__ __forceinline__ void each_entry(const u64* bits, i64 size, i64 me, i64 all, F f) {
  for (i64 p = me; p < size; p += WORDS_AT_ONCE * all) {
    u32 word[WORDS_AT_ONCE], has = 0;
#pragma unroll
    for (int k = 0; k < WORDS_AT_ONCE; ++k) word[k] = p + k * all < size ? ((const u32*)bits)[(p + k * all) >> 5] : 0;
#pragma unroll
    for (int k = 0; k < WORDS_AT_ONCE; ++k) has |= (word[k] >> (p & 31) & 1) << k;
#pragma unroll 1
    for (int k = 0; k < WORDS_AT_ONCE; ++k)
      if (has >> k & 1) f(p + k * all);
  }
}

// ---- Push along the entries of a row: combine one product with its output position, and report whether it is new.
// Also the result type of a pulled row (Hit).

// Entry j of t gets the product z. Returns true for the thread that created the entry; mark_it() returns whether it was
// the first to set the bit.
template <class Mark>
__device__ __forceinline__ bool reach(const u64* t_bits, C_T* t_val, i64 j, Z_T z, Mark mark_it) {
  if (KIND == WORDS) return !bit_now(t_bits, j) && mark_it();
#if CELLS_BEGIN
  return join_is_first(t_val + j, z, cell_at(t_val + j)) && mark_it();
#else
  if (bit_now(t_bits, j) || !mark_it()) return false;
  t_val[j] = C_T(z);
  return true;
#endif
}
// The same for entry e of the matrix and entry i of u, if entry j was missing when it was loaded, or if products are
// combined.
__device__ __forceinline__ bool reach_missing(u64* t_bits, C_T* t_val, i64 j, i64 e, i64 i, const Values& a,
                                              const STORED(U_T)* u_val, U_T u_iso, i64 u_stride) {
#if CELLS_BEGIN
  return reach(t_bits, t_val, j, mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i),
               [&] { return mark(t_bits, j); });
#endif
  if (!mark(t_bits, j)) return false;
#if KIND == VALUES
  t_val[j] = C_T(mul(a.at(e), load<U_T>(u_val, u_iso, u_stride, i), j, i));
#endif
  return true;
}

// What a pulling row has found: an entry of u, and the matrix entry that led there (KIND VALUES).
struct Hit {
  bool some;
  i64 from, place;
};
