// Segmented reduction: t[s] = the values of segment s combined from left to right.
// Used for duplicate input entries and groups of equal keys.
// ptr: segment boundaries; values: input; sums: output.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) fold(i64 n, const i64* ptr, const A_T* values, Z_T* sums) {
  const i64 s = thread_number();
  if (s >= n) return;
  Z_T sum = cast<Z_T>(values[ptr[s]]);
  for (i64 p = ptr[s] + 1; p < ptr[s + 1]; ++p) sum = add(sum, cast<Z_T>(values[p]));
  sums[s] = sum;
}
