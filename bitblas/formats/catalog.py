"""The list of all stored formats, one line each. Code that needs every format iterates over this list."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from .contract import Format, Layout

if TYPE_CHECKING:
    from .csr.layout import LayoutBuilder

# Class name -> the module with its FORMATS. The class itself, in the folder's layout.py, is imported on first use.
CLASSES = {
    "Csr": "csr.kernels",
    "Mplg": "mplg.layout",
    "B2sr": "b2sr.kernels",
    "Split": "split.kernels",
    "Hyper": "hyper.layout",
    "Nib": "nib.kernels",
    "Cgr": "cgr.kernels",
    "Cr2": "cr2.kernels",
    "Virtual": "virtual.cost",
    "Bitmap": "bitmap.layout",
}
_FORMATS_OF: dict[str, tuple[Format, ...]] = {
    name: importlib.import_module(f".{module}", __package__).FORMATS for name, module in CLASSES.items()
}
FORMATS: dict[str, Format] = {format.key: format for formats in _FORMATS_OF.values() for format in formats}  # by key
_NAMES = {format.key: name for name, formats in _FORMATS_OF.items() for format in formats}
NAMES: tuple[str, ...] = tuple(dict.fromkeys(format.name for format in FORMATS.values()))  # allowed values of `format=`


def format_of(key: str) -> Format:
    """The format with that key. KeyError if there is none."""
    return FORMATS[key]


@functools.cache
def _loaded(name: str) -> type[Layout]:
    return getattr(importlib.import_module(f".{name.lower()}.layout", __package__), name)


def class_of(key: str) -> type[Layout]:
    """The layout class with that key. KeyError if there is none."""
    return _loaded(_NAMES[key])


def forms() -> tuple[type[Layout], ...]:
    """All layout classes."""
    return tuple(map(_loaded, CLASSES))


@functools.cache
def builders() -> dict[str, type[LayoutBuilder]]:
    """By key the builders from bands of rows, of formats that have one."""
    return {key: builder for key in FORMATS if (builder := class_of(key).builder) is not None}


def sizes_of(name: str) -> tuple[int, ...]:
    """The tile sizes of the formats with that name; () if it has none."""
    return tuple(format.tile for format in FORMATS.values() if format.name == name and format.tile is not None)


TILES = tuple(sorted({tile for name in NAMES for tile in sizes_of(name)}))  # of any format


def tiled() -> dict[str, tuple[int, ...]]:
    """Tile sizes by format name, for the names that have any."""
    return {name: sizes for name in NAMES if (sizes := sizes_of(name))}
