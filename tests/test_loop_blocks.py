"""Bodies of many statements: nested loops, statements under a condition, counts on the device, copies and clearing,
several vectors as loop condition; and algorithms that are programs with loops inside."""

import runpy
from pathlib import Path

import numpy as np
import oracles
import pytest
from scipy.sparse import csgraph
from test_loop import BOOL, INT64, count_down, dense, entries, full, in_emulator, levels_program

import bitblas as gb
import bitblas.loop.gpu.build as builds
from bitblas.algorithms import (
    coloring,
    maximal_independent_set,
    minimum_spanning_forest,
    strongly_connected_components,
)  # fmt: skip
from bitblas.exceptions import CaptureError, IndexOutOfBound
from bitblas.loop import Program, if_, repeat


@in_emulator
@pytest.mark.parametrize(
    "form", [{}, pytest.param({"format": "b2sr", "tile": 8}, marks=pytest.mark.slow)], ids=["csr", "b2sr8"]
)
def test_a_search_inside_a_round(device, turn, form):
    """Searches from one vertex after the other, each a loop of steps: of all lengths, so that frontiers end in each of
    their buffers; with the round of the loop around them."""
    graph = oracles.random(40, 50, 3, symmetric=True)
    A = gb.Matrix.from_coo(graph.rows, graph.cols, True, nrows=40, ncols=40, **form)
    far, reach, left = gb.Vector(INT64, 40), gb.Vector(INT64, 40), full(gb, range(40))
    v, q, vertex = gb.Vector(INT64, 40), gb.Vector(BOOL, 40), full(gb, range(40))
    level = levels_program(A, v, q).body

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
        assert {"block", "  advance"} <= {line.kind for line in program.explain().launches}


@in_emulator
def test_loops_in_loops_and_conditions(device, turn):
    """Rows of numbers: each loop counts how often it runs; a Scalar and a Vector decide."""
    x, y = full(gb, [3, 1, 0, 2]), full(gb, [0] * 4)
    total, odd, inner = gb.Scalar(INT64), gb.Scalar(INT64), gb.Vector(INT64, 4)
    total.value = odd.value = 0

    def down(j, k):
        y(inner.S, gb.binary.plus) << k  # the round around this one
        total(gb.binary.plus) << j
        count_down(inner)

    def body(k):
        inner << x.select(gb.select.valuegt, 0)
        repeat(lambda j: down(j, k), while_=inner)
        few = x.reduce(gb.monoid.plus).new().apply(gb.binary.le, right=3).new()

        if_(few, lambda: odd(gb.binary.plus) << k, lambda: odd(gb.binary.plus) << 100)
        if_(inner, lambda: y.__lshift__(-1))  # never
        count_down(x)

    program = Program(body, while_=x)
    assert program.run() == 3
    # rounds: x = 3102, 2..1 (of 3, 2), 1
    assert dense(y) == [0 * 3 + 1 * 2 + 2 * 1, 0, 0, 0 * 2 + 1 * 1]
    assert total.value == (0 + 1 + 2) + (0 + 1) + 0
    assert odd.value == 100 + 1 + 2


@in_emulator
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
        count_down(x)

    assert repeat(body, while_=x) == 2
    assert dense(seen) == [8, 8]
    assert dense(kept) == [7, 7]


@in_emulator
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

    left, expected = dict(enumerate(start.tolist())), [0] * n
    for _ in range(8):
        count = len(left)
        for i, value in [(i, value) for i, value in left.items() if value <= count]:
            while value > 1 and expected[i] < 30:  # no number has two turns
                value = 3 * value + 1 if value % 2 else value // 2
                expected[i] += 1
            del left[i]
    assert dense(steps) == expected


@in_emulator
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
        count_down(x)

    assert repeat(body, while_=x) == 3
    assert dense(out) == [22, 22, 22]
    assert dense(ones) == [16, 16, 16]


# ---- many statements, copies and what is cleared, algorithms --------------------------------------------------------


@pytest.mark.off_cpu  # test_vertex_sets.py has the CPU's
@pytest.mark.slow
def test_sets_colors_and_forests_on_the_device(device):
    """Programs with nested loops; results equal those of the CPU, also if the matrix has another order."""
    clique = [(i, j) for i in range(70) for j in range(i)]
    sparse = oracles.random(90, 120, 1, symmetric=True)
    edges = [*clique, *((70 + i, 70 + j) for i, j in zip(sparse.rows.tolist(), sparse.cols.tolist(), strict=True))]
    graph = oracles.Graph.of(170, edges, symmetric=True)
    weights = graph.symmetric_integers(1, 9)
    A = gb.Matrix.from_coo(graph.rows, graph.cols, weights.astype(np.float32), nrows=170, ncols=170)
    B = A.reorder(np.random.default_rng(1).permutation(170))
    colors, members = oracles.greedy_colors(graph, 2), oracles.greedy_independent(graph, 2)
    _, total = oracles.forest(graph, weights)
    for M in (A, B):
        assert set(entries(maximal_independent_set(M, seed=2))[0].tolist()) == members
        assert dict(enumerate(dense(coloring(M, seed=2)))) == colors
        F = minimum_spanning_forest(M)
        assert F.reduce_scalar(gb.monoid.plus).new().value == 2 * total
        assert F.nvals == 2 * (170 - len(set(oracles.components(graph).tolist())))


