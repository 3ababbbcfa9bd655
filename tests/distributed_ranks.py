"""The programs of the ranks of `test_distributed.py`: `distributed_ranks.py NAME ARGUMENT ..`."""

from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from distributed_lists import few, lists
from distributed_loops import alone, loop, loops
from distributed_numbers import numbers
from distributed_programs import PROGRAMS, N, operands, same, whole
from distributed_programs import quick as quick_program
from distributed_tables import tables

import bitblas as gb
import bitblas.distributed as gd
from bitblas.exceptions import DistributedError, GraphblasException
from bitblas.loop import at_once

ELSEWHERE = {"few": few, "lists": lists, "alone": alone, "loop": loop, "loops": loops, "tables": tables}
ELSEWHERE |= {"numbers": numbers}
FAULTS = (GraphblasException, TypeError, ValueError, OSError, LookupError)


def calls(g):
    """The four calls, by what each rank gives."""
    to = g.device.asarray
    x, ranks = to(np.full(3, g.rank, np.int64)), range(g.size)
    assert g.allgather(x).tolist() == [r for r in ranks for _ in range(3)]
    assert g.allgather(x[: g.rank % 3], [r % 3 for r in ranks]).tolist() == [r for r in ranks for _ in range(r % 3)]
    uneven = to(np.repeat(np.arange(g.size), np.arange(g.size) + 1))
    got = g.alltoall(uneven, [r + 1 for r in ranks], [g.rank + 1] * g.size)
    assert got.tolist() == [g.rank] * (g.rank + 1) * g.size == g.alltoall(uneven, [r + 1 for r in ranks]).tolist()
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
    assert refused(group.barrier) is DistributedError and group.comm.aborted and "REMOTE_ERROR" in group.broken
    assert refused(group.barrier) is DistributedError


def programs(g):
    x, y = operands(gb), operands(gd)
    assert g.size == 1 or 0 < y.A._part.nvals < x.A.nvals
    for name, program in PROGRAMS.items():
        wanted, got = list(program(gb, x)), list(program(gd, y))
        wrong = [k for k, (a, b) in enumerate(zip(wanted, got, strict=True)) if not same(a, b)]
        assert not wrong, f"{name}: results {wrong} differ: {wanted[wrong[0]]!r} {whole(got[wrong[0]])!r}"


def quick(g):
    """A little of all: statements, a search, files."""
    x, y = operands(gb), operands(gd)
    for k, (a, b) in enumerate(zip(quick_program(gb, x), quick_program(gd, y), strict=True)):
        assert same(a, b), (k, a, whole(b))
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
        found, wanted = (getattr(al, name)(getattr(o, graph), *arguments) for o in (y, x))
        for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (wanted, found))):
            assert same(a, b), name
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
    for expr, reason in (
        (y.A.mxv(y.u), "gather: "), (y.u.vxm(y.A), "the matrix is not symmetric"),
        (y.u.vxm(y.S, pair), "by symmetry"), (y.none.vxm(y.S, pair), "by symmetry"),
        (y.A.T.mxv(y.u), "which are columns of the result"), (y.S.T.mxv(y.u, pair), "by symmetry"),
    ):  # fmt: skip
        text = gd.explain(expr)
        assert (reason if g.size > 1 else all_of_it) in text and "\nthis rank: " in text, text
    g.lists = True  # ranks of several hosts
    assert g.size == 1 or f"only 0 of {N} entries" in gd.explain(y.none.vxm(y.S, pair))
    g.lists = False
    bits = int(gd.explain(y.u.vxm(y.S, pair)).partition("about ")[2].split()[0])
    values = int(gd.explain(y.A.mxv(y.u)).partition("about ")[2].split()[0])
    assert values == 0 == bits or (0 < bits < N / 8 and 8 * N / 2 <= values < 8.2 * N)
    assert refused(lambda: gd.explain(y.u)) is TypeError


