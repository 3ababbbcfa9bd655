"""Products with many columns on a GPU against cuSPARSE's SpMM, in FP32: kernel time with warm caches.

    python -m benchmarks.spmm --graphs rmat20,delaunay_n20,stencil27_100 --columns 8,16,32,64,128

`dense`: bitblas.torch.spmm's kernel on row-major arrays; `bitmap`: `A.mxm(X)` with a full multivector, by the kernels
of the statement. cuSPARSE's is the fastest of its algorithms that accept row-major arrays. Entries have no weights, as
in graphs, or FP32 weights; cuSPARSE always reads values.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bitblas as gb
from bitblas.operations import multivector
from bitblas.operations.dense_spmm import SUM, DenseProduct, Lines, multiply

from . import graphs, table
from .cuda_timing import Timer
from .cusparse import SPMM_ALGORITHMS, Spmm

TOLERANCE = 1e-4  # relative to the sum of absolute values; orders of FP32 sums differ
CHECKED = 1000  # rows whose answers are checked


def _cusparse(arrays: tuple[Any, ...], n: int, x: Any, timer: Timer) -> tuple[float, str, Any]:
    """The fastest algorithm: us, name, answer."""
    found = []
    for name in SPMM_ALGORITHMS:
        try:
            peer = Spmm(*arrays, n, x, name)
        except RuntimeError:  # an algorithm that does not support this layout
            continue
        found.append((timer.warm(peer.run), name, peer.run()))
    return min(found, key=lambda row: row[0])


def _error(found: Any, graph: graphs.Graph, values: np.ndarray, x: Any) -> float:
    """The largest relative error of some rows, against FP64."""
    rows = np.unique(np.linspace(0, graph.n - 1, CHECKED).astype(np.int64))
    A, X = graph.scipy(values.astype(np.float64))[rows], x.get().astype(np.float64)
    exact, scale = A @ X, abs(A) @ abs(X)
    return float((abs(found.get()[rows] - exact) / np.maximum(scale, 1e-30)).max())


def measure(name: str, columns: Sequence[int], timer: Timer) -> list[dict[str, Any]]:
    import cupy as cp

    graph, rows = graphs.make(name), []
    device = gb.device.get("cuda")
    for weighted in (False, True):
        values = graph.weights.astype(np.float32) if weighted else np.ones(graph.nvals, np.float32)
        arrays = tuple(device.asarray(a) for a in (graph.ptr, graph.col, values))
        at = {"nrows": graph.n, "ncols": graph.n, "device": device.name, "format": "csr"}
        A = gb.Matrix.from_csr(arrays[0], arrays[1], arrays[2] if weighted else True, **at)
        op = gb.semiring.plus_times if weighted else gb.semiring.plus_second
        for width in columns:
            x = cp.random.default_rng(1).random((graph.n, width), dtype=cp.float32)
            us, algorithm, peer = _cusparse(arrays, graph.n, x, timer)
            y = cp.empty_like(x)
            of = DenseProduct(A._stored, False, SUM)
            runs: dict[str, Callable[[], Any]] = {"dense": partial(multiply, of, Lines(x), Lines(y))}
            X = gb.Matrix.from_dense(x, format="bitmap", device=device.name)
            product = multivector.by_lines(A._stored, X._stored, op[gb.dtypes.FP32], False, False)
            answers = {"cuSPARSE": peer}
            multiply(of, Lines(x), Lines(y))
            answers["dense"] = y
            if product is not None:
                prepared = multivector.prepare(multivector.choose(product.product, product.x.count), product.product)
                runs["bitmap"] = partial(multivector.multiply, prepared, product.x, None)
                answers["bitmap"] = A.mxm(X, op).new().to_dense(0)
            row = {"graph": name, "weighted": weighted, "columns": width, "cusparse_us": us, "algorithm": algorithm}
            for key, run in runs.items():
                row[f"{key}_us"] = timer.warm(run)
                row[f"{key}_ratio"] = us / row[f"{key}_us"]
            row["gentries"] = graph.nvals * width / min(row[f"{key}_us"] for key in runs) / 1e3
            errors = {key: _error(found, graph, values, x) for key, found in answers.items()}
            row["wrong"] = [key for key, error in errors.items() if not error < TOLERANCE]
            rows.append(row)
            print({k: round(v, 2) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="rmat20,delaunay_n20,stencil27_100")
    parser.add_argument("--columns", default="8,16,64,128")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args(argv)

    def run() -> dict[str, Any]:
        timer, columns = Timer(options.samples), [int(k) for k in options.columns.split(",")]
        rows = [row for name in options.graphs.split(",") for row in measure(name, columns, timer)]
        result = table.surroundings(device="cuda", samples=options.samples, rows=rows)
        result["machine"]["gpu"] = gb.device.get("cuda").model
        return result | {"equal": not any(row["wrong"] for row in rows)}

    return table.ended("benchmarks.spmm", run, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
