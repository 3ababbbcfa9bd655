"""Louvain and Leiden: communities of high modularity, each connected.

Method: every vertex starts as its own community and moves to the neighbouring community with the largest modularity
gain, until a sweep over the active vertices gains less than a tolerance. The communities become the vertices of a
smaller graph (S' A S), and the process repeats until no community merges. Then it starts again with single vertices in
the communities that were found, and a smaller tolerance: vertices that joined early may leave. The best partition of
all passes is kept. Leiden's smaller graph has a vertex for each of several connected parts of a community, which may
move on their own. In a large graph the parts often keep nearly all edges, so that only the first level of the second
pass, and small levels, are contracted by parts, and others by whole communities.

In a sweep the vertices move in CLASSES random classes, one class after the other, all vertices of a class at the same
time: with a single class two vertices could swap communities forever. Active are the vertices next to one that moved.
Weights are integers, gains are FP64 of exact sums, ties go to the community of the smaller number: the same seed gives
the same communities on every device and for any number of threads.

State: label[v] is the community of v, an array, INT32. A is the graph of the level; its self loops are the edges inside
of its vertices, both directions.

Input: A with symmetric structure and values; a self loop counts as both directions.

Check: modularity of igraph's functions less 0.5 %; each community is connected; the same answer by other statements.

Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of communities in large networks. J. Stat. Mech. (2008).
Traag, Waltman, van Eck: From Louvain to Leiden, guaranteeing well-connected communities. Scientific Reports 9 (2019).
Sahu: GVE-Louvain, fast Louvain algorithm for community detection in shared memory setting. arXiv 2312.04876 (2023).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._levels import Steps, first_level
from .._parts import MASK, random_hash

CLASSES = 4  # of vertices that move at the same time; fewer need more sweeps, more need more launches
SWEEPS = 20  # at most, in a level
REFINEMENTS = 4  # rounds in which single vertices may join others
PASSES = 20, 1  # multiples of the tolerance, one pass through all levels for each
SMALL = 1 << 17  # most entries of a small graph, where chance counts more
SMALL_PASSES = 10, 1
MORE = 1, 1, 1, 1, 1, 1  # more passes of Leiden for a small graph
ROUNDS = CLASSES, SWEEPS, REFINEMENTS, SMALL


@algorithm(graph="undirected", answer="class per vertex", arrays=(70, 0))
def louvain(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, levels=False, gb=None):
    """Communities of high modularity in an undirected graph, each connected.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked, and its values if weighted). weighted: bool,
    whether the values of A (0 or more, with a finite sum) are weights. Integers with a sum below 2^52 are exact; others
    are scaled by a power of two and rounded, each by at most 2^-52 of the sum. resolution: float >= 0; above 1
    communities are smaller. tol: float > 0, the least modularity gain that is worth a sweep. seed: int, or None for 0:
    the same seed gives the same communities, on every device. levels: bool, whether to return the hierarchy. gb: the
    library, bitblas if None.
    Returns a Vector, INT64, size n, full: communities numbered from 0 in the order of their smallest vertices. With
    levels a list of such Vectors, from small communities to large ones: each community is a union of communities of the
    Vector before, and the last Vector is the result without levels.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    return communities(A, weighted, resolution, tol, seed, levels, False, gb)


@algorithm(graph="undirected", answer="class per vertex", arrays=(90, 5), like=louvain)
def leiden(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, levels=False, gb=None):
    """Communities of high modularity in an undirected graph, each connected, by the Leiden algorithm."""
    return communities(A, weighted, resolution, tol, seed, levels, True, gb)


