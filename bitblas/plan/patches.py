"""Whether an edge-relaxing loop works by patches of consecutive vertices, and in which order these are numbered: pure
functions of a sample of entries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SAMPLES = 1 << 12  # entries that are looked at
# Of the entries so many must lead to the patch that they come from: what leads out is exchanged through memory. A road
# network of which fewer do took 11.9 ms by patches, 6.6 by rounds; where between them the limit lies is estimated.
LEAST_SHARE = 0.85
LEAST_VERTICES = 1 << 18  # the smallest that was measured: 7.7 ms by rounds on a grid of 512 x 512, 2.7 by patches
MOST_OFFSETS = 64  # differences of numbers that the entries of a grid have
# Entries of a row on average. Where rows are longer, waves are wide, and rounds of the grid as fast: milliseconds by
# rounds and by patches on a mesh of triangles (6) 14.5, 12.4; on a stencil of 27 points 2.8, 3.7. The limit: estimated.
MOST_DEGREE = 8


class Numbering(NamedTuple):
    """strides: what lies between neighbours along each axis of a grid, the first one 1; none: as the vertices are
    numbered. share: of entries that stay in their patch, as they are numbered."""

    strides: tuple[int, ...]
    share: float


def numbering(rows: Any, cols: Any, n: int, nvals: int, patch: int, *, renumbers: bool) -> Numbering | str:
    """How patches of so many vertices are numbered; or why there are none. rows, cols: of some entries. renumbers:
    whether another order may be made."""
    if n < LEAST_VERTICES:
        return f"{n} vertices are few"
    if nvals > MOST_DEGREE * n or not len(rows):
        return f"{nvals / n:.1f} entries a row are many"
    share = float((rows // patch == cols // patch).mean())
    if share >= LEAST_SHARE:
        return Numbering((), share)
    found = strides(np.abs(rows - cols))
    if len(found) > 1 and renumbers:
        return Numbering(found, share)
    return f"of the entries {share:.0%} stay in a patch of {patch} vertices"


def strides(offsets: Any) -> tuple[int, ...]:
    """What lies between neighbours along each axis of a grid that is numbered line by line: few numbers, in groups that
    are far from each other. (1,) where it is none."""
    known = np.unique(offsets[offsets > 0])
    if not 0 < len(known) <= MOST_OFFSETS or known[0] != 1:
        return (1,)
    groups = np.split(known, np.flatnonzero(known[1:] > 2 * known[:-1] + 1) + 1)
    return tuple(int(group[len(group) // 2]) for group in groups)


def curve(xp: Any, n: int, strides: tuple[int, ...]) -> Any:
    """The vertices of a grid along a curve that fills it: bits of their places on its axes in turn (Morton 1966)."""
    number = xp.arange(n, dtype=np.int64)
    keys, axes = xp.zeros(n, np.int64), len(strides)
    for k, stride in enumerate(strides):
        upto = strides[k + 1] if k + 1 < axes else n
        place = number % upto // stride
        for bit in range(max(1, (-(-upto // stride)).bit_length())):
            keys |= (place >> bit & 1) << (bit * axes + k)
    return xp.argsort(keys)


__all__ = ["Numbering", "curve", "numbering", "strides"]
