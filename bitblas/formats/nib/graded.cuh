// Rows of nibbles graded by their length (grades.py): pieces are rows, and segments of 32 CHUNK entries of longer ones; a
// lane takes CHUNK entries at most, so that as many lanes share a row as it needs, a power of two. A segment has 32.
#define CHUNK (1 << LOG_CHUNK)
#define LONGEST (32 * CHUNK)

// Binary logarithm of the lanes that share a piece.
__device__ __forceinline__ u32 lanes_of(u32 length) {
  const u32 more = (length - 1) >> LOG_CHUNK;
  return more ? 32 - __clz(more) : 0;
}
// The entries that each of them takes, the last ones fewer.
__device__ __forceinline__ u32 share_of(u32 length, u32 log_lanes) {
  return (length + (1u << log_lanes) - 1) >> log_lanes;
}
