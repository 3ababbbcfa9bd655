"""The usual statements over the usual types: a package ships kernels for them besides the algorithms'."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

import bitblas as gb
from semirings import DataType

TYPES = {  # semirings; operators of element-wise statements; monoids of reductions, the first also as accumulator
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


def run(part: str, name: str, rows: np.ndarray, cols: np.ndarray, n: int) -> None:
    """Run one part (of PARTS) for one type and one graph."""
    kind = getattr(gb.dtypes, name)
    at = np.arange(n)
    numbers = (np.arange(len(rows)) % 3 + 1).astype(kind.np_type)
    made = Operands(
        name,
        kind,
        pattern=gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n),
        A=gb.Matrix.from_coo(rows, cols, numbers, dtype=kind, nrows=n, ncols=n),
        full=gb.Vector.from_dense((at % 3 + 1).astype(kind.np_type)),
        few=gb.Vector.from_coo([0], [1], dtype=kind, size=n),
        some=gb.Vector.from_coo(at[::2], (at[::2] % 3).astype(kind.np_type), dtype=kind, size=n),
    )
    PARTS[part](made)


class Operands(NamedTuple):
    """Operands of one type; `pattern` is a graph without weights."""

    name: str
    kind: DataType
    pattern: gb.Matrix
    A: gb.Matrix
    full: gb.Vector
    few: gb.Vector
    some: gb.Vector


def _products(x: Operands) -> None:
    semirings, _, monoids = TYPES[x.name]
    accumulator = getattr(gb.binary, monoids[0])
    for ring in (getattr(gb.semiring, name)[x.kind] for name in semirings):
        for matrix in (x.pattern, x.A):
            for v in (x.full, x.few, x.some):
                for product in (matrix.mxv(v, ring), v.vxm(matrix, ring)):
                    w = product.new(dtype=x.kind)
                    w(~x.few.S, gb.replace) << product
                    w(accumulator) << product


def _products_of_matrices(x: Operands) -> None:
    for ring in (getattr(gb.semiring, name)[x.kind] for name in TYPES[x.name][0]):
        for matrix in (x.pattern, x.A):
            C = matrix.mxm(matrix, ring).new()
            C(x.pattern.S) << matrix.mxm(matrix.T, ring)


def _entrywise(o: Operands) -> None:
    operators = [getattr(gb.binary, name)[o.kind] for name in TYPES[o.name][1]]
    unaries = [getattr(gb.unary, name)[o.kind] for name in UNARY[o.name]]
    for x, y in ((o.full, o.some), (o.some, o.few), (o.A, o.A.T.new())):
        for op in operators:
            x.ewise_mult(y, op).new()
            x.ewise_add(y, op).new()
            x.apply(op, 1).new()
        for unary in unaries:
            x.apply(unary).new()


def _others(o: Operands) -> None:
    """Select, assign, reduce, extract."""
    monoids = TYPES[o.name][2]
    accumulator = getattr(gb.binary, monoids[0])
    for x, y, z in ((o.full, o.some, o.few.dup()), (o.some, o.few, o.full.dup()), (o.A, o.A.T.new(), o.A.dup())):
        for condition in ("valueeq", "valuene", *(("valuegt", "valuelt") if o.name != "BOOL" else ())):
            x.select(condition, 1).new(), x.select(condition, o.kind.np_type.type(1)).new()
        z(x.S) << y
        z(y.S, gb.replace) << x
        z(accumulator) << y
        z(x.V)[...] << 1
        x.dup(dtype=gb.dtypes.FP64)
    for monoid in (getattr(gb.monoid, name)[o.kind] for name in monoids):
        _ = o.full.reduce(monoid).value, o.some.reduce(monoid).value, o.A.reduce_scalar(monoid).value
        o.A.reduce_rowwise(monoid).new()
        o.A.reduce_columnwise(monoid).new()
    for region in ("tril", "triu", "offdiag"):
        o.A.select(region).new()
        o.pattern.select(region).new()
    n = o.full.size
    o.full[: n // 2].new(), o.A[: n // 2, :].new(), o.full.diag(), o.A.diag()
    o.full.dup()[[0, n - 1]] = 1


HUGE = 1 << 40  # size of a vector stored as a list, and of a hypersparse matrix
NARROW = {
    "INT64": ("plus_first", "plus_second"),
    "FP64": ("plus_times", "plus_first", "plus_second"),
    "BOOL": ("any_pair",),
}
CODED = {"INT64": ("plus_pair", "min_second"), "FP64": ("plus_times", "plus_second"), "BOOL": ("lor_land",)}


def _lists(o: Operands) -> None:
    """SpMSpV with vectors stored as lists, from both sides; other operations share the kernels of short vectors."""
    graphs = []
    for matrix in (o.pattern, o.A):
        rows, cols, values = matrix.to_coo()
        graphs.append(gb.Matrix.from_coo(rows, cols, values, nrows=HUGE, ncols=HUGE))
    few = gb.Vector.from_coo([0], [1], dtype=o.kind, size=HUGE)
    some = gb.Vector.from_coo([0, 2, 3], np.array([1, 2, 3], o.kind.np_type), size=HUGE)
    accumulator = getattr(gb.binary, TYPES[o.name][2][0])
    for ring in (getattr(gb.semiring, name)[o.kind] for name in TYPES[o.name][0]):
        for matrix in graphs:
            for v in (few, some):
                for product in (v.vxm(matrix, ring), matrix.T.mxv(v, ring)):
                    w = product.new(dtype=o.kind)
                    w(~few.S, gb.replace) << product
                    w(accumulator) << product
    for v in (few, some):
        v.ewise_add(some, accumulator).new(), v.ewise_mult(some, accumulator).new()


def _narrow(o: Operands) -> None:
    """Multivector products with bitmaps of each row width, and their reductions."""
    n = o.full.size
    at = np.arange(n)
    for width in (4, 12, 24, 48):
        values = (at % 3 + 1).astype(o.kind.np_type)
        X = gb.Matrix.from_coo(at, at % width, values, nrows=n, ncols=width, format="bitmap")
        for ring in (getattr(gb.semiring, name)[o.kind] for name in NARROW[o.name]):
            for matrix in (o.pattern, o.A):
                Y = gb.Matrix(o.kind, n, width, format="bitmap")
                Y << matrix.mxm(X, ring)
                Y(~X.S, gb.replace) << matrix.T.mxm(X, ring)
        monoid = getattr(gb.monoid, TYPES[o.name][2][0])[o.kind]
        X.reduce_rowwise(monoid).new(), X.reduce_columnwise(monoid).new()


def _coded(o: Operands) -> None:
    """Products with the compressed formats nib and cgr."""
    rows, cols, _ = o.pattern.to_coo()
    for layout in ("nib", "cgr"):
        A = gb.Matrix.from_coo(rows, cols, True, nrows=o.full.size, ncols=o.full.size, format=layout)
        for ring in (getattr(gb.semiring, name)[o.kind] for name in CODED[o.name]):
            w = A.mxv(o.full, ring).new(dtype=o.kind)
            w(~o.few.S, gb.replace) << A.mxv(o.some, ring)


def _builds(o: Operands) -> None:
    """Building matrices from many entries, sorted and unsorted."""
    at = np.arange(1 << 15)
    values = (at % 3).astype(o.kind.np_type)
    for row, col in itertools.product((np.int32, np.int64), repeat=2):
        i, j = (at // 2).astype(row), (at % 2).astype(col)
        gb.Matrix.from_coo(i, j, True)
        gb.Matrix.from_coo(i[::-1], j[::-1], True)
        gb.Matrix.from_coo(i[::-1], j[::-1], values)


PARTS = {
    "products": _products,
    "entrywise": _entrywise,
    "others": _others,
    "mxm": _products_of_matrices,
    "lists": _lists,
    "narrow": _narrow,
    "coded": _coded,
    "builds": _builds,
}
