"""Run every kernel on small operands, in the emulator (`make every-kernel`) or on a GPU under compute-sanitizer (`make
sanitize`), under which the tests would take hours.

    python tests/every_kernel.py --device cuda [--part 0/8] [--watched] [--ran FILE]

Programs as the tests have them come first, then statements for the kernels that these leave out (kernel_calls.py). It
fails unless each CUDA kernel of the package ran, with the arguments of its twin for the CPU. `--ran FILE` writes the
variants that ran: `make kernels` compiles them for GPUs. Of a part, `--complete FILE ..` checks that all parts together
ran each kernel. Answers are not checked: the tests do that.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import core_programs
import kernel_calls
import numpy as np
import test_loop
from battery import FORMS, MATRICES, generator, several, values
from both_libraries import operands
from kernel_calls import Group

import bitblas
import bitblas as gb
from bitblas import algorithms, binary, device, semiring, tuning
from bitblas.device import jit
from bitblas.device.jit import without_views
from bitblas.formats import format_of
from bitblas.kernels.variant import Variant

# (semiring, its type, type of the matrix, type of the vector)
FEW = several(
    "min_plus FP32 FP32 FP32, plus_times FP64 FP64 FP64, plus_second FP32 BOOL FP32, any_secondi BOOL BOOL BOOL,"
    "lor_land BOOL BOOL BOOL, plus_pair INT64 BOOL BOOL, min_plus FP64 FP64 FP64"
)
MORE = several(
    "min_plus INT64 INT64 INT64, min_second INT64 BOOL INT64, max_plus FP64 FP64 FP64, max_times FP32 FP32 FP32,"
    "plus_times FP32 FP32 FP32, plus_second FP64 BOOL FP64"
)
# More for formats with kernels of their own ends; a Split has the kernels of tiles of 8 and of rows.
PRODUCTS = {"csr": FEW + MORE, "b2sr8": FEW + MORE[::2], "split8": FEW + MORE[1::2]}
SHORT = several(
    "plus_first FP64, min_plus FP32, min_plus FP64, min_plus INT64, plus_times FP32, plus_times FP64, plus_pair INT64,"
    "any_pair BOOL"
)
ACCUMULATORS = {"min_plus": "min", "plus_second": "plus", "lor_land": "lor", "plus_pair": "plus"}


def matrix(name: str, dtype: str, *, iso: bool, **how: Any) -> gb.Matrix:
    p = MATRICES[name]()
    x = values(generator(name, dtype), dtype, len(p.rows))
    return gb.Matrix.from_coo(
        p.rows, p.cols, np.ones(1, x.dtype)[0] if iso else x, dtype, nrows=p.nrows, ncols=p.ncols, **how
    )


def vectors(size: int, dtype: str) -> Iterator[gb.Vector]:
    """Full, half full, and with so few entries that products push along them."""
    for entries in (size, size // 2, 2):
        at = np.arange(entries) * (size // max(1, entries))
        yield gb.Vector.from_coo(at, values(generator(size, dtype), dtype, entries), dtype, size=size)


# ---- calls ----------------------------------------------------------------------------------------------------------


def products(key: str, name: str, dtype: str, a: str, u: str) -> None:
    """mxv and vxm, by all ends of a statement, on rows with and without hubs; the product of matrices at a mask."""
    op, accum, iso = semiring[name][dtype], ACCUMULATORS.get(name), not name.endswith(("plus", "times", "land"))
    padded = ("128x128",) if FORMS[key].get("tile") else ()  # of whole tiles
    for which in (*padded, "130x130", "long hub"):
        A = matrix(which, a, iso=iso, **FORMS[key])
        mask = next(vectors(A.nrows, "BOOL"))
        for v in vectors(A.ncols, u):
            w = A.mxv(v, op).new()
            w(~mask.V, gb.replace) << A.mxv(v, op)
            w(mask.S) << A.mxv(v, op)
            if accum is not None:
                w(accum) << A.mxv(v, op)
            if name == "lor_land":
                level = gb.Vector("FP64", A.nrows)
                level(mask.S) << A.mxv(v, semiring.any_pair["BOOL"])
                level << A.mxv(v, op)
        for v in vectors(A.nrows, u):
            v.vxm(A, op).new()
    A, L = (matrix("130x130", t, iso=iso, **FORMS[key]) for t in (a, "BOOL"))
    for expr in (A.mxm(A, op), A.mxm(A.T, op)):
        expr.new(mask=L.S)
        expr.new(mask=~L.S)
        expr.new()


def packed(key: str) -> None:
    """Products of packed values."""
    dtype = {"mplg": "FP32"}.get(key, "INT64")
    for which in ("130x130", "long hub"):
        p = MATRICES[which]()
        weights = np.arange(len(p.rows)) % 200
        A = gb.Matrix.from_coo(p.rows, p.cols, weights, dtype, nrows=p.nrows, ncols=p.ncols, packed=True, **FORMS[key])
        for v in vectors(A.ncols, dtype):
            A.mxv(v, semiring.min_plus).new()
        for v in vectors(A.nrows, dtype):
            v.vxm(A, semiring.min_plus).new()


def forms(key: str, which: str) -> None:
    """Every format built from rows and converted back, with and without values; parts of it; other operations on it."""
    for iso in (True, False):
        A = matrix(which, "INT64", iso=iso, **FORMS[key])
        A.T.new().isequal(A)
        A.to_coo()
        A[1:70, ::2].new(), A[3, :].new(), A[[5, 2], :].new()
        A.select("tril").new(), A.select(gb.select.valuegt, 0).new()
        (A + A).new(), A.ewise_mult(A, binary.times).new(), A.apply(gb.unary.ainv).new()
        A.reduce_rowwise().new(), A.reduce_columnwise("max").new(), A.reduce_scalar().new()
        for other in FORMS if which == "130x130" else ():
            gb.Matrix.from_coo(*A.to_coo(), nrows=A.nrows, ncols=A.ncols, **FORMS[other]).isequal(A)


def programs(key: str) -> None:
    """Loops that stay on the device, as tests of loops have them; the algorithms."""
    where, how = gb.config.device, (FORMS[key]["format"], FORMS[key].get("tile"))
    test_loop.test_breadth_first_levels(where, how)
    test_loop.test_breadth_first_parents(where, how)
    for dtype in (gb.dtypes.INT64, gb.dtypes.FP64):
        test_loop.test_shortest_paths(where, how, dtype)
    A = test_loop.graph(symmetric=True, **FORMS[key])
    for run in (algorithms.bfs_levels, algorithms.bfs_parents, algorithms.sssp):
        run(A, 5)
    for weights in (np.float32, np.int64):
        algorithms.sssp(test_loop.graph(symmetric=True, weights=weights, **FORMS[key]), 5)
    algorithms.pagerank(A), algorithms.connected_components(A), algorithms.triangle_count(A)


def wide() -> None:
    """Passes as those over many places are."""
    with tuning.override({"loop.wide_size": 0}):
        algorithms.betweenness_centrality(test_loop.graph(symmetric=True), range(9))


def searches() -> None:
    """Searches along rows of very different lengths, that push, and that pull; by small blocks and by large ones."""
    for entries in (0, 1 << 17):
        with tuning.override({"loop.segment_entries": 16, "grid.pull_entries": entries, "grid.small_entries": entries}):
            algorithms.bfs_levels(test_loop.graph(symmetric=True), 5)
            algorithms.bfs_parents(test_loop.graph(symmetric=True), 5)


def columns() -> None:
    """Multivectors whose columns run alone, in shared memory and outside of it; searches that go back."""
    A = gb.Matrix.from_coo(np.arange(199), np.arange(1, 200), True, nrows=200, ncols=200)
    A = A.ewise_add(A.T, binary.lor).new()
    for shared in (0, 1 << 16):
        with tuning.override({"columns.shared_bytes": shared}):
            algorithms.levels_from_each(A, range(0, 198, 3))
            algorithms.betweenness_centrality(A, range(9))


def long_rows(key: str) -> None:
    """Products of matrices whose rows fit no table."""
    for name, dtype, a, _ in FEW:
        A = matrix("long hub", a, iso=False, **FORMS[key])
        A.T[:40, :].new().mxm(A, semiring[name][dtype]).new()


def short_rows() -> None:
    """Rows of products that fit tables of every size; with a matrix of one entry a row, and of two."""
    rows, cols = np.repeat([0, 1, 2, 3], [5, 40, 100, 300]), np.concatenate([np.arange(n) for n in (5, 40, 100, 300)])
    B = gb.Matrix.from_coo(np.arange(300), np.arange(300)[::-1], True)
    C = B.ewise_add(gb.Matrix.from_coo(np.arange(300), np.arange(300), True), binary.lor).new()
    for name, dtype in SHORT:
        x = values(generator("short", dtype), dtype, len(rows))
        A = gb.Matrix.from_coo(rows, cols, x, nrows=4, ncols=300)
        for other in (B, C):
            right = other if name.endswith(("pair", "first")) else other.apply(gb.unary.one[dtype]).new()
            A.mxm(right, semiring[name][dtype]).new()


def texts(name: str, dtype: str) -> None:
    """Texts of core_programs.py; statements change their operands."""
    fresh, scope = name != "EXPRESSIONS", operands(gb, 7, dtype)
    for part in " ".join(getattr(core_programs, name).split()).split("; "):
        if fresh:
            scope = operands(gb, 7, dtype)
        try:
            found = eval(part, scope)
            found.new() if hasattr(found, "new") else found
        except SyntaxError:
            exec(part, scope)
        except (AttributeError, TypeError):  # what both libraries refuse
            pass
        for x in scope.values() if fresh else ():
            if isinstance(x, (gb.Vector, gb.Matrix)):
                x.nvals  # completes pending writes


def groups() -> Iterator[Group]:
    yield from ((short_rows, [()]), (wide, [()]), (searches, [()]), (columns, [()]))
    for key in FORMS:
        fused = format_of(key).kernels["mxv.pull"].fused
        yield forms, [(key, which) for which in ("130x130", "gaps", "long hub")]
        yield programs, [(key,)]
        yield long_rows, [(key,)] if format_of(key).by_rows else []
        yield packed, [(key,)] if fused or format_of(key).packed else []
        yield products, [(key, *which) for which in PRODUCTS.get(key, FEW + MORE if fused else FEW)]
    yield texts, several("EXPRESSIONS FP64, EXPRESSIONS INT64, STATEMENTS FP64, MATRIX_STATEMENTS FP64")
    yield from kernel_calls.CALLS


def tasks() -> Iterator[tuple[str, Callable[[], None]]]:
    """A name and a call."""
    for function, found in groups():
        for arguments in found:
            yield " ".join([function.__name__, *map(str, arguments)]), partial(function, *arguments)


# ---- what ran -------------------------------------------------------------------------------------------------------


PACKAGE = Path(bitblas.__file__).parent
FOLDERS = sorted({path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.cu")})
KERNELS = {f"{folder}/{name}" for folder in FOLDERS for name in jit.kernels_of(folder, ".cu")}


LARGEST = device.Cluster(16)


def record(kind: type) -> set[Variant]:
    """The variants that a device loads from now on."""
    loaded: set[Variant] = set()
    found = kind.load

    def load(self: Any, variant: Variant) -> Any:
        loaded.add(variant)
        return found(self, variant)

    kind.load = load
    return loaded


def on_gpus(variant: Variant, used: device.Cluster | None, whole: device.Cluster = LARGEST) -> Variant:
    """The variant with a GPU's thread block clusters in place of those that were used: the emulator's are smaller."""
    if used is None or not variant.constant("QUEUE_BYTES"):
        return variant
    sizes = {"CLUSTER": whole.blocks, "QUEUE_BYTES": whole.queue_bytes}
    if variant.constant("SHARED_BYTES"):
        sizes["SHARED_BYTES"] = whole.bits_bytes
    sizes["THREADS"] = variant.constant("THREADS") * whole.threads // used.threads
    return dataclasses.replace(variant, constants=tuple((name, sizes.get(name, n)) for name, n in variant.constants))


def distinct(variants: Iterable[Variant]) -> list[Variant]:
    """Variants in a fixed order, one of those that differ only in lanes, which depend on the operands' sizes."""
    found: dict[tuple[str, str], Variant] = {}
    for variant in sorted(variants, key=lambda v: (str(v), v.cpp())):
        constants = tuple(c for c in variant.constants if c[0] != "LANES")
        found.setdefault((variant.kernel, dataclasses.replace(variant, constants=constants).cpp()), variant)
    return list(found.values())


