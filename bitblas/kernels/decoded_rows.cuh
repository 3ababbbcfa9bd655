// Advance along rows that must be decoded from their beginning (variable-length codes), for kernels/advance_rows.cuh.
// LANES lanes share a row, so a warp decodes 32 / LANES rows at a time. Some warps decode a segment of a long row
// instead and share its columns among their lanes.
// The layout's advance.cu defines PullRows (a HubColumns) with search(j, needed, u_bits): whether u has an entry in row j, for the
// lanes with `needed`.
#ifndef ADVANCE_BLOCKS
// Blocks per multiprocessor; compute capability 8 would spill registers.
#define ADVANCE_BLOCKS (__CUDA_ARCH__ >= 900 ? 4 : 3)
#endif
#ifndef LOG_PARTS
// Log2 of the warps that share a segment, at most: decoding is cheaper than processing the columns found.
#define LOG_PARTS 3
#endif
#define EARLY 0
enum { AT_ONCE = 2 };
typedef i64 entry_t;
typedef u32 number_t;

template <class Take> __device__ __forceinline__ void walk_rows(const Rows& rows, const Item& mine, Take take) {
  u32 todo = __ballot_sync(ALL_LANES, mine.begin < mine.end);
  while (todo) {
    u32 own = todo;  // the row of this group of lanes
#pragma unroll
    for (int g = 0; g < 32 / LANES; ++g) {
      if (g < WARP_LANE / LANES) own &= own - 1;
      todo &= todo - 1;
    }
    const int owner = own ? __ffs(own) - 1 : 0;
    const u32 i = __shfl_sync(ALL_LANES, mine.unit, owner);
    Item row = {};
    if (own) row = rows.item(i);  // loaded again: it is in the cache, and registers are scarce
    int owners[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) owners[k] = owner;
    rows.visit_row<AT_ONCE>(row, WARP_LANE & (LANES - 1), LANES,
                            [&](const bool* has, const u32* j, const i64* e) { take(has, j, e, owners); });
  }
}

// As many as there are warps.
__device__ __forceinline__ u32 log_parts_of(u64 segments, i64 warps) {
  u32 log = LOG_PARTS;
  while (log && segments << log > (u64)warps) --log;
  return log;
}
template <class Take>
__device__ __forceinline__ void walk_segment(const Rows& rows, u32 i, u32 s, u32 part, u32 parts, i64, Take take) {
  const int owners[AT_ONCE] = {};
  u32 number = part;
  rows.visit_segment<AT_ONCE>(i, s, [&](const bool* has, const u32* j, const i64* e) {
    if (!(number++ & (parts - 1))) take(has, j, e, owners);
  });
}

// Which of the lanes in `wait` have rows with a hit: G lanes search a row, some rows at a time. start(owner) begins a
// walk through the row of that lane; hits(walk, lane) advances it and returns whether this lane has a hit.
template <int G, class Start, class Hits> __device__ __forceinline__ bool search_together(bool wait, Start start,
                                                                                          Hits hits) {
  const int lane = WARP_LANE & (G - 1);
  bool hit = false;
  u32 rest = __ballot_sync(ALL_LANES, wait);
  while (rest) {
    const u32 now = rest;
    u32 own = rest;
#pragma unroll
    for (int g = 0; g < 32 / G; ++g) {
      if (g < WARP_LANE / G) own &= own - 1;
      rest &= rest - 1;
    }
    auto walk = start(own ? __ffs(own) - 1 : 0);
    if (!own) walk.stop();
    bool found = false;
    while (__any_sync(ALL_LANES, walk.more()))
      if (__ballot_sync(ALL_LANES, hits(walk, lane)) & group_mask<G>()) found = true, walk.stop();
    const u32 hits_of = __ballot_sync(ALL_LANES, found), number = __popc(now & ((1u << WARP_LANE) - 1));
    if ((now & ~rest) >> WARP_LANE & 1) hit = hits_of >> (number * G) & 1;
  }
  return hit;
}

// The position of the next pulling row is not prefetched, for lack of registers. Its hub column (kernels.py) is, which
// also shows whether the row has entries. Rows without a hit there are deferred until they are decoded.
#define BY_BLOCK 0
#define NO_ENTRIES ~0u
typedef bool pull_row_t;
typedef u32 guess_t;
struct HubColumns {
  const u32* hub_column;
  const u64* filled;  // bits of the nonempty rows
  i64 guesses;  // 0: hub columns and `filled` are not available
  __device__ __forceinline__ u32 guess(i64 j) const { return guesses ? hub_column[j] : 0; }
  __device__ __forceinline__ u32 some_of(i64 h) const { return guesses ? ((const u32*)filled)[h] : ~0u; }
  __device__ __forceinline__ bool some(bool, u32 guess) const { return guess != NO_ENTRIES; }
  __device__ __forceinline__ i64 place(bool, u32) const { return 0; }  // values do not pull
};
template <class B> __device__ __forceinline__ bool pull_row(const B&, i64) { return true; }
template <class B> __device__ __forceinline__ Hit search_row(const B& back, bool needed, i64 j, const u64* u_bits) {
  return back.search(j, needed, u_bits);
}
template <class B> __device__ __forceinline__ bool is_same(const B&, const Rows&) { return false; }
__device__ __forceinline__ i64 pull_row_length(bool) { return 0; }
