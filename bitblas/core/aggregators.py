"""Aggregators: reductions beyond monoids, as recipes of reductions and element-wise steps on the operand's device.

A recipe takes a Reduction and returns a Vector or a Scalar. The names, and the result types in `types`, are
python-graphblas'.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

from semirings import Monoid, binary, dtypes, indexunary, monoid, op, unary
from semirings.dtypes import BOOL, FC64, FP32, FP64, INT64, DataType

from .statement.expressions import Expression, ScalarExpression, VectorExpression
from .statement.infix import kinds

if TYPE_CHECKING:
    from typing import SupportsIndex

    from semirings import BinaryOp, Typed

    from ..store import VectorStore
    from .matrix.read import MatrixRead
    from .scalar import Scalar
    from .statement.expressions import MatrixExpression
    from .statement.infix import Delayed, Operand
    from .typing import DTypeLike
    from .vector import Vector

# ---- Aggregators as sequences of reductions and element-wise steps, each computed on the operand's device.


class Reduction(NamedTuple):
    """A reduction of `x`; method: "reduce" (a Vector), "reduce_rowwise" or "reduce_scalar" (a Matrix)."""

    x: Any
    method: str

    def by(self, m: Monoid | Typed[Monoid], x: Delayed | Vector | MatrixRead | None = None) -> Vector | Scalar:
        """Reduce x (self's operand if not given) by a monoid."""
        return getattr(self.x if x is None else _computed(x), self.method)(m).new()

    def positions(self, x: Vector | MatrixRead) -> VectorExpression | MatrixExpression:
        """The index of each entry along the reduction."""
        return _computed(x).apply(indexunary.colindex if x.ndim == 2 else indexunary.rowindex)

    def where(self, x: Vector | MatrixRead, y: Any, result: Any) -> Any:
        """The entries of `x` at which y equals the `result` of their row, or the single result."""
        if self.method == "reduce_rowwise":
            same = result.ewise_mult(y, binary.eq)  # the Vector is broadcast to every column
        elif result.is_empty:  # and so is x
            return x
        else:
            same = y.apply(binary.eq, right=result)
        return x.select(same.new().V)


def _computed(x: Any) -> Any:
    """x, computed if it is delayed: a recipe decides itself what it computes, whatever config.autocompute is."""
    return x.new() if isinstance(x, Expression) else x


Recipe = Callable[[Reduction], "Vector | Scalar"]


def composite_recipe(parts: Sequence[Recipe], finalize: Callable[..., object]) -> Recipe:
    """finalize(a, b, .., {}) of the results of other recipes."""
    return lambda r: _computed(finalize(*(part(r) for part in parts), {}))


def count(r: Reduction) -> Vector | Scalar:
    return r.by(monoid.plus, r.x.apply(binary.pair, right=1))


def count_if(test: BinaryOp) -> Recipe:
    return lambda r: r.by(monoid.plus[r.x.dtype], r.x.apply(test, right=0))


def squares(r: Reduction) -> Vector | Scalar:
    x = r.x.apply(unary.identity[dtypes.unify(r.x.dtype, INT64)]).new()
    return r.by(monoid.plus, x.ewise_mult(x, binary.times))


def inverses(r: Reduction) -> Vector | Scalar:
    return r.by(monoid.plus, r.x.apply(unary.minv[dtypes.unify(r.x.dtype, FP64)]))


def norm(m: Monoid) -> Recipe:
    return lambda r: r.by(m, r.x.apply(unary.abs))


def log_sum(base: float, log: str) -> Recipe:
    def recipe(r: Reduction) -> Vector | Scalar:
        return r.by(monoid.plus, r.x.apply(binary.pow, left=base)).apply(getattr(unary, log)).new()

    return recipe


def divided(x: Vector | Scalar, y: Vector | Scalar) -> Vector | Scalar:
    return x.ewise_mult(y, binary.truediv).new()


def square(x: Vector | Scalar) -> Vector | Scalar:
    return x.ewise_mult(x, binary.times).new()


def root(recipe: Recipe) -> Recipe:
    return lambda r: recipe(r).apply(unary.sqrt).new()


def mean(r: Reduction) -> Vector | Scalar:
    return divided(r.by(monoid.plus), count(r))


def mean_square(r: Reduction) -> Vector | Scalar:
    return divided(squares(r), count(r))


def harmonic(r: Reduction) -> Vector | Scalar:
    return divided(count(r), inverses(r))


def variance(r: Reduction) -> Vector | Scalar:
    """<x^2> / n - (<x> / n)^2"""
    n = count(r)
    return divided(squares(r), n).ewise_mult(square(divided(r.by(monoid.plus), n)), binary.minus).new()


def sample_variance(r: Reduction) -> Vector | Scalar:
    """<x^2> / (n - 1) - <x>^2 / (n (n - 1))"""
    n = count(r)
    less = n.apply(binary.minus, right=1).new()
    right = divided(divided(square(r.by(monoid.plus)), n), less)
    return divided(squares(r), less).ewise_mult(right, binary.minus).new()


def peak_to_peak(r: Reduction) -> Vector | Scalar:
    return r.by(monoid.max).ewise_mult(r.by(monoid.min), binary.minus).new()


def geometric(r: Reduction) -> Vector | Scalar:
    return r.by(monoid.times).ewise_mult(count(r).apply(unary.minv[FP64]).new(), binary.pow).new()


def arg(m: Monoid) -> Recipe:
    """The smallest index with the minimum (maximum)."""
    return lambda r: r.by(monoid.min, r.positions(r.where(r.x, r.x, r.by(m))))


def edge_index(m: Monoid) -> Recipe:
    """The smallest or largest index that has an entry."""
    return lambda r: r.by(m, r.positions(r.x))


def edge(m: Monoid) -> Recipe:
    """The value at the smallest or largest index."""

    def recipe(r: Reduction) -> Vector | Scalar:
        if r.method == "reduce_scalar":
            return recipe(Reduction(recipe(Reduction(r.x, "reduce_rowwise")), "reduce"))
        at = r.positions(r.x).new()
        return r.by(monoid.any, r.where(r.x, at, r.by(m, at)))

    return recipe


# ---- Aggregators: reductions beyond monoids. Each is a recipe of reductions and element-wise steps.
#
# A recipe takes a Reduction and returns a Vector or a Scalar; it runs on the operand's device. The names, and the
# result types in `types`, are python-graphblas'.

POSITIONAL = frozenset({"first", "last", "first_index", "last_index", "argmin", "argmax"})  # python-graphblas: agg.ss
ResultType = Callable[[DataType], "DataType | None"]


class Aggregator:
    """Aggregator(name, composite=[agg.a, agg.b], finalize=f, types=[agg.a]): f(a, b, {}) of the results of other
    aggregators, for the types of the first of `types`, or of `composite`.

    Those of the library are a recipe. `monoid`: it equals that monoid; `scalar`: it can reduce a Matrix to a Scalar;
    `counts`: without a type it returns INT64. Raises TypeError.
    """

    name: str
    result_type: ResultType
    recipe: Recipe
    monoid: Monoid | None
    scalar: bool
    counts: bool

    def __init__(
        self,
        name: str,
        result_type: ResultType | None = None,
        recipe: Recipe | None = None,
        monoid: Monoid | None = None,
        scalar: bool = True,
        counts: bool = False,
        *,
        composite: Sequence[Aggregator] | None = None,
        finalize: Callable[..., object] | None = None,
        types: Sequence[Aggregator] | None = None,
    ) -> None:
        if result_type is None or recipe is None:
            parts = tuple(composite or ())
            known = [*parts, *(types or ())]
            if not parts or finalize is None or not all(isinstance(part, Aggregator) for part in known):
                raise TypeError(
                    "Aggregator: expected composite=[aggregators], and a function of their results, finalize"
                )
            result_type = (types or parts)[0].result_type
            recipe = composite_recipe([part.recipe for part in parts], finalize)
            scalar = all(part.scalar for part in parts)
        self.name, self.result_type, self.recipe = name, result_type, recipe
        self.monoid, self.scalar, self.counts = monoid, scalar, counts

    def __repr__(self) -> str:
        return f"agg.{'ss.' if self.name in POSITIONAL else ''}{self.name}"

    @property
    def types(self) -> dict[DataType, DataType]:
        return {t: z for t in dtypes.ALL if (z := self.result_type(t)) is not None}

    def __contains__(self, dtype: DTypeLike) -> bool:
        return self.result_type(dtypes.lookup_dtype(dtype)) is not None

    def __getitem__(self, dtype: DTypeLike) -> TypedAggregator:
        t = dtypes.lookup_dtype(dtype)
        z = self.result_type(t)
        if z is None:
            raise KeyError(f"{self.name} does not work with {t}; it has {', '.join(k.name for k in self.types)}")
        return _typed(self, t, z)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return (named, (self.name,)) if AGGREGATORS.get(self.name) is self else super().__reduce_ex__(protocol)

    def __call__(self, x: Operand, *, rowwise: bool = False, columnwise: bool = False) -> Expression:
        """agg.sum(v), agg.sum(A), agg.sum(A, rowwise=True), agg.sum(A, columnwise=True)."""
        return _call(self, x, rowwise, columnwise)


@dataclass(frozen=True, eq=False)
class TypedAggregator:
    """An aggregator for one type of operand: `agg.mean[FP32]`."""

    agg: Aggregator
    dtype: DataType
    return_type: DataType

    def __repr__(self) -> str:
        return f"{self.agg!r}[{self.dtype}]"

    @property
    def name(self) -> str:
        return self.agg.name

    __call__ = Aggregator.__call__

    def __reduce__(self) -> tuple[object, ...]:
        return getitem, (self.agg, self.dtype)


@functools.cache
def _typed(agg: Aggregator, dtype: DataType, return_type: DataType) -> TypedAggregator:
    """One object per aggregator and type, as for operators."""
    return TypedAggregator(agg, dtype, return_type)


def named(name: str) -> Aggregator:
    """The aggregator of that name."""
    return AGGREGATORS[name]


def _call(op: Aggregator | TypedAggregator, x: Operand, rowwise: bool, columnwise: bool) -> Expression:
    ndim = getattr(x, "ndim", 0)
    if ndim not in (1, 2) or not hasattr(x, "_resolve"):
        raise TypeError(f"{op!r}: expected a Vector or a Matrix, got {type(x).__qualname__}")
    if (rowwise and columnwise) or (ndim == 1 and (rowwise or columnwise)):
        raise ValueError("rowwise, columnwise: expected at most one, and only for a Matrix")
    method = "reduce" if ndim == 1 else "reduce_rowwise" if rowwise else "reduce_columnwise"
    return getattr(x, method if ndim == 1 or rowwise or columnwise else "reduce_scalar")(op)


def find(op: object) -> Aggregator | TypedAggregator | None:
    """The aggregator that `op` is or names ("count", "mean[float]"); None otherwise. Monoids are tried first."""
    if isinstance(op, (Aggregator, TypedAggregator)):
        return op
    if isinstance(op, str):
        base, bracket, dtype = op.strip().partition("[")
        if base not in monoid and base in AGGREGATORS:
            return AGGREGATORS[base][dtype.rstrip("]")] if bracket else AGGREGATORS[base]
    return None


def _fused(x: Any, method: str, name: str) -> Vector | None:
    """The aggregator of that name of the rows of a matrix that is not computed yet, without computing it; or None."""
    A = getattr(getattr(x, "_matrix", None), "_stored", None)  # None: of a Vector, or of several ranks
    if A is None or method == "reduce_scalar" or not A.deferred:
        return None
    found: VectorStore | None = A.aggregated(name, x._transposed != (method == "reduce_columnwise"))
    vector: Vector | None = None if found is None else kinds[1]._from_store(found)
    return vector


def delayed(
    op: Aggregator | TypedAggregator, x: Vector | MatrixRead, method: str, size: int | None, allow_empty: bool = True
) -> Any:
    """The expression of x reduced by an aggregator; size: that of the result, None for a Scalar.

    Raises KeyError (no version for the type), ValueError (not to a Scalar, or `allow_empty` false).
    """
    explicit = isinstance(op, TypedAggregator)
    f: Any = op if isinstance(op, TypedAggregator) else op[INT64 if op.counts else x.dtype]
    plain = f.agg
    if plain.monoid is not None:
        kwargs = {} if allow_empty else {"allow_empty": False}
        return getattr(x, method)(plain.monoid[f.dtype], **kwargs)
    if not allow_empty:
        raise ValueError("allow_empty=False not allowed when using Aggregators")
    if method == "reduce_scalar" and not plain.scalar:
        raise ValueError(f"Aggregator {plain.name} may not be used with Matrix.reduce_scalar.")
    wide = dtypes.unify(f.dtype, x.dtype) if explicit and not plain.counts else x.dtype

    def result() -> Any:
        if (fused := _fused(x, method, plain.name) if wide is x.dtype else None) is not None:
            return fused if fused.dtype is f.return_type else fused.dup(f.return_type)
        operand: Any = x if wide is x.dtype else x.dup(wide)  # a mean in FP64 of INT8 is not computed in INT8
        # A column reduction is a row reduction of the transpose.
        r = Reduction(operand.T, "reduce_rowwise") if method == "reduce_columnwise" else Reduction(operand, method)
        found = plain.recipe(r)
        return found if found.dtype is f.return_type else found.dup(f.return_type)

    if size is None:
        return ScalarExpression(method, (x,), f, lambda mask: result()._value, f.return_type)
    return VectorExpression(size, method, (x,), f, lambda mask: result()._store, f.return_type)


# ---- result types ---------------------------------------------------------------------------------------------------


_index: ResultType = lambda t: INT64
_same: ResultType = lambda t: t
_ordered: ResultType = lambda t: None if t is BOOL or t.kind == "c" else t
_position: ResultType = lambda t: None if t.kind == "c" else INT64
_norm: ResultType = unary.abs.result_type
_real: ResultType = lambda t: None if t is BOOL else t if t is FP32 or t.kind == "c" else FP64
_double: ResultType = lambda t: None if t is BOOL else FC64 if t.kind == "c" else FP64
_squared: ResultType = lambda t: None if t is BOOL else dtypes.unify(t, INT64)


# ---- the table -------------------------------------------------------------------------------------------------------


def _of_monoid(name: str, m: Monoid) -> Aggregator:
    def result_type(t: DataType) -> DataType | None:
        return m.result_type(t) if t in m else None

    return Aggregator(name, result_type, lambda r: r.by(m), m)


_MONOIDS = {
    "sum": "plus",
    "prod": "times",
    "all": "land",
    "any": "lor",
    "min": "min",
    "max": "max",
    "any_value": "any",
    "bitwise_all": "band",
    "bitwise_any": "bor",
}

AGGREGATORS = {name: _of_monoid(name, getattr(monoid, m)) for name, m in _MONOIDS.items() if m in monoid} | {
    a.name: a
    for a in (
        Aggregator("count", lambda t: INT64 if t is BOOL else t, count, counts=True),
        Aggregator("count_nonzero", _ordered, count_if(binary.ne)),
        Aggregator("count_zero", _ordered, count_if(binary.eq)),
        Aggregator("exists", _same, lambda r: r.by(monoid.any, r.x.apply(binary.pair, right=1)), counts=True),
        Aggregator("sum_of_squares", _squared, squares),
        Aggregator("sum_of_inverses", _double, inverses),
        Aggregator("hypot", _double, root(squares)),
        Aggregator("logaddexp", _double, log_sum(2.718281828459045, "log")),
        Aggregator("logaddexp2", _double, log_sum(2.0, "log2")),
        Aggregator("L0norm", _ordered, count_if(binary.ne)),
        Aggregator("L1norm", lambda t: None if t is BOOL else _norm(t), norm(monoid.plus)),
        Aggregator("L2norm", _double, root(squares)),
        Aggregator("Linfnorm", _norm, norm(monoid.max)),
        Aggregator("mean", _real, mean),
        Aggregator("peak_to_peak", lambda t: None if t.kind == "c" else t, peak_to_peak),
        Aggregator("varp", _real, variance),
        Aggregator("vars", _real, sample_variance),
        Aggregator("stdp", _real, root(variance)),
        Aggregator("stds", _real, root(sample_variance)),
        Aggregator("geometric_mean", lambda t: FP64 if t is BOOL else _real(t), geometric),
        Aggregator("harmonic_mean", _double, harmonic),
        Aggregator("root_mean_square", _real, root(mean_square)),
        Aggregator("first", _same, edge(monoid.min)),
        Aggregator("last", _same, edge(monoid.max)),
        Aggregator("first_index", _index, edge_index(monoid.min), scalar=False),
        Aggregator("last_index", _index, edge_index(monoid.max), scalar=False),
        Aggregator("argmin", _position, arg(monoid.min), scalar=False),
        Aggregator("argmax", _position, arg(monoid.max), scalar=False),
    )
}


_named = op.from_string


def op_from_string(text: str) -> Any:
    """The operator that a text names: as `op.from_string`, and aggregators too.

    Raises ValueError for unknown text.
    """
    try:
        return _named(text)
    except ValueError:
        found = find(text)
        if found is None:
            raise
        return found


op._helpers["from_string"] = op_from_string  # aggregators belong to bitblas, not to the semirings package
