"""CUDA C++ for element-wise statements, and for gathers and scatters through index vectors (pass.cu).

These are the macros of pass.cu and of advances. Each vector has two names in the text: b3, whether vector
3 has an entry at position p, and v3, its value. Scalars have c2 and s2 in the same way. They are loaded before the
statements and stored after them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from semirings import Typed
from semirings.dtypes import BOOL, INT64, DataType

from ...kernels.variant import Function, cpp_literal, lets, sum_of, value
from ...operations.variants import ATOMICS, BOTH, FILLED, LEFT, UNION, binary_of, elementwise_variant, initial_sum
from ..ir import (
    Const,
    Elementwise,
    Gather,
    InitializeCells,
    IsoValues,
    Masked,
    Scal,
    Scatter,
    Statement,
    Term,
    Value,
    Vec,
)

if TYPE_CHECKING:
    from ...typing import Number

# ---- CUDA C++ for statements that gather or scatter through index vectors (pass.cu).


def literal(dtype: DataType, x: Number) -> str:
    """A value as an exact C++ constant."""
    return cpp_literal(dtype, value("x", dtype, x)[2])


def beginning_text(monoid: Typed, dtype: DataType) -> str:
    """The initial value of a cell, before anything is accumulated into it."""
    return literal(dtype, initial_sum(monoid.op, dtype) if monoid.op.name != "any" else dtype.np_type.type(0))


def gather_text(text: CudaText, e: Gather) -> tuple[str, str, str]:
    """The text before the access, the condition that there is an entry, and its value."""
    x, i = e.source, e.index
    signed = "true" if i.dtype.kind == "i" else "false"
    text.parameter("i64* faults", "faults")
    text.parameter(f"i64 size{x.id}", "size", x.id)  # not in the text, because the text is the cache key
    before = (
        f"report_missing(open_here && !b{i.id}, faults, {e.number}); "
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


def scatter_text(text: CudaText, w: Vec, e: Scatter) -> str:
    """Combine the entry of a position into the target at its index."""
    text.parameter("i64* faults", "faults")
    text.parameter(f"i64 size{w.id}", "size", w.id)
    there = "inside" if e.where is None else f"inside && b{e.where.id}"
    missing = "".join(f" || !b{x.id}" for x in e.full if x.id not in text.full)
    lines = [f"const bool there = {there};"]
    if missing:
        lines.append(f"report_missing(there && (false{missing}), faults, {e.number});")
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


def _join(text: CudaText, w: Vec, monoid: Typed, x: str) -> str:
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


# ---- CUDA C++ for element-wise statements: the macros from which pass.cu and advances are built.


class Key(NamedTuple):
    """What a parameter is: an array of vector 3 ("bits", 3), a scalar ("scalar_val", 2), partial sums, .."""

    kind: str
    number: int = -1
    dtype: DataType | None = None


class Parameter(NamedTuple):
    """An argument of a generated kernel: its C++ declaration, and what it is."""

    declaration: str
    key: Key


@dataclasses.dataclass
class KernelText:
    """Text under construction. iso: vectors whose entries all have one value, by number. full: vectors that have an
    entry everywhere. local: vectors without memory."""

    iso: IsoValues
    full: frozenset[int] = frozenset()
    local: frozenset[int] = frozenset()
    functions: list[Function] = dataclasses.field(default_factory=list, kw_only=True)
    lines: list[str] = dataclasses.field(default_factory=list, kw_only=True)

    def function(self, f: Function) -> str:
        """The name of a function with this content, which is added if it is new."""
        for known in self.functions:
            if known._replace(name=f.name) == f:
                return known.name
        self.functions.append(f._replace(name=f"f{len(self.functions)}"))
        return self.functions[-1].name


@dataclasses.dataclass
class CudaText(KernelText):
    """Text in CUDA C++."""

    lazy: frozenset[int] = frozenset()  # vectors whose values are read only where a statement needs them
    flagged: frozenset[int] = frozenset()  # vectors with a flag d3 that says whether the value has changed
    parameters: list[Parameter] = dataclasses.field(default_factory=list)

    def parameter(self, declaration: str, kind: str, number: int = -1, dtype: DataType | None = None) -> None:
        key = Key(kind, number, dtype)
        if all(p.key != key for p in self.parameters):
            self.parameters.append(Parameter(declaration, key))

    def bits(self, x: Vec, *, written: bool = False) -> None:
        self._array(x.id, "bits", "u64", written)

    def values(self, x: Vec, *, written: bool = False) -> None:
        if x.id not in self.iso:
            self._array(x.id, "val", "u64" if x.dtype is BOOL else x.dtype.c_type, written)

    def _array(self, number: int, kind: str, c_type: str, written: bool) -> None:
        key, name = Key(kind, number), f"x{number}_{kind}"
        self.parameters = [
            p._replace(declaration=f"{c_type}* {name}") if p.key == key and written else p for p in self.parameters
        ]
        self.parameter(f"{'' if written else 'const '}{c_type}* {name}", *key)

    # ---- operands ----

    def term(self, t: Term) -> tuple[str, str, DataType]:
        """Whether there is an entry, its value, and its type."""
        if isinstance(t, Vec):
            return f"b{t.id}", f"x{t.id}_val[p]" if t.id in self.lazy else f"v{t.id}", t.dtype
        if isinstance(t, Const):
            return (
                ("false", f"cast<{t.dtype.c_type}>(0)", t.dtype)
                if t.value is None
                else ("true", literal(t.dtype, t.value), t.dtype)
            )
        has, text, dtype = ("true", "round", INT64) if t.id < 0 else (f"c{t.id}", f"s{t.id}", t.dtype)
        for to in t.casts:
            text, dtype = f"cast<{to.c_type}>({text})", to
        return has, text, dtype

    def is_open(self, mask: Masked | None) -> str:
        if mask is None:
            return "true"
        x = mask.vec
        plain = f"b{x.id}" if mask.structure else f"(b{x.id} && cast<bool>(v{x.id}))"
        return f"!{plain}" if mask.complement else plain

    def operation(self, e: Elementwise, at: str) -> tuple[str, str, DataType]:
        """The same for an operation at position `at`."""
        u_has, u, u_type = self.term(e.u)
        if e.op is None:
            has = u_has if e.under is None else f"({u_has} && {self.is_open(e.under)})"
            return has, u, u_type
        v_has, v, v_type = (u_has, u, u_type) if e.v is None else self.term(e.v)
        f, result = self.operator_function(e, u_type, v_type)
        at = f"{at}, i64(0)"
        if e.keep:
            return f"({u_has} && {f}({u}, {v}, {at}))", u, u_type
        if e.mode == LEFT:
            return u_has, f"{f}({u}, {v}, {at})", result
        if e.mode == BOTH:
            return f"({u_has} && {v_has})", f"{f}({u}, {v}, {at})", result
        c = result.c_type
        if e.mode == UNION:
            one = f"{u_has} ? cast<{c}>({u}) : cast<{c}>({v})"
            return f"({u_has} || {v_has})", f"({u_has} && {v_has} ? {f}({u}, {v}, {at}) : {one})", result
        assert e.mode == FILLED
        left, right = (self._cast(self.term(d), t) for d, t in zip(e.defaults, (u_type, v_type)))
        both = f"{f}({u_has} ? {u} : {left}, {v_has} ? {v} : {right}, {at})"
        return f"({u_has} || {v_has})", both, result

    def operator_function(self, e: Elementwise, u: DataType, v: DataType) -> tuple[str, DataType]:
        """The name of an operator's function, and its result type."""
        assert e.op is not None
        variant, result = elementwise_variant(e.mode, e.op, u, v, e.bound, keep=e.keep)
        return self.function(next(f for f in variant.functions if f.name == "f")), result

    @staticmethod
    def _cast(term: tuple[str, str, DataType], to: DataType) -> str:
        return f"cast<{to.c_type}>({term[1]})"

    # ---- statements ----

    def statement(self, s: Statement) -> None:
        """The text of target(mask, accum, replace) << value, in terms of the target's names."""
        w, found = s.target, ""
        if isinstance(s.value, Scatter):
            assert isinstance(w, Vec)
            self.lines.append(scatter_text(self, w, s.value))
            return
        if isinstance(s.value, InitializeCells):
            self.lines.append(f"if (!b{w.id}) v{w.id} = {beginning_text(s.value.monoid, w.dtype)};")
            return
        if isinstance(s.value, Gather):
            found, has, x = gather_text(self, s.value)
            dtype = s.value.source.dtype
        else:
            assert isinstance(s.value, Elementwise)
            has, x, dtype = self.operation(s.value, "p" if isinstance(w, Vec) else "i64(0)")
        b, v = (f"b{w.id}", f"v{w.id}") if isinstance(w, Vec) else (f"c{w.id}", f"s{w.id}")
        c = w.dtype.c_type
        new = f"cast<{c}>(t)"
        if s.accum is not None:
            had = f"x{w.id}_val[p]" if isinstance(w, Vec) and w.id in self.lazy else v
            new = f"{b} ? {self.accumulated(s.accum, w.dtype, dtype, had)} : {new}"
        open_ = f"inside && {self.is_open(s.mask)}" if isinstance(w, Vec) else "true"
        kept = "false" if s.replace else b
        was = "" if s.accum is None else f" || {b}"
        stored = isinstance(w, Scal) or w.id not in self.iso
        take = f"if (has) {v} = {new};" if stored else "(void)t;"
        if isinstance(w, Vec) and w.id in self.flagged:
            take = f"if (has) {v} = {new}, d{w.id} = true;"
        t = dtype.c_type
        self.lines.append(
            f"{{ const bool open_here = {open_}; {found}const bool has = open_here && {has}; "
            f"const {t} t = has ? {x} : cast<{t}>(0); {take} {b} = open_here ? has{was} : {kept}; }}"
        )

    def accumulated(self, accum: Typed, w: DataType, t: DataType, v: str) -> str:
        op = binary_of(accum)
        let = lets(op.op, op.dtype, ("x", w, "a"), ("y", t, "b"))
        f = Function("accum", op.return_type, (("a", w), ("b", t)), let, op.op.expr)
        return f"cast<{w.c_type}>({self.function(f)}({v}, t))"


def is_subset(e: Value, x: Vec) -> bool:
    """Whether a value has entries only where x has entries."""
    if not isinstance(e, Elementwise):
        return False
    return x in e.terms if e.mode == BOTH else e.mode == LEFT and e.u == x


def macro(name: str, lines: Sequence[str]) -> str:
    """A macro of several lines."""
    return " \\\n  ".join([f"#define {name}", *lines])
