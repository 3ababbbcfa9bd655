// CUDA C++ helpers of translated Python functions, with Numba's semantics; see udf_cuda.py.
template <class T> struct Range {
  T at, step;
  T left;
};
template <class T> __device__ __forceinline__ Range<T> make_range(T start, T stop, T step) {
  Range<T> r = {start, step, T(0)};
  if (step > T(0) && start < stop) r.left = T(T(stop - start - T(1)) / step + T(1));
  if (step < T(0) && start > stop) r.left = T(T(start - stop - T(1)) / T(T(0) - step) + T(1));
  return r;
}
template <class T> __device__ __forceinline__ bool advance(Range<T>& r, T& value) {
  if (r.left <= T(0)) return false;
  value = r.at;
  r.at = plus(r.at, r.step);
  r.left = T(r.left - T(1));
  return true;
}

// Signed and unsigned integers compare by value.
template <class T> __device__ __forceinline__ bool is_below_zero(T x) { return x < T(0); }
template <class A, class B> __device__ __forceinline__ bool less_than(A x, B y) {
  const bool p = is_below_zero(x), q = is_below_zero(y);
  if (p != q) return p;
  return (unsigned long long)x < (unsigned long long)y;
}

// x**n by squaring; an integer to a negative power is 0, except 1 and -1 (0: the least value, as in NumPy).
template <class T> __device__ __forceinline__ T integer_power(T x, long long n) {
  T z = T(1);
  const bool whole = T(0.5) == T(0);
  if (n < 0 && whole) {
    if (x == T(0)) return T(1ull << (8 * sizeof(T) - 1));
    if (x != T(1) && x != T(-1)) return T(0);
  }
  for (unsigned long long k = n < 0 ? 0 - (unsigned long long)n : n; k != 0; k >>= 1) {
    if (k & 1) z = times(z, x);
    x = times(x, x);
  }
  return n < 0 ? T(T(1) / z) : z;
}
template <class T> __device__ __forceinline__ T real_power(T x, T y) { return pow(x, y); }

// Python's max(x, y) and min(x, y): x unless y is greater or less, respectively.
template <class T> __device__ __forceinline__ T first_max(T x, T y) { return y > x ? y : x; }
template <class T> __device__ __forceinline__ T first_min(T x, T y) { return y < x ? y : x; }
// NumPy's maximum and minimum: NaN if either is NaN.
template <class T> __device__ __forceinline__ T maximum(T x, T y) { return (x >= y || x != x) ? x : y; }
template <class T> __device__ __forceinline__ T minimum(T x, T y) { return (x <= y || x != x) ? x : y; }

template <class T> __device__ __forceinline__ T left_shift(T x, T n) {
  return n >= T(0) && n < T(8 * sizeof(T)) ? T((unsigned long long)x << (unsigned long long)n) : T(0);
}
template <class T> __device__ __forceinline__ T right_shift(T x, T n) {
  return n >= T(0) && n < T(8 * sizeof(T)) ? T(x >> n) : T(x < T(0) ? -1 : 0);
}
