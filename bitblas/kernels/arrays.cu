// Kernels on plain arrays of a GPU (device/arrays.py): element-wise operators, gather, scatter, selection, binary search
// and reduction. Types and operators are arguments, read by uniform branches, so that one compiled kernel serves all of
// them: array code is bound by memory, and compiling a kernel per operator and type took seconds.
#include "kernels/base.cuh"

// Types, in the order of TYPES in device/arrays.py, then constants and positions.
enum { BOOL_TYPE, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, SIGNED_VALUE, UNSIGNED_VALUE, FLOAT_VALUE, POSITION };
enum { SIGNED, UNSIGNED, FLOAT };  // what 64 bits mean

// An operand: an array of any type and element stride, one value for all elements, or the numbers value + i * stride.
// Two-dimensional operands have a stride between rows too.
struct ElementsView {
  const void* data;
  i64 type;
  i64 stride;
  i64 row_stride;
  i64 value;
};

__device__ __forceinline__ int meaning(i64 type) {
  if (type == F32 || type == F64 || type == FLOAT_VALUE) return FLOAT;
  return (type >= U8 && type <= U64) || type == UNSIGNED_VALUE ? UNSIGNED : SIGNED;
}
__device__ __forceinline__ double as_double(u64 x) { return __longlong_as_double((i64)x); }
__device__ __forceinline__ u64 from_double(double x) { return (u64)__double_as_longlong(x); }

// Element at an offset, widened to 64 bits.
__device__ __forceinline__ u64 load(const ElementsView& x, i64 offset) {
  switch ((int)x.type) {
    case BOOL_TYPE: return ((const u8*)x.data)[offset] != 0;
    case I8: return (u64)(i64)((const signed char*)x.data)[offset];
    case I16: return (u64)(i64)((const short*)x.data)[offset];
    case I32: return (u64)(i64)((const int*)x.data)[offset];
    case U8: return ((const u8*)x.data)[offset];
    case U16: return ((const u16*)x.data)[offset];
    case U32: return ((const u32*)x.data)[offset];
    case I64:
    case U64:
    case F64: return ((const u64*)x.data)[offset];
    case F32: return from_double((double)((const float*)x.data)[offset]);
    case POSITION: return (u64)(x.value + offset);
    default: return (u64)x.value;
  }
}

// 64 bits of one meaning as another. Floats are truncated to integers, as in C.
__device__ __forceinline__ u64 converted(u64 x, int from, int to) {
  if (from == to || from != FLOAT && to != FLOAT) return x;
  if (to == FLOAT) return from_double(from == SIGNED ? (double)(i64)x : (double)x);
  const double y = as_double(x);
  return to == UNSIGNED && y >= 0 ? (u64)y : (u64)(i64)y;
}

__device__ __forceinline__ void store(void* data, int type, i64 offset, u64 x, int from) {
  if (type == BOOL_TYPE) {
    ((u8*)data)[offset] = from == FLOAT ? as_double(x) != 0 : x != 0;
    return;
  }
  x = converted(x, from, type >= F32 ? FLOAT : type >= U8 ? UNSIGNED : SIGNED);
  switch (type) {
    case I8:
    case U8: ((u8*)data)[offset] = (u8)x; break;
    case I16:
    case U16: ((u16*)data)[offset] = (u16)x; break;
    case I32:
    case U32: ((u32*)data)[offset] = (u32)x; break;
    case F32: ((float*)data)[offset] = (float)as_double(x); break;
    default: ((u64*)data)[offset] = x;
  }
}

// Offset of element i: rows of `inner` elements if that is not 0.
__device__ __forceinline__ i64 offset_of(i64 i, i64 inner, i64 stride, i64 row_stride) {
  if (!inner) return i * stride;
  const i64 row = i / inner;
  return row * row_stride + (i - row * inner) * stride;
}

