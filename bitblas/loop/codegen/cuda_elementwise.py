"""Generate element-wise CUDA kernels: fused statements, sums and scalars as one kernel (pass.cu).

Also the statements that an advance includes (AT_ENTRY). Pure functions from statements to text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...kernels.variant import Function, Variant, sum_of
from ..analysis import sparse_vectors
from ..fuse import Pass, late_scalars
from ..ir import Gather, InitializeCells, IsoValues, Reduce, Scal, Statement, Vec
from .cuda_statements import CudaText, Parameter, literal, macro
from .cuda_words import computes, half_words, laziness, positions, runs_by_words, scalar_lines, truths, word_statements

# ---- CUDA C++ for the loads of an element-wise kernel before its statements at a position, and its stores (pass.cu).


def load_text(text: CudaText, x: Vec, written: bool, inside: str, *, at_once: bool = False) -> list[str]:
    """Load a vector's bit and value at position p. at_once: load the value without waiting for the bit, if latency
    matters more than the bytes read."""
    c = x.dtype.c_type
    bit, value = _loaded(text, x, written, inside, held=False)
    const = "const " if x.id in text.iso else ""
    if at_once and value is not None and x.id not in text.iso and x.id not in text.local:
        return [
            f"const {c} any{x.id} = {_element(x)};",
            f"bool b{x.id} = {bit}; (void)b{x.id};",
            f"{c} v{x.id} = b{x.id} ? any{x.id} : cast<{c}>(0); (void)v{x.id};",
        ]
    value = f"cast<{c}>(0)" if value is None else value
    return [f"bool b{x.id} = {bit}; (void)b{x.id};", f"{const}{c} v{x.id} = {value}; (void)v{x.id};"]


def _element(x: Vec) -> str:
    return f"bit_now(x{x.id}_val, p)" if x.dtype is BOOL else f"x{x.id}_val[p]"


def _loaded(text: CudaText, x: Vec, written: bool, inside: str, *, held: bool) -> tuple[str, str | None]:
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

    def __init__(
        self, text: CudaText, statements: Sequence[Statement], vectors: Sequence[Vec], modified: set[Vec]
    ) -> None:
        self.members: list[str] = []
        self.names: list[str] = []
        self.loads: list[str] = []
        self.own: list[str] = []
        self.stores: list[str] = []
        self.words = 2 * sum(isinstance(s.value, Gather) for s in statements)  # registers per position
        unread = _unread(statements)
        for x in vectors:
            self._load(text, x, x in modified, x in unread and x.id in text.flagged)
            if x in modified and x.id not in text.local:
                self._store(text, x, any(s.target == x and isinstance(s.value, InitializeCells) for s in statements))

    def _load(self, text: CudaText, x: Vec, written: bool, unread: bool) -> None:
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

    def _store(self, text: CudaText, x: Vec, ready: bool) -> None:
        has = "inside" if ready else f"b{x.id}"
        if x.id not in text.full:
            self.stores.append(f"put_bits(w{x.id}, owner, at, few, b{x.id});")
        if x.id in text.iso:
            return
        if x.dtype is BOOL:
            self.stores.append(f"put_bits(t{x.id}, owner, at, few, {has} && v{x.id});")
            return
        self.own += [f"bool d{x.id} = false;"] * (x.id in text.flagged)
        has = f"d{x.id}" if x.id in text.flagged else has
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


# ---- Generate the variant of an element-wise kernel: fused statements, sums and scalars as one kernel (pass.cu), and
# the statements that an advance includes (AT_ENTRY). Pure functions from statements to text.


def pass_variant(
    statements: Sequence[Statement],
    iso: IsoValues,
    counted: Vec | Scal | None,
    full: frozenset[int] = frozenset(),
    local: frozenset[int] = frozenset(),
) -> tuple[Variant, tuple[Parameter, ...]]:
    """The kernel of these statements. full: vectors that have an entry everywhere. local: vectors without memory.
    counted: the loop condition, which is written to the state ("slot",): the number of entries of this vector, or the
    value of this scalar."""
    text = CudaText(iso, full, local, *laziness(statements, iso, local))
    before, after = [], []
    scalars = scalars_of(statements)
    for x in scalars:
        const = "" if writes(statements, x) else "const "
        before.append(scalar_text(text, x, const))
    vectors = vectors_of(statements)
    modified = {s.written for s in statements if s.written is not None}
    sums = [s for s in statements if isinstance(s.value, Reduce)]
    guards = _guards(text, statements, counted)
    ahead = bool(guards) and positions(statements) >= tuning.count("loop.wide_size")
    few = ahead and not sums and computes(statements)
    words = not few and runs_by_words(statements, text)
    stores: list[str] = []
    late: list[str] = []
    loads: Loads | None = None
    if words:
        before += scalar_lines(text, statements)
        lines = word_statements(text, statements)
    else:
        loads = Loads(text, statements, vectors, modified)
        first, late = lines_of(text, statements, _begin)
        before, stores = before + first, loads.stores
        lines = [*loads.own, *text.lines]
    if isinstance(counted, Vec):
        before.append("u64 remaining = 0;")
        has = "all" if counted.id in text.full else f"w{counted.id}"
        lines, stores = (
            ([*lines, f"remaining += __popc({has});"], stores)
            if words
            else (lines, [*stores, f"remaining += b{counted.id};"])
        )
        text.parameter("u64* slot", "slot")
        after.append("add_of_block(slot + REMAINING, remaining);")
    written = [s for s in scalars if writes(statements, s)]
    if written:
        after += _ending(text, sums, late, written, counted)
    stored = vectors if words else [x for x in vectors if x.id not in text.local]
    held = half_words(text, stored, modified, truths(statements, text) if words else vectors)
    macros = [
        f"#define BY_WORDS {int(words)}",
        *_guard_macros(guards, ahead),
        macro("LOAD_WORDS", held[0]),
        macro("STORE_WORDS", held[1]),
        macro("PARAMETERS", [f", {p.declaration}" for p in text.parameters]),
        macro("BEFORE", before),
        macro("AFTER", after),
        macro("AT_WORDS" if words else "AT_POSITION", [*lines, *stores]),
    ]
    if loads is not None:
        own = tuning.count("loop.wide_positions")
        macros += [
            f"#define FEW {own if few else 0}",
            f"#define POSITIONS {at_once(loads.words, len(statements), few)}",
            macro("MEMBERS", loads.members),
            macro("NAMES", loads.names),
            macro("LOAD", loads.loads),
        ]
    # The text contains no names of objects, because it is the cache key.
    label = f"{len(statements)} statements"
    variant = Variant("loop/gpu/pass", (), (("LANES", 1),), (), tuple(text.functions), label, "\n".join(macros) + "\n")
    return variant, tuple(text.parameters)


def at_once(words: int, statements: int, few: bool = False) -> int:
    """How many positions a thread loads at once: as many as registers and the length of the text allow."""
    registers, lines = tuning.count("loop.load_registers"), tuning.count("loop.load_statements")
    for many in (2,) if few else (4, 2):
        if words * many <= registers and statements * many <= lines:
            return many
    return 1


def _guard_macros(guards: Sequence[Vec], ahead: bool) -> list[str]:
    """The macros that detect positions without work. ahead: before the work is done."""
    own = " | ".join(f"w{x.id}" for x in guards)
    there = " | ".join(f"((const u32*)x{x.id}_bits)[i]" for x in guards)
    checked = tuning.count("loop.wide_half_words") if ahead else 1
    look = [f"#define LOOK(i) ({there})"] * ahead
    return [f"#define SOME {own or 'true'}", f"#define AHEAD {checked}", *look]


def _guards(text: CudaText, statements: Sequence[Statement], counted: Vec | Scal | None) -> list[Vec]:
    """The vectors without whose entries there is no work at a position; none if there may always be work."""
    needed = {counted} if isinstance(counted, Vec) else set()
    sparse = sparse_vectors([Pass(list(statements), local=text.local)], needed, text.full)
    if sparse is None or any(x.id in text.full for x in sparse):
        return []
    found = sorted(sparse, key=lambda x: x.id)
    return found


def entry_text(
    statements: Sequence[Statement], u: Vec, iso: IsoValues, text: CudaText | None = None
) -> tuple[CudaText, str]:
    """AT_ENTRY(i): the statements at an entry of u, all of which have the mask u.S. text: an existing text, in which
    scalars and the round already have names."""
    known, text = text is not None, text or CudaText(iso)
    outer, text.lines = text.lines, []
    vectors = vectors_of(statements)
    modified = {s.written for s in statements if s.written is not None}
    loads: list[str] = []
    stores: list[str] = []
    for s in () if known else scalars_of(statements):
        loads.append(scalar_text(text, s, "const "))
    full, text.full = text.full, text.full | {u.id}  # at an entry of u its bit need not be read
    for x in vectors:
        loads += load_text(text, x, x in modified, "inside")
        if x in modified:
            put = f"if (b{x.id}) set_bit(x{x.id}_bits, p); else clear_bit(x{x.id}_bits, p);"
            if x.id not in iso:
                truth = f"if (b{x.id} && v{x.id}) set_bit(x{x.id}_val, p); else clear_bit(x{x.id}_val, p);"
                put += " " + (truth if x.dtype is BOOL else f"if (b{x.id}) x{x.id}_val[p] = v{x.id};")
            stores.append(put)
    for statement in statements:
        text.statement(statement)
    text.full = full
    here = "const i64 p = i; const bool inside = true; (void)p, (void)inside;"
    here += "" if known else " const i64 round = rounds[0] + ahead; (void)round;"
    body = [f"{{ {here}"] if statements else ["{ (void)(i);"]
    lines, text.lines = text.lines, outer
    return text, macro("AT_ENTRY(i)", [*body, *loads, *lines, *stores, "}"])


# ---- vectors and scalars --------------------------------------------------------------------------------------------


def lines_of(
    text: CudaText, statements: Sequence[Statement], begin: Callable[[CudaText, Statement, int], str]
) -> tuple[list[str], list[str]]:
    """Append the text of statements at a position. Returns the text before all positions (`begin` of each sum, and
    scalars), and the text of scalars that follow the sums."""
    before: list[str] = []
    after: list[str] = []
    sums, late = [s for s in statements if isinstance(s.value, Reduce)], late_scalars(statements)
    for s in statements:
        if isinstance(s.value, Reduce):
            before.append(begin(text, s, sums.index(s)))
            text.lines.append(take_text(s, sums.index(s)))
        elif isinstance(s.target, Scal):
            outer, text.lines = text.lines, []
            text.statement(s)
            (after if s in late else before).extend(text.lines)
            text.lines = outer
        else:
            text.statement(s)
    return before, after


def vectors_of(statements: Sequence[Statement]) -> list[Vec]:
    found: dict[Vec, None] = {}
    for s in statements:
        found |= dict.fromkeys(s.vectors)
        if s.written is not None:
            found[s.written] = None
    return sorted(found, key=lambda x: x.id)


def scalars_of(statements: Sequence[Statement]) -> list[Scal]:
    found: dict[int, Scal] = {}
    for s in statements:
        for t in (*s.terms, s.target):
            if isinstance(t, Scal) and t.id >= 0:
                found[t.id] = Scal(t.id, t.dtype)
    return [found[k] for k in sorted(found)]


def writes(statements: Sequence[Statement], s: Scal) -> bool:
    return any(isinstance(x.target, Scal) and x.target.id == s.id for x in statements)


def scalar_text(text: CudaText, s: Scal, const: str) -> str:
    """Load a scalar into its names."""
    text.parameter(f"{const}u8* s{s.id}_has", "scalar_has", s.id)
    text.parameter(f"{const}{s.dtype.c_type}* s{s.id}_val", "scalar_val", s.id)
    return (
        f"{const}bool c{s.id} = s{s.id}_has[0] != 0; {const}{s.dtype.c_type} s{s.id} = s{s.id}_val[0]; "
        f"(void)c{s.id}, (void)s{s.id};"
    )


# ---- sums and scalars -----------------------------------------------------------------------------------------------


def sum_function(s: Statement) -> tuple[Function, DataType]:
    assert isinstance(s.value, Reduce)
    monoid = s.value.monoid
    z = monoid.op.result_type(monoid.dtype)
    return sum_of(monoid.op, z)[0][0], z


def _begin(text: CudaText, s: Statement, k: int) -> str:
    add, z = sum_function(s)
    name, c = text.function(add), z.c_type
    text.parameter(f"{c}* parts{k}", "parts", k, z)
    text.parameter(f"u8* has{k}", "has", k)
    return (
        f"const auto add{k} = [](const {c} x, const {c} y) {{ return {name}(x, y); }}; "
        f"bool some{k} = false; {c} sum{k} = cast<{c}>(0); __shared__ {c} here{k}[BLOCK];"
    )


def take_text(s: Statement, k: int) -> str:
    assert isinstance(s.value, Reduce)
    u, c = s.value.u.id, sum_function(s)[1].c_type
    return f"if (b{u}) {{ const {c} x = cast<{c}>(v{u}); sum{k} = some{k} ? add{k}(sum{k}, x) : x; some{k} = true; }}"


def _ending(
    text: CudaText, sums: Sequence[Statement], late: Sequence[str], written: Sequence[Scal], counted: Vec | Scal | None
) -> list[str]:
    """The last finishing block combines the sums of all blocks, computes the scalars in `late`, and writes the
    scalars."""
    text.parameter("u32* ticket", "ticket")
    lines = ["__shared__ u8 has_here[BLOCK];"] if sums else []
    for k, _ in enumerate(sums):
        lines.append(
            f"join_block(some{k}, sum{k}, add{k}, here{k}, has_here); "
            f"if (threadIdx.x == 0) parts{k}[blockIdx.x] = sum{k}, has{k}[blockIdx.x] = some{k};"
        )
    lines.append("if (!is_last(ticket)) return;")
    for k, s in enumerate(sums):
        c = sum_function(s)[1].c_type
        lines.append(
            f"some{k} = false; for (u32 part = threadIdx.x; part < gridDim.x; part += BLOCK) "
            f"if (*(volatile u8*)(has{k} + part)) {{ const {c} x = load_fresh(parts{k} + part); "
            f"sum{k} = some{k} ? add{k}(sum{k}, x) : x; some{k} = true; }} "
            f"join_block(some{k}, sum{k}, add{k}, here{k}, has_here);"
        )
    lines.append("if (threadIdx.x == 0) {")
    for k, s in enumerate(sums):
        lines.append(store_sum(text, s, k))
    lines += late
    for w in written:
        lines.append(f"s{w.id}_has[0] = c{w.id}; s{w.id}_val[0] = s{w.id};")
    if isinstance(counted, Scal):
        text.parameter("u64* slot", "slot")
        lines.append(f"slot[REMAINING] = c{counted.id} && cast<bool>(s{counted.id});")
    return [*lines, "}"]


def store_sum(text: CudaText, s: Statement, k: int) -> str:
    """Store the scalar of a sum: s(accum) << sum."""
    assert isinstance(s.value, Reduce) and isinstance(s.target, Scal)
    z, default, w = sum_function(s)[1], s.value.default, s.target
    has, x = f"some{k}", f"sum{k}"
    if default is not None:
        has, x = "true", f"(some{k} ? sum{k} : {literal(z, default)})"
    new = f"cast<{w.dtype.c_type}>(t)"
    if s.accum is not None:
        new = f"c{w.id} ? {text.accumulated(s.accum, w.dtype, z, f's{w.id}')} : {new}"
    kept = f" || c{w.id}" if s.accum is not None else ""
    return f"{{ const {z.c_type} t = {x}; if ({has}) s{w.id} = {new}; c{w.id} = {has}{kept}; }}"
