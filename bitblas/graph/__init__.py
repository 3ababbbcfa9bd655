"""`Graph`: a Matrix with vertex names and edge direction; every algorithm is a method.

A Graph stores a Matrix and the names, and nothing else. All computation happens on the Matrix.
"""

from .answers import Values
from .clustering import Clustering
from .graph import Graph

__all__ = ["Clustering", "Graph", "Values"]
