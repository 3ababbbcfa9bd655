"""python -m benchmarks.papers: the evaluations of the papers behind the formats, on one device, with checked answers.

    python -m benchmarks.papers --device cuda --folder GRAPHS --json out.json --budget 200
    python -m benchmarks.papers --page                 # docs/evaluations.md from stored/papers/

Parts, the most important first; each has a share of the budget, and leaves to the next what it does not use:

- `bmv`: B2SR, T = 4 to 32, against cuSPARSE's SpMV in FP32 (Bit-GraphBLAS, Figures 5 to 7): microseconds of kernels of
  the schemes bin-bin-bin, bin-bin-full and bin-full-full, and bytes over CSR with FP32 values
- `bmm`: A A by tiles and by rows, presence and counts, against cuSPARSE's SpGEMM; and the masked sum that counts
  triangles (Figures 6d, 7d; Table IX)
- `limits`: the same products of random tiles and bands, by tiles over by rows, for the thresholds of the planner
- `mplg`: bytes over CSR and six algorithms along packed columns (MPLG, Tables II to VI)
- `cgr`: BFS, components and betweenness along CGR and NIB against CSR (GCGT, Figures 8 and 15)
- `schedules`, `codes`: pushes along all rows, searches and sums by the schedules of GCGT's Figure 9, and with other
  parameters of the code (Figures 11, 12 and 14): CGR's kernels compiled with other constants. On a GPU only.

Kernel times are medians of CUDA graphs of 20 repetitions (cuda_timing.py), those of calls medians of synchronized calls
after one that compiles. The JSON is written after each row.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import bitblas as gb
from bitblas import algorithms, calibrate, tuning
from bitblas.device import cubins
from bitblas.formats import coded
from bitblas.plan.cost_model import BFS
from bitblas.plan.pattern import pattern_of

from . import checks, graphs, programs, table

TILES = (4, 8, 16, 32)
PATTERNS = (
    "delaunay_n16", "delaunay_n16_random", "grid2d_512", "stencil27_40", "mycielskian12", "rmat13", "rmat16",
    "rmat16+degree", "web_n16", "hub_n16", "road_ny",
)  # fmt: skip
TRAVERSED = ("rmat18", "web_n18+undirected", "delaunay_n18", "road_ny", "mycielskian13")
PACKED = ("grid2d_1024", "rmat18", "delaunay_n18", "web_n18+undirected", "road_ny")
CODED = ("rmat18", "web_n18", "delaunay_n18")
LEAST_FILE = 1 << 13  # bytes of a file in a folder
MOST_PRODUCTS = 1 << 27  # of A A, for `bmm`
NEVER = 1 << 30
SUM = gb.semiring.plus_second[gb.dtypes.FP32]
PRESENCE = gb.semiring.any_pair[gb.dtypes.BOOL]
COUNTS = gb.semiring.plus_pair[gb.dtypes.FP32]
TRIANGLES = gb.semiring.plus_pair[gb.dtypes.INT64]
SHARES = {"bmv": 0.30, "bmm": 0.15, "limits": 0.15, "mplg": 0.15, "cgr": 0.10, "schedules": 0.05, "codes": 0.10}


class Case(NamedTuple):
    """A graph and the answers of its products: which rows a Boolean vector reaches, counts, sums of a full vector."""

    graph: graphs.Graph
    reached: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    products: int  # of A A


def prepare(name: str) -> Case:
    graph = graphs.make(name)
    A = graph.scipy()
    counts = A @ graphs.present(graph.n).astype(np.float64)
    into = np.bincount(graph.col, minlength=graph.n)
    return Case(graph, counts > 0, counts, A @ graphs.numbers(graph.n), int(into @ np.diff(graph.ptr)))


class Run:
    """The device, the rows measured so far, and the time that is left."""

    def __init__(self, device: gb.device.Device, samples: int, budget: float, path: str | None) -> None:
        self.device, self.samples, self.path = device, samples, path
        self.begin, self.budget, self.end = time.perf_counter(), budget, 0.0
        self.result = table.surroundings(device=device.name, gpu=device.model, samples=samples, rows=[], seconds={})
        self.result["equal"] = True
        self.timer: Any = None
        if device.captures:
            from .cuda_timing import Timer

            self.timer = Timer(samples)

    @property
    def now(self) -> float:
        return time.perf_counter() - self.begin

    def late(self) -> bool:
        """Whether the part has used its time."""
        return self.now > self.end

    def add(self, part: str, graph: str, right: bool, **figures: Any) -> None:
        row = {"part": part, "graph": graph, "right": bool(right), **figures}
        self.result["rows"].append(row)
        self.result["equal"] &= row["right"]
        if self.path:
            table.write(self.path, self.result)
        said = [f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()]
        table.say(f"{self.now:6.1f} s  {part} {graph}{'' if row['right'] else ' WRONG'}: {', '.join(said)}")

    @contextlib.contextmanager
    def attempt(self, part: str, graph: str) -> Iterator[None]:
        """An error becomes a row, with which the run has failed, and the next row is measured."""
        try:
            yield
        except Exception as error:
            self.add(part, graph, False, error=f"{type(error).__name__}: {error}")

    def kernel_us(self, run: Callable[[], Any]) -> float:
        """Microseconds of the kernels of a call; without CUDA graphs, of the call."""
        self.device.synchronize()  # the timer has a stream of its own
        return float(self.timer.warm(run)) if self.timer else 1e3 * self.call_ms(run)[0]

    def call_ms(self, *runs: Callable[[], Any]) -> tuple[float, Any]:
        """The median milliseconds of synchronized calls, and what the last one gives."""
        times, found = [], None
        for run in runs:
            found, some = table.timed(self.device, run, self.samples if len(runs) == 1 else 1)
            times += some
        return float(np.median(times)), found

    def matrix(self, graph: graphs.Graph, key: str = "csr", values: np.ndarray | None = None) -> gb.Matrix:
        """The graph in a format."""
        ptr, col = (self.device.asarray(x) for x in (graph.ptr, graph.col))
        entries: Any = True if values is None else self.device.asarray(values)
        n, on = graph.n, self.device.name
        A = gb.Matrix.from_csr(ptr, col, entries, nrows=n, ncols=n, device=on, format="csr")
        return A if key == "csr" else calibrate.in_form(A, key)


def bytes_of(A: gb.Matrix) -> int:
    """Of the structure."""
    return int(A._store.structure.primary.nbytes)


# ---- Bit-GraphBLAS: products with a vector, and of two matrices.


def _spmv(run: Run, case: Case) -> tuple[float, bool]:
    from .cusparse import Spmv

    graph, device = case.graph, run.device
    ptr, col, ones = (device.asarray(x) for x in (graph.ptr, graph.col, np.ones(graph.nvals, np.float32)))
    spmv = Spmv(ptr, col, ones, graph.n, graph.n)
    spmv.x[:] = device.asarray(graphs.numbers(graph.n))
    us = run.kernel_us(spmv.run)
    return us, np.allclose(device.to_host(spmv.y), case.sums, rtol=1e-5, atol=0)


def bmv(run: Run, case: Case) -> None:
    graph, device = case.graph, run.device
    us: dict[str, float] = {}
    read: dict[str, str] = {}
    ratio: dict[str, float] = {}
    right = True
    if run.timer:
        us["cuSPARSE"], right = _spmv(run, case)
    some = gb.Vector.from_coo(np.flatnonzero(graphs.present(graph.n)), True, size=graph.n, device=device.name)
    full = gb.Vector.from_dense(device.asarray(graphs.numbers(graph.n)), device=device.name)
    assert some.nvals and full.nvals  # counts now: a captured statement must not
    plain = run.matrix(graph)
    for key in ("csr", *(f"b2sr{tile}" for tile in TILES)):
        A = plain if key == "csr" else calibrate.in_form(plain, key)
        ratio[key] = bytes_of(A) / (4 * (graph.n + 1) + 8 * graph.nvals)
        for scheme, op, u, expected in (
            ("bin-bin-bin", PRESENCE, some, case.reached),
            ("bin-bin-full", COUNTS, some, case.counts),
            ("bin-full-full", SUM, full, case.sums),
        ):
            w = gb.Vector(op.return_type, graph.n, device=device.name)

            def product(w: gb.Vector = w, A: gb.Matrix = A, u: gb.Vector = u, op: Any = op) -> None:
                w << A.mxv(u, op)

            read[f"{key} {scheme}"] = gb.explain(A.mxv(u, op)).key
            us[f"{key} {scheme}"] = run.kernel_us(product)
            product()
            found = device.to_host(w.to_dense(w.dtype.np_type.type(0)))
            right &= np.array_equal(found, expected.astype(found.dtype))
    structure = plain._store.structure
    kind = {"pattern": str(pattern_of(structure)), "class": "+".join(pattern_of(structure).classes)}
    other = {name: key for name, key in read.items() if name.split()[0] != key}
    size = {"n": graph.n, "nvals": graph.nvals}
    run.add("bmv", graph.name, right, **size, **kind, ratio=ratio, us=us, read_otherwise=other)


def _tiled(device: gb.device.Device) -> Any:
    """Products of tiles always go tile by tile."""
    return tuning.override({f"spgemm.tile_products.{kind}.{device.kind}": 0 for kind in ("words", "count")})


def pairs_per_row(A: gb.Matrix) -> float:
    """Products per pair of tiles and row of a tile, with which the planner decides; A has tiles."""
    layout = A._store.structure.primary
    pairs = layout.work * layout.work / max(1, -(-layout.ncols // layout.rows_per_unit))
    return float(layout.nvals * layout.nvals / max(1, layout.ncols) / max(1.0, pairs) / layout.rows_per_unit)


def _squares(run: Run, graph: graphs.Graph, tiles: Sequence[int]) -> tuple[dict[str, float], dict[str, float], bool]:
    """Milliseconds of A A by rows and by tiles, by "key kind"; the planner's measure by tile; whether all agree."""
    plain = run.matrix(graph)
    ms: dict[str, float] = {}
    measure: dict[str, float] = {}
    right = True
    for kind, op in (("words", PRESENCE), ("count", COUNTS)):
        product = partial(lambda A, op: A.mxm(A, op).new(), op=op)
        ms[f"csr {kind}"], expected = run.call_ms(partial(product, plain))
        for tile in tiles:
            key = f"b2sr{tile}"
            A = calibrate.in_form(plain, key)
            with _tiled(run.device):
                assert gb.explain(A.mxm(A, op)).direction == "tiles"
                ms[f"{key} {kind}"], found = run.call_ms(partial(product, A))
            measure[key] = pairs_per_row(A)
            right &= found.nvals == expected.nvals and bool(found.isequal(expected))
    return ms, measure, right


