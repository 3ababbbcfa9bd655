"""Kernel variants of products with multivectors (formats/bitmap), and of their reductions."""

from __future__ import annotations

import functools
from typing import Any

from semirings import Monoid, Semiring, Typed
from semirings.dtypes import BOOL, INT64, UINT8, UINT16, UINT32, UINT64, DataType

from ..kernels.prologue import Function, Variant, product_of_entries, sum_of
from ..plan.product import VALUES, WORDS
from .variants import PLAIN, algebra_of, cast_function

WHOLE, PARTS, JOIN = range(3)  # pull.cu
# Threads of a block per word that it reads: two if there are few words, so that there are more blocks. A Delaunay mesh
# of 2^20, 64 sources: 121 ms, with two 139; Mycielski's graph 14: 7.5, with two 5.1.
LOOKED, LOOKED_FEW, FEW = 1, 2, 1 << 18
LINE = {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}


def _constants(kind: int, x: DataType, z: DataType, terminal: int, stride: int, lanes: int) -> Any:
    bits = min(64, stride)
    return (
        ("KIND", kind), ("U_BOOL", int(x is BOOL)), ("Z_BOOL", int(z is BOOL)), ("HAS_TERMINAL", terminal),
        ("BITS", bits), ("LANES", lanes), ("PER", max(1, bits // lanes) if kind == VALUES else 1),
        ("VALUES_PACKED", 0),
    )  # fmt: skip


def _shared(constants: Any, mode: int, looked: int = LOOKED) -> Any:
    """SHARE lanes process a word of values. With whole rows a block reads more words than it has groups of lanes."""
    known = dict(constants)
    known["SHARE"] = known["LANES"]
    if mode == WHOLE and known["KIND"] == VALUES and known["LANES"] > looked:
        known["LANES"] = looked
    return *known.items(), ("MODE", mode)


@functools.cache
def lines_variant(
    direction: str, types: Any, semiring: Typed[Semiring] | None, a: DataType, x: DataType, stride: int, flip: bool,
    lanes: int, mode: int, packed: bool, few: bool = False,
) -> Variant:  # fmt: skip
    """The kernel of a product by lines; semiring None: WORDS. flip: the multivector is the left operand. few: there are
    few lines."""
    op, t, monoid, z = algebra_of(semiring)
    kind = WORDS if semiring is None else VALUES
    if semiring is None:
        op, t = PLAIN, BOOL
    functions, values, terminal = sum_of(monoid, z)
    if semiring is None:
        a = x = BOOL
    mul = product_of_entries(op, t, x, a) if flip else product_of_entries(op, t, a, x)
    if flip:  # called as mul(value, of the line, line, other, place)
        u, v, i, k, j = mul.args
        mul = mul._replace(args=(v, u, j, k, i))
    mul = mul._replace(result=z)
    constants = (
        *_shared(_constants(kind, x, z, terminal, stride, lanes), mode, LOOKED_FEW if few else LOOKED),
        ("PACKED", int(packed)),
    )
    line = ("LINE", LINE[min(64, stride)])
    label = "words" if semiring is None else repr(semiring)
    types = (*types, line, ("A", a), ("U", x), ("Z", z))
    return Variant(f"formats/bitmap/{direction}", types, constants, values, (*functions, mul), label)


@functools.cache
def join_lines_variant(monoid: Typed[Monoid], x: DataType, stride: int, lanes: int) -> Variant:
    """The same for reductions of runs of lines."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    args = (
        ("a", BOOL),
        ("b", x),
        ("i", INT64),
        ("k", INT64),
        ("j", INT64),
    )
    mul = Function("mul", z, args, (("x", z, "b"),), "x")
    constants = (*_shared(_constants(VALUES, x, z, terminal, stride, lanes), JOIN), ("PACKED", 0))
    types = ("PTR", INT64), ("COL", INT64), ("LINE", LINE[min(64, stride)]), ("A", BOOL), ("U", x), ("Z", z)
    return Variant("formats/bitmap/pull", types, constants, values, (*functions, mul), repr(monoid))


@functools.cache
def across_variant(monoid: Typed[Monoid], x: DataType, stride: int, kind: int, lanes: int) -> Variant:
    """The kernel that reduces each line."""
    z = monoid.op.result_type(monoid.dtype)
    functions, values, terminal = sum_of(monoid.op, z)
    take = cast_function("take", x, z)
    constants = _constants(kind, x, z, terminal, stride, lanes)
    types = (("LINE", LINE[min(64, stride)]), ("U", x), ("Z", z))
    return Variant("formats/bitmap/across", types, constants, values, (*functions, take), repr(monoid))
