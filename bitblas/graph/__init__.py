"""A graph as people have it: vertices with names, edges with a direction or without, and every algorithm as a method.

It holds a Matrix and the names, and nothing else: what is computed, the Matrix computes.
"""

from .answers import Values
from .graph import Graph

__all__ = ["Graph", "Values"]
