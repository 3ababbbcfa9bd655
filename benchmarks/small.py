"""python -m benchmarks.small: the host's cost of a statement, on a graph so small that the work itself takes no time.

Timed on both libraries in turn (statements.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .statements import arguments, compare

SIZE, ENTRIES = 40, 120

# name -> (text, the name of its result)
STATEMENTS = {
    "mxv": ("w << A.mxv(x, semiring.min_plus)", "w"),
    "mxv, mask": ("w(m.S) << A.mxv(x, semiring.min_plus)", "w"),
    "mxv, ~mask, replace": ("w(~m.S, replace) << A.mxv(x, semiring.plus_times)", "w"),
    "vxm BOOL, ~mask, replace": ("f(~m.S, replace) << q.vxm(L, any_pair)", "f"),
    "mxm": ("C << A.mxm(A, semiring.plus_times)", "C"),
    "mxm, mask": ("C(A.S) << A.mxm(A, semiring.plus_times)", "C"),
    "mxm BOOL, mask": ("D(L.S) << L.mxm(L, semiring.plus_pair)", "D"),
    "v + v": ("w << x.ewise_add(y, binary.plus)", "w"),
    "v * v": ("w << x.ewise_mult(y, binary.times)", "w"),
    "v accum": ("u(binary.min) << x", "u"),
    "A + A": ("C << A.ewise_add(B, binary.plus)", "C"),
    "A * A": ("C << A.ewise_mult(B, binary.times)", "C"),
    "v apply": ("w << x.apply(unary.ainv)", "w"),
    "v apply scalar": ("w << x.apply(binary.plus, right=2.0)", "w"),
    "A apply": ("C << A.apply(unary.ainv)", "C"),
    "v select": ("w << x.select(select.valuegt, 3.0)", "w"),
    "A select": ("C << A.select(select.tril)", "C"),
    "v reduce": ("r = x.reduce(monoid.plus).new()", "r"),
    "A reduce_rowwise": ("w << A.reduce_rowwise(monoid.plus)", "w"),
    "A reduce_scalar": ("r = A.reduce_scalar(monoid.plus).new()", "r"),
    "v assign scalar": ("u(m.S) << 3.0", "u"),
    "v assign [I]": ("u[I] = 4.0", "u"),
    "v assign [I] vector": ("u[I] << s", "u"),
    "A assign [i, :]": ("B2[3, :] << x", "B2"),
    "v extract [I]": ("s << x[I]", "s"),
    "A extract row": ("w << A[3, :]", "w"),
    "A extract [I, I]": ("T << A[I, I]", "T"),
    "A.T": ("C << A.T", "C"),
    "A diag": ("w = A.diag()", "w"),
    "v[i]": ("r = x[2].new()", "r"),
    "v[i] = x, read": ("u[3] = 1.5; r = u.nvals", "u"),
    "A[i, j] = x, read": ("B2[3, 4] = 1.5; r = B2.nvals", "B2"),
    "v from_coo": ("w = Vector.from_coo(at, values, size=n)", "w"),
    "A from_coo": ("C = Matrix.from_coo(rows, cols, data, nrows=n, ncols=n)", "C"),
    "v to_coo": ("r = x.to_coo()", "r"),
    "A to_coo": ("r = A.to_coo()", "r"),
    "v dup": ("w = x.dup()", "w"),
    "A dup": ("C = A.dup()", "C"),
    "v nvals": ("r = x.nvals", "r"),
    "isequal": ("r = x.isequal(y)", "r"),
}


def scope(gb: Any) -> dict[str, Any]:
    """The names of the texts: A, B, B2, C: FP64; L: BOOL; u, w, x, y: FP64; f, m, q: BOOL."""
    rng = np.random.default_rng(0)
    at = np.sort(rng.permutation(SIZE * SIZE)[:ENTRIES])
    rows, cols, data = at // SIZE, at % SIZE, rng.integers(1, 9, ENTRIES).astype(float)
    matrix = lambda values, shift=0: gb.Matrix.from_coo(rows, (cols + shift) % SIZE, values, nrows=SIZE, ncols=SIZE)
    vector = lambda step, values: gb.Vector.from_coo(np.arange(0, SIZE, step), values, size=SIZE)
    every = np.arange(0, SIZE, 2)
    names = {n: getattr(gb, n) for n in "Matrix Vector binary monoid replace select semiring unary".split()}
    return names | {
        "A": matrix(data), "B": matrix(data, 3), "B2": matrix(data, 1), "C": gb.Matrix(float, SIZE, SIZE),
        "D": gb.Matrix(int, SIZE, SIZE), "L": matrix(True), "T": gb.Matrix(float, 5, 5), "I": [3, 1, 4, 15, 9],
        "x": vector(2, every * 1.0), "y": vector(3, np.arange(0, SIZE, 3) * 1.0), "u": vector(1, np.arange(SIZE) * 1.0),
        "s": gb.Vector.from_coo([1, 3], [5.0, 6.0], size=5), "w": gb.Vector(float, SIZE), "f": gb.Vector(bool, SIZE),
        "m": vector(4, True), "q": vector(3, True), "any_pair": gb.semiring.any_pair[gb.dtypes.BOOL], "n": SIZE,
        "at": every, "values": every * 1.5, "rows": rows, "cols": cols, "data": data,
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every result was right, 1 if one was wrong."""
    p = arguments("small", __doc__, STATEMENTS, 40)
    p.set_defaults(threads=1)
    return compare(p, p.parse_args(argv), STATEMENTS, [("", "", scope)])


if __name__ == "__main__":
    sys.exit(main())
