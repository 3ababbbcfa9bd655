"""The statements that programs are mostly made of, over the types that they mostly have: what a package brings kernels
for beside those of its own algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = {  # semirings; binary operators of entry-wise statements; monoids of reductions, the first an accumulator too
    "INT64": (
        ("plus_pair", "plus_first", "plus_second", "min_plus", "min_first", "min_second"),
        ("plus", "minus", "times", "min", "max", "eq", "ne"),
        ("plus", "min", "max"),
    ),
    "FP64": (
        ("plus_times", "plus_first", "plus_second", "min_plus"),
        ("plus", "minus", "times", "truediv", "min", "max"),
        ("plus", "min", "max"),
    ),
    "BOOL": (("any_pair", "lor_land"), ("lor", "land", "lxor", "eq", "ne"), ("lor", "land")),
}
UNARY = {"BOOL": ("lnot",), "INT64": ("abs", "ainv", "one"), "FP64": ("abs", "ainv", "minv", "sqrt")}


def run(name: str, rows: Any, cols: Any, n: int) -> None:
    """All of them for one type and one graph."""
    import bitblas as gb

    kind = getattr(gb.dtypes, name)
    semirings, operators, monoids = TYPES[name]
    numbers = (np.arange(len(rows)) % 3 + 1).astype(kind.np_type)
    pattern = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
    A = gb.Matrix.from_coo(rows, cols, numbers, dtype=kind, nrows=n, ncols=n)
    full = gb.Vector.from_dense((np.arange(n) % 3 + 1).astype(kind.np_type))
    few = gb.Vector.from_coo([0], [1], dtype=kind, size=n)
    some = gb.Vector.from_coo(np.arange(0, n, 2), (np.arange(0, n, 2) % 3).astype(kind.np_type), dtype=kind, size=n)
    accumulator = getattr(gb.binary, monoids[0])
    for ring in (getattr(gb.semiring, name)[kind] for name in semirings):
        for matrix in (pattern, A):
            for v in (full, few, some):
                for product in (matrix.mxv(v, ring), v.vxm(matrix, ring)):
                    w = product.new(dtype=kind)
                    w(~few.S, gb.replace) << product
                    w(accumulator) << product
            C = matrix.mxm(matrix, ring).new()
            C(pattern.S) << matrix.mxm(matrix.T, ring)
    for x, y, z in ((full, some, few), (some, few, full), (A, A.T.new(), A.dup())):
        for op in (getattr(gb.binary, name)[kind] for name in operators):
            x.ewise_mult(y, op).new()
            x.ewise_add(y, op).new()
            x.apply(op, 1).new()
        for unary in (getattr(gb.unary, name)[kind] for name in UNARY[name]):
            x.apply(unary).new()
        for condition in ("valueeq", "valuene", *(("valuegt", "valuelt") if name != "BOOL" else ())):
            x.select(condition, 1).new()
        z(x.S) << y
        z(y.S, gb.replace) << x
        z(accumulator) << y
        z(x.V)[...] << 1
        x.dup(dtype=gb.dtypes.FP64)
    for monoid in (getattr(gb.monoid, name)[kind] for name in monoids):
        _ = full.reduce(monoid).value, some.reduce(monoid).value, A.reduce_scalar(monoid).value
        A.reduce_rowwise(monoid).new()
        A.reduce_columnwise(monoid).new()
    for region in ("tril", "triu", "offdiag"):
        A.select(region).new()
        pattern.select(region).new()
    full[: n // 2].new(), A[: n // 2, :].new(), full.diag(), A.diag()
    full[[0, n - 1]] = 1
