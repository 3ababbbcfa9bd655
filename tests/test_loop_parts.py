"""Statements of a program before its rounds and after them, and an algorithm with both: components."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_loop_index import dense, full

import bitblas as gb
from bitblas.algorithms import connected_components
from bitblas.exceptions import CaptureError
from bitblas.loop import Program, analysis
from bitblas.loop.ir import Product

INT64 = gb.dtypes.INT64


def test_before_and_after_the_rounds(device):
    """What begin makes is new in each run, and nothing of it is handed out; end sees what the rounds left."""
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=5, ncols=5)
    start, result, q, total = full(gb, [1, 0, 0, 0, 0]), full(gb, [7] * 5), gb.Vector(gb.dtypes.BOOL, 5), gb.Scalar(int)
    start << start.select(gb.select.valuene, 0)
    calls = []

    def begin():
        calls.append("begin")
        x, log = gb.Vector(gb.dtypes.INT64, 5), gb.Vector(gb.dtypes.INT64, 5)
        x << start
        q(x.S, gb.replace) << True
        return x, log

    def body(k, x, log):
        log(x.S, gb.binary.plus) << k
        x << A.T.mxv(x, gb.semiring.plus_second[gb.dtypes.INT64])
        q(x.S, gb.replace) << True

    def end(x, log):
        calls.append("end")
        result << log.apply(gb.binary.plus, right=1)
        total << log.reduce(gb.monoid.plus)

    program = Program(body, while_=q, begin=begin, end=end)
    for _ in range(2):
        assert program.run() == 4
        assert dense(result) == [1, 2, 3, 4, -99]
        assert total.value == 6
    assert calls == (["begin", "end"] * 2 if device == "cpu" else ["begin", "end"])
    if device != "cpu":
        kinds = [line.kind for line in program.explain().launches]
        assert kinds[0] == "begin"
        assert kinds[-1] == "end"
    start.clear()
    assert program.run() == 0
    assert dense(result) == [-99] * 5


@pytest.mark.off_cpu  # a plain loop captures nothing
def test_end_does_not_see_what_steps_write(device):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=5, ncols=5)
    q, out = gb.Vector.from_coo([0], True, size=5), gb.Vector(bool, 5)

    def body(_):
        q << q.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    with pytest.raises(CaptureError, match=r"end: .*a vector that products of the loop write"):
        Program(body, while_=q, end=lambda: out.__lshift__(q)).run()


def test_bad_parts():
    v = gb.Vector(bool, 3)
    for name in ("begin", "end"):
        with pytest.raises(TypeError, match=f"{name}: expected a function"):
            Program(lambda k: None, while_=v, **{name: 3})
    with pytest.raises(TypeError, match="returns a tuple"):
        Program(lambda k: None, while_=v, begin=lambda: 3).run()


def graph_of(edges, n):
    rows, cols = np.array(edges, np.int64).reshape(-1, 2).T
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    return gb.Matrix.from_coo(keys // n, keys % n, 1.5, nrows=n, ncols=n)


@pytest.mark.off_cpu  # test_vertex_sets.py has it
def test_components_on_the_device(device):
    """A long path in random order, a star, loops of one vertex, and vertices without edges: in one launch, which
    Python sees nothing of; again, and in another order."""
    n = 300
    path = np.random.default_rng(0).permutation(np.arange(20, 220))
    edges = [*itertools.pairwise(path), *((3, k) for k in range(220, 260)), (270, 270), (271, 271), (271, 272)]
    expected = np.arange(n)
    expected[20:220], expected[220:260], expected[272] = 20, 3, 271
    A = graph_of(edges, n)
    for B in (A, A, A.reorder(np.random.default_rng(1).permutation(n))):
        labels = connected_components(B)
        assert labels.dtype == gb.dtypes.INT64
        assert dense(labels) == expected.tolist()
    assert connected_components(graph_of([], 3)).to_coo()[1].tolist() == [0, 1, 2]
    assert connected_components(gb.Matrix(bool, 0, 0)).size == 0


@pytest.mark.parametrize("dtype", ["INT8", *(pytest.param(t, marks=pytest.mark.slow) for t in ("BOOL", "FP64"))])
def test_what_a_run_brings_in_and_takes_out(device, dtype):
    """Vectors without entries, with one that is not yet written, with one value, with many, full; results are in
    new memory, and vectors that the loop does not write are unchanged."""
    n, kind = 77, gb.dtypes.lookup_dtype(dtype)
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2, n).astype(kind.np_type)
    some = np.flatnonzero(rng.integers(0, 3, n) == 0)
    given, w, going = (gb.Vector(kind, n) for _ in range(3))

    def body(_):
        w(gb.binary.lor if dtype == "BOOL" else gb.binary.plus) << given
        going(given.S) << given

    def entries(v):
        return dict(zip(*(np.asarray(x.get() if hasattr(x, "get") else x).tolist() for x in v.to_coo())))

    def begin(places, numbers):
        given.clear()
        if len(places) == 1:
            given[places[0]] = numbers[0]
        elif len(places):
            given << gb.Vector.from_coo(places, numbers, kind, size=n)
        for v, place in ((w, 3), (going, 5)):
            v.clear()
            v[place] = 1

    program, earlier = Program(body, while_=going, limit=2), None
    for places, numbers in ([], []), ([70], [1]), (some, 1), (some, values[some]), (range(n), values):
        begin(places, numbers)
        assert program.run() == 2
        numbers = np.broadcast_to(np.asarray(numbers, kind.np_type), len(places))
        expected = dict(zip(np.asarray(places).tolist(), numbers.tolist()))
        twice = {i: x if dtype == "BOOL" else 2 * x for i, x in expected.items()}
        once = 1 if dtype != "BOOL" else True
        twice[3] = (twice.get(3, 0) or once) if dtype == "BOOL" else twice.get(3, 0) + once
        assert entries(given) == expected and entries(w) == twice
        assert entries(going) == {5: once, **expected}
        assert earlier is None or entries(earlier[0]) == earlier[1]
        earlier = w._release(), twice


@pytest.fixture
def filled(monkeypatch):
    """Of each body, whether the vectors that its products read are found to be full."""
    found, of = [], analysis.full_vectors

    def spy(body, held, never=frozenset()):
        full = of(body, held, never)
        found.append(all(s.value.u in full for s in body.all if isinstance(s.value, Product)))
        return full

    monkeypatch.setattr(analysis, "full_vectors", spy)
    return found


@pytest.mark.parametrize("certain", [True, False])
def test_what_a_scalar_fills(device, filled, certain):
    """A vector that was filled by a Scalar fills another one, where that Scalar is never empty: a sum of nothing has no
    value, but for a default, where it is written before it is read."""
    A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3)
    x, t, nothing = full(gb, [1, 2, 3]), gb.Vector(gb.dtypes.INT64, 3), gb.Vector(gb.dtypes.INT64, 3)
    s, going = gb.Scalar(gb.dtypes.INT64), full(gb, [1])

    def body(k):
        if certain:
            s << nothing.reduce(gb.monoid.plus, allow_empty=False)
        t << A.mxv(x, gb.semiring.plus_second)
        t(gb.binary.plus) << s
        x << t
        if not certain:
            s << nothing.reduce(gb.monoid.plus)
        going << going.select(gb.select.valuelt, 1)

    Program(body, while_=going).run()
    assert dense(x) == [2, 3, 0 if certain else -99]
    assert filled or device == "cpu"  # where one round is run by its statements
    assert set(filled) <= {certain}


def test_scalars_of_sums_end_a_pass(device):
    """Statements that use sums are in the same pass, in their order, also if other statements read the old values."""
    x = gb.Vector.from_coo(np.arange(70), np.arange(70), dtype=INT64, size=70)
    a, b, c = (gb.Scalar.from_value(k, dtype=INT64) for k in (0, 3, 0))
    going, plus = gb.Scalar.from_value(True), gb.binary.plus

    def body(k):
        x(plus) << b
        a << x.reduce(gb.monoid.plus)
        b << a.apply(gb.binary.minus, right=5)
        c(plus) << b
        a << k
        b << c.apply(gb.binary.cdiv, right=1000)
        going << c.apply(gb.binary.lt, right=10**6)

    program = gb.loop.Program(body, while_=going)
    with gb.loop.at_once():
        rounds = program.run()
    values, old, sums = np.arange(70), 3, 0
    for _ in range(rounds):
        values = values + old
        sums += int(values.sum()) - 5
        old = sums // 1000
    assert rounds > 3 and sums >= 10**6
    assert (a.value, b.value, c.value, x.to_dense().tolist()) == (rounds - 1, old, sums, values.tolist())
    assert len(program.explain().launches) == 1
