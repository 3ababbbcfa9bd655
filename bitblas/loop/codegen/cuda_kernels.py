"""Generate the CUDA kernels that run a loop's statements.

An element-wise kernel (elementwise.cu) runs fused statements, sums and scalars, position by position or by half words.
An advance includes statements that run at the entries of its frontier (AT_ENTRY). A round inside one cluster
(kernels/worklist_rounds.cuh) runs element-wise kernels and one advance on a worklist.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...kernels.variant import Variant
from ...operations.variants import BOTH, LEFT
from ..analysis import sparse_vectors
from ..fuse import Advance, FusedElementwise, Item
from ..ir import Elementwise, Gather, InitializeCells, IsoValues, Reduce, Scal, Statement, Vec
from .cuda_dialect import CudaKernel, CudaPositions, CudaWords, Key, Parameter, literal, macro
from .dialect import scalars_of, sum_function, vectors_of, writes

# ---- loads and stores at a position ---------------------------------------------------------------------------------


def _load(kernel: CudaKernel, x: Vec, written: bool, *, by_lanes: bool) -> tuple[str, str | None]:
    """Whether a vector has an entry at position p, and its value (None if it is not needed). by_lanes: bits are taken
    from half words that lanes hold."""
    c, local = x.dtype.c_type, x.id in kernel.local
    bit = lambda name: f"(__shfl_sync(ALL_LANES, {name}{x.id}, owner) >> at & 1u)"
    if x.id in kernel.full:
        has = "inside"
    elif local:
        has = "false"
    elif by_lanes:
        has = f"{bit('w')} != 0 && inside"
    else:
        kernel.bits(x, written=written)
        has = f"inside && bit_now(x{x.id}_bits, p)"
    if x.id in kernel.iso:
        return has, literal(x.dtype, kernel.iso[x.id])
    if local:
        return has, f"cast<{c}>(0)"
    if by_lanes and x.dtype is BOOL:
        return has, f"{bit('t')} != 0 && b{x.id}"
    kernel.values(x, written=written)
    return has, None if x.id in kernel.lazy else f"b{x.id} ? {_element(x)} : cast<{c}>(0)"


def _element(x: Vec) -> str:
    return f"bit_now(x{x.id}_val, p)" if x.dtype is BOOL else f"x{x.id}_val[p]"


def _declarations(
    kernel: CudaKernel, x: Vec, written: bool, *, at_once: bool = False, unread: bool = False
) -> list[str]:
    """Declare and load a vector's names. at_once: load the value without waiting for the bit, if latency matters more
    than the bytes read. unread: load nothing, because statements write it before they read it."""
    c, const = x.dtype.c_type, "const " if x.id in kernel.iso else ""
    has, value = _load(kernel, x, written, by_lanes=False)
    if unread:
        has, value = "false", value if x.id in kernel.iso else None
    lines = [f"bool b{x.id} = {has}; (void)b{x.id};"]
    value = f"cast<{c}>(0)" if value is None else value
    if at_once and x.id not in kernel.iso and x.id not in kernel.local:
        lines.insert(0, f"const {c} any{x.id} = {_element(x)};")
        value = f"b{x.id} ? any{x.id} : cast<{c}>(0)"
    return [*lines, f"{const}{c} v{x.id} = {value}; (void)v{x.id};"]


def _store_value(kernel: CudaKernel, x: Vec) -> str:
    """Store a vector's value where it has an entry."""
    if x.id in kernel.iso:
        return ""
    if x.dtype is BOOL:
        return f"if (b{x.id} && v{x.id}) set_bit(x{x.id}_val, p); else clear_bit(x{x.id}_val, p);"
    return f"if (b{x.id}) x{x.id}_val[p] = v{x.id};"


