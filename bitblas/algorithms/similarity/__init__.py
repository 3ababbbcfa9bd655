"""Similarity of vertices, from the neighbours that they share."""
