"""Narrow matrices in the body of a loop, against a plain loop on python-graphblas."""

from __future__ import annotations

import graphblas
import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import CaptureError
from bitblas.loop import Program, at_once, holds_matrix, if_, repeat

BOOL, INT64, FP64 = gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.FP64
N = 90
in_emulator = pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])  # slow on the CPU


def edges(n=N, m=260, seed=0):
    """Random ones, with a row that is cut where few entries are many."""
    rng = np.random.default_rng(seed)
    rows, cols = np.append(rng.integers(0, n, m), np.full(n, 7)), np.append(rng.integers(0, n, m), np.arange(n))
    key = np.unique(rows * n + cols)
    return key // n, key % n


def same(mine, other):
    host = mine.device.to_host
    for x, y in zip(mine.to_coo(), other.to_coo(), strict=True):
        np.testing.assert_array_equal(host(x), y)


def run(lib, body, condition, limit=None):
    """The rounds: of a program whose rounds are one by one on python-graphblas alone."""
    if lib is gb:
        program = Program(body, while_=condition, limit=limit)
        with at_once():
            return program.run(), program
    rounds = 0
    while condition.nvals and rounds != limit:
        body(rounds)
        rounds += 1
    return rounds, None


def sources(lib, shape, value, dtype, rng, wide):
    k = min(shape)
    ends = np.arange(k), rng.choice(max(shape), k, replace=False)
    return lib.Matrix.from_coo(*(ends if wide else ends[::-1]), value, dtype, nrows=shape[0], ncols=shape[1])


def captured(program):
    assert {"pull", "ewise"} <= {line.kind for line in program.explain().launches}, program.explain()


SLOW = pytest.mark.slow  # the same with other sums and lines
SEARCHES = [(5, True, False), *(pytest.param(*how, marks=SLOW) for how in ((5, False, True), (70, False, False)))]


@pytest.mark.parametrize(("k", "wide", "values"), SEARCHES)
def test_searches(device, k, wide, values, tune):
    """Levels, and numbers of shortest paths; long rows are cut, few entries pushed along."""
    tune({"multivector.long_row": 20, "multivector.segment": 8})
    n = 1300 if k == 5 else N
    rows, cols = edges(n, 3 * n)
    shape = (k, n) if wide else (n, k)

    def levels(lib):
        A = lib.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
        kind = lib.dtypes.FP64 if values else lib.dtypes.BOOL
        op = lib.semiring.plus_first[kind] if values else lib.semiring.any_pair[kind]
        mine = lib.semiring.plus_second[kind] if values else op
        Q = sources(lib, shape, 1.0 if values else True, kind, np.random.default_rng(1), wide)
        V, P = lib.Matrix(lib.dtypes.INT64, *shape), lib.Matrix(kind, *shape)

        def body(level):
            V(Q.S) << level
            P(Q.S) << Q
            Q(~V.S, lib.replace) << (Q.mxm(A, op) if wide else A.T.mxm(Q, mine))

        return V, P, *run(lib, body, Q)

    V, P, rounds, program = levels(gb)
    X, Y, expected, _ = levels(graphblas)
    assert rounds == expected > 4
    same(V, X)
    same(P, Y)
    captured(program)


def statements(lib, A, C, D, M, s, k):
    """A round of everything else."""
    f, u = lib.binary, lib.unary
    T = C.ewise_add(D, f.plus).new()
    T(M.V) << f.times(T & D)
    D(~C.S) << 3
    D(f.min) << T.select(">", 4).new(mask=~M.S)
    C << lib.monoid.plus(C | D)
    C(~M.S, lib.replace) << C.apply(f.minus, right=k)
    M << D.apply(f.gt, right=5)
    s << C.reduce_scalar(lib.monoid.plus, allow_empty=False)
    T << T.ewise_union(C, f.plus, 1, 2)
    C(f.max) << A.mxm(T, lib.semiring.min_plus)
    D(M.S) << T.apply(u.ainv)
    T(f.plus) << C.apply(lib.indexunary.rowindex, 1).new()
    D(f.plus) << T.select(lib.select.tril, k).ewise_mult(C, f.ss.secondj)
    D(C.S, f.plus) << s
    C << C.select("<", 60)


@in_emulator
@pytest.mark.in_turn
@pytest.mark.parametrize("large", [True, pytest.param(False, marks=SLOW)])
def test_what_a_body_says(device, turn, large, tune):
    """Padded lines, where a complement and a value for all places reach beyond the matrix; passes as those over many
    places are, and as others."""
    if large:
        tune({"loop.wide_size": 0})
    rows, cols = edges(seed=2)

    def made(lib):
        rng, shape = np.random.default_rng(3), (N, 5)
        A = lib.Matrix.from_coo(rows, cols, 2, lib.dtypes.INT64, nrows=N, ncols=N)
        C, D = (lib.Matrix.from_dense(rng.integers(0, 9, shape), missing_value=0) for _ in range(2))
        M = lib.Matrix.from_dense(rng.random(shape) < 0.5)
        s, t = lib.Scalar.from_value(0), lib.Vector.from_scalar(True, 3)
        body = lambda k: statements(lib, A, C, D, M, s, k)
        return C, D, M, t, s, body

    C, D, M, t, s, body = made(gb)
    X, Y, Z, _, r, plain = made(graphblas)

    def each(k):
        body(k)
        t << t.select("==", True)

    rounds, program = run(gb, each, t, 4)
    assert rounds == 4
    captured(program)
    for k in range(4):
        plain(k)
    for mine, other in ((C, X), (D, Y), (M, Z)):
        same(mine, other)
        assert mine.dtype.name == other.dtype.name
    assert s.value == r.value


