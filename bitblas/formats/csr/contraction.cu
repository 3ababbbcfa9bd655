// Contraction S' A S: the entries of a matrix by the groups of their row and column. A GPU sorts the pairs of groups.
#include "formats/csr/search.cuh"
#include "kernels/views.cuh"

#ifdef KERNEL_contract_keys
// The key of each entry: group of the row * count + group of the column. With SHIFT its number follows in the low bits.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    contract_keys(i64 n, i64 nrows, const PTR_T* ptr, const COL_T* col, const int* group, i64 count, i64 shift,
                  KEY_T* key) {
  const i64 p = thread_number();
  if (p >= n) return;
  const u64 pair = (u64)group[range_of(ptr, nrows, p)] * (u64)count + (u64)group[col[p]];
  key[p] = (KEY_T)(ORDER ? pair << shift | (u64)p : pair);
}
#endif  // KERNEL_contract_keys
