"""python -m benchmarks.networkx_peer GRAPH: seconds of NetworkX for five algorithms, as a file of `stored/`.

NetworkX's default, single-threaded Python functions run once each, because on a graph of 31 million entries a run takes
minutes. The graph is built before. PageRank is stopped after as many rounds as in `benchmarks.programs`; its
conversion to a SciPy array is part of the call. Shortest paths are Dijkstra's, on the weights of `benchmarks.graphs`.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import graphs, table
from .programs import PAGERANK_ROUNDS

HOW = "its own functions, one run each; the graph is built before, PageRank converts it"


def build(graph: graphs.Graph, weighted: bool) -> Any:
    """The undirected NetworkX graph."""
    import networkx

    gc.disable()  # collections while millions of dictionaries are made would take most of the time
    G = networkx.Graph()
    names = list(range(graph.n))
    G.add_nodes_from(names)
    for i in range(graph.n):
        lo, hi = int(graph.ptr[i]), int(graph.ptr[i + 1])
        cols = graph.col[lo:hi]
        later = cols > i
        ends = [names[j] for j in cols[later].tolist()]
        if weighted:
            G.add_weighted_edges_from(zip([names[i]] * len(ends), ends, graph.weights[lo:hi][later].tolist()))
        else:
            G.add_edges_from(zip([names[i]] * len(ends), ends))
    gc.freeze()
    gc.enable()
    return G


def _pagerank(G: Any) -> None:
    import networkx

    try:
        networkx.pagerank(G, tol=0.0, max_iter=PAGERANK_ROUNDS)
    except networkx.PowerIterationFailedConvergence:
        return  # all rounds were run
    raise RuntimeError(f"pagerank: expected {PAGERANK_ROUNDS} rounds, it stopped before")


def calls(G: Any, source: int) -> dict[str, Callable[[], Any]]:
    import networkx as nx

    return {
        "bfs": lambda: nx.single_source_shortest_path_length(G, source),
        "components": lambda: list(nx.connected_components(G)),
        "pagerank": lambda: _pagerank(G),
        "triangles": lambda: sum(nx.triangles(G).values()) // 3,
        "sssp": lambda: nx.single_source_dijkstra_path_length(G, source),
    }


def main(argv: Sequence[str] | None = None) -> int:
    import networkx

    p = argparse.ArgumentParser(prog="python -m benchmarks.networkx_peer", description=__doc__.splitlines()[0])
    p.add_argument("graph", help="a name of benchmarks/graphs.py")
    p.add_argument("--json", help="the file to write")
    args = p.parse_args(argv)
    graph = graphs.make(args.graph)
    surroundings = table.surroundings(device="cpu")
    machine = surroundings["machine"]
    result = {
        "who": "NetworkX, 1 CPU thread",
        "version": networkx.__version__,
        "device": "gpu",  # the table of the results page in which it stands, as SuiteSparse's on the host does
        "machine": f"{machine['processor']}, one core",
        "month": surroundings["time"][:10],
        "how": HOW,
        "rows": [],
    }
    for weighted in (False, True):
        G = build(graph, weighted)
        for name, call in calls(G, graph.source).items():
            if (name == "sssp") == weighted:
                begin = time.perf_counter()
                answer = call()
                ms = round(1e3 * (time.perf_counter() - begin), 1)
                size = answer if isinstance(answer, int) else len(answer) if answer is not None else ""
                print(name, ms, "ms", size, file=sys.stderr, flush=True)
                result["rows"].append({"graph": graph.name, "algorithm": name, "ms": ms})
                if args.json:
                    with open(args.json, "w") as file:
                        json.dump(result, file, indent=1)
                del answer
        del G
        gc.unfreeze()
        gc.collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