def communities(A, weighted, resolution, tol, seed, levels, refine, gb):
    """The result of louvain and leiden. refine: build levels from connected parts (Leiden)."""
    check.flag("weighted", weighted)
    check.flag("levels", levels)
    hint = "1 is the default"
    resolution = check.number(gb, "resolution", resolution, lambda x: 0 <= x < float("inf"), "0 or more", hint)
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-4 is the default")
    seed = 0 if seed is None else check.integer("seed", seed)
    if A.nrows >= 2**31 - 1:
        raise gb.exceptions.InvalidValue(
            f"argument A: expected fewer than 2^31 - 1 vertices, got {A.nrows}. Hint: extract the rows with entries."
        )

    base = first_level(A, weighted, resolution, gb)
    label, best = base.vertices(), -float("inf")
    hierarchy: Steps = []
    if base.total:
        start = label
        small = A.nvals <= SMALL
        passes = (*SMALL_PASSES, *(MORE if refine else ())) if small else PASSES
        for turn, times in enumerate(passes):
            key = random_hash(seed & MASK, seed >> 32, turn)
            steps: Steps = []
            ascend = _ascended_in_one_launch if base.one_launch else _ascended
            parts = refine and (turn > 0 or small)
            start, quality = ascend(base, start, tol * times, key, parts, steps if levels and not turn else None)
            if quality > best:
                label, best = start, quality
            hierarchy = hierarchy or steps
    answer = base.split(label)
    if not levels:
        return _numbered(base, answer, gb)
    return _nested(base, hierarchy, answer, gb)


def _ascended(base, label, tol, key, refine, steps):
    """A better partition than `label`, level by level: community numbers and their modularity. steps: None, or a list,
    to which the partition into the vertices of each level but the first is added.
    """
    level, whole, count = base, base.vertices(), 0
    while True:
        key = random_hash(key, count)
        label = moved(level, label, tol, key)
        label, size = level.renumbered(label)
        # vertices of the next level: the communities, or their connected parts if these are fewer than vertices
        part = label
        if refine and (not count or level.nvals <= SMALL):
            keys = [random_hash(key, SWEEPS + k) for k in range(REFINEMENTS)]
            finer, parts = level.renumbered(level.refined(label, keys))
            part, size = (finer, parts) if parts < level.n else (part, size)
        if size == level.n:
            return label[whole], modularity(level.host_degrees(), level.inside(), level)
        # whole = part[whole]; A = S' A S; above[part] = label, the community that contains each part
        whole = part[whole]
        count += 1
        if steps is not None:
            steps.append(whole)
        above = label[:size].copy()
        above[part] = label
        level, label = level.contracted(part, size), above


def moved(level, label, tol, key):
    """The communities after sweeps from `label` on, until one gains at most tol."""
    moves = level.start(label)
    for sweep in range(SWEEPS):
        # a move gains 2 (score - score of staying) / total
        _, gain = moves.sweep(random_hash(key, sweep), CLASSES)
        loops.report()
        if 2 * gain <= tol * level.total:
            break
    return moves.label


def _ascended_in_one_launch(base, label, tol, key, refine, steps):
    """The same by one kernel of a GPU."""
    found = base.climbed(label, tol * base.total, key, ROUNDS, refine, steps)
    loops.report(found.sweeps)
    return found.label, modularity(found.degrees, found.inside + base.extra_inside(), base)


def modularity(degrees, inside, level):
    """The modularity of a partition, from the degrees and the weight inside of its communities: inside / total -
    resolution sum (k / total)^2.
    """
    shares = degrees[degrees > 0] / level.total  # most communities of some graphs are single vertices without edges
    return inside / level.total - level.resolution * float((shares * shares).sum())


# ---- Results: communities by number, and the hierarchy.


def _numbered(base, label, gb):
    """The Vector of communities that are named by their smallest vertices."""
    number, _ = base.renumbered(label)
    return gb.Vector.from_dense(number.astype("int64"))


def _nested(base, hierarchy, answer, gb):
    """The partitions of the first pass, cut along the communities of the answer and into components; then the answer.
    Partitions that equal the next one are left out.
    """
    n, found = base.n, [answer]
    for whole in reversed(hierarchy):
        # components of vertices with equal (answer, whole)
        pair = answer.astype("int64") * n + whole
        order = pair.argsort(kind="stable")
        fresh = pair[order] != pair[order[:1]]
        fresh[1:] = pair[order][1:] != pair[order][:-1]
        label = answer.copy()
        label[order] = fresh.cumsum().astype(label.dtype)
        part = base.split(label)
        if (part != found[-1]).any():
            found.append(part)
    return [_numbered(base, label, gb) for label in reversed(found)]
