// Functions that operator expressions call, in CUDA C++: the counterpart of functions.py.
template <class T> __device__ __forceinline__ T where(bool condition, T x, T y) { return condition ? x : y; }

// Integer sums, differences and products wrap: computed in an unsigned type, where wrapping is defined. (Narrow types
// promote to int, where the product of two UINT16 can overflow.) Those of BOOL are or, xor and and.
template <class T> struct Wrapping {
  typedef decltype(T() + 0u) type;
};
template <> struct Wrapping<long long> {
  typedef unsigned long long type;
};
#define W(x) (typename Wrapping<T>::type)(x)
template <class T> __device__ __forceinline__ T plus(T x, T y) { return T(W(x) + W(y)); }
template <class T> __device__ __forceinline__ T minus(T x, T y) { return T(W(x) - W(y)); }
template <class T> __device__ __forceinline__ T times(T x, T y) { return T(W(x) * W(y)); }
template <class T> __device__ __forceinline__ T negative(T x) { return T(-(W(x))); }
template <class T> __device__ __forceinline__ T inverted(T x) { return T(~x); }
// 0 - x rather than -x: the absolute value of -0.0 is 0.0. That of the least integer is itself.
template <class T> __device__ __forceinline__ T absolute(T x) { return x > T(0) ? x : T(W(0) - W(x)); }
#undef W

// fmin and fmax: a number is preferred to NaN.
template <class T> __device__ __forceinline__ T least(T x, T y) { return (x < y || y != y) ? x : y; }
template <class T> __device__ __forceinline__ T greatest(T x, T y) { return (x > y || y != y) ? x : y; }

// The product of k >= 1 factors x, by squaring.
template <class T> __device__ __forceinline__ T power(T x, long long k) {
  T z = x;
  for (k -= 1; k > 0; k >>= 1) {
    if (k & 1) z = times(z, x);
    x = times(x, x);
  }
  return z;
}

// Integer division, as in SuiteSparse: x / 0 is the greatest or least value, 0 / 0 is 0.
template <class T> __device__ __forceinline__ T quotient(T x, T y, int bits) {
  if (y == T(0)) return x == T(0) ? x : x > T(0) ? T(~(1ull << (bits - 1))) : T(1ull << (bits - 1));
  return y == T(-1) ? times(x, y) : T(x / y);
}
template <class T> __device__ __forceinline__ T unsigned_quotient(T x, T y) {
  return y == T(0) ? (x == T(0) ? x : T(~0ull)) : T(x / y);
}
// x / y rounded towards minus infinity; 0 if y is 0, as in NumPy.
template <class T> __device__ __forceinline__ T floor_quotient(T x, T y) {
  if (y == T(0) || y == T(-1)) return times(x, y);
  return T(x / y - (x % y != 0 && (x < T(0)) != (y < T(0))));
}
template <class T> __device__ __forceinline__ T unsigned_floor_quotient(T x, T y) { return y == T(0) ? y : T(x / y); }
// x // y as in Python; x / y if y is 0, as in NumPy.
template <class T> __device__ __forceinline__ T floored(T x, T y) {
  if (y == T(0)) return x / y;
  const T rest = fmod(x, y);
  T z = (x - rest) / y;
  if (rest != T(0) && (y < T(0)) != (rest < T(0))) z -= T(1);
  if (z == T(0)) return copysign(T(0), x / y);
  const T down = floor(z);
  return z - down > T(0.5) ? down + T(1) : down;
}

// The remainder of that, with the sign of y; for integers 0 if y is 0.
template <class T> __device__ __forceinline__ T modulus(T x, T y) {
  if (y == T(0) || y == T(-1)) return T(0);
  const T rest = T(x % y);
  return rest != T(0) && (rest < T(0)) != (y < T(0)) ? T(rest + y) : rest;
}
template <class T> __device__ __forceinline__ T unsigned_modulus(T x, T y) { return y == T(0) ? y : T(x % y); }
template <class T> __device__ __forceinline__ T real_modulus(T x, T y) {
  const T rest = fmod(x, y);
  if (rest == T(0)) return copysign(T(0), y);
  return (y < T(0)) != (rest < T(0)) && rest == rest ? rest + y : rest;
}

