"""Erdos-Renyi graphs: every edge exists independently with the same probability.

Method: possible edges are numbered, and the gaps between existing edges are geometrically distributed: for a uniform u
in (0, 1), log(u) / log(1 - p) numbers are skipped. Time is proportional to the number of existing edges. Random numbers
are hashes of gap number and seed.

State: the numbers of the edges, an INT64 array. In an undirected graph the edge (i, j) with i > j has the number
i (i - 1) / 2 + j; in a directed graph (i, j) has the number i n + j.

Input: the number of vertices and a probability.

Check: numbers and positions of edges; the same graph from both libraries.

Gilbert: Random graphs. Annals of Mathematical Statistics 30 (1959).
Batagelj, Brandes: Efficient generation of large random networks. Physical Review E 71 (2005).
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
