"""python -m benchmarks.entrywise: element-wise statements on matrices of graphs and on full vectors.

Timed on both libraries in turn (statements.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .graphs import Graph, make
from .statements import Names, arguments, compare

# name -> (text, the name of its result); C.wait() completes deferred work.
STATEMENTS = {
    "A + B": ("C << A.ewise_add(B, binary.plus); C.wait()", "C"),
    "A * B": ("C << A.ewise_mult(B, binary.times); C.wait()", "C"),
    "A + A": ("C << A.ewise_add(A, binary.plus); C.wait()", "C"),
    "A apply": ("C << A.apply(unary.ainv); C.wait()", "C"),
    "A apply scalar": ("C << A.apply(binary.times, right=2.0); C.wait()", "C"),
    "A select value": ("C << A.select(select.valuegt, 30.0); C.wait()", "C"),
    "A select tril": ("C << A.select(select.tril); C.wait()", "C"),
    "C(M.S, replace) << A": ("C(B.S, replace) << A; C.wait()", "C"),
    "C(M.S) << A": ("P(B.S) << A; P.wait()", "P"),
    "C(~M.S) << A": ("P(~B.S) << A; P.wait()", "P"),
    "C(M.S) << apply": ("P(B.S) << A.apply(unary.ainv); P.wait()", "P"),
    "C(M.S) << 3": ("P(B.S) << 3.0; P.wait()", "P"),
    "C(min) << A": ("P(binary.min) << A; P.wait()", "P"),
    "A reduce_rowwise": ("w << A.reduce_rowwise(monoid.plus); w.wait()", "w"),
    "A reduce_scalar": ("r = A.reduce_scalar(monoid.plus).new()", "r"),
    "full x + y": ("w << x.ewise_add(y, binary.plus); w.wait()", "w"),
    "full x * y": ("w << x.ewise_mult(y, binary.times); w.wait()", "w"),
    "full x apply": ("w << x.apply(unary.ainv); w.wait()", "w"),
    "full x * 2": ("w << x.apply(binary.times, right=2.0); w.wait()", "w"),
    "full x select": ("w << x.select(select.valuegt, 3.0); w.wait()", "w"),
    "full u(min) << x": ("u(binary.min) << x; u.wait()", "u"),
    "full x reduce": ("r = x.reduce(monoid.plus).new()", "r"),
    "mxv BOOL, full": ("f << L.mxv(t, lor_land); f.wait()", "f"),
    "mxv BOOL, full, ~mask": ("f(~m.S, replace) << L.mxv(t, lor_land); f.wait()", "f"),
}


def names_of(gb: Any, graph: Graph) -> dict[str, Any]:
    """A, B, C, P: FP64, of which B has half of A's entries and others; L: the graph; t, f, m: BOOL, t full;
    x, y, u, w: FP64, full."""
    n, rows, cols, values = graph.n, graph.rows, graph.col.astype(np.int64), graph.weights.astype(float)
    beside = np.where((rows + cols) % 2 == 0, cols, (cols + 1) % n)
    keys, first = np.unique(rows * n + beside, return_index=True)
    matrix = lambda i, j, x: gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n)
    names = {k: getattr(gb, k) for k in "binary monoid replace select unary".split()}
    A, at = matrix(rows, cols, values), np.random.default_rng(2)
    vector = lambda: gb.Vector.from_dense(at.integers(1, 9, n).astype(float))
    return names | {
        "A": A, "B": matrix(keys // n, keys % n, values[first]), "P": matrix(rows, (cols + 2) % n, values),
        "C": gb.Matrix(float, n, n), "L": matrix(rows, cols, True), "x": vector(), "y": vector(), "u": vector(),
        "w": gb.Vector(float, n), "f": gb.Vector(bool, n), "t": gb.Vector.from_scalar(True, n),
        "m": gb.Vector.from_coo(np.arange(0, n, 3), True, size=n), "lor_land": gb.semiring.lor_land[gb.dtypes.BOOL],
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every result was right, 1 if one was wrong."""
    p = arguments("entrywise", __doc__, STATEMENTS, 15)
    p.add_argument("--graphs", default="delaunay_n16,rmat14,road_ny", help="names, or files (%(default)s)")
    args = p.parse_args(argv)
    return compare(p, args, STATEMENTS, map(_graph, args.graphs.split(",")))


def _graph(name: str) -> tuple[str, str, Names]:
    graph = make(name)
    return name, f"{name}: {graph.n} vertices, {graph.nvals} entries", lambda gb: names_of(gb, graph)


if __name__ == "__main__":
    sys.exit(main())
