"""Stored layouts of sparse matrices, one folder per format: CSR, packed, nibble gaps, CGR, bit tiles and others.
A layout holds structure only, no values and no arithmetic.

contract.py defines the interfaces, catalog.py lists the formats, and structure.py keeps the layouts of one matrix.
Values are stored apart: an order gives the position of each entry's value.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .contract import CSR, EVERYWHERE, DotArguments, Format, ItemCounts, Layout, Region, StructureFacts
from .schedule import Hubs, longest_unit
from .structure import Structure, restored

if TYPE_CHECKING:
    from .catalog import FORMATS, NAMES, TILES, class_of, format_of, forms, sizes_of, tiled

__all__ = [
    "CSR",
    "EVERYWHERE",
    "FORMATS",
    "NAMES",
    "TILES",
    "DotArguments",
    "Format",
    "Hubs",
    "ItemCounts",
    "Layout",
    "Region",
    "Structure",
    "StructureFacts",
    "class_of",
    "format_of",
    "forms",
    "longest_unit",
    "restored",
    "sizes_of",
    "tiled",
]


def __getattr__(name: str) -> object:
    # The formats are imported on first use.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.catalog"), name)
    globals()[name] = found
    return found
