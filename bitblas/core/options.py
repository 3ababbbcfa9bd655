"""Storage options of a Matrix, and `**opts`: the SuiteSparse:GraphBLAS descriptor options of python-graphblas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .. import formats, plan


class StorageOptions(NamedTuple):
    """The requested storage. packed: of values that differ; None: the planner decides."""

    format: str = "auto"
    tile: int | None = None
    packed: bool | None = None

    @property
    def asks(self) -> bool:
        """Whether a format is requested."""
        return self.format != "auto"


AUTO = StorageOptions()


def either(choices: Iterable[object]) -> str:
    """Choices in words: "4, 8 or 16"."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def check_storage_options(format: str | None, tile: int | None, packed: bool | None = None) -> StorageOptions:
    """The options of a constructor; ValueError for an unknown choice."""
    if format is None and tile is None and packed is None:
        return AUTO
    if format is not None and format not in plan.format_choice.FORMATS:
        raise ValueError(f"format: expected one of {', '.join(map(repr, plan.format_choice.FORMATS))}, got {format!r}")
    if tile is not None and tile not in formats.sizes_of(format or ""):
        expected = ", ".join(f"{either(sizes)} with format={name!r}" for name, sizes in formats.tiled().items())
        raise ValueError(f"tile: expected {expected}, got {tile!r} with format={format!r}")
    if packed is not None and not isinstance(packed, bool):
        raise ValueError(f"packed: expected True, False or None (as config.prefer says), got {packed!r}")
    requested = StorageOptions(format or "auto", tile, packed)
    return AUTO if requested == AUTO else requested


# Name -> the allowed values; none are listed if any number or text is allowed.
KNOWN: dict[str, tuple[object, ...]] = {
    "nthreads": (),
    "chunk": (),
    "axb_method": ("default", "gustavson", "dot", "hash", "saxpy"),
    "sort": (False, True),
    "secure_import": (False, True),
    "compression": (),
    "compression_level": (),
}


def check_wait(how: str) -> None:
    """ValueError unless `how` is one of the two words of the C API, which are equivalent here."""
    if how.lower() not in ("materialize", "complete"):
        raise ValueError(f"how: expected 'materialize' or 'complete', got {how!r}")


def check_options(opts: Mapping[str, object]) -> None:
    """Hints to SuiteSparse are accepted, in any letter case, and ignored. ValueError for an unknown name, an unknown
    value, or a name given twice."""
    seen = set()
    for option, value in opts.items():
        name = option.lower()
        if name not in KNOWN:
            known = ", ".join(KNOWN)
            raise ValueError(f"descriptor option: expected one of {known} (hints that bitblas ignores), got {option!r}")
        if name in seen:
            raise ValueError(f"descriptor option: expected {name} once, got it twice")
        if KNOWN[name] and value is not None and not any(value is x or value == x for x in KNOWN[name]):
            raise ValueError(f"{option}: expected one of {', '.join(map(str, KNOWN[name]))}, got {value!r}")
        seen.add(name)
