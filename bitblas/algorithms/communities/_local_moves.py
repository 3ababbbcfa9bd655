"""Local moving and refinement for Louvain and Leiden: parallel moves of vertices between communities.

All vertices move at once, but a random quarter of those that should move stays, drawn again in every round. Otherwise
two vertices could swap communities forever. The draws are hashes of vertex, round and seed. If half of them stay, the
mean quality is the same, but some graphs with hubs get 2 % to 5 % worse; one in eight is too few.
"""

from .. import _loops as loops
from .._parts import index_range, random_hash, renumber
from .modularity import to_communities

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
