"""Graph algorithms as short GraphBLAS programs: one file per algorithm, in folders by topic.

The adjacency matrix A has one row and one column per vertex, and an entry A[i, j] for each edge i -> j. The programs
use only the part of the API that bitblas shares with python-graphblas, so the same text runs on both:

    bfs_levels(A, 0)                          # on bitblas
    bfs_levels(A, 0, gb=graphblas)            # on python-graphblas; A is one of its matrices

`with Watch() as seen:` around a call records the number of rounds and whether it converged (`seen.rounds`, ..).

To add an algorithm, add its file and an import line here. The comment above a statement is its formula:
`w<m, replace> = q any.pair A` means "into w, under the mask m, the product of q and A over the semiring any_pair";
`!m` is the complement of m, `A'` the transpose of A, `.*` the element-wise product, `min=` an accumulation by min.
"""

from ..foreign_names import on_library as _unknown
from ._watch import Watch as Watch
from .centrality.betweenness import betweenness_centrality, edge_betweenness_centrality
from .centrality.closeness import closeness_centrality, harmonic_centrality
from .centrality.eigenvector import eigenvector_centrality
from .centrality.hits import hits
from .centrality.katz import katz_centrality
from .centrality.pagerank import pagerank
from .cohesion.clustering import (
    average_clustering,
    local_clustering,
    transitivity,
    triangles_per_edge,
    triangles_per_vertex,
)
from .cohesion.cores import core_numbers, k_core
from .cohesion.squares import square_clustering
from .cohesion.triangles import triangle_count
from .cohesion.truss import k_truss
from .communities.label_propagation import label_propagation
from .communities.leiden import leiden
from .communities.louvain import louvain
from .communities.markov import markov_clustering
from .communities.modularity import modularity
from .connectivity.components import connected_components, weakly_connected_components
from .connectivity.condensation import condensation
from .connectivity.msf import minimum_spanning_forest
from .connectivity.strong import strongly_connected_components
from .connectivity.topological import topological_levels
from .flows.max_flow import maximum_flow, minimum_cut
from .generators.barabasi_albert import barabasi_albert_graph
from .generators.copying_model import copying_model_graph
from .generators.erdos_renyi import erdos_renyi_graph
from .generators.lattices import grid_graph, small_world_graph
from .generators.rmat import rmat_graph
from .layouts.spectral import spectral_layout
from .layouts.spring import spring_layout
from .paths.all_pairs import all_pairs_distances, distances_from_each
from .paths.bfs import bfs_levels, bfs_parents, levels_from_each
from .paths.eccentricity import diameter, diameter_bounds, eccentricity
from .paths.ego import ego_graph
from .paths.negative_cycle import negative_cycle
from .paths.reach import ancestors, descendants
from .paths.sssp import sssp
from .paths.tree import sssp_tree
from .sampling.neighbors import sample_neighbors
from .sampling.node2vec import node2vec_walks
from .sampling.walks import random_walks
from .sets.bipartite import bipartite_sides
from .sets.coloring import color_classes, coloring
from .sets.matching import maximal_matching
from .sets.maximum_matching import maximum_matching
from .sets.mis import maximal_independent_set
from .sets.projection import bipartite_projection
from .similarity.adamic_adar import adamic_adar, resource_allocation
from .similarity.neighbors import cosine, jaccard, overlap

__all__ = [
    "adamic_adar",
    "all_pairs_distances",
    "ancestors",
    "average_clustering",
    "barabasi_albert_graph",
    "betweenness_centrality",
    "bfs_levels",
    "bfs_parents",
    "bipartite_projection",
    "bipartite_sides",
    "closeness_centrality",
    "color_classes",
    "coloring",
    "condensation",
    "connected_components",
    "copying_model_graph",
    "core_numbers",
    "cosine",
    "descendants",
    "diameter",
    "diameter_bounds",
    "distances_from_each",
    "eccentricity",
    "edge_betweenness_centrality",
    "ego_graph",
    "eigenvector_centrality",
    "erdos_renyi_graph",
    "grid_graph",
    "harmonic_centrality",
    "hits",
    "jaccard",
    "k_core",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "leiden",
    "levels_from_each",
    "local_clustering",
    "louvain",
    "markov_clustering",
    "maximal_independent_set",
    "maximal_matching",
    "maximum_flow",
    "maximum_matching",
    "minimum_cut",
    "minimum_spanning_forest",
    "modularity",
    "negative_cycle",
    "node2vec_walks",
    "overlap",
    "pagerank",
    "random_walks",
    "resource_allocation",
    "rmat_graph",
    "sample_neighbors",
    "small_world_graph",
    "spectral_layout",
    "spring_layout",
    "square_clustering",
    "sssp",
    "sssp_tree",
    "strongly_connected_components",
    "topological_levels",
    "transitivity",
    "triangle_count",
    "triangles_per_edge",
    "triangles_per_vertex",
    "weakly_connected_components",
]


def __getattr__(name):
    raise _unknown(__name__, name, (), __all__)
