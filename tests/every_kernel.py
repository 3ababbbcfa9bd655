"""Call every kernel on small operands, for compute-sanitizer (`make sanitize`), under which the tests would take hours.

    python tests/every_kernel.py --device cuda [--part 0/8] [--watched] [--list]

Programs as the tests have them come first, then a call for each registered variant that they left out
(kernel_calls.py). It fails unless every registered variant ran, constants that the plan sets by the size of operands
aside; of a part, `--ran FILE` notes what ran, and `--complete FILE ..` says whether all parts together ran everything.
Answers are not looked at: the tests do that.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import core_programs
import kernel_calls
import numpy as np
import test_loop
import watched
from battery import FORMS, MATRICES, generator, values
from both_libraries import operands

import bitblas as gb
from bitblas import algorithms, binary, device, semiring, tuning
from bitblas.device import jit
from bitblas.formats import format_of
from bitblas.kernels.variant import Variant
from bitblas.registry import variants as registry

# Constants that the plan sets by the operands, and by the device.
CHOSEN = {"LANES", "UNROLL", "MIN_BLOCKS", "STAGE", "SLOTS", "LOG_SLOTS", "CLUSTER", "THREADS", "QUEUE_BYTES"}
CHOSEN |= {"SHARED_BYTES", "SHARE"}
Task = tuple[str, Callable[[], None]]


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


def products(key: str, name: str, dtype: str, a: str, u: str, iso: bool) -> None:
    """mxv and vxm, by all ends of a statement, on rows with and without hubs; the product of matrices at a mask."""
    op, accum = semiring[name][dtype], registry.MERGED.get(name)
    for which in ("128x128", "130x130", "long hub"):
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
        for other in FORMS:
            gb.Matrix.from_coo(*A.to_coo(), nrows=A.nrows, ncols=A.ncols, **FORMS[other]).isequal(A)


def programs(key: str, how: tuple[str, int | None]) -> None:
    """Loops that stay on the device, as tests of loops have them; the algorithms."""
    where = gb.config.device
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


def long_rows(key: str) -> None:
    """Products of matrices whose rows fit no table."""
    for name, dtype, a, _, _ in registry.FEW:
        A = matrix("long hub", a.name, iso=False, **FORMS[key])
        A.T[:40, :].new().mxm(A, semiring[name][dtype]).new()


def single_rows() -> None:
    """Products with a matrix of one entry a row: rows that fit tables of every size."""
    rows, cols = np.repeat([0, 1, 2], [5, 100, 300]), np.concatenate([np.arange(n) for n in (5, 100, 300)])
    A = gb.Matrix.from_coo(rows, cols, values(generator("single", "FP64"), "FP64", len(rows)), nrows=3, ncols=300)
    A.mxm(gb.Matrix.from_coo(np.arange(300), np.arange(300)[::-1], True), semiring.plus_first["FP64"]).new()


def texts(programs: str, dtype: str, *, fresh: bool) -> None:
    """Texts of test_core.py; fresh: they change their operands."""
    scope = operands(gb, 7, dtype)
    for part in " ".join(programs.split()).split("; "):
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


def tasks() -> Iterator[Task]:
    yield "single rows", single_rows
    yield "programs over many places", wide
    for key in FORMS:
        how = FORMS[key]["format"], FORMS[key].get("tile")
        for which in ("130x130", "gaps", "long hub"):
            yield f"forms {key} {which}", lambda key=key, which=which: forms(key, which)
        yield f"programs {key}", lambda key=key, how=how: programs(key, how)
        if format_of(key).by_rows:
            yield f"long rows {key}", lambda key=key: long_rows(key)
        if format_of(key).kernels["mxv.pull"].fused or format_of(key).packed:
            yield f"packed {key}", lambda key=key: packed(key)
        few = dict.fromkeys((*registry.FEW, *registry.PRODUCTS[:2], *registry.PRODUCTS[-1:]))
        for name, dtype, a, u, _ in registry.PRODUCTS if format_of(key).kernels["mxv.pull"].fused else few:
            iso = not name.endswith(("plus", "times", "land"))
            which = key, name, dtype.name, a.name, u.name, iso
            yield f"products {' '.join(which[:3])}", lambda which=which: products(*which)
    for dtype in ("FP64", "INT64"):
        yield f"expressions {dtype}", lambda dtype=dtype: texts(core_programs.EXPRESSIONS, dtype, fresh=False)
    yield "statements", lambda: texts(core_programs.STATEMENTS, "FP64", fresh=True)
    yield "statements on matrices", lambda: texts(core_programs.MATRIX_STATEMENTS, "FP64", fresh=True)


def calls_left(ran: set[Variant]) -> Iterator[Task]:
    """Calls of registered variants, each if it has not run by then."""

    def call(variant: Variant, how: Callable[[Variant], None]) -> None:
        if same(variant) not in ran:
            how(variant)

    for name, variant, how in kernel_calls.calls():
        yield f"calls {name}", lambda variant=variant, how=how: call(variant, how)


# ---- what ran -------------------------------------------------------------------------------------------------------


def same(variant: Variant) -> Variant:
    """The variant, but for what depends on the sizes of operands."""
    constants = tuple(c for c in variant.constants if c[0] not in CHOSEN)
    return dataclasses.replace(variant, constants=constants, label="", text="")


def noting(kind: type, seen: set[Variant], ran: set[Variant]) -> None:
    """The set of variants that a device loads from now on."""
    found = kind.load

    def load(self: Any, variant: Variant) -> Any:
        seen.add(variant)
        ran.add(same(variant))
        return found(self, variant)

    kind.load = load


def missing(ran: set[str], listed: bool) -> int:
    """Print the registered variants that did not run."""
    variants = registry.variants()
    missed = [v for v in variants if named(v) not in ran]
    print(f"{len(variants) - len(missed)} of the {len(variants)} registered variants ran")
    for v in missed if listed else ():
        print("not run:", v)
    return len(missed)


def named(variant: Variant) -> str:
    """The same for variants that are the same, in every process."""
    text = f"{variant.kernel}\n{same(variant).cpp()}"
    return f"{variant.kernel} {hashlib.sha256(text.encode()).hexdigest()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--part", default="0/1", help="k/n: every n-th task, from the k-th")
    parser.add_argument("--only", default="", help="the tasks whose names begin so")
    parser.add_argument("--list", action="store_true", help="what did not run, too")
    parser.add_argument("--shared", action="store_true", help="print which kernels use shared memory")
    parser.add_argument("--planted", action="store_true", help="call a faulty kernel under one of our names")
    parser.add_argument("--watched", action="store_true", help="on a GPU, under compute-sanitizer")
    parser.add_argument("--cluster", metavar="BLOCKSxTHREADS", help="the size of thread-block clusters")
    parser.add_argument("--times", action="store_true", help="each task's seconds, as it ends")
    parser.add_argument("--ran", help="a file for what ran")
    parser.add_argument("--complete", nargs="+", metavar="FILE", help="whether what ran, by these files, is everything")
    args = parser.parse_args()
    if args.complete:
        return (
            1 if missing({line for path in args.complete for line in Path(path).read_text().split("\n")}, True) else 0
        )
    if args.shared:
        print(*sorted({v.entry for v in registry.variants() if "__shared__" in jit.cuda_source(v)}), sep="\n")
        return 0
    if args.device == "emulator":
        importlib.import_module("emulator.device")  # registers it
    gb.config.device = args.device
    if args.watched:
        watched.watch(device.get(args.device))
    if args.cluster:
        watched.shrink_clusters(device.get(args.device), args.cluster)
    if args.planted:
        watched.plant(device.get(args.device))
        device.get(args.device).synchronize()
        return 0
    seen: set[Variant] = set()
    ran: set[Variant] = set()
    noting(type(device.get(args.device)), seen, ran)
    k, n = (int(x) for x in args.part.split("/"))
    begin, failed, done = time.perf_counter(), [], 0
    chosen = [t for t in (*tasks(), *calls_left(ran)) if t[0].startswith(args.only)]
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
    print(f"{done} tasks, {time.perf_counter() - begin:.0f} s: {len(seen)} variants")
    names = {named(v) for v in seen}
    if args.ran:
        Path(args.ran).write_text("\n".join(sorted(names)))
    print(*failed, sep="\n", end="\n" if failed else "")
    whole = n == 1 and not args.only
    missed = missing(names, args.list or whole)
    return 1 if failed or (whole and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
