"""How kernels get bitmaps: those of this folder their lines, all others plain rows, which are made for them."""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import BitmapChoice


class BitmapFormat(BitmapChoice, RowsFormat):
    """What kernels by rows are compiled with."""


FORMATS = (BitmapFormat(),)
