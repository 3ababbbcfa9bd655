"""Kernel variants of operations and products: pure functions from operators and types to Variants.

Vectors and products first, then matrices, then multivectors (formats/bitmap).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from semirings import BinaryOp, Monoid, Operator, Semiring, Typed
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT8, UINT16, UINT32, UINT64, DataType
from semirings.expressions import Expression, names_in, rename

from .. import tuning
from ..formats import CSR, format_of
from ..formats.contract import PullCase
from ..kernels.variant import Function, Variant, is_neutral, lets, product, product_of_entries, sum_of, value
from ..plan.epilogue import Epilogue
from ..plan.product import LANE_EXPRESSIONS, VALUES, WORDS

# ---- Kernel variants of vector operations and products: pure functions from operators and types to Variants.

LEFT, BOTH, UNION, FILLED = range(4)  # elementwise.cu
# Values of the names in an operator's expression: the first operand u and the second v of the kernel.
LET = {
    "xy": (("x", "u"), ("y", "v")),
    "yx": (("x", "v"), ("y", "u")),
    "x": (("x", "u"),),
    "xt": (("x", "u"), ("t", "v")),
}
CELLS = (INT32, UINT32, INT64, UINT64, FP32, FP64)  # types that atomics can compare and swap
ATOMICS = {"plus": 1, "min": 2, "max": 3}  # `place` in vector.cu
PLAIN, LOR = BINARY["pair"], BINARY["lor"][BOOL]
Types = tuple[tuple[str, DataType], ...]


def cell_of(z: DataType) -> DataType:
    """The type of the cells in which a push combines sums of type z. Complex numbers are never compared and swapped:
    only monoids that are exact in any order are pushed, which for them is `any`, whose first product stays."""
    return z if z in CELLS or z.kind == "c" else INT32


def cast_function(name: str, source: DataType, to: DataType) -> Function:
    """name(a): a GraphBLAS cast."""
    return Function(name, to, (("a", source),), (("z", to, "a"),), "z")


def binary_of(op: Typed) -> Typed:
    """A binary operator, or that of a monoid."""
    return op.op.binaryop[op.op.compute_type(op.dtype)] if isinstance(op.op, Monoid) else op


def epilogue_functions(w: DataType, t: DataType, accum: Typed | None) -> tuple[Function, ...]:
    """take(t), the cast to the type of w, and accum(w, t); the latter is unused without an accumulator."""
    take = cast_function("take", t, w)
    if accum is None:
        return take, Function("accum", w, (("a", w), ("b", t)), (), "a")
    op = binary_of(accum)
    compute = op.op.compute_type(op.dtype)
    inner = Function("joined", op.return_type, (("x", compute), ("y", compute)), (), op.op.expr)
    let = lets(op.op, op.dtype, ("x", w, "a"), ("y", t, "b"))
    finish = cast_function("finished", op.return_type, w)
    return take, inner, finish, Function("accum", w, (("a", w), ("b", t)), let, "finished(joined(x, y))")


def epilogue_constants(t: DataType, fresh: bool, iso: bool) -> Constants:
    """The constants of elementwise.cu that say how a result is merged."""
    flags = {"FRESH": fresh, "W_ISO": iso, "W_BOOL": t is BOOL, "T_BOOL": t is BOOL}
    return tuple((name, int(flag)) for name, flag in flags.items())


def elementwise_variant(
    mode: int,
    op: Typed[Operator],
    u: DataType,
    v: DataType,
    bound: str,
    *,
    keep: bool = False,
    places: bool = False,
    fresh: bool = True,
    iso: bool = False,
) -> tuple[Variant, DataType]:
    """The kernel for w<mask> = op(u, v), and the type of w, which is that of the result; `bound` is a key of LET.

    fresh: nothing of w is kept. iso: only presence is written.
    """
    result = op.op.result_type(op.dtype)
    args = (("u", u), ("v", v), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr) if op.op.positional else {n for n, _ in LET[bound]}
    let = lets(op.op, op.dtype, *((n, dict(args)[a], a) for n, a in LET[bound] if n in used))
    t = u if keep else result
    functions = (
        Function("f", result, args, let, expr),
        cast_function("take_u", u, t),
        cast_function("take_v", v, t),
        cast_function("take_f", result, t),
    )
    constants = (
        ("MODE", mode),
        ("KEEP", int(keep)),
        ("PLACES", int(places)),
        ("LANES", 32),
        ("U_BOOL", int(u is BOOL)),
        ("V_BOOL", int(v is BOOL)),
        *epilogue_constants(t, fresh, iso),
    )
    types = (("U", u), ("V", v), ("T", t), ("W", t))
    return Variant("kernels/elementwise", types, constants, (), functions, repr(op)), t


def reduce_variant(monoid: Typed[Monoid], u: DataType, flags: bool = False) -> tuple[Variant, DataType]:
    """The kernel that reduces the entries of a vector of type `u`, and the type of the result. flags: presence and BOOL
    values are bytes, not bits (the results of chunks, to be reduced again)."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    bits = int(u is BOOL and not flags)
    constants = (("LANES", 256), ("FLAGS", int(flags)), ("U_BOOL", bits), ("HAS_TERMINAL", terminal))
    functions = (*functions[:1], cast_function("take", u, z))
    return Variant("kernels/reduce", (("U", u), ("Z", z)), constants, values[:1], functions, repr(monoid)), z


