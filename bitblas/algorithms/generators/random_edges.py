"""Independent random edges: Erdos-Renyi graphs, with the same probability of all edges, and R-MAT.

Method: possible edges are numbered, and the gaps between existing edges are geometrically distributed: for a uniform u
in (0, 1), log(u) / log(1 - p) numbers are skipped. Time is proportional to the number of existing edges. Random numbers
are hashes of gap number and seed.

State: the numbers of the edges, an INT64 array. In an undirected graph the edge (i, j) with i > j has the number
i (i - 1) / 2 + j; in a directed graph (i, j) has the number i n + j.

Input: the number of vertices and a probability.

Check: numbers and positions of edges; shares of the quadrants for R-MAT; the same graphs from both libraries.

Gilbert: Random graphs. Annals of Mathematical Statistics 30 (1959).
Batagelj, Brandes: Efficient generation of large random networks. Physical Review E 71 (2005).
Chakrabarti, Zhan, Faloutsos: R-MAT, a recursive model for graph mining. SDM 2004.
Murphy, Wheeler, Barrett, Ang: Introducing the Graph 500. Cray User Group 2010, for the default probabilities.
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import index_range, random_hash, undirected_graph


@algorithm(answer="generated graph")
def erdos_renyi_graph(n, p, *, directed=False, seed=None, gb=None):
    """A random graph in which each edge exists with probability p.

    n: int, 0 to 2**31 - 1, the vertices. p: float in [0, 1]. directed: bool; else edges go both ways. seed: int, or
    None for 0: the same seed gives the same graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n, without self loops.
    Raises InvalidValue (n or p out of range), TypeError (wrong types).
    """
    n = check.count(gb, "n", n, "it is the number of vertices", least=0)
    check.number(gb, "n", n, lambda x: x < 1 << 31, "less than 2**31", "give fewer vertices")
    p = check.number(gb, "p", p, lambda x: 0 <= x <= 1, "a number in [0, 1]", "it is a probability")
    check.flag("directed", directed)
    seed = 0 if seed is None else check.integer("seed", seed)

    total = n * n if directed else n * (n - 1) // 2
    edge = _chosen(total, p, seed, gb)
    if directed:
        i, j = edge // max(1, n), edge % max(1, n)
        kept = i != j
        return gb.Matrix.from_coo(i[kept], j[kept], True, nrows=n, ncols=n)
    # i = floor((1 + sqrt(1 + 8 edge)) / 2), corrected by 1 if the root was rounded; j = edge - i (i - 1) / 2
    i = ((1 + (1 + 8.0 * edge) ** 0.5) / 2).astype("int64")
    i -= i * (i - 1) // 2 > edge
    i += i * (i + 1) // 2 <= edge
    return undirected_graph(i, edge - i * (i - 1) // 2, n, gb)


def _chosen(total, p, seed, gb):
    """The chosen ones of `total` numbers, each with probability p."""
    if p == 0 or p == 1 or total == 0:
        return index_range(int(total * p), gb)
    count = int(total * p + 6 * (total * p) ** 0.5) + 20
    check.default_memory(gb, f"erdos_renyi_graph: arrays of {count} edges", 60 * count)
    while True:
        # edge = cumsum(1 + floor(log(u) / log(1 - p))) - 1
        u = (random_hash(index_range(count, gb), seed) + 0.5) / 2**32
        gaps = gb.Vector.from_dense(u).apply(gb.unary.log).new().to_dense() / _log1p(-p, gb)
        edge = (1 + gaps.clip(max=float(total)).astype("int64")).cumsum() - 1
        if edge[-1] >= total:
            return edge[edge < total]
        count *= 2


def _log1p(x, gb):
    """log(1 + x), accurate for x near 0."""
    return gb.Scalar.from_value(x, gb.dtypes.FP64).apply(gb.unary.log1p).new().value


# ---- R-MAT: random graphs with a skewed degree distribution, similar to social and web graphs.
#
# Method: each edge chooses one of the four quadrants of the matrix for each bit of its two ends, with probabilities a,
# b, c and d. Random numbers are hashes of edge, bit and seed.
#
# State: i and j, the bits chosen so far of the ends of all edges, INT64 arrays.
#
# Input: probabilities with a sum of at most 1; d is the rest. Duplicate edges are merged, so there are fewer.


@algorithm(answer="generated graph")
def rmat_graph(scale, edge_factor=16, *, a=0.57, b=0.19, c=0.19, directed=False, seed=None, gb=None):
    """A random graph with 2**scale vertices and about edge_factor times as many edges.

    scale: int, 0 to 30. edge_factor: int >= 1. a, b, c: floats in [0, 1] with a sum of at most 1, the probabilities of
    the upper left, upper right and lower left quadrant. directed: bool; else edges go both ways and self loops are
    dropped. seed: int, or None for 0: the same seed gives the same graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n.
    Raises InvalidValue (a number out of range), TypeError (wrong types).
    """
    scale = check.count(gb, "scale", scale, "2**scale is the number of vertices", least=0)
    check.number(gb, "scale", scale, lambda x: x <= 30, "30 or less", "give fewer vertices")
    edge_factor = check.count(gb, "edge_factor", edge_factor, "16 is the default")
    hint = "0.57, 0.19 and 0.19 are the defaults"
    a, b, c = (
        check.number(gb, name, x, lambda x: 0 <= x <= 1, "a number in [0, 1]", hint)
        for name, x in (("a", a), ("b", b), ("c", c))
    )
    check.number(gb, "a + b + c", a + b + c, lambda x: x <= 1 + 1e-9, "1 or less", hint)
    check.flag("directed", directed)
    seed = 0 if seed is None else check.integer("seed", seed)

    n = 1 << scale
    check.default_memory(gb, f"rmat_graph: arrays of {edge_factor * n} edges", 60 * edge_factor * n)
    edge = index_range(edge_factor * n, gb)
    i, j = edge * 0, edge * 0
    for bit in range(scale):
        # quadrant: i gets this bit in the lower two (random >= a + b), j in the right two
        random = random_hash(edge, seed, bit) / 2**32
        lower = random >= a + b
        i += lower * (1 << bit)
        j += ((random >= a) ^ lower ^ (random >= a + b + c)) * (1 << bit)
    return gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n) if directed else undirected_graph(i, j, n, gb)
