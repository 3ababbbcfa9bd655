"""python -m benchmarks.models: what a search reads, and how evenly CGR's residuals fall to the lanes of a warp.

Counted on the host, without a device; docs/sources.md uses the figures to explain times on a GPU.

Search: entries that a direction-optimizing search reads. A round pushes along all entries of its frontier's rows. If
those are more than a sixteenth of all entries, or the frontier has more than a sixteenth of the vertices, it pulls:
each vertex that has not been found reads its row up to the first neighbour in the frontier.

Residuals: a lane takes a row, and finds TAKEN columns in a step; rows of more than LONGEST words are cut into parts,
which have lanes of their own. A warp takes as many steps as its longest row. With task stealing (Sha, Li and Tan 2019,
Algorithm 3) lanes that are done handle columns of the others, which go on decoding alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import graphs, table

GRAPHS = "rmat18,rmat18+degree,rmat20,web_n18,delaunay_n18,road_ny,mycielskian12"
SOURCES = 4  # the vertex of largest degree, and others at random
PART = 1 / 16  # of the entries, or of the vertices, above which a round pulls
TAKEN, LONGEST, LEAST, WARP = 4, 32, 4, 32  # columns of a step; words of a row; columns of an interval; lanes


class Reads(NamedTuple):
    """Entries read by pushes and by pulls; rows that pull; entries of all rows that the search reaches."""

    pushed: int
    pulled: int
    rows: int
    reached: int


def search_reads(graph: graphs.Graph, source: int) -> Reads:
    """What a search from a vertex of an undirected graph reads."""
    ptr, col, n = graph.ptr.astype(np.int64), graph.col, graph.n
    degree, seen = np.diff(ptr), np.zeros(n, bool)
    frontier, pushed, pulled, rows, reached = np.array([source]), 0, 0, 0, 0
    seen[source] = True
    while len(frontier):
        active = np.zeros(n, bool)
        active[frontier] = True
        entries = int(degree[frontier].sum())
        reached += entries
        if entries > PART * graph.nvals or len(frontier) > PART * n:
            todo = np.flatnonzero(~seen & (degree > 0))
            hits = np.append(np.flatnonzero(active[col]), graph.nvals)
            first, end = hits[np.searchsorted(hits, ptr[todo])], ptr[todo + 1]
            pulled += int((np.minimum(first + 1, end) - ptr[todo]).sum())
            rows += len(todo)
            frontier = todo[first < end]
        else:
            pushed += entries
            found = np.unique(col[np.repeat(active, degree)])
            frontier = found[~seen[found]]
        seen[frontier] = True
    return Reads(pushed, pulled, rows, reached)


class Steps(NamedTuple):
    """Steps of all warps; the share of lanes that find columns in them; steps in which columns are handled if lanes
    steal them (they are decoded in `steps` as before)."""

    steps: int
    busy: float
    stolen: int


def residual_steps(graph: graphs.Graph) -> Steps:
    """The steps of the residuals of a push along all rows, without those of long rows."""
    residuals, words = _residuals(graph)
    residuals[words > LONGEST] = 0
    lanes = np.zeros(-(-graph.n // WARP) * WARP, np.int64)
    lanes[: graph.n] = residuals
    lanes = lanes.reshape(-1, WARP)
    each = -(-lanes // TAKEN)
    together = each.min(axis=1)  # steps until the first lane is done
    rest = (lanes - np.minimum(lanes, together[:, None] * TAKEN)).sum(axis=1)
    steps, stolen = int(each.max(axis=1).sum()), int((together - -rest // (WARP * TAKEN)).sum())
    return Steps(steps, float(lanes.sum() / max(1, steps * WARP * TAKEN)), stolen)


def _residuals(graph: graphs.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Of each row the number of residuals, and an estimate of its words in CGR."""
    row, col = graph.rows, graph.col.astype(np.int64)
    begins = np.ones(graph.nvals, bool)
    begins[1:] = (col[1:] != col[:-1] + 1) | (row[1:] != row[:-1])
    runs = np.flatnonzero(begins)
    long = np.diff(np.append(runs, graph.nvals)) >= LEAST
    single = ~np.repeat(long, np.diff(np.append(runs, graph.nvals)))
    row, col, intervals = row[single], col[single], np.bincount(row[runs[long]], minlength=graph.n)
    first = np.ones(len(row), bool)
    first[1:] = row[1:] != row[:-1]
    value = np.diff(col, prepend=0) - 1
    value[first] = 2 * abs(col[first] - row[first])
    bits = 4 * (np.log2(value + 1).astype(np.int64) // 3 + 1)  # zeta_3
    each = np.bincount(row, weights=bits, minlength=graph.n) + 14 * intervals
    return np.bincount(row, minlength=graph.n), np.ceil(each / 32)


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__.partition("\n")[0])
    p.add_argument("--graphs", default=GRAPHS, help="names (see graphs.py), with commas")
    args = p.parse_args(argv)
    searches, warps = [], []
    try:
        for name in table.names(args.graphs):
            graph = graphs.make(name)
            others = np.random.default_rng(0).choice(np.flatnonzero(np.diff(graph.ptr)), SOURCES - 1)
            for source in [graph.source, *others.tolist()] if not name.startswith("web") else ():
                found = search_reads(graph, source)
                searches.append([name, source, *found, (found.pushed + found.pulled) / found.reached])
            warps.append([name, *residual_steps(graph)])
    except (OSError, ValueError) as error:
        print(f"benchmarks.models: {error}", file=sys.stderr)
        return 2
    print(table.table(("graph", "source", *Reads._fields, "read"), searches))
    print(f"\n{table.table(('graph', *Steps._fields), warps)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
