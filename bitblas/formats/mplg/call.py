"""How kernels get packed rows: as csr/call.py says, with PACKED (csr/columns.cuh: on a walk through a row;
csr/any_column.cuh: of any entry)."""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import PackedChoice


class PackedFormat(PackedChoice, RowsFormat):
    """What kernels by rows of packed columns are compiled with."""


FORMATS = (PackedFormat(),)
