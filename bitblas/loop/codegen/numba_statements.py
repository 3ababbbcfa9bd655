"""Numba Python for statements of loops, the CPU's counterpart of cuda_statements.py.

Statements run word by word, 64 positions at once: masks and presence bits are words, and only computed values need a
loop over positions; gathers and scatters process one position after the other. In the text, vector 3 is w3 (presence
bits) and t3 (truth values, if it is BOOL); scalar 2 is c2 (whether it has a value) and s2. `inside` is the mask of
existing positions, ZERO has none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from semirings import Typed
from semirings.dtypes import BOOL, INT64, DataType

from ...kernels.variant import Function, lets, py_cast, sum_of, value
from ...operations.variants import BOTH, FILLED, LEFT, UNION, binary_of, elementwise_variant, initial_sum
from ..ir import (
    Const,
    Elementwise,
    Gather,
    InitializeCells,
    Masked,
    Reduce,
    Scal,
    Scatter,
    Statement,
    Term,
    Vec,
)
from .cuda_elementwise import sum_function
from .cuda_statements import KernelText, Key

if TYPE_CHECKING:
    from ...typing import Number

# ---- Text of expressions on 64-bit words of positions: `inside` is the mask of existing positions, ZERO has none.

Lines = list[str]


def indented(lines: Sequence[str]) -> Lines:
    return [f"    {line}" for line in lines]


def both(*words: str) -> str:
    """The intersection of words; `inside` is the mask of existing positions."""
    kept = [w for w in dict.fromkeys(words) if w != "inside"]
    return "ZERO" if "ZERO" in kept else "inside" if not kept else f"({' & '.join(kept)})" if kept[1:] else kept[0]


def either(*words: str) -> str:
    kept = [w for w in dict.fromkeys(words) if w != "ZERO"]
    return "inside" if "inside" in kept else "ZERO" if not kept else f"({' | '.join(kept)})" if kept[1:] else kept[0]


def outside(word: str) -> str:
    return {"inside": "ZERO", "ZERO": "inside"}.get(word, f"(inside & ~{word})")


# ---- Numba Python for element-wise statements of loops, the CPU's counterpart of loop/codegen/cuda_statements.py.


@dataclasses.dataclass
class NumbaText(KernelText):
    """Text in Numba Python. values: constants of the kernel, as in a Variant."""

    values: list[tuple[str, DataType, str]] = dataclasses.field(default_factory=list)
    parameters: dict[str, Key] = dataclasses.field(default_factory=dict)
    numbers: int = 0  # counter for generated names

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def parameter(self, name: str, kind: str, number: int = -1, dtype: DataType | None = None) -> str:
        self.parameters.setdefault(name, Key(kind, number, dtype))
        return name

    def literal(self, dtype: DataType, x: Number) -> str:
        """The name of a constant value."""
        if dtype is BOOL:
            return str(bool(x))
        bits = value("", dtype, x)[2]
        known = next((name for name, t, b in self.values if t is dtype and b == bits), None)
        if known is None:
            known = f"value{len(self.values)}"
            self.values.append((known, dtype, bits))
        return known

    def cast(self, to: DataType, source: DataType, x: str) -> str:
        """The cast of an expression."""
        if to is source or x.isidentifier():
            return py_cast(to, source, x)
        return f"{self.function(Function('cast', to, (('a', source),), (('z', to, 'a'),), 'z'))}({x})"

    def array(self, x: Vec, kind: str) -> str:
        return self.parameter(f"x{x.id}_{kind}", kind, x.id)

    # ---- operands ----

    def has(self, t: Term) -> str:
        """The word of the positions where an operand has an entry."""
        if isinstance(t, Vec):
            return "inside" if t.id in self.full else f"w{t.id}"
        if isinstance(t, Const):
            return "ZERO" if t.value is None else "inside"
        return "inside" if t.id < 0 else f"(inside if c{t.id} else ZERO)"

    def term(self, t: Term) -> tuple[str, DataType]:
        """The operand's value at position p, which is bit m of the word, and its type."""
        if isinstance(t, Vec):
            if t.id in self.iso:
                return self.literal(t.dtype, self.iso[t.id]), t.dtype
            return (f"(t{t.id} & m != 0)" if t.dtype is BOOL else f"at({self.place(t)})"), t.dtype
        if isinstance(t, Const):
            return self.literal(t.dtype, 0 if t.value is None else t.value), t.dtype
        text, dtype = ("round_number", INT64) if t.id < 0 else (f"s{t.id}", t.dtype)
        for to in t.casts:
            text, dtype = self.cast(to, dtype, text), to
        return text, dtype

    def place(self, x: Vec) -> str:
        """The array and index of a vector's value at position p."""
        return f"x{x.id}_val, p & 63" if x.id in self.local else f"{self.array(x, 'val')}, p"

    def is_open(self, mask: Masked | None) -> str:
        """The word of the positions where a mask is open."""
        if mask is None:
            return "inside"
        has = self.has(mask.vec)
        if not mask.structure:
            has = self.true(mask.vec)
        return outside(has) if mask.complement else has

    def true(self, x: Vec) -> str:
        """The word of the entries that are true."""
        has = self.has(x)
        if x.id in self.iso:
            return has if self.iso[x.id] else "ZERO"
        if x.dtype is BOOL:
            return both(f"t{x.id}", has)
        return self.bits(has, f"{self.term(x)[0]} != 0")

    def computed(self, e: Elementwise) -> tuple[str, str, DataType]:
        """The word of the positions where an operation may have a value, its value at p, and its type."""
        u, u_type = self.term(e.u)
        u_has = self.has(e.u)
        if e.op is None:
            return both(u_has, self.is_open(e.under)), u, u_type
        v_has, (v, v_type) = (u_has, (u, u_type)) if e.v is None else (self.has(e.v), self.term(e.v))
        variant, result = elementwise_variant(e.mode, e.op, u_type, v_type, e.bound, keep=e.keep)
        f = self.function(next(g for g in variant.functions if g.name == "f"))
        call = lambda x, y: f"{f}({x}, {y}, p, np.int64(0))"
        if e.keep:
            return self.bits(u_has, call(u, v)), u, u_type
        if e.mode == LEFT:
            return u_has, call(u, v), result
        if e.mode == BOTH:
            return both(u_has, v_has), call(u, v), result
        there = either(u_has, v_has)
        if e.mode == UNION:
            x, y = self.cast(result, u_type, u), self.cast(result, v_type, v)
            one = self.chosen(u_has, x, y)
            return there, self.chosen(both(u_has, v_has), call(u, v), one), result
        assert e.mode == FILLED
        left, right = (
            self.cast(t, self.term(d)[1], self.term(d)[0]) for d, t in zip(e.defaults, (u_type, v_type), strict=True)
        )
        return there, call(self.chosen(u_has, u, left), self.chosen(v_has, v, right)), result

    @staticmethod
    def chosen(word: str, x: str, y: str) -> str:
        """x at the positions of a word, y at the others."""
        return x if word in ("inside", "ALL") else y if word == "ZERO" else f"({x} if {word} & m != 0 else {y})"

    # ---- loops over positions ----

    def named(self, word: str) -> str:
        if word.isidentifier():
            return word
        name = f"word{self.number()}"
        self.lines.append(f"{name} = {word}")
        return name

    def loop(self, word: str, body: Sequence[str]) -> None:
        """Run the body for each position of a word; a full word gets a loop that LLVM can vectorize."""
        if word == "ZERO" or not body:
            return
        word = self.named(word)
        some = ["m = ONE << np.uint64(place)", *body]
        self.lines += [
            f"if {word} == ALL:",
            "    for place in range(64):",
            "        p = (w << 6) + place",
            *indented(indented(some)),
            "else:",
            f"    rest = {word}",
            "    while rest != 0:",
            "        place = np.int64(trailing_zeros(rest))",
            "        rest = drop_lowest(rest)",
            "        p = (w << 6) + place",
            *indented(indented(some)),
        ]

    def walk(self, word: str, body: Sequence[str]) -> None:
        """Run the body for each position of a word, if SIMD would gain nothing."""
        if word == "ZERO" or not body:
            return
        self.lines += [
            f"rest = {word}",
            "while rest != 0:",
            "    place = np.int64(trailing_zeros(rest))",
            "    m = ONE << np.uint64(place)",
            "    rest = drop_lowest(rest)",
            "    p = (w << 6) + place",
            *indented(body),
        ]

    def bits(self, word: str, condition: str) -> str:
        """The positions of a word where a condition holds."""
        name = f"found{self.number()}"
        self.lines.append(f"{name} = ZERO")
        self.loop(word, [f"{name} |= np.uint64({condition}) << np.uint64(place)"])
        return name

    # ---- statements ----

    def statement(self, s: Statement) -> None:
        """The text of target(mask, accum, replace) << an operation, for words of vectors."""
        w, e = s.target, s.value
        assert isinstance(w, Vec) and isinstance(e, Elementwise)
        open_ = self.is_open(s.mask)
        open_ = open_ if open_ in ("inside", "ZERO") else self.named(open_)
        there, x, dtype = self.computed(e)
        copies = e.u == w and (e.op is None or e.keep)
        self.write(s, open_, both(open_, there), x, dtype, copies=copies and s.accum is None)

    def write(self, s: Statement, open_: str, here: str, x: str, dtype: DataType, *, copies: bool = False) -> None:
        """Write the value x at the positions of `here`. copies: the value is already there."""
        w = s.target
        assert isinstance(w, Vec)
        had = self.has(w)
        here = here if here in ("inside", "ZERO") else self.named(here)
        left = both(open_, had) if s.accum is not None else "ZERO"
        kept = "ZERO" if s.replace else both(outside(open_), had)
        new = either(here, left, kept)
        if w.id not in self.full and new != had:
            new = f"new{self.number()}"
            self.lines.append(f"{new} = {either(here, left, kept)}")
        if w.id not in self.iso and not copies:
            stored = self.cast(w.dtype, dtype, x)
            if s.accum is not None:
                stored = self.chosen(had, self.accumulated(s.accum, w, dtype, x), stored)
            if w.dtype is not BOOL:
                self.loop(here, [f"put({self.place(w)}, {stored})"])
            elif here != "ZERO":
                truth = self._truth(here, x, dtype, s.accum, stored)
                self.lines.append(f"t{w.id} = (t{w.id} & ~{here}) | {truth}")
        if w.id not in self.full and new != had:
            self.lines.append(f"w{w.id} = {new}")

    def _truth(self, here: str, x: str, dtype: DataType, accum: Typed | None, stored: str) -> str:
        """The truth values of an expression at the positions of a word."""
        if accum is None and dtype is BOOL and x in ("True", "False"):
            return here if x == "True" else "ZERO"
        if accum is None and dtype is BOOL and x.startswith("(t") and x.endswith(" & m != 0)"):
            return both(here, x[1 : x.index(" ")])
        return self.bits(here, stored)

    def accumulated(self, accum: Typed, w: Vec | Scal, t: DataType, x: str) -> str:
        op = binary_of(accum)
        let = lets(op.op, op.dtype, ("x", w.dtype, "a"), ("y", t, "b"))
        f = Function("accum", op.return_type, (("a", w.dtype), ("b", t)), let, op.op.expr)
        old = self.term(w)[0] if isinstance(w, Vec) else f"s{w.id}"
        return self.cast(w.dtype, op.return_type, f"{self.function(f)}({old}, {x})")

    def reduce(self, s: Statement, k: int) -> None:
        """sum{k}: the sum of the unit's entries so far; some{k}: whether there are any."""
        assert isinstance(s.value, Reduce)
        add, z = sum_function(s)
        x, dtype = self.term(s.value.u)
        has = self.has(s.value.u)
        taken = self.cast(z, dtype, x)
        has = has if has in ("inside", "ZERO") else self.named(has)
        if has == "ZERO":
            return
        name, lines = self.function(add), self.lines
        one = [f"sum{k} = {name}(sum{k}, {taken}) if some{k} else {taken}", f"some{k} = True"]
        self.lines = []
        self.walk(has, one)
        apart, self.lines = self.lines, lines
        if dtype is BOOL:
            lines += apart
        else:
            lines += [f"if {has} == ALL:", *indented(self._all(k, name, taken)), "else:", *indented(apart)]

    @staticmethod
    def _all(k: int, name: str, taken: str) -> Lines:
        """The sum of all positions of a word, as eight independent sums, in the order in which a single statement adds
        them (reduce.cpu.py): results must not depend on when a loop switches from statements to the table."""
        lines: Lines = []
        for i in range(8):
            lines += [f"p = (w << 6) + {i}", f"part{i} = {taken}"]
        lines += ["for place in range(8, 64, 8):"]
        for i in range(8):
            lines += indented([f"p = (w << 6) + place + {i}", f"part{i} = {name}(part{i}, {taken})"])
        for step in (1, 2, 4):
            lines += [f"part{i} = {name}(part{i}, part{i + step})" for i in range(0, 8, 2 * step)]
        return [*lines, f"sum{k} = {name}(sum{k}, part0) if some{k} else part0", f"some{k} = True"]

    def scalar(self, s: Statement) -> None:
        """The same for a scalar, whose operands are all known before the first position."""
        w, e = s.target, s.value
        assert isinstance(w, Scal) and isinstance(e, Elementwise)
        outer, self.lines = self.lines, []
        there, x, dtype = self.computed(e)
        new = f"word{self.number()}"
        block = self.cast(w.dtype, dtype, x)
        if s.accum is not None:
            block = f"{self.accumulated(s.accum, w, dtype, x)} if c{w.id} else {block}"
        lines = [*self.lines, f"{new} = {there} != 0", f"if {new}:", f"    s{w.id} = {block}"]
        lines.append(f"c{w.id} = {new}{f' or c{w.id}' if s.accum is not None else ''}")
        self.lines = [*outer, "inside, m, p, w, place = ONE, ONE, np.int64(0), np.int64(0), np.int64(0)", *lines]


