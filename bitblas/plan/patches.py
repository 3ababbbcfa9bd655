"""Whether an edge-relaxing loop works by patches of consecutive vertices, and in which order these are numbered: pure
functions of a sample of entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import tuning

SAMPLES = 1 << 12  # number of sampled entries


class Numbering(NamedTuple):
    """strides: distance in vertex numbers between neighbours along each axis of a grid, the first one 1; empty: keep
    the vertex order. share: share of entries that stay in their patch, in the current order."""

    strides: tuple[int, ...]
    share: float


def numbering(rows: Any, cols: Any, n: int, nvals: int, patch: int, *, renumbers: bool) -> Numbering | str:
    """The vertex order of patches of `patch` vertices, or why there are none. rows, cols: of sampled entries.
    renumbers: whether another order may be used."""
    if n < tuning.count("patches.vertices"):
        return f"too few vertices ({n})"
    if nvals > tuning.value("patches.degree") * n or not len(rows):
        return f"too many entries a row ({nvals / n:.1f})"
    share = float((rows // patch == cols // patch).mean())
    if share >= tuning.value("patches.share"):
        return Numbering((), share)
    found = strides(np.abs(rows - cols))
    if len(found) > 1 and renumbers:
        return Numbering(found, share)
    return f"only {share:.0%} of the entries stay in a patch of {patch} vertices"


def strides(offsets: Any) -> tuple[int, ...]:
    """Distance between neighbours along each axis of a grid that is numbered line by line: the differences are few and
    in groups that are far apart. (1,) if it is no such grid."""
    known = np.unique(offsets[offsets > 0])
    if not 0 < len(known) <= tuning.count("patches.offsets") or known[0] != 1:
        return (1,)
    groups = np.split(known, np.flatnonzero(known[1:] > 2 * known[:-1] + 1) + 1)
    return tuple(int(group[len(group) // 2]) for group in groups)


def curve(xp: Any, n: int, strides: tuple[int, ...]) -> Any:
    """The vertices of a grid along a space-filling curve: interleave the bits of their coordinates (Morton 1966)."""
    number = xp.arange(n, dtype=np.int64)
    keys, axes = xp.zeros(n, np.int64), len(strides)
    for k, stride in enumerate(strides):
        upto = strides[k + 1] if k + 1 < axes else n
        place = number % upto // stride
        for bit in range(max(1, (-(-upto // stride)).bit_length())):
            keys |= (place >> bit & 1) << (bit * axes + k)
    return xp.argsort(keys)


__all__ = ["Numbering", "curve", "numbering", "strides"]
