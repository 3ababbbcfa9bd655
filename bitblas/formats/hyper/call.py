"""Kernel arguments of hypersparse matrices. Products run on the rows inside (verbs/hyper.py).

Code that needs all rows, such as a captured loop, gets plain ones, which are built for it.
"""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import HyperChoice


class HyperFormat(HyperChoice, RowsFormat):
    """Compiled like kernels by rows."""


FORMATS = (HyperFormat(),)
