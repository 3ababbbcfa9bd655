// Row by row products C = A (+).(x) B (Gustavson: ACM TOMS 4(3), 1978): what the kernels for short and long rows share.
#include "formats/csr/table.cuh"
#include "kernels/product.cuh"

struct Factors {
  const PTR_T* a_ptr; const INNER_T* a_col; const A_T* a_val; A_T a_iso; i64 a_step;
  const BPTR_T* b_ptr; const COL_T* b_col; const B_T* b_val; B_T b_iso; i64 b_step;
  const MPTR_T* m_ptr; const COL_T* m_col; i64 mask_kind;  // 0: none; 1: only there; 2: everywhere but there
  Z_T value;

  // The product of entries p of A and q of B, at (i, k) and (k, j); KIND COUNT: the value that all products have.
  __device__ __forceinline__ Z_T product(i64 p, i64 q, i64 i, i64 k, i64 j) const {
    return KIND == VALUES ? mul(a_step ? a_val[p] : a_iso, b_step ? b_val[q] : b_iso, i, k, j) : value;
  }

  // Whether the mask lets C(i, j) be.
  __device__ __forceinline__ bool allows(i64 i, COL_T j) const {
    if (mask_kind == 0) return true;
    i64 low = m_ptr[i];
    const i64 end = m_ptr[i + 1];
    for (i64 high = end; low < high;) {
      const i64 middle = (low + high) >> 1;
      if (m_col[middle] < j) low = middle + 1;
      else high = middle;
    }
    return (low < end && m_col[low] == j) == (mask_kind == 1);
  }
};
