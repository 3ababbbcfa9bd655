// SpGEMM by rows (Gustavson: ACM TOMS 4(3), 1978): operands and products of the kernels for short and long rows.
#include "formats/csr/any_column.cuh"
#include "formats/csr/search.cuh"
#include "formats/csr/table.cuh"
#include "kernels/product.cuh"
typedef CsrView<PTR_T, AnyColumn<A_PACKED, INNER_T>> MatrixA;
typedef CsrView<BPTR_T, AnyColumn<B_PACKED, COL_T>> MatrixB;
typedef CsrView<MPTR_T, AnyColumn<M_PACKED, COL_T>> MatrixM;
struct MatrixC {
  i64* ptr;
  COL_T* col;
  Z_T* values;
};

struct Factors {
  const MatrixA& A;
  const MatrixValues<A_T>& a;
  const MatrixB& B;
  const MatrixValues<B_T>& b;
  const MatrixM& M;
  i64 mask_kind;  // 0: none; 1: structural mask; 2: its complement
  Z_T value;

  // The product of entry p of A at (i, k) and entry q of B at (k, j). KIND COUNT: the value of all products.
  __device__ __forceinline__ Z_T product(i64 p, i64 q, i64 i, i64 k, i64 j) const {
    return KIND == VALUES ? mul(a.at(p), b.at(q), i, k, j) : value;
  }

  // Whether the mask allows C(i, j).
  __device__ __forceinline__ bool allows(i64 i, COL_T j) const {
    if (mask_kind == 0) return true;
    const i64 end = M.ptr[i + 1], at = lower_bound(M.columns(), M.ptr[i], end, j);
    return (at < end && M.columns()[at] == j) == (mask_kind == 1);
  }

#if SINGLE
  // The partner of entry p of row i of A in a B with at most one entry per row: entry q at (k, j), if it exists.
  struct Partner { i64 k, q; COL_T j; bool there; };
  __device__ __forceinline__ Partner partner(i64 p, i64 a_end, i64 i) const {
    const i64 k = p < a_end ? (i64)A.columns()[p] : 0, q = p < a_end ? (i64)B.ptr[k] : 0;
    const bool full = p < a_end && q < (i64)B.ptr[k + 1];
    const COL_T j = full ? B.columns()[q] : NO_KEY;
    return {k, q, j, full && allows(i, j)};
  }
#endif
};

#if SINGLE
// The lanes of the group whose partners are in the same column as this lane's; none if it has no partner.
__device__ __forceinline__ u32 peers_of(const Factors::Partner& x, u32 group) {
#if COL_64
  const u32 equal = __match_any_sync(ALL_LANES, (u64)x.j);
#else
  const u32 equal = __match_any_sync(ALL_LANES, (u32)x.j);
#endif
  return __ballot_sync(ALL_LANES, x.there) & (x.there ? equal & group : 0);
}

// sum + the values of the lanes in `others`, in their order. All lanes of the warp call it.
__device__ __forceinline__ Z_T plus_those(Z_T sum, Z_T mine, u32 others) {
  for (; __any_sync(ALL_LANES, others != 0); others &= others - 1) {
    const Z_T theirs = shuffle_from<32>(mine, others ? __ffs(others) - 1 : 0);
    if (others) sum = add(sum, theirs);
  }
  return sum;
}
#endif