@pytest.mark.slow
def test_strong_components_on_the_device(device):
    """Four loops inside a round, two of them of values: SciPy's labels, also in another order."""
    graph = oracles.random(60, 80, 4)
    A = gb.Matrix.from_coo(graph.rows, graph.cols, True, nrows=60, ncols=60)
    _, found = csgraph.connected_components(graph.scipy(), connection="strong")
    smallest = [int(np.flatnonzero(found == c)[0]) for c in found]
    for M in (A, A.reorder(np.random.default_rng(1).permutation(60)), A):
        assert dense(strongly_connected_components(M)) == smallest


@in_emulator
def test_copies_and_what_is_cleared(device, turn):
    """dup, clear and Scalar.value are statements of the body: they happen in each round, and not once, while it is
    written down."""
    x, log, sum_ = full(gb, [3, 2, 1]), full(gb, [0, 0, 0]), gb.Scalar(INT64)

    def body(k):
        t = x.dup(gb.dtypes.FP64)
        log(gb.binary.plus) << t
        sum_.value = k
        x.clear()
        x(t.S) << t.apply(gb.binary.minus, right=1)
        x << x.select(gb.select.valuegt, 0)

    assert repeat(body, while_=x) == 3
    assert (dense(log), sum_.value) == ([6, 3, 1], 2)
    if device != "cpu":
        x << 1
        with pytest.raises(CaptureError, match=r"clear\(\)"):
            repeat(lambda k: (body(k), sum_.clear()), while_=x)


@pytest.mark.slow
def test_more_statements_than_a_kernel_takes(device, monkeypatch, tune):
    """They become several kernels; the error names a statement that cannot be split."""
    tune({"loop.kernel_names": 4, "loop.kernel_sums": 1})
    x = [full(gb, [k, 10 + k]) for k in range(6)]
    sums = [gb.Scalar(INT64) for _ in x]
    going = full(gb, [2, 2])

    def body(k):
        for a, b, s in zip(x, x[1:], sums, strict=False):
            t = gb.binary.plus(a & b).new()
            b << t.apply(gb.binary.plus, right=k)
            s << b.reduce(gb.monoid.plus)
        count_down(going)

    program = Program(body, while_=going)
    assert program.run() == 2
    rows = np.array([[k, 10 + k] for k in range(6)])
    for k in range(2):
        for i in range(5):
            rows[i + 1] += rows[i] + k
    assert [dense(v) for v in x] == rows.tolist()
    assert [s.value for s in sums[:5]] == rows[1:].sum(axis=1).tolist()
    if device != "cpu":
        assert sum(line.kind == "ewise" for line in program.explain().launches) >= 5
        monkeypatch.setattr(builds, "MOST_ARGUMENTS", 5)
        with pytest.raises(CaptureError, match=r"would take \d+ arguments"):
            Program(body, while_=going).run()


def test_a_scalar_in_place_of_missing_entries(device, tune):
    """A Scalar of the body as a default of a union, which rounds on a device read there."""
    tune({"loop.tier_up_seconds": 0, "loop.compile_seconds": 0})
    going, x, s = full(gb, [3, 2]), gb.Vector.from_coo([1], [10], size=2), gb.Scalar.from_value(5)
    y = gb.Vector(INT64, 2)

    def body(_):
        y << x.ewise_union(going, gb.binary.plus, s, 0)
        s << s.apply(gb.binary.plus, right=1)
        count_down(going)

    program = Program(body, while_=going)
    assert program.run() == 3 and program.explain().launches
    assert y.to_coo()[1].tolist() == [7 + 1, 10] and s.value == 8


def test_a_changed_threshold_builds_the_rounds_again(device, tune):
    """Kernels that were chosen by rows of the tuning table do not run after these have changed."""
    tune({"loop.tier_up_seconds": 0, "loop.compile_seconds": 0})
    going = full(gb, [3, 2])

    program = Program(lambda _: count_down(going), while_=going)
    built = lambda: (program._captured or program._tier_up.rounds).build
    assert program.run() == 3
    first = built()
    going[0] = 1
    assert program.run() == 1 and built() is first
    tune({"loop.kernel_statements": 1})
    going[0] = 1
    assert program.run() == 1 and built() is not first


@pytest.mark.slow
def test_thirty_products_in_a_round(device):
    """More states of frontiers than one block of the last kernel has threads."""
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=4, ncols=4)
    q = [gb.Vector(BOOL, 4) for _ in range(30)]
    q[0][0] = True

    def body(_):
        for x, y in zip(q, [*q[1:], q[0]], strict=True):
            y << x.vxm(A, gb.semiring.any_pair[BOOL])

    assert repeat(body, while_=q[0]) == 1
    assert [x.nvals for x in q[1:5]] == [1, 1, 1, 0]


@pytest.mark.slow
def test_the_example_of_an_own_loop(device):
    """Its assertions hold on every device, and with python-graphblas."""
    pytest.importorskip("graphblas")
    runpy.run_path(str(Path(__file__).parents[1] / "examples" / "own_loop.py"))
