"""Generate the element-wise kernels of a CPU loop: fused statements, sums and scalars, as Numba Python.

Statements run word by word, 64 positions at once: masks and presence bits are words, and only computed values need a
loop over positions; gathers and scatters process one position after the other. In the text, vector 3 is w3 (presence
bits) and t3 (truth values, if it is BOOL); scalar 2 is c2 (whether it has a value) and s2. `inside` is the word of
existing positions, ZERO has none; position p is bit m of its word.

Units are the words of a summary, 4096 positions each. A call for units -1 to 0 ends the kernel: it combines the sums
and writes the scalars.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from semirings import Typed
from semirings.dtypes import BOOL, DataType

from ...kernels.variant import Function, Variant, py_cast, sum_of, value
from ..analysis import sparse_vectors
from ..fuse import FusedElementwise
from ..ir import Elementwise, Gather, IsoValues, Reduce, Scal, Scatter, Statement, Vec
from .cuda_dialect import Key
from .dialect import Entries, KernelText, TextDialect, scalars_of, sum_function, vectors_of, writes

if TYPE_CHECKING:
    from ...typing import Number

UNIT = 4096  # positions per unit

Lines = list[str]


def indented(lines: Sequence[str]) -> Lines:
    return [f"    {line}" for line in lines]


@dataclasses.dataclass
class NumbaKernel(KernelText):
    """A kernel in Numba Python. values: its constants, as in a Variant. numbers: counter for generated names."""

    values: list[tuple[str, DataType, str]] = dataclasses.field(default_factory=list)
    parameters: dict[str, Key] = dataclasses.field(default_factory=dict)
    numbers: int = 0

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def parameter(self, name: str, kind: str, number: int = -1, dtype: DataType | None = None) -> str:
        self.parameters.setdefault(name, Key(kind, number, dtype))
        return name

    def array(self, x: Vec, kind: str) -> str:
        return self.parameter(f"x{x.id}_{kind}", kind, x.id)

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


class NumbaWords(TextDialect[NumbaKernel]):
    """A set of positions is a word."""

    everywhere, nowhere, inside = "inside", "ZERO", "inside"

    def where(self, positions: str, condition: str) -> str:
        if condition in ("True", "False"):
            return positions if condition == "True" else self.nowhere
        if condition.startswith("(t") and condition.endswith(" & m != 0)"):  # a truth value
            return self.both(condition[1 : condition.index(" ")], positions)
        name = f"found{self.kernel.number()}"
        self.lines.append(f"{name} = ZERO")
        self.loop(positions, [f"{name} |= np.uint64({condition}) << np.uint64(place)"])
        return name

    def entries(self, x: Vec) -> str:
        return self.everywhere if x.id in self.full else f"w{x.id}"

    def scalar_entries(self, t: Scal) -> str:
        return f"(inside if c{t.id} else ZERO)"

    def sum_entries(self, k: int) -> str:
        return f"(inside if some{k} else ZERO)"

    def named(self, name: str, positions: str) -> str:
        if positions.isidentifier():
            return positions
        name = f"word{self.kernel.number()}"
        self.lines.append(f"{name} = {positions}")
        return name

    # ---- values ----

    def vector_value(self, x: Vec) -> str:
        if x.id in self.iso:
            return self.literal(x.dtype, self.iso[x.id])
        return f"(t{x.id} & m != 0)" if x.dtype is BOOL else f"at({self._place(x)})"

    def scalar_value(self, t: Scal) -> str:
        return "round_number" if t.id < 0 else f"s{t.id}"

    def literal(self, dtype: DataType, x: Number) -> str:
        return self.kernel.literal(dtype, x)

    def position(self) -> str:
        return "p"

    def cast(self, to: DataType, source: DataType, x: str) -> str:
        if to is source or x.isidentifier():
            return py_cast(to, source, x)
        return f"{self.kernel.function(Function('cast', to, (('a', source),), (('z', to, 'a'),), 'z'))}({x})"

    def choose(self, positions: str, x: str, y: str) -> str:
        if self.is_constant(positions):
            return x if positions == self.everywhere else y
        return f"({x} if {positions} & m != 0 else {y})"

    def call(self, name: str, x: str, y: str) -> str:
        return f"{name}({x}, {y}, p, np.int64(0))"

    def _place(self, x: Vec) -> str:
        """The array and index of a vector's value at position p."""
        return f"x{x.id}_val, p & 63" if x.id in self.kernel.local else f"{self.kernel.array(x, 'val')}, p"

    # ---- loops over positions ----

    def loop(self, word: str, body: Sequence[str]) -> None:
        """Run the body for each position of a word; a full word gets a loop that LLVM can vectorize."""
        if word == self.nowhere or not body:
            return
        word = self.named("word", word)
        every = ["for place in range(64):", *indented(["p = (w << 6) + place", "m = ONE << np.uint64(place)", *body])]
        self.lines += [f"if {word} == ALL:", *indented(every), "else:", *indented(_walked(word, body))]

    def walk(self, word: str, body: Sequence[str]) -> None:
        """Run the body for each position of a word, if SIMD would gain nothing."""
        if word != self.nowhere and body:
            self.lines += _walked(word, body)

    # ---- statements ----

    def write_values(self, s: Statement, here: str, found: Entries[str, str]) -> None:
        w, new = s.target, self.new_value(s, found.value, found.dtype)
        if isinstance(w, Scal):
            self.lines += [f"if {here} != 0:", f"    s{w.id} = {new}"]
        elif w.dtype is not BOOL:
            self.loop(here, [f"put({self._place(w)}, {new})"])
        elif here != self.nowhere:
            self.lines.append(f"t{w.id} = (t{w.id} & ~{here}) | {self.where(here, new)}")

    def write_entries(self, w: Vec | Scal, positions: str) -> None:
        if isinstance(w, Scal):
            self.lines.append(f"c{w.id} = {positions} != 0")
        elif positions != f"w{w.id}":
            self.lines.append(f"w{w.id} = {positions}")

    def write_cells(self, w: Vec, positions: str, x: str) -> None:
        if w.dtype is BOOL:
            self.lines.append(f"t{w.id} = (t{w.id} & ~{positions}) | {self.where(positions, x)}")
        else:
            self.loop(positions, [f"put({self._place(w)}, {x})"])

    def report_missing(self, positions: str, number: int) -> None:
        if positions != self.nowhere:
            self.lines += [f"if {positions} != 0:", f"    report_fault(state, {2 * number + 2}, np.int64(0))"]

    def _index(self, name: str, index: str, x: Vec, from_end: bool, number: int) -> Lines:
        """Set `name` to the index, or to -1 if it is out of range."""
        size = self.kernel.parameter(f"size{x.id}", "size", x.id)
        return [
            f"{name} = np.int64({index})",
            *([f"{name} = wrapped({name}, {size})"] if from_end else []),
            f"if {name} < 0 or {name} >= {size}:",
            f"    report_fault(state, {2 * number + 1}, np.int64({index}))",
            f"    {name} = np.int64(-1)",
        ]

    def gathered(self, s: Statement, e: Gather, positions: str) -> Entries[str, str]:
        x, w, kernel, signed = e.source, s.target, self.kernel, e.index.dtype.kind == "i"
        assert isinstance(w, Vec)
        name, at = f"found{kernel.number()}", f"at{kernel.number()}"
        self.lines.append(f"{name} = ZERO")
        has = f"{at} >= 0"
        if x.id not in kernel.full:
            has += f" and bit_of({kernel.array(x, 'bits')}, {at})"
        index = self.vector_value(e.index)
        lines = [*self._index(at, index, x, signed, e.number), f"if {has}:", f"    {name} |= m"]
        written = s.accum is None and w.id not in self.iso and w.dtype is not BOOL
        if written:  # no value between the gather and the store
            lines.append(f"    put({self._place(w)}, {self.cast(w.dtype, x.dtype, self._read(x, at))})")
        self.walk(positions, lines)
        if written:
            return Entries(name, "", x.dtype, written=True)
        # Read each value again where the others are available: its index has been checked, and is valid.
        index = f"np.int64({index})"
        return Entries(name, self._read(x, f"wrapped({index}, size{x.id})" if signed else index), x.dtype)

    def _read(self, x: Vec, at: str) -> str:
        """The value of a vector at any index."""
        if x.id in self.iso:
            return self.literal(x.dtype, self.iso[x.id])
        return f"{'bit_of' if x.dtype is BOOL else 'at'}({self.kernel.array(x, 'val')}, {at})"

    def combine(self, w: Vec, e: Scatter, positions: str, x: str) -> None:
        at = f"at{self.kernel.number()}"
        lines = self._index(at, "p" if e.index is None else self.vector_value(e.index), w, False, e.number)
        join = self._join(w, e.monoid, x, at)
        self.walk(positions, [*lines, *([f"if {at} >= 0:", *indented(join)] if join else [])])

    def _join(self, w: Vec, monoid: Typed, x: str, at: str) -> Lines:
        """Combine x into the cell at `at`."""
        val, any_ = self.kernel.array(w, "val"), monoid.op.name == "any"
        if w.dtype is BOOL:
            joined = {"lor": f"bit_of({val}, {at}) or {x}", "land": f"bit_of({val}, {at}) and {x}"}
            store = f"put_bit({val}, {at}, {joined.get(monoid.op.name, x)})"
        else:
            add = self.kernel.function(sum_of(monoid.op, w.dtype)[0][0])
            store = f"put({val}, {at}, {x if any_ else f'{add}(at({val}, {at}), {x})'})"
        if w.id in self.full:
            return [] if any_ else [store]
        bits, summary = self.kernel.array(w, "bits"), self.kernel.array(w, "sum")
        lines = [f"if not bit_of({bits}, {at}):", f"    {store}"] if any_ else [store]
        return [*lines, f"put_bit({bits}, {at}, True)", f"put_bit({summary}, {at} >> 6, True)"]

    # ---- sums and scalars ----

    def for_scalars(self) -> NumbaWords:
        """Statements on scalars run for a word with one position."""
        dialect = NumbaWords(self.kernel)
        dialect.lines.append("inside, m, p, w, place = ONE, ONE, np.int64(0), np.int64(0), np.int64(0)")
        return dialect

    def add_up(self, s: Statement, k: int) -> None:
        """sum{k}: the sum of the unit's entries so far; some{k}: whether there are any."""
        assert isinstance(s.value, Reduce)
        add, z = sum_function(s)
        x, dtype = self.value(s.value.u)
        has = self.named("word", self.has(s.value.u))
        x = self.cast(z, dtype, x)
        name = self.kernel.function(add)
        apart = _walked(has, [f"sum{k} = {name}(sum{k}, {x}) if some{k} else {x}", f"some{k} = True"])
        if dtype is BOOL:
            self.lines += apart
        else:
            self.lines += [f"if {has} == ALL:", *indented(_sum_of_word(k, name, x)), "else:", *indented(apart)]


