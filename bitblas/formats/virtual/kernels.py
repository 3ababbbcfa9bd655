"""Kernel arguments of virtual nodes.

Products with vectors run on the graph that has them (operations/virtual_nodes.py); kernels that need all rows get plain
ones, which are built for them.
"""

from __future__ import annotations

from ..csr.kernels import RowsFormat
from .cost import VirtualCost


class VirtualFormat(VirtualCost, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (VirtualFormat(),)