def missing(variants: Iterable[Variant]) -> int:
    """Print the kernels of the package that did not run."""
    missed = sorted(KERNELS - {variant.kernel for variant in variants})
    print(f"{len(KERNELS) - len(missed)} of {len(KERNELS)} kernels ran")
    print(*(f"not run: {kernel}" for kernel in missed), sep="\n", end="\n" if missed else "")
    return len(missed)


def arguments(variant: Variant) -> int:
    """The number of arguments of a compiled kernel, in the emulator."""
    from emulator import emu

    module = emu.RawModule(code=jit.cuda_source(variant), name_expressions=[variant.entry])
    return len(module.get_function(variant.entry).signature)


def odd_arguments(variants: Iterable[Variant], count: Callable[[Variant], int] = arguments) -> Iterator[str]:
    """Kernels whose variants take different arguments, or others than the twin, which has `lo, hi` for `n`."""
    counts: dict[str, set[int]] = {}
    variants = list(variants)
    generated = {v.kernel for v in variants if v.text}  # these have the arguments that their text names
    for variant in variants:
        if variant.kernel not in generated:
            group = [variant.kernel, str(variant.constant("TILE")), "masked" if variant.constant("MASKED") else ""]
            counts.setdefault(" ".join(group), set()).add(count(variant))
    for group, found in counts.items():
        folder, _, entry = group.split()[0].rpartition("/")
        if twin := jit.kernels_of(folder, ".cpu.py").get(entry):
            head = rf"^def {entry}\(\s*lo,\s*hi,([^)]*?),?\s*\)"
            listed = re.search(head, without_views(twin.read_text()), re.MULTILINE)
            assert listed is not None, twin
            found = found | {1 + len(listed[1].split(","))}
        if len(found) > 1:
            yield f"{group}: variants and twin take {sorted(found)} arguments"