def _walked(word: str, body: Sequence[str]) -> Lines:
    """A loop over the positions of a word."""
    return [
        f"rest = {word}",
        "while rest != 0:",
        "    place = np.int64(trailing_zeros(rest))",
        "    m = ONE << np.uint64(place)",
        "    rest = drop_lowest(rest)",
        "    p = (w << 6) + place",
        *indented(body),
    ]


def _sum_of_word(k: int, name: str, x: str) -> Lines:
    """The sum of all positions of a word, as eight independent sums, in the order in which a single statement adds them
    (reduce.cpu.py): results must not depend on when a loop switches from statements to the table."""
    lines = [line for i in range(8) for line in (f"p = (w << 6) + {i}", f"part{i} = {x}")]
    lines.append("for place in range(8, 64, 8):")
    for i in range(8):
        lines += indented([f"p = (w << 6) + place + {i}", f"part{i} = {name}(part{i}, {x})"])
    for step in (1, 2, 4):
        lines += [f"part{i} = {name}(part{i}, part{i + step})" for i in range(0, 8, 2 * step)]
    return [*lines, f"sum{k} = {name}(sum{k}, part0) if some{k} else part0", f"some{k} = True"]


# ---- kernels --------------------------------------------------------------------------------------------------------


class ElementwiseKernel(NamedTuple):
    """A kernel and its parameters. ends: it has an ending. listed: it processes only the words listed in summaries."""

    variant: Variant
    parameters: dict[str, Key]
    ends: bool
    listed: bool


