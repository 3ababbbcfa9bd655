// Products with a multivector along rows that a layout walks (codes, tiles): T<mask> = A (+).(x) X by rows of A (pull), or
// T<mask> = A' (+).(x) X by the lines of X that have entries (push; the bits of T are zero before).
// Include after LinesWalk, a walk of LANES lanes through a row: more(), stop(), and step(source, lane, found), which all
// lanes of a warp call together; Found: what a lane finds, up to FOUND columns (has(k), at(k), and number(k), the number
// of the entry). begin(unit, row, lane) returns the walk of a row, or of a part of a long one.
// A sum is taken in the order in which the lanes find the entries, which depends only on the layout.
// NODES: rows and columns include virtual nodes (formats/virtual). 1: sums of the rows of nodes, which are lines of T;
// 2: of the others, to which the sums of nodes are added as they are.
#define AT_ONCE 3  // lines whose values a lane loads together

// nodes.row_number, number: the line of each row and column, or ~ the number of the node; the sums of nodes.
struct NodesView {
  const int* row_number;
  const int* number;
  const LINE_T* bits;
  const sums_t* values;

  // The line of T for the sum of a row; -1: this launch does not compute it.
  __device__ __forceinline__ i64 line(i64 row) const {
    return NODES == 0 ? row : NODES == 1 ? (i64)~row_number[row] : (i64)row_number[row];
  }
};

// The words number w of the lines that columns stand for.
struct LineWords {
  const LinesView& x;
  const NodesView& nodes;
  i64 per_line, w;

  __device__ __forceinline__ i64 line(u32 column) const { return NODES ? (i64)nodes.number[column] : (i64)column; }
  __device__ __forceinline__ bool is_sum(i64 line) const { return NODES && line < 0; }
  __device__ __forceinline__ i64 word(i64 line) const { return (is_sum(line) ? ~line : line) * per_line + w; }
  __device__ __forceinline__ u64 bits(i64 line) const { return (is_sum(line) ? nodes.bits : x.bits)[word(line)]; }
};

