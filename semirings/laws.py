"""Algebraic laws of monoids and semirings, checked on edge values (associativity, commutativity, identity, ..).

The tests check every entry of the catalog; users can check their own. Each check returns the violations as readable
strings; an empty list means that all laws hold.

    >>> laws.check_monoid(Monoid("minus", binary.minus, lambda t: 0), dtypes.INT32)
    ['minus[INT32]: not commutative: ...', ...]

Integers and BOOL are checked exactly, over all edge values (associativity over a subset). Floating-point sums and
products are associative, and equal to their `repeated`, only without rounding, so they are checked on values from an
exact range. NaN equals NaN, and -0.0 equals 0.0. The identity need not preserve a NaN: fmin and fmax, which GraphBLAS
prescribes, prefer a number. A sum must therefore start with its first summand, never with the identity.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from . import dtypes
from .algebra import Monoid, Semiring
from .dtypes import BOOL, DataType, Value
from .operators import BinaryOp, IndexUnaryOp, Operator, UnaryOp

# Semirings of the catalog whose multiplication distributes over addition, and on which values: "all", or "small" if
# integers must not wrap and floats must not round, overflow or be NaN. The others are no mathematical semirings, which
# GraphBLAS does not require.
DISTRIBUTIVE = {
    "lor_land": "all", "land_lor": "all", "lxor_land": "all", "plus_times": "small", "min_plus": "small",
    "max_plus": "small", "min_max": "all", "max_min": "all", "any_first": "all", "any_second": "all",
    "min_times": "positive", "max_times": "positive",
}  # fmt: skip


def edge_values(t: DataType) -> np.ndarray:
    """Values at which implementations may differ: 0, 1, -1, the limits, NaN, infinities, -0.0, subnormals, ties."""
    if t is BOOL:
        return np.array([False, True])
    if t.kind == "f":
        info = np.finfo(t.np_type)
        values = [0.0, -0.0, 1, -1, 2, 3, 0.5, -0.5, 1.5, -2.5, 0.1, 1e10, -1e10, np.inf, -np.inf, np.nan]
        values += [info.max, info.min, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
        values += [127.5, 128, -128.5, 255.5, 256, -129, 2**15, 2**16, 2**31, -(2**31), 2**32, 2**63, -(2**63), 2**64]
        return np.array(values, t.np_type)
    if t.kind == "c":
        real = [0.0, 1, -1, 2, -0.5, 1.5, -2.5, 300, np.inf, -np.inf, np.nan, 1e30]
        both = [-0.0, 1j, -1j, 0.5j, 1 + 1j, -1.5 + 2j, 2.5 - 0.5j, -2 - 3j, 0.1 + 0.2j, 1e-30 + 1e30j, 400 - 700j]
        both += [complex(np.inf, 1), complex(-1, np.nan), complex(np.inf, np.inf)]
        return np.array(real + both, t.np_type)
    low, high = int(t.lowest), int(t.highest)
    candidates = [0, 1, 2, 3, 7, 100, -1, -2, -7, low, low + 1, high, high - 1, high // 2, high // 2 + 1, low // 2]
    return np.array(sorted({v for v in candidates if low <= v <= high}), t.np_type)


def small_values(t: DataType) -> np.ndarray:
    """Values whose sums and products of a few are exact in `t`, without rounding or wrapping."""
    if t is BOOL:
        return edge_values(t)
    if t.kind == "c":
        return np.array([0, 1, 2, 3, -1, 0.5, 1j, -2j, 1 - 2j], t.np_type)
    return np.array([0, 1, 2, 3, 4] + ([] if t.kind == "u" else [-1, -2]) + ([0.5] if t.kind == "f" else []), t.np_type)


def same(x: np.generic, y: np.generic) -> bool:
    """Equality, with NaN equal to NaN."""
    return bool(x == y or (x != x and y != y))


def _first(violations: Iterable[str]) -> list[str]:
    """The first violation of a law only."""
    return list(itertools.islice(violations, 1))


# ---- operators ------------------------------------------------------------------------------------------------------


def check_operator(op: Operator, dtype: object) -> list[str]:
    """Check that `op` has a value of its result type at every pair of edge values, and that the operator it commutes to
    gives the same value for exchanged operands.
    """
    t = op.check(dtypes.lookup_dtype(dtype))
    name, values, found = f"{op.name}[{t}]", edge_values(t), []
    seconds = values[:1] if isinstance(op, UnaryOp) else values

    def evaluated() -> Iterator[str]:
        for x, y in itertools.product(values, seconds):
            try:
                z = at(op, t, x, y)
            except Exception as error:
                yield f"{name}: no value at ({x}, {y}): {error!r}"
                continue
            if z.dtype != op.result_type(t).np_type:
                yield f"{name}: at ({x}, {y}) expected a {op.result_type(t)}, got {z.dtype}"

    found += _first(evaluated())
    other = op.commutes_to if isinstance(op, BinaryOp) and not op.positional and op.name != "any" else None
    if other is not None and not found:

        def commuted() -> Iterator[str]:
            for x, y in itertools.product(values, values):
                left, right = op.evaluate(t, x=x, y=y), other.evaluate(t, x=y, y=x)
                if not same(left, right):
                    sides = f"{op.name}({x}, {y}) = {left}, {other.name}({y}, {x}) = {right}"
                    yield f"{name}: commutes to {other.name}, but {sides}"

        found += _first(commuted())
    return found


def at(op: Operator, t: DataType, x: Value, y: Value, i: int = 3, j: int = 5) -> np.generic:
    """The value of an operator at x and y (the thunk of an IndexUnaryOp), at positions (i, j) and (j, i)."""
    names: dict[str, Value] = {"x": x, "ix": i, "jx": j}
    names |= {"t": y} if isinstance(op, IndexUnaryOp) else {"y": y, "iy": j, "jy": i}
    return op.evaluate(t, **names)


# ---- monoids --------------------------------------------------------------------------------------------------------


def check_monoid(monoid: Monoid, dtype: object) -> list[str]:
    """Check type, identity, terminal value, commutativity, associativity, idempotence, and `repeated`."""
    return list(_check_monoid(monoid, monoid.result_type(dtypes.lookup_dtype(dtype))))


@functools.cache  # the monoids of many semirings are the same
def _check_monoid(monoid: Monoid, z: DataType) -> list[str]:
    op, name = monoid.binaryop, f"{monoid.name}[{z}]"
    if op.rule(z) != (z, z):
        return [f"{name}: {op.name} is not closed: {z} x {z} gives {op.result_type(z) if z in op.types else 'nothing'}"]
    edges = edge_values(z) if z.kind != "c" else small_values(z)  # infinities times 1 are NaN in parts
    rounds = z.kind in "fc" and not monoid.is_exact_in_any_order
    exact = small_values(z) if rounds else edges
    triples = exact[:: -(-exact.size // 12)]

    add = lambda x, y: op.evaluate(z, x=x, y=y)
    if monoid.name == "any":  # its only law is that the result is one of the operands
        return _first(
            f"{name}: any({x}, {y}) is neither"
            for x in edges
            for y in edges
            if not any(same(add(x, y), v) for v in (x, y))
        )

    found, one, last = [], monoid.identity(z), monoid.terminal(z)
    found += _first(
        f"{name}: the identity {one} changes {x} into {add(x, one)} or {add(one, x)}"
        for x in edges
        if x == x and not (same(add(x, one), x) and same(add(one, x), x))
    )
    found += _first(
        f"{name}: not commutative: {op.name}({x}, {y}) = {add(x, y)}, but {op.name}({y}, {x}) = {add(y, x)}"
        for x, y in itertools.combinations(edges, 2)
        if not same(add(x, y), add(y, x))
    )
    found += _first(
        f"{name}: not associative at ({x}, {y}, {v}): {add(add(x, y), v)} and {add(x, add(y, v))}"
        for x, y, v in itertools.product(triples, repeat=3)
        if not same(add(add(x, y), v), add(x, add(y, v)))
    )
    if last is not None:
        found += _first(
            f"{name}: {last} is not terminal: with {x} it gives {add(last, x)} and {add(x, last)}"
            for x in edges
            if not (same(add(last, x), last) and same(add(x, last), last))
        )
    if monoid.is_idempotent:
        found += _first(
            f"{name}: not idempotent: {x} and {x} give {add(x, x)}" for x in edges if not same(add(x, x), x)
        )
    return found + _first(_wrong_repeats(monoid, z, add, exact))


def _wrong_repeats(
    monoid: Monoid, z: DataType, add: Callable[[np.generic, np.generic], np.generic], values: np.ndarray
) -> Iterator[str]:
    for x in values:
        total = x
        for k in range(1, 20):
            if k > 1:
                total = add(total, x)
            repeated = monoid.repeat(z, x, k)
            if not same(repeated, total):
                yield f"{monoid.name}[{z}]: {k} times {x} add up to {total}, but `repeated` says {repeated}"


# ---- semirings ------------------------------------------------------------------------------------------------------


def check_semiring(semiring: Semiring, dtype: object, *, distributes: str | None = None) -> list[str]:
    """Check that the monoid accepts the products, its laws for their type, and distributivity if claimed: `distributes`
    is "all", "small", "positive" or None (see DISTRIBUTIVE).
    """
    t = semiring.check(dtypes.lookup_dtype(dtype))
    multiply, z = semiring.multiply_type(t), semiring.result_type(t)
    assert multiply is not None
    name, times, plus = f"{semiring.name}[{t}]", semiring.binaryop, semiring.monoid.binaryop
    if semiring.monoid.rule(z) is None or semiring.monoid.result_type(z) is not z:
        return [f"{name}: products of type {z}, which {semiring.monoid.name} does not add up in"]
    found = check_monoid(semiring.monoid, z)
    distributes = distributes or DISTRIBUTIVE.get(semiring.name)
    if distributes is None or times.positional or multiply is not z:
        return found
    values = edge_values(z) if distributes == "all" else small_values(z)
    if distributes == "positive":
        values = values[values > 0]
    values = values[values == values]

    mul = lambda x, y: times.evaluate(multiply, x=x, y=y)
    add = lambda x, y: plus.evaluate(z, x=x, y=y)

    def undistributed() -> Iterator[str]:
        for x, y, v in itertools.product(values[:: -(-values.size // 12)], repeat=3):
            for left, right in (
                (mul(x, add(y, v)), add(mul(x, y), mul(x, v))),
                (mul(add(y, v), x), add(mul(y, x), mul(v, x))),
            ):
                if not same(left, right):
                    yield f"{name}: does not distribute at ({x}, {y}, {v}): {left} and {right}"

    return found + _first(undistributed())
