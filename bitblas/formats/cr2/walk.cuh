// Walks through rows of CR2: G lanes share a row and take its entries as one list, however long its pieces are.
// Each lane loads the place of a piece; prefix sums of their lengths then assign consecutive entries to consecutive
// lanes.
#include "formats/blocks.cuh"
#include "formats/cr2/products.cu"

template <int G, int F = 2> struct PiecesWalk {
  enum { FOUND = F };
  struct Found {
    bool some[F];
    u32 column[F];
    i64 entry[F];
    __device__ __forceinline__ bool has(int k) const { return some[k]; }
    __device__ __forceinline__ u32 at(int k) const { return column[k]; }
    __device__ __forceinline__ i64 number(int k) const { return entry[k]; }
  };
  PTR_T piece, stop_piece;  // the next pieces of the group: G at a time, at each multiple of `apart`
  u32 apart, done, total;  // entries of the present pieces: those that were taken, and all
  u32 end;  // entries of the present pieces up to that of this lane
  u32 cluster;
  i64 first;  // the first entry of the piece of this lane, less those of earlier pieces

  __device__ __forceinline__ PiecesWalk() : PiecesWalk(0, 0) {}
  __device__ __forceinline__ PiecesWalk(PTR_T begin, PTR_T stop, u32 step = G)
      : piece(begin), stop_piece(stop), apart(step), done(0), total(0), end(0), cluster(0), first(0) {}
  __device__ __forceinline__ bool more() const { return done < total || piece < stop_piece; }
  __device__ __forceinline__ void stop() { done = total, piece = stop_piece; }

  // The next G * F entries of the row. All lanes of a warp call it together; `lane` is that in the group.
  __device__ __forceinline__ void step(const PiecesView& pieces, int lane, Found& to) {
    const bool next = done >= total && piece < stop_piece;
    if (__any_sync(ALL_LANES, next)) {
      u32 size = 0, where = 0;
      i64 entry = 0;
      if (next && piece + lane < stop_piece) {
        const i64 slot = pieces.col[piece + lane], run = slot >> 6, shape = pieces.runs[3 * run + 2];
        const int log = (int)(shape >> 8 & 127);
        size = 1u << log, where = (u32)(shape >> 16);  // 0 for pieces between clusters
        entry = pieces.runs[3 * run] + ((slot & 63) << log);
      }
      const u32 upto = sum_upto<G>(size, lane), all = G == 1 ? upto : __shfl_sync(ALL_LANES, upto, G - 1, G);
      if (next) {
        end = upto, total = all, done = 0, first = entry - (i64)(upto - size), cluster = where;
        piece = stop_piece - piece > (PTR_T)apart ? piece + (PTR_T)apart : stop_piece;
      }
    }
    u32 before[F];  // vertices before the cluster
#pragma unroll
    for (int k = 0; k < F; ++k) {
      const u32 x = done + k * G + lane;
      int owner = 0;
#pragma unroll
      for (int d = G / 2; d; d >>= 1)
        if (__shfl_sync(ALL_LANES, end, owner + d - 1, G) <= x) owner += d;
      to.some[k] = x < total;
      to.entry[k] = __shfl_sync(ALL_LANES, first, owner, G) + x;
      before[k] = __shfl_sync(ALL_LANES, cluster, owner, G) << pieces.log_cluster;
    }
#pragma unroll
    for (int k = 0; k < F; ++k) {
      const bool between = to.entry[k] >= pieces.first_entry;
      const u32* const cols = between ? pieces.between.cols : pieces.inside.cols;
      const u32 width = (u32)(between ? pieces.between.width : pieces.inside.width);
      const i64 e = to.entry[k] - (between ? pieces.first_entry : 0);
      to.column[k] = to.some[k] ? before[k] + number_at(cols, e, width) : 0;
    }
#pragma unroll
    for (int k = 0; k < F; ++k)
      if (to.some[k] && pieces.ordered) to.column[k] = pieces.perm[to.column[k]];
    done = total - done > G * F ? done + G * F : total;
  }
};
