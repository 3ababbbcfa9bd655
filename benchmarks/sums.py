"""Repeated sums on a GPU, with and without their copy of the matrix, next to cuSPARSE's SpMV.

    python -m benchmarks.sums --graphs kron20,kron22,delaunay_n20,stencil27_100 --json sums.json
    python -m benchmarks.sums --graphs "" --ranked kron27

Products: kernel time with warm caches (cuda_timing.py) of full vectors by plain rows, by the copy that
`A.prepare("sums")` makes, and by cuSPARSE, which has plus_times in FP32 and FP64 (its figure in FP32 is also next to
plus_second, which reads no values). Values are whole numbers from 1 to 63. Both of ours have to agree, exactly unless
float sums are inexact, and with cuSPARSE.

Ranked: 20 rounds of PageRank in FP32 as a call, before and after `prepare`, with building and memory; searches
(`bfs_levels`) on two matrices in turn, of which one has the copy.

A graph is a name of graphs.py, or kron<scale>: R-MAT of Graph 500's parameters (size.py) with vertices numbered at
random, made on the GPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bitblas as gb
from bitblas import tuning
from bitblas.algorithms import bfs_levels, pagerank
from bitblas.compare import fixed

from . import graphs, table
from .builds import peak_bytes
from .cuda_timing import Timer
from .cusparse import R_32F, R_64F, Spmv
from .size import Numbered

GRAPHS = ("kron20", "kron22", "delaunay_n20", "stencil27_100")
RANKED = ("kron20", "kron22", "social_n18", "crawl_n18", "college_n15")
PRODUCTS = (
    ("plus_second", "FP32"),
    ("plus_times", "FP32"),
    ("plus_times", "FP64"),
    ("plus_times", "INT64"),
    ("min_plus", "FP32"),
    ("min_plus", "INT64"),
    ("max_plus", "FP32"),
)
TOLERANCE = 1e-5  # relative, of FP32 sums, some of which exceed 2^24
ROUNDS, SOURCES = 20, 16
MOST_SEARCHED = 1 << 30  # entries
ROWS_ONLY = {"sums.least_entries": 1e18}  # no copy is made


def pattern(name: str, device: Any) -> Any:
    """The graph as a matrix without values, by rows."""
    if name.startswith("kron"):
        chunks = Numbered(device, int(name.removeprefix("kron")))
        return gb.Matrix.from_chunks(chunks, symmetric=True, format="csr", device=device)
    graph = graphs.make(name)
    at = {"nrows": graph.n, "ncols": graph.n, "device": device.name, "format": "csr"}
    return gb.Matrix.from_csr(device.asarray(graph.ptr), device.asarray(graph.col), True, **at)


def _weights(rows: Any, device: Any) -> Any:
    """Whole numbers from 1 to 63, one per entry."""
    return (device.xp.arange(rows.nvals) * 2654435761 % 4294967296 // 68174085 + 1).astype(np.float32)


def products(name: str, timer: Timer, device: Any) -> list[dict[str, Any]]:
    """The times of all products with one graph."""
    A = pattern(name, device)
    rows, n, found = A._stored.structure.primary, A.nrows, list[dict[str, Any]]()
    weights, x = _weights(rows, device), graphs.numbers(n)
    peers = {}
    for dtype in ("FP32", "FP64"):
        kind = np.dtype(getattr(np, {"FP32": "float32", "FP64": "float64"}[dtype]))
        number = R_32F if dtype == "FP32" else R_64F
        peer = Spmv(rows.ptr, rows.col, weights.astype(kind), n, n, number)
        peer.x[:] = device.asarray(x.astype(kind))
        peers[dtype] = timer.warm(peer.run), device.to_host(peer.run())
        del peer
    for semiring, dtype in PRODUCTS:
        kind = gb.dtypes.lookup_dtype(dtype).np_type
        values = True if semiring.endswith("second") else weights.astype(kind)
        B = gb.Matrix.from_csr(rows.ptr, rows.col, values, nrows=n, ncols=n, device=device.name, format="csr")
        product = B.mxv(gb.Vector.from_dense(device.asarray(x.astype(kind))), gb.semiring[semiring][dtype])
        row: dict[str, Any] = {"graph": name, "nvals": rows.nvals, "product": semiring, "dtype": dtype}
        with tuning.override(ROWS_ONLY):
            first = _answer(product, device)
            row["rows_us"] = timer.warm(partial(product.run, None))
        B.prepare("sums")
        second = _answer(product, device)
        row["copy_us"] = timer.warm(partial(product.run, None))
        row["copied"] = gb.explain(product).kernel == "sums"
        equal = np.allclose(first, second, rtol=TOLERANCE if dtype == "FP32" else 0, atol=0)
        if semiring in ("plus_times", "plus_second") and dtype in peers:
            row["cusparse_us"], theirs = peers[dtype]
            if semiring == "plus_times":
                equal = equal and np.allclose(second, theirs[theirs != 0], rtol=TOLERANCE, atol=0)
        found.append(row | {"equal": bool(equal)})
        del B
    return found


def _answer(product: Any, device: Any) -> np.ndarray:
    found: np.ndarray = device.to_host(product.new().to_coo()[1])
    return found


def ranked(name: str, samples: int, device: Any) -> dict[str, Any]:
    """PageRank before and after `prepare`, building, and searches next to it."""
    A = pattern(name, device)
    run = lambda: fixed(pagerank, A, ROUNDS, dtype="FP32")
    with tuning.override(ROWS_ONLY):
        first, before = table.timed(device, run, samples)
    found = list[float]()
    semiring, values = gb.semiring.plus_second["FP32"], device.asarray(graphs.numbers(A.nrows))
    x = gb.Vector.from_dense(values)

    def build() -> None:
        A.prepare("sums")
        begin = time.perf_counter()
        A.mxv(x, semiring).new()
        device.synchronize()
        found.append(time.perf_counter() - begin)

    build()  # compiles
    A, rows = A.dup(), A._stored.structure.primary
    rows.cache.clear()
    build()
    rows.cache.clear()
    peak = peak_bytes(device, build)
    second, after = table.timed(device, run, samples)
    row = {"graph": name, "nvals": A.nvals, "before_ms": float(np.median(before)), "after_ms": float(np.median(after))}
    row |= {"build_s": found[1], "peak": peak}
    row["equal"] = bool(np.allclose(first.to_dense(), second.to_dense(), rtol=1e-4))
    if A.nvals > MOST_SEARCHED:
        return row
    B = pattern(name, device)
    reached = device.to_host(A.reduce_rowwise("count").new().to_coo()[0])
    sources = np.random.default_rng(2).choice(reached, SOURCES)
    times: list[list[float]] = [[], []]
    for _ in range(samples):
        for s in sources.tolist():
            for M, of in zip((A, B), times, strict=True):
                of.append(table.timed(device, partial(bfs_levels, M, s), 1)[1][0])
    row["search_with_copy"] = float(np.median(times[0]) / np.median(times[1]))
    return row


def text(rows: Sequence[dict[str, Any]]) -> str:
    """A table of products or of ranked graphs."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    show: Callable[[Any], str] = lambda x: "" if x is None else f"{x:.4g}" if isinstance(x, float) else str(x)
    return table.table(heads, [[show(row.get(key)) for key in heads] for row in rows], left=1)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--ranked", default=",".join(RANKED))
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args(argv)

    def run() -> dict[str, Any]:
        device, timer = gb.device.get("cuda"), Timer(options.samples)
        gb.config.device = device.name
        rows = [row for name in table.names(options.graphs) for row in products(name, timer, device)]
        also = [ranked(name, options.samples, device) for name in table.names(options.ranked)]
        for part in filter(None, (rows, also)):
            print(text(part), flush=True)
        result = table.surroundings(device="cuda", samples=options.samples, rows=rows, ranked=also)
        result["machine"]["gpu"] = device.model
        return result | {"equal": all(row["equal"] for row in (*rows, *also))}

    return table.ended("benchmarks.sums", run, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
