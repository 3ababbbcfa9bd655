"""Louvain and Leiden: communities of high modularity.

Method: every vertex starts as its own community and moves to the neighbouring community with the largest modularity
gain, until no move gains. The communities become the vertices of a smaller graph, and the process repeats until merging
communities no longer gains. Vertices move in parallel (`moved`), and the best partition of all rounds is kept.

State: label[v] is the community of v, an array. A is the graph of the level; its self loops are the edges inside of its
vertices, both directions.

Input: A with symmetric structure and values; a self loop counts as both directions.

Check: modularity of NetworkX's louvain_communities less 1 %; each community of Leiden is connected.

Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of communities in large networks. J. Stat. Mech. (2008).
Lu, Halappanavar, Kalyanaraman: Parallel heuristics for scalable community detection. Parallel Computing 47 (2015).
Traag, Waltman, van Eck: From Louvain to Leiden, guaranteeing well-connected communities. Scientific Reports 9 (2019).
"""

from .. import _check as check
from .. import _loops as loops
from .._algorithm import algorithm
from .._parts import degrees, index_range, random_hash, renumber
from ..connectivity.components import connected_components
from .modularity import between, quality, to_communities, weights

# ---- Local moving and refinement: parallel moves of vertices between communities.
#
# All vertices move at once, but a random quarter of those that should move stays, drawn again in every round. Otherwise
# two vertices could swap communities forever. The draws are hashes of vertex, round and seed. If half of them stay, the
# mean quality is the same, but some graphs with hubs get 2 % to 5 % worse; one in eight is too few.

PATIENCE = 3  # rounds without a gain above the tolerance after which a level ends
FEW, MORE_PATIENCE = 100, 16  # small levels: a vertex that should move may be held back for several rounds
REFINEMENTS = 8  # rounds in which singleton vertices may join others


class Level:
    """A symmetric FP64 graph whose vertices are the communities of the previous level; k are its degrees, total their
    sum.
    """

    def __init__(self, A, resolution, seed, gb):
        self.A, self.resolution, self.seed, self.gb = A, resolution, seed, gb
        self.k = A.reduce_rowwise(gb.monoid.plus).new().to_dense(0.0)
        self.total = float(self.k.sum()) or 1.0
        self.loops = A.diag().to_dense(0.0)
        self.vertex = index_range(A.nrows, gb)
        self.rounds = 0

    def sums(self, label, count, values):
        """The sum of the values per label, for labels below count."""
        plus = self.gb.binary.plus
        return self.gb.Vector.from_coo(label, values, size=count, dup_op=plus).to_dense(0.0)

    def heads(self, v):
        """Whether each of these vertices may move in this round."""
        self.rounds += 1
        return random_hash(v, self.seed, self.rounds) & 3 > 0

    def best(self, A, label, sigma, rows):
        """The best move of each vertex of `rows`: vertices, communities, gains. Also each vertex's weight inside its
        own community, without loops. A: the rows; sigma: the degree sums of the communities.
        """
        gb, n = self.gb, len(sigma)
        # C = A plus.first S: the weight from each vertex to each community
        k, c, w = to_communities(A, self.vertex, label, n, gb).to_coo()
        (own,) = (c == label[rows][k]).nonzero()
        inside = self.k[rows] * 0.0
        inside[k[own]] = w[own]
        inside -= self.loops[rows]
        # gain = C - resolution k sigma / total, minus that of its own; best[v] = max over other communities
        share = self.resolution / self.total * self.k[rows]
        gain = w - share[k] * sigma[c]
        gain[own] = -float("inf")
        G = gb.Matrix.from_coo(k, c, gain, nrows=len(rows), ncols=n)
        best = G.reduce_rowwise(gb.monoid.max).new().to_dense(-float("inf"))
        (hit,) = (gain == best[k]).nonzero()
        k, c = gb.Vector.from_coo(k[hit], c[hit].astype("int64"), size=len(rows), dup_op=gb.binary.min).to_coo()
        stay = inside - share * (sigma[label[rows]] - self.k[rows])
        return rows[k], c, (best - stay)[k], inside

    def near(self, v):
        """Flags of these vertices and their neighbours."""
        gb = self.gb
        q = gb.Vector.from_coo(v, True, size=self.A.nrows)
        found = q.vxm(self.A, gb.semiring.any_pair[gb.dtypes.BOOL]).new().to_dense(False).copy()
        found[v] = True
        return found


