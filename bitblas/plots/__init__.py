"""Plots with matplotlib: graphs, distances from a vertex, degrees, sparsity patterns, and kernel timelines, in one
style, for light and dark pages.

matplotlib is imported by the functions that draw; no window is opened and no global state is used. Each function
returns a Figure, which a notebook shows and `save` writes.
"""

from .degree_plot import degrees
from .layouts import layout, positions
from .node_link import graph, levels
from .sparsity import binned, spy, tiles_of
from .style import kind_of, save
from .timeline import trace

__all__ = [
    "binned",
    "degrees",
    "graph",
    "kind_of",
    "layout",
    "levels",
    "positions",
    "save",
    "spy",
    "tiles_of",
    "trace",
]
