"""Estimate the number of levels of a breadth-first search."""

from __future__ import annotations

import math
from typing import Any


def levels_of(n: int, balls: list[float], ended: bool) -> float:
    """The radius at which a ball contains all n vertices, if the balls of radius 0, 1, 2, .. have the sizes `balls` and
    go on to grow as (radius)^d: d is 1 on a path, 2 on a mesh, and so large in a power-law graph that few levels
    remain. ended: they no longer grow."""
    last = len(balls) - 1
    if last < 1 or ended:
        return float(last + 1)
    half = max(1, last // 2)
    growth = math.log(balls[last] / balls[half], last / half) if last > 1 else math.log2(balls[1])
    return max(1.0, last * max(1.0, n / balls[last]) ** (1 / max(1.0, growth)))


def mean_balls(sizes: Any) -> tuple[list[float], bool]:
    """The mean size of balls of radius 0, 1, 2, .. as far as all of them are known, and whether they no longer grow.
    sizes: of each ball by radius, 0 if not known."""
    known = [sum(column) / len(column) for column in zip(*sizes.tolist(), strict=True) if min(column)]
    for last in range(1, len(known)):
        if known[last] == known[last - 1]:
            return known[: last + 1], True
    return known, False
