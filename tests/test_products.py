"""Products of matrices by each path of the GPU kernels: few and many entries, hash tables and bitsets; and parts of
matrices by lists of rows and columns, extracted and assigned. On every device, against python-graphblas."""

import graphblas
import numpy as np
import pytest

import bitblas
from bitblas.formats.mplg.layout import Mplg
from bitblas.io import host_coo
from bitblas.operations import spgemm, variants
from bitblas.operations.spgemm import LazyMaskedProduct

SEMIRINGS = (("plus_times", "FP64"), ("min_plus", "INT64"), ("plus_pair", "INT64"), ("any_pair", "BOOL"),
             ("max_second", "UINT8"), ("plus_times", "INT8"))  # fmt: skip


ONE = -1.0  # the density of a matrix that has one entry in most rows, and none in the others


def entries(nrows, ncols, density, seed, hubs=()):
    rng = np.random.default_rng(seed)
    flags = rng.random((nrows, ncols)) < density
    if density == ONE:
        flags[np.arange(nrows), rng.integers(0, ncols, nrows)] = rng.random(nrows) < 0.9
    flags[list(hubs)] = rng.random((len(hubs), ncols)) < 0.9
    rows, cols = np.nonzero(flags)
    return rows, cols, rng.integers(1, 9, len(rows))


def matrices(gb, dtype, device, *shapes, **form):
    """Matrices of (nrows, ncols, density, seed, hubs), made the same by both libraries."""
    made = []
    for nrows, ncols, *rest in shapes:
        rows, cols, values = entries(nrows, ncols, *rest)
        where = {"device": device, **form} if gb is bitblas else {}
        values = True if dtype == "iso" else values.astype(bitblas.dtypes.lookup_dtype(dtype).np_type)
        kind = "INT16" if dtype == "iso" else dtype
        made.append(gb.Matrix.from_coo(rows, cols, values, kind, nrows=nrows, ncols=ncols, **where))
    return made


def product(name, outside=False):
    """A @ B, everywhere or outside a mask."""
    return lambda gb, A, B, *M: A.mxm(B, getattr(gb.semiring, name)).new(mask=~M[0].S if outside else None)


def same(program, dtype, device, *shapes, **form):
    found = program(bitblas, *matrices(bitblas, dtype, device, *shapes, **form))
    expected = program(graphblas, *matrices(graphblas, dtype, device, *shapes))
    assert_alike(found, expected)


def assert_alike(found, expected):
    assert found.dtype.name == expected.dtype.name and found.shape == expected.shape
    for x, y in zip(found.to_coo(), expected.to_coo(), strict=True):
        np.testing.assert_array_equal(found.device.to_host(x), y)


@pytest.fixture(params=("tables", "bitsets", "bitsets in global memory"))
def rows(request, tune, monkeypatch):
    """How the rows of a product are kept."""
    if request.param != "tables":  # no table fits
        monkeypatch.setattr(spgemm, "row_tables", lambda size: [(8, 0)] * 3)
    if request.param.endswith("memory"):
        tune({"spgemm.shared.words": 0, "spgemm.long_rows.blocks": 3})


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_products_without_a_mask(device, name, dtype, rows):
    same(product(name), dtype, device, (40, 90, 0.05, 1, (7,)), (90, 700, 0.01, 2, (3, 30)))


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_products_with_one_entry_a_row(device, name, dtype, rows):
    """B renumbers each column of A, merges some, and drops some."""

    def program(gb, A, B, M):
        if gb is bitblas:  # of several products the first one
            first, least = (A.mxm(B, semiring).new() for semiring in (gb.semiring.any_firstj, gb.semiring.min_firstj))
            assert first.isequal(least)
        return product(name, outside=dtype == "INT64")(gb, A, B, M)

    same(program, dtype, device, (40, 900, 0.05, 1, (7, 30)), (900, 60, ONE, 2), (40, 60, 0.2, 3, (5,)))


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS[:4])
def test_products_outside_a_mask(device, name, dtype, rows):
    same(
        product(name, outside=True),
        dtype,
        device,
        (40, 90, 0.05, 1, (7,)),
        (90, 300, 0.02, 2, (3,)),
        (40, 300, 0.2, 3, (5,)),
    )


@pytest.mark.parametrize("outside", (False, True))
@pytest.mark.parametrize("rows", ("tables", "bitsets"), indirect=True)
def test_products_of_packed_rows(device, outside, rows, monkeypatch, tune):
    """Packed columns are read directly, in small pieces when counted, and never unpacked all at once."""
    monkeypatch.setattr(Mplg, "to_csr", lambda *args: pytest.fail("plain columns of the whole matrix"))
    tune({"csr.piece": 64})
    shapes = (40, 90, 0.05, 1), (90, 300, 0.01, 2), (40, 300, 0.2, 3)
    same(product("min_plus", outside), "INT64", device, *shapes, format="mplg")


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
@pytest.mark.parametrize(
    "limits",
    [{"csr.dot_table_from": 1, "csr.dot_table_for": 1}, {"csr.dot_table_from": 1 << 20, "csr.dot_long": 4}, {}],
)
def test_products_at_a_mask(device, name, dtype, limits, tune):
    tune(limits)
    program = lambda gb, A, B, M: A.mxm(B.T, getattr(gb.semiring, name)).new(mask=M.S)
    same(program, dtype, device, (60, 200, 0.1, 1, (7,)), (50, 200, 0.1, 2, (3, 30)), (60, 50, 0.3, 3, (7,)))


