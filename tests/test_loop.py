"""Loops that stay on the device: the same bodies on every device, against a plain loop and against the algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from interrupts import interrupted

import bitblas as gb
from bitblas.exceptions import CaptureError, InvalidValue
from bitblas.loop import Program, repeat

BOOL, INT64, FP64, FP32 = gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.FP64, gb.dtypes.FP32
TILES = tuple(("b2sr", tile) for tile in (4, 8, 16, 32, 64))
FORMS = (("csr", None), *TILES, ("mplg", None), ("split", 8))


def graph(n=150, m=400, spread=12, seed=0, weights=None, symmetric=False, **form):
    """A directed graph, or all edges both ways, with a hub, self loops and vertices without edges."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, m)
    cols = np.clip(rows + rng.integers(-spread, spread + 1, m), 0, n - 1)
    rows, cols = np.concatenate([rows, np.full(n // 2, 7)]), np.concatenate([cols, np.arange(0, n, 2)[: n // 2]])
    keys = np.unique(np.concatenate([rows * n + cols, (cols * n + rows)[: symmetric * len(rows)]]))
    values = True if weights is None else rng.integers(1, 64, len(keys)).astype(weights)
    return gb.Matrix.from_coo(keys // n, keys % n, values, nrows=n, ncols=n, **form)


def entries(x):
    """to_coo as arrays of the host."""
    return tuple(np.asarray(a.get() if hasattr(a, "get") else a) for a in x.to_coo())


def options(form):
    return {"format": form[0], "tile": form[1]}


def levels_program(A, v, q):
    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])

    return Program(body, while_=q)


@pytest.mark.parametrize("form", FORMS)
def test_breadth_first_levels(device, form):
    A = graph(**options(form))
    n = A.nrows
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    program = levels_program(A, v, q)
    for source in (0, 7, 149):
        v.clear()
        q.clear()
        q[source] = True
        rounds = program.run()
        expected = oracle_levels(A, source)
        assert dict(zip(*entries(v))) == expected
        assert rounds == max(expected.values()) + 1
        assert q.nvals == 0
    if device != "cpu":
        (only,) = program.explain().launches
        assert only.kind == "advance"
        assert len(only.statements) == 2
        assert "advance" in str(program.explain())


def oracle_levels(A, source):
    rows, cols, _ = entries(A)
    level, frontier, k = {source: 0}, {source}, 0
    while frontier:
        k += 1
        frontier = set(cols[np.isin(rows, list(frontier))].tolist()) - set(level)
        level |= dict.fromkeys(frontier, k)
    return level


@pytest.mark.parametrize("form", (*FORMS[:3], *FORMS[-2:]))
def test_breadth_first_parents(device, form):
    A = graph(**options(form))
    n = A.nrows
    p, q = gb.Vector(INT64, n), gb.Vector(INT64, n)
    q[3] = 3

    def body(_):
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.ss.any_secondi)

    repeat(body, while_=q)
    level = oracle_levels(A, 3)
    found = dict(zip(*(x.tolist() for x in entries(p))))
    edges = set(zip(*(x.tolist() for x in entries(A)[:2])))
    assert found.keys() == level.keys()
    for child, parent in found.items():
        assert child == parent == 3 or ((parent, child) in edges and level[parent] == level[child] - 1)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", (*FORMS[:4], FORMS[-1]))
@pytest.mark.parametrize("dtype", [FP32, INT64])
def test_shortest_paths(device, form, dtype):
    A = graph(weights=dtype.np_type, **options(form))
    n = A.nrows
    d, q, worse = gb.Vector(dtype, n), gb.Vector(dtype, n), gb.Vector(BOOL, n)
    d[0] = 0
    q[0] = 0

    def body(_):
        q << q.vxm(A, gb.semiring.min_plus[dtype])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    repeat(body, while_=q)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    rows, cols, values = entries(A)
    expected = dijkstra(csr_array((values.astype(float), (rows, cols)), shape=(n, n)), indices=0)
    found = np.full(n, np.inf)
    where, what = entries(d)
    found[where] = what
    # A self loop of scipy's is nothing, and ours neither.
    np.testing.assert_array_equal(found, expected)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", (*FORMS[:3], FORMS[-1]))
def test_a_scalar_may_be_the_condition(device, form):
    A = graph(**options(form))
    n = A.nrows
    r, t, w = gb.Vector.from_scalar(1 / n, n), gb.Vector(FP64, n), gb.Vector(FP64, n)
    total, rest, change, going = gb.Scalar(FP64), gb.Scalar(FP64), gb.Scalar(FP64), gb.Scalar.from_value(True)
    w << A.mxv(r, gb.semiring.plus_pair[FP64])
    w << w.apply(gb.binary.truediv, left=0.85)

    def body(_):
        t << gb.binary.times(w & r)
        t << A.T.mxv(t, gb.semiring.plus_second[FP64])
        total << t.reduce(gb.monoid.plus, allow_empty=False)
        rest << total.apply(gb.binary.minus, left=1.0)
        rest << rest.apply(gb.binary.truediv, right=float(n))
        t(gb.binary.plus) << rest
        r(gb.binary.minus) << t
        r << r.apply(gb.unary.abs)
        change << r.reduce(gb.monoid.plus)
        going << change.apply(gb.binary.ge, right=1e-9)
        r << t

    rounds = repeat(body, while_=going, limit=300)
    expected = gb.algorithms.pagerank(A, tol=1e-9, max_iter=300)
    assert 5 < rounds < 300
    assert not going.value
    assert change.value < 1e-9
    np.testing.assert_allclose(entries(r)[1], entries(expected)[1], rtol=1e-9)


def test_limits_and_empty_loops(device):
    A = graph()
    n = A.nrows
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    assert levels_program(A, v, q).run() == 0
    assert v.nvals == 0
    q[0] = True

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])

    assert repeat(body, while_=q, limit=2) == 2
    expected = oracle_levels(A, 0)
    assert dict(zip(*entries(v))) == {i: k for i, k in expected.items() if k < 2}
    assert q.to_coo()[0].tolist() == sorted(i for i, k in expected.items() if k == 2)
    assert repeat(body, while_=q, limit=0) == 0
    # It continues where it stopped, but rounds are numbered from 0 again.
    repeat(body, while_=q)
    assert v.nvals == len(expected)


