// Supports after entries were removed: count(i, j), the number of k with entries (i, k) and (j, k), at the entries of a
// symmetric matrix. A removed entry (i, k) lowers the counts of (i, j) and (j, i) for each j that is in row k.
#include "kernels/views.cuh"
#include "formats/csr/search.cuh"
#include "kernels/edge_counts.cuh"

#ifdef KERNEL_lower_supports
// removed: row * rows + column of the n removed entries, ascending, each with its mirror image. LANES threads take one.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    lower_supports(i64 n, i64 rows, const i64* removed, const PTR_T* ptr, const COL_T* col, COUNT_T* count) {
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x % LANES;
  if (unit >= n) return;
  const i64 i = removed[unit] / rows, k = removed[unit] % rows;
  const auto place = [&](i64 row, i64 column) {  // -1 if there is no such entry
    const i64 end = (i64)ptr[row + 1], p = lower_bound(col, (i64)ptr[row], end, column);
    return p < end && (i64)col[p] == column ? p : -1;
  };
  const auto lower = [&](i64 p) { add_atomically(count + p, (COUNT_T)-1); };
  // j with (i, j) and (k, j) left: the wedges i-k-j and k-i-j are gone. Both images of the entry find the same j.
  if (i <= k) {
    const bool first = (i64)ptr[i + 1] - (i64)ptr[i] <= (i64)ptr[k + 1] - (i64)ptr[k];
    const i64 a = first ? i : k, b = first ? k : i, end = (i64)ptr[a + 1];
    for (i64 p = (i64)ptr[a] + lane; p < end; p += LANES) {
      const i64 j = (i64)col[p], q = place(b, j);
      if (q < 0) continue;
      lower(p), lower(place(j, a));
      if (i != k) lower(q), lower(place(j, b));
    }
  }
  // j with (i, j) left and (k, j) removed too: the wedge i-k-j.
  const i64 next = (k + 1) * rows;
  for (i64 s = lower_bound(removed, 0, n, k * rows) + lane; s < n && removed[s] < next; s += LANES) {
    const i64 p = place(i, removed[s] - k * rows);
    if (p >= 0) lower(p);
  }
}
#endif  // KERNEL_lower_supports