template <class P, class S, class B>
__device__ __forceinline__ void pull_along(i64 n, const RowsView<P>& rows, const S& source, B begin, const Values& a,
                                           i64 per_line, u64 last, const LinesView& x, const LinesMask& mask,
                                           const NodesView& nodes, const LinesOutput& t) {
  const i64 thread = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = thread < n;
  const i64 unit = inside ? thread / per_line : 0, w = inside ? thread % per_line : 0;
  const i64 row = inside && rows.row_stride ? rows.row_of[unit] : unit, line = inside ? nodes.line(row) : -1;
  const u64 places = line < 0 ? 0 : mask.open(last, per_line, line, w);
  const i64 to = (MODE == PARTS && KIND == VALUES ? unit : line) * per_line + w;
  const LineWords lines = {x, nodes, per_line, w};
  LinesWalk walk;
  if (places) walk = begin(unit, row, lane);
#if KIND == WORDS
  u64 found = 0;
  while (__any_sync(ALL_LANES, walk.more())) {
    LinesWalk::Found some;
    walk.step(source, lane, some);
#pragma unroll
    for (int k = 0; k < LinesWalk::FOUND; ++k)
      if (some.has(k)) found |= lines.bits(lines.line(some.at(k))) & places;
    if (LANES == 1 ? found == places : (__ballot_sync(ALL_LANES, found == places) & group_mask<LANES>()) != 0)
      walk.stop();
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
  if (line < 0 || lane) return;
  if (MODE == PARTS) or_places(t.bits, to, found);
  else t.bits[to] = (LINE_T)found;
#else
  // The lanes of a group list the columns that they have found, with a hit; each lane then sums PER positions.
  __shared__ u32 listed[BLOCK * LinesWalk::FOUND];
  __shared__ i64 numbers[RANKED ? BLOCK * LinesWalk::FOUND : 1];
  const u32 first = (threadIdx.x & ~(LANES - 1)) * LinesWalk::FOUND;
  Z_T sum[PER];
  bool has[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) has[p] = false, sum[p] = Z_T();
  while (__any_sync(ALL_LANES, walk.more())) {
    LinesWalk::Found some;
    walk.step(source, lane, some);
    u32 hits = 0;
#pragma unroll
    for (int k = 0; k < LinesWalk::FOUND; ++k)
      if (some.has(k) && (lines.bits(lines.line(some.at(k))) & places)) hits |= 1u << k;
    const u32 count = __popc(hits), upto = sum_upto<LANES>(count, lane);
    const u32 all = LANES == 1 ? upto : __shfl_sync(ALL_LANES, upto, LANES - 1, LANES);
    u32 at = first + upto - count;
    __syncwarp();  // all lanes have read the previous list
#pragma unroll
    for (int k = 0; k < LinesWalk::FOUND; ++k) {
      if (!(hits >> k & 1)) continue;
      listed[at] = some.at(k);
      if (RANKED) numbers[at] = some.number(k);
      ++at;
    }
    __syncwarp();
    for (u32 e = first; e < first + all; e += AT_ONCE) {
      i64 from[AT_ONCE];
      u64 bits[AT_ONCE];
      U_T v[AT_ONCE][PER];
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        from[i] = lines.line(listed[e + i < first + all ? e + i : e]);
        bits[i] = e + i < first + all ? lines.bits(from[i]) & places : 0;
#pragma unroll
        for (int p = 0; p < PER; ++p) {
          const int b = lane + p * LANES;
          if (HAS_TERMINAL == 2 && has[p]) bits[i] &= ~(1ull << b);
          v[i][p] = !lines.is_sum(from[i]) && bits[i] >> b & 1 ? x.at(lines.word(from[i]) * BITS + b) : U_T();
        }
      }
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        if (!bits[i]) continue;
        const A_T value = RANKED ? a.at(numbers[e + i]) : A_T(a.iso);
#pragma unroll
        for (int p = 0; p < PER; ++p) {
          const int b = lane + p * LANES;
          if (!(bits[i] >> b & 1) || (HAS_TERMINAL == 2 && has[p])) continue;
          if (lines.is_sum(from[i])) {
#if Z_BOOL
            const Z_T z = nodes.values[lines.word(from[i])] >> b & 1;
#else
            const Z_T z = nodes.values[lines.word(from[i]) * BITS + b];
#endif
            join(has[p], sum[p], true, z);
          } else {
            join(has[p], sum[p], true, mul(value, v[i][p], line, from[i], w * BITS + b));
          }
        }
      }
    }
  }
  const u64 group = threadIdx.x & 31 & ~(LANES - 1), lanes = ~0ull >> (64 - LANES);
  u64 found = 0;
#if Z_BOOL
  u64 true_ = 0;
#endif
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    found |= (__ballot_sync(ALL_LANES, has[p]) >> group & lanes) << p * LANES;
#if Z_BOOL
    true_ |= (__ballot_sync(ALL_LANES, has[p] && sum[p]) >> group & lanes) << p * LANES;
#else
    if (has[p]) t.values[to * BITS + lane + p * LANES] = sum[p];
#endif
  }
  if (line < 0 || lane) return;
  t.bits[to] = (LINE_T)found;
#if Z_BOOL
  t.values[to] = (LINE_T)true_;
#endif
#endif
}

// WORDS only: sums of values are pulled.
template <class P, class S, class B>
__device__ __forceinline__ void push_along(i64 n, const RowsView<P>& rows, const S& source, B begin, i64 per_line,
                                           u64 last, const LinesView& x, const LinesMask& mask, const LinesOutput& t) {
  const i64 thread = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const bool inside = thread < n;
  const i64 unit = inside ? thread / per_line : 0, w = inside ? thread % per_line : 0;
  const i64 row = inside && rows.row_stride ? rows.row_of[unit] : unit;
  const u64 some = inside ? x.bits[row * per_line + w] : 0;
  LinesWalk walk;
  if (some) walk = begin(unit, row, lane);
  while (__any_sync(ALL_LANES, walk.more())) {
    LinesWalk::Found found;
    walk.step(source, lane, found);
#pragma unroll
    for (int k = 0; k < LinesWalk::FOUND; ++k) {
      if (!found.has(k)) continue;
      const i64 line = found.at(k);
      u64 places = some & mask.open(last, per_line, line, w);
      places &= ~(u64)load_fresh(t.bits + line * per_line + w);
      if (places) or_places(t.bits, line * per_line + w, places);
    }
  }
}
