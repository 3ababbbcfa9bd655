"""What is compiled for verbs on matrices: pure functions from operators and types to Variants."""

from __future__ import annotations

import functools

from semirings import Operator, Semiring, Typed
from semirings.dtypes import BOOL, INT64, DataType
from semirings.expressions import names_in, rename

from ..formats import CSR, format_of
from ..kernels.prologue import Function, Variant, lets, product_of_entries, sum_of, value
from ..plan.product import VALUES, WORDS
from .variants import LET, PLAIN, Types, algebra_of, beginning, cast_function

Constants = tuple[tuple[str, int], ...]


def packed_constants(*keys: str) -> Constants:
    """What any_column.cuh asks for: which of the operands A, B and M (the mask) have packed columns, by their forms."""
    return tuple((f"{name}_PACKED", int(format_of(key).packed)) for name, key in zip("ABM", keys, strict=False))


@functools.cache
def dot_variant(
    key: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    b: DataType, lanes: int, wide: bool = False, mask: str = CSR,
) -> Variant:  # fmt: skip
    """The dot kernel of a form for a semiring; `semiring` is None for WORDS. wide: the CPU's, by whole tiles. mask: its
    form, where it is by rows."""
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, b = PLAIN, BOOL, BOOL, BOOL
    mul = product_of_entries(op, t, a, b)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    format = format_of(key)
    extra = format.dot_constants(types, lanes, format_of(mask))
    constants = (("KIND", kind), ("U_BOOL", 0), ("Z_BOOL", int(z is BOOL)), ("HAS_TERMINAL", terminal), *extra)
    types = (*types, ("A", a), ("B", b), ("Z", z))
    label = "words" if semiring is None else repr(semiring)
    return Variant(format.kernel("dot_lanes" if wide else "dot"), types, constants, values, (*functions, mul), label)


@functools.cache
def gustavson_variant(
    semiring: Typed[Semiring] | None, kind: int, a: DataType, b: DataType, fill: int, packed: Constants,
) -> Variant:  # fmt: skip
    """The CPU's row-by-row mxm for a semiring (None for WORDS). fill 0: the pass that counts, one for all semirings."""
    if not fill:
        semiring, kind = None, WORDS
    op, t, monoid, z = algebra_of(semiring)
    functions, values, _ = sum_of(monoid, z)
    mul = product_of_entries(*(op, t, a, b) if kind == VALUES else (PLAIN, BOOL, BOOL, BOOL))
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    constants = (("KIND", kind), ("FILL", fill), ("U_BOOL", 0), ("HAS_TERMINAL", 0), *packed)
    label = "words" if semiring is None else repr(semiring)
    return Variant("formats/csr/gustavson", (("Z", z),), constants, values, (*functions, mul), label)


@functools.cache
def rows_variant(
    kernel: str, types: tuple[tuple[str, DataType], ...], semiring: Typed[Semiring] | None, kind: int, a: DataType,
    b: DataType, fill: int, constants: Constants,
) -> Variant:  # fmt: skip
    """The GPU's row-by-row mxm ("short_rows", "long_rows"); fill 0 counts, and needs no semiring, as WORDS do not."""
    if not fill or kind == WORDS:
        semiring, kind = None, WORDS
    op, t, monoid, z = algebra_of(semiring)
    functions, values, terminal = sum_of(monoid, z)
    if kind != VALUES:
        op, t, a, b = PLAIN, BOOL, BOOL, BOOL
    mul = product_of_entries(op, t, a, b)
    if mul.result is not z:
        mul = Function(mul.name, z, mul.args, mul.let, mul.expr)
    columns = ("COL_64", int(dict(types)["COL"] is INT64))
    constants = (("KIND", kind), ("FILL", fill), ("U_BOOL", 0), ("HAS_TERMINAL", terminal), columns, *constants)
    values = (*values, value("BEGIN", z, beginning(monoid, z)))
    types = (*types, ("A", a), ("B", b), ("Z", z))
    label = "words" if semiring is None else repr(semiring)
    return Variant(f"formats/csr/{kernel}", types, constants, values, (*functions, mul), label)


@functools.cache
def match_variant(types: Types, packed: Constants) -> Variant:
    """The kernel that looks the entries of A up in B."""
    return Variant("formats/csr/match", types, (("LANES", 1), *packed))


@functools.cache
def join_variant(
    types: Types, packed: Constants, op: Typed[Operator] | None, a: DataType, b: DataType, z: DataType, *, side: int,
    intersect: bool, filled: bool,
) -> Variant:  # fmt: skip
    """The kernel that joins the entries of A and B by op, which is cast to z; op None: no values are written."""
    functions: tuple[Function, ...] = ()
    positional = op is not None and op.op.positional
    if op is None:
        a = b = z = BOOL
    else:
        result = op.op.result_type(op.dtype)
        args = (("u", a), ("v", b), ("ix", INT64), ("jx", INT64))
        expr = rename(op.op.expr, {"iy": "ix", "jy": "jx"})
        used = names_in(expr) if positional else {"x", "y"}
        let = lets(op.op, op.dtype, *((n, dict(args)[u], u) for n, u in LET["xy"] if n in used))
        functions = (
            Function("f", result, args, let, expr), cast_function("finish", result, z),
            Function("both", z, args, (), "finish(f(u, v, ix, jx))"),
            cast_function("only_a", a, z), cast_function("only_b", b, z),
        )  # fmt: skip
    constants = (
        ("LANES", 1), *packed, ("SIDE", side), ("INTERSECT", int(intersect)), ("FILLED", int(filled)),
        ("VALUED", int(op is not None)), ("PLACES", int(positional)),
    )  # fmt: skip
    types = (*types, ("A", a), ("B", b), ("Z", z))
    return Variant("formats/csr/join", types, constants, (), functions, "pattern" if op is None else repr(op))
