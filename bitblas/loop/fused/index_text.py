"""CUDA C++ for statements that gather or scatter through index vectors (indexed.cuh)."""

from __future__ import annotations

from typing import Any

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from ...kernels.prologue import cpp_literal, sum_of, value
from ...verbs.variants import ATOMICS, beginning
from ..recorded.ir import Gather, Scatter, Vec


def literal(dtype: DataType, x: Any) -> str:
    """A value as an exact C++ constant."""
    return cpp_literal(dtype, value("x", dtype, x)[2])


def beginning_text(monoid: Typed, dtype: DataType) -> str:
    """The initial value of a cell, before anything is accumulated into it."""
    return literal(dtype, beginning(monoid.op, dtype) if monoid.op.name != "any" else dtype.np_type.type(0))


def gather_text(text: Any, e: Gather) -> tuple[str, str, str]:
    """The text before the access, the condition that there is an entry, and its value."""
    x, i = e.source, e.index
    signed = "true" if i.dtype.kind == "i" else "false"
    text.parameter("i64* faults", "faults")
    text.parameter(f"i64 size{x.id}", "size", x.id)  # not in the text, because the text is the cache key
    before = (
        f"tell_missing(open_here && !b{i.id}, faults, {e.number}); "
        f"const i64 at = place_of(open_here && b{i.id}, (i64)v{i.id}, size{x.id}, {signed}, faults, {e.number}); "
    )
    has = "at >= 0"
    if x.id not in text.full:
        text.bits(x)
        has += f" && bit_of(x{x.id}_bits, at)"
    if x.id in text.iso:
        return before, f"({has})", literal(x.dtype, text.iso[x.id])
    text.values(x)
    return before, f"({has})", f"bit_of(x{x.id}_val, at)" if x.dtype is BOOL else f"x{x.id}_val[at]"


def scatter_text(text: Any, w: Vec, e: Scatter) -> str:
    """Combine the entry of a position into the target at its index."""
    text.parameter("i64* faults", "faults")
    text.parameter(f"i64 size{w.id}", "size", w.id)
    there = "inside" if e.where is None else f"inside && b{e.where.id}"
    missing = "".join(f" || !b{x.id}" for x in e.full if x.id not in text.full)
    lines = [f"const bool there = {there};"]
    if missing:
        lines.append(f"tell_missing(there && (false{missing}), faults, {e.number});")
    usable = f"there && !(false{missing})" if missing else "there"
    index = "p" if e.index is None else f"(i64)v{e.index.id}"
    lines.append(f"const i64 at = place_of({usable}, {index}, size{w.id}, false, faults, {e.number});")
    _, u, _ = ("", "u64(p)", None) if e.u is None else text.term(e.u)
    text.values(w, written=True)
    join = _join(text, w, e.monoid, f"cast<{w.dtype.c_type}>({u})")
    if w.id not in text.full:
        text.bits(w, written=True)
        bits = f"x{w.id}_bits"
        if e.monoid.op.name == "any":
            join = f"if (!bit_now({bits}, at) && mark_bit({bits}, at)) {{ {join} }}"
        else:
            join += f" if (!bit_now({bits}, at)) set_bit({bits}, at);"
    elif e.monoid.op.name == "any":
        join = ""
    return f"{{ {' '.join(lines)} if (at >= 0) {{ {join} }} }}"


def _join(text: Any, w: Vec, monoid: Typed, x: str) -> str:
    """Combine x into the cell at `at`."""
    name, val = monoid.op.name, f"x{w.id}_val"
    if w.dtype is BOOL:
        return f"if (!({x})) clear_bit({val}, at);" if name == "land" else f"if ({x}) set_bit({val}, at);"
    if name == "any":
        return f"{val}[at] = {x};"
    if name in ATOMICS and w.dtype.kind in "iu":
        return f"join_{name}({val} + at, {x});"
    add = text.function(sum_of(monoid.op, w.dtype)[0][0])
    c = w.dtype.c_type
    return f"join_any_order({val} + at, {x}, [](const {c} x, const {c} y) {{ return {add}(x, y); }});"


__all__ = ["beginning_text", "gather_text", "literal", "scatter_text"]
