"""python -m benchmarks.size: time and memory of building, searching and ranking graphs that fill a device.

The graph is R-MAT with Graph 500's probabilities. Edges are generated from hashes of their numbers, so each chunk can
be generated again and no list of all edges is stored. Each edge is present in both directions (a self loop becomes the
edge to the vertex whose number differs in the lowest bit); vertices have the numbers of the recursion, or with
`--numbered` random ones. The matrix is built by `Matrix.from_chunks` with symmetric=True, in the requested format.

Measured: the build; the median of searches from some vertices, with billions of edges (pairs of entries) per second;
components; ten rounds of PageRank in FP32; with `--labels` so many rounds of label propagation; for each the most bytes
allocated at once (GPU), and the bytes of the matrix. Answers are checked by their properties: each vertex is one level
beyond its nearest neighbour and has its neighbours' label, ranks sum to 1, and some vertices have the most frequent
label that their neighbours had one round earlier.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import bitblas as gb
from bitblas import device as devices
from bitblas.algorithms import Watch, bfs_levels, connected_components, label_propagation, pagerank
from bitblas.compare import fixed

from . import table
from .builds import peak_bytes

A, B, C = (round(p * 2**32) for p in (0.57, 0.76, 0.95))  # bounds of a draw for the first, second and third quadrant
MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # constants of splitmix64
EDGE = """
long long r = 0, c = 0;
for (int bit = 0; bit < scale; bit += 2) {
  unsigned long long h = ((unsigned long long)(first + i) * 32 + bit + seed) * MIX0;
  h = (h ^ (h >> 30)) * MIX1;
  h = (h ^ (h >> 27)) * MIX2;
  h ^= h >> 31;
  for (int half = 0; half < 2 && bit + half < scale; ++half, h >>= 32) {
    const unsigned int u = (unsigned int)h;
    const int lower = u >= B;
    r = 2 * r + lower;
    c = 2 * c + ((u >= A) ^ lower ^ (u >= C));
  }
}
row = r;
col = r == c ? c ^ 1 : c;
"""
CONSTANTS = {"MIX0": MIX[0], "MIX1": MIX[1], "MIX2": MIX[2], "A": A, "B": B, "C": C}


def edges(xp: Any, scale: int, first: int, count: int, seed: int) -> tuple[Any, Any]:
    """Rows and columns (INT64) of `count` edges from number `first` on."""
    if hasattr(xp, "cuda"):
        return _kernel(xp)(first, scale, seed, xp.empty(count, np.int64), xp.empty(count, np.int64))
    edge = np.arange(first, first + count, dtype=np.uint64) * np.uint64(32) + np.uint64(seed)
    rows, cols = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for bit in range(0, scale, 2):
        h = (edge + np.uint64(bit)) * np.uint64(MIX[0])
        h = (h ^ h >> np.uint64(30)) * np.uint64(MIX[1])
        h = (h ^ h >> np.uint64(27)) * np.uint64(MIX[2])
        h ^= h >> np.uint64(31)
        for u in (h & np.uint64(0xFFFFFFFF), h >> np.uint64(32))[: scale - bit]:
            lower = u >= B
            rows = 2 * rows + lower
            cols = 2 * cols + ((u >= A) ^ lower ^ (u >= C))
    return rows, np.where(rows == cols, cols ^ 1, cols)


@functools.cache
def _kernel(xp: Any) -> Any:
    given = "int64 first, int32 scale, int64 seed"
    named = "".join(f"const unsigned long long {name} = {x}ull;\n" for name, x in CONSTANTS.items())
    return xp.ElementwiseKernel(given, "int64 row, int64 col", named + EDGE, "rmat_edges")


class Rmat:
    """The chunks of a graph of 2**scale vertices and `edge_factor` times as many edges, in both directions."""

    def __init__(self, device: Any, scale: int, edge_factor: int = 16, chunk: int = 1 << 24, seed: int = 1) -> None:
        self.device, self.scale, self.seed = device, scale, seed
        self.edges, self.chunk = edge_factor << scale, chunk
        self.shape = (1 << scale, 1 << scale)

    def ends(self, first: int, count: int) -> tuple[Any, Any]:
        """Rows and columns (INT64) of `count` edges from number `first` on."""
        return edges(self.device.xp, self.scale, first, count, self.seed)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for first in range(0, self.edges, self.chunk):
            rows, cols = self.ends(first, min(self.chunk, self.edges - first))
            yield rows, cols
            yield cols, rows


class Numbered(Rmat):
    """The chunks of the graph, with vertices numbered at random."""

    @functools.cached_property
    def number(self) -> Any:
        return self.device.asarray(np.random.default_rng(1).permutation(1 << self.scale).astype(np.uint32))

    def ends(self, first: int, count: int) -> tuple[Any, Any]:
        rows, cols = super().ends(first, count)
        return self.number[rows].astype(np.int64), self.number[cols].astype(np.int64)


def ranked(M: Any, rounds: int = 10) -> tuple[Any, float]:
    """PageRank in FP32 after so many rounds, and the milliseconds of a round."""
    ranks, times = table.timed(M.device, lambda: fixed(pagerank, M, rounds, dtype="FP32"), 1)
    return ranks, times[0] / rounds


def labelled(M: Any, rounds: int) -> tuple[Any, float]:
    """Labels after at most so many rounds, and the milliseconds of a round."""
    with Watch() as seen:
        labels, times = table.timed(M.device, lambda: label_propagation(M, max_iter=rounds), 1)
    return labels, times[0] / (seen.rounds / 2)  # of both calls


def wrong_labels(M: Any, vertices: Sequence[int]) -> bool:
    """Whether one of these vertices does not have its neighbours' most frequent label after the second round."""
    first, second = (label_propagation(M, max_iter=k) for k in (1, 2))
    for v in vertices:
        near = first[M[v, :].new().to_coo()[0]].new().to_coo()[1]
        label, count = np.unique(M.device.to_host(near), return_counts=True)
        if label[count.argmax()] != second[v].new().value:
            return True
    return False


