"""python -m benchmarks.communities: how good the communities of Louvain and Leiden are, beside NetworkX's and igraph's.

The number is the modularity, by one function of ours for all, in the mean over seeds. NetworkX's Louvain is asked on
graphs of up to --networkx edges. Missed: less than the best peer of the same method, less 1 %.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import graphs, table

GRAPHS = "rmat12,delaunay_n12,grid2d_64"
SHARE = 0.99  # of the best peer's modularity


def divisions(G: Any, seeds: range, most: int) -> Iterator[tuple[str, str, list[list[int]]]]:
    """(method, library, the community of each vertex for each seed) of the peers."""
    import igraph

    def seeded(find: Callable[[], Any]) -> list[list[int]]:
        found = []
        for seed in seeds:
            igraph.set_random_number_generator(random.Random(seed))
            found.append(find().membership)
        return found

    yield "louvain", "igraph", seeded(G.community_multilevel)
    yield "leiden", "igraph", seeded(lambda: G.community_leiden("modularity", n_iterations=-1))
    if G.ecount() <= most:
        import networkx as nx

        H = nx.Graph(G.get_edgelist())
        H.add_nodes_from(range(G.vcount()))
        labels = []
        for seed in seeds:
            label = [0] * G.vcount()
            for number, part in enumerate(nx.community.louvain_communities(H, seed=seed)):
                for v in part:
                    label[v] = number
            labels.append(label)
        yield "louvain", "networkx", labels


def measure(names: Sequence[str], seeds: range, most: int, say: Callable[[str], None] = print) -> dict[str, Any]:
    """A row for each graph and method: the mean modularity of each library, and ours over the best peer's."""
    import igraph

    import bitblas as gb
    from bitblas.algorithms import leiden, louvain, modularity

    result = table.surroundings(seeds=len(seeds), rows=[])
    say(f"{'graph':<20}{'method':<10}{'bitblas':>9}{'igraph':>9}{'networkx':>10}{'of the best':>13}")
    for name in names:
        half = graphs.make(name).scipy(dtype=np.bool_)
        half.setdiag(0)
        i, j = (half + half.T).nonzero()
        n = half.shape[0]
        with gb.config.set(device="cpu"):
            A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n)
            found: dict[str, dict[str, float]] = {"louvain": {}, "leiden": {}}
            for method, program in (("louvain", louvain), ("leiden", leiden)):
                found[method]["bitblas"] = float(np.mean([modularity(A, program(A, seed=seed)) for seed in seeds]))
            G = igraph.Graph(n=n, edges=np.column_stack([i[i < j], j[i < j]]))
            for method, library, labels in divisions(G, seeds, most):
                vectors = [gb.Vector.from_dense(np.asarray(label, np.int64)) for label in labels]
                found[method][library] = float(np.mean([modularity(A, label) for label in vectors]))
        for method, by in found.items():
            best = max(by["igraph"], by.get("networkx", -1.0))
            share = by["bitblas"] / best if best else 1.0
            result["rows"].append({"graph": name, "method": method, **by, "share": share})
            more = f"{by['networkx']:.4f}" if "networkx" in by else "-"
            short = Path(name).name.partition(".")[0]
            say(f"{short:<20}{method:<10}{by['bitblas']:>9.4f}{by['igraph']:>9.4f}{more:>10}{share:>13.4f}")
    result["equal"] = all(row["share"] >= SHARE for row in result["rows"])
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """0 if no division is worse than the best peer's less 1 %, else 1; 2 for what cannot run."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.communities", description=__doc__.splitlines()[0])
    p.add_argument("--graphs", default=GRAPHS, help="names (see graphs.py) or .mtx files, with commas")
    p.add_argument("--seeds", type=int, default=8)
    p.add_argument("--networkx", type=int, default=100_000, metavar="EDGES", help="its Louvain, on graphs up to this")
    p.add_argument("--json", help="where all rows go")
    args = p.parse_args(argv)
    return table.ended(
        "benchmarks.communities",
        lambda: measure(args.graphs.split(","), range(args.seeds), args.networkx, lambda text: print(text, flush=True)),
        args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
