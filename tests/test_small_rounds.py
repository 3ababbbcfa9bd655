"""Small rounds inside one cluster: what they hand over to the grid's kernels and take back, and what they cannot run."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop import BOOL, FORMS, FP64, INT64, entries, graph, levels_program, options, oracle_levels

import bitblas as gb
from bitblas import device as devices
from bitblas.loop import Program, small

HANDED = (FORMS[0], FORMS[1], FORMS[2], FORMS[5], FORMS[-1])  # rows, tiles whose units share words or have two, a Split


def mesh(k=20, weights=None, **form):
    """k x k points with their neighbours, and a hub that two far corners lead to: frontiers grow, shrink, and grow again."""
    i = np.arange(k * k).reshape(k, k)
    rows = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
    cols = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    values = True if weights is None else np.random.default_rng(0).integers(1, 9, len(rows)).astype(weights)
    return gb.Matrix.from_coo(rows, cols, values, nrows=k * k, ncols=k * k, **form)


def in_cluster(program):
    """Rounds of the last run that a cluster did."""
    return int(program._captured.build.rounds[4])


@pytest.fixture
def clusters(device):
    if devices.get(device).cluster is None:
        pytest.skip("the device has no clusters")


@pytest.mark.parametrize("most", [4, 10, 8192])
@pytest.mark.parametrize("form", HANDED)
def test_levels_go_back_and_forth(device, clusters, form, most, monkeypatch):
    """The frontier of a mesh passes any limit and comes back; wherever a cluster stops, the grid goes on."""
    monkeypatch.setattr(small, "MOST_UNITS", most)
    A = mesh(**options(form))
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program = levels_program(A, v, q)
    seen = set()
    for source in (0, 210, 399):
        v.clear()
        q.clear()
        q[source] = True
        rounds = program.run()
        expected = oracle_levels(A, source)
        assert dict(zip(*entries(v))) == expected
        assert rounds == max(expected.values()) + 1
        seen.add("all" if in_cluster(program) == rounds else "none" if not in_cluster(program) else "some")
    units = A.nrows if form[1] is None else A.nrows // form[1]
    assert seen == ({"all"} if most > units else {"some"})


@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize("most", [12, 8192])
def test_lowest_parents(device, clusters, form, most, monkeypatch):
    """Values that several entries are joined in go along, whichever buffer they stand in."""
    monkeypatch.setattr(small, "MOST_UNITS", most)
    A = mesh(**options(form))
    n = A.nrows
    p, q = gb.Vector(INT64, n), gb.Vector(INT64, n)

    def body(_):
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.min_secondi)

    program = Program(body, while_=q)
    rows, cols, _ = entries(A)
    for source in (0, 210):
        p.clear()
        q.clear()
        q[source] = source
        program.run()
        level = oracle_levels(A, source)
        expected = {source: source}
        for child in set(level) - {source}:
            expected[child] = min(int(r) for r in rows[cols == child] if level[int(r)] == level[child] - 1)
        assert dict(zip(*entries(p))) == expected
        assert in_cluster(program) > 0


def distances(A, source):
    """Of shortest paths, by SciPy; inf where there is none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    rows, cols, values = entries(A)
    return dijkstra(csr_array((values.astype(float), (rows, cols)), shape=(A.nrows, A.nrows)), indices=source)


