"""Convert between the layouts of a structure, and restore a layout from the arrays of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..device import Device
from .contract import Form

if TYPE_CHECKING:
    from .structure import Structure


def convert(structure: Structure, key: str, *, transposed: bool, order: bool) -> tuple[Form, Any]:
    """A layout of the structure (or of its transpose); with `order`, the positions of its values in the primary
    layout."""
    if transposed:
        source = structure.form(key)  # transpose within the format
        if structure.symmetric and not order:
            return source, None  # an undirected graph is its own transpose
        made, places = source.transpose(order)
        base = structure.order(key) if order else None
        if structure.symmetric:
            source.adopt(made)
            made = source
        return made, places if base is None or places is None else base[places]
    from .catalog import class_of, format_of  # imports every format; not needed while `import bitblas` runs

    rows, places = structure.primary.to_csr(order)
    made, moved = class_of(key).from_csr(rows, format_of(key).tile, order)
    return made, places if moved is None else moved if places is None else places[moved]


def restored(device: Device, key: str, numbers: dict[str, int], arrays: dict[str, Any]) -> Form:
    """Rebuild a layout from its `numbers` and `arrays`; ValueError or KeyError if they do not match."""
    from .catalog import class_of

    made = class_of(key).restored(device, numbers, arrays)
    if made.key != key:
        raise ValueError(f"form: expected {key!r}, got {made.key!r}")
    return made
