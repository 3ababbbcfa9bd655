"""The user-defined types of programs, and functions of their values: on both libraries under the same names.

python-graphblas has those that give a number, or one of their operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PAIR = np.dtype([("x", "<i8"), ("y", "<f8")])
TRIPLE = np.dtype((np.int32, (3,)))


def lower(a: Any, b: Any) -> Any:
    return a if a["x"] < b["x"] or (a["x"] == b["x"] and a["y"] <= b["y"]) else b


def dot(a: Any, b: Any) -> Any:
    return a["x"] * b["x"] + a["y"] * b["y"]


def left(a: Any) -> Any:
    return a["x"]


def registered(gb: Any) -> None:
    """In a library, once."""
    if hasattr(gb.dtypes, "Pair"):
        return
    gb.dtypes.register_new("Pair", PAIR)
    gb.dtypes.register_new("Triple", TRIPLE)
    gb.unary.register_new("fuzz.left", left, is_udt=True)
    binary = {f.__name__: gb.binary.register_new(f"fuzz.{f.__name__}", f, is_udt=True) for f in (lower, dot)}
    gb.semiring.register_new("fuzz.plus_dot", gb.monoid.plus, binary["dot"])
    least = gb.monoid.register_new("fuzz.least", binary["lower"], (1 << 62, float("inf")))
    gb.semiring.register_new("fuzz.least_lower", least, binary["lower"])
    gb.semiring.register_new("fuzz.least_first", least, gb.binary.first)
