"""How kernels get virtual nodes: products with vectors run on the graph that has them (verbs/virtual.py); who asks for
all rows gets plain ones, which are made for it."""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import VirtualChoice


class VirtualFormat(VirtualChoice, RowsFormat):
    """What kernels by rows are compiled with."""


FORMATS = (VirtualFormat(),)
