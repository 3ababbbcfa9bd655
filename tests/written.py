"""Algorithms as a user writes them, straight from their definitions: one text for bitblas and python-graphblas."""

from __future__ import annotations

from typing import Any

import numpy as np

ROUNDS = 20


def betweenness(gb: Any, A: Any) -> Any:
    """Through each vertex, the share of shortest paths from two sources: Brandes' algorithm, a source at a time."""
    binary, monoid, replace, semiring = gb.binary, gb.monoid, gb.replace, gb.semiring
    n = A.nrows
    c = gb.Vector.from_coo(np.arange(n), 0.0, size=n)
    for source in (0, n // 2):
        p, q = gb.Vector(float, n), gb.Vector(float, n)
        q[source] = 1
        levels = []
        while q.nvals:
            p(q.S) << q
            levels.append(q.dup())
            q(~p.S, replace) << q.vxm(A, semiring.plus_first)
        d, t = gb.Vector(float, n), gb.Vector(float, n)
        for before, level in zip(levels[-2::-1], levels[:0:-1]):
            t(level.S, replace) << 1.0
            t(monoid.plus) << d.ewise_mult(level, binary.first)
            t << t.ewise_mult(p, binary.truediv)
            t(before.S, replace) << A.mxv(t, semiring.plus_second)
            d(monoid.plus) << t.ewise_mult(p, binary.times)
        d(~levels[0].S, replace) << d
        c(monoid.plus) << d
    return c


def kcore(gb: Any, A: Any) -> Any:
    """The core number of each vertex: those of at most k neighbours go first, then whom they leave with as few."""
    INT64, n = gb.dtypes.INT64, A.nrows
    degree, core, lost = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(INT64, n)
    degree << A.mxv(gb.Vector.from_coo(np.arange(n), 1, size=n), gb.semiring.plus_pair[INT64])
    k = 0
    while degree.nvals:
        few = degree.select(gb.select.valuele, k).new()
        if few.nvals == 0:
            k = int(degree.reduce(gb.monoid.min).value)
            continue
        core(few.S) << k
        degree(~few.S, gb.replace) << degree
        lost(degree.S, gb.replace) << few.vxm(A, gb.semiring.plus_pair[INT64])
        degree(gb.binary.minus) << lost
    return core


def components(gb: Any, A: Any) -> Any:
    """Strongly connected components: whom a vertex reaches and who reaches it; vertices without in- or out-edges go
    before."""
    BOOL, n, replace = gb.dtypes.BOOL, A.nrows, gb.replace
    pair, T = gb.semiring.any_pair[BOOL], A.T.new()
    label = gb.Vector(int, n)
    left = gb.Vector.from_coo(np.arange(n), True, size=n)

    def reached(M: Any, pivot: int) -> Any:
        seen, front = gb.Vector(BOOL, n), gb.Vector(BOOL, n)
        front[pivot] = True
        while front.nvals:
            seen(front.S) << True
            front(~seen.S, replace) << front.vxm(M, pair)
            front(left.S, replace) << front
        return seen

    while left.nvals:
        alone = gb.Vector(BOOL, n)
        for M in (A, T):
            after = left.vxm(M, pair).new(mask=left.S)
            alone(~after.S) << left
        alone(left.S, replace) << alone
        if alone.nvals:
            at, _ = alone.to_coo()
            label(alone.S) << gb.Vector.from_coo(at, at, size=n)
        else:
            pivot = int(left.to_coo()[0][0])
            alone << reached(A, pivot).ewise_mult(reached(T, pivot), gb.binary.pair)
            label(alone.S) << pivot
        left(~alone.S, replace) << left
    return label


def hits(gb: Any, A: Any) -> Any:
    """Hubs, after ROUNDS rounds: a vertex that points to good authorities is a good hub, and the other way round."""
    n, plus = A.nrows, gb.monoid.plus
    hub, authority = gb.Vector.from_coo(np.arange(n), 1.0, size=n), gb.Vector(float, n)
    for _ in range(ROUNDS):
        authority << hub.vxm(A, gb.semiring.plus_first)
        authority << authority.apply(gb.binary.truediv, right=authority.reduce(plus).value)
        hub << A.mxv(authority, gb.semiring.plus_second)
        hub << hub.apply(gb.binary.truediv, right=hub.reduce(plus).value)
    return hub


def distances(gb: Any, A: Any) -> Any:
    """Steps from vertex 0, by relaxing whoever became nearer (Bellman and Ford)."""
    n = A.nrows
    found, changed = gb.Vector(float, n), gb.Vector(float, n)
    changed[0] = 0.0
    while changed.nvals:
        found(gb.binary.min) << changed
        after = changed.apply(gb.binary.plus, right=1.0).new().vxm(A, gb.semiring.min_first).new()
        worse = after.ewise_mult(found, gb.binary.ge).new().select(gb.select.valueeq, True).new()
        changed(~worse.S, gb.replace) << after
    return found


ALGORITHMS = {f.__name__: f for f in (betweenness, kcore, components, hits, distances)}
