"""CUDA C++ for element-wise kernels by words: operations on presence bits process half words of 32 positions, and only
where a value is written or needed does a thread process each position (loop/gpu/pass.cu). In the text, vector 3 is w3
(presence bits) and t3 (truth values, if it is BOOL); `all` is the mask of existing positions.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...operations.variants import BOTH, LEFT
from ..ir import Const, Elementwise, Gather, IsoValues, Masked, Scal, Statement, Term, Vec
from .cuda_statements import CudaText, literal


def runs_by_words(statements: Sequence[Statement], text: CudaText) -> bool:
    """Whether an element-wise kernel only copies entries, or processes few of many positions. Values need memory, which
    vectors local to one kernel do not have."""
    large = positions(statements) >= tuning.count("loop.words_size")
    return all(_is_plain(s, text, large) for s in statements) and not any(
        isinstance(x, Vec) and x.id in text.local and x.id not in text.iso and x.dtype is not BOOL
        for s in statements
        for x in (*s.vectors, s.target)
    )


def positions(statements: Sequence[Statement]) -> int:
    """The number of positions that an element-wise kernel traverses."""
    return max((s.target.size for s in statements if isinstance(s.target, Vec)), default=0)


def computes(statements: Sequence[Statement]) -> bool:
    """Whether an element-wise kernel does more than copy entries."""
    found = (s for s in statements if isinstance(s.target, Vec))
    return any(s.accum is not None or (isinstance(s.value, Elementwise) and s.value.op is not None) for s in found)


def _is_plain(s: Statement, text: CudaText, large: bool) -> bool:
    """Whether masks and presence bits alone determine where a statement has a value; truth values are not read
    singly."""
    e = s.value
    if not isinstance(e, Elementwise) or not all(m is None or m.structure for m in (s.mask, e.under)):
        return False
    if isinstance(s.target, Scal):
        return True
    truths = [x for x in e.terms if isinstance(x, Vec) and x.dtype is BOOL and x.id not in text.iso]
    if e.op is None and s.accum is None:
        return not truths or s.target.dtype is BOOL
    kept = s.accum is not None and s.target.dtype is BOOL
    return large and not truths and not kept and e.mode in (LEFT, BOTH) and s.target.id not in text.iso


def scalar_lines(text: CudaText, statements: Sequence[Statement]) -> list[str]:
    """The statements on scalars, which run before all positions."""
    text.lines = []
    for s in statements:
        if isinstance(s.target, Scal):
            text.statement(s)
    found, text.lines = text.lines, []
    return found


def word_statements(text: CudaText, statements: Sequence[Statement]) -> list[str]:
    """The statements for a half word."""
    lines, held = [], truths(statements, text)
    for s in statements:
        if isinstance(s.target, Vec):
            lines += _statement(text, s, s.target, s.target.dtype is not BOOL or s.target in held)
    return lines


def _statement(text: CudaText, s: Statement, w: Vec, valued: bool) -> list[str]:
    """valued: the values of w are needed."""
    e = s.value
    assert isinstance(e, Elementwise)
    there = f"{_has(text, e.u)} & {_open(text, e.under)}"
    if e.mode == BOTH and e.v is not None:
        there += f" & {_has(text, e.v)}"
    had = _has(text, w)
    lines = [f"{{ const u32 open_here = {_open(text, s.mask)}; u32 here = open_here & {there};"]
    x, dtype = _computed(text, e)
    if e.keep:
        lines.append(f"here = {_kept(text, e, x)};")
        x, dtype = _value(text, e.u), e.u.dtype
    kept = "0u" if s.replace or s.mask is None else f"{had} & ~open_here"
    kept += "" if s.accum is None else f" | ({had} & open_here)"
    nothing = isinstance(e.u, Const) and e.u.value is None
    valued = valued and w.id not in text.iso
    if valued and not nothing and not (e.u == w and (e.op is None or e.keep) and s.accum is None):
        lines += _written(text, s, w, x, dtype)
    if w.id not in text.full:
        lines.append(f"w{w.id} = here | ({kept});")
        if w.dtype is BOOL and valued:
            lines.append(f"t{w.id} &= w{w.id};")
    return [*lines, "(void)here; }"]


def _kept(text: CudaText, e: Elementwise, x: str) -> str:
    """The positions of `here` at which a select keeps the entry. x: its condition."""
    u, v = e.u, e.u if e.v is None else e.v
    loads = isinstance(u, Vec) and u.id not in text.iso and u.dtype is not BOOL
    if not isinstance(u, Vec) or not loads or u.dtype.np_type.itemsize > 1 or isinstance(v, Vec):
        return f"kept_half(here, mine, [&](i64 p) {{ return (bool){x}; }})"
    f, _ = text.operator_function(e, u.dtype, text.term(v)[2])
    own = f"[&](i64 p, {u.dtype.c_type} x) {{ return (bool){f}(x, {_value(text, v)}, p, i64(0)); }}"
    return f"kept_bytes(here, mine, size, x{u.id}_val, {own})"


def _written(text: CudaText, s: Statement, w: Vec, x: str, dtype: DataType) -> list[str]:
    """Write the value x at the positions of `here`."""
    e, c = s.value, w.dtype.c_type
    assert isinstance(e, Elementwise)
    if w.dtype is BOOL:
        one = e.op is None and (not isinstance(e.u, Vec) or e.u.id in text.iso)
        word = f"kept_half(here, mine, [&](i64 p) {{ return cast<bool>({x}); }})"
        if e.op is None and isinstance(e.u, Vec) and e.u.dtype is BOOL and not one:
            word = f"(here & t{e.u.id})"
        elif one:
            word = f"(cast<bool>({x}) ? here : 0u)"
        return [f"t{w.id} = (t{w.id} & ~here) | {word};"]
    text.values(w, written=True)
    at = f"x{w.id}_val[p]"
    fill = lambda here, value: (
        f"fill_half({here}, mine, [&](i64 p) {{ (void)p; const {dtype.c_type} t = {x}; return {value}; }}, "
        f"[&](i64 p, {c} x) {{ {at} = x; }});"
    )
    if s.accum is None:
        return [fill("here", f"cast<{c}>(t)")]
    had = _has(text, w)
    joined = fill(f"here & {had}", text.accumulated(s.accum, w.dtype, dtype, at))
    return [joined, fill(f"here & ~{had}", f"cast<{c}>(t)")]


def _computed(text: CudaText, e: Elementwise) -> tuple[str, DataType]:
    """The value of an operation at position p, and its type."""
    if e.op is None:
        return _value(text, e.u), text.term(e.u)[2]
    v = e.u if e.v is None else e.v
    f, result = text.operator_function(e, text.term(e.u)[2], text.term(v)[2])
    return f"{f}({_value(text, e.u)}, {_value(text, v)}, p, i64(0))", result


def _value(text: CudaText, t: Term) -> str:
    """The value of an operand at position p."""
    if not isinstance(t, Vec):
        return text.term(t)[1]
    if t.id in text.iso:
        return literal(t.dtype, text.iso[t.id])
    if t.dtype is not BOOL and t.id not in text.local:
        text.values(t)
    return f"x{t.id}_val[p]"


def _has(text: CudaText, t: Term) -> str:
    """The mask of positions where an operand has an entry."""
    if isinstance(t, Vec):
        return "all" if t.id in text.full else f"w{t.id}"
    has = text.term(t)[0]
    return "all" if has == "true" else "0u" if has == "false" else f"({has} ? all : 0u)"


def _open(text: CudaText, mask: Masked | None) -> str:
    """The mask of positions where a mask is open."""
    if mask is None:
        return "all"
    has = _has(text, mask.vec)
    return f"(all & ~{has})" if mask.complement else has


def laziness(
    statements: Sequence[Statement], iso: IsoValues, local: frozenset[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """First, the vectors whose values are read only where statements need them: those that are read only under masks or
    jointly with others, and are written by at most one statement, which accumulates into them. Second, those whose
    values are written only where they have changed."""
    vectors = {x for s in statements for x in (*s.vectors, *([s.written] if s.written else ()))}
    stored = {x for x in vectors if x.id not in iso and x.id not in local and x.dtype is not BOOL}
    ready = {s.target for s in statements if not isinstance(s.value, (Elementwise, Gather))}
    flagged = frozenset(x.id for x in stored if x not in ready and any(s.written == x for s in statements))
    lazy = frozenset(x.id for x in stored - ready if _is_lazy(x, statements))
    return lazy, flagged


def _is_lazy(x: Vec, statements: Sequence[Statement]) -> bool:
    writes = [s for s in statements if s.written == x]
    for s in statements:
        e, mask = s.value, s.mask
        read = isinstance(e, Elementwise) and x in e.terms
        if mask is not None and mask.vec == x and not mask.structure:
            return False
        if s.written == x:
            if read or s.accum is None or len(writes) > 1:
                return False
        elif writes and read:
            return False
        if x in s.vectors and not isinstance(e, Elementwise):
            return False
        narrowed = (mask is not None and not mask.complement) or (isinstance(e, Elementwise) and e.mode == BOTH)
        if (read or s.written == x) and not narrowed:
            return False
        if isinstance(e, Elementwise) and e.under is not None and e.under.vec == x and not e.under.structure:
            return False
    return True


def truths(statements: Sequence[Statement], text: CudaText) -> set[Vec]:
    """The vectors of which a kernel by words loads truth values: those that it reads, or writes for other kernels."""
    read = {x for s in statements if isinstance(s.value, Elementwise) for x in s.value.terms if isinstance(x, Vec)}
    return read | {s.target for s in statements if isinstance(s.target, Vec) and s.target.id not in text.local}


def half_words(
    text: CudaText, vectors: Sequence[Vec], modified: set[Vec], held: Container[Vec]
) -> tuple[list[str], list[str]]:
    """The loads and stores of the half words that a lane holds: bits and, for those of `held`, truth values."""
    loads: list[str] = []
    stores: list[str] = []
    for x in vectors:
        if x.id not in text.full:
            _word(text, x, "w", "bits", x in modified, loads, stores)
        if x.dtype is BOOL and x.id not in text.iso and x in held:
            _word(text, x, "t", "val", x in modified, loads, stores)
    return loads, stores


def _word(text: CudaText, x: Vec, name: str, kind: str, modified: bool, loads: list[str], stores: list[str]) -> None:
    local = x.id in text.local
    if not local:
        (text.bits if kind == "bits" else text.values)(x, written=modified)
    found = "0u" if local else f"held ? ((const u32*)x{x.id}_{kind})[mine] : 0u"
    loads.append(f"u32 {name}{x.id} = {found}; (void){name}{x.id};")
    if modified and not local:
        stores.append(f"((u32*)x{x.id}_{kind})[mine] = {name}{x.id};")
