"""python -m benchmarks.bytes: bytes per entry of every stored format, pointers included; exact, without a device.

--orders adds vertex orders, with a column for the packed permutation. `of csr`: the smallest format over 32-bit CSR;
`chosen`: the format that config.prefer = "memory" chooses; `over`: its bytes over those of the smallest format. Below
the table: whether the limits MEAN and CHOICE hold.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bitblas
from bitblas import config
from bitblas.formats import FORMATS, Structure, packing
from bitblas.operations.virtual_nodes import with_nodes
from bitblas.plan import format_choice as plan_forms
from bitblas.plan.facts import facts

from . import graphs, table

GRAPHS = (
    "rmat16", "delaunay_n16", "delaunay_n16_random", "grid2d_512", "stencil27_50", "mycielskian12", "road_ny",
)  # fmt: skip
NATURAL = "natural"
FORMS = tuple(FORMATS)
HEADS = ("graph", "order", "edges", *FORMS, "perm", "of csr", "over", "smallest", "chosen")
MEAN, CHOICE = 0.60, 1.02  # limits of smallest over CSR (geometric mean) and of chosen over smallest (any graph)


def sizes(of: Structure) -> dict[str, int]:
    """Bytes of the structure in every format, after mining virtual nodes."""
    with_nodes(of)
    seen = facts(of, exact=True)
    return {key: seen.bytes_of(key) for key in seen.forms}


def row_of(name: str, order: str, of: Structure) -> list[Any]:
    """A row of the table."""
    found, edges, seen = sizes(of), of.nvals, facts(of, exact=True)
    allowed = (key for key in found if FORMATS[key].cost.may_be_smallest(seen))
    smallest = min(allowed, key=lambda key: found[key])
    with config.set(prefer="memory"):
        chosen = plan_forms.choose_form(of)
    perm = 0 if order == NATURAL else 4 * packing.packed_words(of.nrows, packing.width_of(of.nrows))
    numbers = [None if size is None else size / edges for size in [*map(found.get, FORMS), perm]]
    ratios = [found[smallest] / found["csr"], found[chosen] / found[smallest]]
    return [name, order, edges, *numbers, *ratios, smallest, chosen]


def matrices(names: Sequence[str], folder: Path | None, least: int) -> Iterator[tuple[str, Any]]:
    """The graphs of `graphs.make`; the Matrix Market files of a folder with at least `least` entries, unchanged."""
    how: dict[str, Any] = {"device": "cpu", "format": "csr"}
    for name in names:
        graph = graphs.make(name)
        yield name, bitblas.Matrix.from_csr(graph.ptr, graph.col, True, ncols=graph.n, **how)
    for path in sorted([*folder.glob("*.mtx"), *folder.glob("*.mtx.gz")]) if folder else ():
        A = bitblas.io.mmread(path, device="cpu", dup_op=bitblas.binary.any)
        if A.nvals >= max(1, least):
            rows, cols, _ = A.to_coo()
            B = bitblas.Matrix.from_coo(rows, cols, True, nrows=A.nrows, ncols=A.ncols, **how)
            yield path.name.partition(".mtx")[0], B


def suitesparse_bytes(A: Any) -> float | None:
    """Bytes per entry in SuiteSparse:GraphBLAS, with one value for all entries; None if it is not installed."""
    try:
        import graphblas
    except ImportError:
        return None
    rows, cols, _ = A.to_coo()
    return float(graphblas.Matrix.from_coo(rows, cols, True, nrows=A.nrows, ncols=A.ncols).ss.nbytes / max(1, A.nvals))


def mean(ratios: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def bars(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Whether the limits hold."""
    ratio, over, perm = HEADS.index("of csr"), HEADS.index("over"), HEADS.index("perm")
    natural = [row[ratio] for row in rows if row[1] == NATURAL]
    best: dict[str, float] = {}  # by graph, the permutation included
    for row in rows:
        size = row[ratio] + row[perm] / row[HEADS.index("csr")]
        best[row[0]] = min(size, best.get(row[0], size))
    for what, ratios in ((f"in {NATURAL} order", natural), ("in its best order, permutation included", best.values())):
        if ratios:
            found = mean(list(ratios))
            held = "holds" if found <= MEAN else "MISSED"
            yield f"smallest form over CSR, geometric mean of {len(ratios)} graphs, each {what}: {found:.3f} ({held})"
    worst = max(rows, key=lambda row: row[over])
    held = "holds" if worst[over] <= CHOICE else "MISSED"
    yield f"chosen over smallest, at most: {worst[over]:.4f}, on {worst[0]} in {worst[1]} order ({held})"


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.bytes", description=__doc__.partition(";")[0])
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py), with commas")
    p.add_argument("--folder", type=Path, help="a folder of Matrix Market files")
    p.add_argument("--least", type=int, default=1, help="entries that a file must have (1)")
    p.add_argument("--orders", default=NATURAL, help=f"{NATURAL}, degree, bfs, rcm, ..; of square ones")
    p.add_argument("--json", help="where the figures go, and what SuiteSparse holds of the same graph, where it is")
    args = p.parse_args(argv)
    rows, found = [], []
    try:
        for name, A in matrices(table.names(args.graphs), args.folder, args.least):
            for order in args.orders.split(","):
                if order == NATURAL or A.nrows == A.ncols:
                    B = A if order == NATURAL else A.reorder(order)
                    rows.append(row_of(name, order, B._stored.structure))
                    found.append(dict(zip(HEADS, rows[-1])) | {"SuiteSparse": suitesparse_bytes(A)})
    except (OSError, ValueError) as error:
        print(f"benchmarks.bytes: {error}", file=sys.stderr)
        return 2
    print("\n".join([table.table(HEADS, rows), "", *bars(rows)]))
    if args.json:
        versions = {"suitesparse-graphblas": table.version("suitesparse-graphblas")}
        table.write(args.json, table.surroundings(peer=versions, rows=found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