// Copy an element of 1, 2, 4, 8 or 16 bytes.
__device__ __forceinline__ void copy_bytes(void* out, i64 to, const void* data, i64 from, int bytes) {
  switch (bytes) {
    case 1: ((u8*)out)[to] = ((const u8*)data)[from]; break;
    case 2: ((u16*)out)[to] = ((const u16*)data)[from]; break;
    case 4: ((u32*)out)[to] = ((const u32*)data)[from]; break;
    case 8: ((u64*)out)[to] = ((const u64*)data)[from]; break;
    default:
      ((u64*)out)[2 * to] = ((const u64*)data)[2 * from];
      ((u64*)out)[2 * to + 1] = ((const u64*)data)[2 * from + 1];
  }
}

// -1, 0 or 1 as x is below, equal to or above y; 2 if either is NaN. Signed and unsigned numbers compare exactly.
__device__ __forceinline__ int compared(u64 x, int of_x, u64 y, int of_y) {
  if (of_x == FLOAT || of_y == FLOAT) {
    const double a = as_double(converted(x, of_x, FLOAT)), b = as_double(converted(y, of_y, FLOAT));
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
  }
  if (of_x == SIGNED && (i64)x < 0) return of_y == SIGNED && (i64)y < 0 ? ((i64)x < (i64)y ? -1 : x != y) : -1;
  if (of_y == SIGNED && (i64)y < 0) return 1;
  return x < y ? -1 : x != y;
}

#ifdef KERNEL_map_elements
// The operators, in the order of OPERATORS in device/arrays.py.
enum {
  COPY,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  FLOOR_DIVIDE,
  REMAINDER,
  AND,
  OR,
  XOR,
  LEFT_SHIFT,
  RIGHT_SHIFT,
  MINIMUM,
  MAXIMUM,
  NEGATIVE,
  INVERT,
  ABSOLUTE,
  SQRT,
  EQUAL,
  NOT_EQUAL,
  LESS,
  LESS_EQUAL,
  GREATER,
  GREATER_EQUAL,
  IS_FINITE,
  TRUNC,
  SIGNBIT,
  WHERE,
  BIT,
  PACK
};

__device__ __forceinline__ u64 of_integers(int op, u64 x, u64 y, bool is_signed) {
  const bool negative = is_signed && (i64)x < 0, other = is_signed && (i64)y < 0;
  switch (op) {
    case ADD: return x + y;
    case SUBTRACT: return x - y;
    case MULTIPLY: return x * y;
    case FLOOR_DIVIDE:
    case REMAINDER: {  // rounded down; 0 where y is 0, as in NumPy
      if (!y) return 0;
      const u64 a = negative ? 0 - x : x, b = other ? 0 - y : y, quotient = a / b, rest = a - quotient * b;
      const bool below = negative != other;
      if (op == FLOOR_DIVIDE) return below ? 0 - quotient - (rest != 0) : quotient;
      const u64 magnitude = below && rest ? b - rest : rest;
      return other ? 0 - magnitude : magnitude;
    }
    case AND: return x & y;
    case OR: return x | y;
    case XOR: return x ^ y;
    case LEFT_SHIFT: return y < 64 ? x << y : 0;
    case RIGHT_SHIFT: return is_signed ? (u64)((i64)x >> (y < 64 ? y : 63)) : y < 64 ? x >> y : 0;
    case NEGATIVE: return 0 - x;
    case INVERT: return ~x;
    case ABSOLUTE: return negative ? 0 - x : x;
    case MINIMUM: return compared(x, !is_signed, y, !is_signed) < 0 ? x : y;
    case MAXIMUM: return compared(x, !is_signed, y, !is_signed) > 0 ? x : y;
    case SIGNBIT: return negative;
    default: return x;
  }
}

__device__ __forceinline__ u64 of_floats(int op, double x, double y) {
  double z = x;
  switch (op) {
    case ADD: z = x + y; break;
    case SUBTRACT: z = x - y; break;
    case MULTIPLY: z = x * y; break;
    case DIVIDE: z = x / y; break;
    case MINIMUM: z = x != x || x < y ? x : y; break;
    case MAXIMUM: z = x != x || x > y ? x : y; break;
    case NEGATIVE: z = -x; break;
    case ABSOLUTE: z = fabs(x); break;
    case SQRT: z = sqrt(x); break;
    case TRUNC: z = trunc(x); break;
  }
  return from_double(z);
}