// x << y, or x >> -y with the sign kept; y is taken as INT8, as in SuiteSparse.
template <class T> __device__ __forceinline__ unsigned long long shift(T x, T y) {
  const int k = (signed char)y;
  const unsigned long long z = (unsigned long long)x;
  if (k >= 0) return k < 64 ? z << k : 0;
  const unsigned long long flip = x < T(0) ? ~0ull : 0;  // an arithmetic shift of x is the shift of ~x, inverted
  return (k > -64 ? (z ^ flip) >> -k : 0) ^ flip;
}
// Bit number y, counted from 1; no bit if y is out of range.
template <class T> __device__ __forceinline__ unsigned long long numbered_bit(T y, int bits) {
  return y >= T(1) && (unsigned long long)y <= (unsigned long long)bits ? 1ull << (int(y) - 1) : 0;
}
template <class T> __device__ __forceinline__ bool get_bit(T x, T y, int bits) {
  return ((unsigned long long)x & numbered_bit(y, bits)) != 0;
}
template <class T> __device__ __forceinline__ T include_bit(T x, T y, int bits) {
  return T(x | T(numbered_bit(y, bits)));
}
template <class T> __device__ __forceinline__ T clear_bit(T x, T y, int bits) {
  return T(x & T(~numbered_bit(y, bits)));
}

