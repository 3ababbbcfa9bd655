"""Stored forms. A form holds structure, never arithmetic; one folder = one form.

contract.py and choice.py say what each offers, catalog.py which there are. structure.py holds the forms of one matrix,
convert.py makes one of another. Values never lie in a form: orders say where the value of each entry lies.
"""

from __future__ import annotations

from .catalog import FORMATS, NAMES, TILES, class_of, format_of, forms, sizes_of, tiled
from .choice import Dot, Format, Listing, Seen
from .contract import CSR, EVERYWHERE, Form, Region
from .convert import restored
from .hubs import Hubs, longest_unit
from .structure import Structure

__all__ = [
    "CSR",
    "EVERYWHERE",
    "FORMATS",
    "NAMES",
    "TILES",
    "Dot",
    "Form",
    "Format",
    "Hubs",
    "Listing",
    "Region",
    "Seen",
    "Structure",
    "class_of",
    "format_of",
    "forms",
    "longest_unit",
    "restored",
    "sizes_of",
    "tiled",
]  # fmt: skip
