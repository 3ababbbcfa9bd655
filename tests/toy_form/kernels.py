"""Kernels on lists: as on rows, whose pointers are built for them."""

from __future__ import annotations

from ..csr.kernels import RowsFormat
from .cost import ToyChoice


class ToyFormat(ToyChoice, RowsFormat):
    """What kernels by rows are compiled with."""


FORMATS = (ToyFormat(),)
