"""Full vectors, and full words of vectors, have a separate loop in element-wise statements, sums and selections; a
product for presence alone is the set of rows with entries. Against python-graphblas."""

from __future__ import annotations

from itertools import product

import graphblas
import numpy as np
import pytest

import bitblas

SIZES = (1, 63, 64, 65, 200, 4096)
VECTORS = {
    "union": lambda gb, x, y: x.ewise_add(y, gb.binary.minus).new(),
    "intersection": lambda gb, x, y: x.ewise_mult(y, gb.binary.minus).new(),
    "defaults": lambda gb, x, y: x.ewise_union(y, gb.binary.minus, 2, 3).new(),
    "comparison": lambda gb, x, y: x.ewise_mult(y, gb.binary.lt).new(),
    "one value": lambda gb, x, y: x.apply(gb.binary.plus, right=2).new(),
    "unary": lambda gb, x, y: x.apply(gb.unary.ainv).new(),
    "position": lambda gb, x, y: x.apply(gb.indexunary.rowindex, 3).new(),
    "select": lambda gb, x, y: x.select(gb.select.valuegt, 4).new(),
    "select by place": lambda gb, x, y: x.select(gb.select.rowle, 40).new(),
    "kept": lambda gb, x, y: into(y.dup(), x.apply(gb.unary.ainv), x.V),
    "selected into": lambda gb, x, y: into(y.dup(), x.select(gb.select.valuegt, 4), y.S),
    "outside": lambda gb, x, y: into(y.dup(), x.apply(gb.unary.ainv), ~y.V, gb.replace),
}


def into(w, expr, *how):
    w(*how) << expr
    return w


def vectors(gb, n, missing, dtype):
    """Two vectors of small whole numbers that lack a few entries, or none."""
    rng = np.random.default_rng(n)
    made = []
    for k in range(2):
        at = np.flatnonzero(rng.random(n) >= 0.01) if missing == k or missing == 2 else np.arange(n)
        made.append(gb.Vector.from_coo(at, rng.integers(0, 9, len(at)).astype(dtype), size=n))
    return made


def assert_same(run, **layout):
    """run(gb, layout) gives equal lists of objects with both libraries; the layout of matrices is for bitblas alone."""
    for found, expected in zip(run(bitblas, layout), run(graphblas, {}), strict=True):
        assert found.dtype == expected.dtype.name
        for x, y in zip(found.to_coo(), expected.to_coo(), strict=True):
            np.testing.assert_array_equal(found.device.to_host(x), y)


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", (np.float64, np.int32))
@pytest.mark.parametrize("statement", VECTORS)
def test_elementwise(device, statement, dtype):
    for n, missing in product(SIZES, (None, 0, 1, 2)):
        assert_same(lambda gb, _, n=n, k=missing: [VECTORS[statement](gb, *vectors(gb, n, k, dtype))])


@pytest.mark.in_turn
@pytest.mark.parametrize("missing", (None, 0))
@pytest.mark.parametrize("dtype", (np.float64, np.int32, np.uint8))
def test_sums(device, dtype, missing):
    for n in SIZES:
        (x, _), (y, _) = (vectors(gb, n, missing, dtype) for gb in (bitblas, graphblas))
        for name in ("plus", "times", "min", "max"):
            assert x.reduce(name).new().value == y.reduce(name).new().value, (n, name)
        assert x.reduce("any").new().value in y.to_coo()[1]


def test_sums_see_nan_as_others_do(device):
    for at in (0, 5, 63, 64, 130):
        values = np.arange(200.0)
        values[at] = np.nan
        for gb in (bitblas, graphblas):
            x = gb.Vector.from_dense(values)
            assert x.reduce("min").new().value == (0 if at else 1)
            assert x.reduce("max").new().value == 199
            assert np.isnan(x.reduce("plus").new().value)


PRODUCTS = {
    "new": lambda gb, A, t, w: A.mxv(t, "lor_land").new(),
    "left": lambda gb, A, t, w: t.vxm(A, "lor_land").new(),
    "any": lambda gb, A, t, w: A.mxv(t, "any_pair").new(),
    "over": lambda gb, A, t, w: into(w, A.mxv(t, "lor_land")),
    "mask": lambda gb, A, t, w: into(w, A.mxv(t, "lor_land"), w.S),
    "outside": lambda gb, A, t, w: into(w, A.mxv(t, "lor_land"), ~w.S, gb.replace),
    "accumulated": lambda gb, A, t, w: into(w, A.mxv(t, "lor_land"), gb.binary.lor),
    "false": lambda gb, A, t, w: A.mxv(t.apply(gb.unary.lnot).new(), "lor_land").new(),
    "column sums": lambda gb, A, t, w: A.reduce_columnwise("lor").new(),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("form", ("csr", "mplg", "b2sr", "split"))
@pytest.mark.parametrize("statement", PRODUCTS)
def test_presence(device, statement, form):
    """Twice: the first product caches a result, which no statement may overwrite."""
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((150, 150)) < 0.004)

    def run(gb, layout):
        A = gb.Matrix.from_coo(i, j, True, nrows=150, ncols=150, **layout)
        t = gb.Vector.from_coo(np.arange(150), True, size=150)
        for _ in range(2):
            w = gb.Vector.from_coo([0, 3, 70, 149], [True, False, True, True], size=150)
            made = PRODUCTS[statement](gb, A, t, w)
            yield made.dup()
            made[:] = True

    assert_same(run, format=form)