// Functions of <math.h> with different edge cases or names.
template <class T> __device__ __forceinline__ T rounded(T x) { return round(x); }
template <class T> __device__ __forceinline__ T signum(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
template <class T> __device__ __forceinline__ T fraction_of(T x) {
  int exponent;
  return isfinite(x) ? frexp(x, &exponent) : x;
}
template <class T> __device__ __forceinline__ T exponent_of(T x) {
  int exponent = 0;
  if (isfinite(x)) frexp(x, &exponent);
  return T(exponent);
}
template <class T> __device__ __forceinline__ T scaled(T x, T y) {
  return ldexp(x, int(least(greatest(y, T(-5000)), T(5000))));
}
// NaN if either is NaN. If both are integers and the power is below 2**64 it is rounded once, so that integers agree on
// every device.
template <class T> __device__ __forceinline__ T raised(T x, T y) {
  if (x != x || y != y) return x + y;
  if (y >= T(0) && y <= T(64) && y == floor(y) && fabs(x) < T(1.8e19) && x == floor(x)) {
    const unsigned long long base = (unsigned long long)fabs(x);
    unsigned long long z = 1;
    for (int k = 0; k < int(y); ++k) {
      if (double(z) * double(base) > 1.844674407370955e19) return pow(x, y);
      z *= base;
    }
    return x < T(0) && fmod(y, T(2)) != T(0) ? T(-double(z)) : T(double(z));
  }
  return pow(x, y);
}
// n over k; 0 if an intermediate product overflows, or if k is not in 0..n.
__device__ __forceinline__ long long binomial(long long n, long long k) {
  if (k > n || k < 0) return 0;
  long long z = 1;
  for (long long i = 0; i < (k < n - k ? k : n - k); ++i) {
    if (z > 9223372036854775807ll / (n - i)) return 0;
    z = z * (n - i) / (i + 1);
  }
  return z;
}
__device__ __forceinline__ bool near(double x, double y, double rel_tol, double abs_tol) {
  return x == y || absolute(x - y) <= greatest(rel_tol * greatest(absolute(x), absolute(y)), abs_tol);
}

// NumPy functions without a GraphBLAS operator.
typedef unsigned long long Magnitude;
template <class T> __device__ __forceinline__ bool sign_bit(T x) { return copysign(T(1), x) < T(0); }
// The next number after x towards y. The bit patterns of numbers of one sign are ordered by magnitude.
__device__ __forceinline__ float moved(float x, int by) { return __int_as_float(__float_as_int(x) + by); }
__device__ __forceinline__ double moved(double x, int by) { return __longlong_as_double(__double_as_longlong(x) + by); }
template <class T> __device__ __forceinline__ T next_after(T x, T y) {
  if (x != x || y != y) return x + y;
  return x == y ? y : x == T(0) ? copysign(moved(T(0), 1), y) : moved(x, (x < y) == (x > T(0)) ? 1 : -1);
}
// The distance to the next number away from zero; NaN at infinities.
template <class T> __device__ __forceinline__ T spacing_of(T x) {
  return isfinite(x) ? moved(x == T(0) ? absolute(x) : x, 1) - x : x - x;
}
// The remainder of x / y truncated towards zero, with the sign of x; 0 if y is 0.
template <class T> __device__ __forceinline__ T integer_fmod(T x, T y) {
  return y == T(0) || y == T(-1) ? T(0) : T(x % y);
}
template <class T> __device__ __forceinline__ Magnitude magnitude(T x) {
  return x < T(0) ? Magnitude(0) - Magnitude((long long)x) : Magnitude(x);
}
__device__ __forceinline__ Magnitude common_divisor(Magnitude x, Magnitude y) {
  while (y != 0) {
    const Magnitude z = x % y;
    x = y;
    y = z;
  }
  return x;
}
__device__ __forceinline__ Magnitude common_multiple(Magnitude x, Magnitude y) {
  return x != 0 && y != 0 ? x / common_divisor(x, y) * y : 0;
}
// x << y; 0 if y is the width of the type or more.
template <class T> __device__ __forceinline__ Magnitude shifted_left(T x, T y, int bits) {
  return y >= T(0) && Magnitude(y) < Magnitude(bits) ? Magnitude(x) << int(y) : 0;
}
// x >> y with the sign kept; 0 or -1 if y is the width of the type or more.
template <class T> __device__ __forceinline__ Magnitude shifted_right(T x, T y, int bits) {
  const Magnitude flip = x < T(0) ? ~0ull : 0;
  return (y >= T(0) && Magnitude(y) < Magnitude(bits) ? (Magnitude(x) ^ flip) >> int(y) : 0) ^ flip;
}
// log(exp(x) + exp(y)) and log2(2**x + 2**y), without intermediate overflow.
template <class T> __device__ __forceinline__ T log_sum(T x, T y) {
  if (x == y) return x + T(0.6931471805599453);
  return x > y ? x + log1p(exp(y - x)) : x < y ? y + log1p(exp(x - y)) : x + y;
}
template <class T> __device__ __forceinline__ T log_sum2(T x, T y) {
  if (x == y) return x + T(1);
  if (x > y) return x + T(1.4426950408889634) * log1p(exp2(y - x));
  return x < y ? y + T(1.4426950408889634) * log1p(exp2(x - y)) : x + y;
}

// GraphBLAS casts: to BOOL is != 0; floats to integers truncate and saturate, NaN becomes 0 (as in SuiteSparse).
template <class To, class From> __device__ __forceinline__ To saturate(From x) {
  const bool is_signed = To(-1) < To(0);
  const To highest = is_signed ? To(~(1ull << (8 * sizeof(To) - 1))) : To(~0ull);
  const To lowest = is_signed ? To(1ull << (8 * sizeof(To) - 1)) : To(0);
  if (x != x) return To(0);
  if (x >= From(highest)) return highest;
  if (x <= From(lowest)) return lowest;
  return To(x);
}
template <class To, class From> struct Cast {
  static __device__ __forceinline__ To from(From x) {
    if constexpr (To(0.5) == 0 && From(0.5) == 0.5) return saturate<To, From>(x);
    else return To(x);
  }
};
template <class From> struct Cast<bool, From> {
  static __device__ __forceinline__ bool from(From x) { return x != From(0); }
};
template <class To, class From> __device__ __forceinline__ To cast(From x) { return Cast<To, From>::from(x); }
