"""Partitions of the vertices into densely connected groups, and their quality."""
