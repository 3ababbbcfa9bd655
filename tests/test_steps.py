"""Advances of loops along each structure: undirected graphs, a Split against its edges, near entries of its rest."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import oracles
import pytest
import test_loop
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from test_loop import BOOL, INT64, entries, graph, options, oracle_levels
from test_small_rounds import assert_distances
from test_split import with_near

import bitblas as gb
from bitblas import device as devices
from bitblas import tuning
from bitblas.loop import Program
from bitblas.loop.buffers import ENTRIES, LIST_LENGTH, REMAINING, SEGMENTS, STATE, WORK
from bitblas.loop.fuse import Advance, FusedElementwise, Pull, Round, indirect_targets
from bitblas.loop.gpu.graph import rounds_per_run
from bitblas.loop.gpu.products import compact_variant
from bitblas.loop.ir import Product, Statement, Vec
from bitblas.store import pack


@pytest.mark.parametrize("form", [("b2sr", 8), ("split", 8)])
def test_components(device, form):
    """The lowest number in each component spreads. An undirected graph is pushed along as stored."""
    A = graph(m=60, symmetric=True, **options(form))
    n = A.nrows
    label = gb.Vector.from_coo(range(n), range(n), size=n, dtype=INT64)
    q, worse = label.dup(), gb.Vector(BOOL, n)

    def body(_):
        q << A.mxv(q, gb.semiring.min_second[INT64])
        worse << gb.binary.ge(q & label)
        q(~worse.V, gb.replace) << q
        label(q.S) << q

    program = Program(body, while_=q)
    assert program.run() > 2
    lowest = oracles.components(oracles.Graph.of(n, zip(*entries(A)[:2])))
    assert 3 < len(set(lowest)) < n / 2
    assert entries(label)[1].tolist() == lowest.tolist()
    if device != "cpu":
        assert "advance" in [launch.kind for launch in program.explain().launches]


def test_a_split_is_turned_to_be_pushed_along(device):
    """A loop against the edges makes the transpose, once; it is kept and counted, and nothing else is."""
    A = graph(format="split", tile=8)
    n = A.nrows
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    q[149] = True

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << A.mxv(q, gb.semiring.any_pair[BOOL])

    program = Program(body, while_=q)
    program.run()
    assert dict(zip(*entries(v))) == oracle_levels(A.T.new(), 149)
    if device != "cpu":
        assert [launch.kind for launch in program.explain().launches] == ["advance"]
        assert list(A.memory().forms) == ["split8", "split8.T"]


@pytest.mark.parametrize("bits", [1, 3])
def test_loops_step_through_near_entries(device, bits, monkeypatch):
    with_near(monkeypatch, bits)
    form = graph(format="split", tile=8)._store.structure.primary
    assert form.parts == 3 and min(form.tiles, form.in_near, form.in_rest - form.in_near) > 0
    test_loop.test_breadth_first_levels(device, ("split", 8))
    test_loop.test_shortest_paths(device, ("split", 8), INT64)


def test_a_body_of_many_steps(device):
    """More states than one block has threads for: every frontier finds its own again after each run of the body."""
    n, many = 64, 30
    A = gb.Matrix.from_coo(range(n - 1), range(1, n), True, nrows=n, ncols=n)
    frontiers = [gb.Vector.from_coo([k], True, size=n) for k in (*range(many), n - 8)]

    def body(_):
        for q in frontiers:
            q << q.vxm(A, gb.semiring.any_pair[BOOL])

    program = Program(body, while_=frontiers[-1])
    assert program.run() == 8
    assert [entries(q)[0].tolist() for q in frontiers] == [[k + 8] for k in range(many)] + [[]]
    if device != "cpu":
        assert [launch.kind for launch in program.explain().launches] == ["advance"] * (many + 1)


def test_vectors_that_passes_write_before_steps(device):
    """In each round: no round reads what an element-wise kernel wrote into a buffer two rounds before."""
    n, inner, rounds = 200, 50, 7
    parent, values = (np.arange(1, n) - 1) // 4, 1 + np.arange(inner, n) % 7
    A = gb.Matrix.from_coo(parent, np.arange(1, n), True, nrows=n, ncols=n)
    leaves, w, sums = gb.Vector.from_coo(range(inner, n), values, size=n), gb.Vector(INT64, n), gb.Vector(INT64, n)
    groups, left = gb.Vector.from_coo(range(inner), True, size=n), gb.Vector.from_coo([0], rounds, size=n)

    def body(_):
        w << leaves
        sums(gb.binary.plus) << w
        w(groups.S, gb.replace) << A.mxv(w, gb.semiring.plus_second[INT64])
        sums(gb.binary.plus) << w
        left << left.apply(gb.binary.minus, right=1)
        left << left.select(gb.select.valuegt, 0)

    program = Program(body, while_=left)
    assert program.run() == rounds
    right = np.bincount(parent[inner - 1 :], values, minlength=n)
    right[inner:] = values
    places, found = entries(sums)
    assert np.array_equal(places, np.flatnonzero(right)) and np.array_equal(found, rounds * right[places])
    if device != "cpu":
        assert "advance" in [launch.kind for launch in program.explain().launches]


def test_launches_are_as_large_as_the_device(device, monkeypatch):
    """A GPU of one multiprocessor gets four blocks, which loop over the rest, and sums have four parts."""
    if device != "emulator":
        pytest.skip("a GPU has the multiprocessors that it has")
    monkeypatch.setattr(type(devices.get(device)), "multiprocessors", 1)
    n = 3000
    A = gb.Matrix.from_coo(range(n - 1), range(1, n), True, nrows=n, ncols=n)
    x, q = gb.Vector.from_coo(range(n), range(n), size=n), gb.Vector.from_coo(range(0, n, 2), True, size=n)
    total = gb.Scalar(INT64)

    def body(_):
        x(q.S) << 1
        total << x.reduce(gb.monoid.plus)
        q << q.vxm(A, gb.semiring.any_pair[BOOL])

    program = Program(body, while_=q, limit=1)
    program.run()
    assert program._captured.build.grid(n) == 4
    assert total.value == n // 2 + sum(range(1, n, 2))
    assert entries(q)[0].tolist() == list(range(1, n, 2))


@pytest.mark.parametrize("form", ["csr", "nib"])
def test_entries_that_nobody_has_listed(device, form, monkeypatch):
    """A warp finds more of them in its words than it has lanes, and goes through all."""
    if device == "cpu":
        pytest.skip("steps of GPUs")
    monkeypatch.setattr(type(devices.get(device)), "multiprocessors", 1)
    n = 2600
    A = gb.Matrix.from_coo(range(n - 1), range(1, n), np.arange(1, n), nrows=n, ncols=n, format=form)
    d, odd = gb.Vector.from_coo(range(n), range(n), size=n), gb.Vector.from_coo(range(1, n, 2), True, size=n)
    near, t = gb.Vector(INT64, n), gb.Vector.from_coo([0], 0, size=n)

    def body(_):
        near(~odd.S, gb.replace) << d
        t << near.vxm(A, gb.semiring.min_plus[INT64])

    program = Program(body, while_=t, limit=1)
    program.run()
    assert dict(zip(*entries(t))) == {k + 1: 2 * k + 1 for k in range(0, n, 2)}
    (advance,) = (launch.variant for launch in program.explain().launches if launch.kind == "advance")
    assert "SCANS=1" in advance and "COUNTS_WORK=0" in advance


def test_advances_of_one_target_share_cells_only_with_one_monoid():
    """Cells are cleared to the identity of the sum: advances with two monoids write by other kernels."""
    t, x = Vec(0, 64, INT64), Vec(1, 64, INT64)
    matrix = SimpleNamespace(nvals=511, nrows=64)

    def advance(name):
        return Statement(t, Product(matrix, x, gb.semiring[name][INT64], False, True, 64))

    every = lambda s: True
    assert indirect_targets([advance("min_plus"), advance("min_second")], every, every) == frozenset()
    assert indirect_targets([advance("min_plus"), advance("max_plus")], every, every) == {t}


def test_rounds_in_a_body():
    """Rounds after the end cost a launch each: of loops inside a round there are few before it. Short rounds that
    cannot be skipped are captured four times."""
    x = Vec(0, 64, BOOL)
    product = Product(SimpleNamespace(nvals=511, nrows=64), x, gb.semiring.any_pair[BOOL], False, True, 64)
    round_ = Round((Advance(x, product, None, (), False, ""),), (x,), {})
    assert [rounds_per_run(round_, captures) for captures in (True, False)] == [9, 3]
    assert rounds_per_run(Round((FusedElementwise(),), (x,), {}), True, inside=True) == 3
    brief = tuning.count("loop.pulled_entries")
    for nvals, copies in ((brief, 4), (brief + 1, 1)):
        pull = Pull(x, replace(product, matrix=SimpleNamespace(nvals=nvals)), None, "")
        assert rounds_per_run(Round((pull,), (x,), {}), True) == copies


@pytest.mark.parametrize("form", ["csr", *(pytest.param(x, marks=pytest.mark.slow) for x in ("mplg", "nib"))])
def test_rows_of_all_lengths(device, form):
    """Many entries of u pull: late entries of a row are found, in a long row by a warp, in others by a few lanes.
    Few push: long rows are cut, other rows are traversed whole."""
    n, hub, far, source = 700, 650, 660, 690
    ends = [(hub, 0), (far, 500), (source, 550)]
    rows, cols = np.array([(i, k) for i, first in ends for k in range(first, 599)]).T
    rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    weights = 1.0 + (rows * cols) % 7
    A = gb.Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n, dtype=gb.dtypes.FP32, format=form)
    levels = oracle_levels(A, source)
    assert (levels[560], levels[hub], levels[far], levels[3]) == (1, 2, 2, 3)
    assert dict(zip(*entries(gb.algorithms.bfs_levels(A, source)))) == levels
    for v, parent in zip(*entries(gb.algorithms.bfs_parents(A, source))):
        assert v == parent == source or (levels[parent] + 1 == levels[v] and ((rows == parent) & (cols == v)).any())

    assert_distances(gb.algorithms.sssp(A, hub), A, hub)


@pytest.mark.usefixtures("emulator")
@pytest.mark.parametrize("most", [None, 5000])
@pytest.mark.parametrize("density", [0.0, 0.002, 0.1, 0.5, 1.0])
def test_every_entry_of_a_vector_is_listed_once(density, most):
    """With few warps, so that each has many entries and takes their places together; long rows are cut. With more work
    than `most`, or many entries, no list is needed: entries are counted but not all listed."""
    device, n, longest, rng = devices.get("emulator"), 9000, 40, np.random.default_rng(5)
    flags = rng.random(n) < density
    length = np.where(rng.random(n) < 0.01, rng.integers(41, 130, n), rng.integers(0, 9, n))
    ptr = np.append(0, np.cumsum(length)).astype(np.int32)
    listed, state = np.full(n, n, np.uint32), np.zeros(STATE, np.uint64)
    cut = np.zeros((int((-(-length // longest)).sum()), 2), np.uint32)
    launch = device.load(compact_variant(1, 1, gb.dtypes.INT32))
    head = np.int64(n), np.int64(n), np.int64(longest), np.uint64(most or np.iinfo(np.uint64).max)
    launch((2,), (256,), (*head, pack(device, flags), ptr, listed, state, cut))
    here = np.flatnonzero(flags)
    if most is not None and (length[here].sum() > most or 16 * len(here) > n):
        assert state[ENTRIES] == len(here) and state[LIST_LENGTH] <= len(here)
        assert state[WORK] > most or density < 0.5
        assert state[LIST_LENGTH] < len(here) or density < 1
        return
    assert state[[ENTRIES, LIST_LENGTH, REMAINING]].tolist() == [len(here)] * 3 and state[WORK] == length[here].sum()
    assert np.array_equal(np.sort(listed[: len(here)]), here) and (listed[len(here) :] == n).all()
    long = [(i, s) for i in here[length[here] > longest].tolist() for s in range(-(-length[i] // longest))]
    assert sorted(map(tuple, cut[: int(state[SEGMENTS])].tolist())) == long


@pytest.mark.parametrize("form", ["csr", "mplg"])
@pytest.mark.parametrize("verb", ["any_pair", "any_second"])
def test_rows_that_wait(device, form, verb):
    """A pull in which a long row without a hit waits for the whole block, others for their warp, and some have an entry
    in the column that most rows have."""
    rng, leaves, crowd = np.random.default_rng(3), 1500, 300  # of two hubs; where the search begins
    n = leaves + 2 + crowd
    dense = leaves + 2 + rng.integers(0, crowd, (2, 40 * crowd))
    near, far = leaves, leaves + 1  # one hub's last neighbor is of the crowd, the other's is a leaf alone
    rows = [*dense[0], *range(leaves), *range(leaves), near]
    cols = [*dense[1], *([near] * leaves), *([far] * leaves), n - 1]
    both = np.array([rows + cols, cols + rows])
    both = np.unique(both[:, both[0] != both[1]], axis=1)
    A = gb.Matrix.from_coo(*both, both[0].astype(np.int64), nrows=n, ncols=n, format=form)
    v, q = gb.Vector(INT64, n), gb.Vector(INT64 if verb == "any_second" else BOOL, n)
    found = gb.Vector(INT64, n)
    source = n - 2
    q[source] = source
    by = gb.semiring.any_second[INT64] if verb == "any_second" else gb.semiring.any_pair[BOOL]

    def body(level):
        v(q.S) << level
        found(q.S) << q
        q(~v.S, gb.replace) << q.vxm(A, by)

    Program(body, while_=q).run()
    level = dict(zip(*entries(v)))
    assert level == oracle_levels(A, source) and len(level) == n
    if verb == "any_second":  # A[k, j] is k, over which j was found
        over, edges = dict(zip(*entries(found))), set(zip(*both.tolist()))
        assert all(level[k] + 1 == level[j] and (k, j) in edges for j, k in over.items() if j != source)


@pytest.mark.in_turn
@pytest.mark.parametrize("n", [20, 700, 3001, 40000])  # of which a warp has one, some, more than it has lanes, and many
@pytest.mark.parametrize("form", ["csr", "mplg", "nib", "cgr"])
def test_pulls_of_few_and_of_many_rows(device, form, n, monkeypatch):
    if device == "cpu":
        pytest.skip("steps of GPUs")
    if device == "emulator":
        monkeypatch.setattr(type(devices.get(device)), "multiprocessors", 1)
    else:  # a GPU has the multiprocessors that it has, and warps with many rows only of more
        n *= 16
    r = np.random.default_rng(n)
    near, far = r.integers(0, max(2, 4 * n // 5), (2, 2 * n))  # vertices behind them have no edges
    hub = np.arange(0, n // 2)
    i, j = np.r_[near, hub, far, np.full(len(hub), 3)], np.r_[far, np.full(len(hub), 3), near, hub]
    i, j = np.divmod(np.unique((i * n + j)[i != j]), n)
    A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format=form)
    for source in (1, n // 2 + 1):
        level = dijkstra(csr_array((np.ones(len(i)), (i, j)), shape=(n, n)), indices=source, unweighted=True)
        reached = np.flatnonzero(np.isfinite(level))
        at, found = entries(gb.algorithms.bfs_levels(A, source))
        assert np.array_equal(at, reached) and np.array_equal(found, level[reached])
        at, parent = entries(gb.algorithms.bfs_parents(A, source))
        assert np.array_equal(at, reached)
        later = at != source
        assert np.isin(parent[later] * n + at[later], i * n + j).all()
        assert np.array_equal(level[parent[later]], level[at[later]] - 1) and parent[~later] == source