@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize(("dtype", "most"), [(FP64, 8192), (FP64, 60), (INT64, 30)])
def test_shortest_paths_by_lists(device, clusters, form, dtype, most, monkeypatch):
    """Passes look at the places on a list; when it grows long the grid goes on, with sums and cells as they are."""
    monkeypatch.setattr(small, "MOST_UNITS", most)
    A = mesh(weights=dtype.np_type, **options(form))
    n = A.nrows
    d, q, near, t = (gb.Vector(dtype, n) for _ in range(4))
    worse, nearest, far = gb.Vector(BOOL, n), gb.Scalar(dtype), gb.Scalar(dtype)

    def body(_):
        far << nearest.apply(gb.binary.plus, right=4)
        near << q.select(gb.select.valuele, far)
        q(~near.S, gb.replace) << q
        t << near.vxm(A, gb.semiring.min_plus[dtype])
        worse << gb.binary.ge(t & d)
        t(~worse.V, gb.replace) << t
        d(t.S) << t
        q(t.S) << t
        nearest << q.reduce(gb.monoid.min, allow_empty=False)

    program = Program(body, while_=q)
    for source in (0, 210):
        for x in (d, q):
            x.clear()
            x[source] = 0
        nearest.value = 0
        rounds = program.run()
        found = np.full(n, np.inf)
        where, what = entries(d)
        found[where] = what
        np.testing.assert_array_equal(found, distances(A, source))
        assert q.nvals == t.nvals == 0
        assert nearest.is_empty or nearest.value == np.inf or dtype == INT64
        assert 0 < in_cluster(program) <= rounds
        assert most < 8192 or device == "emulator" or in_cluster(program) == rounds


@pytest.mark.parametrize("limit", range(1, 8))
def test_lists_end_at_any_round(device, clusters, limit):
    """The step's buffers turn; vectors, scalars and the condition are left as plain statements leave them."""
    A = mesh(weights=np.int64)
    n = A.nrows
    left, right = ([gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n), gb.Scalar(INT64)] for _ in range(2))

    def relax(d, q, worse, least):
        q << q.vxm(A, gb.semiring.min_plus[INT64])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q
        least << q.reduce(gb.monoid.plus)

    for d, q, _, _ in (left, right):
        d[0] = 0
        q[0] = 0
    program = Program(lambda _: relax(*left), while_=left[1], limit=limit)
    for _ in range(3):
        assert program.run() == limit
        assert in_cluster(program) == limit or (device == "emulator" and in_cluster(program) >= min(limit, 5))
        for _ in range(limit):
            relax(*right)
        for x, y in zip(left, right):
            assert x.isequal(y)


def test_a_long_row_is_walked_by_a_block(device, clusters):
    n = 3000
    rows = np.concatenate([[0, 1, 2], np.full(n - 100, 3)])
    cols = np.concatenate([[1, 2, 3], np.arange(100, n)])
    A = gb.Matrix.from_coo(rows, cols, np.arange(1, n - 96) % 7 + 1, nrows=n, ncols=n)
    d, q, worse = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n)

    def body(_):
        q << q.vxm(A, gb.semiring.min_plus[INT64])
        worse << gb.binary.ge(q & d)
        q(~worse.V, gb.replace) << q
        d(q.S) << q

    d[0] = 0
    q[0] = 0
    program = Program(body, while_=q)
    program.run()
    found = np.full(n, np.inf)
    where, what = entries(d)
    found[where] = what
    np.testing.assert_array_equal(found, distances(A, 0))
    assert in_cluster(program) >= 4


def test_levels_by_a_scalar_and_counts(device, clusters):
    """A body of its own: degrees of what was not found yet fall, a scalar says whether it goes on (topological levels)."""
    rng = np.random.default_rng(2)
    n = 120
    rows, cols = np.triu_indices(n, 1)
    kept = (rng.random(len(rows)) < 0.04) & (cols - rows < 20)
    rows, cols = rows[kept], cols[kept]
    A = gb.Matrix.from_coo(rows, cols, 1, INT64, nrows=n, ncols=n)
    waits = gb.Vector.from_coo(range(n), np.bincount(cols, minlength=n), size=n, dtype=INT64)
    level, q, fewer = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(INT64, n)
    q << waits.select(gb.select.valueeq, 0)
    q(q.S) << 1

    def body(k):
        level(q.S) << k
        fewer << q.vxm(A, gb.semiring.plus_times[INT64])
        waits(fewer.S, gb.binary.minus) << fewer
        q << waits.select(gb.select.valueeq, 0)
        q(fewer.S, gb.replace) << q
        q(q.S) << 1

    expected = np.zeros(n, int)
    for r, c in sorted(zip(rows, cols)):
        expected[c] = max(expected[c], expected[r] + 1)
    program = Program(body, while_=q)
    assert program.run() == expected.max() + 1
    assert entries(level)[1].tolist() == expected.tolist()


