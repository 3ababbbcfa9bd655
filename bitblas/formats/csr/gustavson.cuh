// Row by row products C = A (+).(x) B (Gustavson: ACM TOMS 4(3), 1978): what the kernels for short and long rows share.
#include "formats/csr/any_column.cuh"
#include "formats/csr/search.cuh"
#include "formats/csr/table.cuh"
#include "kernels/product.cuh"
typedef AnyColumn<A_PACKED, INNER_T> AColumn;
typedef AnyColumn<B_PACKED, COL_T> BColumn;
typedef AnyColumn<M_PACKED, COL_T> MColumn;

struct Factors {
  const PTR_T* a_ptr; AColumn a_col; const A_T* a_val; A_T a_iso; i64 a_stride;
  const BPTR_T* b_ptr; BColumn b_col; const B_T* b_val; B_T b_iso; i64 b_stride;
  const MPTR_T* m_ptr; MColumn m_col; i64 mask_kind;  // 0: none; 1: only there; 2: everywhere but there
  Z_T value;

  // The product of entries p of A and q of B, at (i, k) and (k, j); KIND COUNT: the value that all products have.
  __device__ __forceinline__ Z_T product(i64 p, i64 q, i64 i, i64 k, i64 j) const {
    return KIND == VALUES ? mul(a_stride ? a_val[p] : a_iso, b_stride ? b_val[q] : b_iso, i, k, j) : value;
  }

  // Whether the mask lets C(i, j) be.
  __device__ __forceinline__ bool allows(i64 i, COL_T j) const {
    if (mask_kind == 0) return true;
    const i64 end = m_ptr[i + 1], at = lower_bound(m_col, m_ptr[i], end, j);
    return (at < end && m_col[at] == j) == (mask_kind == 1);
  }
};
