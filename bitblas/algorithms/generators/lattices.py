"""Lattices: grids, and rings with rewired edges (small worlds, Watts-Strogatz).

Method: edges follow from vertex numbers. In a small world each edge of the ring gets another end with probability p, by
hashes of edge number and seed.

State: the ends of all edges, INT64 arrays.

Input: sizes, and a probability.

Check: NetworkX's grid_2d_graph and watts_strogatz_graph; the fraction of rewired edges.

Watts, Strogatz: Collective dynamics of small-world networks. Nature 393 (1998).
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import index_range, random_hash, undirected_graph


@algorithm(answer="generated graph")
def grid_graph(height, width, *, gb=None):
    """A grid: vertex y * width + x has edges to its neighbours above, below, left and right.

    height, width: ints >= 0. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n with n = height * width: edges both ways.
    Raises InvalidValue (a size below 0), TypeError (wrong types).
    """
    height = check.count(gb, "height", height, "it is the number of rows", least=0)
    width = check.count(gb, "width", width, "it is the number of columns", least=0)
    n = height * width
    check.default_memory(gb, f"grid_graph: arrays of {2 * n} edges", 100 * n)
    v = index_range(n, gb)
    # right: edges v - (v + 1) within a row; down: edges v - (v + width)
    right, down = v[(v + 1) % max(1, width) > 0], v[: max(0, n - width)]
    A = undirected_graph(right, right + 1, n, gb)
    A << gb.binary.pair[gb.dtypes.BOOL](A | undirected_graph(down, down + width, n, gb))
    return A


@algorithm(answer="generated graph")
def small_world_graph(n, k, p, *, seed=None, gb=None):
    """A small world: a ring in which every vertex has edges to its k nearest vertices, some of them rewired.

    n: int >= 0, the vertices. k: int >= 0, even. p: float in [0, 1], the probability that an edge is rewired. seed:
    int, or None for 0: the same seed gives the same graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n: edges both ways, at most n k / 2, because self loops are dropped and duplicates
    merged.
    Raises InvalidValue (a number out of range), TypeError (wrong types).
    """
    n = check.count(gb, "n", n, "it is the number of vertices", least=0)
    k = check.count(gb, "k", k, "each vertex has k / 2 edges to either side", least=0)
    check.number(gb, "k", k, lambda x: x % 2 == 0, "an even number", "each vertex has k / 2 edges to either side")
    p = check.number(gb, "p", p, lambda x: 0 <= x <= 1, "a number in [0, 1]", "it is a probability")
    seed = 0 if seed is None else check.integer("seed", seed)

    check.default_memory(gb, f"small_world_graph: arrays of {n * (k // 2)} edges", 60 * n * (k // 2))
    edge = index_range(n * (k // 2), gb)
    # edge i - j, j = i + 1, i + 2, ..; j is random if a random number is below p
    i = edge % max(1, n)
    j = (i + edge // max(1, n) + 1) % max(1, n)
    led = random_hash(edge, seed, 1) < p * 2**32
    j[led] = (random_hash(edge, seed, 2) * n >> 32)[led]
    return undirected_graph(i, j, n, gb)