@pytest.mark.parametrize(
    ("ring", "form"), (("lor_land", "csr"), ("plus_times", "csr"), ("min_plus", "csr"), ("plus_times", "mplg"))
)
def test_nearly_full(device, ring, form):
    """Rows that mostly end at their first entry; NaN and infinities among the values."""
    rng, n = np.random.default_rng(4), 200
    i, j = np.nonzero(rng.random((n, n)) < 0.06)
    i, j = i[i % 9 != 0], j[i % 9 != 0]
    at, weights = np.flatnonzero(rng.random(n) < 0.96), rng.integers(-3, 9, len(i)).astype(float)
    for special in ([], [np.inf, 0.0], [np.nan, np.inf]):
        values = rng.integers(-4, 9, len(at)).astype(float)
        values[: len(special)] = special

        def run(gb, layout, values=values):
            bits = ring == "lor_land"
            A = gb.Matrix.from_coo(i, j, True if bits else weights, nrows=n, ncols=n, **layout)
            u = gb.Vector.from_coo(at, True if bits else values, size=n)
            w = gb.Vector.from_coo([0, 9, 70], True if bits else 2.0, size=n)
            product = A.mxv(u, ring)
            return [product.new(), u.vxm(A, ring).new(), into(w, product, ~w.S), product.new(mask=w.S)]

        assert_same(run, format=form)


def test_the_rows_with_entries_are_found_once(device):
    A = bitblas.Matrix.from_coo([0, 2], [1, 1], True, nrows=3, ncols=3)
    t = bitblas.Vector.from_coo([0, 1, 2], True, size=3)
    A.mxv(t, "lor_land").new()
    with bitblas.trace() as trace:
        w = A.mxv(t, "lor_land").new()
    assert not trace.runs  # no kernel: they are copied
    assert w.to_coo()[0].tolist() == [0, 2]


@pytest.mark.parametrize("form", ("csr", "b2sr"))
def test_lengths_of_rows_are_sums_of_ones(device, form):
    """Sums of equal products with a full vector: of tiles, lengths that were counted once; and in whole words of rows
    that a mask leaves open or not."""
    rng = np.random.default_rng(4)
    i, j = np.nonzero(rng.random((150, 90)) < 0.02)

    def run(gb, layout):
        A = gb.Matrix.from_coo(i, j, 2, nrows=150, ncols=90, **layout)
        t, few = (gb.Vector.from_coo(np.arange(n), 3, size=n) for n in (90, 3))
        few.resize(150)
        for name in ("plus_pair", "plus_times"):
            yield A.mxv(t, getattr(gb.semiring, name)["INT64"]).new()
        for how in ((few.S,), (~few.S, gb.replace), (gb.binary.minus,), (~few.S, gb.binary.plus)):
            w = gb.Vector.from_coo(np.arange(0, 150, 7), 9, size=150)
            yield into(w, A.mxv(t, gb.semiring.plus_pair["INT64"]), *how)

    for _ in range(2):
        assert_same(run, format=form)


def test_products_on_tiles_write_over_their_output():
    A = bitblas.Matrix.from_coo(range(100), range(100), True, nrows=100, ncols=100, format="b2sr", tile=8, device="cpu")
    u, w = bitblas.Vector.from_dense(np.arange(100.0), device="cpu"), bitblas.Vector(float, 100, device="cpu")
    w << A.mxv(u, bitblas.semiring.plus_second)
    values = w._data.values
    w << A.mxv(u.apply(bitblas.unary.ainv).new(), bitblas.semiring.plus_second)
    assert w._data.values is values and w.to_dense().tolist() == (-np.arange(100.0)).tolist()
    w << A.mxv(w, bitblas.semiring.plus_second)  # but not their inputs
    assert w.to_dense().tolist() == (-np.arange(100.0)).tolist()
    assert w.nvals == 100 and A.mxv(w, bitblas.semiring.plus_pair).new().reduce("plus").value == 100


