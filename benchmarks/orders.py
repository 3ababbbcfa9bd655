"""python -m benchmarks.orders: bytes per stored edge under each order of the vertices, pointers included; exact, and
without a device. First as the graph came, then with its vertices shuffled, then the shuffled one under each order of
`bitblas.reorder`, so that nobody profits from the order in which a file came; and the seconds that finding each took.
The permutation, 4 bytes a vertex, is not counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bitblas
from bitblas import reorder
from bitblas.formats import FORMATS
from bitblas.plan.facts import facts

from . import bytes, table

GRAPHS = ("web_n16", "rmat16", "delaunay_n16", "road_ny")
FORMS = ("nib", "cgr")
WARM = 8  # vertices of what each order runs on before it is timed: compiling is no part of it


def shuffled(A: Any) -> Any:
    """The same graph, its vertices numbered at random."""
    at = np.random.default_rng(1).permutation(A.nrows)
    rows, cols = (at[part.astype(np.int64)] for part in A.to_coo(values=False)[:2])
    return bitblas.Matrix.from_coo(rows, cols, True, nrows=A.nrows, ncols=A.ncols, device="cpu", format="csr")


def sizes(A: Any, forms: Sequence[str]) -> list[float]:
    found = facts(A._stored.structure, (), forms, exact=True)
    return [(found.bytes_of(key) or 0) / A.nvals for key in forms]


def rows_of(name: str, A: Any, orders: Sequence[str], forms: Sequence[str]) -> list[list[Any]]:
    """A line of the table for each form, and one of the seconds."""
    S = shuffled(A)
    columns, seconds = [sizes(A, forms), sizes(S, forms)], []
    for order in orders:
        begin = time.perf_counter()
        found = reorder.ORDERS[order](S)
        seconds.append(time.perf_counter() - begin)
        columns.append(sizes(S.reorder(found), forms))
    lines = [[name, key, A.nvals, *(column[k] for column in columns)] for k, key in enumerate(forms)]
    return [*lines, [name, "seconds", A.nvals, None, None, *seconds]]


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.orders", description=__doc__.partition(";")[0])
    p.add_argument("--graphs", default=",".join(GRAPHS), help="names (see graphs.py), with commas")
    p.add_argument("--folder", type=Path, help="a folder of Matrix Market files; rectangular ones are left out")
    p.add_argument("--least", type=int, default=1, help="entries that a file must have (1)")
    p.add_argument("--orders", default=",".join(reorder.ORDERS), help="of bitblas.reorder (all)")
    p.add_argument("--forms", default=",".join(FORMS), help=f"of {','.join(FORMATS)} ({','.join(FORMS)})")
    p.add_argument("--json", help="where the figures go")
    args = p.parse_args(argv)
    orders, forms = args.orders.split(","), args.forms.split(",")
    if unknown := sorted(set(orders) - set(reorder.ORDERS) | set(forms) - set(FORMATS)):
        p.error(f"expected orders of {','.join(reorder.ORDERS)} and forms of {','.join(FORMATS)}, got {unknown[0]}")
    heads, rows = ["graph", "form", "edges", "as it came", "shuffled", *orders], []
    ring = np.arange(WARM)
    small = bitblas.Matrix.from_coo(ring, (ring + 1) % WARM, True, nrows=WARM, ncols=WARM, device="cpu")
    for order in orders:
        reorder.ORDERS[order](small)
    try:
        for name, A in bytes.matrices([name for name in args.graphs.split(",") if name], args.folder, args.least):
            if A.nrows == A.ncols:
                rows += rows_of(name, A, orders, forms)
    except (OSError, ValueError) as error:
        print(f"benchmarks.orders: {error}", file=sys.stderr)
        return 2
    print(table.table([*heads, ""], [[*row, ""] for row in rows]))
    if args.json:
        table.write(args.json, table.surroundings(rows=[dict(zip(heads, row)) for row in rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
