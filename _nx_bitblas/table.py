"""Table of the NetworkX functions that bitblas implements: module, relative cost, unsupported arguments.

Plain data without an import of networkx, because NetworkX reads it (through `info.py`) during its own import. The
functions are in modules of `bitblas.nx`, with NetworkX's names and signatures. Unsupported arguments are refused before
the graph is converted if the arguments alone decide, otherwise when the graph is known, by the exception that
NetworkX's dispatch expects; NetworkX then runs its own implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# The time of a function in NetworkX, relative to converting its graph, which reads each edge once.
SCAN = "scan"  # less, or about the same: runs here only if the graph is already converted
SEARCH = "search"  # once or twice the conversion: worth converting if repeated
HEAVY = "heavy"  # much more: worth converting
ROUTE = "route"  # HEAVY; with the argument `target` SEARCH, without weights SCAN (searched from both ends)
LITTLE = "little"  # so little that it runs here only for graphs of the backend

# Arguments that reduce the work: a subset of nodes or pairs, and the depth of a search.
SOME = ("nodes", "ebunch")
NEAR = ("depth_limit", "cutoff")

OWN = "networkx"  # NetworkX's own code on our graph: it is composed of functions of this table, or of degrees
MADE = "networkx, converted"  # NetworkX's own code on its own graphs; the resulting graph is converted


class Refusal(NamedTuple):
    """text: the unsupported feature; given: whether the call uses it, from all arguments by name."""

    text: str
    given: Callable[[Mapping[str, Any]], bool]


class Function(NamedTuple):
    """module: below `bitblas.nx`; OWN for a function that NetworkX composes."""

    name: str
    module: str
    cost: str
    refuses: tuple[Refusal, ...]


def _calls(name: str) -> Refusal:
    return Refusal(f"a callable `{name}`", lambda given: callable(given[name]))


def _graphs(given: Mapping[str, Any]) -> list[Any]:
    listed = given["graphs"] if "graphs" in given else [given["G"], given["H"]]
    return listed if isinstance(listed, list) else []


def _not_none(name: str, text: str) -> Refusal:
    return Refusal(text, lambda given: given[name] is not None)


WEIGHT, DISTANCE = _calls("weight"), _calls("distance")
SORTED = _not_none("sort_neighbors", "`sort_neighbors`")
BACKWARDS = Refusal("`reverse` of a directed graph", lambda given: given["reverse"] and given["G"].is_directed())
NEIGHBOURS = _not_none("neighbors", "a custom `neighbors`")
RECORDS = Refusal("a structured `dtype`", lambda given: getattr(given["dtype"], "names", None) is not None)
JOINED = Refusal(
    "a custom `multigraph_weight`",
    lambda given: given["G"].is_multigraph() and given["multigraph_weight"] not in (sum, min, max),
)
ORDER = _not_none("topo_order", "a given `topo_order`")
GIVEN = _not_none("sp", "precomputed distances (`sp`)")
MULTIGRAPH = Refusal("multigraphs", lambda given: given["G"].is_multigraph())
DIRECTED = Refusal("directed graphs", lambda given: given["G"].is_directed())
SIMPLE_DIRECTED = Refusal(
    "undirected graphs, multigraphs", lambda given: not given["G"].is_directed() or given["G"].is_multigraph()
)
ONE_EDGE = _not_none("edge", "a single edge")
PART = Refusal(
    "a subset (`nodelist`)", lambda given: given["nodelist"] is not None and len(given["nodelist"]) != len(given["G"])
)
FILLED = Refusal(
    "a graph to fill (`create_using`)", lambda given: not isinstance(given.get("create_using"), type | None)
)
IN_PLACE = Refusal("`copy=False`", lambda given: not given["copy"])
NODE_WEIGHTS = _not_none("weight", "weights of nodes")
WRITTEN = _not_none("attr", "`attr`")

OTHER_FLOW = Refusal("a custom `flow_func`", lambda given: given["flow_func"] is not None or bool(given["kwargs"]))
UNDIRECTED = Refusal("undirected graphs", lambda given: not given["G"].is_directed())
KRUSKAL = Refusal("algorithms other than Kruskal's", lambda given: given["algorithm"] != "kruskal")
NAN = Refusal("`ignore_nan`", lambda given: bool(given["ignore_nan"]))
FLOW_MULTIGRAPH = Refusal("multigraphs", lambda given: given["flowG"].is_multigraph())
LEVELS = _not_none("max_level", "`max_level`")
FEW_EDGES = 100  # with fewer the partition depends on the order of moves
FEW = Refusal(f"fewer than {FEW_EDGES} edges", lambda given: given["G"].number_of_edges() < FEW_EDGES)
KEYED = Refusal("multigraphs", lambda given: any(G.is_multigraph() for G in _graphs(given)))
COMPONENTS = _not_none("scc", "precomputed components (`scc`)")
BY_DISTANCE = _not_none("distance", "weighted distances (`distance`)")

_ROWS: tuple[tuple[Any, ...], ...] = (
    # module, cost, names, refusals
    ("cluster", HEAVY, "average_neighbor_degree", WEIGHT, MULTIGRAPH),
    ("components", SEARCH, "color"),
    ("components", SCAN, "is_bipartite"),  # NetworkX stops at the first odd cycle
    ("community", SCAN, "node_boundary"),
    ("centrality", HEAVY, "betweenness_centrality", WEIGHT),
    ("centrality", HEAVY, "edge_betweenness_centrality", WEIGHT, MULTIGRAPH),
    ("centrality", HEAVY, "closeness_centrality harmonic_centrality", DISTANCE),
    ("centrality", HEAVY, "eigenvector_centrality", WEIGHT),
    ("centrality", HEAVY, "katz_centrality", WEIGHT),
    ("cluster", HEAVY, "clustering average_clustering", WEIGHT),
    ("cluster", HEAVY, "triangles generalized_degree"),
    ("cluster", HEAVY, "transitivity square_clustering", DIRECTED),
    ("community", SCAN, "intra_community_edges"),
    ("community", SCAN, "inter_community_edges", MULTIGRAPH),
    ("community", SCAN, "modularity", WEIGHT),
    ("community", HEAVY, "louvain_communities", LEVELS, DIRECTED, WEIGHT, FEW),
    ("community", HEAVY, "louvain_partitions", DIRECTED, WEIGHT, FEW),
    ("community", HEAVY, "leiden_communities", LEVELS, DIRECTED, WEIGHT),
    ("components", HEAVY, "connected_components number_connected_components is_connected"),
    ("components", SEARCH, "node_connected_component"),
    ("components", HEAVY, "biconnected_components articulation_points"),
    ("components", HEAVY, "bridges", MULTIGRAPH),
    ("components", HEAVY, "weakly_connected_components number_weakly_connected_components is_weakly_connected"),
    ("components", HEAVY, "strongly_connected_components number_strongly_connected_components", UNDIRECTED),
    ("components", SEARCH, "is_strongly_connected", UNDIRECTED),
    ("components", HEAVY, "condensation", UNDIRECTED, COMPONENTS),
    ("convert", HEAVY, "to_scipy_sparse_array", PART, WEIGHT),
    ("convert", HEAVY, "to_numpy_array", PART, WEIGHT, RECORDS, JOINED),
    ("cluster", HEAVY, "core_number"),
    ("cluster", HEAVY, "k_truss", DIRECTED, MULTIGRAPH),
    ("community", SCAN, "cut_size", WEIGHT),
    ("community", SCAN, "node_expansion"),
    ("components", HEAVY, "descendants ancestors"),
    ("components", SEARCH, "topological_generations topological_sort has_cycle is_directed_acyclic_graph"),
    ("components", SEARCH, "dag_longest_path", WEIGHT, ORDER),
    ("components", SEARCH, "dag_longest_path_length", WEIGHT),
    ("shortest_paths", HEAVY, "eccentricity", WEIGHT, GIVEN),
    ("shortest_paths", HEAVY, "diameter radius center periphery", WEIGHT),
    ("operators", LITTLE, "ego_graph", MULTIGRAPH, BY_DISTANCE),  # NetworkX only reads the ball
    ("community", HEAVY, "maximum_flow maximum_flow_value minimum_cut minimum_cut_value", OTHER_FLOW, FLOW_MULTIGRAPH),
    ("community", HEAVY, "max_flow_min_cost network_simplex", MULTIGRAPH),
    ("community", HEAVY, "min_weighted_dominating_set", NODE_WEIGHTS),
    ("community", SCAN, "number_of_selfloops is_empty s_metric is_dominating_set"),
    ("community", SCAN, "is_negatively_weighted", ONE_EDGE),
    ("centrality", HEAVY, "hits"),
    ("centrality", HEAVY, "pagerank", WEIGHT),
    ("cluster", HEAVY, "jaccard_coefficient adamic_adar_index resource_allocation_index"),
    ("cluster", HEAVY, "preferential_attachment"),
    ("operators", HEAVY, "minimum_spanning_edges maximum_spanning_edges", DIRECTED, MULTIGRAPH, KRUSKAL, NAN),
    ("operators", HEAVY, "minimum_spanning_tree maximum_spanning_tree", DIRECTED, MULTIGRAPH, KRUSKAL, NAN),
    ("operators", HEAVY, "complement"),
    ("operators", LITTLE, "reverse"),
    ("cluster", SEARCH, "overall_reciprocity reciprocity", SIMPLE_DIRECTED),
    ("shortest_paths", HEAVY, "floyd_warshall floyd_warshall_numpy", WEIGHT),
    ("shortest_paths", HEAVY, "floyd_warshall_predecessor_and_distance", WEIGHT),
    ("shortest_paths", SCAN, "has_path"),  # NetworkX searches from both ends
    ("shortest_paths", HEAVY, "average_shortest_path_length wiener_index", WEIGHT),
    ("shortest_paths", ROUTE, "shortest_path_length", WEIGHT),
    ("shortest_paths", SEARCH, "all_shortest_paths", WEIGHT),
    ("shortest_paths", HEAVY, "shortest_simple_paths", WEIGHT, MULTIGRAPH),
    ("shortest_paths", HEAVY, "single_source_shortest_path_length single_target_shortest_path_length"),
    ("shortest_paths", HEAVY, "single_source_shortest_path single_target_shortest_path"),
    ("shortest_paths", HEAVY, "all_pairs_shortest_path"),
    ("shortest_paths", SCAN, "bidirectional_shortest_path"),
    ("shortest_paths", HEAVY, "all_pairs_shortest_path_length"),
    ("shortest_paths", HEAVY, "single_source_dijkstra_path_length multi_source_dijkstra_path_length", WEIGHT),
    ("shortest_paths", SEARCH, "dijkstra_path_length bellman_ford_path_length", WEIGHT),
    ("shortest_paths", HEAVY, "single_source_bellman_ford_path_length", WEIGHT),
    ("shortest_paths", HEAVY, "all_pairs_dijkstra_path_length all_pairs_bellman_ford_path_length", WEIGHT),
    ("shortest_paths", ROUTE, "multi_source_dijkstra single_source_bellman_ford", WEIGHT),
    ("shortest_paths", SCAN, "bidirectional_dijkstra", WEIGHT),
    ("shortest_paths", HEAVY, "negative_edge_cycle", WEIGHT),
    ("cluster", SEARCH, "is_tournament"),
    ("cluster", LITTLE, "is_triad"),
    ("shortest_paths", HEAVY, "bfs_layers"),
    ("shortest_paths", SEARCH, "descendants_at_distance"),
    ("shortest_paths", HEAVY, "bfs_edges bfs_tree", SORTED, BACKWARDS),
    ("shortest_paths", HEAVY, "generic_bfs_edges", NEIGHBOURS),
    ("shortest_paths", HEAVY, "bfs_predecessors bfs_successors", SORTED),
    ("components", SEARCH, "is_tree is_arborescence is_branching"),
    ("components", HEAVY, "is_forest"),
    (OWN, SCAN, "degree_centrality in_degree_centrality out_degree_centrality isolates is_isolate number_of_isolates"),
    (OWN, SCAN, "is_regular is_k_regular score_sequence faster_could_be_isomorphic boundary_expansion"),
    (OWN, SCAN, "volume conductance edge_expansion mixing_expansion normalized_cut_size", WEIGHT),
    (OWN, HEAVY, "adjacency_matrix laplacian_matrix normalized_laplacian_matrix", PART, WEIGHT),
    (OWN, HEAVY, "modularity_matrix directed_modularity_matrix", PART, WEIGHT),
    (OWN, SCAN, "efficiency"),  # as `has_path`
    (OWN, SEARCH, "google_matrix tournament_matrix sets"),
    (OWN, HEAVY, "global_efficiency fast_could_be_isomorphic bipartite_betweenness_centrality"),
    (OWN, HEAVY, "k_core k_shell k_crust k_corona is_biconnected"),
    (OWN, HEAVY, "has_bridges", MULTIGRAPH),
    (OWN, ROUTE, "shortest_path single_source_dijkstra", WEIGHT),
    (OWN, HEAVY, "single_source_dijkstra_path multi_source_dijkstra_path single_source_bellman_ford_path", WEIGHT),
    (OWN, HEAVY, "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_bellman_ford_path", WEIGHT),
    (OWN, SEARCH, "dijkstra_path bellman_ford_path", WEIGHT),
    (OWN, HEAVY, "could_be_isomorphic"),
    (OWN, SEARCH, "intersection_array is_distance_regular is_strongly_regular"),  # mostly decided by the first degrees
    (OWN, HEAVY, "barycenter", WEIGHT, GIVEN, WRITTEN),
    (OWN, SEARCH, "is_eulerian is_semieulerian has_eulerian_path"),
    (OWN, LITTLE, "is_partition get_node_attributes dominating_set"),
    (OWN, HEAVY, "min_cost_flow min_cost_flow_cost", MULTIGRAPH),
    (OWN, LITTLE, "is_matching is_maximal_matching is_perfect_matching"),
    (OWN, LITTLE, "density is_bipartite_node_set bipartite_degree_centrality group_degree_centrality"),
    (OWN, LITTLE, "edge_boundary to_dict_of_lists biadjacency_matrix is_simple_path"),
    (OWN, LITTLE, "mutual_weight lowest_common_ancestor bethe_hessian_matrix forceatlas2_layout"),
    (OWN, LITTLE, "adjacency_spectrum laplacian_spectrum normalized_laplacian_spectrum", WEIGHT),
    (OWN, LITTLE, "algebraic_connectivity fiedler_vector spectral_ordering spectral_bisection", WEIGHT),
    (OWN, LITTLE, "effective_graph_resistance kemeny_constant number_of_spanning_trees", WEIGHT),
    (OWN, LITTLE, "resistance_distance eigenvector_centrality_numpy katz_centrality_numpy", WEIGHT),
    (OWN, LITTLE, "laplacian_centrality non_randomness average_degree_connectivity", WEIGHT),
    (OWN, LITTLE, "panther_similarity effective_size constraint flow_hierarchy local_reaching_centrality", WEIGHT),
    (OWN, LITTLE, "modularity_spectrum bethe_hessian_spectrum is_semiconnected"),
    (OWN, LITTLE, "group_in_degree_centrality group_out_degree_centrality"),
    (OWN, HEAVY, "harmonic_diameter", WEIGHT, GIVEN),
    (OWN, HEAVY, "gutman_index hyper_wiener_index schultz_index", WEIGHT),
    (MADE, LITTLE, "empty_graph null_graph trivial_graph path_graph cycle_graph complete_graph star_graph", FILLED),
    (MADE, LITTLE, "complete_bipartite_graph complete_multipartite_graph turan_graph wheel_graph", FILLED),
    (MADE, LITTLE, "barbell_graph lollipop_graph tadpole_graph ladder_graph circular_ladder_graph", FILLED),
    (MADE, LITTLE, "balanced_tree full_rary_tree caveman_graph grid_2d_graph grid_graph hypercube_graph", FILLED),
    (MADE, LITTLE, "bull_graph chvatal_graph cubical_graph desargues_graph diamond_graph dodecahedral_graph", FILLED),
    (MADE, LITTLE, "frucht_graph heawood_graph house_graph house_x_graph icosahedral_graph octahedral_graph", FILLED),
    (MADE, LITTLE, "krackhardt_kite_graph moebius_kantor_graph pappus_graph petersen_graph tutte_graph", FILLED),
    (MADE, LITTLE, "sedgewick_maze_graph tetrahedral_graph truncated_cube_graph truncated_tetrahedron_graph", FILLED),
    (MADE, LITTLE, "davis_southern_women_graph florentine_families_graph karate_club_graph les_miserables_graph"),
    (MADE, LITTLE, "gnp_random_graph fast_gnp_random_graph gnm_random_graph barabasi_albert_graph", FILLED),
    (MADE, LITTLE, "watts_strogatz_graph random_labeled_tree from_prufer_sequence", FILLED),
    (MADE, LITTLE, "from_dict_of_lists from_dict_of_dicts from_edgelist from_pandas_edgelist", FILLED),
    (MADE, LITTLE, "from_numpy_array from_scipy_sparse_array from_biadjacency_matrix", FILLED),
    (MADE, LITTLE, "compose disjoint_union full_join union compose_all disjoint_union_all union_all"),
    (MADE, LITTLE, "difference intersection symmetric_difference intersection_all", KEYED),
    (MADE, LITTLE, "convert_node_labels_to_integers"),
    (MADE, LITTLE, "relabel_nodes contracted_nodes contracted_edge", IN_PLACE),
    (MADE, LITTLE, "projected_graph weighted_projected_graph"),
)

TABLE = {
    name: Function(name, module, cost, tuple(refuses))
    for module, cost, names, *refuses in _ROWS
    for name in names.split()
}
