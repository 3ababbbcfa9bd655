"""What is compiled for a verb: pure functions from operators and types to Variants."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Monoid, Operator, Semiring, Typed
from semirings.catalog import BINARY, MONOIDS
from semirings.dtypes import BOOL, FP32, FP64, INT32, INT64, UINT32, UINT64, DataType
from semirings.expressions import names_in, rename

from ..kernels.prologue import Function, Variant, is_neutral, product, sum_of, value
from ..plan import LANE_EXPRESSIONS, VALUES

LEFT, BOTH, UNION, FILLED = range(4)  # elementwise.cu
# What the names of an operator's expression are bound to: the first operand u and the second v of the kernel.
LET = {
    "xy": (("x", "u"), ("y", "v")),
    "yx": (("x", "v"), ("y", "u")),
    "x": (("x", "u"),),
    "xt": (("x", "u"), ("t", "v")),
}
CELLS = (INT32, UINT32, INT64, UINT64, FP32, FP64)  # types that atomics can compare and swap
PLAIN = BINARY["pair"]
Types = tuple[tuple[str, DataType], ...]


def cast_function(name: str, source: DataType, to: DataType) -> Function:
    """name(a): a GraphBLAS cast."""
    return Function(name, to, (("a", source),), (("z", to, "a"),), "z")


def binary_of(op: Typed) -> Typed:
    """A binary operator, or the one of a monoid."""
    return op.op.binaryop[op.op.compute_type(op.dtype)] if isinstance(op.op, Monoid) else op


def elementwise_variant(
    mode: int, op: Typed[Operator], u: DataType, v: DataType, bound: str, keep: bool, places: bool
) -> tuple[Variant, DataType]:
    """The kernel for t = op(u, v), and the type of t; `bound` is a key of LET."""
    compute, result = op.op.compute_type(op.dtype), op.op.result_type(op.dtype)
    args = (("u", u), ("v", v), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr) if op.op.positional else {n for n, _ in LET[bound]}
    types = tuple((n, compute, a) for n, a in LET[bound] if n in used)
    t = u if keep else result
    functions = (
        Function("f", result, args, types, expr),
        cast_function("take_u", u, t), cast_function("take_v", v, t), cast_function("take_f", result, t),
    )  # fmt: skip
    constants = (
        ("MODE", mode), ("KEEP", int(keep)), ("PLACES", int(places)), ("LANES", 64),
        ("U_BOOL", int(u is BOOL)), ("V_BOOL", int(v is BOOL)), ("T_BOOL", int(t is BOOL)),
    )  # fmt: skip
    return Variant("kernels/elementwise", (("U", u), ("V", v), ("T", t)), constants, (), functions, repr(op)), t


def reduce_variant(monoid: Typed[Monoid], u: DataType) -> tuple[Variant, DataType]:
    """The kernel that sums the entries of a vector of type `u`, and the type of the sum."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    constants = (("LANES", 256), ("U_BOOL", int(u is BOOL)), ("HAS_TERMINAL", terminal))
    functions = (*functions[:1], cast_function("take", u, z))
    return Variant("kernels/reduce", (("U", u), ("Z", z)), constants, values[:1], functions, repr(monoid)), z


def merge_variant(w: DataType, t: DataType, accum: Typed | None) -> Variant:
    """The kernel for w<mask, accum, replace> = t."""
    functions: tuple[Function, ...] = (cast_function("take", t, w),)
    if accum is not None:
        op = binary_of(accum)
        compute = op.op.compute_type(op.dtype)
        inner = Function("joined", op.return_type, (("x", compute), ("y", compute)), (), op.op.expr)
        outer_let = (("x", compute, "a"), ("y", compute, "b"))
        inner_cast = cast_function("finish", op.return_type, w)
        functions += (inner, inner_cast, Function("accum", w, (("a", w), ("b", t)), outer_let, "finish(joined(x, y))"))
    constants = (
        ("LANES", 64), ("ACCUM", int(accum is not None)), ("W_BOOL", int(w is BOOL)), ("T_BOOL", int(t is BOOL)),
    )  # fmt: skip
    if accum is None:
        functions += (Function("accum", w, (("a", w), ("b", t)), (), "a"),)
    return Variant("kernels/merge", (("W", w), ("T", t)), constants, (), functions, repr(accum))