def merge_variant(t: DataType, end: Epilogue) -> Variant:
    """The kernel for w<mask, accum, replace> = t, for a t of type `t`; presence-only merges are one variant for all
    types."""
    if not end.store:
        t, end = BOOL, end._replace(w=BOOL, accum=end.accum and LOR)
    constants = (("LANES", 64), ("T_BOOL", int(t is BOOL)), *end.constants())
    types = (("W", end.w), ("T", t))
    return Variant("kernels/merge", types, constants, (), epilogue_functions(end.w, t, end.accum), repr(end.accum))


def vector_variant(kernel: str, u: DataType, **constants: int) -> Variant:
    """A kernel on vectors of one type that needs no operator."""
    constants = {"LANES": 1, "U_BOOL": int(u is BOOL), **constants}
    return Variant(f"kernels/{kernel}", (("U", u),), tuple(constants.items()))


def place_variant(u: DataType, t: DataType, *, values: bool, clear: bool = False, bits: bool = True) -> Variant:
    """The kernel for t(where[k]) = u(k), each index once. values, bits: they are written."""
    constants = (
        ("LANES", 1),
        ("JOIN", 0),
        ("MARKS", int(bits)),
        ("CLEAR", int(clear)),
        ("DENSE", int(values)),
        ("U_BOOL", int(u is BOOL)),
        ("T_BOOL", int(t is BOOL)),
    )
    types = (("U", u), ("T", t), ("Z", t))
    unused = (Function("add", t, (("x", t), ("y", t)), (), "x"), cast_function("take_t", t, t))
    functions = (cast_function("take", u, t), *unused, cast_function("back", t, t))
    return Variant("kernels/place", types, constants, (), functions)


def sum_by_index_variant(u: DataType, monoid: Typed[Monoid]) -> tuple[Variant, DataType]:
    """The kernel for t(where[k]) (+)= u(k) in any order, and the type of the cells of t."""
    z = monoid.op.result_type(monoid.dtype)
    cell = cell_of(z)
    functions, values, terminal = sum_of(monoid.op, z)
    casts = (("take", u, z), ("take_t", cell, z), ("back", z, cell))
    functions = (*functions[:1], *(cast_function(*c) for c in casts))
    constants = (
        ("LANES", 1),
        ("JOIN", 1),
        ("MARKS", 1),
        ("CLEAR", 0),
        ("DENSE", 1),
        ("U_BOOL", int(u is BOOL)),
        ("T_BOOL", 0),
        ("HAS_TERMINAL", terminal),
        ("ATOMIC", ATOMICS.get(monoid.op.name, 0) if z is cell and z.kind in "iu" else 0),
    )
    types = (("U", u), ("T", cell), ("C", cell), ("Z", z))
    return Variant("kernels/place", types, constants, values, functions, repr(monoid)), cell


