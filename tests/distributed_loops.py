"""Captured loops of distributed objects, on ranks whose GPUs are emulated, against one device."""

from __future__ import annotations

from contextlib import contextmanager

from distributed_programs import N, assert_refused, levels_program, operands, results, same

import bitblas as gb
import bitblas.device
import bitblas.distributed as gd
from bitblas import tuning
from bitblas.distributed import start
from bitblas.distributed.transports import MpiGroup


@contextmanager
def emulated(g):
    """Ranks whose GPUs are emulated: loops are captured, and the host makes their launches."""
    import emulator.device

    group = MpiGroup(bitblas.device.get(emulator.device.Emulator.name), timeout=60)
    group.board, group.captures, group.choice = g.board, True, "partitioned"
    before, start._group = start._group, group
    try:
        with gb.config.set(device="emulator"):
            yield group
    finally:
        start._group = before


def loop(g):
    """One search: exchanges and results, twice; with a limit."""
    x = operands(gb)
    with emulated(g) as group:
        y, al = operands(gd), gb.algorithms
        program, q, v = levels_program(y.S)
        captured = None
        for source in (3, 3, 250):
            v.clear(), q.clear()
            q[source] = True
            rounds, wanted = program.run(), al.bfs_levels(x.S, source)
            assert captured in (None, program._captured) or source != 3, "an equal run is captured again"
            captured = program._captured
            assert rounds == 1 + wanted.reduce("max").new().value and v.nvals == wanted.nvals and not q.nvals
            assert same(wanted, to_cpu(v))
        text, shared = str(program.explain()), g.size > 1
        assert ("all of" in text) == shared and "advance" in text and ("LATE=1" in text) == shared, text
        assert not shared or ("bytes sent per rank" in text and group.sent > 0), text
        v.clear(), q.clear()
        q[3] = True
        program.limit = 2
        assert program.run() == 2 and q.nvals and same(al.bfs_levels(x.S, 3, depth_limit=1), to_cpu(v))
        group.captures = False  # ranks of several hosts
        program, q, v = levels_program(y.S)
        q[3] = True
        assert program.run() and same(al.bfs_levels(x.S, 3), to_cpu(v))
        assert ("plain loop" in str(program.explain())) == shared


def loops(g):
    """The algorithms, captured and run again; values that only one rank has."""
    x = operands(gb)
    with emulated(g) as group:
        y, al = operands(gd), gb.algorithms
        for name, graph, arguments in (
            ("bfs_levels", "S", (3,)), ("bfs_levels", "A", ([3, 7],)), ("pagerank", "A", ()),
            ("connected_components", "S", ()), ("sssp", "W", (3,)), ("core_numbers", "S", ()),
        ):  # fmt: skip
            for _ in range(2):
                (found,), (wanted,) = results(name, graph, arguments, y, x)
                assert same(wanted, to_cpu(found)), name
        with tuning.override({"components.skew": 0}):  # two steps first, in a nested loop
            assert same(al.connected_components(x.S), to_cpu(al.connected_components(y.S.dup())))
        with tuning.override({"rows.hub_column_skew": 1}):  # pulls of a rank's rows try a hub column first
            for made, graph in ((x, "S"), (x, "A")):
                found, wanted = (al.bfs_levels(getattr(o, graph).dup(), 3) for o in (y, made))
                assert same(wanted, to_cpu(found)), graph
        by_twos(x, y, group)
        values_of_one_rank(y)
        assert same(begun(gb, x), to_cpu(begun(gd, y)))
        index_of_one_rank()
        y.S[0, 5] = True  # in the share of one rank: all ranks must recompute symmetry
        y.S[9, 5] = True
        assert y.S.is_symmetric() == bool(x.S.get(5, 0) and x.S.get(5, 9))
        plain = gd.Vector.from_coo([1, 2], [3, 4], size=N)  # a body that only the host can run
        seen = []
        assert gb.loop.repeat(lambda k: (seen.append(plain.get(1)), plain.clear()), while_=plain) == 1 and seen == [3]


