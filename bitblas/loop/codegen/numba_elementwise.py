"""Generate the element-wise kernel of a CPU loop: fused statements, sums and scalars, as Numba Python.

Units are the words of a summary, 4096 positions each. A call for units -1 to 0 ends the kernel: it combines the sums
and writes the scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

from semirings.dtypes import BOOL

from ...kernels.variant import Variant
from ..analysis import sparse_vectors
from ..fuse import Pass, late_scalars
from ..ir import Elementwise, Gather, InitializeCells, IsoValues, Reduce, Scal, Scatter, Statement, Vec
from .cuda_elementwise import scalars_of, sum_function, vectors_of, writes
from .cuda_statements import Key
from .numba_statements import NumbaText, gather, indented, initialize_cells, scatter

UNIT = 4096  # positions per unit


def sparse_of(
    statements: Sequence[Statement], full: frozenset[int], local: frozenset[int] = frozenset()
) -> tuple[Vec, ...] | None:
    """The vectors to whose nonempty words the statements can be restricted; None: they process all positions. Vectors
    without memory start without entries."""
    if not all(isinstance(s.value, (Elementwise, Reduce, Gather)) for s in statements):
        return None
    empty = [x for x in vectors_of(statements) if x.id in local]
    found = (sparse_vectors([Pass(list(statements))], empty) or frozenset()) - set(empty)
    if not found or any(x.id in full for x in found):
        return None
    return tuple(sorted(found, key=lambda x: x.id))


def elementwise_variant_of(
    statements: Sequence[Statement],
    iso: IsoValues,
    full: frozenset[int] = frozenset(),
    local: frozenset[int] = frozenset(),
    counted: Scal | None = None,
) -> tuple[Variant, dict[str, Key], bool, bool]:
    """The kernel of these statements, its parameters, whether it has an ending, and whether it processes only the words
    listed in summaries. counted: the scalar that is the loop condition."""
    text = NumbaText(iso, full, local)
    text.parameter("state", "state")
    text.parameter("size", "positions")
    listed = sparse_of(statements, full, local)
    vectors, scalars = vectors_of(statements), scalars_of(statements)
    modified = [x for x in vectors if any(s.written == x for s in statements)]
    sums = [s for s in statements if isinstance(s.value, Reduce)]
    prelude = ["round_number = at(state, ROUND)"]
    for x in scalars:
        has, val = text.parameter(f"s{x.id}_has", "has", x.id), text.parameter(f"s{x.id}_val", "scalar", x.id)
        prelude += [f"c{x.id} = at({has}, 0) != 0", f"s{x.id} = at({val}, 0)"]
    late: list[str] = []
    lines = _words(text, statements, sums, prelude, late)
    written = [x for x in scalars if writes(statements, x)]
    ends = bool(written)
    body = _unit(text, vectors, modified, listed, sums, lines)
    end = _ending(text, sums, late, written, counted) if ends else []
    if ends:
        body = ["if lo < 0:", *indented(end), "else:", *indented(body)]
    names = ", ".join(text.parameters)
    script = "\n".join(
        [
            "# include: loop/cpu/places.cpu.py",
            "",
            "",
            "@njit(**KERNEL)",
            f"def host_pass(lo, hi, {names}):",
            *indented([*prelude, *body]),
            "",
        ]
    )
    label = f"{len(statements)} statements"
    constants = (("LANES", 1),)
    variant = Variant(
        "loop/cpu/host_pass", (), constants, tuple(text.values), tuple(text.functions), label, script=script
    )
    return variant, text.parameters, ends, listed is not None


def needs_one_thread(statements: Sequence[Statement]) -> bool:
    """Whether several positions may write to one, so that a single thread must run the statements."""
    return any(isinstance(s.value, Scatter) for s in statements)


def _words(
    text: NumbaText, statements: Sequence[Statement], sums: Sequence[Statement], prelude: list[str], late: list[str]
) -> list[str]:
    """The lines for a word. Statements on scalars alone are appended to the prelude or, after the sums, to `late`."""
    after = late_scalars(statements)
    for s in statements:
        if isinstance(s.value, Reduce):
            text.reduce(s, sums.index(s))
        elif isinstance(s.target, Scal):
            to = late if s in after else prelude
            outer, text.lines = text.lines, to
            text.scalar(s)
            to[:], text.lines = text.lines, outer
        elif isinstance(s.value, Gather):
            gather(text, s)
        elif isinstance(s.value, Scatter):
            scatter(text, s)
        elif isinstance(s.value, InitializeCells):
            initialize_cells(text, s)
        else:
            text.statement(s)
    return text.lines


def _unit(
    text: NumbaText,
    vectors: Sequence[Vec],
    modified: Sequence[Vec],
    listed: tuple[Vec, ...] | None,
    sums: Sequence[Statement],
    lines: Sequence[str],
) -> list[str]:
    """The loop over units, and over the words of each."""
    bits = [x for x in vectors if x.id not in text.full]
    truths = [x for x in vectors if x.dtype is BOOL and x.id not in text.iso]
    changed = [x for x in modified if x in bits and x.id not in text.local]
    start = [line for k, s in enumerate(sums) for line in (f"some{k} = False", f"sum{k} = {_zero(text, s)}")]
    start += [f"sum_of{x.id} = at({text.array(x, 'sum')}, unit)" for x in changed]
    word = ["inside = ALL", "if size - (w << 6) < 64:", "    inside = (ONE << np.uint64(size - (w << 6))) - ONE"]
    word += [f"w{x.id} = {_read(text, x, 'bits')}" for x in bits]
    word += [f"t{x.id} = {_read(text, x, 'val')}" for x in truths]
    word += [*lines, "mark = ONE << np.uint64(w & 63)"]
    for x in changed:
        word += [f"put({text.array(x, 'bits')}, w, w{x.id})"]
        word += [f"sum_of{x.id} = (sum_of{x.id} & ~mark) | (np.uint64(w{x.id} != 0) << np.uint64(w & 63))"]
    for x in truths:
        if x in modified and x.id not in text.local:
            kept = f"t{x.id} & w{x.id}" if x in bits else f"t{x.id}"
            word.append(f"put({text.array(x, 'val')}, w, {kept})")
    if listed is None:
        inner = [*start, "for w in range(unit << 6, min((unit + 1) << 6, (size + 63) >> 6)):", *indented(word)]
    else:
        some = " | ".join(f"at({text.array(x, 'sum')}, unit)" for x in listed)
        step = ["w = (unit << 6) + np.int64(trailing_zeros(some))", "some = drop_lowest(some)"]
        inner = [*start, f"some = {some}", "while some != 0:", *indented([*step, *word])]
    inner += [f"put({text.array(x, 'sum')}, unit, sum_of{x.id})" for x in changed]
    for k, s in enumerate(sums):
        parts, has = text.parameter(f"parts{k}", "parts", k, sum_function(s)[1]), text.parameter(f"has{k}", "there", k)
        inner += [f"put({parts}, unit, sum{k})", f"put({has}, unit, np.uint8(some{k}))"]
    scratch = [
        f"x{x.id}_val = empty(np.int64(64), np.{x.dtype.np_type.name})"
        for x in vectors
        if x.id in text.local and x not in truths and x.id not in text.iso
    ]
    return [*scratch, "for unit in range(lo, hi):", *indented(inner)]


def _read(text: NumbaText, x: Vec, kind: str) -> str:
    """Read a word of a vector; a vector without memory starts with ZERO."""
    return "ZERO" if x.id in text.local else f"at({text.array(x, kind)}, w)"


def _zero(text: NumbaText, s: Statement) -> str:
    return text.literal(sum_function(s)[1], 0)


def _ending(
    text: NumbaText, sums: Sequence[Statement], late: Sequence[str], written: Sequence[Scal], counted: Scal | None
) -> list[str]:
    lines: list[str] = []
    for k, s in enumerate(sums):
        assert isinstance(s.value, Reduce) and isinstance(s.target, Scal)
        name, z, w = text.function(sum_function(s)[0]), sum_function(s)[1], s.target
        lines += [f"some{k} = False", f"sum{k} = {_zero(text, s)}", f"for unit in range(parts{k}.size):"]
        lines += indented(
            [
                f"if at(has{k}, unit) != 0:",
                f"    x = at(parts{k}, unit)",
                f"    sum{k} = {name}(sum{k}, x) if some{k} else x",
                f"    some{k} = True",
            ]
        )
        if s.value.default is not None:
            lines += [f"if not some{k}:", f"    sum{k} = {text.literal(z, s.value.default)}", f"some{k} = True"]
        new = text.cast(w.dtype, z, f"sum{k}")
        if s.accum is not None:
            new = f"{text.accumulated(s.accum, w, z, f'sum{k}')} if c{w.id} else {new}"
        lines += [f"if some{k}:", f"    s{w.id} = {new}"]
        lines += [f"c{w.id} = some{k} or c{w.id}" if s.accum is not None else f"c{w.id} = some{k}"]
    lines += late
    for x in written:
        lines += [f"put(s{x.id}_has, 0, np.uint8(c{x.id}))", f"put(s{x.id}_val, 0, s{x.id})"]
    if counted is not None:
        going = text.parameter("going", "going")
        true = f"s{counted.id}" if counted.dtype is BOOL else f"s{counted.id} != 0"
        lines.append(f"put({going}, 0, np.int64(c{counted.id} and {true}))")
    return lines