def elementwise_kernel(
    statements: Sequence[Statement],
    iso: IsoValues,
    full: frozenset[int] = frozenset(),
    local: frozenset[int] = frozenset(),
    counted: Scal | None = None,
) -> ElementwiseKernel:
    """The kernel of these statements. counted: the scalar that is the loop condition."""
    kernel = NumbaKernel(iso, full, local)
    kernel.parameter("state", "state")
    kernel.parameter("size", "positions")
    listed = _listed_vectors(statements, full, local)
    scalars, sums = scalars_of(statements), [s for s in statements if isinstance(s.value, Reduce)]
    prelude = ["round_number = at(state, ROUND)"]
    for x in scalars:
        has, val = kernel.parameter(f"s{x.id}_has", "has", x.id), kernel.parameter(f"s{x.id}_val", "scalar", x.id)
        prelude += [f"c{x.id} = at({has}, 0) != 0", f"s{x.id} = at({val}, 0)"]
    phase = NumbaWords(kernel).phase(statements)
    written = [x for x in scalars if writes(statements, x)]
    body = _unit(kernel, statements, listed, phase.lines)
    if written:
        body = ["if lo < 0:", *indented(_ending(kernel, sums, phase.after, written, counted)), "else:", *indented(body)]
    head = f"@njit(**KERNEL)\ndef host_pass(lo, hi, {', '.join(kernel.parameters)}):"
    text = "\n".join([head, *indented([*prelude, *phase.before, *body])])
    script = f"# include: loop/cpu/control.cpu.py\n\n\n{text}\n"
    values, functions = tuple(kernel.values), tuple(kernel.functions)
    label = f"{len(statements)} statements"
    variant = Variant("loop/cpu/host_pass", (), (("LANES", 1),), values, functions, label, script=script)
    return ElementwiseKernel(variant, kernel.parameters, bool(written), listed is not None)


