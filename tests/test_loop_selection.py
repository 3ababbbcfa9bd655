"""Loops that select vertices by fixed priorities, in one launch and in any order: which bodies are recognized, that the
answers are those of rounds and of the greedy algorithm, and what still runs by rounds."""

import numpy as np
import pytest

import bitblas as gb
from bitblas.loop import Program

pytestmark = pytest.mark.off_cpu
INT64, BOOL = gb.dtypes.INT64, gb.dtypes.BOOL


def undirected(n, m, seed):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    hub = np.arange(0, n, 3)  # a row that a warp reads
    i, j = np.concatenate([i, np.zeros_like(hub)]), np.concatenate([j, hub])
    return gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], True, nrows=n, ncols=n)


def selecting(A, s, members, *, monoid="max", fixpoint=True, limit=None):
    """The loop of independent sets, in other words than the algorithm's."""
    semiring = getattr(gb.semiring, f"{monoid}_second")[s.dtype]
    better = gb.binary.gt if monoid == "max" else gb.binary.lt

    def body(_):
        best = A.mxv(s, semiring).new(mask=s.S)
        chosen = s.dup(mask=~better(best & s).new().V)
        members(chosen.S) << True
        near = chosen.vxm(A, gb.semiring.any_pair[BOOL]).new()
        s(~chosen.S, gb.replace) << s
        s(~near.S, gb.replace) << s

    return Program(body, while_=s, fixpoint=fixpoint, limit=limit)


def greedy(A, order):
    i, j = (A.device.to_host(x) for x in A.to_coo(values=False)[:2])
    chosen, gone = set(), set()
    for v in order.tolist():
        if v not in gone:
            chosen.add(v)
            gone |= set(j[i == v].tolist())
    return chosen


def members_of(members):
    return set(members.to_coo()[0].tolist())


@pytest.mark.parametrize("n, m, monoid, dtype", [(40, 60, "max", "INT64"), (300, 900, "min", "UINT8")])
def test_answers_are_those_of_the_greedy_algorithm(device, n, m, monoid, dtype):
    """Some vertices do not wait; some are members from the start; self loops do not matter. UINT8: priorities repeat,
    but not among neighbours."""
    A = undirected(n, m, n)
    rank = np.random.default_rng(1).permutation(n)
    if dtype == "UINT8":  # few vertices wait
        waiting = np.arange(n)[rank < 200]
        values = rank[waiting]
    else:
        waiting, values = np.arange(2, n), (rank[2:].astype(np.int64) - n // 2) << 33
    s, members = gb.Vector.from_coo(waiting, values, dtype, size=n), gb.Vector(BOOL, n)
    members[1] = True
    program = selecting(A, s, members, monoid=monoid)
    program.run()
    order = waiting[np.argsort(values if monoid == "min" else -values)]
    i, j = (A.device.to_host(x) for x in A.to_coo(values=False)[:2])
    inside = np.isin(i, waiting) & np.isin(j, waiting)
    C = gb.Matrix.from_coo(i[inside], j[inside], True, nrows=n, ncols=n)
    assert members_of(members) == {1} | greedy(C, order) and not s.nvals
    assert "evaluated in any order, in one launch" in str(program.explain())


def test_priorities_that_differ_in_their_lower_half(device):
    A = undirected(90, 200, 5)
    values = np.random.default_rng(2).permutation(90)
    s, members = gb.Vector.from_coo(np.arange(90), values, INT64, size=90), gb.Vector(BOOL, 90)
    selecting(A, s, members).run()
    assert members_of(members) == greedy(A, np.argsort(-values))


def test_what_goes_by_rounds_all_the_same(device):
    """Neighbours with equal priorities, which are selected in the same round; a limit."""
    A, n = undirected(60, 100, 3), 60
    values = np.random.default_rng(3).integers(0, 6, n)
    found = []
    for options in ({}, {"fixpoint": False}, {"limit": 1}, {"limit": 1, "fixpoint": False}):
        s, members = gb.Vector.from_coo(np.arange(n), values, INT64, size=n), gb.Vector(BOOL, n)
        program = selecting(A, s, members, **options)
        rounds = program.run()
        found.append((rounds, members_of(members), members_of(s)))
    assert found[0] == found[1] and found[2] == found[3] and found[2][0] == 1 < found[0][0]


def test_bodies_that_are_not_known(device):
    """Each reports the reason."""
    A, n = undirected(40, 60, 3), 40
    B = gb.Matrix.from_coo([0], [1], True, nrows=n, ncols=n)
    s, members = gb.Vector(INT64, n), gb.Vector(BOOL, n)
    most, near = gb.semiring.max_second[INT64], gb.semiring.any_pair[BOOL]

    def forgets(_):  # neighbours of selected vertices go on waiting
        best = A.mxv(s, most).new(mask=s.S)
        chosen = s.dup(mask=~gb.binary.gt(best & s).new().V)
        members(chosen.S) << True
        gone = A.mxv(chosen, near).new(mask=s.S)
        s(~chosen.S, gb.replace) << s
        members(gone.S) << True

    def waits_for_one(_):
        best = A.mxv(s, most).new(mask=s.S)
        chosen = s.dup(mask=~gb.binary.ge(best & s).new().V)
        members(chosen.S) << True
        gone = A.mxv(chosen, near).new(mask=s.S)
        s(~gone.S, gb.replace) << s
        s(~chosen.S, gb.replace) << s

    def of_others(_):
        gone = A.mxv(s, near).new()
        s(~gone.S, gb.replace) << s

    for body, why in ((forgets, "only select"), (waits_for_one, "go along edges"), (of_others, "two products")):
        s << 3
        program = Program(body, while_=s, limit=2, fixpoint=True)
        program.run()
        text = str(program.explain())
        assert "no selection by priority" in text and why in text, text
    s.clear()
    program = selecting(B, s, members)
    program.run()
    assert "not symmetric" in str(program.explain())


@pytest.mark.uses_cpu
def test_independent_sets(device, tune):
    """The algorithm runs so, also where most blocks have nothing to do."""
    from bitblas.algorithms._loops import cached_loop
    from bitblas.algorithms.sets.mis import _joining

    tune({"selection.threads": 64})
    A = undirected(400, 900, 9)
    members = members_of(gb.algorithms.maximal_independent_set(A, seed=4))
    loop = cached_loop(_joining, A, gb)
    assert "in any order, in one launch" in str(loop.program.explain())
    assert members == members_of(gb.algorithms.maximal_independent_set(A.to("cpu"), seed=4))
