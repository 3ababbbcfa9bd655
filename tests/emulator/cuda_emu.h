// The device side of CUDA C++ as the kernels see it: keywords, built-in variables, collectives, atomics, intrinsics.
// It includes nothing, as NVRTC does by default, so that a kernel compiles in a fraction of a second; all that works
// (fibers, scheduler, barriers, errors) stands in runtime.cpp, a library that is compiled once.
#pragma once
#define __CUDA_EMU__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif
typedef decltype(sizeof(0)) size_t;

// ---- keywords -------------------------------------------------------------------------------------------------------
// A `__shared__` variable is an uninitialised static of this library, which says where in the memory of a block it lies:
// emu.py rewrites `__shared__ T s[4];` to a reference to it there, and `extern __shared__ T s[];` to a pointer to the
// dynamic part. The runtime poisons both before each block.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ emu_py_did_not_rewrite_this
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __cudart_builtin__
#define CUDARTAPI

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
#define EMU_VECTOR(T, NAME, ALIGN2, ALIGN4)                                                \
  struct __align__(ALIGN2) NAME##2 { T x, y; };                                            \
  struct __align__(ALIGN4) NAME##4 { T x, y, z, w; };                                      \
  static inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                        \
  static inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR(unsigned, uint, 8, 16)
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(double, double, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(unsigned char, uchar, 2, 4)

// ---- what the runtime offers ----------------------------------------------------------------------------------------
namespace emu {
typedef unsigned u32;
typedef unsigned long long u64;
typedef u64 (*Fold)(u64, u64);
struct Config { u32 grid[3], block[3], shared_bytes, seed, strict, timeout_ms, cluster; };
struct Self { uint3 index; };  // what a thread knows of itself; the runtime's Thread begins with it
struct Context { Self *self; uint3 block; dim3 block_size, grid_size; char *dynamic_shared; long fixed_shared; };
// Collectives of a warp, told apart by a letter: shuffles i(ndex) u(p) d(own) x(or); v(ote), m(atch), s(ync), r(educe).
enum Kind : char { INDEX = 'i', UP = 'u', DOWN = 'd', XOR = 'x', VOTE = 'v', MATCH = 'm', SYNC = 's', REDUCE = 'r' };
}  // namespace emu
extern "C" {
extern emu::Context emu_context;
emu::u64 emu_meet(const char *what, emu::Kind kind, emu::u32 mask, emu::u64 value, int arg, int width, emu::Fold fold,
                  const char *file, int line);
struct EmuCounts { int count, all; };
EmuCounts emu_barrier(int predicate, const char *file, int line);
emu::u32 emu_activemask(const char *file, int line);
void emu_cluster_barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE());
emu::u32 emu_cluster_rank();
void *emu_peer(void *shared, emu::u32 rank);  // the same place in the shared memory of a block of the cluster
void emu_fence(int of_block);
void emu_tick();   // after an atomic: now and then let other threads run, so that spin loops and races move
void emu_yield();
[[noreturn]] void emu_fail(const char *message);
int emu_launch(const char *kernel, const emu::Config *config, void (*call)(void *), void *closure, char *shared_begin,
               char *shared_end);
}

#if !defined(EMU_RUNTIME)
namespace emu {
template <class To> static inline To from(u64 raw) { To x; __builtin_memcpy(&x, &raw, sizeof x); return x; }
template <class T> static inline u64 raw(T x) {
  static_assert(sizeof(T) <= 8, "collectives carry at most 8 bytes");
  u64 r = 0;
  __builtin_memcpy(&r, &x, sizeof x);
  return r;
}
template <class T> struct Same { typedef T type; };  // as a parameter type: converts, is not deduced from
template <class A, class B> struct Common { typedef decltype(true ? A() : B()) type; };
template <class T> struct IsFloat { enum { value = 0 }; };
template <> struct IsFloat<float> { enum { value = 1 }; };
template <> struct IsFloat<double> { enum { value = 1 }; };
template <class T, class F> static inline T change(T *p, F f) {  // read, modify, write
  static_assert(sizeof(T) >= 4, "CUDA's atomics work on 4 and 8 bytes");
  T old;
#if defined(__SANITIZE_THREAD__)
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  T next = f(old);
  __atomic_store(p, &next, __ATOMIC_RELAXED);
#else
  old = *p;
  *p = f(old);
#endif
  emu_tick();
  return old;
}
}  // namespace emu

#define threadIdx (emu_context.self->index)
#define blockIdx (emu_context.block)
#define blockDim (emu_context.block_size)
#define gridDim (emu_context.grid_size)
#define warpSize 32
template <class T> static inline T &emu_shared(T &s) { return *(T *)((char *)&s + emu_context.fixed_shared); }