def fold_variant(op: Typed[Operator], a: DataType) -> tuple[Variant, DataType]:
    """The kernel of a left fold over segments of values of type `a` by a binary operator."""
    z = op.return_type
    let = lets(op.op, op.dtype, ("x", z, "p"), ("y", z, "q"))
    functions = (Function("add", z, (("p", z), ("q", z)), let, op.op.expr), cast_function("take", a, z))
    return Variant("kernels/fold", (("A", a), ("Z", z)), (), (), functions, repr(op)), z


def algebra_of(semiring: Typed[Semiring] | None, z: DataType = BOOL) -> tuple[BinaryOp, DataType, Monoid, DataType]:
    """Multiplier and its type, monoid and the type of the sum. WORDS, with semiring None, needs none of them and is one
    variant for all semirings whose sums have the type z."""
    if semiring is None:
        return PLAIN, BOOL, MONOIDS["any"], z
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    return op, t, semiring.op.monoid, op.result_type(t)


def initial_sum(monoid: Monoid, z: DataType) -> Any:
    """The initial value of a sum: the identity, but NaN if identity + NaN is not NaN (min and max of floats), and -0.0
    for float sums, since 0.0 + -0.0 is 0.0."""
    if z.kind in "fc" and monoid.name == "plus":
        return -0.0 if z.kind == "f" else complex(-0.0, -0.0)
    return monoid.identity(z) if is_neutral(monoid, z) or z.kind != "f" else np.nan


def may_compute_unneeded(op: Operator, monoid: Monoid, z: DataType, kinds: str = "fiu") -> bool:
    """Whether unneeded products may be computed too, for instance for missing entries of the vector: for numbers, whose
    values may be undefined, and by operators of this library only, because others may not terminate."""
    user_defined = isinstance(op.expr, Expression) or isinstance(monoid.binaryop.expr, Expression)
    return z.kind in kinds and monoid.name != "any" and not user_defined


def sentinel_kind(op: Operator, monoid: Monoid, z: DataType, u: DataType) -> int:
    """The sentinel that may replace missing entries of the vector: 1: NaN, 2: an unused integer (3: for sums whose
    order matters), else 0; see csr/pull.cpu.py."""
    if not may_compute_unneeded(op, monoid, z) or u is BOOL or u.kind not in "fiu":
        return 0
    return 1 if u.kind == "f" else 2 if z.kind != "f" else 3


@functools.cache
def pull_variant(
    key: str,
    types: Types,
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    u: DataType,
    *,
    flip: bool,
    full: bool,
    ranked: bool,
    lanes: int,
    end: Epilogue,
    staged: bool = False,
    padded: bool = True,
    width: int = 0,
    packed: bool = False,
    kernel: str = "pull",
    more: tuple[tuple[str, int], ...] = (),
) -> Variant:
    """The pull kernel of a format for a semiring (None for WORDS) with an epilogue.

    padded: the last tile column is wider than the matrix. staged: see `is_staged`; width: see `BinnedPull.width`.
    packed: the matrix's values are bit-packed. kernel, more: another kernel, and its constants instead of these.
    """
    op, t, monoid, z = algebra_of(semiring, end.z)
    functions, values, terminal = sum_of(monoid, z)
    padded = padded or not full or kind != VALUES or ranked  # kernels that do not depend on it share one variant
    constants = [("U_FULL", int(full)), ("HAS_TERMINAL", terminal), ("LANES", lanes), *end.constants()]
    many_blocks = full and max(t.nbytes for t in (a, u, z, end.w)) <= 4
    case = PullCase(ranked, is_neutral(monoid, z), padded, many_blocks, staged, width)
    constants += format_of(key).kernels["mxv.pull"].constants(case)
    blend = (int(may_compute_unneeded(op, monoid, z)) + sentinel_kind(op, monoid, z, u)) if kind == VALUES else 0
    constants += [("VALUES_PACKED", int(packed)), ("BLEND", blend)]
    functions = (*functions, *epilogue_functions(end.w, z, end.accum))
    values = (*values, value("BEGIN", z, initial_sum(monoid, z)))
    constants = list((dict(constants) | dict(more)).items())
    return _product_variant(
        kernel, key, (*types, ("W", end.w)), semiring, kind, (op, t, a, u, z), flip, constants, values, functions
    )