// out[i] = op(x[i], y[i]), or WHERE: c[i] ? x[i] : y[i]. `of`: what the bits of both operands are converted to.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    map_elements(i64 n, i64 op, i64 of, i64 inner, void* out, i64 out_type, i64 out_stride, i64 out_row_stride,
                 ElementsView x, ElementsView y, ElementsView c) {
  const i64 i = thread_number();
  if (i >= n) return;
  const i64 to = offset_of(i, inner, out_stride, out_row_stride);
  if (op == BIT || op == PACK) {  // unpack bits, lowest first, or pack eight truth values
    u32 bits = 0;
    if (op == BIT) bits = ((const u8*)x.data)[i >> 3] >> (i & 7) & 1;
    for (i64 k = 8 * i; op == PACK && k < 8 * i + 8 && k < x.value; ++k)
      bits |= (u32)(((const u8*)x.data)[k * x.stride] != 0) << (k & 7);
    ((u8*)out)[to] = (u8)bits;
    return;
  }
  const i64 x_at = offset_of(i, inner, x.stride, x.row_stride), y_at = offset_of(i, inner, y.stride, y.row_stride);
  const int of_x = meaning(x.type), of_y = meaning(y.type);
  if (op == WHERE) {
    const bool first = load(c, offset_of(i, inner, c.stride, c.row_stride)) != 0;
    store(out, (int)out_type, to, first ? load(x, x_at) : load(y, y_at), first ? of_x : of_y);
    return;
  }
  const u64 a = load(x, x_at), b = load(y, y_at);
  if (op >= EQUAL && op <= GREATER_EQUAL) {
    const int order = compared(a, of_x, b, of_y);
    const bool holds = op == EQUAL ? order == 0
        : op == NOT_EQUAL          ? order != 0
        : op == LESS               ? order == -1
        : op == LESS_EQUAL         ? order == -1 || order == 0
        : op == GREATER            ? order == 1
                                   : order == 1 || order == 0;
    store(out, BOOL_TYPE, to, holds, SIGNED);
    return;
  }
  const u64 p = converted(a, of_x, (int)of), q = converted(b, of_y, (int)of);
  if (of == FLOAT && (op == IS_FINITE || op == SIGNBIT)) {
    const u64 exponent = p >> 52 & 0x7ff;
    store(out, BOOL_TYPE, to, op == SIGNBIT ? p >> 63 : exponent != 0x7ff, SIGNED);
  } else if (op == IS_FINITE || op == INVERT && out_type == BOOL_TYPE) {
    store(out, BOOL_TYPE, to, op == IS_FINITE || !p, SIGNED);
  } else if (of == FLOAT) {
    store(out, (int)out_type, to, of_floats((int)op, as_double(p), as_double(q)), FLOAT);
  } else {
    store(out, (int)out_type, to, of_integers((int)op, p, q, of == SIGNED), (int)of);
  }
}
#endif  // KERNEL_map_elements

// A number of an index array as a position among `size` elements: negative ones count from the end, others wrap.
__device__ __forceinline__ i64 position(const ElementsView& index, i64 k, i64 size) {
  i64 p = (i64)load(index, k * index.stride);
  if ((u64)p < (u64)size) return p;
  p %= size;
  return p < 0 ? p + size : p;
}

#ifdef KERNEL_take_elements
// out[k] = data[index[k]], for rows of `inner` elements of `bytes` bytes each.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    take_elements(i64 n, i64 bytes, i64 inner, const void* data, i64 size, i64 stride, i64 row_stride,
                  ElementsView index, void* out) {
  const i64 i = thread_number();
  if (i >= n) return;
  const i64 k = inner == 1 ? i : i / inner;
  copy_bytes(out, i, data, position(index, k, size) * row_stride + (i - k * inner) * stride, (int)bytes);
}
#endif  // KERNEL_take_elements

