"""Sparse exchange: ranks send only written, changed or requested entries, and answers are the same."""

from __future__ import annotations

import functools

import numpy as np
from distributed_programs import PROGRAMS, operands, same

import bitblas as gb
import bitblas.distributed as gd
from bitblas import tuning
from bitblas.distributed import exchange

SIZE = 9000


def with_lists(least):
    """Of vectors of so many bytes and more."""

    def around(run):
        def wrapped(g):
            g.lists = True
            try:
                with tuning.override({"exchange.least": least}):
                    run(g)
            finally:
                g.lists = False

        return wrapped

    return around


def lists(g):
    """Bytes equal the formula, and answers are equal, for repeated gathers, remote gathers and sums."""
    again(g), asked(g), sums(g), small(g)


def few(g):
    """Some of it, of few kernels: what runs each time."""
    asked(g), sums(g)


def spent(g, run, nbytes):
    """run(), which must send this number of bytes from this rank, also by a trace."""
    before = g.sent
    with gb.trace() as trace:
        found = run()
    assert g.sent - before == nbytes, (g.sent - before, nbytes)
    calls = [r for r in trace if r.kernel in ("allgather", "alltoall")]
    assert sum(r.nbytes for r in calls) == nbytes and all(f"{r.nbytes} bytes sent" in r.text for r in calls)
    return found


@with_lists(1 << 15)
def again(g):
    """All of a vector once, then nothing, then what changed."""
    others, rng = g.size - 1, np.random.default_rng(3)
    i, j = rng.integers(0, SIZE, (2, 4 * SIZE))
    A, B = (library.Matrix.from_coo(i, j, True, nrows=SIZE, ncols=SIZE) for library in (gb, gd))
    values = rng.integers(0, 100, SIZE).astype(float)
    v, w = gd.Vector.from_dense(values), gb.Vector.from_dense(values)
    low, high, second = v.shares.low, v.shares.high, gb.semiring.plus_second[gb.dtypes.FP64]
    product = lambda: same(A.mxv(w, second).new(), B.mxv(v, second).new())
    assert spent(g, lambda: v._gathered(), others * 8 * (high - low)).nvals == SIZE
    assert spent(g, lambda: v._gathered() is v._gathered(), 0)
    for places in ([5, SIZE - 1, 70], [], list(range(0, SIZE, 50))):
        for u in (v, w):
            u[places] = 0.125 + len(places)
        mine = sum(low <= p < high for p in places)
        assert same(w, spent(g, lambda: v._gathered().dup(), others * 12 * mine)) and product()
    places = list(range(0, SIZE, 3))  # as bits
    for u in (v, w):
        u[places] = 0.5
    mine, nbytes = sum(low <= p < high for p in places), 8 * v.shares.words[g.rank]
    assert same(w, spent(g, lambda: v._gathered().dup(), others * (8 * mine + nbytes))) and product()
    v[:] = 0.0  # and the sign of a zero
    v[7] = -0.0
    mine = low <= 7 < high
    spent(g, lambda: v._gathered(), others * 8 * (high - low))
    v[7] = 0.0
    assert not np.signbit(spent(g, lambda: v._gathered(), others * 12 * mine)[7].new().value)
    del v[9]  # a bit for each position then
    w = spent(g, lambda: v.gathered(), others * 8 * v.shares.words[g.rank])
    w[11] = 3.0  # its own, which no other vector shares
    assert v._gathered().nvals == SIZE - 1 and v._gathered()[11].new() == 0.0


@with_lists(1 << 15)
def asked(g):
    """v[index] requests each position once; 64-bit numbers are sent in 32 bits if they fit."""
    rng = np.random.default_rng(4)
    for values, nbytes in (
        (rng.permutation(SIZE), 4), (rng.permutation(SIZE) << 40, 8), (rng.random(SIZE).astype("f4"), 4)
    ):  # fmt: skip
        v, w = gd.Vector.from_dense(values), gb.Vector.from_dense(values)
        at = rng.integers(0, SIZE, 40)[rng.integers(0, 40, SIZE)]
        s = v.shares
        asks = [np.setdiff1d(at[low:high], range(low, high)) for low, high in zip(s.bounds, s.bounds[1:])]
        answers = sum(int(s.has(a).sum()) for a in asks)
        want = 4 * len(asks[g.rank]) + nbytes * answers
        found = spent(g, lambda v=v, at=at: v[at].new(), want if g.size > 1 else 0)
        assert same(w[at].new(), found)
    v.clear()
    assert not v[at].new().nvals


@with_lists(0)
def sums(g):
    """Few entries are sent to whose they are, as places and values, and joined in the order of ranks."""
    at = np.arange(0, SIZE, 100)
    for values, nbytes in ((np.arange(len(at)) * (g.rank + 1) + 0.1, 12), (7, 4), ((at * 3 + g.rank) % 5, 8)):
        partial = gb.Vector.from_coo(at, values, size=SIZE, device=g.device)
        shares = gd.Vector(int, SIZE).shares
        mine = int(shares.has(at).sum())
        run = functools.partial(exchange.sum_vectors, partial, shares, gb.monoid.plus[partial.dtype])
        total = spent(g, run, nbytes * (len(at) - mine) if g.size > 1 else 0)
        kind = partial.to_coo()[1].dtype
        each = [v[: len(at)] for v in np.split(gathered_values(g, partial), g.size)]
        wanted = each[0].copy()
        for more in each[1:]:
            wanted = wanted + more
        there, found = map(g.device.to_host, total.to_coo())
        assert np.array_equal(there + shares.low, at[shares.has(at)]) and found.dtype == kind
        assert np.array_equal(found, wanted[shares.has(at)])


def gathered_values(g, partial):
    return g.device.to_host(g.allgather(partial.to_coo()[1]))


@with_lists(0)
def small(g):
    """Programs, with lists for vectors of any size."""
    x, y = operands(gb), operands(gd)
    for name in ("loop", "assign", "extract", "transposed", "products"):
        for k, (a, b) in enumerate(zip(PROGRAMS[name](gb, x), PROGRAMS[name](gd, y), strict=True)):
            assert same(a, b), (name, k)
    for name in ("connected_components", "core_numbers", "label_propagation"):
        assert same(getattr(gb.algorithms, name)(x.S), getattr(gb.algorithms, name)(y.S)), name
