"""Nested loops, statements under a condition, counts on the device, and several vectors as loop condition."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from test_loop_index import dense, full

import bitblas as gb
from bitblas.exceptions import CaptureError, IndexOutOfBound
from bitblas.loop import Program, if_, repeat

BOOL, INT64 = gb.dtypes.BOOL, gb.dtypes.INT64
# Plain loops on the CPU are slow tests.
in_emulator = pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])


def index(n):
    return full(gb, list(range(n)))


@in_emulator
@pytest.mark.in_turn
@pytest.mark.parametrize(
    "form", [{}, pytest.param({"format": "b2sr", "tile": 8}, marks=pytest.mark.slow)], ids=["csr", "b2sr8"]
)
def test_a_search_inside_a_round(device, turn, form):
    """Searches from one vertex after the other, each a loop of steps: of all lengths, so that frontiers end in each of
    their buffers; with the round of the loop around them."""
    graph = oracles.random(40, 50, 3, symmetric=True)
    A = gb.Matrix.from_coo(graph.rows, graph.cols, True, nrows=40, ncols=40, **form)
    far, reach, left = gb.Vector(INT64, 40), gb.Vector(INT64, 40), index(40)
    v, q, vertex = gb.Vector(INT64, 40), gb.Vector(BOOL, 40), index(40)

    def level(k):
        v(q.S) << k
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_pair[BOOL])

    def search(source):
        here = vertex.select(gb.select.valueeq, source).new()
        q(here.S, gb.replace) << True
        v(q.S, gb.replace) << 0
        repeat(level, while_=q)
        # far[source] = the largest level; reach[source] = how many
        far(here.S) << v.reduce(gb.monoid.max).new()
        reach(here.S) << v.nvals
        left << left.select(gb.select.valuegt, source)

    program = Program(search, while_=left)
    for _ in range(2):
        left << vertex
        assert program.run() == 40
        levels = [oracles.levels(graph, s) for s in range(40)]
        assert dense(far) == [max(found.values()) for found in levels]
        assert dense(reach) == [len(found) for found in levels]
    if device != "cpu":
        kinds = [line.kind for line in program.explain().launches]
        assert "block" in kinds
        assert "  advance" in kinds


@in_emulator
@pytest.mark.in_turn
def test_loops_in_loops_and_conditions(device, turn):
    """Rows of numbers: each loop counts how often it runs; a Scalar and a Vector decide."""
    x, y = full(gb, [3, 1, 0, 2]), full(gb, [0] * 4)
    total, odd, inner = gb.Scalar(INT64), gb.Scalar(INT64), gb.Vector(INT64, 4)
    total.value = odd.value = 0

    def down(j, k):
        y(inner.S, gb.binary.plus) << k  # the round around this one
        total(gb.binary.plus) << j
        inner << inner.apply(gb.binary.minus, right=1)
        inner << inner.select(gb.select.valuegt, 0)

    def body(k):
        inner << x.select(gb.select.valuegt, 0)
        repeat(lambda j: down(j, k), while_=inner)
        few = x.reduce(gb.monoid.plus).new().apply(gb.binary.le, right=3).new()

        def then():
            odd(gb.binary.plus) << k

        def else_():
            odd(gb.binary.plus) << 100

        if_(few, then, else_)
        if_(inner, lambda: y.__lshift__(-1))  # never
        x << x.apply(gb.binary.minus, right=1)
        x << x.select(gb.select.valuegt, 0)

    program = Program(body, while_=x)
    assert program.run() == 3
    # rounds: x = 3102, 2..1 (of 3, 2), 1
    assert dense(y) == [0 * 3 + 1 * 2 + 2 * 1, 0, 0, 0 * 2 + 1 * 1]
    assert total.value == (0 + 1 + 2) + (0 + 1) + 0
    assert odd.value == 100 + 1 + 2


@in_emulator
@pytest.mark.in_turn
def test_several_vectors_to_go_on_by(device, turn):
    a, b, log = full(gb, [2, 0, 1]), full(gb, [4, 3, 0]), full(gb, [0, 0, 0])
    made = gb.Scalar(INT64)

    def body(k):
        log(a.S, gb.binary.plus) << 1
        log(b.S, gb.binary.plus) << 10
        made << b.nvals
        for x in (a, b):
            x << x.apply(gb.binary.minus, right=1)
            x << x.select(gb.select.valuege, 0)

    program = Program(body, while_=(a, b))
    assert program.run() == 5
    assert dense(log) == [53, 41, 12]
    assert made.value == 1
    assert program.run() == 0
    a << full(gb, [1, 1, 1])
    rounds = gb.Scalar(INT64)
    once = full(gb, [1])

    def around(_):
        repeat(lambda k: (body(k), rounds.__lshift__(k)), while_=(b, a))
        once << once.select(gb.select.valuegt, 1)

    assert repeat(around, while_=once) == 1
    assert rounds.value == 1


@in_emulator
@pytest.mark.in_turn
def test_a_program_inside_a_body(device, turn):
    """begin and end of the inner one run in each round; a limit bounds it; a vector that only some rounds write keeps
    what it held."""
    x, kept, start = full(gb, [1, 2]), full(gb, [7, 7]), full(gb, [1, 1])
    seen = gb.Vector(INT64, 2)

    def begin():
        t = gb.Vector(INT64, 2)
        t << start
        return (t,)

    def inner(_, t):
        t << t.apply(gb.binary.times, right=2)
        x << x.apply(gb.binary.plus, right=0)

    def end(t):
        seen << t

    def body(k):
        Program(inner, while_=x, limit=3, begin=begin, end=end).run()
        if_(x.reduce(gb.monoid.plus).new().apply(gb.binary.gt, right=100), lambda: kept.__lshift__(0))
        x << x.apply(gb.binary.minus, right=1)
        x << x.select(gb.select.valuegt, 0)

    assert repeat(body, while_=x) == 2
    assert dense(seen) == [8, 8]
    assert dense(kept) == [7, 7]


@in_emulator
@pytest.mark.in_turn
def test_nothing_runs_where_the_loop_around_does_not(device, turn):
    x, y = gb.Vector(INT64, 3), full(gb, [1, 1, 1])

    def body(_):
        repeat(lambda k: y.__lshift__(y.select(gb.select.valuegt, 1)), while_=y)
        x << x.select(gb.select.valuegt, 0)

    assert repeat(body, while_=x) == 0
    assert dense(y) == [1, 1, 1]


@pytest.mark.off_cpu
def test_what_cannot_be_captured_inside(device):
    x, y = full(gb, [1, 1]), full(gb, [1, 1])

    def endless(_):
        repeat(lambda k: y.__lshift__(1), while_=x)
        x << x.select(gb.select.valuegt, 1)

    with pytest.raises(CaptureError, match=r"while .*never writes"):
        repeat(endless, while_=x)

    def asks(_):
        if_(x, lambda: bool(x.nvals))
        x << x.select(gb.select.valuegt, 1)

    with pytest.raises(CaptureError, match="reading a Scalar"):
        repeat(asks, while_=x)
    for wrong in (3, lambda: None):
        with pytest.raises(TypeError, match="condition: expected"):
            if_(wrong, lambda: None)
    with pytest.raises(TypeError, match="then: expected a function"):
        if_(x, 3)
    assert dense(x) == [1, 1]


def test_an_index_out_of_range_inside(device):
    """The error is raised when the run has ended; vectors are unchanged, and the loop ends."""
    x, p, going = full(gb, [0, 5]), full(gb, [1, 0]), full(gb, [1])

    def inner(_):
        p << p[x.to_dense()]

    def body(_):
        repeat(inner, while_=p)
        going << going.select(gb.select.valuegt, 1)

    with pytest.raises(IndexOutOfBound, match=None if device == "cpu" else "index=5"):
        repeat(body, while_=going)
    assert dense(p) == [1, 0]


@pytest.mark.slow
def test_a_random_body_of_blocks(device):
    """The same numbers as NumPy, for a loop whose inner loops end after different numbers of rounds."""
    rng = np.random.default_rng(5)
    n = 70
    start = rng.integers(1, 60, n)
    x, steps = full(gb, start.tolist()), full(gb, [0] * n)
    active = gb.Vector(INT64, n)

    def collatz(_):
        half = active.apply(gb.binary.floordiv, right=2).new()
        rest = gb.binary.minus(active & half.apply(gb.binary.times, right=2).new()).new()
        odd = rest.select(gb.select.valueeq, 1).new()
        more = active.apply(gb.binary.times, right=3).new()
        active << half
        active(odd.S) << more.apply(gb.binary.plus, right=1)
        steps(active.S, gb.binary.plus) << 1
        active << active.select(gb.select.valuegt, 1)

    def body(k):
        # the numbers of one residue after the other
        rest = gb.binary.floordiv(x & x).new()
        active << x.select(gb.select.valuele, rest.nvals)
        active << active.select(gb.select.valuegt, 1)
        repeat(collatz, while_=active, limit=30)
        x << x.select(gb.select.valuegt, rest.nvals)

    assert repeat(body, while_=x, limit=8) >= 1

    left, expected = start.astype(object), [0] * n
    held = set(range(n))
    for _ in range(8):
        if not held:
            break
        count = len(held)
        for i in [i for i in held if left[i] <= count]:
            value = left[i]
            for _ in range(30):
                if value <= 1:
                    break
                value = 3 * value + 1 if value % 2 else value // 2
                expected[i] += 1
        held = {i for i in held if left[i] > count}
    assert dense(steps) == expected


@in_emulator
@pytest.mark.in_turn
def test_vectors_that_a_body_makes_are_new_in_each_round(device, turn):
    """Empty ones, full ones and copies: nothing of the round before is left in them."""
    x, out, ones, at = full(gb, [1, 2, 3]), full(gb, [0, 0, 0]), full(gb, [0, 0, 0]), full(gb, [0, 1, 2])

    def body(k):
        here = at.select(gb.select.valueeq, k).new()
        t = gb.Vector(INT64, 3)
        t(here.S) << 1
        u = gb.Vector.from_scalar(5, 3)
        u(here.S) << 6
        same = gb.Vector.from_scalar(7, 3)
        out(gb.binary.plus) << t
        ones(gb.binary.plus) << u
        out(gb.binary.plus) << same
        x << x.apply(gb.binary.minus, right=1)
        x << x.select(gb.select.valuegt, 0)

    assert repeat(body, while_=x) == 3
    assert dense(out) == [22, 22, 22]
    assert dense(ones) == [16, 16, 16]
