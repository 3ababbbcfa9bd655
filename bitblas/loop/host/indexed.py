"""Numba Python for statements that gather or scatter through index vectors, the CPU's counterpart of
loop/fused/index_text.py. Positions are processed one after the other."""

from __future__ import annotations

from semirings import Typed
from semirings.dtypes import BOOL, INT64

from ...kernels.prologue import sum_of
from ...verbs.variants import beginning
from ..recorded.ir import Gather, Ready, Scatter, Statement, Vec
from .text import Text
from .words import both, outside


def begin(text: Text, s: Statement) -> None:
    """Initialize the cells of a scatter: the monoid's identity where there is no entry."""
    w, e = s.target, s.value
    assert isinstance(w, Vec) and isinstance(e, Ready)
    dtype = w.dtype
    first = beginning(e.monoid.op, dtype) if e.monoid.op.name != "any" else dtype.np_type.type(0)
    missing = text.named(outside(text.has(w)))
    if dtype is BOOL:
        text.lines.append(f"t{w.id} = (t{w.id} & ~{missing}) | {missing if first else 'ZERO'}")
    else:
        text.loop(missing, [f"put({text.place(w)}, {text.literal(dtype, first)})"])


def gather(text: Text, s: Statement) -> None:
    """The text of target(mask, ..) << source[index]."""
    e, w = s.value, s.target
    assert isinstance(e, Gather) and isinstance(w, Vec)
    open_ = text.is_open(s.mask)
    open_ = open_ if open_ in ("inside", "ZERO") else text.named(open_)
    x, there = e.source, text.has(e.index)
    _missing(text, both(open_, outside(there)), e.number)
    name, number = f"found{text.number()}", text.number()
    text.lines.append(f"{name} = ZERO")
    has = f"at{number} >= 0"
    if x.id not in text.full:
        has += f" and bit_of({text.array(x, 'bits')}, at{number})"
    if x.id in text.iso:
        read = text.literal(x.dtype, text.iso[x.id])
    else:
        read = f"{'bit_of' if x.dtype is BOOL else 'at'}({text.array(x, 'val')}, at{number})"
    lines = _place(text, f"at{number}", text.term(e.index)[0], x, e.index.dtype.kind == "i", e.number)
    direct = s.accum is None and w.id not in text.iso and w.dtype is not BOOL
    if direct:  # no value between the gather and the store
        text.walk(both(open_, there), [*lines, f"if {has}:", f"    {name} |= m",
                                       f"    put({text.place(w)}, {text.cast(w.dtype, x.dtype, read)})"])  # fmt: skip
        text.write(s, open_, name, read, x.dtype, copies=True)
        return
    # Read each value again where the others are available: its index has been checked, and is valid.
    text.walk(both(open_, there), [*lines, f"if {has}:", f"    {name} |= m"])
    index = f"np.int64({text.term(e.index)[0]})"
    if e.index.dtype.kind == "i":
        size = text.parameter(f"size{x.id}", "size", x.id)
        index = f"wrapped({index}, {size})"
    if x.id not in text.iso:
        read = f"{'bit_of' if x.dtype is BOOL else 'at'}({text.array(x, 'val')}, {index})"
    text.write(s, open_, name, read, x.dtype)


def scatter(text: Text, s: Statement) -> None:
    """Combine the entry of each position into the target at its index."""
    w, e = s.target, s.value
    assert isinstance(w, Vec) and isinstance(e, Scatter)
    there = "inside" if e.where is None else text.has(e.where)
    whole = both(*(text.has(x) for x in e.full))
    _missing(text, both(there, outside(whole)), e.number)
    at = f"at{text.number()}"
    lines = _place(text, at, "p" if e.index is None else text.term(e.index)[0], w, False, e.number)
    u, u_type = ("p", INT64) if e.u is None else text.term(e.u)
    join = _join(text, w, e.monoid, text.cast(w.dtype, u_type, u), at)
    text.walk(both(there, whole), [*lines, *([f"if {at} >= 0:", *(f"    {line}" for line in join)] if join else [])])


def _place(text: Text, name: str, index: str, x: Vec, from_end: bool, number: int) -> list[str]:
    """Set `name` to the index, or to -1 if it is out of range."""
    size = text.parameter(f"size{x.id}", "size", x.id)
    return [
        f"{name} = np.int64({index})",
        *([f"{name} = wrapped({name}, {size})"] if from_end else []),
        f"if {name} < 0 or {name} >= {size}:",
        f"    tell(state, {2 * number + 1}, np.int64({index}))",
        f"    {name} = np.int64(-1)",
    ]


def _missing(text: Text, word: str, number: int) -> None:
    if word != "ZERO":
        text.lines += [f"if {word} != 0:", f"    tell(state, {2 * number + 2}, np.int64(0))"]


def _join(text: Text, w: Vec, monoid: Typed, x: str, at: str) -> list[str]:
    """Combine x into the cell at `at`."""
    val, any_ = text.array(w, "val"), monoid.op.name == "any"
    if w.dtype is BOOL:
        joined = {"lor": f"bit_of({val}, {at}) or {x}", "land": f"bit_of({val}, {at}) and {x}"}
        store = f"put_bit({val}, {at}, {joined.get(monoid.op.name, x)})"
    else:
        add = text.function(sum_of(monoid.op, w.dtype)[0][0])
        store = f"put({val}, {at}, {x if any_ else f'{add}(at({val}, {at}), {x})'})"
    if w.id in text.full:
        return [] if any_ else [store]
    bits, summary = text.array(w, "bits"), text.array(w, "sum")
    lines = [f"if not bit_of({bits}, {at}):", f"    {store}"] if any_ else [store]
    return [*lines, f"put_bit({bits}, {at}, True)", f"put_bit({summary}, {at} >> 6, True)"]
