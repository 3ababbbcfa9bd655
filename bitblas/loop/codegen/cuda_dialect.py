"""CUDA C++ for the statements of a loop, position by position or by half words.

The macros of elementwise.cu, advance_rows.cuh and worklist_rounds.cuh. Position by position, a vector has two names:
b3, whether vector 3 has an entry at position p, and v3, its value. By half words of 32 positions, vector 3 is w3
(presence bits) and t3 (truth values, if it is BOOL), `all` is the set of existing positions, and threads visit single
positions only where a value is needed or written. Scalar 2 is c2 (whether it has a value) and s2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, NamedTuple

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from ...kernels.variant import cpp_literal, sum_of, value
from ...operations.variants import ATOMICS
from ..ir import Elementwise, Gather, Scal, Scatter, Statement, Vec
from .dialect import Entries, KernelText, TextDialect, sum_function

if TYPE_CHECKING:
    from ...typing import Number


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
class CudaKernel(KernelText):
    """A kernel in CUDA C++. lazy: vectors whose values are read only where a statement needs them. flagged: vectors
    with a flag d3 that says whether the value has changed."""

    lazy: frozenset[int] = frozenset()
    flagged: frozenset[int] = frozenset()
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


def literal(dtype: DataType, x: Number) -> str:
    """A value as an exact C++ constant."""
    return cpp_literal(dtype, value("x", dtype, x)[2])


def macro(name: str, lines: Sequence[str]) -> str:
    """A macro of several lines."""
    return " \\\n  ".join([f"#define {name}", *lines])


def bare(text: str) -> str:
    """A set of positions without the parentheses that `both` and `either` add."""
    return text[1:-1] if text.startswith("(") else text


class CudaPositions(TextDialect[CudaKernel]):
    """A set of positions is a truth value: whether it contains position p."""

    everywhere, nowhere, inside = "true", "false", "inside"
    AND, OR, OUTSIDE = " && ", " || ", "!{}"

    def where(self, positions: str, condition: str) -> str:
        return self.both(positions, condition)

    def named(self, name: str, positions: str) -> str:
        self.lines.append(f"const bool {name} = {bare(positions)};")
        return name

    def entries(self, x: Vec) -> str:
        return f"b{x.id}"

    def scalar_entries(self, t: Scal) -> str:
        return f"c{t.id}"

    def sum_entries(self, k: int) -> str:
        return f"some{k}"

    # ---- values ----

    def vector_value(self, x: Vec) -> str:
        return f"x{x.id}_val[p]" if x.id in self.kernel.lazy else f"v{x.id}"

    def scalar_value(self, t: Scal) -> str:
        return "round" if t.id < 0 else f"s{t.id}"

    def literal(self, dtype: DataType, x: Number) -> str:
        return literal(dtype, x)

    def missing_value(self, dtype: DataType) -> str:
        return f"cast<{dtype.c_type}>(0)"

    def position(self) -> str:
        return "u64(p)"

    def cast(self, to: DataType, source: DataType, x: str) -> str:
        return f"cast<{to.c_type}>({x})"

    def choose(self, positions: str, x: str, y: str) -> str:
        return f"{positions} ? {x} : {y}"

    def call(self, name: str, x: str, y: str) -> str:
        return f"{name}({x}, {y}, p, i64(0))"

    # ---- statements ----

    def scoped(self, lines: list[str]) -> list[str]:
        return [" ".join(["{", *lines, "}"])]

    def statement(self, s: Statement) -> None:
        outer, self.lines = self.lines, []
        super().statement(s)
        self.lines = [*outer, *self.scoped(self.lines)]

    def write_values(self, s: Statement, here: str, found: Entries[str, str]) -> None:
        w, t = s.target, found.dtype.c_type
        v = f"v{w.id}" if isinstance(w, Vec) else f"s{w.id}"
        changed = f", d{w.id} = true" if isinstance(w, Vec) and w.id in self.kernel.flagged else ""
        self.lines.append(f"const {t} t = {here} ? {found.value} : cast<{t}>(0);")
        self.lines.append(f"if ({here}) {v} = {self.new_value(s, 't', found.dtype)}{changed};")

    def write_entries(self, w: Vec | Scal, positions: str) -> None:
        self.lines.append(f"{self.has(w)} = {positions};")

    def write_cells(self, w: Vec, positions: str, x: str) -> None:
        self.lines.append(f"if ({positions}) v{w.id} = {x};")

    def report_missing(self, positions: str, number: int) -> None:
        self.kernel.parameter("i64* faults", "faults")
        self.lines.append(f"report_missing({bare(positions)}, faults, {number});")

    def _place(self, positions: str, index: str, x: Vec, from_end: bool, number: int) -> None:
        """Set `at` to the position in x of an index, -1 if there is none."""
        self.kernel.parameter("i64* faults", "faults")
        self.kernel.parameter(f"i64 size{x.id}", "size", x.id)  # not in the text, because the text is the cache key
        wraps = "true" if from_end else "false"
        self.lines.append(
            f"const i64 at = place_of({bare(positions)}, {index}, size{x.id}, {wraps}, faults, {number});"
        )

    def gathered(self, s: Statement, e: Gather, positions: str) -> Entries[str, str]:
        x, kernel = e.source, self.kernel
        self._place(positions, f"(i64)v{e.index.id}", x, e.index.dtype.kind == "i", e.number)
        has = "at >= 0"
        if x.id not in kernel.full:
            kernel.bits(x)
            has += f" && bit_of(x{x.id}_bits, at)"
        if x.id in kernel.iso:
            return Entries(f"({has})", literal(x.dtype, kernel.iso[x.id]), x.dtype)
        kernel.values(x)
        return Entries(f"({has})", f"bit_of(x{x.id}_val, at)" if x.dtype is BOOL else f"x{x.id}_val[at]", x.dtype)

    def combine(self, w: Vec, e: Scatter, positions: str, x: str) -> None:
        kernel, any_ = self.kernel, e.monoid.op.name == "any"
        self._place(positions, "p" if e.index is None else f"(i64)v{e.index.id}", w, False, e.number)
        kernel.values(w, written=True)
        join = self._join(w, e.monoid, x)
        if w.id not in kernel.full:
            kernel.bits(w, written=True)
            bits = f"x{w.id}_bits"
            if any_:
                join = f"if (!bit_now({bits}, at) && mark({bits}, at)) {{ {join} }}"
            else:
                join += f" if (!bit_now({bits}, at)) set_bit({bits}, at);"
        elif any_:
            join = ""
        self.lines.append(f"if (at >= 0) {{ {join} }}")

    def _join(self, w: Vec, monoid: Typed, x: str) -> str:
        """Combine x into the cell at `at`."""
        name, val = monoid.op.name, f"x{w.id}_val"
        if w.dtype is BOOL:
            return f"if (!({x})) clear_bit({val}, at);" if name == "land" else f"if ({x}) set_bit({val}, at);"
        if name == "any":
            return f"{val}[at] = {x};"
        if name in ATOMICS and w.dtype.kind in "iu":
            return f"join_{name}({val} + at, {x});"
        add = self.kernel.function(sum_of(monoid.op, w.dtype)[0][0])
        c = w.dtype.c_type
        return f"join_any_order({val} + at, {x}, [](const {c} x, const {c} y) {{ return {add}(x, y); }});"

    # ---- sums and scalars ----

    def for_scalars(self) -> CudaPositions:
        return CudaScalars(self.kernel)

    def begin_sum(self, s: Statement, k: int) -> list[str]:
        add, z = sum_function(s)
        name, c = self.kernel.function(add), z.c_type
        return [
            f"const auto add{k} = [](const {c} x, const {c} y) {{ return {name}(x, y); }}; "
            f"bool some{k} = false; {c} sum{k} = cast<{c}>(0); {self.sum_memory(k, z)}"
        ]

    def sum_memory(self, k: int, z: DataType) -> str:
        """Declare the memory in which threads combine a sum."""
        self.kernel.parameter(f"{z.c_type}* parts{k}", "parts", k, z)
        self.kernel.parameter(f"u8* has{k}", "has", k)
        return f"__shared__ {z.c_type} here{k}[BLOCK];"

    def add_up(self, s: Statement, k: int) -> None:
        u, c = s.vectors[0].id, sum_function(s)[1].c_type
        self.lines.append(
            f"if (b{u}) {{ const {c} x = cast<{c}>(v{u}); sum{k} = some{k} ? add{k}(sum{k}, x) : x; some{k} = true; }}"
        )

    def load_scalar(self, s: Scal, const: str) -> str:
        """Load a scalar into its names."""
        self.kernel.parameter(f"{const}u8* s{s.id}_has", "scalar_has", s.id)
        self.kernel.parameter(f"{const}{s.dtype.c_type}* s{s.id}_val", "scalar_val", s.id)
        return (
            f"{const}bool c{s.id} = s{s.id}_has[0] != 0; {const}{s.dtype.c_type} s{s.id} = s{s.id}_val[0]; "
            f"(void)c{s.id}, (void)s{s.id};"
        )


class CudaScalars(CudaPositions):
    """Statements on scalars, which have no position."""

    def call(self, name: str, x: str, y: str) -> str:
        return f"{name}({x}, {y}, i64(0), i64(0))"


class CudaWords(CudaPositions):
    """A set of positions is a half word. needed: the vectors whose truth values are loaded."""

    everywhere, nowhere, inside = "all", "0u", "all"
    AND, OR, OUTSIDE = TextDialect.AND, TextDialect.OR, TextDialect.OUTSIDE

    def __init__(self, kernel: CudaKernel, needed: Container[Vec]) -> None:
        super().__init__(kernel)
        self.needed = needed
        self.by_bytes: Vec | None = None  # the vector that a select reads by half words of bytes

    def where(self, positions: str, condition: str) -> str:
        here, x = self.named("there", positions), self.by_bytes
        if x is None:
            return f"kept_half({here}, mine, [&](i64 p) {{ return (bool){condition}; }})"
        name = f"x{x.id}_val"
        get = f"[&](i64 p, {x.dtype.c_type} x) {{ return (bool){condition.replace(f'{name}[p]', 'x')}; }}"
        return f"kept_bytes({here}, mine, size, {name}, {get})"

    def named(self, name: str, positions: str) -> str:
        if self.is_constant(positions):
            return positions
        self.lines.append(f"const u32 {name} = {bare(positions)}; (void){name};")
        return name

    def entries(self, x: Vec) -> str:
        return self.everywhere if x.id in self.full else f"w{x.id}"

    def scalar_entries(self, t: Scal) -> str:
        return f"(c{t.id} ? all : 0u)"

    def vector_value(self, x: Vec) -> str:
        if x.id in self.iso:
            return literal(x.dtype, self.iso[x.id])
        if x.dtype is not BOOL and x.id not in self.kernel.local:
            self.kernel.values(x)
        return f"x{x.id}_val[p]"

    def computed(self, e: Elementwise) -> Entries[str, str]:
        u, v = e.u, e.v
        bytes_ = isinstance(u, Vec) and u.id not in self.iso and u.dtype is not BOOL and u.dtype.np_type.itemsize == 1
        alone = e.keep and v is not None and not isinstance(v, Vec)
        self.by_bytes = u if bytes_ and alone and isinstance(u, Vec) else None
        return super().computed(e)

    def scoped(self, lines: list[str]) -> list[str]:
        return ["{", *lines, "}"]

    def write_values(self, s: Statement, here: str, found: Entries[str, str]) -> None:
        w, e, x, t = s.target, s.value, found.value, found.dtype.c_type
        assert isinstance(e, Elementwise) and isinstance(w, Vec)
        if here == self.nowhere or (w.dtype is BOOL and w not in self.needed):
            return
        if w.dtype is BOOL:
            self.lines.append(f"t{w.id} = (t{w.id} & ~{here}) | {self._true(e, here, x)};")
            return
        self.kernel.values(w, written=True)
        parts = [(here, self.cast(w.dtype, found.dtype, "t"))]
        if s.accum is not None:
            had, joined = self.entries(w), self.accumulated(s.accum, w, found.dtype, "t")
            parts = [(self.both(here, had), joined), (self.both(here, self.outside(had)), parts[0][1])]
        for positions, new in parts:
            self.lines.append(
                f"fill_half({bare(positions)}, mine, [&](i64 p) {{ (void)p; const {t} t = {x}; return {new}; }}, "
                f"[&](i64 p, {w.dtype.c_type} x) {{ x{w.id}_val[p] = x; }});"
            )

    def _true(self, e: Elementwise, here: str, x: str) -> str:
        """The positions of a half word where the value x is true."""
        if e.op is None and (not isinstance(e.u, Vec) or e.u.id in self.iso):
            return f"(cast<bool>({x}) ? {here} : 0u)"
        if e.op is None and isinstance(e.u, Vec) and e.u.dtype is BOOL:
            return f"({here} & t{e.u.id})"
        return f"kept_half({here}, mine, [&](i64 p) {{ return cast<bool>({x}); }})"

    def write_entries(self, w: Vec | Scal, positions: str) -> None:
        self.lines.append(f"w{w.id} = {bare(positions)};")
        if w.dtype is BOOL and w.id not in self.iso and w in self.needed:
            self.lines.append(f"t{w.id} &= w{w.id};")
