// Sorts the rows of a product C = A B by how much they hold: lists[k * n ...] are the rows that hold more than limit
// k - 1 and at most limit k, in any order, and counts[k] says how many there are. FILL = 0: by their products, of which
// there are before[i] before row i, and c_ptr[i + 1] is set to the most that row i can hold. FILL = 1: by their
// entries: before is c_ptr; but a row with more than `turns` times as many products (work[i] before row i) as a limit
// counts as one that holds more: it takes lanes by its products.
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