def needs_one_thread(statements: Sequence[Statement]) -> bool:
    """Whether several positions may write to one, so that a single thread must run the statements."""
    return any(isinstance(s.value, Scatter) for s in statements)


def _listed_vectors(
    statements: Sequence[Statement], full: frozenset[int], local: frozenset[int]
) -> tuple[Vec, ...] | None:
    """The vectors to whose nonempty words the statements can be restricted; None: they process all positions. Vectors
    without memory start without entries."""
    if not all(isinstance(s.value, (Elementwise, Reduce, Gather)) for s in statements):
        return None
    empty = [x for x in vectors_of(statements) if x.id in local]
    found = (sparse_vectors([FusedElementwise(list(statements))], empty) or frozenset()) - set(empty)
    if not found or any(x.id in full for x in found):
        return None
    return tuple(sorted(found, key=lambda x: x.id))


def _unit(
    kernel: NumbaKernel, statements: Sequence[Statement], listed: tuple[Vec, ...] | None, lines: Sequence[str]
) -> Lines:
    """The loop over units, and over the words of each."""
    vectors, sums = vectors_of(statements), [s for s in statements if isinstance(s.value, Reduce)]
    modified = [x for x in vectors if any(s.written == x for s in statements)]
    bits = [x for x in vectors if x.id not in kernel.full]
    truths = [x for x in vectors if x.dtype is BOOL and x.id not in kernel.iso]
    changed = [x for x in modified if x in bits and x.id not in kernel.local]
    start = [line for k, s in enumerate(sums) for line in _empty_sum(kernel, s, k)]
    start += [f"sum_of{x.id} = at({kernel.array(x, 'sum')}, unit)" for x in changed]
    word = ["inside = ALL", "if size - (w << 6) < 64:", "    inside = (ONE << np.uint64(size - (w << 6))) - ONE"]
    # A vector without memory starts with ZERO.
    read = lambda x, kind: "ZERO" if x.id in kernel.local else f"at({kernel.array(x, kind)}, w)"
    word += [f"w{x.id} = {read(x, 'bits')}" for x in bits] + [f"t{x.id} = {read(x, 'val')}" for x in truths]
    word += [*lines, "mark = ONE << np.uint64(w & 63)"]
    for x in changed:
        word += [f"put({kernel.array(x, 'bits')}, w, w{x.id})"]
        word += [f"sum_of{x.id} = (sum_of{x.id} & ~mark) | (np.uint64(w{x.id} != 0) << np.uint64(w & 63))"]
    for x in truths:
        if x in modified and x.id not in kernel.local:
            kept = f"t{x.id} & w{x.id}" if x in bits else f"t{x.id}"
            word.append(f"put({kernel.array(x, 'val')}, w, {kept})")
    if listed is None:
        inner = [*start, "for w in range(unit << 6, min((unit + 1) << 6, (size + 63) >> 6)):", *indented(word)]
    else:
        some = " | ".join(f"at({kernel.array(x, 'sum')}, unit)" for x in listed)
        step = ["w = (unit << 6) + np.int64(trailing_zeros(some))", "some = drop_lowest(some)"]
        inner = [*start, f"some = {some}", "while some != 0:", *indented([*step, *word])]
    inner += [f"put({kernel.array(x, 'sum')}, unit, sum_of{x.id})" for x in changed]
    for k, s in enumerate(sums):
        parts = kernel.parameter(f"parts{k}", "parts", k, sum_function(s)[1])
        inner.append(f"put({parts}, unit, sum{k})")
        inner.append(f"put({kernel.parameter(f'has{k}', 'there', k)}, unit, np.uint8(some{k}))")
    scratch = [
        f"x{x.id}_val = empty(np.int64(64), np.{x.dtype.np_type.name})"
        for x in vectors
        if x.id in kernel.local and x not in truths and x.id not in kernel.iso
    ]
    return [*scratch, "for unit in range(lo, hi):", *indented(inner)]


