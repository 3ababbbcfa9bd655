"""Independent work that ranks share: the answers of one device, errors of one rank, and the plan. On ranks."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
from distributed_programs import N, assert_refused, error_of, operands, same

import bitblas as gb
import bitblas.distributed as gd
from bitblas import tuning
from bitblas.algorithms import _loops
from bitblas.distributed import work_sharing
from bitblas.exceptions import DistributedError, InvalidValue, OutOfMemory

SOURCES = [3, 250, 17, 3, 88, 120, 1, 299, 42]
# Algorithms with their graph and arguments; the floats of the last group are sums, rounded by the number of ranks.
EXACT = (
    ("levels_from_each", "A", (SOURCES,), {}), ("levels_from_each", "S", ([7],), {}),
    ("eccentricity", "A", (), {}), ("closeness_centrality", "S", (), {}),
    ("distances_from_each", "W", (SOURCES,), {}), ("distances_of_pairs", "W", ("A",), {}),
    ("random_walks", "A", (SOURCES, 6), {"seed": 5}), ("random_walks", "W", ([3], 4), {"weighted": True}),
    ("node2vec_walks", "S", (SOURCES, 5), {"p": 2.0}), ("sample_neighbors", "W", (SOURCES, [3, 2]), {"seed": 1}),
    ("triangle_count", "S", (), {}), ("triangles_per_vertex", "S", (), {}), ("triangles_per_edge", "S", (), {}),
    ("local_clustering", "A", (), {"directed": True}), ("transitivity", "S", (), {}),
    ("average_clustering", "S", (), {}), ("jaccard", "S", (), {"top": 3}), ("cosine", "A", (), {"pairs": "B"}),
)  # fmt: skip
ROUNDED = (
    ("betweenness_centrality", "A", (SOURCES,), {"batch": 2}), ("betweenness_centrality", "S", ([5],), {}),
    ("betweenness_centrality", "S", (), {"k": 7, "normalized": True}),
    ("betweenness_centrality", "W", (SOURCES,), {"weighted": True, "endpoints": True}),
    ("edge_betweenness_centrality", "A", (SOURCES,), {"normalized": True}),
    ("harmonic_centrality", "A", (), {}), ("adamic_adar", "S", (), {}),
    ("resource_allocation", "S", (), {"pairs": "A"}),
)  # fmt: skip
FEW = ("levels_from_each", "random_walks", "triangles_per_edge", "betweenness_centrality", "jaccard")


def answers(name, graph, arguments, options, made):
    """The answer as a list of objects on one device, or numbers."""
    find = lambda x: getattr(made, x) if isinstance(x, str) else x
    found = getattr(gb.algorithms, name)(
        getattr(made, graph), *map(find, arguments), **{key: find(x) for key, x in options.items()}
    )
    found = found if isinstance(found, tuple) else (found,)
    return [x.gathered() if hasattr(x, "gathered") else x for x in found]


def is_close(x, y):
    return x.isclose(y, rel_tol=1e-12) if hasattr(x, "isclose") else abs(x - y) <= 1e-12 * abs(y)


def shared(g, only=""):
    """Algorithms whose work is independent give the answers of one device, also with fewer sources than ranks."""
    x, y = operands(gb), operands(gd)
    for compare, cases in ((same, EXACT), (is_close, ROUNDED)):
        for name, graph, arguments, options in cases:
            if only and name not in FEW:
                continue
            found, wanted = (answers(name, graph, arguments, options, made) for made in (y, x))
            assert len(found) == len(wanted) and all(map(compare, found, wanted)), (name, graph, options)
            told = gd.explain(getattr(y, graph), getattr(gb.algorithms, name))
            assert (f"{name}(" in told and "shared: each rank has the graph" in told) == (g.size > 1), told
    A = y.A.dup()
    taken = []
    part, work_sharing.RankWork.part = (
        work_sharing.RankWork.part,
        lambda self, items: taken.append(part(self, items)) or taken[-1],
    )
    try:
        gb.algorithms.levels_from_each(A, SOURCES)
    finally:
        work_sharing.RankWork.part = part
    each = g.texts(",".join(map(str, taken[0] if taken else SOURCES)))
    assert [int(x) for text in each for x in text.split(",") if x] == SOURCES


def choices(g):
    """A program may choose; what does not fit is refused on all ranks, with the bytes."""
    x, y, al = operands(gb), operands(gd), gb.algorithms
    for choice in ("replicated", "partitioned"):
        g.choice = choice
        for name, graph, arguments in (("bfs_levels", "S", (3,)), ("bfs_parents", "A", (3,)), ("pagerank", "A", ())):
            found, wanted = (answers(name, graph, arguments, {}, made)[0] for made in (y, x))
            assert (
                found.apply("one").new().isequal(wanted.apply("one").new())
                if "parents" in name
                else is_close(found, wanted)
            ), (choice, name)
        told = gd.explain(y.S, al.bfs_levels)
        assert g.size == 1 or f"{choice}: requested" in told, told
        assert al.bfs_levels(y.S, 3).shares.size == N
    g.choice = ""
    for name, graph in (("label_propagation", "S"), ("minimum_spanning_forest", "W")):
        found, wanted = (answers(name, graph, (), {}, made)[0] for made in (y, x))
        assert same(wanted, found), name
    g.choice = "replicated"
    if g.size > 1:
        i, j = np.random.default_rng(g.rank).integers(0, 4096, (2, 60_000))  # memory is predicted, of any stored format
        B = gd.Matrix.from_chunks([(i, j), (j, i)], True, nrows=4096, ncols=4096, share=True, symmetric=True)
        B._gathered()
        tracemalloc.start()
        B._gathered()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0 < peak < work_sharing.copy_room(B)
        A = operands(gd, 2).A
        with tuning.override({"memory.checked_bytes": 0}), gb.config.set(memory_limit=1):
            for _ in range(2):
                found = error_of(al.bfs_levels, A, 3)
                assert isinstance(found, OutOfMemory) and f"{work_sharing.copy_room(A)} bytes" in str(found), found
        assert same(al.bfs_levels(A, 3).gathered(), al.bfs_levels(operands(gb, 2).A, 3))
    g.choice = ""


def faults(g):
    """Bad input of all ranks, of one, and a rank that fails in its part."""
    y, al = operands(gd), gb.algorithms
    assert_refused(gb.exceptions.IndexOutOfBound, lambda: al.levels_from_each(y.A, [0, N]))
    assert_refused(InvalidValue, lambda: al.betweenness_centrality(y.A, batch=0))
    if g.size > 1:
        sources = [*SOURCES[:-1], g.rank]
        for run, name in (
            (lambda: al.betweenness_centrality(y.A, sources), "sources"),
            (lambda: al.random_walks(y.A, starts=np.array(sources), length=3), "starts"),
            (lambda: al.random_walks(y.A, [3, 4], 3, seed=g.rank), "seed"),
        ):
            assert_refused(DistributedError, run, said=f"argument {name}: expected the same on all ranks")
        total = work_sharing.RankWork.part
        work_sharing.RankWork.part = lambda self, items: total(self, items) if g.rank else [N + 7]
        found = error_of(al.distances_from_each, y.W, SOURCES)
        work_sharing.RankWork.part = total
        assert isinstance(found, gb.exceptions.IndexOutOfBound) and not g.broken, found
        assert g.rank == 0 or "found by rank 0" in str(found), found
        g.choice = "replicated"  # nothing is sent, and ranks compare arguments before the next exchange
        before, v = g.sent, al.bfs_levels(y.A, g.rank)
        assert g.sent == before and v.shares.size == N
        assert_refused(
            DistributedError, lambda: y.A.nvals + g.allreduce(np.array([1])), said="bfs_levels: argument source"
        )
        assert_refused(gb.exceptions.IndexOutOfBound, lambda: al.bfs_levels(y.A, N))
        assert same(al.bfs_levels(y.A, 3).gathered(), al.bfs_levels(operands(gb).A, 3)) and not g.broken
        g.choice = ""
    assert _loops.shared_work() is _loops.ALL
    assert al.levels_from_each(y.A, SOURCES).nvals and g.allreduce(np.array([1]))[0] == g.size


def killed_in_its_part(g):
    """A rank that is killed while others wait for its part: one error, before the timeout."""
    import os

    y = operands(gd)
    g.barrier()
    if g.rank == 1:
        work_sharing.RankWork.total = lambda *_: os.kill(os.getpid(), 9)
    begin = time.monotonic()
    found = error_of(gb.algorithms.betweenness_centrality, y.A, SOURCES)
    seconds = time.monotonic() - begin
    print(f"rank {g.rank} after {'less' if seconds < g.timeout else 'more'} {seconds:.2f} s: {found}", flush=True)
    raise SystemExit(1)
