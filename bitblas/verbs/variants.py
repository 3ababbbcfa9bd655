"""Kernel variants of vector operations and products: pure functions from operators and types to Variants."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Semiring, Typed
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT32, UINT64, DataType
from semirings.expressions import Expression, names_in, rename

from ..formats import format_of
from ..kernels.prologue import Function, Variant, is_neutral, lets, product, sum_of, value
from ..plan.ending import End
from ..plan.product import LANE_EXPRESSIONS, VALUES

LEFT, BOTH, UNION, FILLED = range(4)  # elementwise.cu
# Values of the names in an operator's expression: the first operand u and the second v of the kernel.
LET = {
    "xy": (("x", "u"), ("y", "v")),
    "yx": (("x", "v"), ("y", "u")),
    "x": (("x", "u"),),
    "xt": (("x", "u"), ("t", "v")),
}
CELLS = (INT32, UINT32, INT64, UINT64, FP32, FP64)  # types that atomics can compare and swap
ATOMICS = {"plus": 1, "min": 2, "max": 3}  # place.cu
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


def ending_functions(w: DataType, t: DataType, accum: Typed | None) -> tuple[Function, ...]:
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


def ending_constants(t: DataType, fresh: bool, iso: bool) -> Any:
    """The constants of merge.cuh."""
    flags = {"FRESH": fresh, "W_ISO": iso, "W_BOOL": t is BOOL, "T_BOOL": t is BOOL}
    return tuple((name, int(flag)) for name, flag in flags.items())


def elementwise_variant(
    mode: int, op: Typed[Operator], u: DataType, v: DataType, bound: str, *, keep: bool = False, places: bool = False,
    fresh: bool = True, iso: bool = False,
) -> tuple[Variant, DataType]:  # fmt: skip
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
        cast_function("take_u", u, t), cast_function("take_v", v, t), cast_function("take_f", result, t),
    )  # fmt: skip
    constants = (
        ("MODE", mode), ("KEEP", int(keep)), ("PLACES", int(places)), ("LANES", 32),
        ("U_BOOL", int(u is BOOL)), ("V_BOOL", int(v is BOOL)), *ending_constants(t, fresh, iso),
    )  # fmt: skip
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


def merge_variant(t: DataType, end: End) -> Variant:
    """The kernel for w<mask, accum, replace> = t, for a t of type `t`; presence-only merges are one variant for all
    types."""
    if not end.store:
        t, end = BOOL, end._replace(w=BOOL, accum=end.accum and LOR)
    constants = (("LANES", 64), ("T_BOOL", int(t is BOOL)), *end.constants())
    types = (("W", end.w), ("T", t))
    return Variant("kernels/merge", types, constants, (), ending_functions(end.w, t, end.accum), repr(end.accum))


def vector_variant(kernel: str, u: DataType, **constants: int) -> Variant:
    """A kernel on vectors of one type that needs no operator."""
    constants = {"LANES": 1, "U_BOOL": int(u is BOOL), **constants}
    return Variant(f"kernels/{kernel}", (("U", u),), tuple(constants.items()))


def place_variant(u: DataType, t: DataType, *, values: bool, clear: bool = False, bits: bool = True) -> Variant:
    """The kernel for t(where[k]) = u(k), each index once. values, bits: they are written."""
    constants = (
        ("LANES", 1), ("JOIN", 0), ("MARKS", int(bits)), ("CLEAR", int(clear)), ("DENSE", int(values)),
        ("U_BOOL", int(u is BOOL)), ("T_BOOL", int(t is BOOL)),
    )  # fmt: skip
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
        ("LANES", 1), ("JOIN", 1), ("MARKS", 1), ("CLEAR", 0), ("DENSE", 1), ("U_BOOL", int(u is BOOL)), ("T_BOOL", 0),
        ("HAS_TERMINAL", terminal), ("ATOMIC", ATOMICS.get(monoid.op.name, 0) if z is cell and z.kind in "iu" else 0),
    )  # fmt: skip
    types = (("U", u), ("T", cell), ("C", cell), ("Z", z))
    return Variant("kernels/place", types, constants, values, functions, repr(monoid)), cell


def fold_variant(op: Typed[Operator], a: DataType) -> tuple[Variant, DataType]:
    """The kernel of a left fold over segments of values of type `a` by a binary operator."""
    z = op.return_type
    let = lets(op.op, op.dtype, ("x", z, "p"), ("y", z, "q"))
    functions = (Function("add", z, (("p", z), ("q", z)), let, op.op.expr), cast_function("take", a, z))
    return Variant("kernels/fold", (("A", a), ("Z", z)), (), (), functions, repr(op)), z


def algebra_of(semiring: Typed[Semiring] | None, z: DataType = BOOL) -> tuple[Any, DataType, Any, DataType]:
    """Multiplier and its type, monoid and the type of the sum. WORDS, with semiring None, needs none of them and is one
    variant for all semirings whose sums have the type z."""
    if semiring is None:
        return PLAIN, BOOL, MONOIDS["any"], z
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    return op, t, semiring.op.monoid, op.result_type(t)


def beginning(monoid: Monoid, z: DataType) -> Any:
    """The initial value of a sum: the identity, but NaN if identity + NaN is not NaN (min and max of floats), and -0.0
    for float sums, since 0.0 + -0.0 is 0.0."""
    if z.kind in "fc" and monoid.name == "plus":
        return -0.0 if z.kind == "f" else complex(-0.0, -0.0)
    return monoid.identity(z) if is_neutral(monoid, z) or z.kind != "f" else np.nan


def blends(op: Any, monoid: Monoid, z: DataType, kinds: str = "fiu") -> bool:
    """Whether unneeded products may be computed too, for instance for missing entries of the vector: for numbers, whose
    values may be undefined, and by operators of this library only, because others may not terminate."""
    given = isinstance(op.expr, Expression) or isinstance(monoid.binaryop.expr, Expression)
    return z.kind in kinds and monoid.name != "any" and not given


def fills(op: Any, monoid: Monoid, z: DataType, u: DataType) -> int:
    """The sentinel that may replace missing entries of the vector: 1: NaN, 2: an unused integer (3: for sums whose
    order matters), else 0; see csr/pull.cpu.py."""
    if not blends(op, monoid, z) or u is BOOL or u.kind not in "fiu":
        return 0
    return 1 if u.kind == "f" else 2 if z.kind != "f" else 3


@functools.cache
def pull_variant(
    key: str, types: Types, semiring: Typed[Semiring] | None, kind: int, a: DataType, u: DataType, *, flip: bool,
    full: bool, ranked: bool, lanes: int, end: End, staged: int = 0, padded: bool = True, width: int = 0,
    packed: bool = False, kernel: str = "pull", more: tuple[tuple[str, int], ...] = (),
) -> Variant:  # fmt: skip
    """The pull kernel of a format for a semiring (None for WORDS) with an epilogue.

    padded: the last tile column is wider than the matrix. staged: see `is_staged`; width: see `Format.fixed_width`.
    packed: the matrix's values are bit-packed. kernel, more: another kernel, and its constants instead of these.
    """
    op, t, monoid, z = algebra_of(semiring, end.z)
    functions, values, terminal = sum_of(monoid, z)
    padded = padded or not full or kind != VALUES or ranked  # kernels that do not depend on it share one variant
    constants = [("U_FULL", int(full)), ("HAS_TERMINAL", terminal), ("LANES", lanes), *end.constants()]
    constants += format_of(key).pull_constants(
        ranked=ranked, neutral=is_neutral(monoid, z), padded=padded,
        many_blocks=full and max(t.nbytes for t in (a, u, z, end.w)) <= 4, staged=staged, width=width,
    )  # fmt: skip
    blend = (int(blends(op, monoid, z)) + fills(op, monoid, z, u)) if kind == VALUES else 0
    constants += [("VALUES_PACKED", int(packed)), ("BLEND", blend)]
    functions = (*functions, *ending_functions(end.w, z, end.accum))
    values = (*values, value("BEGIN", z, beginning(monoid, z)))
    constants = list((dict(constants) | dict(more)).items())
    return _product_variant(
        kernel, key, (*types, ("W", end.w)), semiring, kind, (op, t, a, u, z), flip, constants, values, functions
    )


@functools.cache
def push_variant(
    key: str, types: Types, semiring: Typed[Semiring] | None, kind: int, a: DataType, u: DataType, *, flip: bool,
    ranked: bool, lanes: int, packed: bool = False, kernel: str = "push",
) -> Variant:  # fmt: skip
    """The push kernel of a format for a semiring; `semiring` is None for WORDS. kernel: or "push_list"."""
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    cell = cell_of(z)
    constants = [("U_FULL", 0), ("HAS_TERMINAL", terminal), ("LANES", lanes)]
    constants += format_of(key).push_constants(ranked=ranked, neutral=is_neutral(monoid, z))
    constants += [("VALUES_PACKED", int(packed)), ("BLEND", int(kind == VALUES and blends(op, monoid, z, "fiub")))]
    functions = (*functions, cast_function("take", cell, z))
    values = (*values, value("BEGIN", z, beginning(monoid, z)))
    return _product_variant(
        kernel, key, (*types, ("C", cell)), semiring, kind, (op, t, a, u, z), flip, constants, values, functions
    )


def blank_variant(monoid: Monoid, z: DataType, cell: DataType) -> Variant:
    """The kernel that initializes the vector into which a push combines its products."""
    begin = value("BEGIN", cell, cell.np_type.type(beginning(monoid, z)))
    return Variant("kernels/blank", (("C", cell),), (("LANES", 64),), (begin,))


def _product_variant(
    direction: str, key: str, types: Types, semiring: Typed[Semiring] | None, kind: int, algebra: tuple[Any, ...],
    flip: bool, constants: list[tuple[str, int]], values: Any, functions: tuple[Function, ...],
) -> Variant:  # fmt: skip
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
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring], kind: int, *, flip: bool,
    full: bool = False, tables: bool = False, kernel: str = "lanes",
) -> Variant:  # fmt: skip
    """The CPU's kernel that pulls by whole tiles, for semirings that `is_wide` allows. tables: it reads lookup tables
    that the kernel of that name builds from the vector."""
    op, _, monoid, z = algebra_of(semiring)
    functions, values, _ = sum_of(monoid, z)
    begin, format = value("BEGIN", z, beginning(monoid, z)), format_of(key)
    constants = [("KIND", kind), *format.wide_constants(), ("FLIP", int(flip)), ("U_BOOL", 0), ("HAS_TERMINAL", 0)]
    if kind == VALUES:
        exprs = (("ADD", monoid.binaryop.expr), ("MUL", op.expr))
        constants += [(name, LANE_EXPRESSIONS.index(expr)) for name, expr in exprs]
    constants += [("U_FULL", int(full)), ("TABLES", int(tables))]
    return Variant(format.kernel(kernel), types, tuple(constants), (*values, begin), functions, repr(semiring))


@functools.cache
def hubs_variant(semiring: Typed[Semiring] | None, kind: int, rows: int, end: End) -> Variant:
    """The kernel that combines the segments of long rows for a pull kernel; `rows` of them per unit."""
    _, _, monoid, z = algebra_of(semiring, end.z)
    functions, values, terminal = sum_of(monoid, z)
    constants = (
        ("KIND", kind), ("HAS_TERMINAL", terminal), ("ROWS", rows), ("LANES", 256), *end.constants(),
    )  # fmt: skip
    functions = (functions[0], *ending_functions(end.w, z, end.accum))
    label = "words" if semiring is None else repr(semiring)
    return Variant("kernels/hubs", (("W", end.w), ("Z", z)), constants, values, functions, label)
