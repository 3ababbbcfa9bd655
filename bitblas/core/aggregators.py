"""Aggregators: what `reduce` can do beyond monoids. Each is a recipe of reductions and element-wise steps.

A recipe takes a Reduction and gives a Vector or a Scalar; it runs where the operand lives. The names, and the result
types that `types` says, are python-graphblas'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semirings import Monoid, binary, dtypes, indexunary, monoid, unary
from semirings.dtypes import BOOL, FP32, FP64, INT64, DataType

from .statement.expr import ScalarExpression, VectorExpression


@dataclass(frozen=True)
class Reduction:
    """Along what `x` is reduced; method: "reduce" (a Vector), "reduce_rowwise" or "reduce_scalar" (a Matrix)."""

    x: Any
    method: str

    def by(self, m: Any, x: Any = None) -> Any:
        """The sums of x (self's operand if not given) by a monoid."""
        return getattr(self.x if x is None else x, self.method)(m).new()

    def positions(self, x: Any) -> Any:
        """The index of each entry along the reduction."""
        return x.apply(indexunary.colindex if x.ndim == 2 else indexunary.rowindex)

    def where(self, x: Any, y: Any, result: Any) -> Any:
        """The entries of `x` at which y equals the `result` of their row, or the one result of all."""
        if self.method == "reduce_rowwise":
            same = result.ewise_mult(y, binary.eq)  # the Vector counts as every column
        elif result.is_empty:  # and so is x
            return x
        else:
            same = y.apply(binary.eq, right=result)
        return x.select(same.new().V)


Recipe = Callable[[Reduction], Any]
Rule = Callable[[DataType], "DataType | None"]


@dataclass(frozen=True, eq=False)
class Aggregator:
    """A named recipe. `monoid`: it is nothing but that monoid; `scalar`: it can reduce a Matrix to a Scalar."""

    name: str
    rule: Rule
    recipe: Recipe
    monoid: Monoid | None = None
    scalar: bool = True

    def __repr__(self) -> str:
        return f"agg.{self.name}"

    @property
    def types(self) -> dict[DataType, DataType]:
        return {t: z for t in dtypes.ALL if (z := self.rule(t)) is not None}

    def __contains__(self, dtype: Any) -> bool:
        return self.rule(dtypes.lookup_dtype(dtype)) is not None

    def __getitem__(self, dtype: Any) -> TypedAggregator:
        t = dtypes.lookup_dtype(dtype)
        z = self.rule(t)
        if z is None:
            raise KeyError(f"{self.name} does not work with {t}; it has {', '.join(k.name for k in self.types)}")
        return TypedAggregator(self, t, z)

    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """agg.sum(v), agg.sum(A), agg.sum(A, rowwise=True), agg.sum(A, columnwise=True)."""
        return _call(self, x, rowwise, columnwise)


@dataclass(frozen=True)
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


def _call(op: Any, x: Any, rowwise: bool, columnwise: bool) -> Any:
    ndim = getattr(x, "ndim", 0)
    if ndim not in (1, 2) or not hasattr(x, "_resolve"):
        raise TypeError(f"{op!r}: expected a Vector or a Matrix, got {type(x).__qualname__}")
    if (rowwise and columnwise) or (ndim == 1 and (rowwise or columnwise)):
        raise ValueError("rowwise, columnwise: expected at most one, and only for a Matrix")
    method = "reduce" if ndim == 1 else "reduce_rowwise" if rowwise else "reduce_columnwise"
    return getattr(x, method if ndim == 1 or rowwise or columnwise else "reduce_scalar")(op)


def find(op: Any) -> Any:
    """The aggregator that `op` is or names ("count", "mean[float]"); None for what is none. Monoids go first."""
    if isinstance(op, (Aggregator, TypedAggregator)):
        return op
    if isinstance(op, str):
        base, bracket, dtype = op.strip().partition("[")
        if base not in monoid and base in AGGREGATORS:
            return AGGREGATORS[base][dtype.rstrip("]")] if bracket else AGGREGATORS[base]
    return None


def delayed(op: Any, x: Any, method: str, size: int | None, allow_empty: bool = True) -> Any:
    """The expression of x reduced by an aggregator; size: that of the result, None for a Scalar.

    Raises KeyError (no version for the type), ValueError (not to a Scalar, or `allow_empty` false).
    """
    op = op if isinstance(op, TypedAggregator) else op[x.dtype]
    plain = op.agg
    if plain.monoid is not None:
        kwargs = {} if allow_empty else {"allow_empty": False}
        return getattr(x, method)(plain.monoid[op.dtype], **kwargs)
    if not allow_empty:
        raise ValueError("allow_empty=False not allowed when using Aggregators")
    if method == "reduce_scalar" and not plain.scalar:
        raise ValueError(f"Aggregator {plain.name} may not be used with Matrix.reduce_scalar.")
    # By columns is by rows of the transpose.
    r = Reduction(x.T, "reduce_rowwise") if method == "reduce_columnwise" else Reduction(x, method)
    if size is None:
        run: Any = lambda mask: plain.recipe(r)._value
        return ScalarExpression(method, (x,), op, run, op.return_type)
    return VectorExpression(size, method, (x,), op, lambda mask: plain.recipe(r)._store, op.return_type)


# ---- result types ---------------------------------------------------------------------------------------------------


def _always(z: DataType) -> Rule:
    return lambda t: z


def _same(t: DataType) -> DataType | None:
    return t


def _number(t: DataType) -> DataType | None:
    return None if t is BOOL else t


def _real(t: DataType) -> DataType | None:
    return None if t is BOOL else FP32 if t is FP32 else FP64


def _double(t: DataType) -> DataType | None:
    return None if t is BOOL else FP64


def _squared(t: DataType) -> DataType | None:
    return None if t is BOOL else dtypes.unify(t, INT64)


# ---- recipes --------------------------------------------------------------------------------------------------------


def _count(r: Reduction) -> Any:
    return r.by(monoid.plus, r.x.apply(binary.pair, right=1))


def _count_if(test: Any) -> Recipe:
    return lambda r: r.by(monoid.plus[r.x.dtype], r.x.apply(test, right=0))


def _squares(r: Reduction) -> Any:
    x = r.x.apply(unary.identity[_squared(r.x.dtype)]).new()
    return r.by(monoid.plus, x.ewise_mult(x, binary.times))


def _inverses(r: Reduction) -> Any:
    return r.by(monoid.plus, r.x.apply(unary.minv[FP64]))


def _norm(m: Monoid) -> Recipe:
    return lambda r: r.by(m, r.x.apply(unary.abs))


def _log_sum(base: float, log: str) -> Recipe:
    def recipe(r: Reduction) -> Any:
        return r.by(monoid.plus, r.x.apply(binary.pow, left=base)).apply(getattr(unary, log)).new()

    return recipe


def _divided(x: Any, y: Any) -> Any:
    return x.ewise_mult(y, binary.truediv).new()


def _square(x: Any) -> Any:
    return x.ewise_mult(x, binary.times).new()


def _root(recipe: Recipe) -> Recipe:
    return lambda r: recipe(r).apply(unary.sqrt).new()


def _varp(r: Reduction) -> Any:
    """<x^2> / n - (<x> / n)^2"""
    n = _count(r)
    return _divided(_squares(r), n).ewise_mult(_square(_divided(r.by(monoid.plus), n)), binary.minus).new()


def _vars(r: Reduction) -> Any:
    """<x^2> / (n - 1) - <x>^2 / (n (n - 1))"""
    n = _count(r)
    less = n.apply(binary.minus, right=1).new()
    right = _divided(_divided(_square(r.by(monoid.plus)), n), less)
    return _divided(_squares(r), less).ewise_mult(right, binary.minus).new()


def _range(r: Reduction) -> Any:
    return r.by(monoid.max).ewise_mult(r.by(monoid.min), binary.minus).new()


def _geometric(r: Reduction) -> Any:
    return r.by(monoid.times).ewise_mult(_count(r).apply(unary.minv[FP64]), binary.pow).new()


def _arg(m: Monoid) -> Recipe:
    """The least index at which the least (greatest) value stands."""
    return lambda r: r.by(monoid.min, r.positions(r.where(r.x, r.x, r.by(m))))


def _edge_index(m: Monoid) -> Recipe:
    """The least or greatest index that has an entry."""
    return lambda r: r.by(m, r.positions(r.x))


def _edge(m: Monoid) -> Recipe:
    """The value at the least or greatest index."""

    def recipe(r: Reduction) -> Any:
        if r.method == "reduce_scalar":
            return recipe(Reduction(recipe(Reduction(r.x, "reduce_rowwise")), "reduce"))
        at = r.positions(r.x).new()
        return r.by(monoid.any, r.where(r.x, at, r.by(m, at)))

    return recipe


def _of_monoid(name: str, m: Any) -> Aggregator:
    def rule(t: DataType) -> DataType | None:
        return m.result_type(t) if t in m else None

    return Aggregator(name, rule, lambda r: r.by(m), m)


_MONOIDS = {
    "sum": "plus", "prod": "times", "all": "land", "any": "lor", "min": "min", "max": "max", "any_value": "any",
    "bitwise_all": "band", "bitwise_any": "bor",
}  # fmt: skip

AGGREGATORS = {name: _of_monoid(name, getattr(monoid, m)) for name, m in _MONOIDS.items() if m in monoid} | {
    a.name: a
    for a in (
        Aggregator("count", _always(INT64), _count),
        Aggregator("count_nonzero", _number, _count_if(binary.ne)),
        Aggregator("count_zero", _number, _count_if(binary.eq)),
        Aggregator("exists", _always(INT64), lambda r: r.by(monoid.any, r.x.apply(binary.pair, right=1))),
        Aggregator("sum_of_squares", _squared, _squares),
        Aggregator("sum_of_inverses", _double, _inverses),
        Aggregator("hypot", _double, _root(_squares)),
        Aggregator("logaddexp", _double, _log_sum(2.718281828459045, "log")),
        Aggregator("logaddexp2", _double, _log_sum(2.0, "log2")),
        Aggregator("L0norm", _number, _count_if(binary.ne)),
        Aggregator("L1norm", _number, _norm(monoid.plus)),
        Aggregator("L2norm", _double, _root(_squares)),
        Aggregator("Linfnorm", _same, _norm(monoid.max)),
        Aggregator("mean", _real, lambda r: _divided(r.by(monoid.plus), _count(r))),
        Aggregator("peak_to_peak", _number, _range),
        Aggregator("varp", _real, _varp),
        Aggregator("vars", _real, _vars),
        Aggregator("stdp", _real, _root(_varp)),
        Aggregator("stds", _real, _root(_vars)),
        Aggregator("geometric_mean", _real, _geometric),
        Aggregator("harmonic_mean", _double, lambda r: _divided(_count(r), _inverses(r))),
        Aggregator("root_mean_square", _real, _root(lambda r: _divided(_squares(r), _count(r)))),
        Aggregator("first", _same, _edge(monoid.min)),
        Aggregator("last", _same, _edge(monoid.max)),
        Aggregator("first_index", _always(INT64), _edge_index(monoid.min), scalar=False),
        Aggregator("last_index", _always(INT64), _edge_index(monoid.max), scalar=False),
        Aggregator("argmin", _always(INT64), _arg(monoid.min), scalar=False),
        Aggregator("argmax", _always(INT64), _arg(monoid.max), scalar=False),
    )
}