# ---- under compute-sanitizer on a GPU: memory, loops and clusters, and planted faults -------------------------------


def watch(where: device.Device) -> None:
    """For compute-sanitizer: each array is a separate allocation, not part of a pool's, and the host makes the
    launches of loops, because the kernels of a while node do not run under it (they read at address 0)."""
    type(where).captures = False
    where.xp.cuda.set_allocator()


def shrink_clusters(where: device.Device, size: str) -> None:
    """Clusters of BLOCKSxTHREADS, on a device that has clusters: racecheck watches one block of 64. If blocks read each
    other's shared memory it ends with a hardware exception, which memcheck does not find, and a barrier of 8 blocks of
    1024 threads takes 0.1 s under it. The emulator checks accesses between blocks."""
    blocks, threads = (int(x) for x in size.split("x"))
    if where.cluster is not None:
        where.cluster = where.cluster._replace(blocks=blocks, threads=threads)


PLANTED = """
extern "C" __global__ void reduce(long long* out) {
    __shared__ long long sums[256];
    sums[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = sums[255 - threadIdx.x];
}
"""


def plant(where: device.Device) -> None:
    """What the sanitizer must find, else it does not watch: a race in shared memory, and a write behind an array."""
    where.xp.RawKernel(PLANTED, "reduce")((1,), (256,), (where.xp.zeros(200, "int64"),))


