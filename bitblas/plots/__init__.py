"""Plots with matplotlib: sparsity patterns, graphs, distances from a vertex, and kernel timelines.

matplotlib is imported by the functions that draw; no window is opened and no global state is used. Each function
returns a Figure, which a notebook shows and `save` writes.
"""

from .graphs import graph, levels, positions
from .matrices import binned, kind_of, save, spy, tiles_of
from .timeline import trace

__all__ = ["binned", "graph", "kind_of", "levels", "positions", "save", "spy", "tiles_of", "trace"]
