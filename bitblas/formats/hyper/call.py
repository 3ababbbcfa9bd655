"""How kernels get hypersparse matrices: products run on the rows within (verbs/hyper.py); who asks for all rows, such
as a loop that is captured, gets plain ones, which are made for it."""

from __future__ import annotations

from ..csr.call import RowsFormat
from .choice import HyperChoice


class HyperFormat(HyperChoice, RowsFormat):
    """What kernels by rows are compiled with."""


FORMATS = (HyperFormat(),)
