"""The NetworkX backend against NetworkX, on random graphs: CPU seconds, with and without the conversion.

    python -m benchmarks.networkx_backend [--edges 100000] [--convert 1000000] [NAME ...]

Needs the package installed, so that NetworkX finds the backend. Each answer is made once before it is timed, and the
least of three runs counts; NetworkX runs once. A first call that `should_run` leaves to NetworkX is measured too: there
are two means, with and without such ones. `--convert` measures the conversion of a graph of so many edges, added in
random order, and what NetworkX takes for a matrix of SciPy.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator
from statistics import geometric_mean
from time import process_time
from typing import Any

CALLS: dict[str, dict[str, Any]] = {
    "katz_centrality": {"alpha": 0.01}, "betweenness_centrality": {"k": 8, "seed": 1}, "eigenvector_centrality": {},
    "square_clustering": {}, "clustering": {}, "transitivity": {}, "triangles": {}, "generalized_degree": {},
    "descendants": {"source": 0}, "core_number": {}, "to_scipy_sparse_array": {}, "hits": {},
    "bfs_edges": {"source": 0}, "pagerank": {}, "single_source_shortest_path": {"source": 0},
    "single_source_dijkstra_path_length": {"source": 0}, "single_source_shortest_path_length": {"source": 0},
    "connected_components": {}, "degree_centrality": {}, "minimum_spanning_tree": {}, "k_truss": {"k": 3},
}  # fmt: skip


def graph(edges: int) -> Any:
    """Five times as many edges as nodes, no self loops, whole numbers for weights."""
    import networkx as nx

    rng, nodes = random.Random(1), edges // 5
    G = nx.empty_graph(nodes)
    while G.number_of_edges() < edges:
        left = range(edges - G.number_of_edges())
        G.add_weighted_edges_from((*rng.sample(range(nodes), 2), rng.randint(1, 20)) for _ in left)
    return G


def least(call: Callable[[], Any], runs: int = 3) -> float:
    """CPU milliseconds of the fastest run; what it yields is taken."""
    taken = []
    for _ in range(runs):
        begin = process_time()
        found = call()
        if isinstance(found, Iterator):
            list(found)
        taken.append(1e3 * (process_time() - begin))
    return min(taken)


def compare(G: Any, name: str, options: dict[str, Any]) -> tuple[str, float, float, bool]:
    """A row of the table: this function with the conversion, without, on NetworkX, the two ratios, and whether the
    first call runs here unless it is asked for by name; ratios and that come alone too."""
    import networkx as nx

    from bitblas.nx.interface import backend

    function = getattr(nx, name)
    ours = lambda: function(G, backend="bitblas", **options)

    def converted() -> Any:
        G.__networkx_cache__.clear()
        return ours()

    least(ours, 1)
    G.__networkx_cache__.clear()
    runs = backend.should_run(name, (G,), options) is True
    first, kept, theirs = least(converted), least(ours), least(lambda: function(G, **options), 1)
    ratios = theirs / first, theirs / kept
    row = f"| {name} | {first:.1f} | {kept:.1f} | {theirs:.1f} | {ratios[0]:.1f} | {ratios[1]:.0f} |"
    return f"{row} {'yes' if runs else 'no'} |", *ratios, runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(CALLS))
    parser.add_argument("--edges", type=int, default=100_000)
    parser.add_argument("--convert", type=int, metavar="EDGES")
    options = parser.parse_args()
    import networkx as nx

    from bitblas.nx import from_networkx

    nx.config.warnings_to_ignore.add("cache")
    print(f"load before: {os.getloadavg()[0]:.1f}")
    if options.convert:
        G = graph(options.convert)
        bare = {"preserve_edge_attrs": False, "preserve_node_attrs": False}
        print(f"structure: {least(lambda: from_networkx(G, **bare).structure):.0f} ms")
        weights = lambda: from_networkx(G, {"weight": 1}, **bare).matrix("weight")
        print(f"with a weight: {least(weights):.0f} ms")
        print(f"NetworkX to SciPy: {least(lambda: nx.to_scipy_sparse_array(G), 1):.0f} ms")
        return
    print(
        "| function | first call ms | kept ms | NetworkX ms | ratio, first | ratio, kept | runs at the first call |\n"
        "|---|---|---|---|---|---|---|"
    )
    G = graph(options.edges)
    ratios: list[tuple[float, float, bool]] = []
    for name in options.names:
        row, *found = compare(G, name, CALLS[name])
        ratios.append((*found,))
        print(row, flush=True)
    first, kept, runs = zip(*ratios)
    here = [ratio for ratio, runs_here in zip(first, runs) if runs_here]
    all_first, all_kept = geometric_mean(first), geometric_mean(kept)
    print(f"geometric means of all {len(first)}: first call {all_first:.1f}, kept {all_kept:.0f}")
    if here:
        print(f"of the {len(here)} that should_run sends here at the first call: {geometric_mean(here):.1f}")
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