# ---- Numba Python for statements that gather or scatter through index vectors, the CPU's counterpart of
# loop/codegen/cuda_statements.py. Positions are processed one after the other.


def initialize_cells(text: NumbaText, s: Statement) -> None:
    """Initialize the cells of a scatter: the monoid's identity where there is no entry."""
    w, e = s.target, s.value
    assert isinstance(w, Vec) and isinstance(e, InitializeCells)
    dtype = w.dtype
    first = initial_sum(e.monoid.op, dtype) if e.monoid.op.name != "any" else dtype.np_type.type(0)
    missing = text.named(outside(text.has(w)))
    if dtype is BOOL:
        text.lines.append(f"t{w.id} = (t{w.id} & ~{missing}) | {missing if first else 'ZERO'}")
    else:
        text.loop(missing, [f"put({text.place(w)}, {text.literal(dtype, first)})"])


def gather(text: NumbaText, s: Statement) -> None:
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
        text.walk(
            both(open_, there),
            [
                *lines,
                f"if {has}:",
                f"    {name} |= m",
                f"    put({text.place(w)}, {text.cast(w.dtype, x.dtype, read)})",
            ],
        )
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


def scatter(text: NumbaText, s: Statement) -> None:
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


def _place(text: NumbaText, name: str, index: str, x: Vec, from_end: bool, number: int) -> list[str]:
    """Set `name` to the index, or to -1 if it is out of range."""
    size = text.parameter(f"size{x.id}", "size", x.id)
    return [
        f"{name} = np.int64({index})",
        *([f"{name} = wrapped({name}, {size})"] if from_end else []),
        f"if {name} < 0 or {name} >= {size}:",
        f"    report_fault(state, {2 * number + 1}, np.int64({index}))",
        f"    {name} = np.int64(-1)",
    ]


def _missing(text: NumbaText, word: str, number: int) -> None:
    if word != "ZERO":
        text.lines += [f"if {word} != 0:", f"    report_fault(state, {2 * number + 2}, np.int64(0))"]


def _join(text: NumbaText, w: Vec, monoid: Typed, x: str, at: str) -> list[str]:
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
