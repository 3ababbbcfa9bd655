"""CUDA C++ for passes that move entries and compute none: what they do to presence bits is done to half words of 32
positions, and values are written where entries are (loop/gpu/pass.cu). Vector 3 has the names w3, its presence bits, and
t3, its truth values where it is BOOL; `all` are the positions that there are."""

from __future__ import annotations

from collections.abc import Sequence

from semirings.dtypes import BOOL

from ..recorded.ir import Const, Masked, Pointwise, Scal, Statement, Term, Vec
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


__all__ = ["by_words", "go_by_words", "scalar_lines"]
