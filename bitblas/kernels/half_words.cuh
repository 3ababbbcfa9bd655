// Values at the positions of half words: a lane holds the bits of 32 positions, and all lanes of a warp call together.
// Include after kernels/frontier.cuh.
#define MANY 4  // positions whose values a thread reads before it writes them
#define SPARSE 4  // bits of a half word up to which each lane processes those of its own

// Whether no lane has more than a few positions: then all lanes can work at once.
__device__ __forceinline__ bool is_sparse(u32 here, int few = SPARSE) {
  return !__any_sync(ALL_LANES, __popc(here) > few);
}

// put(p, get(p)) at the positions of the half words `here`, whose numbers are `mine`; all lanes call it.
template <class Get, class Store> __device__ __forceinline__ void fill_half(u32 here, i64 mine, Get get, Store store) {
  if (is_sparse(here)) {
    for (u32 todo = here; todo;) {  // two at once
      const u32 more = todo & (todo - 1);
      const i64 p = mine * 32 + __ffs(todo) - 1, q = more ? mine * 32 + __ffs(more) - 1 : p;
      const auto x = get(p), y = get(q);
      store(p, x);
      if (more) store(q, y);
      todo = more & (more - 1);
    }
    return;
  }
  for (u32 todo = __ballot_sync(ALL_LANES, here != 0); todo;) {
    i64 p[MANY];
    bool on[MANY];
    decltype(get(i64(0))) x[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      const int owner = todo ? __ffs(todo) - 1 : 0;
      p[i] = __shfl_sync(ALL_LANES, mine, owner) * 32 + WARP_LANE;
      on[i] = (__shfl_sync(ALL_LANES, here, owner) >> WARP_LANE & 1) && todo;
      todo &= todo - 1;
    }
#pragma unroll
    for (int i = 0; i < MANY; ++i)
      if (on[i]) x[i] = get(p[i]);
#pragma unroll
    for (int i = 0; i < MANY; ++i)
      if (on[i]) store(p[i], x[i]);
  }
}

// The positions of the half words `here` at which get(p) holds.
template <class Get> __device__ __forceinline__ u32 kept_half(u32 here, i64 mine, Get get) {
  u32 kept = 0;
  if (is_sparse(here)) {
    for (u32 todo = here; todo; todo &= todo - 1)
      if (get(mine * 32 + __ffs(todo) - 1)) kept |= todo & (0u - todo);
    return kept;
  }
  for (u32 todo = __ballot_sync(ALL_LANES, here != 0); todo;) {
    int owner[MANY];
    bool on[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      owner[i] = todo ? __ffs(todo) - 1 : -1;
      const u32 half = __shfl_sync(ALL_LANES, here, owner[i] & 31);
      const i64 p = __shfl_sync(ALL_LANES, mine, owner[i] & 31) * 32 + WARP_LANE;
      on[i] = todo && (half >> WARP_LANE & 1) && get(p);
      todo &= todo - 1;
    }
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
      const u32 half = __ballot_sync(ALL_LANES, on[i]);
      if (WARP_LANE == owner[i]) kept = half;
    }
  }
  return kept;
}

// The same for values of one byte: if a half word has many positions, its lane reads all 32 at once.
template <class T, class Get>
__device__ __forceinline__ u32 kept_bytes(u32 here, i64 mine, i64 size, const T* values, Get get) {
  const bool whole = here != 0 && (mine + 1) * 32 <= size;
  if (is_sparse(here) || !__any_sync(ALL_LANES, whole))
    return kept_half(here, mine, [&](i64 p) { return get(p, values[p]); });
  const u32 left = kept_half(whole ? 0u : here, mine, [&](i64 p) { return get(p, values[p]); });
  if (!whole) return left;
  u64 bytes[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) bytes[k] = ((const u64*)values)[mine * 4 + k];
  u32 kept = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) kept |= (u32)(get(mine * 32 + i, (T)(bytes[i / 8] >> i % 8 * 8)) ? 1 : 0) << i;
  return kept & here;
}