OVER = {  # the old content of w is not needed, or is read first
    "of others": lambda gb, w, x, y: into(w, x.ewise_add(y, gb.binary.minus)),
    "of itself": lambda gb, w, x, y: into(w, w.ewise_mult(y, gb.binary.minus)),
    "under its own entries": lambda gb, w, x, y: into(w, x.apply(gb.unary.ainv), w.S, gb.replace),
    "outside its values": lambda gb, w, x, y: into(w, x.apply(gb.unary.abs), ~w.V, gb.replace),
    "where another is": lambda gb, w, x, y: into(w, y.apply(gb.binary.plus, right=2), x.S, gb.replace),
    "of another type": lambda gb, w, x, y: into(w, x.ewise_mult(y, gb.binary.lt)),
    "selected": lambda gb, w, x, y: into(w, x.select(gb.select.valuegt, 4)),
    "selected of itself": lambda gb, w, x, y: into(w, w.select(gb.select.valuegt, 4)),
    "one value": lambda gb, w, x, y: into(w, x.apply(gb.unary.one)),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("missing", (None, 1, 2))
@pytest.mark.parametrize("statement", OVER)
def test_outputs_are_written_over(device, statement, missing):

    def run(gb, _):
        for n in (65, 200):
            x, y = vectors(gb, n, missing, np.float64)
            w = y.apply(gb.binary.minus, right=3).new()
            before = w.dup()
            for _ in range(2):  # the second time into arrays that the first has made
                OVER[statement](gb, w, x, y)
                yield w.dup()
            yield from (before, x, y)

    assert_same(run)


def test_an_operator_that_raises_leaves_the_output_as_it_was():
    def seldom(x):
        if x > 7:
            raise ValueError("more than seven")
        return -x

    op = bitblas.unary.register_anonymous(seldom)
    x = bitblas.Vector.from_dense(np.arange(200.0) % 9, device="cpu")
    w = bitblas.Vector.from_dense(np.full(200, 5.0), device="cpu")
    w << w.apply(bitblas.unary.abs)
    with pytest.raises(ValueError, match="more than seven"):
        w << x.apply(op)
    assert w.to_coo()[1].tolist() == [5.0] * 200


def test_copies_of_few_entries(device):
    at = [0, 64, 777, 9999]
    v = bitblas.Vector.from_coo(at, [1.0, -0.0, np.inf, 4.0], size=10000)
    for known in (False, True):
        assert not known or v.nvals == 4
        w = v.dup()
        w[5] = 2.0
        assert v.to_coo()[0].tolist() == at and w.to_coo()[0].tolist() == [0, 5, 64, 777, 9999]
        assert w.to_coo()[1].tolist() == [1.0, 2.0, 0.0, np.inf, 4.0] and np.signbit(float(w[64].new()))


# ---- pulls along whole tiles of the CPU: from tables of sums of three columns, and without, the same sums ------------


def tile_sums(monkeypatch, picked: int, ring: str, dtype: str, share: float):
    rng, n = np.random.default_rng(7), 195  # the last tile is not full
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < 9
    rows, cols = np.nonzero(near & (rng.random((n, n)) < 0.6))
    A = bitblas.Matrix.from_coo(rows, cols, 3, dtype, nrows=n, ncols=n, format="b2sr", device="cpu")
    monkeypatch.setattr(A.device, "permute_bytes", picked)
    at = np.flatnonzero(rng.random(n) < share)
    u = bitblas.Vector.from_coo(at, (at * 7 % 31).astype(dtype.lower().replace("fp", "float")), size=n, device="cpu")
    mask = bitblas.Vector.from_coo(np.arange(0, n, 3), True, size=n, device="cpu")
    semiring = getattr(bitblas.semiring, ring)[dtype]
    every, some = A.mxv(u, semiring), u.vxm(A, semiring).new(mask=~mask.S)
    return [kernel for w in (every.new(), some) for kernel in w.to_coo()], every


@pytest.mark.parametrize("share", [1.0, 0.7])
@pytest.mark.parametrize("ring, dtype", [("plus_second", "FP32"), ("plus_times", "FP64"), ("min_plus", "FP64"),
                                         ("max_first", "INT32"), ("plus_minus", "INT64")])  # fmt: skip
def test_tables_give_the_same_sums(monkeypatch, ring, dtype, share):
    with_tables, without = (tile_sums(monkeypatch, picked, ring, dtype, share)[0] for picked in (8, 0))
    for a, b in zip(with_tables, without, strict=True):
        assert np.array_equal(a, b)


def test_numbers_of_eight_bytes_have_tables_where_eight_are_picked(monkeypatch):
    for picked, kernels in ((8, {"tables", "lanes"}), (4, {"lanes"})):
        _, product = tile_sums(monkeypatch, picked, "plus_second", "FP64", 1.0)
        with bitblas.trace() as trace:
            product.new()
        assert kernels == {run.kernel.rpartition("/")[2] for run in trace} & {"tables", "lanes"}
