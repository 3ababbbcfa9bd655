"""Bitmaps with their values: a multivector as one vector of all its positions.

The bits of a bitmap (formats/bitmap) are the bitset of such a vector, so the kernels of vectors run all element-wise
operations on it in one pass, under masks too, without going through rows.
"""

from __future__ import annotations

from typing import Any

from semirings.cached import cached_property

from . import formats
from .formats import Structure
from .formats.bitmap.layout import Lines, lines_of
from .order import Order
from .store import MatrixStore, VectorStore, dense_values, pack

BITMAP = "bitmap"


class FlatStore(MatrixStore):
    """flat: the vector of all positions. Operations return fresh ones; a statement may write into that of its output
    while it is not shared: it belongs to one Matrix, and its `structure`, on which caches depend, was never read."""

    def __init__(self, flat: VectorStore, nrows: int, ncols: int) -> None:
        self.flat, self.dtype, self.order, self.usual = flat, flat.dtype, None, False
        self.copies, self.prepared = {}, {}
        self.device, self.nrows, self.ncols = flat.device, nrows, ncols
        self.holders = 0  # number of matrices that hold it

    @property
    def lines(self) -> Lines:
        return lines_of(self.nrows, self.ncols)

    @property
    def key(self) -> str:
        return BITMAP

    @property
    def alone(self) -> bool:
        """Whether a statement of the matrix that owns it may write into it."""
        return self.holders == 1 and "structure" not in self.__dict__ and "raw" not in self.__dict__

    def _raw(self) -> Any:
        values = self.flat.values
        if self.flat.iso:
            return values
        form: Any = self.structure.primary
        places = form.places()
        if self.dtype.np_type.kind != "b":
            return values[places]
        return (values[places >> 6] >> (places & 63).astype(values.dtype) & values.dtype.type(1)).astype(bool)

    # Computed at first access.
    structure: Any = cached_property(lambda self: Structure(self._form()))
    raw: Any = cached_property(_raw)

    def _form(self) -> Any:
        form: Any = formats.class_of(BITMAP)
        return form(self.device, self.nrows, self.ncols, self.flat.present, self.flat.count)

    def pattern(self) -> Structure:
        """The structure for a mask; not cached."""
        return self.__dict__.get("structure") or Structure(self._form())

    @property
    def iso(self) -> bool:
        return self.flat.iso

    @property
    def packed(self) -> bool:
        return False

    @property
    def nvals(self) -> int:
        return self.flat.nvals

    def tagged(self, order: Order | None) -> FlatStore:
        if self.order is order:
            return self
        twin = FlatStore(self.flat.copy(), self.nrows, self.ncols)
        twin.order = order
        return twin

    def copy(self) -> FlatStore:
        """The same in new arrays."""
        twin = FlatStore(self.flat.copy(), self.nrows, self.ncols)
        twin.order = self.order
        return twin


def bits_of(structure: Structure) -> Any:
    """The bits of a structure of any format; those of a bitmap itself."""
    form: Any = structure.form(BITMAP)
    return form.bits


def flat_of(A: MatrixStore) -> VectorStore:
    """A matrix of any format as a vector of all positions: its own, or computed once; read-only."""
    if type(A) is FlatStore:
        return A.flat
    found: VectorStore | None = A.prepared.get("flat")
    if found is None:
        device, lines = A.device, lines_of(A.nrows, A.ncols)
        form: Any = A.structure.form(BITMAP)
        values = A.values_for(BITMAP, False)
        if not A.iso:
            array = dense_values(device, lines.places, A.dtype)
            if A.dtype.np_type.kind == "b":
                flags = device.xp.zeros(lines.places, bool)
                flags[form.places()] = values
                array = pack(device, flags)
            else:
                array[form.places()] = values
            values = array
        found = VectorStore(device, lines.places, A.dtype, form.bits, values, form.nvals)
        A.prepared["flat"] = found
    return found


def refusal(nrows: int, ncols: int) -> str:
    """Why there is no bitmap of that shape."""
    return formats.format_of(BITMAP).refusal(nrows, ncols)