// ---- collectives ----------------------------------------------------------------------------------------------------
#define EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMU_SHUFFLE(NAME, KIND, ARG)                                                                              \
  template <class T> static inline T NAME(unsigned mask, T x, ARG a, int width = 32, EMU_HERE) {                  \
    static_assert(sizeof(T) >= 4, "CUDA's shuffles work on 4 and 8 bytes");                                       \
    return emu::from<T>(emu_meet(#NAME, emu::KIND, mask, emu::raw(x), (int)a, width, nullptr, file, line));       \
  }
EMU_SHUFFLE(__shfl_sync, INDEX, int)
EMU_SHUFFLE(__shfl_up_sync, UP, unsigned)
EMU_SHUFFLE(__shfl_down_sync, DOWN, unsigned)
EMU_SHUFFLE(__shfl_xor_sync, XOR, int)

#define EMU_REDUCE(NAME, EXPR)                                                                                    \
  template <class T> static inline T NAME(unsigned mask, T x, EMU_HERE) {                                         \
    static_assert(sizeof(T) == 4, "__reduce_*_sync works on 4 bytes");                                            \
    emu::Fold fold = [](emu::u64 l, emu::u64 r) {                                                                 \
      T a = emu::from<T>(l), b = emu::from<T>(r);                                                                 \
      return emu::raw((T)(EXPR));                                                                                 \
    };                                                                                                            \
    return emu::from<T>(emu_meet(#NAME, emu::REDUCE, mask, emu::raw(x), 0, 0, fold, file, line));                 \
  }
EMU_REDUCE(__reduce_add_sync, (unsigned)a + (unsigned)b)
EMU_REDUCE(__reduce_min_sync, b < a ? b : a)
EMU_REDUCE(__reduce_max_sync, a < b ? b : a)
EMU_REDUCE(__reduce_or_sync, a | b)
EMU_REDUCE(__reduce_and_sync, a & b)
EMU_REDUCE(__reduce_xor_sync, a ^ b)

// A vote answers the lanes that said yes, and in its high half the lanes that took part.
#define EMU_VOTE(NAME) emu_meet(NAME, emu::VOTE, mask, predicate != 0, 0, 0, nullptr, file, line)
static inline unsigned __ballot_sync(unsigned mask, int predicate, EMU_HERE) { return (unsigned)EMU_VOTE("__ballot_sync"); }
static inline int __any_sync(unsigned mask, int predicate, EMU_HERE) { return (unsigned)EMU_VOTE("__any_sync") != 0; }
static inline int __all_sync(unsigned mask, int predicate, EMU_HERE) {
  const emu::u64 votes = EMU_VOTE("__all_sync");
  return (unsigned)votes == votes >> 32;
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T x, EMU_HERE) {
  return (unsigned)emu_meet("__match_any_sync", emu::MATCH, mask, emu::raw(x), 0, 0, nullptr, file, line);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, EMU_HERE) {
  emu_meet("__syncwarp", emu::SYNC, mask, 0, 0, 0, nullptr, file, line);
}
static inline unsigned __activemask(EMU_HERE) { return emu_activemask(file, line); }
static inline void __syncthreads(EMU_HERE) { emu_barrier(1, file, line); }
static inline int __syncthreads_count(int p, EMU_HERE) { return emu_barrier(p != 0, file, line).count; }
static inline int __syncthreads_or(int p, EMU_HERE) { return emu_barrier(p != 0, file, line).count != 0; }
static inline int __syncthreads_and(int p, EMU_HERE) { return emu_barrier(p != 0, file, line).all; }
static inline void __threadfence() { emu_fence(0); }
static inline void __threadfence_block() { emu_fence(1); }
static inline void __threadfence_system() { emu_fence(0); }
static inline void __nanosleep(unsigned) { emu_yield(); }
[[noreturn]] static inline void __trap() { emu_fail("__trap()"); }
#define assert(condition) ((condition) ? (void)0 : emu_fail("assertion failed: " #condition))

// ---- atomics --------------------------------------------------------------------------------------------------------
#define EMU_ATOMIC(NAME, EXPR)                                                                                    \
  template <class T> static inline T NAME(T *p, typename emu::Same<T>::type x) {                                  \
    return emu::change(p, [=](T old) -> T { (void)old; return (T)(EXPR); });                                      \
  }                                                                                                               \
  template <class T> static inline T NAME##_block(T *p, typename emu::Same<T>::type x) { return NAME(p, x); }
template <class T> struct EmuWrap { typedef T type; };  // sums of integers wrap
template <> struct EmuWrap<int> { typedef unsigned type; };
#define EMU_W(x) ((typename EmuWrap<T>::type)(x))
EMU_ATOMIC(atomicAdd, EMU_W(old) + EMU_W(x))
EMU_ATOMIC(atomicSub, EMU_W(old) - EMU_W(x))
EMU_ATOMIC(atomicMin, x < old ? x : old)
EMU_ATOMIC(atomicMax, old < x ? x : old)
EMU_ATOMIC(atomicExch, x)
EMU_ATOMIC(atomicOr, old | x)
EMU_ATOMIC(atomicAnd, old & x)
EMU_ATOMIC(atomicXor, old ^ x)
EMU_ATOMIC(atomicInc, old >= x ? 0 : old + 1)
EMU_ATOMIC(atomicDec, old == 0 || old > x ? x : old - 1)
template <class T>
static inline T atomicCAS(T *p, typename emu::Same<T>::type expected, typename emu::Same<T>::type x) {
  return emu::change(p, [=](T old) -> T { return emu::raw(old) == emu::raw(expected) ? x : old; });
}

// ---- loads and stores with a cache hint -----------------------------------------------------------------------------
// __ldcg and __ldcv read what atomics wrote, so they are no race with them. (No volatile here: T may be a vector type.)
#define EMU_COHERENT(NAME) \
  template <class T> static inline T NAME(const T *p) { T x; __atomic_load((T *)p, &x, __ATOMIC_RELAXED); return x; }
#define EMU_LOAD(NAME) template <class T> static inline T NAME(const T *p) { return *p; }
#define EMU_STORE(NAME) template <class T> static inline void NAME(T *p, typename emu::Same<T>::type x) { *p = x; }
EMU_COHERENT(__ldcg)
EMU_COHERENT(__ldcv)
EMU_LOAD(__ldg)
EMU_LOAD(__ldca)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldlu)
EMU_STORE(__stcs)
EMU_STORE(__stcg)
EMU_STORE(__stwb)
EMU_STORE(__stwt)

// ---- bits -----------------------------------------------------------------------------------------------------------
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  return __builtin_bswap64(x);
}
static inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
static inline unsigned long long emu_pair(unsigned lo, unsigned hi) { return (unsigned long long)hi << 32 | lo; }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(emu_pair(lo, hi) >> (s & 31)); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(emu_pair(lo, hi) << (s & 31) >> 32); }
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : __funnelshift_r(lo, hi, s); }
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : __funnelshift_l(lo, hi, s); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= (unsigned)(emu_pair(a, b) >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return r;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline float __uint_as_float(unsigned x) { return emu::from<float>(x); }
static inline unsigned __float_as_uint(float x) { return (unsigned)emu::raw(x); }
static inline float __int_as_float(int x) { return emu::from<float>((unsigned)x); }
static inline int __float_as_int(float x) { return (int)emu::raw(x); }
static inline double __longlong_as_double(long long x) { return emu::from<double>((unsigned long long)x); }
static inline long long __double_as_longlong(double x) { return (long long)emu::raw(x); }

// ---- arithmetic -----------------------------------------------------------------------------------------------------
#define EMU_MATH(NAME)                                                      \
  static inline double NAME(double x) { return __builtin_##NAME(x); }       \
  static inline float NAME(float x) { return __builtin_##NAME##f(x); }
EMU_MATH(sqrt)
EMU_MATH(fabs)
EMU_MATH(floor)
EMU_MATH(ceil)
EMU_MATH(trunc)
EMU_MATH(exp)
EMU_MATH(log)
EMU_MATH(sin)
EMU_MATH(cos)
EMU_MATH(tan)
EMU_MATH(asin)
EMU_MATH(acos)
EMU_MATH(atan)
EMU_MATH(sinh)
EMU_MATH(cosh)
EMU_MATH(tanh)
EMU_MATH(asinh)
EMU_MATH(acosh)
EMU_MATH(atanh)
EMU_MATH(exp2)
EMU_MATH(expm1)
EMU_MATH(log2)
EMU_MATH(log10)
EMU_MATH(log1p)
EMU_MATH(cbrt)
EMU_MATH(erf)
EMU_MATH(erfc)
EMU_MATH(lgamma)
EMU_MATH(tgamma)
EMU_MATH(round)
EMU_MATH(rint)
#define EMU_MATH2(NAME)                                                                        \
  static inline double NAME(double x, double y) { return __builtin_##NAME(x, y); }             \
  static inline float NAME(float x, float y) { return __builtin_##NAME##f(x, y); }
EMU_MATH2(fmin)
EMU_MATH2(fmax)
EMU_MATH2(fmod)
EMU_MATH2(pow)
EMU_MATH2(atan2)
EMU_MATH2(hypot)
EMU_MATH2(copysign)
EMU_MATH2(remainder)
static inline double ldexp(double x, int k) { return __builtin_ldexp(x, k); }
static inline float ldexp(float x, int k) { return __builtin_ldexpf(x, k); }
static inline double frexp(double x, int *k) { return __builtin_frexp(x, k); }
static inline float frexp(float x, int *k) { return __builtin_frexpf(x, k); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline double abs(double x) { return __builtin_fabs(x); }
template <class T> static inline bool isnan(T x) { return x != x; }
template <class T> static inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> static inline bool isinf(T x) { return __builtin_isinf(x); }
template <class A, class B> static inline typename emu::Common<A, B>::type min(A a, B b) {
  typedef typename emu::Common<A, B>::type T;
  if constexpr (emu::IsFloat<T>::value) return fmin((T)a, (T)b);
  else return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> static inline typename emu::Common<A, B>::type max(A a, B b) {
  typedef typename emu::Common<A, B>::type T;
  if constexpr (emu::IsFloat<T>::value) return fmax((T)a, (T)b);
  else return (T)a < (T)b ? (T)b : (T)a;
}

// ---- conditional nodes of CUDA graphs: a handle is the address of an unsigned here -----------------------------------
typedef unsigned long long cudaGraphConditionalHandle;
extern "C" inline void cudaGraphSetConditional(cudaGraphConditionalHandle h, unsigned value) { *(unsigned *)h = value; }

// ---- launching, through ctypes: one EMU_KERNEL per kernel, arguments as pointers to their values ---------------------
namespace emu {
// What Python checks arguments against, four characters each: P(ointer), c(onst), kind as in NumPy, bytes (beyond 9 as letters).
struct Argument { char pointer, is_const, kind, bytes; };
template <class T> struct KindOf { enum { value = 's' }; };  // a struct
#define EMU_KIND(T, K) template <> struct KindOf<T> { enum { value = K }; };
EMU_KIND(bool, 'b') EMU_KIND(char, 'i') EMU_KIND(signed char, 'i') EMU_KIND(short, 'i') EMU_KIND(int, 'i')
EMU_KIND(long, 'i') EMU_KIND(long long, 'i') EMU_KIND(unsigned char, 'u') EMU_KIND(unsigned short, 'u')
EMU_KIND(unsigned, 'u') EMU_KIND(unsigned long, 'u') EMU_KIND(unsigned long long, 'u') EMU_KIND(float, 'f')
EMU_KIND(double, 'f')
template <class T> struct Described {
  static constexpr Argument value() { return {'-', '-', KindOf<T>::value, (char)((sizeof(T) < 10 ? '0' : 'a' - 10) + sizeof(T))}; }
};
template <> struct Described<void> { static constexpr Argument value() { return {'-', '-', 'v', '1'}; } };
template <class T> struct Described<const T> : Described<T> {};
template <class T> struct Described<volatile T> : Described<T> {};
template <class T> struct Described<T *> {
  static constexpr Argument value() { return {'P', '-', Described<T>::value().kind, Described<T>::value().bytes}; }
};
template <class T> struct Described<const T *> {
  static constexpr Argument value() { return {'P', 'c', Described<T>::value().kind, Described<T>::value().bytes}; }
};
// Views (kernels/views.cuh) are structs of arguments; Python passes their fields one by one. Structs with a field `re`
// are complex numbers.
struct AnyField { template <class T> operator T() const; };
template <int N> struct Rank : Rank<N - 1> { static constexpr int value = N; };
template <> struct Rank<0> {};
template <class T> auto count(Rank<12>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<12>());
template <class T> auto count(Rank<11>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<11>());
template <class T> auto count(Rank<10>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<10>());
template <class T> auto count(Rank<9>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<9>());
template <class T> auto count(Rank<8>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<8>());
template <class T> auto count(Rank<7>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<7>());
template <class T> auto count(Rank<6>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<6>());
template <class T> auto count(Rank<5>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<5>());
template <class T> auto count(Rank<4>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}, AnyField{}}, Rank<4>());
template <class T> auto count(Rank<3>) -> decltype(T{AnyField{}, AnyField{}, AnyField{}}, Rank<3>());
template <class T> auto count(Rank<2>) -> decltype(T{AnyField{}, AnyField{}}, Rank<2>());
template <class T> auto count(Rank<1>) -> decltype(T{AnyField{}}, Rank<1>());
template <class T> constexpr auto is_number(int) -> decltype((void)T().re, true) { return true; }
template <class T> constexpr bool is_number(...) { return false; }
template <class T> static constexpr bool is_view() {
  if constexpr (__is_class(T)) return !is_number<T>(0);
  else return false;
}
template <class T, class F> static void each_field(T &view, F visit) {
  constexpr int N = decltype(count<T>(Rank<12>()))::value;
  if constexpr (N == 1) { auto &[f0] = view; visit(f0); }
  else if constexpr (N == 2) { auto &[f0, f1] = view; visit(f0); visit(f1); }
  else if constexpr (N == 3) { auto &[f0, f1, f2] = view; visit(f0); visit(f1); visit(f2); }
  else if constexpr (N == 4) { auto &[f0, f1, f2, f3] = view; visit(f0); visit(f1); visit(f2); visit(f3); }
  else if constexpr (N == 5) { auto &[f0, f1, f2, f3, f4] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); }
  else if constexpr (N == 6) { auto &[f0, f1, f2, f3, f4, f5] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); }
  else if constexpr (N == 7) { auto &[f0, f1, f2, f3, f4, f5, f6] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); }
  else if constexpr (N == 8) { auto &[f0, f1, f2, f3, f4, f5, f6, f7] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); visit(f7); }
  else if constexpr (N == 9) { auto &[f0, f1, f2, f3, f4, f5, f6, f7, f8] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); visit(f7); visit(f8); }
  else if constexpr (N == 10) { auto &[f0, f1, f2, f3, f4, f5, f6, f7, f8, f9] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); visit(f7); visit(f8); visit(f9); }
  else if constexpr (N == 11) { auto &[f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); visit(f7); visit(f8); visit(f9); visit(f10); }
  else if constexpr (N == 12) { auto &[f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = view; visit(f0); visit(f1); visit(f2); visit(f3); visit(f4); visit(f5); visit(f6); visit(f7); visit(f8); visit(f9); visit(f10); visit(f11); }
}
template <class T> static void describe(Argument *&next, T *) {
  if constexpr (is_view<T>()) {
    alignas(T) char memory[sizeof(T)];  // only types are read
    each_field(*(T *)memory, [&](auto &field) { describe(next, &field); });
  } else *next++ = Described<T>::value();
}
template <class... A> static const char *signature(void (*)(A...)) {
  static Argument list[256];
  Argument *next = list;
  (describe(next, (A *)nullptr), ...);
  *next = {0, 0, 0, 0};
  return (const char *)list;
}
template <class T> struct Taken {
  static T from(void **&next) {
    if constexpr (is_view<T>()) {
      T view;
      each_field(view, [&](auto &field) { take(field, next); });
      return view;
    } else return *(T *)*next++;
  }
  template <class F> static void take(F &field, void **&next) {
    if constexpr (is_view<F>()) each_field(field, [&](auto &inner) { take(inner, next); });
    else field = *(F *)*next++;
  }
};
template <class... A> struct Call { Call(void (*kernel)(A...), A... a) { kernel(a...); } };
template <class... A> static int launch(const char *name, void (*kernel)(A...), const Config *c, void **arguments,
                                        char *shared_begin, char *shared_end) {
  struct Closure {
    void (*kernel)(A...);
    void **arguments;
    static void run(void *p) {
      void **next = ((Closure *)p)->arguments;
      (void)next;
      Call<A...>{((Closure *)p)->kernel, Taken<A>::from(next)...};  // braces: evaluated from left to right
    }
  } closure{kernel, arguments};
  return emu_launch(name, c, &Closure::run, &closure, shared_begin, shared_end);
}
}  // namespace emu
#if defined(__ELF__)
extern "C" __attribute__((visibility("hidden"))) char __bss_start[], _end[];
#else
static char __bss_start[1], *_end = __bss_start;  // static shared memory is not poisoned there
#endif
#define EMU_EXPORT extern "C" __attribute__((visibility("default")))
#define EMU_KERNEL(I, NAME, ...)                                                                                  \
  EMU_EXPORT int emu_run_##I(const emu::Config *c, void **a) {                                                    \
    return emu::launch(NAME, &__VA_ARGS__, c, a, __bss_start, _end);                                              \
  }                                                                                                               \
  EMU_EXPORT const char *emu_signature_##I() { return emu::signature(&__VA_ARGS__); }
#endif  // EMU_RUNTIME
