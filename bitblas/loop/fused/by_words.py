"""CUDA C++ for passes that move entries and compute none: what they do to presence bits is done to half words of 32
positions, and values are written where entries are (loop/gpu/pass.cu). Vector 3 has the names w3, its presence bits,
and t3, its truth values where it is BOOL; `all` are the positions that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semirings.dtypes import BOOL

from ...verbs.variants import BOTH
from ..recorded.ir import Const, Gather, Masked, Pointwise, Scal, Statement, Term, Vec
from .index_text import literal
from .pointwise import Text


def go_by_words(statements: Sequence[Statement], text: Text) -> bool:
    """Whether a pass does nothing else. Values need memory, which vectors of one pass have not."""
    return all(map(_is_plain, statements)) and not any(
        isinstance(x, Vec) and x.id in text.local and x.id not in text.iso and x.dtype is not BOOL
        for s in statements for x in (*s.vectors, s.target)
    )  # fmt: skip


def _is_plain(s: Statement) -> bool:
    """Whether a statement copies or takes away what is there, and computes nothing but scalars."""
    e = s.value
    if not isinstance(e, Pointwise):
        return False
    if isinstance(s.target, Scal):
        return True
    plain = e.op is None and s.accum is None and all(m is None or m.structure for m in (s.mask, e.under))
    truths = isinstance(e.u, Vec) and BOOL in (e.u.dtype, s.target.dtype) and e.u.dtype is not s.target.dtype
    return plain and not truths


def scalar_lines(text: Text, statements: Sequence[Statement]) -> list[str]:
    """What is done to scalars, before all positions."""
    text.lines = []
    for s in statements:
        if isinstance(s.target, Scal):
            text.statement(s)
    found, text.lines = text.lines, []
    return found


def by_words(text: Text, statements: Sequence[Statement]) -> list[str]:
    """What is done to a half word."""
    lines = []
    for s in statements:
        if isinstance(s.target, Vec):
            lines += _statement(text, s, s.target)
    return lines


def _statement(text: Text, s: Statement, w: Vec) -> list[str]:
    e = s.value
    assert isinstance(e, Pointwise)
    there = f"{_has(text, e.u)} & {_open(text, e.under)}"
    kept = "0u" if s.replace else f"{_has(text, w)} & ~open_here"
    lines = [f"{{ const u32 open_here = {_open(text, s.mask)}, here = open_here & {there};"]
    if w.id not in text.iso and e.u != w and not (isinstance(e.u, Const) and e.u.value is None):
        lines.append(_values(text, w, e.u))
    if w.id not in text.full:
        lines.append(f"w{w.id} = here | ({kept});")
        if w.dtype is BOOL and w.id not in text.iso:
            lines.append(f"t{w.id} &= w{w.id};")
    return [*lines, "(void)here; }"]


def _values(text: Text, w: Vec, u: Term) -> str:
    """The value of u at the positions of `here`."""
    own = isinstance(u, Vec) and u.id not in text.iso  # a value at each position
    if isinstance(u, Vec):
        value = f"x{u.id}_val[p]" if own else literal(u.dtype, text.iso[u.id])
    else:
        value = text.term(u)[1]
    if w.dtype is BOOL:
        word = f"t{u.id}" if isinstance(u, Vec) and own else f"(cast<bool>({value}) ? ~0u : 0u)"
        return f"t{w.id} = (t{w.id} & ~here) | (here & {word});"
    c, at = w.dtype.c_type, f"x{w.id}_val[p]"
    for x in (w, u):
        if isinstance(x, Vec) and x.id not in text.iso and x.id not in text.local:
            text.values(x, written=x == w)
    return (
        f"fill_half(here, mine, [&](i64 p) {{ (void)p; return cast<{c}>({value}); }}, "
        f"[&](i64 p, {c} x) {{ {at} = x; }});"
    )


def _has(text: Text, t: Term) -> str:
    """The positions where an operand has an entry."""
    if isinstance(t, Vec):
        return "all" if t.id in text.full else f"w{t.id}"
    has = text.term(t)[0]
    return "all" if has == "true" else "0u" if has == "false" else f"({has} ? all : 0u)"


def _open(text: Text, mask: Masked | None) -> str:
    """The positions where a mask is open."""
    if mask is None:
        return "all"
    has = _has(text, mask.vec)
    return f"(all & ~{has})" if mask.complement else has


def laziness(
    statements: Sequence[Statement], iso: Mapping[int, Any], local: frozenset[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """The vectors whose values are read where statements need them: such as are looked at under masks or beside others
    alone, and not written but by one statement that adds to them. And those whose values are written where they have
    changed."""
    vectors = {x for s in statements for x in (*s.vectors, *([s.written] if s.written else ()))}
    stored = {x for x in vectors if x.id not in iso and x.id not in local and x.dtype is not BOOL}
    ready = {s.target for s in statements if not isinstance(s.value, (Pointwise, Gather))}
    noted = frozenset(x.id for x in stored if x not in ready and any(s.written == x for s in statements))
    lazy = frozenset(x.id for x in stored - ready if _is_lazy(x, statements))
    return lazy, noted


def _is_lazy(x: Vec, statements: Sequence[Statement]) -> bool:
    writes = [s for s in statements if s.written == x]
    for s in statements:
        e, mask = s.value, s.mask
        read = isinstance(e, Pointwise) and x in e.terms
        if mask is not None and mask.vec == x and not mask.structure:
            return False
        if s.written == x:
            if read or s.accum is None or len(writes) > 1:
                return False
        elif writes and read:
            return False
        if x in s.vectors and not isinstance(e, Pointwise):
            return False
        narrowed = (mask is not None and not mask.complement) or (isinstance(e, Pointwise) and e.mode == BOTH)
        if (read or s.written == x) and not narrowed:
            return False
        if isinstance(e, Pointwise) and e.under is not None and e.under.vec == x and not e.under.structure:
            return False
    return True


def half_words(text: Text, vectors: Sequence[Vec], modified: set[Vec]) -> tuple[list[str], list[str]]:
    """The half words that a lane holds of vectors, bits and truth values: loaded, and stored."""
    loads: list[str] = []
    stores: list[str] = []
    for x in vectors:
        if x.id not in text.full:
            _word(text, x, "w", "bits", x in modified, loads, stores)
        if x.dtype is BOOL and x.id not in text.iso:
            _word(text, x, "t", "val", x in modified, loads, stores)
    return loads, stores


def _word(text: Text, x: Vec, name: str, kind: str, modified: bool, loads: list[str], stores: list[str]) -> None:
    local = x.id in text.local
    if not local:
        (text.bits if kind == "bits" else text.values)(x, written=modified)
    found = "0u" if local else f"held ? ((const u32*)x{x.id}_{kind})[mine] : 0u"
    loads.append(f"u32 {name}{x.id} = {found}; (void){name}{x.id};")
    if modified and not local:
        stores.append(f"((u32*)x{x.id}_{kind})[mine] = {name}{x.id};")


__all__ = ["by_words", "go_by_words", "half_words", "laziness", "scalar_lines"]