def _spgemm(run: Run, graph: graphs.Graph) -> tuple[float, int, float]:
    """cuSPARSE's A A through CuPy: milliseconds, entries and their sum."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    data = cupy.ones(graph.nvals, cupy.float32), cupy.asarray(graph.col), cupy.asarray(graph.ptr.astype(np.int32))
    A = csr_matrix(data, shape=(graph.n, graph.n))
    ms, found = run.call_ms(lambda: A @ A)
    return ms, int(found.nnz), float(cupy.asnumpy(found.data).sum(dtype=np.float64))


def bmm(run: Run, case: Case) -> None:
    graph = case.graph
    if not 0 < case.products <= MOST_PRODUCTS:
        return
    ms, measure, right = _squares(run, graph, TILES)
    entries = None
    peer: dict[str, str] = {}
    if run.timer:
        try:
            ms["cuSPARSE"], entries, total = _spgemm(run, graph)
            right &= total == case.products
        except Exception as error:  # cuSPARSE's, and said
            peer["peer_error"] = f"{type(error).__name__}: {error}"
    triangles: dict[str, int] = {}
    for key in ("csr", *(f"b2sr{tile}" for tile in TILES)):
        A = run.matrix(graph, key)

        def masked(A: gb.Matrix = A) -> int:
            C = A.mxm(A.T, TRIANGLES).new(mask=A.S)
            return int(C.reduce_scalar(gb.monoid.plus[gb.dtypes.INT64], allow_empty=False).value)

        ms[f"{key} masked"], triangles[key] = run.call_ms(masked)
    right &= len(set(triangles.values())) == 1
    figures = {"n": graph.n, "nvals": graph.nvals, "products": case.products, "entries": entries}
    run.add("bmm", graph.name, right, **figures, ms=ms, measure=measure, triangles=triangles["csr"], **peer)


def _random_tiles(tile: int, entries: int, per_row: int = 8, pairs: int = 1 << 17) -> graphs.Graph:
    """Tile rows of `per_row` tiles at random, with so many entries each at random."""
    rng = np.random.default_rng(tile * 1000 + entries)
    count = max(per_row, pairs // per_row**2)  # tile rows
    place = np.unique(np.repeat(np.arange(count), per_row) * count + rng.integers(0, count, count * per_row))
    inside = rng.random((len(place), tile * tile)).argpartition(entries - 1, axis=1)[:, :entries]
    rows = (place // count * tile)[:, None] + inside // tile
    cols = (place % count * tile)[:, None] + inside % tile
    return _sorted(f"random tiles of {tile}, {entries} entries", rows.ravel(), cols.ravel(), count * tile)


def _band(width: int, n: int) -> graphs.Graph:
    rows = np.repeat(np.arange(n), 2 * width + 1)
    cols = rows + np.tile(np.arange(-width, width + 1), n)
    keep = (cols >= 0) & (cols < n)
    return _sorted(f"band of {2 * width + 1}", rows[keep], cols[keep], n)


def _sorted(name: str, rows: np.ndarray, cols: np.ndarray, n: int) -> graphs.Graph:
    keys = np.unique(rows.astype(np.int64) * n + cols)
    ptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(keys // n, minlength=n), out=ptr[1:])
    return graphs.Graph(name, ptr, (keys % n).astype(np.int32))


def limits(run: Run, pairs: int = 1 << 17) -> None:
    work = [(t, partial(_random_tiles, t, t * e // 2, pairs=pairs)) for e in (1, 2, 4, 8, 3, 6) for t in (8, 32, 16, 4)]
    work = [(t, make) for t, make in work if make.args[1] <= t * t]
    work += [(t, partial(_band, width, max(64, pairs >> 2))) for width in (4, 16) for t in (8, 32, 16, 4)]
    for tile, make in work:
        if run.late():
            return
        graph = make()
        with run.attempt("limits", graph.name):
            ms, measure, right = _squares(run, graph, (tile,))
            ratio = {kind: ms[f"b2sr{tile} {kind}"] / ms[f"csr {kind}"] for kind in ("words", "count")}
            found = {"tile": tile, "measure": measure[f"b2sr{tile}"], "ms": ms, "by_tiles_over_rows": ratio}
            run.add("limits", graph.name, right, **found)


# ---- MPLG and CGR: algorithms along compressed rows.

SIX = ("bfs", "components", "coloring", "mis", "forest", "sssp")
THREE = ("bfs", "components", "betweenness")
SEARCHES = 4


def same(x: Any, y: Any) -> bool:
    """Whether two answers are the same, exactly."""
    return bool(x.isequal(y)) if hasattr(x, "isequal") else x == y


def _programs(run: Run, part: str, keys: Sequence[str], names: Sequence[str], case: Case) -> None:
    graph = case.graph
    x = programs.Operands(graph)
    ms: dict[str, float] = {}
    size: dict[str, int] = {}
    answers: dict[str, Any] = {}
    right = True
    for key in keys:
        x.A = run.matrix(graph, key)
        x.W = run.matrix(graph, key, graph.weights) if {"sssp", "forest"} & {*names} else x.A
        size[key] = bytes_of(x.A)
        for name, calls in programs.calls_of(x).items():
            if name not in names or run.late():
                continue
            calibrate.warm(calls[0], BFS)
            ms[f"{key} {name}"], found = run.call_ms(*calls[:SEARCHES])
            if name not in answers:
                answers[name] = found
                right &= _is_right(name, x, found)
            elif name == "betweenness":
                ours, theirs = (checks.dense(x, graph.n, 0, np.float64) for x in (found, answers[name]))
                right &= np.allclose(ours, theirs)
            else:
                right &= same(found, answers[name])
    if ms:
        bits = {key: 8 * nbytes / graph.nvals for key, nbytes in size.items()}
        run.add(part, graph.name, right, n=graph.n, nvals=graph.nvals, bits=bits, ms=ms)


def _is_right(name: str, x: programs.Operands, answer: Any) -> bool:
    if name == "bfs":
        return checks.levels(x.graph, answer, x.sources[SEARCHES - 1])
    return programs.is_right(name, x, answer)


# ---- CGR's kernels with other constants.


class Setting(NamedTuple):
    """Constants of CGR's kernels, and rows of the tuning table."""

    part: str
    name: str
    constants: dict[str, int]
    rows: dict[str, float]