def test_a_matrix_that_changed_is_captured_again(device):
    A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=4, ncols=4)
    v, q = gb.Vector(INT64, 4), gb.Vector(BOOL, 4)
    program = levels_program(A, v, q)
    q[0] = True
    program.run()
    assert v.to_coo()[0].tolist() == [0, 1, 2]
    A[2, 3] = True
    v.clear()
    q[0] = True
    program.run()
    assert v.to_coo()[1].tolist() == [0, 1, 2, 3]


def test_results_are_their_own(device):
    """A copy of a program's result is unchanged after the program runs again on other inputs."""
    A = graph()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program = levels_program(A, v, q)
    q[0] = True
    program.run()
    first, before = v.dup(), v.to_coo()
    v.clear()
    q[7] = True
    program.run()
    assert first.to_coo()[0].tolist() == before[0].tolist()
    assert first.to_coo()[1].tolist() == before[1].tolist()


def test_an_interrupt_ends_a_loop(device):
    """Ctrl-C stops an endless loop; the vectors are unchanged, and the next loop runs."""
    v, q = gb.Vector(INT64, 40), gb.Vector(INT64, 40)
    q[3] = 1

    def body(k):
        v(q.S) << k
        q << q.apply(gb.binary.plus, right=1)

    program = Program(body, while_=q)
    with interrupted(1.0):
        program.run()
    if device != "cpu":  # a plain loop changes its vectors as it goes
        assert v.nvals == 0
        assert q[3].value == 1
    assert Program(body, while_=q, limit=3).run() == 3
    assert v[3].value == 2


BAD = {
    "nvals": (lambda v, q, A: bool(v.nvals), "reading a Scalar"),
    "compared": (lambda v, q, A: v.nvals == 0, "reading a Scalar"),
    "to_coo": (lambda v, q, A: np.asarray(v.to_coo()[1]), "used as an array"),
    "value": (lambda v, q, A: bool(v.reduce(gb.monoid.plus).new()), "reading a Scalar"),
    "index": (lambda v, q, A: v.__setitem__([1, 2], 5), "assignment by index"),
    "extract": (lambda v, q, A: v.__lshift__(v[[0] * v.size]), "extraction by index"),
    "nested": (lambda v, q, A: repeat(lambda k: None, while_=q), "loop"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.off_cpu
def test_what_cannot_be_captured_is_named(device, name):
    A = graph()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    q[0] = True
    statement, said = BAD[name]

    def body(_):
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])
        statement(v, q, A)

    with pytest.raises(CaptureError, match=said):
        repeat(body, while_=q)
    assert v.nvals == 0
    assert q.nvals == 1


def test_bad_arguments():
    v = gb.Vector(BOOL, 3)
    with pytest.raises(TypeError, match="body: expected a function"):
        Program(3, while_=v)
    with pytest.raises(TypeError, match="while_: expected a Vector, a Matrix, a Scalar, or a tuple"):
        Program(lambda k: None, while_=True)
    for limit in (-1, 1.5, True):
        with pytest.raises(InvalidValue, match="limit"):
            Program(lambda k: None, while_=v, limit=limit)


@pytest.mark.off_cpu
def test_a_condition_that_never_changes_is_refused(device):
    v, q = gb.Vector(INT64, 5), gb.Vector(BOOL, 5)
    q[0] = True
    with pytest.raises(CaptureError, match="never writes"):
        repeat(lambda k: v.__lshift__(k), while_=q, limit=3)
