"""Lanes per row (tile row) on a GPU: rules shared by all formats."""

from __future__ import annotations

# Iterations of a group of lanes over a row, each with a memory latency; longer rows are hubs and are cut (estimated).
MAX_ITERATIONS = 16


def power_of_two(x: float, low: int, high: int) -> int:
    """The largest power of two that is at most x, clamped to low .. high."""
    lanes = low
    while lanes * 2 <= x and lanes < high:
        lanes *= 2
    return lanes
