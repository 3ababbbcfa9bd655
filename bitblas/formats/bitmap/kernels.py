"""Kernel arguments of bitmaps.

This folder's kernels read lines; all others get plain rows, which are built for them.
"""

from __future__ import annotations

from ..csr.kernels import RowsFormat
from .cost import BitmapCost


class BitmapFormat(BitmapCost, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (BitmapFormat(),)
