"""Convert between the layouts of a structure, and restore a layout from the arrays of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..device import Device
from .contract import Form

if TYPE_CHECKING:
    from .structure import Structure


def convert(structure: Structure, key: str, *, transposed: bool, order: bool) -> tuple[Form, Any]:
    """A form of the structure (or of its transpose); with `order`, where its values lie in the primary form."""
    if transposed:
        source = structure.form(key)  # transposed as it lies
        if structure.symmetric and not order:
            return source, None  # an undirected graph is its own transpose: nothing more to make or to store
        made, places = source.transpose(order)
        base = structure.order(key) if order else None
        if structure.symmetric:
            source.adopt(made)
            made = source
        return made, places if base is None or places is None else base[places]
    from .catalog import class_of, format_of  # all forms: nobody converts while `import bitblas` runs

    rows, places = structure.primary.to_csr(order)
    made, moved = class_of(key).from_csr(rows, format_of(key).tile, order)
    return made, places if moved is None else moved if places is None else places[moved]


def restored(device: Device, key: str, numbers: dict[str, int], arrays: dict[str, Any]) -> Form:
    """A form of what its `numbers` and `arrays` gave; ValueError, KeyError where they do not fit."""
    from .catalog import class_of

    made = class_of(key).restored(device, numbers, arrays)
    if made.key != key:
        raise ValueError(f"form: expected {key!r}, got {made.key!r}")
    return made
