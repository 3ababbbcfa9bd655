"""Centrality: importance of each vertex, from walks or shortest paths."""
