"""Algebraic laws of monoids and semirings, checked on edge values (associativity, commutativity, identity, ..), and the
agreement of all implementations of an operator.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from . import dtypes, numpy_operators
from .algebra import Monoid, Semiring
from .cached import cached_property
from .catalog import BINARY, COMPLEX_MATH, INDEXUNARY, MATH, MONOIDS, UNARY, is_close
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


def _firsts(*laws: Iterable[str]) -> list[str]:
    """The first violation of each law."""
    return [violation for law in laws for violation in itertools.islice(law, 1)]


# ---- operators ------------------------------------------------------------------------------------------------------


def check_operator(op: Operator, dtype: object) -> list[str]:
    """Check that `op` has a value of its result type at every pair of edge values, and that the operator it commutes to
    gives the same value for exchanged operands.
    """
    t = op.check(dtypes.lookup_dtype(dtype))
    name, values = f"{op.name}[{t}]", edge_values(t)
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

    other = op.commutes_to if isinstance(op, BinaryOp) and not op.positional and op.name != "any" else None

    def commuted(other: BinaryOp) -> Iterator[str]:
        for x, y in itertools.product(values, values):
            left, right = op.evaluate(t, x=x, y=y), other.evaluate(t, x=y, y=x)
            if not same(left, right):
                sides = f"{op.name}({x}, {y}) = {left}, {other.name}({y}, {x}) = {right}"
                yield f"{name}: commutes to {other.name}, but {sides}"

    return _firsts(evaluated()) or ([] if other is None else _firsts(commuted(other)))


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
        return _firsts(
            f"{name}: any({x}, {y}) is neither"
            for x, y in itertools.product(edges, edges)
            if not (same(add(x, y), x) or same(add(x, y), y))
        )
    one, last = monoid.identity(z), monoid.terminal(z)
    return _firsts(
        (
            f"{name}: the identity {one} changes {x} into {add(x, one)} or {add(one, x)}"
            for x in edges
            if x == x and not (same(add(x, one), x) and same(add(one, x), x))
        ),
        (
            f"{name}: not commutative: {op.name}({x}, {y}) = {add(x, y)}, but {op.name}({y}, {x}) = {add(y, x)}"
            for x, y in itertools.combinations(edges, 2)
            if not same(add(x, y), add(y, x))
        ),
        (
            f"{name}: not associative at ({x}, {y}, {v}): {add(add(x, y), v)} and {add(x, add(y, v))}"
            for x, y, v in itertools.product(triples, repeat=3)
            if not same(add(add(x, y), v), add(x, add(y, v)))
        ),
        (
            f"{name}: {last} is not terminal: with {x} it gives {add(last, x)} and {add(x, last)}"
            for x in edges
            if last is not None and not (same(add(last, x), last) and same(add(x, last), last))
        ),
        (
            f"{name}: not idempotent: {x} and {x} give {add(x, x)}"
            for x in edges
            if monoid.is_idempotent and not same(add(x, x), x)
        ),
        (
            f"{name}: {k} times {x} add up to {total}, but `repeated` says {monoid.repeat(z, x, k)}"
            for x in exact
            for k, total in enumerate(itertools.accumulate([x] * 19, add), 1)
            if not same(monoid.repeat(z, x, k), total)
        ),
    )


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

    return found + _firsts(undistributed())


# ---- Tolerances: how far implementations of an operator may differ.

# Operators that platforms round differently, and the allowed difference in units in the last place (WITH_ZEROS: of the
# larger of the value and 1, because no library meets the zeros of these functions).
ULPS = dict.fromkeys((*MATH, *COMPLEX_MATH, "pow", "rpow", "atan2", "hypot"), 4) | {
    "erfc": 16,
    "lgamma": 16,
    "tgamma": 16,
}
ULPS |= {"numpy.rad2deg": 1, "numpy.deg2rad": 1}
ULPS |= dict.fromkeys((f"numpy.{name}" for name in ("float_power", "hypot", "logaddexp", "logaddexp2")), 4)
# For complex numbers, in units of the larger part: complex functions combine several real ones.
COMPLEX_ULPS = dict.fromkeys((*COMPLEX_MATH, "signum"), 16) | dict.fromkeys(("abs", "absfirst", "abssecond", "carg"), 4)
COMPLEX_ULPS |= {"numpy.reciprocal": 2, "numpy.sign": 2, "numpy.square": 2}  # NumPy fuses products and sums
COMPLEX_ULPS |= dict.fromkeys(("pow", "rpow", "numpy.float_power"), 1 << 11)
WITH_ZEROS = ("lgamma", "numpy.logaddexp", "numpy.logaddexp2")
for _name in ("ceil", "floor", "sqrt", "trunc"):
    del ULPS[_name]
    COMPLEX_ULPS[_name] = 16 * (_name == "sqrt")


# ---- Agreement: the host's results of every operator, cast and `repeated` at all pairs of edge values, compared with
# those of an implementation that the caller provides (Numba, CUDA C++, SuiteSparse:GraphBLAS).


def all_operators() -> list[Operator]:
    """All operators once each: unary, binary (isclose with its defaults), index-unary."""
    lists: tuple[Mapping[str, Operator], ...] = (UNARY, BINARY, {"isclose": is_close()}, INDEXUNARY)
    lists += (numpy_operators.UNARY, numpy_operators.BINARY)
    return list(dict.fromkeys(op for ops in lists for op in ops.values()))


@dataclass(frozen=True)
class Case:
    """One function of (x, y, positions) -> z at all pairs of edge values, to be evaluated by every implementation.

    `kind` is "op", "cast" or "repeat"; `what` the operator, the target type or the monoid. Operands are columns of
    equal length; y is also the thunk of an index-unary operator, and i the number of summands.
    """

    kind: str
    what: Operator | DataType | Monoid
    dtype: DataType
    result: DataType
    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    i: np.ndarray = field(repr=False)
    j: np.ndarray = field(repr=False)

    @property
    def label(self) -> str:
        return f"{self.what if isinstance(self.what, DataType) else repr(self.what)} of {self.dtype}"

    def disagreement(self, want: np.ndarray, got: np.ndarray, *, bits: bool) -> np.ndarray:
        """A mask of the rows where two result columns differ: NaN equals NaN, -0.0 equals 0.0 unless `bits`, and
        operators in ULPS may differ in their last places.
        """
        size, name = want.size, getattr(self.what, "name", "")
        limit = ULPS.get(name, 0)
        if self.dtype.kind == "c":
            limit = COMPLEX_ULPS.get(name, limit)
        if want.dtype.kind == "c":  # compared part by part
            want, got = (z.view(f"f{z.dtype.itemsize // 2}") for z in (want, got))
        if bits:
            raw = f"u{want.dtype.itemsize}"
            apart = (want.view(raw) != got.view(raw)) & ((want == want) | (got == got))
        else:
            apart = (want != got) & ((want == want) | (got == got))
        if limit and want.dtype.kind == "f":
            with np.errstate(all="ignore"):
                scale = np.abs(want)
                if self.result.kind == "c":  # ulp of the larger part
                    scale = np.repeat(np.fmax(scale[::2], scale[1::2]), 2)
                scale = np.spacing(np.maximum(scale, 1) if name in WITH_ZEROS else scale)
                apart &= ~(np.abs(want - got) <= limit * np.where(np.isfinite(want), scale, 0))
        return apart.reshape(size, -1).any(axis=1) if size else apart

    def on_host(self) -> np.ndarray:
        """The results in Python, computed once."""
        return self._on_host

    @cached_property
    def _on_host(self) -> np.ndarray:
        if isinstance(self.what, UnaryOp) and not self.what.positional:  # many pairs have the same first operand
            known: dict[bytes, np.generic] = {}
            for x, y in zip(self.x, self.y):
                if x.tobytes() not in known:
                    known[x.tobytes()] = at(self.what, self.dtype, x, y)
            values = [known[x.tobytes()] for x in self.x]
        elif isinstance(self.what, DataType):
            values = [dtypes.cast_scalar(x, self.result) for x in self.x]
        elif isinstance(self.what, Monoid):
            values = [self.what.repeat(self.dtype, x, int(k)) for x, k in zip(self.x, self.i)]
        else:
            values = [at(self.what, self.dtype, *v) for v in zip(self.x, self.y, self.i.tolist(), self.j.tolist())]
        return np.array(values, self.result.np_type)


@functools.cache
def cases(t: DataType) -> list[Case]:
    """All operators, casts and monoids of the catalog for operands of type `t`."""
    values = edge_values(t)
    x, y = (c.ravel() for c in np.meshgrid(values, values, indexing="ij"))
    number = np.arange(x.size, dtype=np.int64)
    columns = (x, y, number % 7, number % 5)
    operators = all_operators()
    found = [Case("op", op, t, op.result_type(t), *columns) for op in operators if t in op]
    found += [Case("cast", to, t, to, *columns) for to in dtypes.ALL]
    repeats = (x, y, 1 + number * number % 97, columns[3])
    return found + [Case("repeat", m, t, t, *repeats) for m in MONOIDS.values() if t in m and m.result_type(t) is t]


def agreement(
    t: DataType, implementations: Mapping[str, Callable[[list[Case]], list[np.ndarray]]], extra: Iterable[Case] = ()
) -> list[str]:
    """Differences between the implementations and Python, bit by bit (NaN equals NaN), on all cases of type `t`.

    An implementation maps the list of cases to one result column each.
    """
    todo, found = [*cases(t), *extra], []
    expected = [c.on_host() for c in todo]
    for name, run in implementations.items():
        for case, want, got in zip(todo, expected, run(todo), strict=True):
            if got.dtype != want.dtype:
                found.append(f"{case.label}: {want.dtype} in Python, {got.dtype} in {name}")
                continue
            for k in np.flatnonzero(case.disagreement(want, got, bits=True))[:1]:
                at = f"x={case.x[k]}, y={case.y[k]}, i={case.i[k]}, j={case.j[k]}"
                found.append(f"{case.label} at {at}: {want[k]!r} in Python, {got[k]!r} in {name}")
    return found