tuning.on_change(pull_variant.cache_clear)


@functools.cache
def push_variant(
    key: str,
    types: Types,
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    u: DataType,
    *,
    flip: bool,
    ranked: bool,
    lanes: int,
    packed: bool = False,
    kernel: str = "push",
) -> Variant:
    """The push kernel of a format for a semiring; `semiring` is None for WORDS. kernel: or "push_list"."""
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    cell = cell_of(z)
    constants = [("U_FULL", 0), ("HAS_TERMINAL", terminal), ("LANES", lanes)]
    constants += format_of(key).kernels["mxv.push"].constants(ranked=ranked, neutral=is_neutral(monoid, z))
    constants += [
        ("VALUES_PACKED", int(packed)),
        ("BLEND", int(kind == VALUES and may_compute_unneeded(op, monoid, z, "fiub"))),
    ]
    functions = (*functions, cast_function("take", cell, z))
    values = (*values, value("BEGIN", z, initial_sum(monoid, z)))
    return _product_variant(
        kernel, key, (*types, ("C", cell)), semiring, kind, (op, t, a, u, z), flip, constants, values, functions
    )


tuning.on_change(push_variant.cache_clear)


def blank_variant(monoid: Monoid, z: DataType, cell: DataType) -> Variant:
    """The kernel that initializes the vector into which a push combines its products."""
    begin = value("BEGIN", cell, cell.np_type.type(initial_sum(monoid, z)))
    return Variant("kernels/blank", (("C", cell),), (("LANES", 64),), (begin,))


def _product_variant(
    direction: str,
    key: str,
    types: Types,
    semiring: Typed[Semiring] | None,
    kind: int,
    algebra: tuple[BinaryOp, DataType, DataType, DataType, DataType],
    flip: bool,
    constants: list[tuple[str, int]],
    values: Any,
    functions: tuple[Function, ...],
) -> Variant:
    """Shared by pull and push: the multiplier, and the types of the operands."""
    op, t, a, u, z = algebra
    if kind != VALUES:
        op, t, a, u, flip = PLAIN, BOOL, BOOL, BOOL, False
    mul = product(op, t, a, u, flip=flip)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    constants = [("KIND", kind), ("U_BOOL", int(u is BOOL)), ("Z_BOOL", int(z is BOOL)), *constants]
    label = "words" if semiring is None else repr(semiring)
    types = (*types, ("A", a), ("U", u), ("Z", z))
    return Variant(format_of(key).kernel(direction), types, tuple(constants), values, (*functions, mul), label)


@functools.cache
def lanes_variant(
    key: str,
    types: tuple[tuple[str, DataType], ...],
    semiring: Typed[Semiring],
    kind: int,
    *,
    flip: bool,
    full: bool = False,
    tables: bool = False,
    kernel: str = "lanes",
) -> Variant:
    """The CPU's kernel that pulls by whole tiles, for semirings that `is_wide` allows. tables: it reads lookup tables
    that the kernel of that name builds from the vector."""
    op, _, monoid, z = algebra_of(semiring)
    functions, values, _ = sum_of(monoid, z)
    begin, format = value("BEGIN", z, initial_sum(monoid, z)), format_of(key)
    constants = [
        ("KIND", kind),
        *format.kernels["mxv.pull.wide"],
        ("FLIP", int(flip)),
        ("U_BOOL", 0),
        ("HAS_TERMINAL", 0),
    ]
    if kind == VALUES:
        exprs = (("ADD", monoid.binaryop.expr), ("MUL", op.expr))
        constants += [(name, LANE_EXPRESSIONS.index(expr)) for name, expr in exprs]
    constants += [("U_FULL", int(full)), ("TABLES", int(tables))]
    return Variant(format.kernel(kernel), types, tuple(constants), (*values, begin), functions, repr(semiring))