def moved(level, label, tol):
    """The partition after moves from `label` until the gain stays within tol.

    After the first round only two kinds of vertices are examined: those held back, and neighbours of moved ones.
    """
    best, found, stale = -1.0, label, 0
    patience = PATIENCE if level.A.nrows > FEW else MORE_PATIENCE
    rows, A, inside = level.vertex, level.A, level.k * 0.0
    while True:
        label, count = renumber(label, level.gb)  # renumbered, so that C has few columns
        # sigma[c] = sum of k over c; Q = inside / total - resolution sum (sigma / total)^2
        sigma = level.sums(label, count, level.k)
        v, c, gain, inside[rows] = level.best(A, label, sigma, rows)
        spread = float(((sigma / level.total) ** 2).sum())
        quality = float((inside + level.loops).sum()) / level.total - level.resolution * spread
        loops.report()
        stale = 0 if quality > best + tol else stale + 1
        if quality > best:
            best, found = quality, label
        wants = gain > 1e-12 * level.total
        if stale == patience or not wants.any():
            return found
        go = wants & level.heads(v)
        label = label.copy()
        label[v[go]] = c[go]
        active = level.near(v[go])
        active[v[wants]] = True
        (rows,) = active.nonzero()
        # extract rows only if they hold less than half of the weight: extraction costs as much as their round
        few = 2 * level.k[rows].sum() < level.total
        rows, A = (rows, level.A[rows, :].new()) if few else (level.vertex, level.A)


def refined(level, label):
    """A finer partition of connected communities: each singleton joins, once, a part of its own community."""
    gb, A = level.gb, level.A
    i, j, w = A.to_coo()
    same = label[i] == label[j]
    n = A.nrows
    A = gb.Matrix.from_coo(i[same], j[same], w[same], gb.dtypes.FP64, nrows=n, ncols=n)
    near = A.reduce_rowwise(gb.monoid.plus).new().to_dense(0.0) - level.loops
    share, whole = level.resolution / level.total, level.sums(label, n, level.k)[label]
    settled = near >= share * level.k * (whole - level.k)  # vertices loosely tied to their community stay alone
    part = level.vertex.copy()
    for _ in range(REFINEMENTS):
        sigma, size = level.sums(part, n, level.k), level.sums(part, n, settled * 1.0 + ~settled)
        v, c, gain, _ = level.best(A, part, sigma, level.vertex)
        alone, heads = (size == 1)[part], level.heads(level.vertex)
        # only singletons move, and only to a community that no vertex leaves in this round
        go = (gain > 0) & alone[v] & settled[v] & heads[v] & ~(alone[c] & heads[c] & (part[c] == c))
        part = part.copy()
        part[v[go]] = c[go]
        loops.report()
    return part


# ---- Louvain.


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


# ---- Leiden: connected communities of high modularity.
#
# Method: like Louvain, but the vertices of the next level are well-connected parts of the communities, not the
# communities. Each part starts in the community that contains it and may leave later. Parts grow from single vertices,
# which join where modularity gains most (`refined`). Finally, disconnected communities are split into components, which
# only raises modularity.


@algorithm(graph="undirected", answer="class per vertex", arrays=(96, 44))
def leiden(A, *, weighted=False, resolution=1.0, tol=1e-4, seed=None, gb=None):
    """Connected communities of high modularity in an undirected graph.

    A: Matrix, n x n, any dtype, symmetric (its structure is checked). weighted: bool, whether the values of A (0 or
    more) are weights. resolution: float >= 0; above 1 communities are smaller. tol: float > 0, the least modularity
    gain that is worth a round. seed: int, or None for 0: the same seed gives the same communities. gb: the library,
    bitblas if None.
    Returns a Vector, INT64, size n, full: communities numbered from 0 without gaps, each connected.
    Raises InvalidValue (A not symmetric, an option or a weight out of range), DimensionMismatch (A not square),
    TypeError.
    """
    label = communities(A, weighted, resolution, tol, seed, True, gb)
    # B = A<label[i] == label[j]>; communities = components of B
    i, j, _ = A.to_coo(values=False)
    same = label[i] == label[j]
    B = gb.Matrix.from_coo(i[same], j[same], True, nrows=A.nrows, ncols=A.ncols)
    label, _ = renumber(connected_components(B, gb=gb).to_dense(), gb)
    return gb.Vector.from_dense(label.astype("int64"))
