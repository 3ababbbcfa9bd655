"""Kernel variants of matrix operations: pure functions from operators and types to Variants."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from semirings import Operator, Semiring, Typed
from semirings.dtypes import BOOL, INT64, DataType
from semirings.expressions import names_in, rename

from ..formats import CSR, format_of
from ..kernels.prologue import Function, Variant, lets, product_of_entries, sum_of, value
from ..plan.product import VALUES, WORDS
from .variants import LET, PLAIN, Types, algebra_of, beginning, cast_function

Constants = tuple[tuple[str, int], ...]

RUNS = {"tril": 1, "colle": 1, "triu": 2, "colgt": 2}  # sift.cpu.py: HEAD, TAIL


@functools.cache
def packed_constants(*keys: str) -> Constants:
    """Constants for any_column.cuh: which of the operands A, B and M (the mask) have packed columns, by their
    formats."""
    return tuple((f"{name}_PACKED", int(format_of(key).packed)) for name, key in zip("ABM", keys, strict=False))


class _Algebra(NamedTuple):
    """The compile-time parameters of kernels of one semiring (None: WORDS) on values of two types."""

    monoid: Any
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
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    b: DataType, lanes: int, wide: bool = False, mask: str = CSR,
) -> Variant:  # fmt: skip
    """The dot kernel of a format for a semiring; `semiring` is None for WORDS. wide: the CPU's, by whole tiles. mask:
    its format, if by rows."""
    of, format = _algebra(semiring, kind, a, b), format_of(key)
    extra = format.dot_constants(types, lanes, format_of(mask))
    constants = (("KIND", kind), ("U_BOOL", 0), ("Z_BOOL", int(of.z is BOOL)), ("HAS_TERMINAL", of.terminal), *extra)
    kernel = format.kernel("dot_lanes" if wide else "dot")
    return Variant(kernel, (*types, *of.types), constants, of.values, of.functions, of.label)


@functools.cache
def gustavson_variant(
    semiring: Typed[Semiring] | None, kind: int, a: DataType, b: DataType, fill: int, packed: Constants,
    alike: bool = False,
) -> Variant:  # fmt: skip
    """The CPU's row-by-row mxm for a semiring (None for WORDS). fill 0: the counting pass, one for all semirings.
    alike: search for rows of B with equal columns."""
    if not fill:
        semiring, kind = None, WORDS
    of = _algebra(semiring, kind, a, b)
    constants = (
        ("KIND", kind), ("FILL", fill), ("ALIKE", int(alike)), ("U_BOOL", 0), ("HAS_TERMINAL", 0), *packed,
    )  # fmt: skip
    return Variant("formats/csr/gustavson", (("Z", of.z),), constants, of.values, of.functions, of.label)


@functools.cache
def rows_variant(
    kernel: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    b: DataType, fill: int, constants: Constants, single: bool = False,
) -> Variant:  # fmt: skip
    """The GPU's row-by-row mxm ("short_rows", "long_rows"); fill 0 counts, and needs no semiring, like WORDS. single:
    no row of B has more than one entry."""
    if not fill or kind == WORDS:
        semiring, kind = None, WORDS
    of = _algebra(semiring, kind, a, b)
    columns = ("COL_64", int(dict(types)["COL"] is INT64))
    constants = (
        ("KIND", kind), ("FILL", fill), ("SINGLE", int(single)), ("U_BOOL", 0), ("HAS_TERMINAL", of.terminal), columns,
        *constants,
    )  # fmt: skip
    values = (*of.values, value("BEGIN", of.z, beginning(of.monoid, of.z)))
    return Variant(f"formats/csr/{kernel}", (*types, *of.types), constants, values, of.functions, of.label)


@functools.cache
def match_variant(types: Types, packed: Constants) -> Variant:
    """The kernel that searches the entries of A in B."""
    return Variant("formats/csr/match", types, (("LANES", 1), *packed))


@functools.cache
def sift_variant(op: Typed[Operator], a: DataType, *, packed: bool, valued: bool) -> Variant:
    """The CPU's kernel that keeps the entries for which a test is true."""
    compute, result = op.compute_type, op.return_type
    args = (("u", a), ("v", compute), ("ix", INT64), ("jx", INT64))
    expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
    used = names_in(expr)
    let = lets(op.op, op.dtype, *((n, dict(args)[u], u) for n, u in LET["xt"] if n in used or not op.op.positional))
    constants = (("PACKED", int(packed)), ("VALUED", int(valued)), ("RUN", RUNS.get(op.op.name, 0)))
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
        Function("f", result, args, let, expr), cast_function("finish", result, z),
        Function("both", z, args, (), "finish(f(u, v, ix, jx))"),
        cast_function("only_a", a, z), cast_function("only_b", b, z),
    )  # fmt: skip


@functools.cache
def weave_variant(
    mode: int, op: Typed[Operator] | None, a: DataType, b: DataType, z: DataType, packed: Constants, *, masked: int,
    flags: bool,
) -> Variant:  # fmt: skip
    """The CPU's kernel that merges rows of A and B under a mask (masked 2: B's own pattern); op None: no values are
    written."""
    functions = () if op is None else _joining(op, a, b, z)
    if op is None:
        a = b = z = BOOL
    constants = (
        ("MODE", mode), ("MASKED", masked), ("FLAGS", int(flags)), ("VALUED", int(op is not None)), *packed,
    )  # fmt: skip
    label = "pattern" if op is None else repr(op)
    return Variant("formats/csr/weave", (("A", a), ("B", b), ("Z", z)), constants, (), functions, label)


@functools.cache
def join_variant(
    types: Types, packed: Constants, op: Typed[Operator] | None, a: DataType, b: DataType, z: DataType, *, side: int,
    intersect: bool, filled: bool,
) -> Variant:  # fmt: skip
    """The kernel that joins the entries of A and B by op, which is cast to z; op None: no values are written."""
    functions = () if op is None else _joining(op, a, b, z)
    positional = op is not None and op.op.positional
    if op is None:
        a = b = z = BOOL
    constants = (
        ("LANES", 1), *packed, ("SIDE", side), ("INTERSECT", int(intersect)), ("FILLED", int(filled)),
        ("VALUED", int(op is not None)), ("PLACES", int(positional)),
    )  # fmt: skip
    types = (*types, ("A", a), ("B", b), ("Z", z))
    return Variant("formats/csr/join", types, constants, (), functions, "pattern" if op is None else repr(op))