def _empty_sum(kernel: NumbaKernel, s: Statement, k: int) -> Lines:
    return [f"some{k} = False", f"sum{k} = {kernel.literal(sum_function(s)[1], 0)}"]


def _ending(
    kernel: NumbaKernel,
    sums: Sequence[Statement],
    last: Sequence[str],
    written: Sequence[Scal],
    counted: Scal | None,
) -> Lines:
    """Combine the sums of all units, compute the scalars that follow from them (`last`), and write the scalars."""
    lines: Lines = []
    for k, s in enumerate(sums):
        name = kernel.function(sum_function(s)[0])
        lines += [*_empty_sum(kernel, s, k), f"for unit in range(parts{k}.size):"]
        add = [f"x = at(parts{k}, unit)", f"sum{k} = {name}(sum{k}, x) if some{k} else x", f"some{k} = True"]
        lines += indented([f"if at(has{k}, unit) != 0:", *indented(add)])
    lines += last
    for x in written:
        lines += [f"put(s{x.id}_has, 0, np.uint8(c{x.id}))", f"put(s{x.id}_val, 0, s{x.id})"]
    if counted is not None:
        going = kernel.parameter("going", "going")
        true = f"s{counted.id}" if counted.dtype is BOOL else f"s{counted.id} != 0"
        lines.append(f"put({going}, 0, np.int64(c{counted.id} and {true}))")
    return lines
