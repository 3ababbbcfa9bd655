"""python -m benchmarks.gap: the six kernels of the GAP Benchmark Suite, by its rules.

Beamer, Asanovic, Patterson: The GAP Benchmark Suite. arXiv:1508.03619.

Graphs: Kron (R-MAT with Graph 500's probabilities) and Urand (uniform), both undirected, with 2^scale vertices, 16
edges drawn for each, loops and duplicates removed, vertices numbered at random; weights from 1 to 255. GAP's scale is
27. Road, Web and Twitter run from files (`--graphs FILE.mtx`), as the SuiteSparse Collection has them. The generators
are not GAP's: they draw from hashes of edge numbers, on the device, so their graphs are of the same families, but not
the same graphs.

| kernel | trials | one trial, from the stored graph to the answer | the verifier |
|---|---|---|---|
| bfs | 64 | parents from a source | depths of a serial search |
| sssp | 64 | distances from a source | no edge shortens a distance, and one gives it |
| pr | 16 | PageRank, damping 0.85, until it changes by less than 1e-4 | the error of one more iteration is below 1e-4 |
| cc | 16 | components, weak ones of a directed graph | a search from each label |
| bc | 16 | betweenness from four sources | Brandes' algorithm, scores divided by the largest: FP32's epsilon |
| tc | 3 | triangles of the undirected graph | merging of lists, up to 2^25 entries |

Sources have edges and are drawn with one seed; the first four of bfs are those of the first trial of bc. The time of a
kernel is the mean of its trials, as in GAP. A trial before them, which compiles and captures, has a column of its own.
GAP loses the rank of vertices without out-edges; bitblas spreads it over all vertices. Both answers are proportional,
so the verifier takes ours divided by the factor. Triangles: the order by degree is kept with the matrix after the first
trial, while GAP sorts in each.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import serial, table
from .checks import dense, host
from .size import MIX, edges

TRIALS = {"bfs": 64, "sssp": 64, "pr": 16, "cc": 16, "bc": 16, "tc": 3}
KERNELS = tuple(TRIALS)
DEGREE, DAMPING, TOLERANCE, TOGETHER = 16, 0.85, 1e-4, 4
MOST_TRIANGLES = 1 << 25  # entries up to which triangles are verified, because merging takes long
CHUNK = 1 << 24


def mixed(xp: Any, x: Any) -> Any:
    """splitmix64 of unsigned integers."""
    shift = lambda bits: xp.uint64(bits)
    x = x * xp.uint64(MIX[0])
    x = (x ^ (x >> shift(30))) * xp.uint64(MIX[1])
    x = (x ^ (x >> shift(27))) * xp.uint64(MIX[2])
    return x ^ (x >> shift(31))


def renumbered(xp: Any, v: Any, scale: int) -> Any:
    """A permutation of the numbers below 2**scale: three rounds of odd factors and shifts."""
    v, mask = v.astype(np.uint64), xp.uint64((1 << scale) - 1)
    for factor in MIX:
        v = (v * xp.uint64(factor | 1)) & mask
        v = v ^ (v >> xp.uint64(max(1, scale // 2)))
    return v.astype(np.int64)


class Drawn:
    """The chunks of Kron or Urand, in both directions, without self loops."""

    def __init__(self, device: Any, family: str, scale: int) -> None:
        self.xp, self.family, self.scale = device.xp, family, scale
        self.shape = (1 << scale, 1 << scale)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        xp, total, scale = self.xp, DEGREE << self.scale, self.scale
        for first in range(0, total, CHUNK):
            count = min(CHUNK, total - first)
            if self.family == "kron":
                rows, cols = (renumbered(xp, ends, scale) for ends in edges(xp, scale, first, count, 1))
            else:
                number = xp.arange(2 * first, 2 * (first + count), dtype=np.uint64)
                ends = (mixed(xp, number) >> xp.uint64(64 - scale)).astype(np.int64)
                rows, cols = ends[::2], ends[1::2]
            kept = rows != cols
            yield rows[kept], cols[kept]
            yield cols[kept], rows[kept]


class Loaded(NamedTuple):
    """A graph on the device, with and without weights and directions, and on the host. undirected: A itself, or A with
    the reverse of each edge."""

    name: str
    A: Any
    W: Any
    undirected: Any

    @classmethod
    def drawn(cls, gb: Any, device: Any, family: str, scale: int) -> Loaded:
        A = gb.Matrix.from_chunks(Drawn(device, family, scale), symmetric=True, device=device)
        ptr, xp = A.to_csr()[0], device.xp
        rows, col, _ = A.to_coo(values=False)
        low, high = xp.minimum(rows, col).astype(np.uint64), xp.maximum(rows, col).astype(np.uint64)
        del rows
        draw = mixed(xp, (low << xp.uint64(32)) | high)
        weights = (1 + draw % xp.uint64(255)).astype(np.float32)
        W = gb.Matrix.from_csr(ptr, col, weights, nrows=A.nrows, ncols=A.nrows, device=device)
        return cls(f"{family}{scale}", A, W, A)

    @classmethod
    def read(cls, gb: Any, device: Any, path: str) -> Loaded:
        W = gb.io.mmread(path, device=device.name).select(gb.select.offdiag).new()
        A = W.apply(gb.binary.second, right=True).new(bool)
        both = A if A.isequal(A.T.new()) else A.ewise_add(A.T, gb.binary.lor).new()
        if W.dtype == gb.dtypes.BOOL:  # a pattern: weights as of the generated graphs
            i, j, _ = W.to_coo()
            xp = device.xp
            draw = mixed(xp, (i.astype(np.uint64) << xp.uint64(32)) | j.astype(np.uint64))
            W = gb.Matrix.from_coo(i, j, (1 + draw % xp.uint64(255)).astype(np.int32), nrows=W.nrows, ncols=W.ncols)
        return cls(Path(path).name.partition(".")[0], A, W, both)


class Host(NamedTuple):
    """Row pointers, columns and weights on the host."""

    ptr: np.ndarray
    col: np.ndarray
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, M: Any, *, weights: bool = False) -> Host:
        ptr, col, values = M.to_csr()
        return cls(host(ptr).astype(np.int64), host(col), host(values).astype(np.float64) if weights else None)


def sources_of(graph: Host, count: int, path: str | None) -> list[int]:
    """Vertices with edges: random ones, or those of a Matrix Market file that counts from 1, as the Collection has."""
    if path is not None:
        from scipy.io import mmread

        given = np.asarray(mmread(path)).ravel().astype(np.int64) - 1
        if len(given) < count:
            raise ValueError(f"--sources: expected {count} vertices, got {len(given)} in {path}")
        return [int(v) for v in given[:count]]
    linked = np.flatnonzero(np.diff(graph.ptr))
    if not len(linked):
        raise ValueError("the graph has no edges")
    return [int(v) for v in np.random.default_rng(27491095).choice(linked, count)]


def calls(kernel: str, graph: Loaded, sources: Sequence[int], count: int) -> list[Callable[[], Any]]:
    """The trials of a kernel."""
    from bitblas import algorithms as a

    A, W, both = graph.A, graph.W, graph.undirected
    directed = A is not both
    one: dict[str, Callable[[int], Callable[[], Any]]] = {
        "bfs": lambda k: lambda: a.bfs_parents(A, sources[k]),
        "sssp": lambda k: lambda: a.sssp(W, sources[k]),
        "pr": lambda k: lambda: a.pagerank(A, alpha=DAMPING, tol=TOLERANCE, max_iter=1000, dtype="FP32"),
        "cc": lambda k: lambda: a.weakly_connected_components(A) if directed else a.connected_components(A),
        "bc": lambda k: (
            lambda: a.betweenness_centrality(
                A, [sources[(TOGETHER * k + i) % len(sources)] for i in range(TOGETHER)], batch=TOGETHER
            )
        ),
        "tc": lambda k: lambda: a.triangle_count(both),
    }
    return [one[kernel](k) for k in range(count)]


def is_right(kernel: str, graph: Loaded, hosts: dict[str, Host], k: int, sources: Sequence[int], answer: Any) -> Any:
    """Whether the answer of trial k passes GAP's verifier; None if it is too large for it."""
    g = hosts["A"]
    n = len(g.ptr) - 1
    if kernel == "bfs":
        depth = serial.depths(g.ptr, g.col, sources[k])
        return bool(serial.is_tree(g.ptr, g.col, sources[k], dense(answer, n, -1, np.int64), depth))
    if kernel == "sssp":
        w = hosts.setdefault("W", Host.of(graph.W, weights=True))
        return bool(serial.is_shortest(w.ptr, w.col, w.weight, sources[k], dense(answer, n, -1, np.float64)))
    if kernel == "pr":
        score = dense(answer, n, 0, np.float64)
        lost = float(score[np.diff(g.ptr) == 0].sum())
        score *= (1 - DAMPING) / (1 - DAMPING + DAMPING * lost)
        return bool(serial.page_rank_error(g.ptr, g.col, score, DAMPING) < TOLERANCE)
    both = hosts.setdefault("both", g if graph.undirected is graph.A else Host.of(graph.undirected))
    if kernel == "cc":
        return bool(serial.are_components(both.ptr, both.col, dense(answer, n, -1, np.int64)))
    if kernel == "bc":
        found, expected = dense(answer, n, 0, np.float64), np.zeros(n)
        for i in range(TOGETHER):
            serial.dependencies(g.ptr, g.col, sources[(TOGETHER * k + i) % len(sources)], expected)
        apart = np.abs(found / max(found.max(), 1e-300) - expected / max(expected.max(), 1e-300)).max(initial=0)
        return bool(apart <= np.finfo(np.float32).eps)
    return bool(answer == serial.triangles(both.ptr, both.col)) if len(both.col) <= MOST_TRIANGLES else None


