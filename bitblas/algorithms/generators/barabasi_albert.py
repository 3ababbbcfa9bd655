"""Barabasi-Albert graphs: preferential attachment, new vertices prefer neighbours of high degree.

Method: the ends of all edges are written down one after the other, and a new edge copies the end that stands at a
random place before it. Who stands there may be a copy itself: the hash of its place says of which one, so that every
edge follows its own chain of places, and all do it at once.

State: place holds, for each edge e, where the chain stands: at 2 e is the new vertex e // m, at 2 e + 1 a copy.

Input: the vertices, and the edges that each brings.

Check: degrees; the same graph from both libraries.

Barabasi, Albert: Emergence of scaling in random networks. Science 286 (1999).
Sanders, Schulz: Scalable generation of scale-free graphs. Information Processing Letters 116 (2016).
"""

from .. import _check as check
from .._memory import room_here
from .._parts import numbers, undirected
from .._scores import drawn


@check.on_default_device
def barabasi_albert_graph(n, m, *, seed=None, gb=None):
    """A random graph that grows by preferential attachment.

    n: int >= 0, the vertices. m: int >= 1, the edges that each vertex brings. seed: int, or None for 0: the same seed
    gives the same graph. gb: the library, bitblas if None.
    Returns a Matrix, BOOL, n x n: edges both ways, at most n m of them, as self loops are left out and edges that are
    chosen twice are one.
    Raises InvalidValue (n or m out of range), TypeError (wrong types).
    """
    gb = check.library(gb)
    n = check.count(gb, "n", n, "it is the number of vertices", least=0)
    m = check.count(gb, "m", m, "it is the number of edges of a new vertex")
    seed = 0 if seed is None else check.integer("seed", seed)

    room_here(gb, f"barabasi_albert_graph: arrays of {n * m} edges", 60 * n * m)
    edge = numbers(n * m, gb)
    # place = a random one of those up to 2 e; again from there, as long as a copy stands there
    place = _before(edge, seed)
    while True:
        (copies,) = (place & 1).nonzero()
        if not len(copies):
            return undirected(edge // m, place // 2 // m, n, gb)
        place[copies] = _before(place[copies] // 2, seed)


def _before(edge, seed):
    """A random place from 0 to 2 e, of which the copy that stands at 2 e + 1 is one."""
    return drawn(edge, seed) * (2 * edge + 1) >> 32