def alone(g):
    """Graphs too small to be split: each rank computes all, and has its share of the answer."""
    x = operands(gb)
    with emulated(g) as group:
        group.choice, y, al = "", operands(gd), gb.algorithms
        for name, graph, arguments in (("bfs_levels", "A", (3,)), ("pagerank", "A", ()), ("sssp", "W", (3,))):
            (found,), (wanted,) = results(name, graph, arguments, y, x)
            assert same(wanted, to_cpu(found)) and found.shares.size == N, name
            before = group.sent  # the second time nothing is sent
            results(name, graph, arguments, y)
            assert group.sent == before, name
        found, wanted = (al.pagerank(o.A, personalization=o.full) for o in (y, x))
        assert same(wanted, to_cpu(found)) and al.triangle_count(y.S) == al.triangle_count(x.S)
        told = str(gd.explain(y.A, al.bfs_levels))
        assert ("replicated: " in told) == (g.size > 1), told


def values_of_one_rank(y):
    """A vector with one value on some ranks, and many on others, is sent with all values."""
    entries = range(N), [7] * (N // 2) + list(range(N - N // 2)), int
    u = gd.Vector.from_coo(*entries, size=N)
    w, more = gd.Vector(int, N), gd.Vector(bool, N)

    def body(_):
        w << y.A.mxv(u, gd.semiring.max_second)
        more << more.select(more.S)
        more.clear()

    more[3] = True
    assert gb.loop.Program(body, while_=more).run() == 1
    with gb.config.set(device="cpu"):
        whole = gb.Vector.from_coo(*entries, size=N)
        assert same(operands(gb).A.mxv(whole, gb.semiring.max_second).new(), to_cpu(w))


def by_twos(x, y, group):
    """A search of two steps per round, by a nested loop that all ranks leave after the same round."""
    q, seen = gd.Vector(bool, N), gd.Vector(bool, N)

    def step(_):
        seen(q.S) << True
        q(~seen.S, gd.replace) << q.vxm(y.S, gd.semiring.any_pair[gd.dtypes.BOOL])

    program = gb.loop.Program(lambda _: gb.loop.repeat(step, while_=q, limit=2), while_=q)
    for source in (3, 250):
        seen.clear(), q.clear()
        q[source] = True
        sent, levels = group.sent, gb.algorithms.bfs_levels(x.S, source)
        assert program.run() == 1 + levels.reduce("max").new().value // 2
        assert same(levels.apply(gb.unary.one[bool]).new(), to_cpu(seen)) and (group.sent > sent) == (group.size > 1)
    assert "while " in str(program.explain())


def begun(lib, made):
    """A vector that is exchanged before the rounds, and in them when it has changed."""
    v = made.full.dup()
    w, u = (lib.Vector(int, N, device=v.device) for _ in range(2))
    best, largest = lib.semiring.max_second, lib.binary.max

    def begin():
        w << made.A.mxv(v, best)

    def body(_):
        u << made.A.mxv(v, best)
        v(largest) << u.apply(lib.binary.plus, right=1)
        v(largest) << w

    assert gb.loop.Program(body, while_=v, begin=begin, limit=3).run() == 3
    return v


def index_of_one_rank():
    """An index that leads out of range on one rank ends the loop on all, with the same error."""
    p = gd.Vector.from_scalar(0, N).apply(gd.indexunary.index).new()
    places = list(range(N))
    places[N - 1] = N + 5
    at, q = gd.Vector.from_coo(range(N), places, int, size=N), gd.Vector(int, N)

    def body(_):
        q << p[at.to_dense()]

    program = gb.loop.Program(lambda k: (body(k), p.__lshift__(q)), while_=p, limit=9)
    assert_refused(gb.exceptions.IndexOutOfBound, program.run, said=f"index={N + 5}, size={N} (round")


def to_cpu(x):
    return x.gathered().to("cpu")