ALONE: dict[str, float] = {"cgr.longest": NEVER}
SETTINGS = (
    Setting("schedules", "naive: a lane a row", {"SEGMENT": NEVER}, ALONE),
    Setting("schedules", "two phases", {"SEGMENT": NEVER, "TWO_PHASES": 1}, ALONE),
    Setting("schedules", "two phases, warps", {"SEGMENT": NEVER, "TWO_PHASES": 1}, {}),
    Setting("schedules", "two phases, warps, segments", {"TWO_PHASES": 1}, {}),
    *(Setting("codes", f"zeta {k}", {"ZETA": k}, {}) for k in (2, 4, 5)),
    *(Setting("codes", f"segments of {size // 8} bytes", {"SEGMENT": size}, {}) for size in (64, 128, 512, 1024)),
    Setting("codes", "no segments", {"SEGMENT": NEVER}, {}),
    *(Setting("codes", f"intervals from {least}", {"LEAST": least}, {}) for least in (2, 3, 8, 16)),
    Setting("codes", "no intervals", {"LEAST": NEVER}, {}),
)  # fmt: skip


@contextlib.contextmanager
def compiled_with(
    device: gb.device.Device, constants: dict[str, int], used: dict[Any, None] | None = None
) -> Iterator[None]:
    """Kernels of CGR have these constants. used: receives the variants that are loaded."""
    kind: Any = type(device)
    load = kind.load
    zeta = constants.get("ZETA", 3)
    short = (zeta + 1) * -(-coded.SHORT // zeta) <= 32  # whether codes of short values fit into a word

    def other(self: Any, variant: Any) -> Any:
        if variant.kernel.startswith("formats/cgr/"):
            if used is not None:
                used[variant] = None
            variant = replace(variant, constants=(*variant.constants, *constants.items()))
        return load(self, variant)

    changed = (mock.patch.object(kind, "load", other), mock.patch.object(coded, "SHORT", coded.SHORT if short else 0))
    kind.kernel.cache_clear()
    try:
        with changed[0], changed[1], mock.patch.object(coded, "PAD", 12):  # the last lane reads five bits a lane ahead
            yield
    finally:
        kind.kernel.cache_clear()


def _traversals(run: Run, graph: graphs.Graph) -> tuple[dict[str, float], int, dict[str, Any]]:
    """Times of a push along all rows, searches and a sum along CGR; its bytes; and the answers."""
    device = run.device
    A = run.matrix(graph, "cgr")
    most = gb.Vector.from_coo(np.flatnonzero(np.arange(graph.n) % 1024), True, size=graph.n, device=device.name)
    full = gb.Vector.from_dense(device.asarray(graphs.numbers(graph.n)), device=device.name)
    found: dict[str, Any] = {}
    us: dict[str, float] = {}
    with tuning.override({f"push_cost.{device.kind}": 0.0}):
        assert gb.explain(most.vxm(A, PRESENCE)).direction == "push"
        ms, found["push"] = run.call_ms(lambda: [most.vxm(A, PRESENCE).new() for _ in range(10)][-1])
        us["push"] = 1e2 * ms
    linked = np.flatnonzero(np.diff(graph.ptr))
    sources = [int(s) for s in np.random.default_rng(1).choice(linked, SEARCHES)]
    calibrate.warm(partial(algorithms.bfs_levels, A, sources[0]), BFS)
    ms, found["search"] = run.call_ms(*(partial(algorithms.bfs_levels, A, s) for s in sources))
    us["search"] = 1e3 * ms
    found["sum"] = gb.Vector(gb.dtypes.FP32, graph.n, device=device.name)
    us["sum"] = run.kernel_us(lambda: found["sum"] << A.mxv(full, SUM))
    found["sum"] = A.mxv(full, SUM).new()
    return us, bytes_of(A), found


def settings(run: Run, part: str, case: Case) -> None:
    """Each setting, next to the shipped kernels. Their variants are compiled in threads before one is measured."""
    graph = case.graph
    used: dict[Any, None] = {}
    with compiled_with(run.device, {}, used):
        us, size, expected = _traversals(run, graph)
    run.add(part, graph.name, _right(case, expected), setting="as shipped", us=us, bits=8 * size / graph.nvals)
    chosen = [s for s in SETTINGS if s.part == part]
    arch = getattr(run.device, "arch", "")
    for variant in used if run.device.captures else ():
        for of in chosen:
            constants = (*variant.constants, *of.constants.items())
            cubins.start(replace(variant, constants=constants), arch)
    for of in chosen:
        if run.late():
            return
        with run.attempt(part, f"{graph.name}, {of.name}"):
            with tuning.override(of.rows), compiled_with(run.device, of.constants):
                us, size, found = _traversals(run, graph)
                right = all(same(found[name], expected[name]) for name in found)
            run.add(part, graph.name, right, setting=of.name, us=us, bits=8 * size / graph.nvals)


def _right(case: Case, found: dict[str, Any]) -> bool:
    graph = case.graph
    reached = np.zeros(graph.n, bool)
    reached[graph.col[graph.rows % 1024 != 0]] = True
    sums = checks.dense(found["sum"], graph.n, 0, np.float64)
    return np.array_equal(checks.dense(found["push"], graph.n, False, bool), reached) and np.array_equal(
        sums, case.sums
    )


# ---- All parts.


def measure(
    on: str, *, budget: float, samples: int, path: str | None, names: Sequence[str], files: Sequence[str],
    traversed: Sequence[str], packed: Sequence[str], coded_graphs: Sequence[str], parts: Sequence[str], pairs: int,
    jobs: int,
) -> dict[str, Any]:  # fmt: skip
    every = list(dict.fromkeys((*names, *files, *packed, *traversed, *coded_graphs)))
    if jobs:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            cases = dict(zip(every, pool.map(prepare, every)))
    else:
        cases = {name: prepare(name) for name in every}
    device = gb.device.get(on)
    run = Run(device, samples, budget, path)
    work: dict[str, tuple[Callable[[Case], None], Sequence[str]]] = {
        "bmv": (partial(bmv, run), (*names, *files)),
        "bmm": (partial(bmm, run), (*names, *files)),
        "limits": (lambda _: limits(run, pairs), every[:1]),
        "mplg": (partial(_programs, run, "mplg", ("csr", "mplg"), SIX), packed),
        "cgr": (partial(_programs, run, "cgr", ("csr", "nib", "cgr"), THREE), traversed),
        "schedules": (partial(settings, run, "schedules"), coded_graphs),
        "codes": (partial(settings, run, "codes"), coded_graphs),
    }
    if device.host_memory and not device.is_simt:  # Numba's kernels have no other constants
        parts = [part for part in parts if part not in ("schedules", "codes")]
    with gb.config.set(device=on):
        for part in parts:
            begin, (run_one, of) = run.now, work[part]
            share = SHARES[part] / sum(SHARES[name] for name in parts[parts.index(part) :])
            run.end = begin + share * (budget - begin)
            for name in of:
                if not run.late():
                    with run.attempt(part, cases[name].graph.name):
                        run_one(cases[name])
            run.result["seconds"][part] = run.now - begin
    if path:
        table.write(path, run.result)
    return run.result


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0 if every answer was right, 1 if one was wrong, 2 if the benchmark cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__.partition("\n")[0])
    p.add_argument("--device", default="cuda")
    p.add_argument("--budget", type=float, default=200.0, help="seconds, after graphs have been made (200)")
    p.add_argument("--samples", type=int, default=5, help="of which medians are taken (5)")
    p.add_argument("--graphs", type=table.names, default=PATTERNS, help="of bmv and bmm: names (see graphs.py)")
    p.add_argument("--folder", type=Path, help="also the Matrix Market files of a folder, for bmv and bmm")
    p.add_argument("--traversed", type=table.names, default=TRAVERSED, help="graphs of cgr")
    p.add_argument("--packed", type=table.names, default=PACKED, help="graphs of mplg")
    p.add_argument("--coded", type=table.names, default=CODED, help="graphs of schedules and codes")
    p.add_argument("--parts", type=table.names, default=tuple(SHARES), help=f"of {','.join(SHARES)}")
    p.add_argument("--pairs", type=int, default=1 << 17, help="pairs of tiles of a product in limits")
    p.add_argument("--jobs", type=int, default=min(12, (os.cpu_count() or 2) // 2), help="processes that make graphs")
    p.add_argument("--json", help="where the rows go")
    p.add_argument("--page", action="store_true", help="write docs/evaluations.md from stored/papers/, measure nothing")
    args = p.parse_args(argv)
    if args.page:
        from . import evaluations

        return evaluations.write()
    if unknown := {*args.parts} - {*SHARES}:
        p.error(f"--parts: unknown {', '.join(sorted(unknown))}; known: {', '.join(SHARES)}")
    files = sorted(args.folder.glob("*.mtx*"), key=lambda path: path.stat().st_size) if args.folder else []
    chosen = [str(path) for path in files if path.stat().st_size >= LEAST_FILE]
    return table.ended(
        "benchmarks.papers",
        lambda: measure(
            args.device, budget=args.budget, samples=args.samples, path=args.json, names=args.graphs, files=chosen,
            traversed=args.traversed, packed=args.packed, coded_graphs=args.coded, parts=args.parts, pairs=args.pairs,
            jobs=args.jobs,
        ),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