@functools.cache
def hubs_variant(semiring: Typed[Semiring] | None, kind: int, rows: int, end: Epilogue) -> Variant:
    """The kernel that combines the segments of long rows for a pull kernel; `rows` of them per unit."""
    _, _, monoid, z = algebra_of(semiring, end.z)
    functions, values, terminal = sum_of(monoid, z)
    constants = (("KIND", kind), ("HAS_TERMINAL", terminal), ("ROWS", rows), ("LANES", 256), *end.constants())
    functions = (functions[0], *epilogue_functions(end.w, z, end.accum))
    label = "words" if semiring is None else repr(semiring)
    return Variant("kernels/hubs", (("W", end.w), ("Z", z)), constants, values, functions, label)


# ---- Kernel variants of matrix operations: pure functions from operators and types to Variants.

Constants = tuple[tuple[str, int], ...]


@functools.cache
def packed_constants(*keys: str) -> Constants:
    """Constants for columns.cuh: which of the operands A, B and M (the mask) have packed columns, by their
    formats."""
    return tuple((f"{name}_PACKED", int(format_of(key).packed)) for name, key in zip("ABM", keys, strict=False))


class _Algebra(NamedTuple):
    """The compile-time parameters of kernels of one semiring (None: WORDS) on values of two types."""

    monoid: Monoid
    z: DataType  # of the sums
    types: Types
    values: Any
    functions: tuple[Function, ...]
    terminal: int
    label: str


def _algebra(semiring: Typed[Semiring] | None, kind: int, a: DataType, b: DataType) -> _Algebra:
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, b = PLAIN, BOOL, BOOL, BOOL
    mul = product_of_entries(op, t, a, b)
    if mul.result is not z:
        mul = mul._replace(result=z)
    types = ("A", a), ("B", b), ("Z", z)
    label = "words" if semiring is None else repr(semiring)
    return _Algebra(monoid, z, types, values, (*functions, mul), terminal, label)


@functools.cache
def dot_variant(
    key: str,
    types: tuple[tuple[str, DataType], ...],
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    b: DataType,
    lanes: int,
    wide: bool = False,
    mask: str = CSR,
) -> Variant:
    """The dot kernel of a format for a semiring; `semiring` is None for WORDS. wide: the CPU's, by whole tiles. mask:
    its format, if by rows."""
    of, format = _algebra(semiring, kind, a, b), format_of(key)
    extra = format.kernels["dot"].constants(types, lanes, format_of(mask))
    constants = (("KIND", kind), ("U_BOOL", 0), ("Z_BOOL", int(of.z is BOOL)), ("HAS_TERMINAL", of.terminal), *extra)
    kernel = format.kernels["dot.wide"] if wide else format.kernel("dot")
    return Variant(kernel, (*types, *of.types), constants, of.values, of.functions, of.label)


tuning.on_change(dot_variant.cache_clear)


@functools.cache
def gustavson_variant(
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    b: DataType,
    fill: int,
    packed: Constants,
    alike: bool = False,
) -> Variant:
    """The CPU's row-by-row mxm for a semiring (None for WORDS). fill 0: the counting pass, one for all semirings.
    alike: search for rows of B with equal columns."""
    if not fill:
        semiring, kind = None, WORDS
    of = _algebra(semiring, kind, a, b)
    constants = (("KIND", kind), ("FILL", fill), ("ALIKE", int(alike)), ("U_BOOL", 0), ("HAS_TERMINAL", 0), *packed)
    return Variant("formats/csr/gustavson", (("Z", of.z),), constants, of.values, of.functions, of.label)


