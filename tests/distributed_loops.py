"""Loops of objects in shares, written down: on ranks whose GPUs are those of the emulator, against one device."""

from __future__ import annotations

from distributed_programs import N, operands, same

import bitblas as gb
import bitblas.device
import bitblas.distributed as gd
from bitblas.distributed import start
from bitblas.distributed.mpi import MpiGroup


def loops(g):
    """Loops written down: on ranks whose GPUs are those of the emulator, against one device."""
    import emulator.device

    x = operands(gb)
    group = MpiGroup(bitblas.device.get(emulator.device.Emulator.name), timeout=60)
    group.roll = g.roll
    before, start._group = start._group, group
    with gb.config.set(device="emulator"):
        y, al = operands(gd), gb.algorithms
        for name, graph, arguments in (
            ("bfs_levels", "S", (3,)), ("bfs_levels", "A", ([3, 7],)), ("pagerank", "A", ()),
            ("connected_components", "S", ()), ("sssp", "W", (3,)), ("core_numbers", "S", ()),
        ):  # fmt: skip
            A = getattr(y, graph)
            for _ in range(2):  # captured, and run again
                found, wanted = getattr(al, name)(A, *arguments), getattr(al, name)(getattr(x, graph), *arguments)
                assert same(wanted, to_cpu(found)), name
        v, q = gd.Vector(int, N), gd.Vector(bool, N)

        def body(level):
            v(q.S) << level
            q(~v.S, gd.replace) << q.vxm(y.S, gd.semiring.any_pair[gd.dtypes.BOOL])

        program = gb.loop.Program(body, while_=q)
        for source in (3, 250):
            v.clear(), q.clear()
            q[source] = True
            rounds = program.run()
            wanted = al.bfs_levels(x.S, source)
            assert rounds == 1 + wanted.reduce("max").new().value and v.nvals == wanted.nvals and not q.nvals
            assert same(wanted, to_cpu(v))
        text = str(program.explain())
        assert ("all of" in text) == (g.size > 1) and "step" in text, text
        assert g.size == 1 or ("bytes sent by a rank" in text and group.sent > 0), text
    start._group = before


def to_cpu(x):
    return x.gathered().to("cpu")
