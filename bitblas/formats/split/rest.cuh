// Sums over the single entries of a tile row in a pull.
#include "formats/b2sr/pull.cuh"
#include "formats/split/hits.cuh"

#if KIND != WORDS
// T lanes take an entry each; then the lane of each row collects its row's products from them, in order.
__device__ __forceinline__ void sum_rest(Sums& of, u64 open, const Range& range, int lane, i64 top, const Values& a,
                                         const VectorView<U_T>& u) {
  const int mine = lane & (TILE - 1);
  const u32 mates = group_mask<TILE>();
  place_t e = range.begin, stop = range.end;
  Walk walk(range.string, range.width, (i64)e + lane);
  for (e += lane; __any_sync(ALL_LANES, e < stop); e += REST_AHEAD * LANES, walk.skip(REST_AHEAD * LANES)) {
    u32 code[REST_AHEAD];
    bool has[REST_AHEAD];
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      has[i] = e + i * LANES < stop;
      code[i] = has[i] ? walk.at(i * LANES) : 0;
      has[i] = has[i] && (open >> row_in_tile(code[i]) & 1) && (U_FULL || u.has(column_of(code[i])));
    }
#if KIND == VALUES
    Z_T z[REST_AHEAD];
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      const i64 j = column_of(code[i]);
      z[i] = Z_T();
      if (has[i])
        z[i] = mul(RANKED ? a[range.rank + (i64)e + i * LANES] : A_T(a.iso), u.at(j), top + row_in_tile(code[i]), j);
    }
#endif
#pragma unroll
    for (int i = 0; i < REST_AHEAD; ++i) {
      u32 theirs = __ballot_sync(ALL_LANES, has[i]) & mates;
#pragma unroll
      for (int b = 0; b < LOG_TILE; ++b) {
        const u32 set = __ballot_sync(ALL_LANES, row_in_tile(code[i]) >> b & 1);
        theirs &= mine >> b & 1 ? set : ~set;
      }
#if KIND == COUNT
      of.count[0] += __popc(theirs);
#else
      while (__any_sync(ALL_LANES, theirs)) {
        const Z_T next = shuffle_from<32>(z[i], theirs ? __ffs(theirs) - 1 : 0);
        if (theirs && !is_final(of.some[0], of.sum[0])) join(of.some[0], of.sum[0], true, next);
        theirs &= theirs - 1;
      }
#endif
    }
#if HAS_TERMINAL && KIND == VALUES
    const bool done = is_final(of.some[0], of.sum[0]) || !(open >> mine & 1);
    if ((__ballot_sync(ALL_LANES, done) & mates) == mates) stop = 0;  // the result is final
#endif
  }
}
#endif
