"""Growing graphs: Barabasi-Albert (new vertices prefer neighbours of high degree) and the copying model.

Method: the ends of all edges form one list, and a new edge copies the end at a random earlier position. That end may be
a copy itself; the hash of its position gives the position it copies. Each edge follows its own chain of positions, so
all edges are generated in parallel.

State: place holds, for each edge e, the current position of its chain: position 2 e is the new vertex e // m, position
2 e + 1 a copy.

Input: the number of vertices, and the number of edges per new vertex.

Check: degrees; in-degrees and the ends with p = 0 and p = 1 for copies; the same graphs from both libraries.

Barabasi, Albert: Emergence of scaling in random networks. Science 286 (1999).
Sanders, Schulz: Scalable generation of scale-free graphs. Information Processing Letters 116 (2016).
Kumar, Raghavan, Rajagopalan, Sivakumar, Tomkins, Upfal: Stochastic models for the web graph. FOCS 2000.
"""

from .. import _check as check
from .._algorithm import algorithm
from .._parts import index_range, random_hash, undirected_graph


@algorithm(answer="generated graph")
def barabasi_albert_graph(n, m, *, seed=None, gb=None):
    """A random graph that grows by preferential attachment.

    n: int >= 0, the vertices. m: int >= 1, edges per new vertex. seed: int, or None for 0: the same seed gives the same
    graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n: edges both ways, at most n m, because self loops are dropped and duplicates merged.
    Raises InvalidValue (n or m out of range), TypeError (wrong types).
    """
    n = check.count(gb, "n", n, "it is the number of vertices", least=0)
    m = check.count(gb, "m", m, "it is the number of edges of a new vertex")
    seed = 0 if seed is None else check.integer("seed", seed)

    check.default_memory(gb, f"barabasi_albert_graph: arrays of {n * m} edges", 60 * n * m)
    edge = index_range(n * m, gb)
    # place = a random position up to 2 e, repeated from there while the position is a copy (odd)
    place = _before(edge, seed)
    while True:
        (copies,) = (place & 1).nonzero()
        if not len(copies):
            return undirected_graph(edge // m, place // 2 // m, n, gb)
        place[copies] = _before(place[copies] // 2, seed)


def _before(edge, seed):
    """A random position from 0 to 2 e for the copy at position 2 e + 1."""
    return random_hash(edge, seed) * (2 * edge + 1) >> 32


# ---- Copying model: each new vertex copies the edges of an earlier vertex or chooses ends at random.
#
# Method: a new vertex chooses an earlier vertex as its model. Each of its edges goes to a random earlier vertex with
# probability p, else to the end of the model's edge of the same index, which may be a copy itself. Each edge follows
# its chain of models until one chooses freely, so all edges are generated in parallel. Vertex 0, which has no edges, is
# copied as an end. Random numbers are hashes of vertex, edge index and seed.
#
# State: at[e] is the current vertex of edge e's chain; end[e] is the end of the edge, once known.
#
# Input: the number of vertices, the number of edges per new vertex, a probability.


@algorithm(answer="generated graph")
def copying_model_graph(n, m, p, *, directed=False, seed=None, gb=None):
    """A random graph that grows by copying edges, as web pages copy links.

    n: int, 0 to 2**31 - 1, the vertices. m: int >= 1, edges per new vertex. p: float in [0, 1], the fraction of edges
    that are not copied. directed: bool, edges lead from the new vertex only; else they go both ways. seed: int, or None
    for 0: the same seed gives the same graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n, without self loops, at most (n - 1) m edges, because duplicates are merged.
    Raises InvalidValue (n, m or p out of range), TypeError (wrong types).
    """
    n = check.count(gb, "n", n, "it is the number of vertices", least=0)
    check.number(gb, "n", n, lambda x: x < 1 << 31, "less than 2**31", "give fewer vertices")
    m = check.count(gb, "m", m, "it is the number of edges of a new vertex")
    p = check.number(gb, "p", p, lambda x: 0 <= x <= 1, "a number in [0, 1]", "it is a probability")
    check.flag("directed", directed)
    seed = 0 if seed is None else check.integer("seed", seed)

    check.default_memory(gb, f"copying_model_graph: arrays of {n * m} edges", 60 * n * m)
    edge = index_range(max(0, n - 1) * m, gb)
    vertex = 1 + edge // m
    at, end = vertex.copy(), vertex * 0
    while len(edge):
        v = at[edge]
        number = v * m + edge % m
        # end = a random earlier vertex if free, else the model; at = model; continue while copied and model > 0
        free = random_hash(number, seed, 1) < p * 2**32
        any_, model = random_hash(number, seed, 2) * v >> 32, random_hash(v, seed, 3) * v >> 32
        end[edge] = any_ * free + model * ~free
        at[edge] = model
        edge = edge[~free & (model > 0)]
    if directed:
        return gb.Matrix.from_coo(vertex, end, True, nrows=n, ncols=n)
    return undirected_graph(vertex, end, n, gb)