@functools.cache
def rows_variant(
    kernel: str,
    types: tuple[tuple[str, DataType], ...],
    semiring: Typed[Semiring] | None,
    kind: int,
    a: DataType,
    b: DataType,
    fill: int,
    constants: Constants,
    single: bool = False,
) -> Variant:
    """The GPU's row-by-row mxm ("short_rows", "long_rows"); fill 0 counts, and needs no semiring, like WORDS. single:
    no row of B has more than one entry."""
    if not fill or kind == WORDS:
        semiring, kind = None, WORDS
    of = _algebra(semiring, kind, a, b)
    constants = (
        ("KIND", kind),
        ("FILL", fill),
        ("SINGLE", int(single)),
        ("U_BOOL", 0),
        ("HAS_TERMINAL", of.terminal),
        *constants,
    )
    values = (*of.values, value("BEGIN", of.z, initial_sum(of.monoid, of.z)))
    return Variant(f"formats/csr/{kernel}", (*types, *of.types), constants, values, of.functions, of.label)


@functools.cache
def match_variant(types: Types, packed: Constants) -> Variant:
    """The kernel that searches the entries of A in B."""
    return Variant("formats/csr/match", types, (("LANES", 1), *packed))


@functools.cache
def select_rows_variant(op: Typed[Operator], a: DataType, *, packed: bool, valued: bool) -> Variant:
    """The CPU's kernel that keeps the entries for which a test is true."""
    compute, result = op.compute_type, op.return_type
    args = (("u", a), ("v", compute), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr)
    let = lets(op.op, op.dtype, *((n, dict(args)[u], u) for n, u in LET["xt"] if n in used or not op.op.positional))
    constants = (("PACKED", int(packed)), ("VALUED", int(valued)))
    test = Function("f", result, args, let, expr)
    return Variant("formats/csr/sift", (("A", a),), constants, (), (test,), repr(op))


@functools.cache
def extract_variant(a: DataType | None, *, packed: bool, flagged: bool) -> Variant:
    """The CPU's kernel that copies parts of rows, with values of that type; None: without values."""
    constants = (("PACKED", int(packed)), ("VALUED", int(a is not None)), ("FLAGGED", int(flagged)))
    return Variant("formats/csr/extract", (("A", a or BOOL),), constants)


def _joining(op: Typed[Operator], a: DataType, b: DataType, z: DataType) -> tuple[Function, ...]:
    """both(u, v, ix, jx), op of two entries cast to z; only_a(u) and only_b(v), the cast of a single entry."""
    result = op.op.result_type(op.dtype)
    args = (("u", a), ("v", b), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr) if op.op.positional else {"x", "y"}
    let = lets(op.op, op.dtype, *((n, dict(args)[u], u) for n, u in LET["xy"] if n in used))
    return (
        Function("f", result, args, let, expr),
        cast_function("finish", result, z),
        Function("both", z, args, (), "finish(f(u, v, ix, jx))"),
        cast_function("only_a", a, z),
        cast_function("only_b", b, z),
    )


@functools.cache
def merge_rows_variant(
    mode: int,
    op: Typed[Operator] | None,
    a: DataType,
    b: DataType,
    z: DataType,
    packed: Constants,
    *,
    masked: int,
    flags: bool,
) -> Variant:
    """The CPU's kernel that merges rows of A and B under a mask (masked 2: B's own pattern); op None: no values are
    written."""
    functions = () if op is None else _joining(op, a, b, z)
    if op is None:
        a = b = z = BOOL
    constants = (("MODE", mode), ("MASKED", masked), ("FLAGS", int(flags)), ("VALUED", int(op is not None)), *packed)
    label = "pattern" if op is None else repr(op)
    return Variant("formats/csr/weave", (("A", a), ("B", b), ("Z", z)), constants, (), functions, label)


@functools.cache
def join_variant(
    types: Types,
    packed: Constants,
    op: Typed[Operator] | None,
    a: DataType,
    b: DataType,
    z: DataType,
    *,
    side: int,
    intersect: bool,
    filled: bool,
) -> Variant:
    """The kernel that joins the entries of A and B by op, which is cast to z; op None: no values are written."""
    functions = () if op is None else _joining(op, a, b, z)
    positional = op is not None and op.op.positional
    if op is None:
        a = b = z = BOOL
    constants = (
        ("LANES", 1),
        *packed,
        ("SIDE", side),
        ("INTERSECT", int(intersect)),
        ("FILLED", int(filled)),
        ("VALUED", int(op is not None)),
        ("PLACES", int(positional)),
    )
    types = (*types, ("A", a), ("B", b), ("Z", z))
    return Variant("formats/csr/join", types, constants, (), functions, "pattern" if op is None else repr(op))


