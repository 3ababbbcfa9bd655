"""Barabasi-Albert graphs: preferential attachment, new vertices prefer neighbours of high degree.

Method: the ends of all edges form one list, and a new edge copies the end at a random earlier position. That end may be
a copy itself; the hash of its position gives the position it copies. Each edge follows its own chain of positions, so
all edges are generated in parallel.

State: place holds, for each edge e, the current position of its chain: position 2 e is the new vertex e // m, position
2 e + 1 a copy.

Input: the number of vertices, and the number of edges per new vertex.

Check: degrees; the same graph from both libraries.

Barabasi, Albert: Emergence of scaling in random networks. Science 286 (1999).
Sanders, Schulz: Scalable generation of scale-free graphs. Information Processing Letters 116 (2016).
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