def files(g, folder):
    """Saved by these ranks; text files read in ranges of bytes."""
    folder = Path(folder)
    x, y = operands(gb), operands(gd)
    for name in ("A", "S", "R"):
        getattr(y, name).save(folder / name)
        assert same(getattr(x, name), gd.Matrix.load(folder / name, verify=True))
    y.A.save(folder / "A")  # over existing files
    if g.rank == 0:
        assert len(list((folder / "A").iterdir())) == g.size + 1
        gb.io.mmwrite(folder / "A.mtx", x.A)
        gb.io.mmwrite(folder / "F.mtx.gz", x.F)
        gb.io.mmwrite(folder / "W.mtx", x.W)  # symmetric: a triangle
        gb.io.mmwrite(folder / "S.mtx", x.S)
        gb.io.write_edgelist(folder / "W.csv", x.W, delimiter=",", header=True)
        gb.io.write_edgelist(folder / "W.tsv", x.W, delimiter="\t", decimal=",")
        gb.io.write_edgelist(folder / "S.edges", x.S, directed=False)
        (folder / "twice.csv").write_text("0,1,100\n0,1,100\n1,0,5\n")
        (folder / "large.csv").write_text(f"0,1,{2**62}\n0,1,{2**62}\n1,0,5\n")
        (folder / "bad.mtx").write_text((folder / "A.mtx").read_text().replace("\n299 ", "\n2x99 ", 1))
    g.barrier()
    for file, wanted, options in (
        ("A.mtx", x.A, {}), ("F.mtx.gz", x.F, {}), ("W.mtx", x.W, {}), ("S.mtx", x.S, {}),
        ("W.csv", x.W, {"size": N}), ("W.tsv", x.W, {"size": N, "decimal": ","}),
        ("S.edges", x.S, {"size": N, "directed": False}),
    ):  # fmt: skip
        assert same(wanted, gd.read(folder / file, **options)), file
        assert same(wanted, gd.read(folder / file, share=False, **options)), file
    joined = gb.Matrix.from_coo([0, 1], [1, 0], [200, 5])
    assert same(joined, gd.read(folder / "twice.csv", dup_op="plus"))
    for file, dtype in (("twice.csv", "INT8"), ("large.csv", None)):  # sums that overflow the type
        assert refused(lambda file=file, dtype=dtype: gd.read(folder / file, dup_op="plus", dtype=dtype)), file
    i, j, values = x.A.to_coo()
    mine = slice(g.rank, None, g.size)  # each rank some of the entries, of any rows
    shared = gd.Matrix.from_coo(i[mine], j[mine], values[mine], nrows=N, ncols=N, share=True)
    assert same(x.A, shared)
    chunks = lambda: ((i[k::7].astype(int), j[k::7].astype(int)) for k in range(g.rank, 7, g.size))
    assert same(gb.unary.one[gb.dtypes.BOOL](x.A).new(), gd.Matrix.from_chunks(chunks, nrows=N, ncols=N, share=True))
    with_values = [(i[k::3], j[k::3], values[k::3]) for k in range(3)]
    assert same(x.A, gd.Matrix.from_chunks(with_values, nrows=N, ncols=N))
    at, u = x.u.to_coo()
    assert same(x.u, gd.Vector.from_coo(at[mine], u[mine], size=N, share=True))


def opened(g, folder):
    """What another number of ranks saved; the manifest is written last."""
    x = operands(gb)
    for name in ("A", "S", "R"):
        assert same(getattr(x, name), gd.Matrix.load(Path(folder) / name))
    assert gd.Matrix.load(Path(folder) / "S")._part._stored.iso
    assert refused(lambda: gd.Matrix.load(Path(folder) / "none")) is FileNotFoundError


def refused(run):
    """The type of its error."""
    try:
        run()
    except FAULTS as error:
        return type(error)
    return None


