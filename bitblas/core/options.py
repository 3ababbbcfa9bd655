"""`**opts`: the descriptor options of SuiteSparse:GraphBLAS that python-graphblas passes on, one name each."""

from __future__ import annotations

from typing import Any

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