@in_emulator
@pytest.mark.in_turn
def test_counts_and_loops_inside(device, turn):
    """A Matrix to go on by, its nvals, and one that a loop inside goes on by; values of the padding stay out of it."""
    C, D, seen = gb.Matrix(INT64, 20, 3), gb.Matrix(INT64, 20, 3), gb.Scalar(INT64)
    seen.value = 0

    def down(_):
        D << D.apply(gb.binary.minus, right=1)
        D << D.select(gb.select.valuegt, 0)
        seen(gb.binary.plus) << D.nvals

    def body(k):
        D << C
        repeat(down, while_=D)
        if_(C, lambda: seen.__call__(gb.binary.plus).__lshift__(1000))
        C << C.apply(gb.binary.minus, right=2)
        C << C.select(gb.select.valuegt, 0)

    for _ in range(2):
        C << 3
        seen.value = 0
        assert Program(body, while_=C).run() == 2
        assert seen.value == 60 * 2 + 2000
        assert C.nvals == D.nvals == 0


BAD = {
    "square": (lambda C, A, v: A.__lshift__(A.apply(gb.unary.one)), "a Matrix of 90 x 90"),
    "index": (lambda C, A, v: C.__setitem__((1, 2), 5), "assignment by index"),
    "sums": (lambda C, A, v: v.__lshift__(C.reduce_rowwise(gb.monoid.plus)), "reduce_rowwise"),
    "beside": (lambda C, A, v: C.__lshift__(C.ewise_mult(C[0, :].new())), "extraction by index"),
    "two": (lambda C, A, v: A.__lshift__(C.mxm(C.T)), "a Matrix of 90 x 90"),
    "vector": (lambda C, A, v: v.__lshift__(C.mxv(gb.Vector(INT64, 5))), "where a sparse matrix is expected"),
    "entries": (lambda C, A, v: C.to_coo(), "reading its entries"),
    "value": (lambda C, A, v: bool(C.nvals), "reading a Scalar"),
}


@pytest.mark.off_cpu  # where a plain loop captures nothing
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_captured_is_named(device, name):
    rows, cols = edges()
    A = gb.Matrix.from_coo(rows, cols, 1, nrows=N, ncols=N)
    C, v = gb.Matrix.from_coo([0, 5], [1, 2], 1, nrows=N, ncols=5), gb.Vector(INT64, 90)
    statement, said = BAD[name]

    def body(_):
        C << A.mxm(C, gb.semiring.plus_times)
        statement(C, A, v)

    with pytest.raises(CaptureError, match=said):
        repeat(body, while_=C)
    assert C.nvals == 2 and A.nvals == len(rows) and v.nvals == 0
    assert holds_matrix(C) and not holds_matrix(A)


def test_as_many_sources_as_vertices_and_more(device):
    """No narrow matrix holds them: the program runs statement by statement, and so does the loop inside."""
    rows, cols = edges(9, 20)
    A = gb.Matrix.from_coo(rows % 9, cols % 9, True, nrows=9, ncols=9)
    B = graphblas.Matrix.from_coo(rows % 9, cols % 9, True, nrows=9, ncols=9)
    mine, other = (gb.algorithms.betweenness_centrality(X, gb=lib) for X, lib in ((A, gb), (B, graphblas)))
    assert mine.device.name == device and not holds_matrix(gb.Matrix(BOOL, 9, 9))
    np.testing.assert_allclose(mine.device.to_host(mine.to_dense()), other.to_dense())
    many = list(range(9)) * 2
    mine, other = (gb.algorithms.levels_from_each(X, many, gb=lib) for X, lib in ((A, gb), (B, graphblas)))
    same(mine, other)


def test_few_entries_are_pulled_where_the_transpose_is_not_there():
    """Against the edges of a path: the format for pushing is not amortized yet."""
    n, ends = 600, [5, 9]
    A = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n, device="cpu")
    Q = gb.Matrix.from_coo([0, 1], ends, 1.0, nrows=2, ncols=n, device="cpu")
    P = gb.Matrix("FP64", 2, n, device="cpu")

    def body(_):
        P(Q.S) << Q
        Q(~P.S, gb.replace) << Q.mxm(A.T, gb.semiring.plus_first["FP64"])

    with at_once():
        assert repeat(body, while_=Q) == 10
    assert P.reduce_rowwise("plus").new().to_coo()[1].tolist() == [6.0, 10.0]


def test_a_bitmap_is_built_of_a_few_entries(device):
    """It stays a multivector when it is cleared, as a matrix of rows does; errors about entries are those of any
    matrix, and change nothing."""
    C = gb.Matrix("INT64", 3, 700)
    program = gb.loop.Program(lambda k: C(C.S) << k, while_=C, limit=1)
    C[1, 5] = 4
    program.run()
    form = C.format
    assert form == ("csr" if device == "cpu" else "bitmap")
    with pytest.raises(gb.exceptions.OutputNotEmpty):
        C.build([0], [1], [2])
    C.build([2, 0], [699, 1], [7, 8], clear=True)
    with pytest.raises(gb.exceptions.IndexOutOfBound):
        C.build([0], [700], [1], clear=True)
    with pytest.raises(ValueError, match="Duplicate"):
        C.build([0, 0], [1, 1], [1, 2], clear=True)
    found = [x.tolist() for x in map(C.device.to_host, C.to_coo())]
    assert C.format == form and found == [[0, 2], [1, 699], [8, 7]]
    C.clear()
    assert C.format == form and C.nvals == 0
