"""Importance of each vertex, from walks or shortest paths."""
