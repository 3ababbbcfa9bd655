"""Graph algorithms as short semiring programs: one file, one algorithm, in a folder that says what it answers.

The adjacency matrix A has one row and one column per vertex, and an entry A[i, j] for each edge i -> j. Each program
is written in the part of the API that bitblas shares with python-graphblas, so the same text runs on both:

    bfs_levels(A, 0)                          # on bitblas
    bfs_levels(A, 0, gb=graphblas)            # on python-graphblas, A being one of its matrices

`with Watch() as seen:` around a call tells the rounds that it ran, and whether it converged (`seen.rounds`, ..).

To add an algorithm, add its file and its import line here. The comment above a statement is its formula:
`w<m, replace> = q any.pair A` reads "into w, under the mask m, the product of q and A over the semiring any_pair";
`!m` is the complement of m, `A'` the transpose of A, `.*` the product entry by entry, `min=` an accumulation by min.
"""

from ._watch import Watch as Watch
from .centrality.betweenness import betweenness_centrality
from .centrality.eigenvector import eigenvector_centrality
from .centrality.hits import hits
from .centrality.katz import katz_centrality
from .centrality.pagerank import pagerank
from .cohesion.clustering import average_clustering, local_clustering, transitivity, triangles_per_vertex
from .cohesion.cores import core_numbers, k_core
from .cohesion.squares import square_clustering
from .cohesion.triangles import triangle_count
from .cohesion.truss import k_truss
from .connectivity.components import connected_components
from .connectivity.msf import minimum_spanning_forest
from .paths.bfs import bfs_levels, bfs_parents
from .paths.sssp import sssp
from .sets.coloring import coloring
from .sets.mis import maximal_independent_set

__all__ = [
    "average_clustering", "betweenness_centrality", "bfs_levels", "bfs_parents", "coloring", "connected_components",
    "core_numbers", "eigenvector_centrality", "hits", "k_core", "k_truss", "katz_centrality", "local_clustering",
    "maximal_independent_set", "minimum_spanning_forest", "pagerank", "square_clustering", "sssp", "transitivity",
    "triangle_count", "triangles_per_vertex",
]  # fmt: skip
