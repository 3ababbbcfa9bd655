"""Connectivity: components, strong components, topological order, spanning forests."""
