"""How a Matrix is to be stored; and `**opts`: the descriptor options of SuiteSparse:GraphBLAS that python-graphblas
passes on, one name each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..formats import sizes_of, tiled
from ..plan.forms import FORMATS


class Layout(NamedTuple):
    """What is asked for. packed: of values that differ; None: as the plan says."""

    format: str = "auto"
    tile: int | None = None
    packed: bool | None = None

    @property
    def asks(self) -> bool:
        """Whether a form is asked for."""
        return self.format != "auto"


AUTO = Layout()


def either(choices: Iterable[object]) -> str:
    """Choices in words: "4, 8 or 16"."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def check_layout(format: str | None, tile: int | None, packed: bool | None = None) -> Layout:
    """The options of a constructor; ValueError for what is none of the choices."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    if tile is not None and tile not in sizes_of(format or ""):
        expected = ", ".join(f"{either(sizes)} with format={name!r}" for name, sizes in tiled().items())
        raise ValueError(f"tile: expected {expected}, got {tile!r} with format={format!r}")
    if packed is not None and not isinstance(packed, bool):
        raise ValueError(f"packed: expected True, False or None (as config.prefer says), got {packed!r}")
    return Layout(format or "auto", tile, packed)


KNOWN = ("nthreads", "chunk", "axb_method", "sort", "secure_import", "compression", "compression_level")


def check_wait(how: str) -> None:
    """ValueError unless `how` is one of the two words of the C API: here they mean the same."""
    if how.lower() not in ("materialize", "complete"):
        raise ValueError(f"how: expected 'materialize' or 'complete', got {how!r}")


def check_options(opts: dict[str, Any]) -> None:
    """Hints to SuiteSparse are accepted and change nothing here; an unknown name raises ValueError."""
    for name in opts:
        if name not in KNOWN:
            raise ValueError(f"opts: expected one of {', '.join(KNOWN)} (hints that bitblas ignores), got {name!r}")
