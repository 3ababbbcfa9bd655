// Products with a multivector along rows of CR2, by the lists of their pieces (formats/bitmap/walked.cuh, walk.cuh).
#include "formats/bitmap/lines.cuh"
#include "formats/cr2/walk.cuh"

typedef PiecesWalk<LANES, 4> LinesWalk;
#include "formats/bitmap/walked.cuh"

struct BeginWalk {
  const RowsView<PTR_T>& rows;
  i64 longest;
  __device__ __forceinline__ LinesWalk operator()(i64 unit, i64, int) const {
    const PTR_T begin = rows.begin[unit], end = rows.end[unit];
    if ((i64)end - begin > longest) return LinesWalk();  // its segments are processed by another launch
    return LinesWalk(begin, end);
  }
};

#ifdef KERNEL_pull_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    pull_lines(i64 n, i64 longest, RowsView<PTR_T> rows, PiecesView pieces, Values a, i64 per_line, u64 last,
               LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  pull_along(n, rows, pieces, BeginWalk{rows, longest}, a, per_line, last, x, mask, nodes, t);
}
#endif  // KERNEL_pull_lines

#ifdef KERNEL_push_lines
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_lines(i64 n, i64 longest, RowsView<PTR_T> rows, PiecesView pieces, Values a, i64 per_line, u64 last,
               LinesView x, LinesMask mask, NodesView nodes, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  (void)a, (void)nodes;
  push_along(n, rows, pieces, BeginWalk{rows, longest}, per_line, last, x, mask, t);
}
#endif  // KERNEL_push_lines