# ---- Kernel variants of products with multivectors (formats/bitmap), and of their reductions.

WHOLE, PARTS, JOIN = range(3)  # pull.cu
# Threads of a block per word that it reads, and if there are few words (multivector.few_lines).
LOOKED, LOOKED_FEW = 1, 2
LINE = {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}


def _constants(kind: int, x: DataType, z: DataType, terminal: int, stride: int, lanes: int) -> Constants:
    bits = min(64, stride)
    return (
        ("KIND", kind),
        ("U_BOOL", int(x is BOOL)),
        ("Z_BOOL", int(z is BOOL)),
        ("HAS_TERMINAL", terminal),
        ("BITS", bits),
        ("LANES", lanes),
        ("PER", max(1, bits // lanes) if kind == VALUES else 1),
        ("VALUES_PACKED", 0),
    )


def _shared(constants: Constants, mode: int, looked: int = LOOKED) -> Constants:
    """SHARE lanes process a word of values. With whole rows a block reads more words than it has groups of lanes."""
    known = dict(constants)
    known["SHARE"] = known["LANES"]
    if mode == WHOLE and known["KIND"] == VALUES and known["LANES"] > looked:
        known["LANES"] = looked
    return *known.items(), ("MODE", mode)


@functools.cache
def lines_variant(
    direction: str,
    types: Types,
    semiring: Typed[Semiring] | None,
    a: DataType,
    x: DataType,
    stride: int,
    flip: bool,
    lanes: int,
    mode: int,
    packed: bool,
    few: bool = False,
) -> Variant:
    """The kernel of a product by lines; semiring None: WORDS. flip: the multivector is the left operand. few: there are
    few lines."""
    op, t, monoid, z = algebra_of(semiring)
    kind, label = (WORDS, "words") if semiring is None else (VALUES, repr(semiring))
    functions, values, terminal = sum_of(monoid, z)
    if semiring is None:
        a = x = BOOL
    mul = product_of_entries(op, t, x, a) if flip else product_of_entries(op, t, a, x)
    if flip:  # called as mul(value, of the line, line, other, place)
        u, v, i, k, j = mul.args
        mul = mul._replace(args=(v, u, j, k, i))
    mul = mul._replace(result=z)
    constants = _shared(_constants(kind, x, z, terminal, stride, lanes), mode, LOOKED_FEW if few else LOOKED)
    types = (*types, ("LINE", LINE[min(64, stride)]), ("A", a), ("U", x), ("Z", z))
    return Variant(
        f"formats/bitmap/{direction}", types, (*constants, ("PACKED", int(packed))), values, (*functions, mul), label
    )


@functools.cache
def join_lines_variant(monoid: Typed[Monoid], x: DataType, stride: int, lanes: int) -> Variant:
    """The same for reductions of runs of lines."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    args = (("a", BOOL), ("b", x), ("i", INT64), ("k", INT64), ("j", INT64))
    mul = Function("mul", z, args, (("x", z, "b"),), "x")
    constants = (*_shared(_constants(VALUES, x, z, terminal, stride, lanes), JOIN), ("PACKED", 0))
    types = ("PTR", INT64), ("COL", INT64), ("LINE", LINE[min(64, stride)]), ("A", BOOL), ("U", x), ("Z", z)
    return Variant("formats/bitmap/pull", types, constants, values, (*functions, mul), repr(monoid))


@functools.cache
def reduce_lines_variant(monoid: Typed[Monoid], x: DataType, stride: int, kind: int, lanes: int) -> Variant:
    """The kernel that reduces each line."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    take = cast_function("take", x, z)
    constants = _constants(kind, x, z, terminal, stride, lanes)
    types = (("LINE", LINE[min(64, stride)]), ("U", x), ("Z", z))
    return Variant("formats/bitmap/across", types, constants, values, (*functions, take), repr(monoid))
