"""Louvain: communities of high modularity.

Method: every vertex starts as its own community and moves to the neighbouring community with the largest modularity
gain, until no move gains. The communities become the vertices of a smaller graph, and the process repeats until merging
communities no longer gains. Vertices move in parallel (`_local_moves.py`), and the best partition of all rounds is
kept.

State: label[v] is the community of v, an array. A is the graph of the level; its self loops are the edges inside of its
vertices, both directions.

Input: A with symmetric structure and values; a self loop counts as both directions.

Check: modularity of NetworkX's louvain_communities less 1 %.

Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of communities in large networks. J. Stat. Mech. (2008).
Lu, Halappanavar, Kalyanaraman: Parallel heuristics for scalable community detection. Parallel Computing 47 (2015).
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import degrees, index_range, renumber
from ._local_moves import Level, moved, refined
from .modularity import between, quality, weights

PASSES = 10, 1  # multiples of the tolerance, one pass through all levels for each
REFINED = 10, 1, 1  # the same for Leiden, whose passes gain less


@algorithm(graph="undirected", answer="class per vertex", arrays=(96, 44))
def louvain(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, gb=None):
    """Communities of high modularity in an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether the values of A (0 or
    more) are weights. resolution: float >= 0; above 1 communities are smaller. tol: float > 0, the least modularity
    gain that is worth a round. seed: int, or None for 0: the same seed gives the same communities. gb: the library,
    bitblas if None.
    Returns a Vector, INT64, size n, full: communities numbered from 0 in the order of their smallest vertices.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    label = communities(A, weighted, resolution, tol, seed, False, gb)
    return gb.Vector.from_dense(label)


def communities(A, weighted, resolution, tol, seed, refine, gb):
    """Community numbers from 0, an INT64 array. refine: build levels from connected parts (Leiden)."""
    n = A.nrows
    if check.flag("weighted", weighted):
        check.weights(gb, A)
    hint = "1 is the default"
    resolution = check.number(gb, "resolution", resolution, lambda x: 0 <= x < float("inf"), "0 or more", hint)
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-4 is the default")
    seed = 0 if seed is None else check.integer("seed", seed)

    A = weights(A, weighted, gb)
    vertex = index_range(n, gb)
    (tied,) = (degrees(A, gb) > 0).nonzero()  # vertices without edges stay alone
    if 0 < len(tied) < n:
        A = A[tied, tied].new()
    else:
        tied = vertex
    # label[v] = v; replaced by each pass of higher modularity
    label, size, best = index_range(A.nrows, gb), A.nrows, -1.0
    for turn, times in enumerate(REFINED if refine else PASSES):
        higher, count = _ascended(A, label, resolution, tol * times, seed + turn, refine, gb)
        found = quality(between(A, higher, count, gb), resolution, gb)
        if found > best:
            label, size, best = higher, count, found
    # renumber communities in the order of their smallest vertices
    least = gb.Vector.from_coo(label, tied.astype("int64"), size=size, dup_op=gb.binary.min).to_dense()
    whole = vertex.copy()
    whole[tied] = least[label]
    return renumber(whole, gb)[0].astype("int64")


def _ascended(A, label, resolution, tol, seed, refine, gb):
    """A better partition than `label`, level by level: community numbers and their count."""
    community = None
    while True:
        level = Level(A, resolution, seed, gb)
        # vertices of the next level: the communities, or their connected parts if these are fewer than vertices
        part, size = renumber(moved(level, label, tol), gb)
        label = part
        if refine:
            finer, parts = renumber(refined(level, label), gb)
            part, size = (finer, parts) if parts < A.nrows else (part, size)
        if size == A.nrows:
            return renumber(label if community is None else label[community], gb)
        # community = part[community]; A = S' A S; above[part] = label, the community that contains each part
        community = part if community is None else part[community]
        above = label[:size].copy()
        above[part] = label
        A, label = between(A, part, size, gb), above
