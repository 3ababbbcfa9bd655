"""CUDA C++ for the loads of an element-wise kernel before its statements at a position, and its stores (pass.cu)."""

from __future__ import annotations

from collections.abc import Sequence

from semirings.dtypes import BOOL

from ..recorded.ir import Gather, Ready, Statement, Vec
from .pointwise import Text, literal


def load_text(text: Text, x: Vec, written: bool, inside: str, *, at_once: bool = False) -> list[str]:
    """Load a vector's bit and value at position p. at_once: load the value without waiting for the bit, if latency
    matters more than the bytes read."""
    c = x.dtype.c_type
    bit, value = _loaded(text, x, written, inside, held=False)
    const = "const " if x.id in text.iso else ""
    if at_once and value is not None and x.id not in text.iso and x.id not in text.local:
        return [
            f"const {c} any{x.id} = {_element(x)};", f"bool b{x.id} = {bit}; (void)b{x.id};",
            f"{c} v{x.id} = b{x.id} ? any{x.id} : cast<{c}>(0); (void)v{x.id};",
        ]  # fmt: skip
    value = f"cast<{c}>(0)" if value is None else value
    return [f"bool b{x.id} = {bit}; (void)b{x.id};", f"{const}{c} v{x.id} = {value}; (void)v{x.id};"]


def _element(x: Vec) -> str:
    return f"bit_now(x{x.id}_val, p)" if x.dtype is BOOL else f"x{x.id}_val[p]"


def _loaded(text: Text, x: Vec, written: bool, inside: str, *, held: bool) -> tuple[str, str | None]:
    """Whether a vector has an entry at position p, and its value (None if it is not needed). held: bits are taken from
    half words that lanes hold."""
    c, local = x.dtype.c_type, x.id in text.local
    bit = lambda name: f"(__shfl_sync(ALL_LANES, {name}{x.id}, owner) >> at & 1u)"
    if local or x.id in text.full:
        has = "false" if local else inside
    elif held:
        has = f"{bit('w')} != 0 && {inside}"
    else:
        text.bits(x, written=written)
        has = f"{inside} && bit_now(x{x.id}_bits, p)"
    if x.id in text.iso:
        return has, literal(x.dtype, text.iso[x.id])
    if local:
        return has, f"cast<{c}>(0)"
    if held and x.dtype is BOOL:
        return has, f"{bit('t')} != 0 && b{x.id}"
    text.values(x, written=written)
    return has, None if x.id in text.lazy else f"b{x.id} ? {_element(x)} : cast<{c}>(0)"


class Loads:
    """The loads of an element-wise kernel before its statements at a position. names: of loaded values, for several
    positions at once (`here`, with `members`). loads: their text. own: names without memory. stores: run afterwards."""

    def __init__(self, text: Text, statements: Sequence[Statement], vectors: Sequence[Vec], modified: set[Vec]) -> None:
        self.members: list[str] = []
        self.names: list[str] = []
        self.loads: list[str] = []
        self.own: list[str] = []
        self.stores: list[str] = []
        self.words = 2 * sum(isinstance(s.value, Gather) for s in statements)  # registers per position
        unread = _unread(statements)
        for x in vectors:
            self._load(text, x, x in modified, x in unread and x.id in text.noted)
            if x in modified and x.id not in text.local:
                self._store(text, x, any(s.target == x and isinstance(s.value, Ready) for s in statements))

    def _load(self, text: Text, x: Vec, written: bool, unread: bool) -> None:
        c = x.dtype.c_type
        has, value = _loaded(text, x, written, "inside", held=True)
        own = [f"bool b{x.id} = {has}; (void)b{x.id};"] if x.id in text.local else []
        if not own:
            self._name("bool", f"b{x.id}", has)
        if value is None or x.id in text.iso or x.id in text.local or unread:
            const = "const " if x.id in text.iso else ""
            own.append(f"{const}{c} v{x.id} = {f'cast<{c}>(0)' if value is None or unread else value}; (void)v{x.id};")
        else:
            self._name(c, f"v{x.id}", value)
            self.words += -(-x.dtype.np_type.itemsize // 4)
        self.own += own

    def _name(self, c: str, name: str, value: str) -> None:
        self.members.append(f"{c} {name};")
        self.names.append(f"{c}& {name} = here.{name}; (void){name};")
        self.loads.append(f"{name} = {value};")

    def _store(self, text: Text, x: Vec, ready: bool) -> None:
        has = "inside" if ready else f"b{x.id}"
        if x.id not in text.full:
            self.stores.append(f"put_bits(w{x.id}, owner, at, few, b{x.id});")
        if x.id in text.iso:
            return
        if x.dtype is BOOL:
            self.stores.append(f"put_bits(t{x.id}, owner, at, few, {has} && v{x.id});")
            return
        self.own += [f"bool d{x.id} = false;"] * (x.id in text.noted)
        has = f"d{x.id}" if x.id in text.noted else has
        self.stores.append(f"if ({has}) x{x.id}_val[p] = v{x.id};")


def _unread(statements: Sequence[Statement]) -> set[Vec]:
    """The vectors that a kernel writes at every position before it reads them."""
    seen: set[Vec] = set()
    found: set[Vec] = set()
    for s in statements:
        seen.update(s.vectors)
        if s.written is not None and s.overwrites and s.written not in seen:
            found.add(s.written)
        seen.update(x for x in (s.written, *s.elsewhere) if x is not None)
    return found


__all__ = ["Loads", "load_text"]