def wrong_levels(M: Any, levels: Any) -> bool:
    """Whether a reached vertex other than the source is not one level beyond its nearest neighbour, or has a neighbour
    that is not reached."""
    nearest = M.mxv(levels, gb.semiring.min_second).new()
    beyond = nearest.apply(gb.binary.plus, right=1).new()
    same = levels.ewise_mult(beyond, gb.binary.eq).new().reduce(gb.monoid.plus[gb.dtypes.INT64]).value
    alone = levels.nvals == 1 and nearest.nvals == 0
    return not alone and (nearest.nvals != levels.nvals or same != levels.nvals - 1)


def measure(device: Any, args: argparse.Namespace, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure one graph in one format."""
    chunks = (Numbered if args.numbered else Rmat)(device, args.scale, args.edge_factor, args.chunk)
    result: dict[str, Any] = {"scale": args.scale, "edge_factor": args.edge_factor, "format": args.format}
    result["numbered"] = args.numbered

    def step(name: str, run: Callable[[], Any]) -> Any:
        found, begin = list[Any](), time.perf_counter()
        peak = peak_bytes(device, lambda: found.append(run()))
        if not found:  # memory is not counted on this device, and nothing ran
            found.append(run())
        result[f"{name} peak"], result[f"{name} s"] = peak, time.perf_counter() - begin
        most = "" if peak is None else f", {peak / 1e9:.2f} GB given out at most"
        say(f"{name}: {result[f'{name} s']:.2f} s{most}")
        return found[0]

    build = lambda: gb.Matrix.from_chunks(chunks, symmetric=True, format=args.format, device=device)
    M = step("build", build)
    held = M.memory().structure
    given = 2 * chunks.edges
    result |= {"nvals": M.nvals, "bytes": held, "given a second": given / result["build s"]}
    say(f"{M.nvals} entries of {given}, {held / M.nvals:.3f} bytes each, {given / result['build s'] / 1e6:.0f} M/s")
    rng, ok = np.random.default_rng(1), True
    drawn = rng.integers(0, chunks.edges, args.sources).tolist()
    sources = [int(chunks.ends(k, 1)[0][0]) for k in drawn]  # each has an edge
    vars(chunks).pop("number", None)  # frees it
    first = step("first search", lambda: bfs_levels(M, sources[0]))
    ok &= not wrong_levels(M, first)
    times = [table.timed(device, functools.partial(bfs_levels, M, s), 1)[1][0] for s in sources]
    ms = float(np.median(times))
    result |= {"bfs ms": ms, "bfs": times, "edges a second": M.nvals / 2 / ms / 1e-3}
    far = f"{first.nvals} reached in {first.reduce(gb.monoid.max).value} levels"
    say(f"bfs: {ms:.2f} ms, {M.nvals / 2 / ms / 1e6:.1f} G edges/s; {far}")
    del first
    labels = step("first components", lambda: connected_components(M))
    nearest = M.mxv(labels, gb.semiring.min_second).new()
    ok &= labels.ewise_mult(nearest, gb.binary.eq).new().reduce(gb.monoid.land, allow_empty=False).new().value
    del nearest
    del labels
    result["components ms"] = float(np.median(table.timed(device, lambda: connected_components(M).nvals, 2)[1]))
    say(f"components: {result['components ms']:.1f} ms")
    ranks, ms = step("two PageRanks", lambda: ranked(M))
    total = float(ranks.reduce(gb.monoid.plus[gb.dtypes.FP64]).value)
    ok &= abs(total - 1) < 1e-3
    result |= {"pagerank ms": ms, "held": M.memory().total, "right": ok}
    say(f"pagerank: {ms:.1f} ms a round, sum {total:.6f}; held {result['held'] / 1e9:.2f} GB\n{M.memory()}")
    if args.labels:
        ms = step("two label propagations", lambda: labelled(M, args.labels))[1]
        result["labels ms"], result["labels rounds"] = ms, args.labels
        ok &= not wrong_labels(M, sources)
        result |= {"held with labels": M.memory().total, "right": ok}
        say(f"labels: {ms:.1f} ms a round, {M.nvals / ms / 1e6:.1f} G entries/s; held {M.memory().total / 1e9:.2f} GB")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.size", description=__doc__.partition("\n")[0])
    p.add_argument("--device", default="cpu", help="cpu, cuda")
    p.add_argument("--scale", type=int, default=16, help="2**scale vertices (16)")
    p.add_argument("--edge-factor", type=int, default=16, help="edges a vertex, each of which is two entries (16)")
    p.add_argument("--format", default="nib", help="the stored form (nib); auto")
    p.add_argument("--sources", type=int, default=16, help="searches (16)")
    p.add_argument("--numbered", action="store_true", help="vertices have random numbers")
    p.add_argument("--labels", type=int, default=0, help="rounds of label propagation (0)")
    p.add_argument("--chunk", type=int, default=1 << 24, help="edges that are made at once")
    p.add_argument("--json", help="where everything goes")
    args = p.parse_args(argv)
    device = devices.get(args.device)
    with gb.config.set(device=args.device):
        result = measure(device, args, table.say)
    if args.json:
        table.write(args.json, table.surroundings(device=device.model, gpu=device.is_gpu) | result)
    return 0 if result["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
