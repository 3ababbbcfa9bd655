"""All stored forms: one line each. What is there twice, in arrays and in words, iterates over these."""

from __future__ import annotations

from .b2sr.format import B2sr
from .bitmap.format import Bitmap
from .cgr.format import Cgr
from .choice import Format
from .contract import Form
from .csr.format import Csr
from .hyper.format import Hyper
from .mplg.format import Mplg
from .nib.format import Nib
from .split.format import Split
from .virtual.format import Virtual

FORMS: tuple[type[Form], ...] = (Csr, Mplg, B2sr, Split, Hyper, Nib, Cgr, Virtual, Bitmap)

FORMATS: dict[str, Format] = {format.key: format for form in FORMS for format in form.formats}  # by key
_CLASSES = {format.key: form for form in FORMS for format in form.formats}
NAMES = tuple(dict.fromkeys(format.name for format in FORMATS.values()))  # what `format=` may ask for


def format_of(key: str) -> Format:
    """The format of that key. KeyError where there is none."""
    return FORMATS[key]


def class_of(key: str) -> type[Form]:
    """The class of the forms of that key."""
    return _CLASSES[key]


def sizes_of(name: str) -> tuple[int, ...]:
    """The tiles that may be asked for with that name; () where it has none."""
    return tuple(format.tile for format in FORMATS.values() if format.name == name and format.tile is not None)


TILES = tuple(sorted({tile for name in NAMES for tile in sizes_of(name)}))  # of any form


def tiled() -> dict[str, tuple[int, ...]]:
    """The names with tiles, and these."""
    return {name: sizes for name in NAMES if (sizes := sizes_of(name))}
