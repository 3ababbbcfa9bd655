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
#define AHEAD 4  // entries that a lane loads at once

// Rows of a list, SUM_LANES lanes each. The first row and its bounds are loaded
// by start(), the next ones by take(), before those of this turn are used.
template <class R> struct ListedRows {
  const R& rows;
  const u32* list;
  u32 warp, warps;
  u32 begin, count, share, first;  // share: that a warp takes at a time
  struct Row {
    bool is;
    u32 number, row;  // in the list, in the matrix
    PTR_T from, until;
  } next;

  __device__ __forceinline__ void load() {
    const u32 group = WARP_LANE / SUM_LANES;
    next.is = group < share && first + group < count, next.number = begin + first + group;
    next.row = next.is ? list[next.number] : 0;
    next.from = next.is ? rows.ptr[next.row] : 0, next.until = next.is ? rows.ptr[next.row + 1] : 0;
    issue_load(next.from), issue_load(next.until);
  }
  __device__ __forceinline__ void start(u32 from, u32 until) {
    begin = from, count = until - from, share = (count + warps - 1) / warps;
    share = share < 32 / SUM_LANES ? share : 32 / SUM_LANES;
    first = warp * share;
    load();
  }
  __device__ __forceinline__ bool more() const { return first < count; }  // the same for all lanes of a warp
  __device__ __forceinline__ Row take() {
    const Row now = next;
    first += warps * share;
    load();
    return now;
  }
};

// The sum of the products of a row, which SUM_LANES lanes share, with the columns that have a value: has(k), at(k). c: of
// the multivector. The order of the sum depends only on the row.
template <class L, class C, class Has, class At>
__device__ __forceinline__ void sum_of_row(const L& line, const C& columns, const Values& a, i64 c, bool& some,
                                           Z_T& sum, Has has, At at) {
  i64 e = (i64)line.from + WARP_LANE % SUM_LANES;
  const i64 stop = line.until;
  some = false, sum = Z_T();
  for (; e < stop && !is_final(some, sum); e += AHEAD * SUM_LANES) {
    u32 k[AHEAD];
    bool is[AHEAD];
    U_T v[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = (u32)columns[e + i * SUM_LANES < stop ? e + i * SUM_LANES : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) is[i] = has(k[i]) && e + i * SUM_LANES < stop;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) v[i] = is[i] ? at(k[i]) : U_T();
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      join(some, sum, is[i], is[i] ? mul(a.at(e + i * SUM_LANES), v[i], (i64)line.row, (i64)k[i], c) : Z_T());
  }
#pragma unroll
  for (int d = SUM_LANES / 2; d; d >>= 1) {
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const Z_T z = shuffle_xor(ALL_LANES, sum, d);
    join(some, sum, other, z);
  }
}
#endif
