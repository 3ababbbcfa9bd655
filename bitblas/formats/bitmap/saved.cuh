// What kernels share that run each column of a multivector on its own: frontiers that a stack has saved column by column,
// and sums of products along the rows of a list, each by SUM_LANES lanes. Include after CsrView, CLUSTER and THREADS.

// Of `number` columns: the lines of their frontiers, one after the other; ends: frontier k, from 1 on, is the lines from
// ends[k - 1] to ends[k]. heights: the last frontier of each column that has lines. numbers: [0] frontiers, [1] those when
// the current loop began, [2] blocks that are done.
struct SavedColumns {
  u32* lists;
  u32* ends;
  u32* heights;
  u64* numbers;
  i64 number, lines;

  __device__ __forceinline__ u32* list_of(i64 c) const { return lists + c * lines; }
  __device__ __forceinline__ u32* ends_of(i64 c) const { return ends + c * (lines + 1); }
};

#ifdef THREADS
#define WARPS (THREADS / 32)
#define GROUPS (32 / LANES)

// All threads of the cluster: what they have written is visible to the others.
__device__ __forceinline__ void meet() {
#if PEERS == 1
  __syncthreads();
#else
  meet_in_cluster();
#endif
}
#endif

#if SUMS
#define AHEAD 4  // entries that a lane loads before it uses the first

// f(mine, k) for the numbers k from begin to end, SUM_LANES lanes each, by whole warps; mine: not past the end.
template <class F> __device__ __forceinline__ void each_sum(u32 begin, u32 end, u32 warp, u32 warps, F f) {
  const u32 count = end - begin, group = WARP_LANE / SUM_LANES;
  u32 share = (count + warps - 1) / warps;  // that a warp takes at a time
  share = share < 32 / SUM_LANES ? share : 32 / SUM_LANES;
  for (u32 first = warp * share; first < count; first += warps * share) {
    const bool mine = group < share && first + group < count;
    f(mine, mine ? begin + first + group : begin);
  }
}

// The sum of the products of a row, which SUM_LANES lanes share, with the columns that have a value: has(k), at(k). c: of the
// multivector. The order of the sum depends only on the row.
template <class R, class Has, class At>
__device__ __forceinline__ void sum_of_row(const R& rows, const Values& a, i64 row, bool mine, i64 c, bool& some,
                                           Z_T& sum, Has has, At at) {
  const auto columns = rows.columns();
  i64 e = mine ? (i64)rows.ptr[row] + WARP_LANE % SUM_LANES : 0;
  const i64 stop = mine ? (i64)rows.ptr[row + 1] : 0;
  some = false, sum = Z_T();
  for (; e < stop && !is_final(some, sum); e += AHEAD * SUM_LANES) {
    i64 k[AHEAD];
    bool is[AHEAD];
    U_T v[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i * SUM_LANES < stop ? e + i * SUM_LANES : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) is[i] = has(k[i]) && e + i * SUM_LANES < stop;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) v[i] = is[i] ? at(k[i]) : U_T();
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      join(some, sum, is[i], is[i] ? mul(a.at(e + i * SUM_LANES), v[i], row, k[i], c) : Z_T());
  }
#pragma unroll
  for (int d = SUM_LANES / 2; d; d >>= 1) {
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const Z_T z = shuffle_xor(ALL_LANES, sum, d);
    join(some, sum, other, z);
  }
}
#endif
