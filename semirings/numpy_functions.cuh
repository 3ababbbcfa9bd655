// NumPy functions without a GraphBLAS operator, in CUDA C++: the counterpart of numpy_functions.py.
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
template <class T> __device__ __forceinline__ T rest(T x, T y) { return y == T(0) || y == T(-1) ? T(0) : T(x % y); }
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
