"""Kernel arguments of bitmaps.

This folder's kernels read lines; all others get plain rows, which are built for them.
"""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import BitmapChoice


class BitmapFormat(BitmapChoice, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (BitmapFormat(),)