@pytest.mark.parametrize(("name", "dtype"), (("plus_times", "FP64"), ("plus_pair", "INT64")))
def test_rows_with_the_same_columns(name, dtype, monkeypatch, tune):
    """Rows of B that have columns side by side, the same ones with gaps, some of them, none: on the CPU, where rows of
    the same columns are added without asking. Sums of floats keep their order."""
    tune({"spgemm.uncounted_positions": 0, "spgemm.alike_products": 0})
    flags = np.zeros((40, 70), np.bool_)
    flags[::3], flags[1::3, ::2], flags[2::6, 3:] = True, True, True
    flags[39], flags[4, 60:] = False, False
    rng = np.random.default_rng(5)
    values, left = rng.random(flags.shape), rng.random((50, 40)) < 0.6

    def found(gb, B, **where):
        b = gb.Matrix.from_coo(*B.nonzero(), values[B.nonzero()], nrows=40, ncols=70, **where)
        a = gb.Matrix.from_coo(*left.nonzero(), np.full(left.sum(), 0.1), nrows=50, ncols=40, **where)
        return a.mxm(b, getattr(gb.semiring, name)[dtype]).new()

    asked = []
    monkeypatch.setattr(
        spgemm, "gustavson_variant",
        lambda *given: (asked.append(given[-1]), variants.gustavson_variant(*given))[1],
    )  # fmt: skip
    for B, at_once in (flags, 0), (flags & (rng.random(flags.shape) < 0.9), 1 << 20):
        tune({"spgemm.room": at_once})
        assert_alike(found(bitblas, B, device="cpu"), found(graphblas, B))
    assert asked == [True] * 3  # once counted and written, once written


def test_equal_inputs_give_equal_bits(device, rows):
    """Sums of floats have a fixed order, whichever thread is first."""
    found = []
    for _ in range(2):
        (A,) = matrices(bitblas, "FP32", device, (64, 64, 0.5, 1))
        A = A.apply(bitblas.binary.truediv[bitblas.dtypes.FP32], 3).new()
        found.append(A.device.to_host(A.mxm(A, bitblas.semiring.plus_times).new().to_coo()[2]).tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("form", ({"format": "csr"}, {"format": "b2sr", "tile": 8}))
@pytest.mark.parametrize("edges", (((0, 1, 2, 3), (1, 2, 0, 0)), ((0, 1), (1, 2)), ((), ())))
def test_a_sum_does_not_ask_where_the_entries_are(device, form, edges):
    i, j = (np.array(e, np.int64) for e in edges)
    A = bitblas.Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, nrows=5, ncols=5, device=device, **form)
    plus_pair, plus = bitblas.semiring.plus_pair[bitblas.dtypes.INT64], bitblas.monoid.plus
    for structure_first in (False, True):
        C = A.mxm(A, plus_pair).new(mask=A.S)
        count = 6 if len(i) == 4 else 0
        assert isinstance(C._store, LazyMaskedProduct)
        if structure_first:
            assert C.nvals == count
        assert C.reduce_scalar(plus, allow_empty=False).value == count
        assert C.reduce_scalar(plus).value == (count or None)
        assert C.nvals == count


@pytest.mark.slow  # every_kernel.py runs the same kernel
def test_rows_of_different_lengths_under_a_mask(device):
    """A warp walks those of its rows that a mask leaves open as one; long ones are cut."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(3)
    n = 3000
    long = np.repeat([5, 6, 40, 2999], [2800, 900, 300, 1500])
    rows, cols = np.concatenate([long, rng.integers(0, n, 1500)]), rng.integers(0, n, len(long) + 1500)
    values = rng.integers(1, 9, len(rows))
    A = bitblas.Matrix.from_coo(
        rows, cols, values, nrows=n, ncols=n, dtype="FP32", dup_op=bitblas.binary.plus, format="csr"
    )
    x = bitblas.Vector.from_dense(rng.integers(1, 9, n).astype(np.float32))
    open_ = bitblas.Vector.from_coo(sorted({5, 40, 2999, *rng.integers(0, n, 900).tolist()}), True, size=n)
    for semiring in (bitblas.semiring.plus_times, bitblas.semiring.min_second):
        w = A.mxv(x, semiring[bitblas.dtypes.FP32]).new(mask=open_.S)
        whole = A.mxv(x, semiring[bitblas.dtypes.FP32]).new().select(open_.S).new()
        assert w.isequal(whole) and w.nvals > 250
    dense = csr_array((values.astype(float), (rows, cols)), shape=(n, n)) @ host_coo(x)[1]
    at, found = host_coo(A.mxv(x, bitblas.semiring.plus_times[bitblas.dtypes.FP32]).new(mask=open_.S))
    assert np.array_equal(found, dense[at])


def test_products_of_many_entries_into_few_places():
    """The CPU's threads share the rows: each has to know where its own begin, and they take turns by chance."""
    (A, B), (A2, B2) = (
        matrices(gb, "FP64", "cpu", (233, 233, 0.5, 1), (233, 13, ONE, 2)) for gb in (bitblas, graphblas)
    )
    expected = A2.mxm(B2, graphblas.semiring.plus_first).new()
    for _ in range(100):
        assert_alike(A.mxm(B.dup(), bitblas.semiring.plus_first).new(), expected)