@pytest.mark.parametrize("steps", range(1, 9))
def test_a_limit_ends_them_anywhere(device, clusters, steps):
    """Three buffers turn: after any number of rounds the frontier is found where the next kernel looks."""
    A = mesh()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(INT64, A.nrows)
    q[0] = 7

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_first[INT64])

    program = Program(body, while_=q, limit=steps)
    level = oracle_levels(A, 0)
    for turn in range(1, 4):
        assert program.run() == steps
        assert in_cluster(program) == steps
        found = dict(zip(*entries(q)))
        assert found == {i: 7 for i, k in level.items() if k == turn * steps}
    assert set(dict(zip(*entries(v)))) == {i for i, k in level.items() if k < 3 * steps}


@pytest.mark.parametrize("form", (("csr", None), ("b2sr", 8)))
def test_a_hub_belongs_to_the_grid(device, clusters, form):
    """A row that one group of lanes would walk alone ends small rounds; the frontier after it is too large for lists."""
    n = 3000
    rows = np.concatenate([[0, 1, 2], np.full(n - 100, 3), np.arange(4, n - 100)])
    cols = np.concatenate([[1, 2, 3], np.arange(100, n), np.arange(5, n - 99)])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, **options(form))
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    program = levels_program(A, v, q)
    q[0] = True
    rounds = program.run()
    assert dict(zip(*entries(v))) == oracle_levels(A, 0)
    assert 3 <= in_cluster(program) < rounds


def test_lists_without_room_spill(device, clusters):
    """Many rows of middle length found by few lanes: more items than a block has room for, though few in all before."""
    if device != "emulator":
        pytest.skip("a GPU has room for what its limits let in")
    k, n = 3, 1000
    rows = np.concatenate([np.zeros(k, int), np.repeat(np.arange(1, k + 1), 300)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(50, 50 + 300 * k)])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, format="csr")
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    q[0] = True
    program = levels_program(A, v, q)
    program.run()
    assert dict(zip(*entries(v))) == oracle_levels(A, 0)
    assert in_cluster(program) == 2


def test_what_a_cluster_cannot_run_is_explained(device, clusters, monkeypatch):
    A, W = graph(), graph(weights=np.float64)
    n = A.nrows
    v, q, p = gb.Vector(INT64, n), gb.Vector(BOOL, n), gb.Vector(BOOL, n)
    x, total = gb.Vector(FP64, n), gb.Scalar(FP64)
    q[0] = True
    program = levels_program(A, v, q)
    program.run()
    assert "rounds run in one cluster: formats/csr/rounds" in str(program.explain())
    any_pair = gb.semiring.any_pair[BOOL]

    def two(_):
        p << q.vxm(A, any_pair)
        q(~v.S, gb.replace) << p.vxm(A, any_pair)

    def own_mask(_):
        q(~q.S, gb.replace) << q.vxm(A, any_pair)

    def by_rows(_):
        x << W.mxv(x, gb.semiring.plus_times[FP64])
        q << q.vxm(A, any_pair)

    def floats(_):
        q << q.vxm(A, any_pair)
        x(q.S) << 1.5
        total << x.reduce(gb.monoid.plus)

    def everywhere(_):
        q << q.vxm(A, any_pair)
        x << 2.5

    for body, why in (
        (two, "a round has 2 steps"), (own_mask, "the step's mask is the vector that it writes"),
        (by_rows, "a product goes by rows"), (floats, "a sum of floats is taken in a fixed order"),
        (everywhere, "passes write where no sparse vector has an entry"),
    ):  # fmt: skip
        q.clear()
        q[0] = True
        program = Program(body, while_=q, limit=3)
        program.run()
        assert f"small rounds run as others do: {why}" in str(program.explain())
        assert in_cluster(program) == 0
    monkeypatch.setattr(type(devices.get(device)), "cluster", None)
    program = levels_program(A, v, q)
    program.run()
    assert "the device has no thread-block clusters" in str(program.explain())
