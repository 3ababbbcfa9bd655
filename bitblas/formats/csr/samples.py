"""Utility kernels of rows (all but products), plain and packed, as registry/ compiles them ahead of time."""

from __future__ import annotations

from collections.abc import Iterator

from semirings.dtypes import INT32, INT64, DataType

from ...kernels.prologue import Variant
from ..mirror import CHUNK
from ..sample import look_variant
from .choice import CLIP_LANES
from .likely import likely_variant

TYPES = (("PTR", INT32), ("COL", INT32))
PLACES = (*TYPES, ("PLACE", INT32))


def keys(packed: int) -> Iterator[Variant]:
    """Kernels that sort the transpose."""
    for order in (0, 1):
        yield Variant("formats/csr/keys", TYPES, (("PACKED", packed), ("ORDER", order)))


def deal_variant(col: DataType, count: int) -> Variant:
    """The kernel that distributes entries to their rows, or counts them."""
    return Variant("formats/csr/deal", (("COL", col),), (("COUNT", count),))


def mirrors(packed: int) -> Iterator[Variant]:
    """The symmetry test."""
    yield Variant("formats/csr/mirror", TYPES, (("PACKED", packed), ("CHUNK", CHUNK["csr"]), ("LANES", 32)))


def looks(packed: int) -> Iterator[Variant]:
    """The kernel that samples a matrix for the planner."""
    yield look_variant(INT32, INT32, packed)


def clips(packed: int, *passes: tuple[int, int]) -> Iterator[Variant]:
    """Kernels that extract a region: all for plain columns, only those with an order for packed ones."""
    for fill, order in passes:
        for lanes in (1, CLIP_LANES) if fill else (1,):
            constants = (("PACKED", packed), ("LANES", lanes), ("FILL", fill), ("ORDER", order))
            yield Variant("formats/csr/clip", PLACES, constants)


def samples() -> Iterator[Variant]:
    """Kernels of plain rows."""
    yield from keys(0)
    yield from mirrors(0)
    yield from looks(0)
    yield likely_variant(TYPES, packed=False, lanes=32)
    yield from (deal_variant(INT32, count) for count in (0, 1))
    for pointers in (INT32, INT64):
        yield Variant("formats/csr/rows", (("PTR", pointers),))
        for columns in (INT32, INT64):
            yield Variant("formats/csr/check", (("PTR", pointers), ("COL", columns)))
    yield from clips(0, (0, 0), (0, 1), (1, 0), (1, 1))


def packed_samples() -> Iterator[Variant]:
    """Kernels of packed rows."""
    yield from keys(1)
    yield from mirrors(1)
    yield from looks(1)
    yield likely_variant(TYPES, packed=True, lanes=32)
    yield from clips(1, (0, 1), (1, 1))
