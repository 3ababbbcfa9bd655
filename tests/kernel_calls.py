"""Statements that reach the kernels which every_kernel.py's programs leave out: operators, types and sizes in turn.

`CALLS` lists them with the operands' types. A kernel that is added later needs a statement here only if no program of
every_kernel.py reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import product as pairs
from typing import Any
from unittest import mock

import numpy as np
from battery import FORMS, generator, several, values
from test_loop import graph

import bitblas as gb
from bitblas import algorithms, tuning
from bitblas.device import jit
from bitblas.formats import FORMATS, coded, format_of
from bitblas.kernels.variant import Variant
from bitblas.loop.gpu.products import compact_variant
from bitblas.operations import contraction as groups
from bitblas.operations import dense_spmm, ewise_vector, neighbor_sampling, sddmm
from semirings.dtypes import INT32

Group = tuple[Callable[..., None], Iterable[tuple[Any, ...]]]  # a function, and the arguments of its calls
SIZE = 150
ROWS = {  # of the tuning table
    "iterations": "rows.iterations", "graded": "csr.binned_from", "hot": "rows.hot_share",
    "coded": "coded.binned_from", "sums": "sums.least_entries",
    "shared": "spgemm.shared.words", "push": "push_cost.cpu push_cost.gpu",
}  # fmt: skip
CONSTANTS: dict[str, tuple[Any, str]] = {"chunk": (ewise_vector, "CHUNK"), "short": (coded, "SHORT")}


@contextmanager
def limits(**changed: Any) -> Iterator[None]:
    """With other limits of sizes, so that small operands reach them."""
    rows = {row: changed[name] for name in changed if name in ROWS for row in ROWS[name].split()}
    with ExitStack() as stack, tuning.override(rows):
        for name in CONSTANTS.keys() & changed.keys():
            stack.enter_context(mock.patch.object(*CONSTANTS[name], changed[name]))
        yield


def a_vector(dtype: str, *, size: int = SIZE, full: bool = False, iso: bool = False) -> gb.Vector:
    """Of every third position, or all."""
    at = np.arange(0, size, 1 if full else 3)
    x = values(generator("vector", dtype), dtype, len(at))
    return gb.Vector.from_coo(at, x[0] if iso else x, dtype, size=size)


def a_matrix(dtype: str, *, seed: int = 0, iso: bool = False, n: int = SIZE, m: int = SIZE, **form: Any) -> gb.Matrix:
    keys = np.unique(np.random.default_rng(seed).integers(0, n * m, 900))
    x = True if iso else values(generator("matrix", dtype), dtype, len(keys))
    return gb.Matrix.from_coo(keys // m, keys % m, x, dtype, nrows=n, ncols=m, **form)


# ---- vectors --------------------------------------------------------------------------------------------------------


def array_code() -> None:
    """The kernels of array code, on contiguous and strided arrays."""
    from emulator.array_code import array_module

    xp = array_module(gb.config.device)
    x = xp.asarray(np.arange(700) % 90)
    y = x[::2] * 3 + x[1::2] // 7
    y[x[:40]] = 5
    xp.unique(y), xp.searchsorted(xp.sort(x), y), xp.bincount(x)
    (y > 100).any(), y.sum(), y.argmax(), xp.asarray(np.ones((40, 30))).sum(axis=0)
    flags = x > 40
    x[flags], xp.unpackbits(xp.packbits(flags, bitorder="little"), bitorder="little")


def gather(dtype: str, iso: bool) -> None:
    for full in (False, True):
        a_vector(dtype, full=full, iso=iso)[[5, 3, 3, 99]].new()


def virtual_nodes(dtype: str, iso: bool) -> None:
    rows, cols = np.divmod(np.arange(48), 6)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=SIZE, ncols=SIZE, format="virtual")
    A.mxv(a_vector(dtype, iso=iso), gb.semiring.any_second[dtype]).new()


def index_range() -> None:
    places = gb.Vector.from_dense(np.arange(40))
    a_vector("INT64", full=True)[places.to_dense()].new()


def put(dtype: str, iso: bool) -> None:
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


def place(source: str, target: str, iso: bool) -> None:
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


def merge(target: str, source: str, accumulator: str | None = None) -> None:
    """An accumulator, or a cast, under a mask."""
    accum = None if accumulator is None else gb.binary[accumulator][target]
    w, t, mask = a_vector(target), a_vector(source, full=True), a_vector("BOOL")
    w(mask=mask.S, accum=accum) << t.apply(gb.unary.identity)
    w(mask=mask.S, accum=accum) << t


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


def any_order() -> None:
    """Shortest paths and least labels as fixpoints, along paths and a grid; independent sets of a star."""
    with tuning.override({"relaxation.vertices": 1, "relaxation.threads": 128, "relaxation.queue_bytes": 512}):
        for dtype, n, strides in (("FP32", 900, (1, 300)), ("FP32", 500, (1,)), ("INT64", 500, (1,))):
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
    i, j = np.zeros(99, np.int64), np.arange(1, 100)
    star = gb.Matrix.from_coo(np.append(i, j), np.append(j, i), True, nrows=100, ncols=100)
    gb.algorithms.maximal_independent_set(star)


def hub_search(form: str) -> None:
    leaves = np.arange(1, SIZE)
    hub = np.zeros_like(leaves)
    A = gb.Matrix.from_coo([*hub, *leaves], [*leaves, *hub], True, nrows=SIZE, ncols=SIZE, format=form)
    gb.algorithms.bfs_levels(A, 1)


# ---- matrices -------------------------------------------------------------------------------------------------------


def join(form: str, name: str | None, dtype: str) -> None:
    """Unions and intersections; without an operator, of matrices of one value."""
    op = gb.binary.second["BOOL"] if name is None else gb.binary[name][dtype]
    A, B = (a_matrix(dtype, seed=k, iso=name is None, format=form) for k in range(2))
    A.ewise_add(B, op).new()
    if name is not None:
        A.ewise_mult(B, op).new()
        A.ewise_union(B, op, 1, 1).new()


def pull_worklist(form: str) -> None:
    """The rows that a mask lists, in a loop."""
    op = gb.semiring.min_second["INT32"]
    A = a_matrix("BOOL", iso=True, format=form)
    v, left = (a_vector("INT32", full=True) for _ in range(2))

    def body(_: Any) -> None:
        v(left.S, op.monoid) << A.mxv(v, op)
        left.clear()

    gb.loop.repeat(body, while_=left)


def single_long_rows(name: str, dtype: str) -> None:
    """Rows too long for a table, of a product with a matrix of one entry a row."""
    x = True if dtype == "BOOL" else values(generator("ones", dtype), dtype, 9000)
    A = gb.Matrix.from_coo(np.arange(9000) // 5000, np.arange(9000), x, dtype, nrows=1000)  # not narrow
    A.mxm(gb.Matrix.from_coo(np.arange(9000), np.arange(9000)[::-1], True), gb.semiring[name][dtype]).new()


def long_rows(form: str, name: str, dtype: str, of: str) -> None:
    """Rows of a product too long for a table; and columns too many for shared memory. of: the type of the matrices."""
    x, y = (
        True if of == "BOOL" else values(generator(which, of), of, n) for which, n in (("wide", 9000), ("ones", SIZE))
    )
    at = np.arange(9000)
    wide = gb.Matrix.from_coo(at % SIZE, at, x, of, nrows=SIZE, ncols=9000, format=form)
    ones = gb.Matrix.from_coo(at[:SIZE] // 50, at[:SIZE], y, of, nrows=3, ncols=SIZE, format=form)
    ones.mxm(wide, gb.semiring[name][dtype]).new()
    with limits(shared=0):
        ones.mxm(wide, gb.semiring[name][dtype]).new()


def hubs(key: str, name: str, dtype: str) -> None:
    """Rows that are cut, with what ends of statements keep."""
    pattern, op = name.endswith("pair"), gb.semiring[name][dtype]
    with limits(iterations=1):
        A = hub("BOOL" if pattern else dtype, pattern, key)
        words = name == "any_pair"
        u, mask = a_vector(A.dtype.name, size=A.ncols, full=not words, iso=words), a_vector("BOOL", size=A.nrows)
        w = a_vector(op.return_type.name, size=A.nrows)
        w(mask.S) << A.mxv(u, op)
        w(op.op.monoid) << A.mxv(u, op)
        A.mxv(u, op).new()


def hub(dtype: str, iso: bool, key: str) -> gb.Matrix:
    """One row of all columns, and a few entries elsewhere."""
    n, m = 100, 3000
    i, j = np.append(np.full(m, 66), np.arange(n)), np.append(np.arange(m), np.arange(n) * 7)
    keys = np.unique(i * m + j)
    x = True if iso else values(generator("hub", dtype), dtype, len(keys))
    return gb.Matrix.from_coo(keys // m, keys % m, x, dtype, nrows=n, ncols=m, **FORMS[key])


def sample(form: str) -> None:
    """What the plan sees of rows."""
    a_matrix("BOOL", iso=True, format=form).profile()


# ---- products -------------------------------------------------------------------------------------------------------


def product(key: str, name: str, dtype: str, of: str, varied: bool = False) -> None:
    """mxv, vxm and products at a mask, with outputs that have entries. of: the type of the matrix. varied: BOOL
    matrices have both values."""
    words, op = name == "any_pair", gb.semiring[name][dtype]
    for n in (SIZE, 128):
        A = a_matrix(of, iso=of == "BOOL" and not varied, n=n, m=n, **FORMS[key])
        for full in (False, True):
            u = a_vector(dtype, size=n, full=full, iso=words)
            outputs = [gb.Vector.from_coo(np.arange(0, n, 2), True, "BOOL", size=n), a_vector("FP64", size=n)]
            for w in outputs if words else [a_vector(op.return_type.name, size=n)]:
                w(a_vector("BOOL", size=n, full=True).S) << A.mxv(u, op)
                w(getattr(gb.binary, op.op.monoid.name)) << A.mxv(u, op)
            A.mxv(u, op).new()
        few = gb.Vector.from_coo([5, 99], True if words else values(generator("few", dtype), dtype, 2), dtype, size=n)
        few.vxm(A, op).new()
        A.T.new()  # is there for a push of mxv
        with limits(push=0.0):
            A.mxv(few, op).new()


def pieces(name: str, dtype: str) -> None:
    """A vector with so many entries that all pieces of rows are pushed, inside clusters and between them."""
    op = gb.semiring[name][dtype]
    with limits(push=0.0), tuning.override({"pull.always.entries": -1, "cr2.log_cluster": 4}):
        A = a_matrix(dtype, iso=name == "any_pair", format="cr2")
        a_vector(dtype, full=True, iso=name == "any_pair").vxm(A, op).new()
        A.mxv(a_vector(dtype, full=True), gb.semiring.plus_second[dtype] if dtype != "BOOL" else op).new()


def blank(dtype: str) -> None:
    """The output of a push."""
    few = gb.Vector.from_coo([5, 99], values(generator("few", dtype), dtype, 2), dtype, size=SIZE)
    few.vxm(a_matrix(dtype), gb.semiring.min_plus).new()


def pull_binned(key: str, name: str, dtype: str, of: str, hot: bool) -> None:
    """Rows of every grade, some of them cut; of CSR also by its copy for sums. hot: the vector's values of frequent
    columns are in shared memory."""
    op, n = gb.semiring[name][dtype], 3000
    lengths = np.zeros(n, np.int64)
    lengths[::60] = [n, 2049, 300, *range(47)]
    x = True if of == "BOOL" else values(generator("graded", of), of, int(lengths.sum()))
    rows, cols = np.repeat(np.arange(n), lengths), np.concatenate([np.arange(k) * (n // max(1, k)) for k in lengths])
    for short in (0, 24) if key in ("nib", "cgr") else (0,):  # of codes: whether none is longer than a word
        with limits(graded=1, coded=1, sums=1, short=short, hot=0.0 if hot else 2.0):
            A = gb.Matrix.from_coo(rows, cols, x, of, nrows=n, ncols=n, format=key)
            v = a_vector(dtype, size=n, full=True)
            A.mxv(v, op).new()
            A.mxv(v, op).new(mask=a_vector("BOOL", size=n).S)
            if key == "csr":
                A.prepare("sums").mxv(v, op).new()


def dot(key: str, name: str, dtype: str, of: str) -> None:
    op, iso = gb.semiring[name][dtype], of == "BOOL"
    for mask_key in ("csr", "mplg") if format_of(key).by_rows else (key,):
        A, B = (a_matrix(of, seed=k, iso=iso, **FORMS[key]) for k in range(2))
        mask = a_matrix("BOOL", seed=5, iso=True, **FORMS[mask_key])
        A.mxm(B.T, op).new(mask=mask.S)
        A.mxm(A.T, op).new(mask=mask.S)


def step(key: str, name: str, dtype: str, packed: bool = False) -> None:
    """A loop of one step, and a condition."""
    words, op = name == "any_pair", gb.semiring[name][dtype]
    A = graph(weights=None if words else np.dtype(op.return_type.np_type), symmetric=words, packed=packed, **FORMS[key])
    q, seen = gb.Vector(dtype, A.nrows), gb.Vector("BOOL", A.nrows)
    q[7] = True if words else 0

    def body(_: Any) -> None:
        q << q.vxm(A, op)
        q(~seen.S, gb.replace) << q
        seen(q.S) << True

    gb.loop.repeat(body, while_=q)


def a_bitmap(dtype: str, places: int, *, flip: bool = False, iso: bool = False, few: bool = False) -> gb.Matrix:
    """A narrow matrix, of lines of so many places."""
    shape = (places, SIZE) if flip else (SIZE, places)
    keys = np.unique(np.random.default_rng(3).integers(0, SIZE * places, 4 if few else 5 * places))
    x = True if iso else values(generator("bitmap", dtype), dtype, len(keys))
    at = dict(zip(("nrows", "ncols"), shape))
    return gb.Matrix.from_coo(keys // shape[1], keys % shape[1], x, dtype, format="bitmap", **at)


PLACES = (5, 60)  # of the lines of bitmaps: bytes and words


def lines(name: str, dtype: str, flip: bool = False, push: bool = False) -> None:
    """Products with a bitmap, whose rows are cut."""
    words = name == "any_pair"
    for places in PLACES:
        A, X = a_matrix(dtype, iso=words), a_bitmap(dtype, places, flip=flip, iso=words, few=push)
        X.nvals
        op = gb.semiring[name][dtype]
        for limit in (5, 1 << 30):
            with tuning.override({"multivector.long_row": limit, "multivector.segment": 2}):
                (X.mxm(A, op) if flip else A.T.mxm(X, op) if push else A.mxm(X, op)).new()


def full_lines(name: str, dtype: str) -> None:
    """Products with a multivector that has all entries."""
    A = a_matrix(dtype)
    X = gb.Matrix.from_dense(np.ones((SIZE, 16), gb.dtypes.lookup_dtype(dtype).np_type), format="bitmap")
    for limit in (5, 1 << 30):
        with tuning.override({"multivector.long_row": limit, "multivector.segment": 2}):
            A.mxm(X, gb.semiring[name][dtype]).new()


def dense_lines(mode: int, dtype: str, half: int = 0) -> None:
    """Products with a dense array, whose rows are cut; of 9 columns, and of 16 that are loaded together. half: of 16
    bits."""
    A = a_matrix("FP32" if half else "FP64")
    of = dense_spmm.DenseProduct(A._matrix._stored, False, mode, mean=mode == dense_spmm.SUM and half > 0)
    for width in (9, 16):
        x = A.device.asarray(np.ones((SIZE, width), gb.dtypes.lookup_dtype(dtype).np_type))
        winners = A.device.xp.zeros((SIZE, width), np.int32) if mode else None
        lines = dense_spmm.Lines(x, winners, half)
        for limit in (5, 1 << 30):
            with tuning.override({"multivector.long_row": limit, "multivector.segment": 2}):
                dense_spmm.multiply(of, lines, lines._replace(values=x.copy()))
        sddmm.entry_products(of, lines, dense_spmm.Lines(x, None, half))


def half_lines(mode: int, half: int) -> None:
    """The same with numbers of 16 bits, which a CPU does not read."""
    if gb.device.get(gb.config.device).is_simt:
        dense_lines(mode, "UINT16", half)


def sampled(name: str, dtype: str) -> None:
    """Products of two full matrices at the entries of a mask."""
    for width in (9, 16):
        X = gb.Matrix.from_dense(np.ones((SIZE, width), gb.dtypes.lookup_dtype(dtype).np_type))
        X.mxm(X.T, gb.semiring[name][dtype]).new(mask=a_matrix("BOOL").S)


def neighbors(dtype: str, replace: bool) -> None:
    """Batches of sampled neighbours, with times too."""
    device = gb.device.get(gb.config.device)
    i, j = np.random.default_rng(0).integers(0, SIZE, (2, 900))
    time = device.asarray(np.arange(900, dtype=gb.dtypes.lookup_dtype(dtype).np_type))
    edges = neighbor_sampling.by_target(device, device.asarray(i), device.asarray(j), SIZE, time)
    for until in (None, time[:400:100].copy()):
        request = neighbor_sampling.Request((4, 3), replace, (1, 2), until)
        neighbor_sampling.sample(edges, device.asarray(np.arange(4)), request)


def reduce_columns(name: str, dtype: str) -> None:
    """Sums of lines, of one value too."""
    for places in PLACES:
        for iso in (False, True):
            X = a_bitmap(dtype, places, iso=iso)
            X.reduce_rowwise(gb.monoid[name][dtype]).new()
            X.reduce_columnwise(gb.monoid[name][dtype]).new()


def fill(dtype: str) -> None:
    """One value at the places of a mask."""
    X, mask = a_bitmap(dtype, 60), a_bitmap("BOOL", 60, iso=True)
    X(~mask.S) << 1
    X(mask.S, gb.replace) << 1


def chunks() -> None:
    """Entries of chunks are counted, and go to the rows of their bands."""
    i, j = np.arange(500) * 7 % SIZE, np.arange(500) * 11 % SIZE
    gb.Matrix.from_chunks([(i, j)], nrows=SIZE, ncols=SIZE, format="nib")


def validated() -> None:
    """The arrays of a file are validated before they are used."""
    a_matrix("BOOL", iso=True, format="cgr")._stored.structure.primary.check()


def encoded() -> None:
    """Short rows and long ones."""
    gb.Matrix.from_coo([*[0] * 300, 1], [*range(0, 900, 3), 5], True, nrows=2, ncols=900, format="cgr")


def given_rows(pointers: str, columns: str) -> None:
    gb.Matrix.from_csr(np.array([0, 2, 3], pointers), np.array([0, 2, 1], columns), True, ncols=3)


def launched(variant: Variant, *args: Any, grid: int = 2) -> None:
    """Launch a kernel on arrays of the device."""
    device = gb.device.get(gb.config.device)
    device.load(variant)((grid,), (jit.BLOCK,), args)
    device.synchronize()


def listed(per: int, late: bool) -> None:
    """The entries of a vector, counted and listed: at the end of a round if that ran; of many the count alone."""
    variant = compact_variant(per, 1, INT32, late=late)
    xp = gb.device.get(gb.config.device).xp
    for size, every, most, runs in ((SIZE, 7, 2**64 - 1, 1), (1 << 17, 2, 1000, 1), (SIZE, 7, 2**64 - 1, 0)):
        if not (runs or late):
            continue
        there = np.arange(-(-size // 64) * 64) % every == 0
        there[size:] = False
        at, units, n = np.flatnonzero(there), -(-size // per), np.int64(size)
        bits = xp.asarray(np.packbits(there, bitorder="little").view(np.uint64))
        ptr = xp.asarray(np.arange(units + 1, dtype=np.int32) * 3)
        places, state, segments = xp.zeros(units, np.uint32), xp.zeros(8, np.uint64), xp.zeros(2 * units, np.uint32)
        head = (xp.zeros(1, np.uint64) + np.uint64(runs), xp.asarray(np.array([0, 9, 0])), np.int64(0)) if late else ()
        launched(variant, n, n, np.int64(512), np.uint64(most), bits, ptr, places, state, segments, *head)
        entries, count, _, work, _, remaining, *_ = map(int, state)
        assert entries == remaining == runs * len(at)
        if size == SIZE:
            assert set(places[:count].tolist()) == (set((at // per).tolist()) if runs else set())
        else:
            assert work > most


# ---- the calls ------------------------------------------------------------------------------------------------------


def by_format() -> Iterator[Group]:
    """What every format can, and what some have kernels for."""
    for key, format in FORMATS.items():
        if format.plain:
            yield (
                hubs,
                [(key, *which) for which in several("min_plus FP32, min_plus FP64, plus_pair INT64, any_pair FP64")],
            )
            yield product, [(key, "any_pair", "BOOL", "BOOL"), *((key, "lor_land", "BOOL", "BOOL", x) for x in BOTH)]
            yield step, [(key, "any_pair", "BOOL")]
            if "dot" in format.kernels:
                yield dot, [(key, "any_pair", "BOOL", "BOOL")]
            if format.kernels["mxv.pull"].fused or format.packed:
                yield step, [(key, "min_plus", "INT64", True)]
    for key in ("csr", "b2sr8"):  # formats whose kernels differ most
        yield (
            product,
            [(key, *which) for which in several("plus_times FC64 FC64, any_first FC64 FC64, min_second INT64 BOOL")],
        )
        yield hubs, [(key, "plus_times", "FC64")]


BOTH = (False, True)
PLAIN = ("BOOL", "INT32", "INT64", "FP64")
GRADED = several("plus_second FP32 BOOL, plus_second FP64 BOOL, min_plus FP32 FP32")


def walked_lines(key: str, op: str, dtype: str) -> None:
    """Products with multivectors along rows that the format walks: pulls, of long rows too, and pushes."""
    rng = generator(f"walked {key}")
    there = rng.random((SIZE, SIZE)) < 0.1
    there[7], there[40:60, 20:40] = True, True
    i, j = np.nonzero(there)
    a = rng.integers(1, 5, len(i)).astype(float) if op.endswith("times") else True
    A = gb.Matrix.from_coo(i, j, a, nrows=SIZE, ncols=SIZE, **FORMS[key])
    rows = tuning.override({"multivector.long_row": 64, "multivector.segment": 32})
    with rows, gb.config.set(prefer="memory"):
        for x, width in ((np.nonzero(rng.random((SIZE, 64)) < 0.3), 64), (([3, 50], [1, 7]), 20)):
            X = gb.Matrix.from_coo(*x, np.ones(len(x[0]), dtype), nrows=SIZE, ncols=width, format="bitmap")
            A.mxm(X, getattr(gb.semiring, op)).new()
            A.T.mxm(X, getattr(gb.semiring, op)).new()  # pushes along few entries


def tile_products(key: str, op: str) -> None:
    """Products of tiles without a mask, and their sums under a mask."""
    i, j = np.divmod(generator(f"tile products {key}").choice(SIZE * SIZE, 3000, replace=False), SIZE)
    A = gb.Matrix.from_coo(i, j, True, nrows=SIZE, ncols=SIZE, **FORMS[key])
    kinds = [f"spgemm.tile_products.{kind}.{on}" for kind in ("words", "count") for on in ("cpu", "gpu")]
    with tuning.override(dict.fromkeys(kinds, 0)):
        A.mxm(A, getattr(gb.semiring, op)).new()
    A.mxm(A, gb.semiring.plus_pair).new(mask=A.S).reduce_scalar("plus").new()


def peel(segment: int, block: int) -> None:
    """Core numbers and trusses, by the whole GPU (block 0) and by one block, with rows of one and several segments."""
    i, j = np.nonzero(np.triu(generator(f"peel {segment}").random((60, 60)) < 0.3))
    A = gb.Matrix.from_coo([*i, *j], [*j, *i], True, nrows=SIZE, ncols=SIZE)
    rows = {f"peeling.segment.{name}": segment for name in ("core", "truss")}
    rows |= {f"peeling.small_{name}": block for name in ("round", "scan")}
    rows |= {
        "peeling.short_row": segment,
        "peeling.few_entries": block,
        "peeling.block.core": 128,
        "peeling.block.truss": 128,
        "peeling.merged_row": block,
        "peeling.listed": 0,
    }
    with tuning.override(rows):
        algorithms.core_numbers(A), algorithms.truss_numbers(A), algorithms.local_clustering(A)
    with tuning.override({"peeling.listed": 32, "peeling.few_entries": 64, "peeling.block.truss": 128}):
        algorithms.k_truss(A, 4)


WALKED = "nib", "cgr", "cr2", "virtual", *(key for key in FORMS if key.startswith(("b2sr", "split")))
TILED = [key for key in FORMS if key.startswith("b2sr")]
LINE_SUMS = (("any_pair", "bool"), ("plus_second", "float64"), ("plus_times", "float64"))


def maps(name: str, dtype: str, key: str) -> None:
    """Products with a map that are reduced by row: rows of every bin, then hubs."""
    n, typed = 8200, getattr(gb.semiring, name)[dtype]
    lengths = 1, 3, 8, 16, 30, 60, 500, 2000, 4000, 8000
    rows, cols = np.repeat(np.arange(len(lengths)), lengths), np.concatenate([np.arange(k) for k in lengths])
    x, y = values(generator("map", dtype), dtype, len(rows)), a_vector(dtype, size=n, full=True).to_dense()
    A = gb.Matrix.from_coo(rows, cols, x, dtype, nrows=n, ncols=n, format=key)
    L = gb.Matrix.from_coo(np.arange(n), np.arange(n) % 7, y, nrows=n, ncols=n)  # few columns would be a multivector
    for row_entries in (8192, 48):
        with tuning.override({"map.row_entries": row_entries, "map.shares": 2}):
            C = A.mxm(L, typed).new()
            C.reduce_rowwise(gb.agg.ss.argmax).new()
            C.select(gb.select.valuegt, 1).new().reduce_rowwise(gb.agg.count).new()


def communities(weighted: bool) -> None:
    """Moves, refinement, contraction and components inside communities, with self loops and rows of every length."""
    i = np.arange(SIZE)
    hubs = [(i[:9], i[:9]), (0 * i[:34], i[:34]), (0 * i[:45] + 1, i[:45]), (0 * i + 2, i)]
    rows, cols = (np.concatenate(x) for x in zip((i, (i + 1) % SIZE), (i, (i + 7) % SIZE), *hubs))
    rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    values = rows + cols if weighted else True
    A = gb.Matrix.from_coo(rows, cols, values, nrows=SIZE, ncols=SIZE, dup_op="max" if weighted else None)
    with tuning.override(
        {"louvain.threads": 128, "louvain.warp_row": 40, "louvain.block_row": 64, "louvain.sorted_entries": 300}
    ):
        gb.algorithms.leiden(A, weighted=weighted)


def contraction(dtype: str, key: str) -> None:
    """S' A S for a map S with many groups, whose keys have 64 bits, or the order of the entries next to them."""
    n, i = 300, np.arange(2600)
    x = True if dtype == "BOOL" else values(generator("contraction", dtype), dtype, len(i))
    A = gb.Matrix.from_coo(i % n, (i + i // n * 13) % n, x, dtype, nrows=n, ncols=n, format=key)
    S = gb.Matrix.from_coo(np.arange(n), np.arange(n) % 130, True, nrows=n, ncols=n)
    kind = "INT64" if dtype == "BOOL" else dtype
    for bits in (64, 20):
        with mock.patch.object(groups, "KEY_BITS", bits):
            S.T.mxm(A, gb.semiring.plus_second[kind]).mxm(S, gb.semiring.plus_first[kind]).new()


def strong_components(queue: int, sparse: int) -> None:
    """Cycles of three vertices in a chain. With a short queue blocks pass items on; sparse graphs are contracted."""
    i = np.arange(SIZE)
    rows, cols = np.concatenate([i, i[:-3]]), np.concatenate([i - i % 3 + (i + 1) % 3, i[3:]])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=SIZE, ncols=SIZE)
    with tuning.override({"strong.queue": queue, "strong.block": 128, "strong.sparse": sparse}):
        gb.algorithms.strongly_connected_components(A)


def counts_after_selection() -> None:
    """A masked product of counts that have lost entries, as in a truss (operations/supports.py)."""
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    C = graph(symmetric=True)
    with tuning.override({"supports.removed_share": 1.0, "supports.few_entries": 0}):
        for least in (2, 3, 4):
            C = C.mxm(C.T, plus_pair).new(mask=C.S).select(">=", least).new()


CALLS: tuple[Group, ...] = (
    (strong_components, [(32, 0), (2048, 0), (2048, 4)]),
    (communities, [(weighted,) for weighted in BOTH]),
    (contraction, [*pairs(("BOOL", "FP64", "INT64"), ("csr",)), ("BOOL", "mplg")]),
    (whole, several("BOOL, INT32, INT64, FP64")),
    (gather, pairs(PLAIN, BOTH)),
    (virtual_nodes, pairs(PLAIN, BOTH)),
    (put, [*pairs(PLAIN, BOTH), ("FC64", False)]),
    (place, [(t, t, iso) for t, iso in pairs(PLAIN, BOTH)]),
    (place, [("FC64", "FC64", False), ("FP64", "BOOL", False), ("BOOL", "FP64", False)]),
    (binary, several("times FP64, minus FP64, truediv FP64, plus FP64, ge FP64, min FP64")),
    (binary, several("min INT64, plus INT64, lor BOOL, truediv FC64")),
    (unary, several("abs FP64, ainv FP64, sqrt FP64, identity INT64, lnot BOOL, exp FC32")),
    (indexunary, several("rowindex INT64, index INT64")),
    (select, several("valuegt FP64")),
    (reduce, several("plus FP64, plus INT64, min FP64, max INT64, lor BOOL, plus FC64")),
    (fold, several("plus FP64, min INT64, plus FC64")),
    (sums_by_index, several("min INT64, plus INT64, lor BOOL, max FP64, times INT32")),
    (merge, several("FP64 FP64, INT64 INT64, INT32 INT32, BOOL BOOL, INT64 UINT64, FP64 FP64 min, FP64 FP64 plus")),
    (merge, several("INT64 INT64 min, BOOL BOOL lor, FP32 FP32 plus, FC64 FC64 plus")),
    (packed_values, several("INT32, INT64, UINT32, FP32")),
    (hub_search, several("csr, mplg, nib, cgr")),
    (value_mask, several("FP64")),
    *((call, [()]) for call in (array_code, index_range, passes, loops_inside, any_order)),
    (listed, pairs(sorted({format.rows_per_unit for format in FORMATS.values()}), BOTH)),
    (join, several("csr plus FP64, csr times FP64, csr second INT64, csr firsti INT64, mplg plus FP64")),
    (join, [("csr", None, "BOOL")]),
    (pull_worklist, several("csr, mplg")),
    (sample, several("csr, mplg")),
    (long_rows, several("csr min_plus FP64 FP64, mplg min_plus FP64 FP64, csr any_pair BOOL BOOL")),
    (long_rows, several("csr plus_pair INT64 BOOL, csr min_plus FP32 FP32, csr min_plus INT64 INT64")),
    (long_rows, several("csr plus_times FP32 FP32, csr plus_times FP64 FP64")),
    (single_long_rows, several("plus_first FP64, any_pair BOOL")),
    (walked_lines, [(key, *of) for key, of in pairs(WALKED, LINE_SUMS)]),
    (tile_products, pairs(TILED, ("any_pair", "plus_pair"))),
    *by_format(),
    (dot, several("mplg min_plus FP32 FP32, mplg plus_pair INT64 BOOL")),
    (pull_binned, [(key, *which, hot) for key in ("csr", "mplg", "nib", "cgr") for which in GRADED for hot in BOTH]),
    (pieces, several("min_plus INT64, min_plus FP32, any_pair BOOL")),
    (blank, several("INT64, FP32, INT32")),
    (lines, several("plus_times FP32, min_plus INT64, lor_land BOOL, any_pair BOOL")),
    (lines, [("plus_first", "FP64", True), ("any_pair", "BOOL", False, True)]),
    (full_lines, several("plus_times FP32, min_plus INT64, any_second FP64")),
    (neighbors, pairs(("INT64", "FP64"), BOTH)),
    (dense_lines, pairs(range(3), ("FP32", "FP64"))),
    (half_lines, pairs(range(3), (dense_spmm.FP16, dense_spmm.BF16))),
    (sampled, [("plus_times", "FP32"), ("plus_times", "FP64"), ("min_plus", "INT64")]),
    (reduce_columns, several("plus FP64, lor BOOL, min INT64, plus FP32")),
    (fill, several("INT64, FP32")),
    *((call, [()]) for call in (chunks, validated, encoded, counts_after_selection)),
    (peel, pairs((4, 64), (0, 64))),
    (given_rows, pairs(("int32", "int64"), repeat=2)),
    (maps, several("plus_pair INT64 csr, plus_first INT64 csr, plus_first FP64 csr, plus_pair INT64 mplg")),
)
