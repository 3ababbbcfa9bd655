"""python -m benchmarks.cr2: bytes, build time and product time of CR2, next to CSR, virtual rows and G-Shards.

Bytes an entry, of the stored arrays or by the formulas of the slides of CR2 (4 bytes a number): `tigr` E + (2 + F) V,
where F V rows are added so that none has more than LONGEST entries; `g-shards` 2 E, without its copy of a value for
each entry. Warp-centric virtual rows (VWC) store CSR. Ablation: `no clusters` numbers all entries globally; `no groups`
lists the source of each entry; `offsets` has row pointers inside clusters and between them instead of pieces (by
formula).

Milliseconds of a build from CSR, and microseconds of `plus_second` over a full vector (FP32), whose answers are
compared: the least of several; on a CPU process time, which other work on the machine disturbs little (set
NUMBA_NUM_THREADS=1 to compare kernels).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bitblas as gb
from bitblas import tuning
from bitblas.formats import Structure, class_of
from bitblas.formats.cr2.cost import Grid
from bitblas.formats.csr import layout as csr
from bitblas.formats.packing import packed_words
from bitblas.store import MatrixStore

from . import graphs, table

GRAPHS = ("rmat18", "web_n18", "delaunay_n18", "delaunay_n18_random", "road_ny")
LONGEST = 10  # entries of a row of Tigr
CLUSTER, PIECE = 16, 6  # the shipped thresholds
# Variants of CR2: log2 of the vertices of a cluster, and of the entries of a piece.
VARIANTS = {"cr2": (CLUSTER, PIECE), "no clusters": (0, PIECE), "no groups": (CLUSTER, 0), "neither": (0, 0)}
BUILT = ("csr", "nib", "virtual")


def tigr_bytes(degrees: np.ndarray) -> int:
    """E + (2 + F) V numbers."""
    rows = np.maximum(1, -(-degrees // LONGEST)).sum()
    return 4 * int(degrees.sum() + len(degrees) + rows)


def offset_bytes(form: Any) -> int:
    """Of entries in the clusters of a CR2, by row pointers inside and between."""
    narrow, wide = Grid(form.nrows, form.ncols, form.log_cluster, form.log_longest).widths
    words = packed_words(form.inside, narrow) + packed_words(form.nvals - form.inside, wide)
    return 4 * words + 2 * 4 * (form.nrows + 1) + 4 * form.nrows * form.ordered


def built(key: str, rows: csr.Csr, samples: int, grid: tuple[int, int] = (CLUSTER, PIECE)) -> tuple[Any, float]:
    """The rows in a format, and the milliseconds of building it."""

    def build() -> Any:
        copy = csr.Csr(rows.device, rows.nrows, rows.ncols, rows.ptr, rows.col, rows.nvals)  # caches nothing
        return class_of(key).from_csr(copy, None, False)[0]

    with tuning.override({"cr2.log_cluster": grid[0], "cr2.log_longest": grid[1]}):
        return least(rows.device, samples, build, 1e3)


def least(device: Any, samples: int, run: Callable[[], Any], unit: float) -> tuple[Any, float]:
    """What a call gives, and its least time in 1 / `unit` seconds; the first of several calls compiles."""
    clock, times = time.process_time if device.host_memory else time.perf_counter, []
    for _ in range(samples):
        device.synchronize()
        start = clock()
        found = run()
        device.synchronize()
        times.append(unit * (clock() - start))
    return found, min(times)


def product_us(A: gb.Matrix, samples: int) -> tuple[float, np.ndarray]:
    """The microseconds of a statement, with the wait for its end, and its answer."""
    device, op = A.device, gb.semiring.plus_second[gb.dtypes.FP32]
    u = gb.Vector.from_dense(device.asarray((np.arange(A.ncols) % 97).astype(np.float32)), device=device)
    w, us = least(device, samples + 2, lambda: A.mxv(u, op).new(), 1e6)
    return us, device.to_host(w.to_dense(0))


def measure(name: str, samples: int, device: Any) -> dict[str, Any]:
    """The figures of one graph, by format or variant: bytes an entry, build and product times; and of CR2 the share of
    entries inside clusters, its pieces per row, and whether it renumbers vertices."""
    graph = graphs.make(name)
    rows = csr.from_arrays(device, graph.n, graph.n, *(device.asarray(x) for x in (graph.ptr, graph.col)))
    found: dict[str, Any] = {"graph": name, "n": graph.n, "nvals": graph.nvals, "bytes": {}, "build": {}, "product": {}}
    answers = {}
    for key in (*BUILT, *VARIANTS):
        grid = VARIANTS.get(key)
        stored = "cr2" if grid else key
        form, ms = built(stored, rows, 1 if key == "virtual" else samples, grid or (CLUSTER, PIECE))
        A = gb.Matrix._from_store(MatrixStore(Structure(form), gb.dtypes.BOOL, np.True_))
        found["bytes"][key], found["build"][key] = form.nbytes / graph.nvals, ms
        found["product"][key], answers[key] = product_us(A, samples)
        if key == "cr2":
            found |= {"inside": form.inside / graph.nvals, "pieces": form.work / graph.n, "ordered": form.ordered}
            found["bytes"]["offsets"] = offset_bytes(form) / graph.nvals
    found["bytes"]["tigr"] = tigr_bytes(np.diff(graph.ptr)) / graph.nvals
    found["bytes"]["g-shards"] = 8.0
    found["equal"] = all(np.allclose(answers[key], answers["csr"], rtol=1e-5) for key in answers)
    return found


def text(found: Sequence[dict[str, Any]]) -> str:
    """Three tables: bytes, milliseconds of building, microseconds of a product."""
    parts = []
    for what, title in (("bytes", "bytes an entry"), ("build", "build ms"), ("product", "plus_second us")):
        names = list(found[0][what])
        more = ("inside", "pieces", "ordered") if what == "bytes" else ()
        rows = [[one["graph"], *(one[what][name] for name in names), *(one[x] for x in more)] for one in found]
        parts.append(table.table([title, *names, *more], rows, left=1))
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.cr2", description=__doc__)
    p.add_argument("--graphs", type=table.names, default=GRAPHS, help=f"names (see graphs.py): {','.join(GRAPHS)}")
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--samples", type=int, default=5, help="runs of each call (5)")
    p.add_argument("--json", help="where the figures go")
    args = p.parse_args(argv)

    def run() -> dict[str, Any]:
        device = gb.device.get(args.device)
        with gb.config.set(device=args.device):
            found = [measure(name, args.samples, device) for name in args.graphs]
        table.say(text(found))
        result = table.surroundings(device=args.device, samples=args.samples, graphs=found)
        return result | {"equal": all(one["equal"] for one in found)}

    return table.ended("benchmarks.cr2", run, args.json)


if __name__ == "__main__":
    sys.exit(main())