def fold_variant(op: Typed[Operator], a: DataType) -> tuple[Variant, DataType]:
    """The kernel that joins segments of values of type `a` from left to right by a binary operator."""
    z, compute = op.return_type, op.op.compute_type(op.dtype)
    let = (("x", compute, "p"), ("y", compute, "q"))
    functions = (Function("add", z, (("p", z), ("q", z)), let, op.op.expr), cast_function("take", a, z))
    return Variant("kernels/fold", (("A", a), ("Z", z)), (), (), functions, repr(op)), z


def algebra_of(semiring: Typed[Semiring] | None) -> tuple[Any, DataType, Any, DataType]:
    """Multiplier and its type, monoid and the type of the sum. WORDS, for which the semiring is None, needs none of
    them and is one variant for all."""
    if semiring is None:
        return PLAIN, BOOL, MONOIDS["any"], BOOL
    op, t = semiring.op.binaryop, semiring.op.operand_type(semiring.dtype)
    return op, t, semiring.op.monoid, op.result_type(t)


def beginning(monoid: Monoid, z: DataType) -> Any:
    """What a sum may begin with: the identity, but NaN where identity + NaN is not NaN (min and max of floats)."""
    return monoid.identity(z) if is_neutral(monoid, z) or z.kind != "f" else np.nan


@functools.cache
def mxv_variant(
    direction: str, key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int,
    a: DataType, u: DataType, *, flip: bool, full: bool, ranked: bool, lanes: int,
) -> Variant:  # fmt: skip
    """The pull or push kernel of a form for a semiring; `semiring` is None for WORDS."""
    folder = "csr" if key == "csr" else "b2sr"
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, u, flip = PLAIN, BOOL, BOOL, BOOL, False
    mul = product(op, t, a, u, flip=flip)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    cell = z if z in CELLS else INT32
    constants = [("KIND", kind), ("U_FULL", int(full)), ("U_BOOL", int(u is BOOL)), ("Z_BOOL", int(z is BOOL))]
    constants += [("HAS_TERMINAL", terminal), ("LANES", lanes)]
    if folder == "b2sr":
        constants += [("TILE", int(key[4:])), ("RANKED", int(ranked)), ("NEUTRAL", int(is_neutral(monoid, z)))]
    if direction == "push":
        functions = (*functions, cast_function("take", cell, z))
        types = (*types, ("C", cell))
    label = "words" if semiring is None else repr(semiring)
    return Variant(
        f"formats/{folder}/{direction}", (*types, ("A", a), ("U", u), ("Z", z)), tuple(constants), values,
        (*functions, mul), label,
    )  # fmt: skip


@functools.cache
def lanes_variant(
    types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring], kind: int, *, flip: bool
) -> Variant:
    """The CPU's kernel that pulls by whole 8 x 8 tiles, for semirings that `plan.is_wide` allows."""
    op, _, monoid, z = algebra_of(semiring)
    functions, values, _ = sum_of(monoid, z)
    begin = value("BEGIN", z, beginning(monoid, z))
    constants = [("KIND", kind), ("TILE", 8), ("FLIP", int(flip)), ("U_BOOL", 0), ("HAS_TERMINAL", 0)]
    if kind == VALUES:
        exprs = (("ADD", monoid.binaryop.expr), ("MUL", op.expr))
        constants += [(name, LANE_EXPRESSIONS.index(expr)) for name, expr in exprs]
    return Variant("formats/b2sr/lanes", types, tuple(constants), (*values, begin), functions, repr(semiring))


@functools.cache
def hubs_variant(pull: Variant, rows: int) -> Variant:
    """The kernel that joins the segments of long rows for a pull kernel; `rows` of them per unit."""
    constants = tuple(c for c in pull.constants if c[0] in ("KIND", "Z_BOOL", "HAS_TERMINAL"))
    functions = tuple(f for f in pull.functions if f.name == "add")
    types = tuple(t for t in pull.types if t[0] == "Z")
    constants = (*constants, ("ROWS", rows), ("LANES", 256))
    return Variant("kernels/hubs", types, constants, pull.values, functions, pull.label)
