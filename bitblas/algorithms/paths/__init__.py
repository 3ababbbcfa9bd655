"""Breadth-first search, shortest paths, distances, reachability."""
