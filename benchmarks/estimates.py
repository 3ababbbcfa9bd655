"""python -m benchmarks.estimates: errors of the estimates of tiles, against exact counts; without a device.

For each tile size of Bit-GraphBLAS (4 to 32), the bytes of B2SR that two estimates predict, over the exact ones: from
2048 sampled entries (bitblas/formats/sampling.py), and from N random rows by Algorithm 1 of the paper, at least
(bitblas/operations/row_sample.py); and the rate of Algorithm 1 (entries per nonempty bit row) over that of all rows,
the farthest from 1 of several draws. Below the table: for each pattern class, the geometric means of the factors by
which estimates are off.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bitblas.formats.b2sr.layout import count_tiles
from bitblas.operations.row_sample import TILES, row_profile
from bitblas.plan.pattern import pattern_of

from . import table
from .bytes import matrices, mean

GRAPHS = "rmat16,delaunay_n16,delaunay_n16_random,grid2d_512,stencil27_50,mycielskian12,road_ny,web_n16"
HEADS = ("graph", "pattern", *(f"{what} {tile}" for tile in TILES for what in ("entries", "rows", "rate")))


def row_of(name: str, A: Any, count: int, draws: int) -> list[Any]:
    """A row of the table."""
    store = A._stored
    count, rows = min(count, A.nrows), store.structure.plain_rows()
    seen = [row_profile(store, count, seed) for seed in range(draws)]
    whole = row_profile(store, A.nrows)
    numbers = []
    for tile in TILES:
        right = whole._ratio(tile, float(count_tiles(rows, tile)))
        rates = [one.rate[tile] / whole.rate[tile] if one.rate[tile] else math.nan for one in seen]
        farthest = max(rates, key=lambda rate: abs(math.log(rate)) if rate == rate else math.inf)
        numbers += [whole.by_entries(tile) / right, seen[0].by_rows(tile) / right, farthest]
    return [name, " ".join(pattern_of(store.structure).classes), *numbers]


def summary(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The geometric means over tile sizes and the graphs of a class."""
    off: dict[str, list[list[float]]] = defaultdict(lambda: [[], [], []])
    for _, classes, *numbers in rows:
        for kind in (*classes.split(), "all"):
            for k, number in enumerate(numbers):
                if number == number and number > 0:
                    off[kind][k % 3].append(max(number, 1 / number))
    return [[kind, *(mean(found) for found in off[kind])] for kind in sorted(off)]


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.estimates", description=__doc__.partition(";")[0])
    p.add_argument("--graphs", default=GRAPHS, help="names (see graphs.py), with commas")
    p.add_argument("--folder", type=Path, help="a folder of Matrix Market files")
    p.add_argument("--least", type=int, default=4096, help="entries that a file must have (4096)")
    p.add_argument("--rows", type=int, default=1000, help="rows that Algorithm 1 samples (1000)")
    p.add_argument("--draws", type=int, default=5, help="draws of rows (5)")
    p.add_argument("--json", help="where the figures go")
    args = p.parse_args(argv)
    rows = []
    try:
        for name, A in matrices(table.names(args.graphs), args.folder, args.least):
            rows.append(row_of(name, A, args.rows, args.draws))
    except (OSError, ValueError) as error:
        print(f"benchmarks.estimates: {error}", file=sys.stderr)
        return 2
    means = summary(rows)
    print(table.table(HEADS, rows), table.table(("class", "entries", "rows", "rate"), means), sep="\n\n")
    if args.json:
        found = [dict(zip(HEADS, row)) for row in rows]
        table.write(args.json, table.surroundings(rows=found, factors={kind: off for kind, *off in means}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
