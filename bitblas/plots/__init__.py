"""Pictures, by matplotlib: where the entries of a matrix are, a graph, how far its vertices are from one, when
kernels ran.

matplotlib is imported by the functions that draw; no window is opened, no global state used. Each gives a Figure, which
a notebook shows and `save` writes.
"""

from .graphs import graph, levels, positions
from .matrices import binned, kind_of, save, spy, tiles_of
from .timeline import trace

__all__ = ["binned", "graph", "kind_of", "levels", "positions", "save", "spy", "tiles_of", "trace"]
