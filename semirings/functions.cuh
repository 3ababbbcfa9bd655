// What the operator expressions of the catalogue may call, in CUDA C++: the twin of functions.py.
template <class T> __device__ __forceinline__ T where(bool condition, T x, T y) { return condition ? x : y; }

// Sums, differences and products of integers wrap: computed in an unsigned type, where that is defined. (Narrow types
// would be computed in int, where the product of two UINT16 can overflow.) Those of BOOL are or, xor and and.
template <class T> struct Wrapping { typedef unsigned int type; };
template <> struct Wrapping<long long> { typedef unsigned long long type; };
template <> struct Wrapping<unsigned long long> { typedef unsigned long long type; };
template <> struct Wrapping<float> { typedef float type; };
template <> struct Wrapping<double> { typedef double type; };
#define W(x) (typename Wrapping<T>::type)(x)
template <class T> __device__ __forceinline__ T plus(T x, T y) { return T(W(x) + W(y)); }
template <class T> __device__ __forceinline__ T minus(T x, T y) { return T(W(x) - W(y)); }
template <class T> __device__ __forceinline__ T times(T x, T y) { return T(W(x) * W(y)); }
template <class T> __device__ __forceinline__ T negative(T x) { return T(-(W(x))); }
// 0 - x rather than -x: the absolute value of -0.0 is 0.0. That of the least integer is itself.
template <class T> __device__ __forceinline__ T absolute(T x) { return x > T(0) ? x : T(W(0) - W(x)); }
#undef W

// fmin and fmax: a NaN loses against a number.
template <class T> __device__ __forceinline__ T least(T x, T y) { return (x < y || y != y) ? x : y; }
template <class T> __device__ __forceinline__ T greatest(T x, T y) { return (x > y || y != y) ? x : y; }

// x multiplied k >= 1 times, by squaring.
template <class T> __device__ __forceinline__ T power(T x, long long k) {
  T z = x;
  for (k -= 1; k > 0; k >>= 1) {
    if (k & 1) z = times(z, x);
    x = times(x, x);
  }
  return z;
}

// GraphBLAS casts: to BOOL is != 0; a float goes to an integer towards zero, saturated, NaN to 0 (as SuiteSparse does).
template <class To, class From> struct Cast {
  static __device__ __forceinline__ To from(From x) { return To(x); }
};
template <class From> struct Cast<bool, From> {
  static __device__ __forceinline__ bool from(From x) { return x != From(0); }
};
template <class To, class From> __device__ __forceinline__ To saturate(From x) {
  const bool is_signed = To(-1) < To(0);
  const To highest = is_signed ? To(~(1ull << (8 * sizeof(To) - 1))) : To(~0ull);
  const To lowest = is_signed ? To(1ull << (8 * sizeof(To) - 1)) : To(0);
  if (x != x) return To(0);
  if (x >= From(highest)) return highest;
  if (x <= From(lowest)) return lowest;
  return To(x);
}
#define SATURATING(To)                                                                                       \
  template <> struct Cast<To, float> {                                                                       \
    static __device__ __forceinline__ To from(float x) { return saturate<To, float>(x); }                    \
  };                                                                                                         \
  template <> struct Cast<To, double> {                                                                      \
    static __device__ __forceinline__ To from(double x) { return saturate<To, double>(x); }                  \
  };
SATURATING(signed char)
SATURATING(short)
SATURATING(int)
SATURATING(long long)
SATURATING(unsigned char)
SATURATING(unsigned short)
SATURATING(unsigned int)
SATURATING(unsigned long long)
#undef SATURATING
template <class To, class From> __device__ __forceinline__ To cast(From x) { return Cast<To, From>::from(x); }
