"""Arguments of the NetworkX backend's functions in its tests: graphs of every kind, and options."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import numpy as np

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def graph(kind: type, n: int = 14, edges: int = 30, seed: int = 1, labels: str = "str", loops: bool = True):
    """A random graph with labels of a kind, weights on most edges, and a node without edges."""
    rng = random.Random(seed)
    name = {"str": lambda k: f"v{k}", "int": lambda k: 3 * k - 7, "range": lambda k: k}.get(labels, lambda k: (k, "x"))
    G = kind(name="random")
    G.add_nodes_from(map(name, range(n) if labels == "range" else rng.sample(range(n), n)), colour="red")
    for _ in range(edges):
        u, v = rng.randrange(n - 1), rng.randrange(n - 1)
        if loops or u != v:
            G.add_edge(name(u), name(v), **({} if rng.random() < 0.3 else {"weight": rng.randint(1, 9)}))
    return G


GRAPHS = {
    "graph": lambda: graph(nx.Graph, edges=40),
    "connected": lambda: nx.relabel_nodes(nx.karate_club_graph().subgraph(range(20)).copy(), str),
    "digraph": lambda: graph(nx.DiGraph, edges=40, labels="int"),
    "strong": lambda: nx.compose(nx.cycle_graph(9, nx.DiGraph), nx.gnp_random_graph(9, 0.2, seed=1, directed=True)),
    "multigraph": lambda: graph(nx.MultiGraph, edges=40, labels="tuple"),
    "multidigraph": lambda: graph(nx.MultiDiGraph, edges=40),
    "loopless": lambda: graph(nx.Graph, loops=False, labels="range"),
    "tree": lambda: nx.balanced_tree(2, 3),
    "arborescence": lambda: nx.balanced_tree(2, 2, nx.DiGraph),
    "bipartite": lambda: nx.complete_bipartite_graph(3, 4),
    "no edges": lambda: nx.empty_graph(6),
    "one node": lambda: nx.empty_graph(1),
    "null": nx.Graph,
}


class Calls:
    """Arguments for a graph: `c(0, 5, weight=..)` is one call, in which c.at(..) are its nodes by number."""

    def __init__(self, G: Any) -> None:
        self.G, self.halves = G, [set(list(G)[::2]), set(list(G)[1::2])]

    def __call__(self, *args: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, options

    def at(self, *numbers: int) -> list[Any]:
        nodes = list(self.G)
        return [nodes[k % len(nodes)] for k in numbers]

    def one(self, number: int) -> Any:
        return self.at(number)[0]


SOURCE = lambda c: [c(c.one(1)), c("nowhere")]
PAIR = lambda c: [c(c.one(0), c.one(5)), c(c.one(0), c.one(0)), c(c.one(0), c.one(-1)), c("nowhere", c.one(1))]
SET = lambda c: [c(c.at(1, 2, 3))]
SOME = lambda c: [c(), c(c.one(1)), c(c.at(1, 2))]
WEIGHTS = lambda c: [c(), c(weight="weight")]
EBUNCH = lambda c: [c(), c([c.at(1, 2), c.at(3, 3)]), c([(c.one(1), "nowhere")])]
OPTIONS = [(one, other) for one in (True, False) for other in (True, False)]

SHARED = {  # arguments, and the functions that take them
    SOURCE: """
        descendants ancestors node_connected_component bfs_tree bfs_predecessors bfs_successors
        single_source_shortest_path single_target_shortest_path_length single_source_bellman_ford_path_length
        bfs_layers is_isolate single_source_dijkstra_path single_source_bellman_ford_path single_target_shortest_path
        local_reaching_centrality
    """,
    PAIR: """
        has_path efficiency dijkstra_path_length bellman_ford_path_length dijkstra_path bellman_ford_path
        bidirectional_shortest_path bidirectional_dijkstra lowest_common_ancestor
    """,
    SET: """
        boundary_expansion node_expansion node_boundary is_dominating_set conductance edge_expansion
        normalized_cut_size mixing_expansion group_degree_centrality group_in_degree_centrality
        group_out_degree_centrality
    """,
    SOME: """
        triangles generalized_degree square_clustering
    """,
    WEIGHTS: """
        wiener_index google_matrix negative_edge_cycle
    """,
    EBUNCH: """
        jaccard_coefficient adamic_adar_index resource_allocation_index preferential_attachment
    """,
}
CALLS = {
    **{name: calls for calls, names in SHARED.items() for name in names.split()},
    **dict.fromkeys(["diameter", "radius", "center", "periphery"],
        lambda c: [*WEIGHTS(c), c(usebounds=True), c(usebounds=True, weight="weight")]),
    "ego_graph": lambda c: [*SOURCE(c), c(c.one(1), 2, center=False), c(c.one(2), 0), c(c.one(3), undirected=True)],
    "k_truss": lambda c: [c(2), c(3), c(4)],
    "minimum_spanning_edges": lambda c: [c(), c(data=False), c("magic")],
    "maximum_spanning_edges": lambda c: [c(), c(data=False, weight="nothing")],
    "edge_betweenness_centrality": lambda c: [c(), c(normalized=False), c(k=5, seed=2), c(4, False, seed=1),
        c(weight="weight"), c(k=5, seed=2, weight="weight")],
    "louvain_communities": lambda c: [c(resolution=1e-9), c(resolution=1e9)],  # all in one, each alone
    "louvain_partitions": lambda c: [c(resolution=1e9)],
    "max_flow_min_cost": lambda c: [c(*c.at(0, 5), capacity="weight"),
        c(*c.at(2, 1), capacity="weight", weight="nothing"), c(*c.at(1, 1), capacity="weight"),
        c("nowhere", c.one(1)), c(*c.at(0, 5))],
    "shortest_simple_paths": lambda c: [c(*c.at(1, 1)), c("nowhere", c.one(1)), c(c.one(1), "nowhere", "weight")],
    **dict.fromkeys(["maximum_flow", "maximum_flow_value", "minimum_cut", "minimum_cut_value"],
        lambda c: [*PAIR(c), c(*c.at(2, 5), capacity="weight"), c(*c.at(1, 5), flow_func=len)]),
    **dict.fromkeys(["single_source_dijkstra", "single_source_bellman_ford"], lambda c: [*SOURCE(c), *PAIR(c)]),
    **dict.fromkeys(["multi_source_dijkstra", "multi_source_dijkstra_path"],
        lambda c: [c(c.at(1, 4)), c([]), c(c.at(5), cutoff=6), c(["nowhere"])]),
    "could_be_isomorphic": lambda c: [c(c.G), c(c.G.copy(), properties="d"), c(nx.path_graph(4))],
    **dict.fromkeys(["is_distance_regular", "intersection_array", "is_strongly_regular"], lambda c: [c()]),
    "barycenter": lambda c: [*WEIGHTS(c), c(attr="it")],
    "is_partition": lambda c: [c(c.halves), c(c.halves[:1])],
    "get_node_attributes": lambda c: [c("colour"), c("colour", 7), c("none"), c("none", 1)],
    **dict.fromkeys(["dominating_set", "has_eulerian_path"], lambda c: [c(), c(c.one(1))]),
    **dict.fromkeys(["is_matching", "is_maximal_matching", "is_perfect_matching"],
        lambda c: [c({tuple(c.at(0, 1))}), c(set())]),
    **dict.fromkeys(["density", "is_bipartite_node_set", "bipartite_degree_centrality"], lambda c: [c(c.halves[0])]),
    "panther_similarity": lambda c: [c(c.one(1), 2, 3, seed=1)],
    **dict.fromkeys(["algebraic_connectivity", "fiedler_vector", "spectral_ordering", "spectral_bisection"],
        lambda c: [c(seed=1)]),
    **dict.fromkeys(["projected_graph", "weighted_projected_graph"], lambda c: [c(c.halves[0])]),
    "contracted_nodes": lambda c: [c(*c.at(0, 1)), c(*c.at(0, 1), self_loops=False), c(*c.at(0, 1), copy=False)],
    "contracted_edge": lambda c: [c(tuple(c.at(0, 1))), c(next(iter(c.G.edges), (0, 1))[:2])],
    "edge_boundary": lambda c: [*SET(c), c(c.at(1, 2), c.at(4, 5), data="weight")],
    "to_dict_of_lists": lambda c: [c(), c(c.at(1, 2, 3))],
    "biadjacency_matrix": lambda c: [c(c.at(0, 1, 2), c.at(3, 4, 5)), c([])],
    "is_simple_path": lambda c: [c(c.at(0, 1)), c(c.at(2)), c([])],
    "mutual_weight": lambda c: [c(*c.at(0, 1))],
    "forceatlas2_layout": lambda c: [c(max_iter=2, seed=1)],
    "relabel_nodes": lambda c: [c(dict(zip(c.G, "ab"))), c(hash), c({}, copy=False)],
    **dict.fromkeys(["compose", "difference", "intersection", "symmetric_difference"], lambda c: [c(c.G)]),
    **dict.fromkeys(["disjoint_union", "full_join", "union"], lambda c: [c(c.G)]),
    "shortest_path": lambda c: [*SOURCE(c), c(), c(method="magic"), *PAIR(c), c(target=c.one(3)),
        c(c.one(2), weight="weight"), c(c.one(2), c.one(5), weight="weight", method="bellman-ford")],
    "shortest_path_length": lambda c: [*SOURCE(c), *PAIR(c), *WEIGHTS(c), c(target=c.one(3)), c(method="magic"),
        c(c.one(2), weight="weight"), c(*c.at(2, 5), weight="weight"),
        c(c.one(2), weight="weight", method="bellman-ford")],
    "all_shortest_paths": lambda c: [*PAIR(c), c(*c.at(2, 5), weight="weight"), c(*c.at(0, 1), method="magic"),
        c(*c.at(1, 4), weight="weight", method="bellman-ford"), c(*c.at(0, 1), weight="weight", method="magic")],
    **dict.fromkeys(["dag_longest_path", "dag_longest_path_length"],
        lambda c: [*WEIGHTS(c), c("nothing", 2.5), c(weight=None)]),
    "single_source_shortest_path_length": lambda c: [*SOURCE(c), c(c.one(1), 1)],
    "all_pairs_shortest_path_length": lambda c: [c(), c(cutoff=1)],
    "single_source_dijkstra_path_length": lambda c: [*SOURCE(c), c(c.one(1), 7)],
    "multi_source_dijkstra_path_length": lambda c: [c(c.at(1, 4)), c([]), c(c.at(5), 6.5)],
    "average_shortest_path_length": lambda c: [*WEIGHTS(c), c(method="magic")],
    "floyd_warshall_numpy": lambda c: [c(), c(weight=None), c(nodelist=c.at(1, 2))],
    "eccentricity": lambda c: [*WEIGHTS(c), c(c.one(1))],
    "betweenness_centrality": lambda c: [c(), c(None, False), c(endpoints=True), c(weight="weight", endpoints=True),
        *(c(k=5, seed=2, normalized=one, endpoints=other) for one, other in OPTIONS)],
    "bipartite_betweenness_centrality": lambda c: [c(c.at(0, 1, 2))],
    "closeness_centrality": lambda c: [c(), c(c.one(3)), c(distance="weight"), c(wf_improved=False)],
    "harmonic_centrality": lambda c: [c(), c(distance="weight"), c(nbunch=c.at(1, 2)), c(sources=c.at(1, 2, 3))],
    "pagerank": lambda c: [c(), c(weight=None), c(max_iter=1), c(personalization={c.one(1): 1}),
        c(dangling={c.one(2): 3}, alpha=0.5), c(nstart={c.one(4): 1}), c(personalization={"nowhere": 1})],
    "katz_centrality": lambda c: [c(0.02), c(0.01, weight="weight"), c(5, max_iter=3), c(beta={"nowhere": 1}),
        c(0.02, normalized=False, beta=dict.fromkeys(c.G, 2))],
    "eigenvector_centrality": lambda c: [c(max_iter=1000), c(max_iter=1000, weight="weight"), c(max_iter=1),
        c(nstart=dict.fromkeys(c.G, 0))],
    "clustering": lambda c: [*SOME(c), c(weight="weight")],
    "average_clustering": lambda c: [*WEIGHTS(c), c(count_zeros=False)],
    "cut_size": lambda c: [*SET(c), c(c.at(1, 2), c.at(4, 5), "weight")],
    "volume": lambda c: [*SET(c), c(c.at(1, 2), "weight")],
    "descendants_at_distance": lambda c: [c(c.one(1), 2), c(c.one(1), 0), c(c.one(1), 99), c("nowhere", 1)],
    "bfs_edges": lambda c: [*SOURCE(c), c(c.one(1), depth_limit=1)],
    "generic_bfs_edges": lambda c: [*SOURCE(c), c(c.one(1), depth_limit=2)],
    "is_k_regular": lambda c: [c(2)],
    "k_corona": lambda c: [c(2)],
    "reciprocity": lambda c: [*SOME(c), c(c.one(-1))],
    "to_numpy_array": lambda c: [c(), c(c.at(*reversed(range(len(c.G))))), c(weight=None, nonedge=np.nan),
        c(multigraph_weight=min, dtype=np.float32), c(multigraph_weight=len), c(["nowhere"])],
    "to_scipy_sparse_array": lambda c: [c(), c(c.at(*reversed(range(len(c.G))))), c(weight=None, format="coo"),
        c(dtype=float, format="rubbish"), c([*c.at(*range(len(c.G) - 1)), "nowhere"]),
        c(c.at(0, *range(len(c.G) - 1)))],
    "average_neighbor_degree": lambda c: [*WEIGHTS(c), c("in+out", "in"), c(nodes=c.at(1, 2))],
    "modularity": lambda c: [c(c.halves), c(c.halves, weight=None, resolution=2), c([{*c.at(1, 2)}])],
    **dict.fromkeys(["bridges", "has_bridges"], lambda c: [c(), *SOURCE(c)]),
    "intra_community_edges": lambda c: [c(c.halves)],
    "inter_community_edges": lambda c: [c(c.halves)],
}  # fmt: skip

TABLES = {
    "from_dict_of_lists": [({"a": ["b"], "b": []},)],
    "from_dict_of_dicts": [({"a": {"b": {"weight": 2}}, "b": {}},)],
    "from_edgelist": [([("a", "b"), ("b", "c", {"weight": 2.5})],)],
    "from_numpy_array": [(np.array([[0, 2], [2, 1]]),), (np.eye(3), nx.MultiDiGraph)],
    "from_prufer_sequence": [([3, 3, 3, 4],)],
    **{f"{name}_all": [([nx.path_graph(3), nx.star_graph(["a", "b"])],)]
       for name in ("compose", "union", "disjoint_union", "intersection")},
    "complete_multipartite_graph": [(2, 3, 1)], "grid_graph": [([2, 3],)], "tadpole_graph": [(3, 2)],
    "gnp_random_graph": [(9, 0.4, 1), (9, 0.4, 1, True)], "fast_gnp_random_graph": [(9, 0.4, 1)],
    "gnm_random_graph": [(9, 12, 1)], "barabasi_albert_graph": [(9, 2, 1)], "watts_strogatz_graph": [(9, 4, 0.3, 1)],
    "random_labeled_tree": [(7,)], "hypercube_graph": [(3,)],
}  # fmt: skip
