"""python -m benchmarks.matrices: triangles, products of matrices and entry-wise verbs on a GPU.

Graphs are made on the device (the Delaunay mesh on the CPU), by the rules of graphs.py but with CuPy's random numbers.
Times are of whole statements or algorithms, synchronised, the median of `--samples` after two runs: wall clock, so that
what the host does counts. Triangles are checked against a kernel that merges the rows of each edge; products against
cuSPARSE's SpGEMM through CuPy, which is the peer, too; element-wise results against CuPy's.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import graphs

TRIANGLES = ("delaunay_n20", "stencil27_100", "rmat20", "rmat22")
PRODUCTS = ("delaunay_n20", "stencil27_50", "rmat16")
ENTRYWISE = ("delaunay_n20", "rmat20")

_MERGE = r"""
extern "C" __global__ void count(const long long* ptr, const int* col, const int* row, long long m,
                                 unsigned long long* total) {
  unsigned long long found = 0;
  for (long long e = blockIdx.x * 256ll + threadIdx.x; e < m; e += gridDim.x * 256ll) {
    long long a = ptr[row[e]], a_end = ptr[row[e] + 1], b = ptr[col[e]], b_end = ptr[col[e] + 1];
    while (a < a_end && b < b_end) {
      const int x = col[a], y = col[b];
      found += x == y;
      a += x <= y;
      b += y <= x;
    }
  }
  if (found) atomicAdd(total, found);
}
"""


class Graph:
    """Row pointers (INT64), columns (INT32) and whole weights 1..7 (FP32) of a square pattern, on the device."""

    def __init__(self, keys: Any, n: int) -> None:
        import cupy as cp

        self.n, self.rows, self.col = n, (keys // n).astype(np.int32), (keys % n).astype(np.int32)
        self.ptr = cp.searchsorted(keys, cp.arange(n + 1, dtype=np.int64) * n).astype(np.int64)
        self.weights = ((keys * 2654435761 >> 7) % 7 + 1).astype(np.float32)

    def cupy(self) -> Any:
        import cupyx.scipy.sparse as sparse

        return sparse.csr_matrix((self.weights, self.col, self.ptr.astype(np.int32)), shape=(self.n, self.n))

    def ours(self, values: Any = True, **how: Any) -> Any:
        import bitblas as gb

        return gb.Matrix.from_csr(self.ptr, self.col, values, nrows=self.n, ncols=self.n, device="cuda", **how)

    def triangles(self) -> int:
        """By merging the rows of the two ends of each edge, directed from low to high degree."""
        import cupy as cp

        degree = cp.diff(self.ptr)
        a, b = degree[self.rows], degree[self.col]
        up = (a < b) | ((a == b) & (self.rows < self.col))
        rows, col = self.rows[up], self.col[up]
        ptr = cp.searchsorted(rows, cp.arange(self.n + 1, dtype=np.int32)).astype(np.int64)
        total = cp.zeros(1, np.uint64)
        cp.RawKernel(_MERGE, "count")((1 << 14,), (256,), (ptr, col, rows, np.int64(len(col)), total))
        return int(total[0])


def _symmetric(rows: Any, cols: Any, n: int) -> Graph:
    import cupy as cp

    rows, cols = rows.astype(np.int64), cols.astype(np.int64)
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    keys = cp.sort(cp.concatenate([rows * n + cols, cols * n + rows]))
    return Graph(keys[cp.append(cp.array([True]), keys[1:] != keys[:-1])], n)


def _rmat(scale: int, edges: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19) -> Graph:
    import cupy as cp

    rng, m = cp.random.default_rng(1), edges << scale
    rows, cols = cp.zeros(m, np.int32), cp.zeros(m, np.int32)
    for _ in range(scale):
        u = rng.random(m, dtype=np.float32)
        right = ((u >= a) & (u < a + b)) | (u >= a + b + c)
        rows, cols = (rows << 1) | (u >= a + b), (cols << 1) | right
    order = cp.asarray(np.random.default_rng(1).permutation(1 << scale).astype(np.int32))
    return _symmetric(order[rows], order[cols], 1 << scale)


def _stencil27(k: int) -> Graph:
    import cupy as cp

    i, rows, cols = cp.arange(k**3, dtype=np.int32).reshape(k, k, k), [], []
    for step in np.ndindex(3, 3, 3):
        d = tuple(s - 1 for s in step)
        if d > (0, 0, 0):
            rows.append(i[tuple(slice(max(0, -s), k - max(0, s)) for s in d)].ravel())
            cols.append(i[tuple(slice(max(0, s), k + min(0, s)) for s in d)].ravel())
    return _symmetric(cp.concatenate(rows), cp.concatenate(cols), k**3)


def make(name: str) -> Graph:
    """The graph of that name: rmat and stencil27 on the device, all others as graphs.py makes them."""
    import cupy as cp

    if found := re.fullmatch(r"rmat(\d+)", name):
        return _rmat(int(found[1]))
    if found := re.fullmatch(r"stencil27_(\d+)", name):
        return _stencil27(int(found[1]))
    graph = graphs.make(name)
    return Graph(cp.asarray(graph.rows * graph.n + graph.col), graph.n)


def milliseconds(run: Callable[[], Any], samples: int) -> float:
    """The median time of a synchronised call."""
    import cupy as cp

    times = []
    for sample in range(samples + 2):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        run()
        cp.cuda.Device().synchronize()
        if sample >= 2:
            times.append((time.perf_counter() - start) * 1e3)
    return float(np.median(times))


def _triangles(name: str, graph: Graph, samples: int) -> bool:
    from bitblas.algorithms import triangle_count

    A, expected = graph.ours(), graph.triangles()
    found = triangle_count(A)
    ms = milliseconds(lambda: triangle_count(A), samples)
    print(
        f"triangles {name:14s} {A.format:6s} {ms:10.3f} ms  {found} {'' if found == expected else 'WRONG'}", flush=True
    )
    return found == expected


def _same(C: Any, peer: Any) -> bool:
    i, j, x = C.to_coo()
    peer.sort_indices()
    return (
        len(i) == peer.nnz
        and bool((j == peer.indices).all())
        and bool((x == peer.data).all())
        and bool((i == peer.tocoo().row).all())
    )


def _products(name: str, graph: Graph, samples: int) -> bool:
    import bitblas as gb

    A, S = graph.ours(graph.weights, format="csr"), graph.cupy()
    plus_times = gb.semiring.plus_times[gb.dtypes.FP32]
    ours = milliseconds(lambda: A.mxm(A, plus_times).new(), samples)
    peer = milliseconds(lambda: S @ S, samples)
    equal = _same(A.mxm(A, plus_times).new(), S @ S)
    print(f"A * A     {name:14s} {ours:10.3f} ms, cuSPARSE {peer:.3f} ms {'' if equal else 'WRONG'}", flush=True)
    return equal


def _entrywise(name: str, graph: Graph, samples: int) -> bool:
    import bitblas as gb

    A, S, equal = graph.ours(graph.weights, format="csr"), graph.cupy(), True
    B = A.select(gb.select.tril, -1).new()
    import cupyx.scipy.sparse as sparse

    T = sparse.tril(S, -1).tocsr()
    for label, run, peer in (
        ("A + B", lambda: A.ewise_add(B, gb.binary.plus).new(), lambda: S + T),
        ("A * B", lambda: A.ewise_mult(B, gb.binary.times).new(), lambda: S.multiply(T)),
        ("tril", lambda: A.select(gb.select.tril, -1).new(), lambda: sparse.tril(S, -1).tocsr()),
        ("A > 3", lambda: A.select(gb.select.valuegt, 3).new(), None),
        ("2 A", lambda: A.apply(gb.binary.times, 2).new(), lambda: S * np.float32(2)),
    ):
        ms = milliseconds(run, samples)
        them, right = "", True
        if peer is not None:
            them, right = f", CuPy {milliseconds(peer, samples):.3f} ms", _same(run(), peer())
        print(f"{label:9s} {name:14s} {ms:10.3f} ms{them} {'' if right else 'WRONG'}", flush=True)
        equal &= right
    return equal


PARTS = {"triangles": (_triangles, TRIANGLES), "products": (_products, PRODUCTS), "entrywise": (_entrywise, ENTRYWISE)}


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every answer was right, 1 if one was wrong."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.matrices", description=__doc__)
    p.add_argument("--parts", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    p.add_argument("--graphs", help="names as in graphs.py, with commas: instead of each part's own")
    p.add_argument("--samples", type=int, default=11)
    args = p.parse_args(argv)
    made: dict[str, Graph] = {}
    equal = True
    for part in args.parts.split(","):
        run, names = PARTS[part]
        for name in args.graphs.split(",") if args.graphs else names:
            if name not in made:
                made[name] = make(name)
            equal &= run(name, made[name], args.samples)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