# ---- the program ----------------------------------------------------------------------------------------------------


def by_processes(jobs: int, kind: str, ran: Path) -> int:
    """Run all tasks in that many processes, and write the variants that ran in any of them to the file `ran`."""
    files = [ran.with_name(f"{ran.name}.{k}") for k in range(jobs)]
    command = [sys.executable, __file__, "--device", kind]
    parts = [[*command, "--part", f"{k}/{jobs}", "--ran", str(file)] for k, file in enumerate(files)]
    codes = [process.wait() for process in [subprocess.Popen(part) for part in parts]]
    if any(codes):
        return 1
    found = distinct(v for file in files for v in pickle.loads(file.read_bytes()))
    ran.write_bytes(pickle.dumps(found))
    return 1 if missing(found) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--part", default="0/1", help="k/n: every n-th task, from the k-th")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with a part of the tasks")
    parser.add_argument("--only", default="", help="the tasks whose names begin so")
    parser.add_argument("--shared", nargs="+", metavar="FILE", help="print which kernels that ran use shared memory")
    parser.add_argument("--planted", action="store_true", help="call a faulty kernel under one of our names")
    parser.add_argument("--watched", action="store_true", help="on a GPU, under compute-sanitizer")
    parser.add_argument("--cluster", metavar="BLOCKSxTHREADS", help="the size of thread-block clusters")
    parser.add_argument("--times", action="store_true", help="each task's seconds, as it ends")
    parser.add_argument("--ran", help="a file for the variants that ran")
    parser.add_argument("--complete", nargs="+", metavar="FILE", help="whether what ran, by these files, is everything")
    args = parser.parse_args()
    if args.complete or args.shared:
        ran = [v for path in args.complete or args.shared for v in pickle.loads(Path(path).read_bytes())]
        if args.complete:
            return 1 if missing(ran) else 0
        print(*sorted({v.entry for v in ran if "__shared__" in jit.cuda_source(v)}), sep="\n")
        return 0
    if args.jobs > 1:
        if not args.ran:
            parser.error("--jobs needs --ran")
        return by_processes(args.jobs, args.device, Path(args.ran))
    if args.device == "emulator":
        importlib.import_module("emulator.device")  # registers it
    gb.config.device = args.device
    if args.watched:
        watch(device.get(args.device))
    if args.cluster:
        shrink_clusters(device.get(args.device), args.cluster)
    if args.planted:
        plant(device.get(args.device))
        device.get(args.device).synchronize()
        return 0
    loaded = record(type(device.get(args.device)))
    k, n = (int(x) for x in args.part.split("/"))
    begin, failed, done = time.perf_counter(), [], 0
    chosen = [t for t in tasks() if t[0].startswith(args.only)]
    for name, run in chosen[k::n]:
        start = time.perf_counter()
        try:
            run()
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
        done += 1
        if args.times:
            print(f"{time.perf_counter() - start:8.2f} s  {name}", flush=True)
    device.get(args.device).synchronize()
    ran = distinct(on_gpus(variant, device.get(args.device).cluster) for variant in loaded)
    print(f"{done} tasks, {time.perf_counter() - begin:.0f} s: {len(loaded)} variants, {len(ran)} of them distinct")
    if args.ran:
        Path(args.ran).parent.mkdir(exist_ok=True)
        Path(args.ran).write_bytes(pickle.dumps(ran))
    failed += odd_arguments(loaded) if args.device == "emulator" else ()
    print(*failed, sep="\n", end="\n" if failed else "")
    missed = missing(ran)
    return 1 if failed or (missed and n == 1 and not args.only) else 0


if __name__ == "__main__":
    sys.exit(main())
