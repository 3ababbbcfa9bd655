"""Flows: maximum flow and minimum cut."""
