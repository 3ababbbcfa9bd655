// The view of a bitmap.
#include "kernels/product.cuh"

// A LINE per word of a line, and values.
struct LinesView {
  const LINE_T* bits;
  const STORED(U_T)* values;
  ARGUMENT(U_T) iso;
  i64 stride;
  __device__ __forceinline__ U_T at(i64 i) const { return load<U_T>(values, iso, stride, i); }
};
