// Element-wise operations on vectors, and the write of a result under mask, accumulator and `replace`.
#include "kernels/views.cuh"

#ifdef KERNEL_elementwise
// Element-wise operation on vectors: w<mask, replace> = f(u, v).
// One source for apply, select, eWiseAdd, eWiseMult and eWiseUnion.
// MODE: LEFT where u has an entry; BOTH where both have one; UNION where at least one has (a single value is copied);
// FILLED is UNION with a default for the missing operand. KEEP (select): keep the entries of u for which f is true,
// with u's values.
// PLACES: position p is the matrix entry (rows[p], cols[p]), which f receives as its indices. FRESH: w was empty and is
// not read. W_ISO: w keeps its one value, only bits are written.
#define LEFT 0
#define BOTH 1
#define UNION 2
#define FILLED 3
#define AT_ONCE (64 / LANES)

// Position p of w<mask, replace> = t. All lanes of a warp call it, for the 32 positions of half a word.
__device__ __forceinline__ void merge_position(bool inside, bool open, bool has_t, T_T t, i64 p, bool write,
                                               bool replace, const OutputView<W_T>& w) {
  const bool has_w = !FRESH && inside && bit_of(w.bits, p);
  has_t = has_t && open;
  const bool present = open ? has_t : has_w && !replace;
  const bool writer = write && (p & 31) == 0;
#if W_ISO
  (void)t;
#elif W_BOOL
  bool value = !FRESH && has_w && bit_of(w.values, p);
  if (has_t) value = t;
  const u32 values = __ballot_sync(ALL_LANES, present && value);
  after_vote();
  if (writer) ((u32*)w.values)[p >> 5] = values;
#else
  if (has_t) w.values[p] = t;
#endif
  const u32 bits = __ballot_sync(ALL_LANES, present);
  after_vote();
  if (writer) ((u32*)w.bits)[p >> 5] = bits;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    elementwise(i64 n, i64 size, VectorView<U_T> u, VectorView<V_T> v, ARGUMENT(U_T) u_default, ARGUMENT(V_T) v_default,
                const i64* rows, const i64* cols, MaskView mask, i64 replace, OutputView<W_T> w) {
  // A warp has some consecutive half words: their bits are loaded together, then the values.
  const i64 first = thread_number() / 32 * (32 * AT_ONCE) + (threadIdx.x & 31);
  bool open[AT_ONCE], has_u[AT_ONCE], has_v[AT_ONCE], present[AT_ONCE];
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    const bool inside = p < size;
    open[k] = inside && mask.allows(p);
    has_u[k] = inside && u.has(p);
    has_v[k] = MODE != LEFT && inside && v.has(p);
  }
  U_T x[AT_ONCE];
  V_T y[AT_ONCE];
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    present[k] = open[k] & (MODE == LEFT ? has_u[k] : MODE == BOTH ? has_u[k] & has_v[k] : has_u[k] | has_v[k]);
    x[k] = present[k] && has_u[k] ? u.at(p) : U_T(u_default);
    y[k] = present[k] && (MODE == LEFT || has_v[k]) ? v.at(p) : V_T(v_default);
  }
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    const i64 p = first + 32 * k;
    T_T t = T_T();
    if (present[k]) {
      const i64 i = PLACES ? rows[p] : p, j = PLACES ? cols[p] : 0;
#if KEEP
      present[k] = f(x[k], y[k], i, j);
      t = cast<T_T>(x[k]);
#else
      if (MODE == UNION && !has_v[k]) t = cast<T_T>(x[k]);
      else if (MODE == UNION && !has_u[k]) t = cast<T_T>(y[k]);
      else t = cast<T_T>(f(x[k], y[k], i, j));
#endif
    }
    merge_position(p < size, open[k], present[k], t, p, p < n * 64, replace != 0, w);
  }
}
#endif  // KERNEL_elementwise

#ifdef KERNEL_merge
// Write a result: w<mask, accum, replace> = t. Bits change in place. So do values, unless w was iso (old.iso) and now
// gets an array. STORE 0: the iso value stays, only bits change.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    merge(i64 n, i64 size, u64* w_bits, VectorValues<W_T> old, VectorView<T_T> t, MaskView mask, i64 replace,
          STORED(W_T)* w_val) {
  const i64 p = thread_number();
  const bool inside = p < size;
  const bool open = inside && mask.allows(p);
  const bool some = open && t.has(p);
  const Epilogue to = {{w_bits, old.values, old.iso, old.stride}, !old.stride, replace, {w_bits, w_val}};
  Ending done = {};
  if (inside) done = finish(p, open, some, some ? t.at(p) : T_T(), to, replace);
  const u32 bits = __ballot_sync(ALL_LANES, done.present), values = __ballot_sync(ALL_LANES, done.value);
  after_vote();
  if ((p & 31) == 0 && p < n * 64) {
    ((u32*)w_bits)[p >> 5] = bits;
    if (STORE && W_BOOL) ((u32*)w_val)[p >> 5] = values;
  }
}
#endif  // KERNEL_merge
