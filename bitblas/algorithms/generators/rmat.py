"""R-MAT: random graphs with a skewed degree distribution, similar to social and web graphs.

Method: each edge chooses one of the four quadrants of the matrix for each bit of its two ends, with probabilities a, b,
c and d. Random numbers are hashes of edge, bit and seed.

State: i and j, the bits chosen so far of the ends of all edges, INT64 arrays.

Input: probabilities with a sum of at most 1; d is the rest. Duplicate edges are merged, so there are fewer.

Check: shares of the quadrants; the same graph from both libraries.

Chakrabarti, Zhan, Faloutsos: R-MAT, a recursive model for graph mining. SDM 2004.
Murphy, Wheeler, Barrett, Ang: Introducing the Graph 500. Cray User Group 2010, for the default probabilities.
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import index_range, random_hash, undirected_graph


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