class Loads:
    """The loads of an element-wise kernel before its statements at a position. names: of loaded values, for several
    positions at once (`here`, with `members`). loads: their text. unloaded: names without memory. stores: run
    afterwards."""

    def __init__(
        self, kernel: CudaKernel, statements: Sequence[Statement], vectors: Sequence[Vec], modified: set[Vec]
    ) -> None:
        self.members: list[str] = []
        self.names: list[str] = []
        self.loads: list[str] = []
        self.unloaded: list[str] = []
        self.stores: list[str] = []
        self.words = 2 * sum(isinstance(s.value, Gather) for s in statements)  # registers per position
        unread = _overwritten(statements)
        for x in vectors:
            self._load(kernel, x, x in modified, x in unread and x.id in kernel.flagged)
            if x in modified and x.id not in kernel.local:
                self._store(kernel, x, any(s.target == x and isinstance(s.value, InitializeCells) for s in statements))

    def _load(self, kernel: CudaKernel, x: Vec, written: bool, unread: bool) -> None:
        c, local = x.dtype.c_type, x.id in kernel.local
        has, value = _load(kernel, x, written, by_lanes=True)
        unloaded = [f"bool b{x.id} = {has}; (void)b{x.id};"] if local else []
        if not local:
            self._name("bool", f"b{x.id}", has)
        if value is None or x.id in kernel.iso or local or unread:
            const = "const " if x.id in kernel.iso else ""
            value = f"cast<{c}>(0)" if value is None or unread else value
            unloaded.append(f"{const}{c} v{x.id} = {value}; (void)v{x.id};")
        else:
            self._name(c, f"v{x.id}", value)
            self.words += -(-x.dtype.np_type.itemsize // 4)
        self.unloaded += unloaded

    def _name(self, c: str, name: str, value: str) -> None:
        self.members.append(f"{c} {name};")
        self.names.append(f"{c}& {name} = here.{name}; (void){name};")
        self.loads.append(f"{name} = {value};")

    def _store(self, kernel: CudaKernel, x: Vec, ready: bool) -> None:
        has = "inside" if ready else f"b{x.id}"
        if x.id not in kernel.full:
            self.stores.append(f"put_bits(w{x.id}, owner, at, few, b{x.id});")
        if x.id in kernel.iso:
            return
        if x.dtype is BOOL:
            self.stores.append(f"put_bits(t{x.id}, owner, at, few, {has} && v{x.id});")
            return
        self.unloaded += [f"bool d{x.id} = false;"] * (x.id in kernel.flagged)
        has = f"d{x.id}" if x.id in kernel.flagged else has
        self.stores.append(f"if ({has}) x{x.id}_val[p] = v{x.id};")


def _overwritten(statements: Sequence[Statement]) -> set[Vec]:
    """The vectors that a kernel writes at every position before it reads them."""
    seen: set[Vec] = set()
    found: set[Vec] = set()
    for s in statements:
        seen.update(s.vectors)
        if s.written is not None and s.overwrites and s.written not in seen:
            found.add(s.written)
        seen.update(x for x in (s.written, *s.elsewhere) if x is not None)
    return found


def lazy_and_flagged(
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
    writers = [s for s in statements if s.written == x]
    for s in statements:
        e, mask = s.value, s.mask
        read = isinstance(e, Elementwise) and x in e.terms
        if mask is not None and mask.vec == x and not mask.structure:
            return False
        if s.written == x:
            if read or s.accum is None or len(writers) > 1:
                return False
        elif writers and read:
            return False
        if x in s.vectors and not isinstance(e, Elementwise):
            return False
        narrowed = (mask is not None and not mask.complement) or (isinstance(e, Elementwise) and e.mode == BOTH)
        if (read or s.written == x) and not narrowed:
            return False
        if isinstance(e, Elementwise) and e.under is not None and e.under.vec == x and not e.under.structure:
            return False
    return True


# ---- half words -----------------------------------------------------------------------------------------------------


def runs_by_words(statements: Sequence[Statement], kernel: CudaKernel) -> bool:
    """Whether an element-wise kernel only copies entries, or processes few of many positions. Values need memory, which
    vectors local to one kernel do not have."""
    large = positions(statements) >= tuning.count("loop.words_size")
    return all(_is_plain(s, kernel, large) for s in statements) and not any(
        isinstance(x, Vec) and x.id in kernel.local and x.id not in kernel.iso and x.dtype is not BOOL
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


def _is_plain(s: Statement, kernel: CudaKernel, large: bool) -> bool:
    """Whether masks and presence bits alone determine where a statement has a value; truth values are not read
    singly."""
    e = s.value
    if not isinstance(e, Elementwise) or not all(m is None or m.structure for m in (s.mask, e.under)):
        return False
    if isinstance(s.target, Scal):
        return True
    truths = [x for x in e.terms if isinstance(x, Vec) and x.dtype is BOOL and x.id not in kernel.iso]
    if e.op is None and s.accum is None:
        return not truths or s.target.dtype is BOOL
    kept = s.accum is not None and s.target.dtype is BOOL
    return large and not truths and not kept and e.mode in (LEFT, BOTH) and s.target.id not in kernel.iso


def loaded_truths(statements: Sequence[Statement], kernel: CudaKernel) -> set[Vec]:
    """The vectors of which a kernel by words loads truth values: those that it reads, or writes for other kernels."""
    read = {x for s in statements if isinstance(s.value, Elementwise) for x in s.value.terms if isinstance(x, Vec)}
    return read | {s.target for s in statements if isinstance(s.target, Vec) and s.target.id not in kernel.local}


def half_words(
    kernel: CudaKernel, vectors: Sequence[Vec], modified: set[Vec], truths: Container[Vec]
) -> tuple[list[str], list[str]]:
    """The loads and stores of the half words that a lane holds: bits and, for those of `truths`, truth values."""
    loads: list[str] = []
    stores: list[str] = []
    for x in vectors:
        local, kinds = x.id in kernel.local, [("w", "bits")] if x.id not in kernel.full else []
        if x.dtype is BOOL and x.id not in kernel.iso and x in truths:
            kinds.append(("t", "val"))
        for name, kind in kinds:
            if not local:
                (kernel.bits if kind == "bits" else kernel.values)(x, written=x in modified)
            value = "0u" if local else f"exists ? ((const u32*)x{x.id}_{kind})[mine] : 0u"
            loads.append(f"u32 {name}{x.id} = {value}; (void){name}{x.id};")
            if x in modified and not local:
                stores.append(f"((u32*)x{x.id}_{kind})[mine] = {name}{x.id};")
    return loads, stores


# ---- element-wise kernels -------------------------------------------------------------------------------------------


def fused_variant(
    statements: Sequence[Statement],
    iso: IsoValues,
    counted: Vec | Scal | None,
    full: frozenset[int] = frozenset(),
    local: frozenset[int] = frozenset(),
) -> tuple[Variant, tuple[Parameter, ...]]:
    """The kernel of these statements, and its parameters. full: vectors that have an entry everywhere. local: vectors
    without memory. counted: the loop condition, which is written to the state ("slot",): the number of entries
    of this vector, or the value of this scalar."""
    kernel = CudaKernel(iso, full, local, *lazy_and_flagged(statements, iso, local))
    vectors, scalars = vectors_of(statements), scalars_of(statements)
    modified = {s.written for s in statements if s.written is not None}
    sums = [s for s in statements if isinstance(s.value, Reduce)]
    dialect = CudaPositions(kernel)
    before = _load_scalars(dialect, statements)
    guards = _guards(kernel, statements, counted)
    ahead = bool(guards) and positions(statements) >= tuning.count("loop.wide_size")
    few = ahead and not sums and computes(statements)
    loads = None if not few and runs_by_words(statements, kernel) else Loads(kernel, statements, vectors, modified)
    truths: Container[Vec] = vectors
    if loads is None:
        truths = loaded_truths(statements, kernel)
        dialect = CudaWords(kernel, truths)
    phase = dialect.phase(statements)
    before += phase.before
    lines, stores, after = phase.lines, [], list[str]()
    if loads is not None:
        lines, stores = [*loads.unloaded, *lines], loads.stores
    if isinstance(counted, Vec):
        before.append("u64 remaining = 0;")
        has = "all" if counted.id in full else f"w{counted.id}"
        stores.append(f"remaining += b{counted.id};" if loads is not None else f"remaining += __popc({has});")
        kernel.parameter("u64* slot", "slot")
        after.append("add_of_block(slot + REMAINING, remaining);")
    written = [s for s in scalars if writes(statements, s)]
    if written:
        after += _ending(kernel, sums, phase.after, written, counted)
    stored = vectors if loads is None else [x for x in vectors if x.id not in local]
    load_words, store_words = half_words(kernel, stored, modified, truths)
    # Four blocks a multiprocessor leave 64 registers: too few to read and write six values of eight bytes.
    uses = (x for x in (*vectors, *modified) if isinstance(x, Vec) and x.id not in {*iso, *local})
    wide = [x for x in uses if x.dtype.nbytes == 8]
    macros = [
        f"#define RESIDENT {3 if few and len(wide) > 5 else 4}",
        f"#define BY_WORDS {int(loads is None)}",
        *_guard_macros(guards, ahead),
        macro("LOAD_WORDS", load_words),
        macro("STORE_WORDS", store_words),
        macro("PARAMETERS", [f", {p.declaration}" for p in kernel.parameters]),
        macro("BEFORE", before),
        macro("AFTER", after),
        macro("AT_WORDS" if loads is None else "AT_POSITION", [*lines, *stores]),
    ]
    if loads is not None:
        most = tuning.count("loop.wide_positions") if few else 0
        macros += [
            f"#define FEW {most}",
            f"#define POSITIONS {at_once(loads.words, len(statements), few)}",
            macro("MEMBERS", loads.members),
            macro("NAMES", loads.names),
            macro("LOAD", loads.loads),
        ]
    # The text contains no names of objects, because it is the cache key.
    label = f"{len(statements)} statements"
    functions, text = tuple(kernel.functions), "\n".join(macros) + "\n"
    return Variant("loop/gpu/elementwise", (), (("LANES", 1),), (), functions, label, text), tuple(kernel.parameters)


def _load_scalars(dialect: CudaPositions, statements: Sequence[Statement]) -> list[str]:
    return [dialect.load_scalar(x, "" if writes(statements, x) else "const ") for x in scalars_of(statements)]


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
    checked = tuning.count("loop.wide_half_words") if ahead else 1
    sample = [f"#define SAMPLE(i) ({_any_bits(guards, 'i')})"] * ahead
    return [f"#define SOME {own or 'true'}", f"#define AHEAD {checked}", *sample]


def _any_bits(vectors: Iterable[Vec], i: str) -> str:
    """The positions of half word i where any of these vectors has an entry."""
    return " | ".join(f"((const u32*)x{x.id}_bits)[{i}]" for x in sorted(vectors, key=lambda x: x.id))


def _guards(kernel: CudaKernel, statements: Sequence[Statement], counted: Vec | Scal | None) -> list[Vec]:
    """The vectors without whose entries there is no work at a position; none if there may always be work."""
    needed = {counted} if isinstance(counted, Vec) else set()
    sparse = sparse_vectors([FusedElementwise(list(statements), local=kernel.local)], needed, kernel.full)
    if sparse is None or any(x.id in kernel.full for x in sparse):
        return []
    return sorted(sparse, key=lambda x: x.id)


def _ending(
    kernel: CudaKernel,
    sums: Sequence[Statement],
    last: Sequence[str],
    written: Sequence[Scal],
    counted: Vec | Scal | None,
) -> list[str]:
    """The block that finishes last combines the sums of all blocks, computes the scalars that follow from them
    (`last`), and writes the scalars."""
    kernel.parameter("u32* ticket", "ticket")
    lines = ["__shared__ u8 has_here[BLOCK];"] if sums else []
    for k, _ in enumerate(sums):
        lines.append(
            f"join_block(some{k}, sum{k}, add{k}, here{k}, has_here); "
            f"if (threadIdx.x == 0) parts{k}[blockIdx.x] = sum{k}, has{k}[blockIdx.x] = some{k};"
        )
    lines.append("if (!is_last(ticket)) return;")
    # The partial sums of PARTS blocks, of all sums, are loaded before the first is used.
    lines += [f"some{k} = false;" for k, _ in enumerate(sums)]
    if sums:
        lines.append("for (u32 first = threadIdx.x; first < gridDim.x; first += PARTS * BLOCK) {")
        loads, adds = list[str](), list[str]()
        for k, s in enumerate(sums):
            lines.append(f"bool old_has{k}[PARTS]; {sum_function(s)[1].c_type} old{k}[PARTS];")
            loads.append(f"old_has{k}[i] = *(volatile u8*)(has{k} + at) && part == at;")
            loads.append(f"old{k}[i] = load_fresh(parts{k} + at);")
            added = f"sum{k} = some{k} ? add{k}(sum{k}, old{k}[i]) : old{k}[i]; some{k} = true;"
            adds.append(f"if (old_has{k}[i]) {{ {added} }}")
        each = "for (int i = 0; i < PARTS; ++i)"
        at = "const u32 part = first + i * BLOCK, at = part < gridDim.x ? part : first;"
        lines += [f"{each} {{ {at} {' '.join(loads)} }}", f"{each} {{ {' '.join(adds)} }}", "}"]
    lines += [f"join_block(some{k}, sum{k}, add{k}, here{k}, has_here);" for k, _ in enumerate(sums)]
    lines += ["if (threadIdx.x == 0) {", *last]
    lines += [f"s{w.id}_has[0] = c{w.id}; s{w.id}_val[0] = s{w.id};" for w in written]
    if isinstance(counted, Scal):
        kernel.parameter("u64* slot", "slot")
        lines.append(f"slot[REMAINING] = c{counted.id} && cast<bool>(s{counted.id});")
    return [*lines, "}"]


# ---- statements of an advance ---------------------------------------------------------------------------------------


def entry_text(
    statements: Sequence[Statement],
    u: Vec,
    iso: IsoValues,
    kernel: CudaKernel | None = None,
    *,
    whole: frozenset[Vec] = frozenset(),
    unread: frozenset[Vec] = frozenset(),
) -> tuple[CudaKernel, str]:
    """AT_ENTRY(i): the statements at an entry of u, all of which have the mask u.S. kernel: one in whose text scalars
    and the round already have names. whole: vectors whose presence is set elsewhere. unread: vectors whose contents are
    not read."""
    known, kernel = kernel is not None, kernel or CudaKernel(iso)
    full, kernel.full = kernel.full, kernel.full | {u.id}  # at an entry of u its bit need not be read
    dialect = CudaPositions(kernel)
    modified = {s.written for s in statements if s.written is not None}
    loads = [] if known else [dialect.load_scalar(s, "const ") for s in scalars_of(statements)]
    stores: list[str] = []
    for x in vectors_of(statements):
        loads += _declarations(kernel, x, x in modified, unread=x in unread)
        if x in modified:
            put = f"if (b{x.id}) set_bit(x{x.id}_bits, p); else clear_bit(x{x.id}_bits, p);"
            stores.append(f"{'' if x in whole else put} {_store_value(kernel, x)}".strip())
    lines = dialect.phase(statements).lines
    kernel.full = full
    here = "const i64 p = i; const bool inside = true; (void)p, (void)inside;"
    here += "" if known else " const i64 round = rounds[0] + ahead; (void)round;"
    body = [f"{{ {here}"] if statements else ["{ (void)(i);"]
    return kernel, macro("AT_ENTRY(i)", [*body, *loads, *lines, *stores, "}"])


def sum_text(
    statements: Sequence[Statement], frontier: Vec, t: Vec, emptied: frozenset[Vec], iso: IsoValues
) -> tuple[CudaKernel, str]:
    """AT_SUM(i): the statements at an entry of a frontier, all of which have its mask. t is `sum_here`, if `some_here`.
    emptied: vectors that are written before they are read, and not stored; EMPTY_WORD(k): word k of these."""
    local = frozenset(x.id for x in (frontier, t, *emptied))
    kernel = CudaKernel(iso, full=frozenset({frontier.id}), local=local)
    dialect = CudaPositions(kernel)
    modified = {s.written for s in statements if s.written is not None}
    loads = [dialect.load_scalar(s, "const ") for s in scalars_of(statements)]
    stores: list[str] = []
    for x in vectors_of(statements):
        if x == t:
            loads += [
                f"bool b{x.id} = some_here; {x.dtype.c_type} v{x.id} = sum_here;",
                f"(void)b{x.id}, (void)v{x.id};",
            ]
        elif x == frontier:
            loads.append(f"const bool b{x.id} = true, v{x.id} = true; (void)b{x.id}, (void)v{x.id};")
        else:
            loads += _declarations(kernel, x, x in modified)
        if x in modified and x.id not in local:
            loads.append(f"const bool was{x.id} = b{x.id};")
            stores.append(f"if (b{x.id} && !was{x.id}) set_bit(x{x.id}_bits, p);")
            stores.append(f"if (!b{x.id} && was{x.id}) clear_bit(x{x.id}_bits, p); {_store_value(kernel, x)}")
    lines = dialect.phase(statements).lines
    for x in sorted(emptied, key=lambda x: x.id):
        kernel.bits(x, written=True)
    empty = macro("EMPTY_WORD(k)", [f"x{x.id}_bits[k] = 0;" for x in sorted(emptied, key=lambda x: x.id)])
    here = "{ const i64 p = i, round = rounds[0] + ahead; const bool inside = true; (void)round, (void)inside;"
    return kernel, f"{empty}\n{macro('AT_SUM(i)', [here, *loads, *lines, *stores, '}'])}"


# ---- rounds on a worklist -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorklistRound:
    """A round in the form that a cluster runs: the element-wise kernels before its only advance and those after it, the
    sparse vectors, and the loop condition."""

    before: tuple[FusedElementwise, ...]
    advance: Advance
    after: tuple[FusedElementwise, ...]
    sparse: frozenset[Vec]
    condition: Vec | Scal

    @property
    def elementwise(self) -> tuple[FusedElementwise, ...]:
        return *self.before, *self.after

    @property
    def counted(self) -> bool:
        """Whether an element-wise kernel counts the remaining entries or computes a scalar condition; otherwise the
        advance counts."""
        return any(p.counted is not None for p in self.elementwise)


class WorklistPositions(CudaPositions):
    """Statements at the positions of a worklist, which the threads of a cluster share."""

    def sum_memory(self, k: int, z: DataType) -> str:
        return f"__shared__ Parts<{z.c_type}> part{k};"


def is_exact(s: Statement) -> bool:
    """Whether a sum is the same in any order: positions in a worklist are not ordered."""
    if not isinstance(s.value, Reduce):
        return True
    return s.value.monoid.op.is_exact_in_any_order or sum_function(s)[1].kind != "f"


def split_round(items: Sequence[Item]) -> tuple[list[FusedElementwise], list[Advance], list[FusedElementwise]]:
    """The element-wise kernels before the first advance, the advances, and the element-wise kernels after it."""
    advances = [item for item in items if isinstance(item, Advance)]
    at = items.index(advances[0]) if advances else len(items)
    elementwise = [(k, item) for k, item in enumerate(items) if isinstance(item, FusedElementwise)]
    return [p for k, p in elementwise if k < at], advances, [p for k, p in elementwise if k > at]


def worklist_text(round_: WorklistRound, iso: IsoValues) -> tuple[CudaKernel, tuple[Parameter, ...], str]:
    """The functions and macros of worklist_rounds.cuh, and its parameters. The vector that the advance writes is not
    among them: its buffers rotate inside the kernel."""
    local = frozenset(number for p in round_.elementwise for number in p.local)
    kernel, advance, rotating = CudaKernel(iso, local=local), round_.advance, round_.advance.target
    statements = [s for p in round_.elementwise for s in p.statements] + list(advance.before)
    for x in sorted(round_.sparse, key=lambda x: x.id):
        kernel.bits(x)
    declared = _load_scalars(CudaPositions(kernel), statements)
    stored = [
        f"if (small.me == 0) s{s.id}_has[0] = c{s.id}, s{s.id}_val[0] = s{s.id};"
        for s in scalars_of(statements)
        if writes(statements, s)
    ]
    before, after = (
        [line for p in elementwise for line in _worklist_elementwise(kernel, p, round_)]
        for elementwise in (round_.before, round_.after)
    )
    _, at_entry = entry_text(advance.before, advance.product.u, iso, kernel)
    remains = "small.q.all_remaining != 0"
    if isinstance(round_.condition, Scal):
        remains = f"c{round_.condition.id} && cast<bool>(s{round_.condition.id})"
    rotates = advance.product.u == rotating
    others = tuple(p for p in kernel.parameters if p.key not in (Key("bits", rotating.id), Key("val", rotating.id)))
    macros = [
        macro("PARAMETERS", [f", {p.declaration}" for p in others]),
        f"#define x{rotating.id}_bits small.b.bits",
        f"#define x{rotating.id}_val small.b.val",
        f"#define U_BITS {'small.b.bits' if rotates else 'u.bits'}",
        f"#define U_VAL {'(const STORED(U_T)*)small.b.val' if rotates else 'u.values'}",
        f"#define ADVANCE_FIRST {int(not round_.before)}",
        f"#define COUNTS_ADVANCE {int(not round_.counted)}",
        f"#define ANY_SPARSE(h) {_any_bits(round_.sparse, 'h')}",
        f"#define REMAINS {remains}",
        macro("SCALARS", declared),
        macro("STORE_SCALARS", stored),
        macro("KERNELS_BEFORE", before),
        macro("KERNELS_AFTER", after),
        at_entry,
    ]
    return kernel, others, "\n".join(macros) + "\n"


def _worklist_elementwise(kernel: CudaKernel, item: FusedElementwise, round_: WorklistRound) -> list[str]:
    """An element-wise kernel over the worklist. The first one after the advance clears what that has read; the last one
    before it, or of a round that ends with it, rebuilds the lists."""
    begins, clears = item is (round_.before or (None,))[0], item is (round_.after or round_.before)[0]
    rebuilds = item is (round_.before or round_.after)[-1]
    sums = [s for s in item.statements if isinstance(s.value, Reduce)]
    begin, lines, last = WorklistPositions(kernel).phase(item.statements)
    vectors, u = vectors_of(item.statements), round_.advance.product.u
    modified = {s.target for s in item.statements if isinstance(s.target, Vec) and s.target.id not in kernel.local}
    sparse = sorted(round_.sparse, key=lambda x: x.id)
    loads, stores = list[str](), list[str]()
    for x in vectors:
        loads += _declarations(kernel, x, x in modified, at_once=True)
        if x in modified:
            loads.append(f"const bool was{x.id} = b{x.id};")
            stores += _store_changes(kernel, x, round_)
    for x in sorted((round_.sparse | {u}) - set(vectors), key=lambda x: x.id) if rebuilds else ():
        loads.append(f"const bool b{x.id} = bit_now(x{x.id}_bits, p);")
        kernel.bits(x)
    ending = list[str]()
    if isinstance(item.counted, Vec):
        begin.append("u32 remaining = 0;")
        stores.append(f"remaining += b{item.counted.id};")
        ending.append("small.add_remaining(remaining);")
    if rebuilds:
        stores += [f"keep = {' || '.join(f'b{x.id}' for x in sparse)};", f"chosen = b{u.id};"]
    ending += [f"store_part(part{k}, some{k}, sum{k}, add{k});" for k, _ in enumerate(sums)]
    ending.append("meet_in_cluster();")
    ending += [f"join_parts(part{k}, some{k}, sum{k}, add{k});" for k, _ in enumerate(sums)]
    ending += [*last, *["small.current ^= 1;"] * rebuilds]
    flags = ", ".join("true" if flag else "false" for flag in (begins, clears, rebuilds))
    head = "(const i64 p, bool& keep, bool& chosen) { const bool inside = true; (void)inside, (void)keep, (void)chosen;"
    return ["{", *begin, f"small.visit<{flags}>([&]{head}", *loads, *lines, *stores, "});", *ending, "}"]


def _store_changes(kernel: CudaKernel, x: Vec, round_: WorklistRound) -> list[str]:
    """Store the changes of a vector at one position. Cells of the vector that the advance writes are reinitialized."""
    lines = [
        f"if (b{x.id} && !was{x.id}) set_bit(x{x.id}_bits, p); if (!b{x.id} && was{x.id}) clear_bit(x{x.id}_bits, p);"
    ]
    if x.id in kernel.iso:
        return lines
    lines.append(_store_value(kernel, x))
    if x.dtype is not BOOL and x == round_.advance.target:
        lines.append(f"if (CELLS_BEGIN && !b{x.id} && was{x.id}) x{x.id}_val[p] = C_T(BEGIN);")
    return lines
