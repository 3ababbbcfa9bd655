// Complex numbers and the functions of their operators in CUDA C++: the counterpart of functions.py. Only
// included in kernels with complex types; needs no CUDA header.
template <class R> struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};
typedef Complex<float> fc32;
typedef Complex<double> fc64;
#define OF_PARTS template <class R> __device__ __forceinline__
template <class R> struct Argument<Complex<R>> {
  struct type {
    R re, im;
    __device__ __forceinline__ operator Complex<R>() const { return {re, im}; }
  };
};
OF_PARTS Complex<R> operator+(Complex<R> x, Complex<R> y) { return Complex<R>{x.re + y.re, x.im + y.im}; }
OF_PARTS Complex<R> operator-(Complex<R> x, Complex<R> y) { return Complex<R>{x.re - y.re, x.im - y.im}; }
OF_PARTS Complex<R> operator*(Complex<R> x, Complex<R> y) {
  return Complex<R>{x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
OF_PARTS Complex<R> operator-(Complex<R> x) { return Complex<R>{-x.re, -x.im}; }
OF_PARTS bool operator==(Complex<R> x, Complex<R> y) { return x.re == y.re && x.im == y.im; }
OF_PARTS bool operator!=(Complex<R> x, Complex<R> y) { return !(x == y); }

// Casts: to BOOL is != 0; to a real type takes the real part.
template <class R> struct Wrapping<Complex<R>> {
  typedef Complex<R> type;
};
template <class R, class From> struct Cast<Complex<R>, From> {
  static __device__ __forceinline__ Complex<R> from(From x) { return Complex<R>{R(x), R(0)}; }
};
template <class To, class R> struct Cast<To, Complex<R>> {
  static __device__ __forceinline__ To from(Complex<R> x) { return cast<To>(x.re); }
};
template <class R> struct Cast<bool, Complex<R>> {
  static __device__ __forceinline__ bool from(Complex<R> x) { return x.re != R(0) || x.im != R(0); }
};
template <class S, class R> struct Cast<Complex<S>, Complex<R>> {
  static __device__ __forceinline__ Complex<S> from(Complex<R> x) { return Complex<S>{S(x.re), S(x.im)}; }
};

// Shuffles and cached loads support 4 and 8 bytes.
OF_PARTS Complex<R> shuffle_xor(u32 mask, Complex<R> x, int d) {
  return Complex<R>{shuffle_xor(mask, x.re, d), shuffle_xor(mask, x.im, d)};
}
template <int G, class R> __device__ __forceinline__ Complex<R> shuffle_from(Complex<R> x, int lane) {
  return Complex<R>{shuffle_from<G>(x.re, lane), shuffle_from<G>(x.im, lane)};
}
OF_PARTS Complex<R> load_once(const Complex<R>* p) { return *p; }
OF_PARTS Complex<R> load_fresh(const Complex<R>* p) { return Complex<R>{load_fresh(&p->re), load_fresh(&p->im)}; }

OF_PARTS void issue_load(const Complex<R>&) {}  // kernels/frontier.cuh

OF_PARTS R real_part(Complex<R> x) { return x.re; }
OF_PARTS R imaginary_part(Complex<R> x) { return x.im; }
OF_PARTS Complex<R> conjugate(Complex<R> x) { return Complex<R>{x.re, -x.im}; }
OF_PARTS R magnitude_of(Complex<R> x) { return hypot(x.re, x.im); }
OF_PARTS R angle_of(Complex<R> x) { return atan2(x.im, x.re); }
OF_PARTS Complex<R> multiple_of(Complex<R> x, long long k) {
  return Complex<R>{R(double(x.re) * double(k)), R(double(x.im) * double(k))};
}
OF_PARTS bool complex_isfinite(Complex<R> x) { return isfinite(x.re) && isfinite(x.im); }
OF_PARTS bool complex_isinf(Complex<R> x) { return isinf(x.re) || isinf(x.im); }
OF_PARTS bool complex_isnan(Complex<R> x) { return x.re != x.re || x.im != x.im; }
#undef OF_PARTS

#define FUNCTION __device__ __forceinline__
#define LOG_2 0.6931471805599453
FUNCTION fc64 cartesian(double x, double y = 0) { return fc64{x, y}; }

// ---- SuiteSparse's definitions ----
FUNCTION fc64 complex_quotient(fc64 x, fc64 y) {
  const double a = x.re, b = x.im, c = y.re, d = y.im;
  if (d == 0) return cartesian(a / c, b / c);
  if (c == 0) return cartesian(b / d, -a / d);
  if (isinf(c) && isinf(d)) {
    const double sign = (c < 0) == (d < 0) ? 1 : -1, whole = c + sign * d;
    return cartesian((a + b * sign) / whole, (b - a * sign) / whole);
  }
  if (fabs(c) < fabs(d)) {
    const double ratio = c / d, whole = ratio * c + d;
    return cartesian((a * ratio + b) / whole, (b * ratio - a) / whole);
  }
  const double ratio = d / c, whole = ratio * d + c;
  return cartesian((a + b * ratio) / whole, (b - a * ratio) / whole);
}
FUNCTION fc64 complex_ceil(fc64 x) { return cartesian(ceil(x.re), ceil(x.im)); }
FUNCTION fc64 complex_floor(fc64 x) { return cartesian(floor(x.re), floor(x.im)); }
FUNCTION fc64 complex_trunc(fc64 x) { return cartesian(trunc(x.re), trunc(x.im)); }
FUNCTION fc64 complex_rounded(fc64 x) { return cartesian(rounded(x.re), rounded(x.im)); }
FUNCTION fc64 complex_signum(fc64 x) {
  if (x.re == 0 && x.im == 0) return cartesian(0);
  const double size = magnitude_of(x);
  return cartesian(x.re / size, x.im / size);
}
FUNCTION bool complex_near(fc64 x, fc64 y, double rel_tol, double abs_tol) {
  if (x == y) return true;
  const double apart = hypot(x.re - y.re, x.im - y.im), p = magnitude_of(x), q = magnitude_of(y);
  const double relative = rel_tol * (p > q || q != q ? p : q);
  return apart <= (relative > abs_tol ? relative : abs_tol);
}

// ---- exponentials and logarithms ----
FUNCTION fc64 complex_exp(fc64 x) {
  const double size = exp(x.re);
  return x.im == 0 ? cartesian(size, x.im) : cartesian(size * cos(x.im), size * sin(x.im));
}
FUNCTION fc64 complex_exp2(fc64 x) {
  const double size = exp2(x.re), turn = x.im * LOG_2;
  return x.im == 0 ? cartesian(size, x.im) : cartesian(size * cos(turn), size * sin(turn));
}
FUNCTION fc64 complex_expm1(fc64 x) {
  const double size = exp(x.re), half = sin(0.5 * x.im);
  if (x.im == 0) return cartesian(expm1(x.re), x.im);
  return cartesian(expm1(x.re) * cos(x.im) - 2.0 * half * half, size * sin(x.im));
}
FUNCTION fc64 complex_log(fc64 x) {
  const double size = magnitude_of(x), p = fabs(x.re), q = fabs(x.im);
  if (size > 0.5 && size < 2.0) {
    const double larger = p > q ? p : q, smaller = p > q ? q : p;
    return cartesian(0.5 * log1p((larger - 1.0) * (larger + 1.0) + smaller * smaller), angle_of(x));
  }
  if (isinf(size)) return cartesian(log(hypot(0.5 * p, 0.5 * q)) + LOG_2, angle_of(x));
  return cartesian(log(size), angle_of(x));
}
FUNCTION fc64 complex_log1p(fc64 x) {
  const double size = hypot(1.0 + x.re, x.im);
  if (size > 0.5 && size < 2.0)
    return cartesian(0.5 * log1p(x.re * (2.0 + x.re) + x.im * x.im), atan2(x.im, 1.0 + x.re));
  return complex_log(cartesian(1.0 + x.re, x.im));
}
FUNCTION fc64 complex_log2(fc64 x) {
  const fc64 z = complex_log(x);
  return cartesian(z.re / LOG_2, z.im / LOG_2);
}
FUNCTION fc64 complex_log10(fc64 x) {
  const fc64 z = complex_log(x);
  return cartesian(z.re / 2.302585092994046, z.im / 2.302585092994046);
}
FUNCTION fc64 complex_power(fc64 x, fc64 y) {
  if (x.im == 0 && y.im == 0 && (x.re >= 0 || y.re != y.re || isinf(y.re) || y.re == trunc(y.re)))
    return cartesian(raised(x.re, y.re));
  const double nan = __longlong_as_double(0x7ff8000000000000ll);
  if (complex_isnan(x) || complex_isnan(y)) return cartesian(nan, nan);
  if (y == cartesian(0)) return cartesian(1);
  if (x == cartesian(0)) return y.re > 0 ? cartesian(0) : cartesian(nan, nan);
  const fc64 z = complex_log(x);
  return complex_exp(cartesian(y.re * z.re - y.im * z.im, y.re * z.im + y.im * z.re));
}
FUNCTION fc64 complex_sqrt(fc64 x) {
  double a = x.re, b = x.im;
  if (a == 0 && b == 0) return cartesian(0, b);
  if (isinf(b)) return cartesian(fabs(b), b);
  if (isinf(a)) return a > 0 ? cartesian(a, b - b) : cartesian(b - b, copysign(fabs(a), b));
  double scale = 1.0;
  if (fabs(a) > 1e300 || fabs(b) > 1e300) scale = 0.25;
  else if (fabs(a) < 1e-290 && fabs(b) < 1e-290) scale = 1.329227995784916e36;
  const double back = 1.0 / sqrt(scale);
  a *= scale;
  b *= scale;
  const double root = sqrt(0.5 * (fabs(a) + hypot(a, b))), other = b / (2.0 * root);
  return a >= 0 ? cartesian(root * back, other * back) : cartesian(fabs(other) * back, copysign(root, b) * back);
}

// ---- circular and hyperbolic functions ----
FUNCTION fc64 hyperbolic_sine(double a, double b) {
  if (b == 0) return cartesian(sinh(a), b);
  return cartesian(a != 0 ? sinh(a) * cos(b) : a, cosh(a) * sin(b));
}
FUNCTION fc64 hyperbolic_cosine(double a, double b) {
  return cartesian(cosh(a) * cos(b), a != 0 && b != 0 ? sinh(a) * sin(b) : a * b);
}
FUNCTION fc64 hyperbolic_tangent(double a, double b) {
  if (fabs(a) > 20.0) return cartesian(copysign(1.0, a), b != 0 ? 4.0 * sin(b) * cos(b) * exp(-2.0 * fabs(a)) : b);
  const double slope = tan(b), size = sinh(a), beta = 1.0 + slope * slope, below = 1.0 + beta * size * size;
  if (isinf(beta)) return cartesian(cosh(a) / size, 1.0 / (slope * size * size));
  return cartesian(beta * sqrt(1.0 + size * size) * size / below, slope / below);
}
FUNCTION fc64 turned_back(fc64 z) { return cartesian(z.im, -z.re); }
FUNCTION fc64 complex_sinh(fc64 x) { return hyperbolic_sine(x.re, x.im); }
FUNCTION fc64 complex_cosh(fc64 x) { return hyperbolic_cosine(x.re, x.im); }
FUNCTION fc64 complex_tanh(fc64 x) { return hyperbolic_tangent(x.re, x.im); }
FUNCTION fc64 complex_sin(fc64 x) { return turned_back(hyperbolic_sine(-x.im, x.re)); }
FUNCTION fc64 complex_cos(fc64 x) { return hyperbolic_cosine(-x.im, x.re); }
FUNCTION fc64 complex_tan(fc64 x) { return turned_back(hyperbolic_tangent(-x.im, x.re)); }

FUNCTION bool is_huge(fc64 x) { return fabs(x.re) > 1e150 || fabs(x.im) > 1e150; }
FUNCTION double log_of_double(fc64 x) { return log(hypot(0.5 * x.re, 0.5 * x.im)) + 2.0 * LOG_2; }
FUNCTION fc64 complex_asinh(fc64 x) {
  if (is_huge(x)) return cartesian(copysign(log_of_double(x), x.re), atan2(x.im, fabs(x.re)));
  const fc64 p = complex_sqrt(cartesian(1.0 + x.im, -x.re)), q = complex_sqrt(cartesian(1.0 - x.im, x.re));
  return cartesian(asinh(p.re * q.im - q.re * p.im), atan2(x.im, p.re * q.re - p.im * q.im));
}
FUNCTION fc64 complex_acos(fc64 x) {
  if (is_huge(x)) return cartesian(atan2(fabs(x.im), x.re), -copysign(log_of_double(x), x.im));
  const fc64 p = complex_sqrt(cartesian(1.0 - x.re, -x.im)), q = complex_sqrt(cartesian(1.0 + x.re, x.im));
  return cartesian(2.0 * atan2(p.re, q.re), asinh(q.re * p.im - q.im * p.re));
}
FUNCTION fc64 complex_acosh(fc64 x) {
  if (is_huge(x)) return cartesian(log_of_double(x), atan2(x.im, x.re));
  const fc64 p = complex_sqrt(cartesian(x.re - 1.0, x.im)), q = complex_sqrt(cartesian(x.re + 1.0, x.im));
  return cartesian(asinh(p.re * q.re + p.im * q.im), 2.0 * atan2(p.im, q.re));
}
FUNCTION fc64 complex_atanh(fc64 x) {
  const double sign = copysign(1.0, x.re), a = sign * x.re, b = sign * x.im;
  if (a > 1e150 || fabs(b) > 1e150) {
    const double size = hypot(0.5 * a, 0.5 * b);
    return cartesian(isfinite(size) ? sign * (a / 4.0 / size / size) : sign * 0.0,
                     sign * copysign(1.5707963267948966, b));
  }
  if (a == 1.0 && fabs(b) < 1e-150) {
    if (b == 0) return cartesian(sign / fabs(b), sign * b);
    return cartesian(-sign * log(sqrt(fabs(b)) / sqrt(2.0)), sign * copysign(0.5 * atan2(2.0, -fabs(b)), b));
  }
  const double apart = 1.0 - a, turn = -0.5 * atan2(-2.0 * b, apart * (1.0 + a) - b * b);
  return cartesian(sign * (0.25 * log1p(4.0 * a / (apart * apart + b * b))), sign * turn);
}
FUNCTION fc64 complex_asin(fc64 x) { return turned_back(complex_asinh(cartesian(-x.im, x.re))); }
FUNCTION fc64 complex_atan(fc64 x) { return turned_back(complex_atanh(cartesian(-x.im, x.re))); }

// ---- NumPy functions that GraphBLAS lacks ----
FUNCTION fc64 complex_reciprocal(fc64 x) {
  if (fabs(x.re) >= fabs(x.im)) {
    const double ratio = x.im / x.re, whole = x.re + x.im * ratio;
    return cartesian(1.0 / whole, -ratio / whole);
  }
  const double ratio = x.re / x.im, whole = x.re * ratio + x.im;
  return cartesian(ratio / whole, -1.0 / whole);
}
template <class T> FUNCTION bool is_before(T x, T y) { return x.re < y.re || (x.re == y.re && x.im < y.im); }
template <class T> FUNCTION T complex_maximum(T x, T y) {
  return complex_isnan(x) || (!complex_isnan(y) && !is_before(x, y)) ? x : y;
}
template <class T> FUNCTION T complex_minimum(T x, T y) {
  return complex_isnan(x) || (!complex_isnan(y) && !is_before(y, x)) ? x : y;
}
#undef FUNCTION
#undef LOG_2
