"""Kernel arguments of virtual nodes.

Products with vectors run on the graph that has them (verbs/virtual.py); kernels that need all rows get plain ones,
which are built for them.
"""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import VirtualChoice


class VirtualFormat(VirtualChoice, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (VirtualFormat(),)