# ---- parts ----------------------------------------------------------------------------------------------------------

N, INDEX = 24, {"all": slice(None), "ascending": [1, 4, 5, 11, 23], "range": slice(3, 17), "mixed": [9, 2, 20, 0]}
INDEX["none"] = np.zeros(0, np.int64)
parts = pytest.mark.parametrize(("i", "j"), [
    ("all", "ascending"), ("ascending", "range"), ("range", "all"), ("mixed", "ascending"), ("ascending", "mixed"),
    ("none", "ascending"), ("range", "none"), ("mixed", "mixed"), ("all", "all"),
])  # fmt: skip


@pytest.mark.in_turn
@parts
def test_a_part(device, i, j):
    part = lambda gb, A: A[INDEX[i], INDEX[j]].new()
    for dtype, form in (("iso", "csr"), ("INT16", "mplg"), ("FC64", "csr")):
        same(part, dtype, device, (N, N, 0.3, 1), format=form)
    if i == "all":  # an index that comes again
        same(lambda gb, A: A[[3, 3, 1], INDEX[j]].new(), "FP64", device, (N, N, 0.3, 1))


@pytest.mark.parametrize("dtype", ["iso", "FP64"])
def test_a_part_of_few_entries(device, dtype):
    """A ball in a large graph: out of it, and to its place in a matrix that is empty."""
    n, ball, found = 1 << 14, [1, 4, 5, 900, 16383], []
    for gb in (bitblas, graphblas):
        where = {"device": device} if gb is bitblas else {}
        rows, cols = np.array([*ball, *range(20, 900)]), np.array([*ball[::-1], *range(1020, 1900)])
        A = gb.Matrix.from_coo(rows, cols, 2 if dtype == "iso" else rows + 0.5, nrows=n, ncols=n, **where)
        C = gb.Matrix(A.dtype, n, n, **where)
        C[ball, ball] << A[ball, ball].new()
        found.append((C, A[ball, [5]].new(), A[ball, [7, 4]].new(), A[[5, 1], ball].new(), A[ball, [2, 3]].new()))
    for ours, theirs in zip(*found, strict=True):
        assert_alike(ours, theirs)


@pytest.mark.in_turn
@parts
@pytest.mark.parametrize(
    ("dtype", "density", "how"),
    [("FP64", 0.0, "plain"), ("FP64", 0.4, "plain"), ("INT16", 0.4, "plain"), ("FP64", 0.4, "accum"),
     ("FP64", 0.4, "mask"), ("FP64", 0.4, "complement")],
)  # fmt: skip
def test_a_part_that_is_assigned(device, i, j, dtype, density, how):
    """Into empty and full objects, and into another type; under a mask, with an accumulator."""

    def program(gb, C, M, T):
        given = {"accum": (gb.binary.plus,), "mask": (M.S,), "complement": (~M.S, gb.replace)}
        target = C if how == "plain" else C(*given[how])
        target[INDEX[i], INDEX[j]] << T.dup("FP64")[INDEX[i], INDEX[j]].new()
        return C

    same(program, dtype, device, (N, N, density, 2), (N, N, density, 3), (N, N, 0.3, 4))


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_parts_that_threads_share(threads):
    """More entries than one thread processes: rows of every length, some of them not selected."""
    n, rng = 600, np.random.default_rng(5)
    flags = rng.random((n, n)) < np.linspace(0, 0.4, n)[rng.permutation(n), None]
    i, j = np.flatnonzero(rng.random(n) < 0.8), np.flatnonzero(rng.random(n) < 0.6)
    mixed, values, found = rng.permutation(i), rng.random(flags.sum()), []
    assert flags[np.ix_(i, j)].sum() > 1 << 14
    with bitblas.config.set(device="cpu", threads=threads):
        for gb in (bitblas, graphblas):
            A = gb.Matrix.from_coo(*flags.nonzero(), values, nrows=n, ncols=n)
            C = A.apply(gb.unary.ainv).new()
            C[i, j] << A[mixed, j].new()
            found.append((A[mixed, j].new(), A[i, :].new(), C))
    for ours, theirs in zip(*found, strict=True):
        assert_alike(ours, theirs)
