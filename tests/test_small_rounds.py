"""Small rounds inside one cluster: transitions to the grid's kernels and back, and bodies that it cannot run."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop import BOOL, FORMS, FP64, INT64, entries, graph, levels_program, options, oracle_levels

import bitblas as gb
from bitblas import device as devices
from bitblas.loop import Program

HANDED = (FORMS[0], FORMS[1], FORMS[2], FORMS[5], FORMS[-1])  # rows, tiles whose units share words or have two, a Split


def mesh(k=20, weights=None, **form):
    """k x k points with their neighbours: frontiers grow and shrink."""
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


@pytest.mark.in_turn
@pytest.mark.parametrize("most", [4, 10, 8192])
@pytest.mark.parametrize("form", HANDED)
def test_levels_go_back_and_forth(device, clusters, form, most, tune):
    """The frontier of a mesh passes any limit and comes back; wherever a cluster stops, the grid continues."""
    tune({"cluster.units": most})
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
def test_lowest_parents(device, clusters, form, most, tune):
    """Values into which several entries are combined, in any of the buffers."""
    tune({"cluster.units": most})
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
    """A row that one group of lanes would walk alone ends small rounds; the frontier after it is too large."""
    n, k = 6000, 30  # more tiles in a row, too, than one group of lanes walks
    rows = np.concatenate([np.arange(k), np.full(n - 100, k), np.arange(k + 1, n - 100)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(100, n), np.arange(k + 2, n - 99)])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, **options(form))
    v, q = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    program = levels_program(A, v, q)
    q[0] = True
    rounds = program.run()
    assert dict(zip(*entries(v))) == oracle_levels(A, 0)
    assert 0 < in_cluster(program) < rounds
    if form[0] == "csr":  # whose rows differ so much that no cluster is tried
        assert in_cluster(program) <= rounds - program.explain().copies


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
    assert "rounds with small frontiers run in one cluster: formats/csr/rounds" in str(program.explain())
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
        (two, "a round has 2 advances"), (own_mask, "the advance's mask is the vector that it writes"),
        (by_rows, "a product pulls by rows"), (floats, "a sum of floats is taken in a fixed order"),
        (everywhere, "element-wise kernels write where no sparse vector has an entry"),
    ):  # fmt: skip
        q.clear()
        q[0] = True
        program = Program(body, while_=q, limit=3)
        program.run()
        assert f"no small rounds in a cluster: {why}" in str(program.explain())
        assert in_cluster(program) == 0
    monkeypatch.setattr(devices.get(device), "cluster", None)
    program = levels_program(A, v, q)
    program.run()
    assert "the device has no thread-block clusters" in str(program.explain())
