"""The programs of the ranks of `test_distributed.py`: `distributed_ranks.py NAME ARGUMENT ..`."""

from __future__ import annotations

import os
import runpy
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import distributed_faults
import distributed_files
import distributed_loops
import distributed_random
import distributed_sharing
import numpy as np
from distributed_programs import PROGRAMS, N, assert_agree, assert_refused, operands, results, same
from distributed_programs import quick as quick_program

import bitblas as gb
import bitblas.distributed as gd
from bitblas.exceptions import DistributedError
from bitblas.loop import at_once

EXAMPLE = Path(__file__).parent.parent / "examples" / "many_gpus.py"


def calls(g):
    """The four calls, by what each rank gives."""
    to = g.device.asarray
    x, ranks = to(np.full(3, g.rank, np.int64)), range(g.size)
    assert g.allgather(x).tolist() == [r for r in ranks for _ in range(3)]
    assert g.allgather(x[: g.rank % 3], [r % 3 for r in ranks]).tolist() == [r for r in ranks for _ in range(r % 3)]
    uneven = to(np.repeat(np.arange(g.size), np.arange(g.size) + 1))
    got = g.alltoall(uneven, [r + 1 for r in ranks], [g.rank + 1] * g.size)
    assert got.tolist() == [g.rank] * (g.rank + 1) * g.size
    assert g.allreduce(np.array([g.rank, 1])).tolist() == [sum(ranks), g.size]
    assert g.allreduce(np.array([g.rank]), np.maximum).tolist() == [g.size - 1]
    long = np.arange(1000) + g.rank  # of the host, more than goes through shared memory
    assert g.gather_host(long).tolist() == [(np.arange(1000) + r).tolist() for r in ranks]
    assert g.texts("é" * g.rank) == ["é" * r for r in ranks]
    begin = time.monotonic()
    if g.rank == 0:
        time.sleep(0.2)
    g.barrier()
    assert g.rank == 0 or time.monotonic() - begin > 0.1
    bits = [g.allreduce(np.array([0.1 * (g.rank + 1) ** 5, 1e16, -1e16])).tobytes() for _ in range(3)]
    assert len(set(bits)) == len(set(g.texts(bits[0].hex()))) == 1


def nccl(g):
    """The same through NCCL's calls, and an error that NCCL reports."""
    from fake_nccl import Device

    from bitblas.distributed.transports import NcclGroup

    os.environ.update(MASTER_ADDR="here", MASTER_PORT="1")
    group = NcclGroup(g.rank, g.size, Device(), timeout=30)
    assert os.environ.pop("NCCL_COMM_ID") == "here:2" and os.environ["NCCL_GRAPH_MIXING_SUPPORT"] == "0"
    calls(group)
    if g.size == 1:  # there is no other rank
        return
    group.comm.error = True
    for _ in range(2):
        assert_refused(DistributedError, group.barrier)
        assert group.comm.aborted and "REMOTE_ERROR" in group.broken


def programs(g):
    x, y = operands(gb), operands(gd)
    assert g.size == 1 or 0 < y.A._part.nvals < x.A.nvals
    for name, program in PROGRAMS.items():
        assert_agree(name, program, x, y)


def quick(g):
    """A little of all: statements, a search, files."""
    x, y = operands(gb), operands(gd)
    assert_agree("quick", quick_program, x, y)
    assert same(gb.algorithms.bfs_levels(x.S, 3), gb.algorithms.bfs_levels(y.S, 3))


def algorithms(g):
    """The programs of bitblas.algorithms, unchanged."""
    x, y, al = operands(gb), operands(gd), gb.algorithms
    edges = x.S.nvals
    assert y.S.is_symmetric() and y.W.is_symmetric() and not y.A.is_symmetric(values=False)
    assert edges == y.S.nvals
    positive0, positive = (lib.unary.abs(o.F).new() for lib, o in ((gb, x), (gd, y)))
    for name, graph, arguments in (
        ("bfs_levels", "S", (3,)), ("bfs_levels", "A", ([3, 7],)), ("sssp", "W", (3,)), ("pagerank", "S", ()),
        ("pagerank", "A", ()), ("connected_components", "S", ()), ("weakly_connected_components", "A", ()),
        ("triangle_count", "S", ()), ("label_propagation", "S", ()), ("core_numbers", "S", ()), ("k_core", "S", (5,)),
        ("hits", "A", ()),
    ):  # fmt: skip
        assert all(map(same, *results(name, graph, arguments, x, y))), name
    assert same(al.sssp(positive0, 0), al.sssp(positive, 0))
    with at_once() if g.rank == 0 else nullcontext():  # only one rank builds a table, without a collective
        again = al.hits(operands(gd).A)
    assert all(map(same, al.hits(x.A), again))
    parents, levels = al.bfs_parents(y.A, 3).gathered(), al.bfs_levels(x.A, 3)
    assert same(parents.apply("one").new(), levels.apply("one").new())
    for vertex, parent in parents.to_dict().items():
        near = levels[parent].new() + 1 == levels[vertex].new() and x.A.get(parent, vertex) is not None
        assert near or vertex == parent == 3


def plans(g):
    """How a product goes, and why."""
    y, pair = operands(gd), gb.semiring.any_pair
    all_of_it = "a single rank"
    for expr in (y.A.mxv(y.u), y.u.vxm(y.A), y.u.vxm(y.S, pair), y.none.vxm(y.S, pair), y.A.T.mxv(y.u)):
        text = gd.explain(expr)
        assert ("gather: " if g.size > 1 else all_of_it) in text and "\nthis rank: " in text, text
    bits = int(gd.explain(y.u.vxm(y.S, pair)).partition("about ")[2].split()[0])
    values = int(gd.explain(y.A.mxv(y.u)).partition("about ")[2].split()[0])
    assert values == 0 == bits or (0 < bits < N / 8 and 8 * N / 2 <= values < 8.2 * N)
    assert_refused(TypeError, gd.explain, y.u)


def bits(g):
    """The same number of ranks gives the same bits."""
    results = []
    for _ in range(2):
        y = operands(gd)
        total = y.F.reduce_scalar("plus").new().value
        v = y.F.T.mxv(y.f).new()
        results.append((total, v.to_dense(0.0).tobytes(), y.f.reduce("plus").new().value))
    assert results[0] == results[1] and len(set(g.texts(repr(results[0][0])))) == 1


def scales(g, numbers):
    """The example at these scales, one after the other in the same ranks."""
    for number in numbers.split(","):
        sys.argv = [str(EXAMPLE), number]
        runpy.run_path(str(EXAMPLE), run_name="__main__")


if __name__ == "__main__":
    group = gd.init()
    programs_of = [
        globals(),
        *map(vars, (distributed_faults, distributed_files, distributed_loops, distributed_random, distributed_sharing)),
    ]
    names, *arguments = sys.argv[1:]
    for name in names.split(","):
        run = next(found[name] for found in programs_of if name in found)
        run(group, *(arguments if run.__code__.co_argcount > 1 else ()))
    print(f"rank {group.rank} of {group.size} done", flush=True)
