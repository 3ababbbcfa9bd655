"""Vertex positions for drawing."""
