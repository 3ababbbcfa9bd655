"""Kernel arguments of hypersparse matrices. Products run on the rows inside (operations/hypersparse.py).

Code that needs all rows, such as a captured loop, gets plain ones, which are built for it.
"""

from __future__ import annotations

from ..csr.kernels import RowsFormat
from .cost import HyperCost


class HyperFormat(HyperCost, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (HyperFormat(),)
