"""Aggregators as sequences of reductions and element-wise steps, each computed on the operand's device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from semirings import Monoid, binary, dtypes, indexunary, monoid, unary
from semirings.dtypes import FP64, INT64

from .statement.expr import Expression


class Reduction(NamedTuple):
    """A reduction of `x`; method: "reduce" (a Vector), "reduce_rowwise" or "reduce_scalar" (a Matrix)."""

    x: Any
    method: str

    def by(self, m: Any, x: Any = None) -> Any:
        """Reduce x (self's operand if not given) by a monoid."""
        return getattr(self.x if x is None else _made(x), self.method)(m).new()

    def positions(self, x: Any) -> Any:
        """The index of each entry along the reduction."""
        return _made(x).apply(indexunary.colindex if x.ndim == 2 else indexunary.rowindex)

    def where(self, x: Any, y: Any, result: Any) -> Any:
        """The entries of `x` at which y equals the `result` of their row, or the single result."""
        if self.method == "reduce_rowwise":
            same = result.ewise_mult(y, binary.eq)  # the Vector is broadcast to every column
        elif result.is_empty:  # and so is x
            return x
        else:
            same = y.apply(binary.eq, right=result)
        return x.select(same.new().V)


def _made(x: Any) -> Any:
    """x, computed if it is delayed: a recipe decides itself what it computes, whatever config.autocompute is."""
    return x.new() if isinstance(x, Expression) else x


Recipe = Callable[[Reduction], Any]


def composite(parts: Sequence[Recipe], finalize: Callable[..., Any]) -> Recipe:
    """finalize(a, b, .., {}) of the results of other recipes."""
    return lambda r: _made(finalize(*(part(r) for part in parts), {}))


def count(r: Reduction) -> Any:
    return r.by(monoid.plus, r.x.apply(binary.pair, right=1))


def count_if(test: Any) -> Recipe:
    return lambda r: r.by(monoid.plus[r.x.dtype], r.x.apply(test, right=0))


def squares(r: Reduction) -> Any:
    x = r.x.apply(unary.identity[dtypes.unify(r.x.dtype, INT64)]).new()
    return r.by(monoid.plus, x.ewise_mult(x, binary.times))


def inverses(r: Reduction) -> Any:
    return r.by(monoid.plus, r.x.apply(unary.minv[dtypes.unify(r.x.dtype, FP64)]))


def norm(m: Monoid) -> Recipe:
    return lambda r: r.by(m, r.x.apply(unary.abs))


def log_sum(base: float, log: str) -> Recipe:
    def recipe(r: Reduction) -> Any:
        return r.by(monoid.plus, r.x.apply(binary.pow, left=base)).apply(getattr(unary, log)).new()

    return recipe


def divided(x: Any, y: Any) -> Any:
    return x.ewise_mult(y, binary.truediv).new()


def square(x: Any) -> Any:
    return x.ewise_mult(x, binary.times).new()


def root(recipe: Recipe) -> Recipe:
    return lambda r: recipe(r).apply(unary.sqrt).new()


def mean(r: Reduction) -> Any:
    return divided(r.by(monoid.plus), count(r))


def mean_square(r: Reduction) -> Any:
    return divided(squares(r), count(r))


def harmonic(r: Reduction) -> Any:
    return divided(count(r), inverses(r))


def variance(r: Reduction) -> Any:
    """<x^2> / n - (<x> / n)^2"""
    n = count(r)
    return divided(squares(r), n).ewise_mult(square(divided(r.by(monoid.plus), n)), binary.minus).new()


def sample_variance(r: Reduction) -> Any:
    """<x^2> / (n - 1) - <x>^2 / (n (n - 1))"""
    n = count(r)
    less = n.apply(binary.minus, right=1).new()
    right = divided(divided(square(r.by(monoid.plus)), n), less)
    return divided(squares(r), less).ewise_mult(right, binary.minus).new()


def peak_to_peak(r: Reduction) -> Any:
    return r.by(monoid.max).ewise_mult(r.by(monoid.min), binary.minus).new()


def geometric(r: Reduction) -> Any:
    return r.by(monoid.times).ewise_mult(count(r).apply(unary.minv[FP64]).new(), binary.pow).new()


def arg(m: Monoid) -> Recipe:
    """The smallest index with the minimum (maximum)."""
    return lambda r: r.by(monoid.min, r.positions(r.where(r.x, r.x, r.by(m))))


def edge_index(m: Monoid) -> Recipe:
    """The smallest or largest index that has an entry."""
    return lambda r: r.by(m, r.positions(r.x))


def edge(m: Monoid) -> Recipe:
    """The value at the smallest or largest index."""

    def recipe(r: Reduction) -> Any:
        if r.method == "reduce_scalar":
            return recipe(Reduction(recipe(Reduction(r.x, "reduce_rowwise")), "reduce"))
        at = r.positions(r.x).new()
        return r.by(monoid.any, r.where(r.x, at, r.by(m, at)))

    return recipe