def refusals(g):
    """Bad input raises errors on every rank, and later calls work."""
    y = operands(gd)
    before = y.u.dup()
    ex = gb.exceptions
    for run, kind in (
        (lambda: y.A.mxv(y.w), ex.DimensionMismatch), (lambda: y.w.vxm(y.A), ex.DimensionMismatch),
        (lambda: y.A.mxm(y.R.T), ex.DimensionMismatch), (lambda: y.u.ewise_add(y.w), ex.DimensionMismatch),
        (lambda: y.u << y.w, ex.DimensionMismatch), (lambda: y.u(y.w.S) << 1, ex.DimensionMismatch),
        (lambda: y.A.mxv(y.u, gb.semiring.min_firsti), ex.NotImplementedException),
        (lambda: y.u.ewise_add(gb.Vector(int, N)), TypeError), (lambda: y.u << gb.Vector(int, N), TypeError),
        (lambda: gb.Matrix(int, N, N).mxv(y.u), TypeError), (lambda: y.u[N].new(), IndexError),
        (lambda: gd.Vector.from_coo([N], [1], size=N), ex.IndexOutOfBound),
        (lambda: gd.Vector.from_coo([1], [1], share=True), ValueError),
        (lambda: y.A.mxv(y.A), TypeError), (lambda: y.u.reduce("nothing"), ValueError),
        (lambda: gd.Matrix.from_coo([0], [1], nrows=N, ncols=N, symmetric=True), ex.InvalidValue),
        (lambda: gd.Matrix(int, N, N, device="cuda:63"), ex.InvalidValue),
        (lambda: gd.Vector.from_scalar(1, N, device="nowhere"), ValueError),
        (lambda: gd.Matrix.from_coo([0], [1], nrows=N, ncols=N, device=["cpu", "cpu"]), TypeError),
    ):  # fmt: skip
        found = refused(run)
        assert found is not None and issubclass(found, kind), (kind, found)
    assert y.u.isequal(before) and g.allreduce(np.array([1]))[0] == g.size
    assert gd.Vector(int, N, device=g.device.name).device is g.device


def bits(g):
    """The same number of ranks gives the same bits."""
    results = []
    for _ in range(2):
        y = operands(gd)
        total = y.F.reduce_scalar("plus").new().value
        v = y.F.T.mxv(y.f).new()
        results.append((total, v.to_dense(0.0).tobytes(), y.f.reduce("plus").new().value))
    assert results[0] == results[1] and len(set(g.texts(repr(results[0][0])))) == 1


def fails(g, how):
    """One rank does not come: the others say which, and in what statement."""
    y = operands(gd)
    g.barrier()
    if how == "sizes":
        more = 64 * (g.rank == 1)
        y.A = gd.Matrix.from_coo([0], [1], 1, nrows=N, ncols=N + more)
        y.u = gd.Vector.from_coo([1, 2], [1, 2], size=N + more)
    if g.rank == 1:
        if how == "killed":
            os.kill(os.getpid(), 9)
        if how == "ends":
            sys.exit(7)
        if how == "late":
            time.sleep(1.5)
            sys.exit(0)
        if how == "differs":
            y.A.mxv(y.v).new(name="other")
    w = gd.Vector(int, N, name="w")
    begin = time.monotonic()
    try:
        w << y.A.mxv(y.u)
    except DistributedError as error:
        seconds = time.monotonic() - begin
        print(f"rank {g.rank} after {'more' if seconds > 0.4 else 'less'} than 0.4 s: {error}", flush=True)
        try:
            w.nvals
        except DistributedError as again:
            assert "broken" in str(again) or how == "differs"
        sys.exit(3)


def restarts(g, folder, last):
    """A search that is stopped after some rounds and continued; with `last` to its end."""
    y = operands(gd)
    v, q, told = gd.Vector(int, N), gd.Vector(bool, N), []
    q[3] = True

    def body(level):
        if last == "no" and level == 2:
            raise KeyError
        told.append(level)
        v(q.S) << level
        q(~v.S, gd.replace) << q.vxm(y.A, gd.semiring.any_pair[gd.dtypes.BOOL])

    program = gb.loop.Program(body, while_=q).checkpoint(folder, state=[v], every=2)
    if last == "no":
        assert refused(program.run) is KeyError and told == [0, 1]
    else:
        assert program.run() == told[-1] + 1 and told[0] == 2
        assert same(gb.algorithms.bfs_levels(operands(gb).A, 3), v)


if __name__ == "__main__":
    group = gd.init()
    for name in sys.argv[1].split(","):
        run = ELSEWHERE.get(name) or globals()[name]
        run(group, *(sys.argv[2:] if run.__code__.co_argcount > 1 else ()))
    print(f"rank {group.rank} of {group.size} done", flush=True)
