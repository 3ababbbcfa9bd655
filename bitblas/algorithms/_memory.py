"""Memory estimates: raise OutOfMemory before an algorithm allocates arrays that do not fit.

GraphBLAS statements predict their own memory. Arrays that algorithms use between statements (degrees, entry lists,
sorted scores) are estimated here in bytes per vertex and per matrix entry: slightly below the peaks measured on the CPU
for graphs of 500 to 4000 vertices and up to 24 000 entries. Arrays whose size depends on an intermediate result are
checked with `check_memory` when that size is known.
"""

ARRAYS = {  # bytes per vertex and per entry; algorithms that only use statements are not listed
    "adamic_adar": (16, 40), "average_clustering": (32, 24), "condensation": (24, 32), "core_numbers": (14, 12),
    "cosine": (8, 24), "edge_betweenness_centrality": (64, 56), "jaccard": (8, 24), "k_core": (14, 24),
    "k_truss": (8, 40), "label_propagation": (32, 60), "leiden": (96, 44), "local_clustering": (32, 24),
    "louvain": (96, 44), "markov_clustering": (32, 80), "maximal_matching": (8, 20), "maximum_flow": (40, 60),
    "maximum_matching": (90, 20), "minimum_cut": (40, 60), "minimum_spanning_forest": (48, 20), "modularity": (40, 12),
    "negative_cycle": (36, 36), "node2vec_walks": (16, 24), "overlap": (8, 24), "random_walks": (16, 8),
    "resource_allocation": (16, 40), "square_clustering": (16, 40), "sssp_tree": (24, 40), "transitivity": (32, 24),
    "triangle_count": (0, 4), "triangles_per_edge": (8, 36), "triangles_per_vertex": (32, 24),
}  # fmt: skip


def check_memory(A, what, nbytes):
    """Raise bitblas's OutOfMemory if arrays of `nbytes` do not fit on the device of A. No check on python-graphblas."""
    foresee = getattr(getattr(A, "device", None), "foresee", None)
    if foresee is not None:
        foresee(what, int(nbytes))


def check_default_memory(gb, what, nbytes):
    """`check_memory` for the default device of new objects."""
    get = getattr(getattr(gb, "device", None), "get", None)  # None: python-graphblas has no devices
    if get is not None:
        get(gb.config.device).foresee(what, int(nbytes))


def foresee(name, A):
    """`check_memory` for all arrays of the algorithm `name` on A."""
    vertex, entry = ARRAYS.get(name, (0, 0))
    if (vertex or entry) and hasattr(A, "nvals") and hasattr(A, "nrows"):
        n, nvals = A.nrows, A.nvals
        check_memory(A, f"{name}: arrays of {n} vertices and {nvals} entries", vertex * n + entry * nvals)