#ifdef KERNEL_put_elements
// data[index[k]] = x[k]. If an index occurs several times, any of its values may be kept.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    put_elements(i64 n, void* data, i64 type, i64 size, i64 stride, ElementsView index, ElementsView x) {
  const i64 k = thread_number();
  if (k < n) store(data, (int)type, position(index, k, size) * stride, load(x, k * x.stride), meaning(x.type));
}
#endif  // KERNEL_put_elements

#ifdef KERNEL_select_elements
// Stream compaction: the elements of data whose flag is set, or their positions if bytes is 0. before[k]: the number of
// flags up to and including k.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    select_elements(i64 n, i64 bytes, const bool* flags, const i64* before, const void* data, i64 stride, void* out) {
  const i64 k = thread_number();
  if (k >= n || !flags[k]) return;
  if (bytes) copy_bytes(out, before[k] - 1, data, k * stride, (int)bytes);
  else ((i64*)out)[before[k] - 1] = k;
}
#endif  // KERNEL_select_elements

#ifdef KERNEL_search_elements
// out[k]: the number of elements of the ascending array `sorted` below x[k], or with `right` up to x[k].
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    search_elements(i64 n, i64 right, i64 size, ElementsView sorted, ElementsView x, i64* out) {
  const i64 k = thread_number();
  if (k >= n) return;
  const u64 wanted = load(x, k * x.stride);
  const int of_x = meaning(x.type), of_sorted = meaning(sorted.type);
  i64 low = 0, high = size;
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    const int order = compared(load(sorted, middle * sorted.stride), of_sorted, wanted, of_x);
    if (order == -1 || right && order == 0) low = middle + 1;
    else high = middle;
  }
  out[k] = low;
}
#endif  // KERNEL_search_elements

#ifdef KERNEL_count_elements
// counts[x[k]] += 1.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) count_elements(i64 n, ElementsView x, u64* counts) {
  const i64 k = thread_number();
  if (k < n) atomicAdd(&counts[load(x, k * x.stride)], 1ull);
}
#endif  // KERNEL_count_elements

#ifdef KERNEL_fold_elements
enum { SUM, LEAST, MOST, ALL, ANY };  // in the order of FOLDS in device/arrays.py

__device__ __forceinline__ u64 folded(int op, int of, u64 x, u64 y) {
  if (op == SUM) return of == FLOAT ? from_double(as_double(x) + as_double(y)) : x + y;
  if (op == ALL) return x & y;
  if (op == ANY) return x | y;
  if (of == FLOAT && as_double(x) != as_double(x)) return x;  // NaN stays
  const int order = compared(x, of, y, of);
  return order == 2 || order == (op == LEAST ? 1 : -1) ? y : x;
}

// A block per part of a segment: segment s has x[s * row_stride + c * stride] for c < length, in parts of `part`
// elements. Sums are in a fixed order: every thread adds each BLOCK-th element, then the threads are added as a tree.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    fold_elements(i64 n, i64 op, i64 length, i64 part, i64 parts, ElementsView x, void* out, i64 out_type, i64 of) {
  __shared__ u64 partial[BLOCK];
  const i64 segment = (i64)blockIdx.x / parts, first = ((i64)blockIdx.x - segment * parts) * part;
  const i64 end = first + part < length ? first + part : length;
  const int of_x = meaning(x.type), least = end - first < BLOCK ? (int)(end - first) : BLOCK;
  u64 sum = 0;
  for (i64 c = first + threadIdx.x; c < end; c += BLOCK) {
    u64 y = load(x, segment * x.row_stride + c * x.stride);
    y = op >= ALL ? (of_x == FLOAT ? as_double(y) != 0 : y != 0) : converted(y, of_x, (int)of);
    sum = c < first + BLOCK ? y : folded((int)op, (int)of, sum, y);
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half; half >>= 1) {
    if (threadIdx.x < half && threadIdx.x + half < least)
      partial[threadIdx.x] = folded((int)op, (int)of, partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) store(out, (int)out_type, blockIdx.x, partial[0], op >= ALL ? SIGNED : (int)of);
}
#endif  // KERNEL_fold_elements
