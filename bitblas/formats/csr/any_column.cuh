// Read the column of any entry by its number, outside of a walk through a row.
// Plain numbers of type C, or packed ones of `width` bits (P). The two operands of a kernel may differ in that.
#include "kernels/views.cuh"

template <int P, class C> struct AnyColumn {
  typedef C stored;  // element type of the array
  const C* col;
  __device__ __forceinline__ AnyColumn(const C* numbers, i64) : col(numbers) {}
  __device__ __forceinline__ C operator[](i64 e) const { return col[e]; }
};

template <class C> struct AnyColumn<1, C> {
  typedef u32 stored;
  const u32* string;
  u32 width;
  __device__ __forceinline__ AnyColumn(const u32* words, i64 bits) : string(words), width((u32)bits) {}
  __device__ __forceinline__ C operator[](i64 e) const { return (C)packed_at(string, e, width); }
};

// The structure of a matrix by rows, for kernels that read the columns of any entries.
template <class P, class C> struct CsrView {
  const P* ptr;
  const typename C::stored* col;
  i64 width;

  __device__ __forceinline__ C columns() const { return C(col, width); }
};
