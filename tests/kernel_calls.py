"""Statements that reach the kernels which every_kernel.py's programs leave out: operators, types and sizes in turn.

`calls` lists them with the operands' types. A kernel that is added later needs a statement here only if no program of
every_kernel.py reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import matrix_calls
import numpy as np
import rank_calls
from battery import generator, values
from call_operands import SIZE, a_matrix, a_vector, limits

import bitblas as gb
from bitblas import tuning

# ---- vectors --------------------------------------------------------------------------------------------------------


def gather(dtype: str, *, iso: bool) -> None:
    for full in (False, True):
        a_vector(dtype, full=full, iso=iso)[[5, 3, 3, 99]].new()


def virtual_nodes(dtype: str, *, iso: bool) -> None:
    rows, cols = np.divmod(np.arange(48), 6)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=SIZE, ncols=SIZE, format="virtual")
    A.mxv(a_vector(dtype, iso=iso), gb.semiring.any_second[dtype]).new()


def index_range() -> None:
    places = gb.Vector.from_dense(np.arange(40))
    a_vector("INT64", full=True)[places.to_dense()].new()


def put(dtype: str, *, iso: bool) -> None:
    w = a_vector(dtype, iso=iso)
    value = w[0].new().value
    for i in range(20, 60):
        w[i] = value
    w.nvals


def whole(dtype: str) -> None:
    """A comparison, a dense array, and lists of the entries."""
    u = a_vector(dtype)
    u.isequal(u.dup())
    u.to_dense(fill_value=u[0].new().value, dtype=dtype)
    u.to_coo()


def place(source: str, target: str, *, iso: bool) -> None:
    """Assignment by indices to vectors with and without entries, and extraction."""
    for full in (False, True):
        u = a_vector(source, size=40, full=full, iso=iso)
        u[[3, 1, 2]].new()
        for w in (gb.Vector(target, SIZE), a_vector(target, full=full, iso=iso)):
            w[np.arange(40)[::-1] * 3] << u
    gb.Vector.from_coo(np.arange(40) * 3, u.to_coo()[1][0], source, size=SIZE)


def sums_by_index(monoid: str, dtype: str) -> None:
    at, x = np.arange(90) % 40, values(generator("place", dtype), dtype, 90)
    gb.Vector.from_coo(at, x, dtype, size=SIZE, dup_op=gb.monoid[monoid][dtype])


def binary(name: str, dtype: str) -> None:
    op, u, v = gb.binary[name][dtype], a_vector(dtype), a_vector(dtype, full=True)
    for expression in (u.ewise_mult(v, op), u.ewise_add(v, op), u.apply(op, right=3), u.apply(op, left=3)):
        masked(expression, op.return_type.name)


def masked(expression: Any, dtype: str) -> None:
    expression.new()
    w = a_vector(dtype)
    w(a_vector("BOOL").S) << expression


def unary(name: str, dtype: str) -> None:
    op = gb.unary[name][dtype]
    masked(a_vector(dtype).apply(op), op.return_type.name)


def indexunary(name: str, dtype: str) -> None:
    op = gb.indexunary[name][dtype]
    masked(a_vector(dtype).apply(op, 1), op.return_type.name)
    a_matrix(dtype).apply(op, 1).new()


def select(name: str, dtype: str) -> None:
    u = a_vector(dtype)
    for w in (gb.Vector(dtype, SIZE), a_vector(dtype)):
        w(a_vector("BOOL").S) << u.select(name, 1)
    u.select(name, 1).new()


def value_mask(dtype: str) -> None:
    """The bits of a mask of values."""
    w = a_vector("BOOL")
    w(a_vector(dtype).V) << a_vector("BOOL", full=True)


def reduce(name: str, dtype: str) -> None:
    u, monoid = a_vector(dtype, size=4000), gb.monoid[name][dtype]
    u.reduce(monoid).new()
    with limits(chunk=2):
        u.reduce(monoid).new()


def fold(name: str, dtype: str) -> None:
    """Equal places of a matrix, joined in their order."""
    at, op = np.arange(600) % 400, gb.binary[name][dtype]
    x = values(generator("fold", dtype), dtype, 600)
    gb.Matrix.from_coo(at // 20, at % 20, x, dtype, nrows=20, ncols=20, dup_op=op)
    gb.Vector.from_coo(at, x, dtype, size=400, dup_op=op)


def merge(target: str, source: str, accumulator: str | None) -> None:
    """An accumulator, or a cast, under a mask."""
    accum = None if accumulator is None else gb.binary[accumulator][target]
    w, t, mask = a_vector(target), a_vector(source, full=True), a_vector("BOOL")
    w(mask.S, accum) << t.apply(gb.unary.identity) if accum else w(mask.S).update(t.apply(gb.unary.identity))
    w(mask.S, accum) << t if accum else w(mask.S).update(t)


def packed_values(dtype: str) -> None:
    """Packed values, made, read and picked out."""
    x = np.arange(3000) % 200
    A = gb.Matrix.from_coo(np.arange(3000) // 60, np.arange(3000) % 60, x, dtype, nrows=50, ncols=60, packed=True)
    A.to_coo(), A.T.new().to_coo(), A.select("tril").new().to_coo(), A.apply(gb.unary.ainv).new()


def passes() -> None:
    """Loops whose statements become one kernel."""
    n = SIZE
    r, s, total = gb.Vector.from_scalar(1.0, n), gb.Scalar.from_value(0.5), gb.Scalar(gb.dtypes.FP64)

    def sums(_: Any) -> None:
        r << r.apply(gb.binary.plus, right=s)
        r(gb.binary.plus) << 1.0
        total << r.reduce(gb.monoid.plus, allow_empty=False)

    total << 1.0
    gb.loop.repeat(sums, while_=total, limit=3)
    q, d, worse = a_vector("INT64"), a_vector("INT64", full=True), gb.Vector("BOOL", n)

    def relax(_: Any) -> None:
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    gb.loop.repeat(relax, while_=q, limit=3)
    q, seen = a_vector("INT64"), gb.Vector.from_coo([1, 3], True, size=n)

    def found(k: Any) -> None:
        d(q.S) << k
        q(~seen.S, gb.replace) << d

    gb.loop.repeat(found, while_=q, limit=3)
    x, near, p = (gb.Vector.from_coo(np.arange(n), np.arange(n)[::-1] // k) for k in (1, 2, 3))
    h, going, still = p.dup(), gb.Vector.from_scalar(True, 3), gb.Vector.from_scalar(True, 3)

    def links(_: Any) -> None:
        p(gb.binary.min) << gb.Vector.from_coo(x.to_dense(), near.to_dense(), size=n, dup_op=gb.binary.min)
        h << p[p[p.to_dense()].new().to_dense()]
        going(still.S, gb.replace) << True

    gb.loop.repeat(links, while_=going, limit=2)


def loops_inside() -> None:
    """A search in each round of a loop."""
    A = gb.Matrix.from_coo(np.arange(SIZE - 1), np.arange(1, SIZE), True, nrows=SIZE, ncols=SIZE)
    v, q, left = gb.Vector("INT64", SIZE), gb.Vector("BOOL", SIZE), gb.Vector.from_coo([0], 2)
    source = gb.Vector.from_coo([SIZE - 5], True, size=SIZE)

    def level(k: int) -> None:
        v(q.S) << k
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    def search(_: Any) -> None:
        v.clear()
        q << source
        gb.loop.repeat(level, while_=q)
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    gb.loop.repeat(search, while_=left)


def by_patches() -> None:
    """Shortest paths and least labels as fixpoints, along paths and a grid that are larger than patches."""
    with tuning.override({"patches.vertices": 1}):
        for dtype, n, strides in (("FP32", 9000, (1, 3000)), ("FP32", 5000, (1,)), ("INT64", 5000, (1,))):
            rows = np.concatenate([np.arange(n - stride) for stride in strides])
            cols = np.concatenate([np.arange(stride, n) for stride in strides])
            A = gb.Matrix.from_coo(rows, cols, np.arange(len(rows)) % 7 + 1, dtype=dtype, nrows=n, ncols=n)
            gb.algorithms.sssp(A, 0)
        label, waits = (gb.Vector.from_coo(np.arange(n), np.arange(n)[::-1], size=n) for _ in range(2))

        def spread(_: Any) -> None:
            t = waits.vxm(A, gb.semiring.min_first["INT64"]).new()
            t(gb.binary.lt(t & label).new().V, gb.replace) << t
            waits << t
            label(t.S) << t

        A = A.apply(gb.unary.one["BOOL"]).new()
        gb.loop.Program(spread, while_=waits, fixpoint=True).run()


def hubs(form: str) -> None:
    leaves = np.arange(1, SIZE)
    hub = np.zeros_like(leaves)
    A = gb.Matrix.from_coo([*hub, *leaves], [*leaves, *hub], True, nrows=SIZE, ncols=SIZE, format=form)
    gb.algorithms.bfs_levels(A, 1)


PLAIN = ("BOOL", "INT32", "INT64", "FP64")
BY_OPERATOR: dict[Callable[[str, str], None], tuple[tuple[str, str], ...]] = {
    binary: (
        *((name, "FP64") for name in ("times", "minus", "truediv", "plus", "ge", "min")),
        *(("min", "INT64"), ("plus", "INT64"), ("lor", "BOOL"), ("truediv", "FC64")),
    ),
    unary: (
        ("abs", "FP64"),
        ("ainv", "FP64"),
        ("sqrt", "FP64"),
        ("identity", "INT64"),
        ("lnot", "BOOL"),
        ("exp", "FC32"),
    ),
    indexunary: (("rowindex", "INT64"), ("index", "INT64")),
    select: (("valuegt", "FP64"),),
    reduce: (("plus", "FP64"), ("plus", "INT64"), ("min", "FP64"), ("max", "INT64"), ("lor", "BOOL"), ("plus", "FC64")),
    fold: (("plus", "FP64"), ("min", "INT64"), ("plus", "FC64")),
    sums_by_index: (("min", "INT64"), ("plus", "INT64"), ("lor", "BOOL"), ("max", "FP64"), ("times", "INT32")),
}
MERGED = (
    *((dtype, dtype, None) for dtype in ("FP64", "INT64", "INT32", "BOOL")),
    *(("INT64", "UINT64", None), ("FP64", "FP64", "min"), ("FP64", "FP64", "plus"), ("INT64", "INT64", "min")),
    *(("BOOL", "BOOL", "lor"), ("FP32", "FP32", "plus"), ("FC64", "FC64", "plus")),
)


def statements() -> Iterator[Callable[[], None]]:
    for dtype in PLAIN:
        yield partial(whole, dtype)
        for iso in (False, True):
            for call in (gather, virtual_nodes, put):
                yield partial(call, dtype, iso=iso)
            yield partial(place, dtype, dtype, iso=iso)
    for call in (
        partial(put, "FC64"),
        partial(place, "FC64", "FC64"),
        partial(place, "FP64", "BOOL"),
        partial(place, "BOOL", "FP64"),
    ):
        yield partial(call, iso=False)
    for by_operator, operators in BY_OPERATOR.items():
        yield from (partial(by_operator, *operator) for operator in operators)
    yield from (partial(merge, *which) for which in MERGED)
    yield from (partial(packed_values, dtype) for dtype in ("INT32", "INT64", "UINT32", "FP32"))
    yield from (partial(hubs, form) for form in ("csr", "mplg", "nib", "cgr"))
    yield from (partial(value_mask, "FP64"), index_range, passes, loops_inside, by_patches)
    yield from rank_calls.statements()
    yield from matrix_calls.statements()


def calls() -> Iterator[tuple[str, Callable[[], None]]]:
    """A name and a call."""
    for call in statements():
        function, arguments = (
            (call.func, (*call.args, *call.keywords.values())) if isinstance(call, partial) else (call, ())
        )
        yield " ".join(["calls", function.__name__, *map(str, arguments)]), call
