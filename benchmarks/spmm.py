"""Products with many columns on a GPU against cuSPARSE's SpMM and SDDMM: kernel time with warm caches.

    python -m benchmarks.spmm --graphs rmat20,delaunay_n20,stencil27_100 --columns 2,4,8,16,32,64,128,256,512

`dense`: bitblas.torch.spmm's kernel on row-major arrays; `bitmap`: `A.mxm(X)` with a full multivector, by the kernels
of the statement (FP32); `sddmm`: bitblas.torch.sddmm's. cuSPARSE's SpMM is the fastest of its algorithms that accept
row-major arrays; sums are FP32 in both. Entries have no weights, as in graphs, or weights of FP32, which cuSPARSE
stores in the type of X; it always reads values. `wrong` are answers of ours beyond the tolerance, `inexact` cuSPARSE's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bitblas as gb
from bitblas.operations import multivector, sddmm
from bitblas.operations.dense_spmm import BF16, FP16, SUM, DenseProduct, Lines, multiply

from . import graphs, table
from .cuda_timing import Timer
from .cusparse import R_16BF, R_16F, R_32F, SPMM_ALGORITHMS, Sddmm, Spmm

CHECKED = 300  # rows, or entries, whose answers are checked
KINDS = {"FP32": (0, R_32F), "FP16": (FP16, R_16F), "BF16": (BF16, R_16BF)}
# Relative to the sum of absolute values: orders of FP32 sums differ, and results of 16 bits are rounded once.
TOLERANCE = {"FP32": 1e-4, "FP16": 2**-10, "BF16": 2**-7}


def _stored(x: Any, dtype: str) -> Any:
    """FP32 numbers as an array of that type; of 16 bits as their bits."""
    if dtype == "FP32":
        return x
    if dtype == "FP16":
        return x.astype(np.float16).view(np.uint16)
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _numbers(x: Any, dtype: str) -> Any:
    if dtype == "FP32":
        return x
    return x.view(np.float16) if dtype == "FP16" else (x.astype(np.uint32) << 16).view(np.float32)


class Sides:
    """What is timed for one graph: A, with weights or without, next to cuSPARSE's arrays."""

    def __init__(self, graph: graphs.Graph, timer: Timer, dtype: str, *, weighted: bool) -> None:
        self.graph, self.timer, self.dtype, self.weighted = graph, timer, dtype, weighted
        self.half, self.kind = KINDS[dtype]
        self.values = (graph.weights / 64 if weighted else np.ones(graph.nvals)).astype(np.float32)
        self.device = device = gb.device.get("cuda")
        self.ptr, self.col, data = (device.asarray(a) for a in (graph.ptr, graph.col, self.values))
        at = {"nrows": graph.n, "ncols": graph.n, "device": device.name, "format": "csr"}
        self.A = gb.Matrix.from_csr(self.ptr, self.col, data if weighted else True, **at)
        self.data = _stored(data, dtype)
        self.rows = np.unique(np.linspace(0, graph.n - 1, CHECKED).astype(np.int64))
        self.checked = graph.scipy(self.values.astype(np.float64))[self.rows]

    def peers(self, x: Any) -> dict[str, Spmm]:
        found = {}
        for name in SPMM_ALGORITHMS:
            try:
                found[name] = Spmm(self.ptr, self.col, self.data, self.graph.n, x, name, self.kind)
            except RuntimeError:  # an algorithm that does not support this layout or type
                continue
        return found

    def error(self, found: Any, x: Any) -> float:
        """The largest relative error of some rows, against FP64."""
        A, used = self.checked, np.unique(self.checked.indices)
        X = _numbers(x[self.device.asarray(used)].get(), self.dtype).astype(np.float64)
        exact = A[:, used] @ X
        got = _numbers(found[self.device.asarray(self.rows)].get(), self.dtype)
        return float((abs(got - exact) / np.maximum(abs(A[:, used]) @ abs(X), 1e-30)).max())

    def products_error(self, found: Any, x: Any) -> float:
        """The same for some entries of an SDDMM."""
        entries = np.unique(np.linspace(0, self.graph.nvals - 1, CHECKED).astype(np.int64))
        ends = np.searchsorted(self.graph.ptr, entries, "right") - 1, self.graph.col[entries]
        left, right = (_numbers(x[self.device.asarray(end)].get(), self.dtype).astype(np.float64) for end in ends)
        exact = (left * right).sum(1)
        return float((abs(_numbers(found[self.device.asarray(entries)].get(), self.dtype) - exact) / exact).max())

    def bitmap(self, x: Any) -> tuple[Callable[[], Any], Any] | None:
        """The statement's product, and its answer."""
        op = gb.semiring.plus_times if self.weighted else gb.semiring.plus_second
        X = gb.Matrix.from_dense(x, format="bitmap", device=self.device.name)
        product = multivector.by_lines(self.A._stored, X._stored, op[gb.dtypes.FP32], False, False)
        if product is None:
            return None
        prepared = multivector.prepare(multivector.choose(product.product, product.x.count), product.product)
        run = partial(multivector.multiply, prepared, product.x, None)
        return run, self.A.mxm(X, op).new().to_dense(0)

    def spmm(self, width: int) -> dict[str, Any]:
        import cupy as cp

        x = _stored(cp.random.default_rng(1).random((self.graph.n, width), dtype=cp.float32), self.dtype)
        of, y, peers = DenseProduct(self.A._stored, False, SUM), cp.empty_like(x), self.peers(x)
        lines = Lines(x, None, self.half), Lines(y, None, self.half)
        runs: dict[str, Callable[[], Any]] = {"dense": partial(multiply, of, *lines)}
        answers = {name: peer.run() for name, peer in peers.items()}
        multiply(of, *lines)
        answers["dense"] = y
        if self.dtype == "FP32" and (other := self.bitmap(x)) is not None:
            runs["bitmap"], answers["bitmap"] = other
        errors = {key: self.error(found, x) for key, found in answers.items()}
        return self._timed(width, peers, runs, errors)

    def sddmm(self, width: int) -> dict[str, Any]:
        import cupy as cp

        x = _stored(cp.random.default_rng(1).random((self.graph.n, width), dtype=cp.float32), self.dtype)
        of, lines = DenseProduct(self.A._stored, False, SUM), Lines(x, None, self.half)
        try:
            peers = {"sddmm": Sddmm(self.ptr, self.col, x, x, self.kind)}
        except RuntimeError:  # no such type
            peers = {}
        run = partial(sddmm.entry_products, of, lines, lines)
        answers = {"sddmm": run()} | {f"cuSPARSE's {name}": peer.run() for name, peer in peers.items()}
        errors = {key: self.products_error(found, x) for key, found in answers.items()}
        return self._timed(width, peers, {"sddmm": run}, errors)

    def _timed(
        self, width: int, peers: dict[str, Any], runs: dict[str, Callable[[], Any]], errors: dict[str, float]
    ) -> dict[str, Any]:
        row: dict[str, Any] = {"graph": self.graph.name, "dtype": self.dtype, "weighted": self.weighted}
        row["columns"] = width
        times = {name: self.timer.warm(peer.run) for name, peer in peers.items()}
        mine = {f"{key}_us": self.timer.warm(run) for key, run in runs.items()}
        if times:
            row["algorithm"] = min(times, key=lambda name: times[name])
            row["cusparse_us"] = times[row["algorithm"]]
        row |= mine
        for key in runs if times else ():
            row[f"{key}_ratio"] = row["cusparse_us"] / row[f"{key}_us"]
        row["gentries"] = self.graph.nvals * width / min(mine.values()) / 1e3
        off = [key for key, error in errors.items() if not error < TOLERANCE[self.dtype]]
        row["wrong"], row["inexact"] = [key for key in off if key in runs], [key for key in off if key not in runs]
        return row


def measure(name: str, columns: Sequence[int], dtypes: Sequence[str], timer: Timer) -> list[dict[str, Any]]:
    graph, rows = graphs.make(name), []
    for dtype in dtypes:
        for weighted in (True, False):
            sides = Sides(graph, timer, dtype, weighted=weighted)
            for width in columns:
                found = [sides.spmm(width)] + ([] if weighted else [sides.sddmm(width)])
                for row in found:
                    print({k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
                rows += found
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="rmat20,delaunay_n20,stencil27_100")
    parser.add_argument("--columns", default="2,4,8,16,32,64,128,256,512")
    parser.add_argument("--dtypes", default="FP32,FP16,BF16", help="of the array")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args(argv)

    def run() -> dict[str, Any]:
        timer, columns = Timer(options.samples), [int(k) for k in options.columns.split(",")]
        names, dtypes = options.graphs.split(","), options.dtypes.split(",")
        rows = [row for name in names for row in measure(name, columns, dtypes, timer)]
        result = table.surroundings(device="cuda", samples=options.samples, rows=rows)
        result["machine"]["gpu"] = gb.device.get("cuda").model
        return result | {"equal": not any(row["wrong"] for row in rows)}

    return table.ended("benchmarks.spmm", run, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