def measure(
    names: Sequence[str], kernels: Sequence[str], device: str, scale: int, *, verify: int = 1,
    trials: int | None = None, sources: str | None = None, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Mean seconds of the trials of each kernel on each graph; a line for each is passed to `say`."""
    import bitblas as gb

    d = gb.device.get(device)
    result = table.surroundings(device=device, benchmark="GAP", scale=scale, rows=[])
    result["machine"]["gpu"] = d.model if d.is_gpu else None
    say(f"{'graph':<12}{'kernel':<8}{'trials':>7}{'first ms':>12}{'mean ms':>12}{'least ms':>12}   verified")
    for name in names:
        with gb.config.set(device=device):
            graph = Loaded.drawn(gb, d, name, scale) if name in ("kron", "urand") else Loaded.read(gb, d, name)
        hosts = {"A": Host.of(graph.A)}
        picked = sources_of(hosts["A"], TRIALS["bfs"], sources)
        say(f"{graph.name}: {graph.A.nrows} vertices, {graph.A.nvals} entries")
        for kernel in kernels:
            runs = calls(kernel, graph, picked, min(TRIALS[kernel], trials or TRIALS[kernel]))
            times, right = [], []
            for k, run in enumerate([runs[0], *runs]):  # the first trial is run twice; its first time is the first
                d.synchronize()
                begin = time.perf_counter()
                answer = run()
                d.synchronize()
                times.append(1e3 * (time.perf_counter() - begin))
                if 1 <= k <= verify:
                    right.append(is_right(kernel, graph, hosts, k - 1, picked, answer))
            row = {
                "graph": graph.name, "kernel": kernel, "trials": len(runs), "first_ms": times[0],
                "mean_ms": float(np.mean(times[1:])), "times_ms": times[1:], "vertices": graph.A.nrows,
                "entries": graph.A.nvals, "verified": sum(x is True for x in right),
                "right": None if None in right or not right else all(right),
            }  # fmt: skip
            result["rows"].append(row)
            said = {True: f"{row['verified']} of {len(runs)}", False: "WRONG", None: "-"}[row["right"]]
            say(
                f"{graph.name:<12}{kernel:<8}{len(runs):>7}{times[0]:>12.2f}{row['mean_ms']:>12.3f}"
                f"{min(times[1:]):>12.3f}   {said}"
            )
        del graph, hosts
    result["equal"] = all(row["right"] is not False for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer that was verified is right, 1 if one is wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.gap", description=(__doc__ or "").splitlines()[0])
    p.add_argument("--device", default="cpu")
    p.add_argument("--scale", type=int, default=16, help="log2 of the vertices of kron and urand (16; GAP: 27)")
    p.add_argument("--graphs", type=table.names, default=["kron", "urand"], help="kron, urand, or .mtx files")
    p.add_argument("--kernels", type=table.names, default=list(KERNELS), help=f"of {','.join(KERNELS)}")
    p.add_argument("--trials", type=int, help="at most so many of each kernel (default: GAP's)")
    p.add_argument("--verify", type=int, default=1, help="trials of each kernel that are verified (1)")
    p.add_argument("--sources", help="a Matrix Market file with the 64 sources of a graph")
    p.add_argument("--json", help="where all samples go")
    args = p.parse_args(argv)
    if unknown := set(args.kernels) - set(KERNELS):
        p.error(f"--kernels: unknown {', '.join(sorted(unknown))}; known: {', '.join(KERNELS)}")
    if unknown := [g for g in args.graphs if g not in ("kron", "urand") and not Path(g).is_file()]:
        p.error(f"--graphs: expected kron, urand or a file, got {', '.join(unknown)}")
    for name, least in (("scale", 2), ("trials", 1), ("verify", 0)):
        if getattr(args, name) is not None and getattr(args, name) < least:
            p.error(f"--{name}: expected at least {least}, got {getattr(args, name)}")
    run = lambda: measure(
        args.graphs, args.kernels, args.device, args.scale, verify=args.verify, trials=args.trials,
        sources=args.sources, say=table.say,
    )  # fmt: skip
    return table.ended("benchmarks.gap", run, args.json)


if __name__ == "__main__":
    sys.exit(main())
