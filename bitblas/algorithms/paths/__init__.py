"""Paths: breadth-first search, shortest paths, distances, reachability."""
