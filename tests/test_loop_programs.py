"""Bodies of many statements, copies and clearing inside them, and algorithms that are programs with loops inside."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import oracles
import pytest
from scipy.sparse import csgraph
from test_loop_index import dense, full

import bitblas as gb
import bitblas.loop.gpu.build as builds
from bitblas.algorithms import (
    coloring,
    maximal_independent_set,
    minimum_spanning_forest,
    strongly_connected_components,
)  # fmt: skip
from bitblas.exceptions import CaptureError
from bitblas.loop import Program, repeat

BOOL, INT64 = gb.dtypes.BOOL, gb.dtypes.INT64
# Plain loops on the CPU are slow tests.
in_emulator = pytest.mark.parametrize("turn", [{"device": "emulator"}], ids=["emulator"])


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
        assert set(maximal_independent_set(M, seed=2).to_coo()[0].tolist()) == members
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
@pytest.mark.in_turn
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
    assert dense(log) == [6, 3, 1]
    assert sum_.value == 2
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
        going << going.apply(gb.binary.minus, right=1)
        going << going.select(gb.select.valuegt, 0)

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
        going << going.apply(gb.binary.minus, right=1)
        going << going.select(gb.select.valuegt, 0)

    program = Program(body, while_=going)
    assert program.run() == 3 and program.explain().launches
    assert y.to_coo()[1].tolist() == [7 + 1, 10] and s.value == 8


def test_a_changed_threshold_builds_the_rounds_again(device, tune):
    """Kernels that were chosen by rows of the tuning table do not run after these have changed."""
    tune({"loop.tier_up_seconds": 0, "loop.compile_seconds": 0})
    going = full(gb, [3, 2])

    def body(_):
        going << going.apply(gb.binary.minus, right=1)
        going << going.select(gb.select.valuegt, 0)

    program = Program(body, while_=going)
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
