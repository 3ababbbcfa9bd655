// Advances on CR2, in the rounds of a device loop: rows are walked by the lists of their pieces (walk.cuh).
// See formats/csr/rows.cuh for the interface.
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#include "formats/cr2/walk.cuh"
#define IN_FLIGHT 0  // registers do not suffice to do other work while loads are in flight
#define FORM() Rows matrix
#define FORM_OF() matrix

// A row: its number, and the range of its pieces.
struct Item {
  u32 unit;
  PTR_T begin, end;
};

struct Rows {
  const PTR_T* ptr;
  i64 longest;  // pieces of a segment of a long row
  PiecesView pieces;

  __device__ __forceinline__ Item item(u32 i) const { return {i, ptr[i], ptr[i + 1]}; }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return (i64)x.end - x.begin; }
  __device__ __forceinline__ void issue_loads(const Item& x) const { issue_load(x.begin), issue_load(x.end); }
  __device__ __forceinline__ void prefetch_row(const Item&) const {}

  // Warps that share a row take 32 of its pieces in turn. reached(has, j, e) for one entry per lane, or N.
  template <int N = 1, class F>
  __device__ __forceinline__ void visit_row(const Item& x, int lane, int stride, F reached) const {
    if (stride <= LANES) return go<N>(PiecesWalk<LANES>(x.begin, x.end), lane, reached);
    const PTR_T first = (PTR_T)(lane & ~31);
    go<N>(PiecesWalk<32>(x.end - x.begin > first ? x.begin + first : x.end, x.end, stride), lane & 31, reached);
  }
  // The same for segment s of the long row i, by a warp.
  template <int N, class F> __device__ __forceinline__ void visit_segment(i64 i, u32 s, F reached) const {
    const i64 begin = (i64)ptr[i] + s * longest, end = ptr[i + 1];
    go<N>(PiecesWalk<32>((PTR_T)begin, (PTR_T)(begin + longest < end ? begin + longest : end)), threadIdx.x & 31,
          reached);
  }
  template <int N, class W, class F> __device__ __forceinline__ void go(W walk, int lane, F reached) const {
    while (__any_sync(ALL_LANES, walk.more())) {
      typename W::Found of;
      walk.step(pieces, lane, of);
      if constexpr (N == 1) {
#pragma unroll 1
        for (int k = 0; k < W::FOUND; ++k) {
          if (!__any_sync(ALL_LANES, of.some[0])) break;
          reached(of.some[0], (i64)of.column[0], of.entry[0]);
#pragma unroll
          for (int next = 1; next < W::FOUND; ++next)
            of.some[next - 1] = of.some[next], of.column[next - 1] = of.column[next],
                           of.entry[next - 1] = of.entry[next];
          of.some[W::FOUND - 1] = false;
        }
      } else {
        static_assert(N == W::FOUND, "a step asks for as many as a lane finds");
        reached(of.some, of.column, of.entry);
      }
    }
  }
};

#ifdef KERNEL_rounds
// Small rounds of one advance along rows of CR2: a group of LANES lanes pushes along a row.
#include "kernels/cluster.cuh"
#include "kernels/rounds.cuh"
#endif  // KERNEL_rounds

#ifdef KERNEL_worklist_rounds
// Small rounds of a loop body with element-wise kernels and one advance, along rows of CR2.
// loop/codegen/cuda_kernels.py generates the text of the element-wise kernels.
#include "kernels/cluster.cuh"
#include "kernels/worklist_rounds.cuh"
#endif  // KERNEL_worklist_rounds

#ifdef KERNEL_advance
// Advance on CR2, one round of a device loop (kernels/advance_rows.cuh). LANES lanes walk a row together, a warp a
// segment of a long one. Rows that pull (WORDS only) are read by one lane each as long as many lanes have work, then by
// several lanes, a few rows at a time.
#define LOG_PARTS 0  // a segment has few entries
#include "kernels/decoded_rows.cuh"
#define ALONE 12  // rows per warp from which on each lane searches its own
#define TOGETHER 8  // lanes that share each of the other rows
#define PULL_FORM() PullView pulled
#define PULL_FORM_OF() {{nullptr, nullptr, 0}, pulled}

struct PullView {
  const PTR_T* ptr;
  PiecesView pieces;
};

struct PullRows : HubColumns {
  PullView of;

  template <class W> __device__ __forceinline__ bool hits(W& walk, int lane, const u64* u_bits) const {
    typename W::Found found;
    walk.step(of.pieces, lane, found);
    bool hit = false;
#pragma unroll
    for (int k = 0; k < W::FOUND; ++k)
      if (found.has(k)) hit = bit_of(u_bits, found.at(k)) || hit;
    return hit;
  }
  // Whether u has an entry in row j, for the lanes with `needed`; called by the whole warp.
  __device__ __forceinline__ Hit search(i64 j, bool needed, const u64* u_bits) const {
    PiecesWalk<1> alone;
    if (needed) alone = PiecesWalk<1>(of.ptr[j], of.ptr[j + 1]);
    bool hit = false;
    while (__popc(__ballot_sync(ALL_LANES, alone.more())) >= ALONE) {
      hit = hits(alone, 0, u_bits) || hit;
      if (hit) alone.stop();
    }
    // The rest of a row, from the piece at which its lane is.
    const PTR_T first = alone.done < alone.total ? alone.piece - 1 : alone.piece;
    const auto start = [&](int owner) {
      const PTR_T begin = __shfl_sync(ALL_LANES, first, owner), end = __shfl_sync(ALL_LANES, alone.stop_piece, owner);
      return PiecesWalk<TOGETHER>(begin, end);
    };
    const auto on = [&](PiecesWalk<TOGETHER>& walk, int lane) { return hits(walk, lane, u_bits); };
    hit = search_together<TOGETHER>(alone.more(), start, on) || hit;
    return {hit, 0, 0};
  }
};

#include "kernels/advance_rows.cuh"
#endif  // KERNEL_advance
