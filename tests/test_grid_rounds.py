"""All rounds of a search in one launch of the grid: pushes by chunks of rows, pulls, and lists without room."""

import numpy as np
import oracles
import pytest
from test_loop import BOOL, INT64, by_index, entries, levels_program, oracle, oracle_levels

import bitblas as gb
from bitblas.loop import Program

pytestmark = pytest.mark.off_cpu  # which has no grid


def hubs(n=700, seed=3, path=9, **form):
    """Three hubs with many neighbours, random edges, a path, and vertices without edges; edges go both ways."""
    rng = np.random.default_rng(seed)
    hub = np.repeat([5, 64, 300], n // 3)
    rows = np.concatenate([hub, rng.integers(0, n - 40, n), np.arange(n - path - 1, n - 1), [7]])
    cols = np.concatenate(
        [rng.integers(0, n - 40, len(hub)), rng.integers(0, n - 40, n), np.arange(n - path, n), [n - path - 1]]
    )
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    return gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n, format="csr", **form)


@pytest.fixture
def skewed(device, tune):
    """Rows of more than 32 entries are long; blocks and lists are small."""
    tune({"loop.segment_entries": 32, "grid.chunk": 4, "grid.staged": 16, "grid.threads_small": 64})


def one_launch(program):
    build = program._captured.build
    return build.at_once is not None and not build.launches


# How readily rounds pull. Some lists have no room even for those that push, and pull.
CASES = {"pull": {"grid.pull_entries": 0}, "push": {"grid.pull_row_entries": 1000}}


@pytest.mark.parametrize("case", CASES)
def test_levels_and_parents(device, skewed, case, tune):
    """From a hub, a leaf of the path, and a vertex without edges."""
    tune(CASES[case])
    A = hubs()
    n = A.nrows
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    p, s = gb.Vector(INT64, n), gb.Vector(INT64, n)

    def body(_):
        p(s.S) << s
        s(~p.S, gb.replace) << s.vxm(A, gb.semiring.ss.any_secondi)

    levels, parents = levels_program(A, v, q), Program(body, while_=s)
    for source in (5, n - 1, n - 30):
        for x in (v, q, p, s):
            x.clear()
        q[source], s[source] = True, source
        expected = oracle_levels(A, source)
        assert levels.run() == max(expected.values()) + 1 == parents.run()
        assert by_index(v) == expected and q.nvals == 0
        assert oracles.parents_fault(oracle(A), source, by_index(p)) is None
    assert one_launch(levels) and one_launch(parents)
    told = levels.explain()
    assert "one launch" in str(told) and told.launches[0].variant.startswith("formats/csr/grid_rounds")


@pytest.mark.parametrize("steps", (1, 2, 4))
def test_a_limit_leaves_the_frontier(device, skewed, steps):
    """Three buffers turn: after any number of rounds the frontier is found, and the next run goes on with it."""
    A = hubs(seed=1)
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(INT64, A.nrows)
    q[A.nrows - 1] = 7

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_first[INT64])

    program, level = Program(body, while_=q, limit=steps), oracle_levels(A, A.nrows - 1)
    for turn in range(1, 4):
        assert program.run() == steps
        assert by_index(q) == {i: 7 for i, k in level.items() if k == turn * steps}
    assert one_launch(program) and set(entries(v)[0].tolist()) == {i for i, k in level.items() if k < 3 * steps}


def test_directed_edges_without_a_transpose(device, skewed):
    """Nothing pulls, and no edge leads back; several sources."""
    rng, n = np.random.default_rng(0), 400
    rows, cols = np.concatenate([rng.integers(0, n, 500), np.full(90, 9)]), rng.integers(0, n, 590)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, format="csr")
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    program = levels_program(A, v, q)
    q[[3, 9, 200]] << True
    program.run()
    each = [oracle_levels(A, source) for source in (3, 9, 200)]
    assert by_index(v) == {i: min(x[i] for x in each if i in x) for i in set().union(*each)}
    assert one_launch(program)
