// Bin the rows of a product C = A B by size.
// lists[k * n ..] gets the rows with more than limit k - 1 and at most limit k, in any order; counts[k] is their
// number.
// FILL = 0: size is the number of products; before[i] is their number in the rows before i, and c_ptr[i + 1] is set to
// an upper bound of row i. FILL = 1: size is the number of entries, and `before` is c_ptr. A row with more than
// `turns` times as many products (work[i] before row i) as a limit counts as larger, because its products determine
// how many lanes it needs.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
sort_rows(i64 n, const i64* before, const i64* work, i64 turns, i64 ncols, i64 limit_0, i64 limit_1, i64 limit_2,
          i64* c_ptr, i64* lists, u64* counts) {
  const i64 i = thread_number();
  i64 size = 0;
  if (i < n) {
#if !FILL
    (void)work, (void)turns;
#endif
    size = min(before[i + 1] - before[i], ncols);
#if !FILL
    c_ptr[i + 1] = size;
#else
    if (size) size = max(size, (work[i + 1] - work[i]) / turns);
#endif
  }
  const int mine = size == 0 ? -1 : size <= limit_0 ? 0 : size <= limit_1 ? 1 : size <= limit_2 ? 2 : 3;
  for (int kind = 0; kind < 4; ++kind) {
    const u32 together = __ballot_sync(ALL_LANES, mine == kind);
    u64 first = 0;
    if (together && (threadIdx.x & 31) == 0) first = atomicAdd(counts + kind, (u64)__popc(together));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (mine == kind) lists[kind * n + (i64)first + __popc(together & ((1u << (threadIdx.x & 31)) - 1))] = i;
  }
}
