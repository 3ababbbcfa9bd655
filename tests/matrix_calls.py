"""Statements on matrices, for kernels that programs leave out: see kernel_calls.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from battery import FORMS, generator, values
from call_operands import SIZE, a_matrix, a_vector, limits
from test_loop import graph

import bitblas as gb
from bitblas import tuning
from bitblas.formats import FORMATS, format_of

# ---- matrices -------------------------------------------------------------------------------------------------------


def join(name: str | None, dtype: str, form: str) -> None:
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


def long_rows(name: str, dtype: str, of: str, form: str) -> None:
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


def product(key: str, name: str, dtype: str, of: str, *, varied: bool = False) -> None:
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


def blank(dtype: str) -> None:
    """The output of a push."""
    few = gb.Vector.from_coo([5, 99], values(generator("few", dtype), dtype, 2), dtype, size=SIZE)
    few.vxm(a_matrix(dtype), gb.semiring.min_plus).new()


def pull_binned(key: str, name: str, dtype: str, of: str, *, hot: bool) -> None:
    """Rows of every grade, some of them cut. hot: the vector's values of frequent columns are in shared memory."""
    op, n = gb.semiring[name][dtype], 3000
    lengths = np.zeros(n, np.int64)
    lengths[::60] = [n, 2049, 300, *range(47)]
    x = True if of == "BOOL" else values(generator("graded", of), of, int(lengths.sum()))
    rows, cols = np.repeat(np.arange(n), lengths), np.concatenate([np.arange(k) * (n // max(1, k)) for k in lengths])
    masked = format_of(key).kernels["mxv.pull.binned"].masked
    for short in (0, 24) if masked else (0,):  # of codes: whether none is longer than a word
        with limits(graded=1, coded=1, short=short, hot=0.0 if hot else 2.0):
            A = gb.Matrix.from_coo(rows, cols, x, of, nrows=n, ncols=n, format=key)
            made = A.mxv(a_vector(dtype, size=n, full=True), op)
            made.new()
            made.new(mask=a_vector("BOOL", size=n).S)


def dot(key: str, name: str, dtype: str, of: str) -> None:
    op, iso = gb.semiring[name][dtype], of == "BOOL"
    for mask_key in ("csr", "mplg") if format_of(key).by_rows else (key,):
        A, B = (a_matrix(of, seed=k, iso=iso, **FORMS[key]) for k in range(2))
        mask = a_matrix("BOOL", seed=5, iso=True, **FORMS[mask_key])
        A.mxm(B.T, op).new(mask=mask.S)
        A.mxm(A.T, op).new(mask=mask.S)


def step(key: str, name: str, dtype: str, **options: bool) -> None:
    """A loop of one step, and a condition."""
    words, op = name == "any_pair", gb.semiring[name][dtype]
    A = graph(weights=None if words else np.dtype(op.return_type.np_type), symmetric=words, **FORMS[key], **options)
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


def lines(name: str, dtype: str, *, flip: bool = False, push: bool = False) -> None:
    """Products with a bitmap, whose rows are cut."""
    words = name == "any_pair"
    for places in PLACES:
        A, X = a_matrix(dtype, iso=words), a_bitmap(dtype, places, flip=flip, iso=words, few=push)
        X.nvals
        op = gb.semiring[name][dtype]
        for limit in (5, 1 << 30):
            with tuning.override({"multivector.long_row": limit, "multivector.segment": 2}):
                (X.mxm(A, op) if flip else A.T.mxm(X, op) if push else A.mxm(X, op)).new()


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


WHOLE = ("csr", "b2sr8")  # formats whose kernels differ most
GRADED = (("plus_second", "FP32", "BOOL"), ("plus_second", "FP64", "BOOL"), ("min_plus", "FP32", "FP32"))
LONG = (
    *(("any_pair", "BOOL", "BOOL"), ("plus_pair", "INT64", "BOOL"), ("min_plus", "FP32", "FP32")),
    *(("min_plus", "INT64", "INT64"), ("plus_times", "FP32", "FP32"), ("plus_times", "FP64", "FP64")),
)


def statements() -> Iterator[Callable[[], None]]:
    for name, dtype in (("plus", "FP64"), ("times", "FP64"), ("second", "INT64"), ("firsti", "INT64"), (None, "BOOL")):
        yield partial(join, name, dtype, "csr")
    for form in ("csr", "mplg"):
        yield from (
            partial(pull_worklist, form),
            partial(sample, form),
            partial(long_rows, "min_plus", "FP64", "FP64", form),
        )
    yield partial(join, "plus", "FP64", "mplg")
    yield from (partial(long_rows, *which, "csr") for which in LONG)
    yield from (partial(single_long_rows, *which) for which in (("plus_first", "FP64"), ("any_pair", "BOOL")))
    for key, format in FORMATS.items():
        if not format.plain:
            continue
        for name, dtype in (("min_plus", "FP32"), ("min_plus", "FP64"), ("plus_pair", "INT64"), ("any_pair", "FP64")):
            yield partial(hubs, key, name, dtype)
        yield partial(product, key, "any_pair", "BOOL", "BOOL")
        yield from (partial(product, key, "lor_land", "BOOL", "BOOL", varied=varied) for varied in (False, True))
        yield partial(step, key, "any_pair", "BOOL")
        if "dot" in format.kernels:
            yield partial(dot, key, "any_pair", "BOOL", "BOOL")
        if format.kernels["mxv.pull"].fused or format.packed:
            yield partial(step, key, "min_plus", "INT64", packed=True)
    for key in WHOLE:
        yield from (partial(product, key, name, "FC64", "FC64") for name in ("plus_times", "any_first"))
        yield partial(product, key, "min_second", "INT64", "BOOL")
        yield partial(hubs, key, "plus_times", "FC64")
    yield from (
        partial(dot, "mplg", *which) for which in (("min_plus", "FP32", "FP32"), ("plus_pair", "INT64", "BOOL"))
    )
    for key in ("csr", "mplg", "nib", "cgr"):
        yield from (partial(pull_binned, key, *which, hot=hot) for which in GRADED for hot in (False, True))
    yield from (partial(blank, dtype) for dtype in ("INT64", "FP32", "INT32"))
    for name, dtype in (("plus_times", "FP32"), ("min_plus", "INT64"), ("lor_land", "BOOL"), ("any_pair", "BOOL")):
        yield partial(lines, name, dtype)
    yield from (partial(lines, "plus_first", "FP64", flip=True), partial(lines, "any_pair", "BOOL", push=True))
    for name, dtype in (("plus", "FP64"), ("lor", "BOOL"), ("min", "INT64"), ("plus", "FP32")):
        yield partial(reduce_columns, name, dtype)
    yield from (partial(fill, dtype) for dtype in ("INT64", "FP32"))
    yield from (chunks, validated, encoded)
    yield from (partial(given_rows, p, c) for p in ("int32", "int64") for c in ("int32", "int64"))
