"""Kernel arguments of packed rows.

As in csr/kernels.py, with PACKED (csr/columns.cuh for walks through a row, csr/any_column.cuh for single entries).
"""

from __future__ import annotations

from ..csr.kernels import RowsFormat
from .cost import PackedCost


class PackedFormat(PackedCost, RowsFormat):
    """Compile-time constants of kernels by rows with packed columns."""


FORMATS = (PackedFormat(),)
