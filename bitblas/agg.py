"""Aggregators by name, for Vector.reduce and Matrix.reduce_rowwise, reduce_columnwise, reduce_scalar: `agg.mean`."""

from __future__ import annotations

import sys

from .core.aggregators import AGGREGATORS, Aggregator, TypedAggregator

ss = sys.modules[__name__]  # python-graphblas has the positional ones here; in bitblas they are the same entries

SYMBOLS = {"+": "sum", "*": "prod", "&": "all", "|": "any"}


def from_string(text: str) -> Aggregator | TypedAggregator:
    """The aggregator that a text names: "mean", "mean[FP32]", "+". ValueError for unknown text."""
    base, bracket, dtype = text.strip().partition("[")
    found = AGGREGATORS.get(SYMBOLS.get(base, base))
    if found is None:
        raise ValueError(f"agg: expected one of {', '.join((*AGGREGATORS, *SYMBOLS))}, got {text!r}")
    return found[dtype.rstrip("]")] if bracket else found


def __getattr__(name: str) -> Aggregator:
    if name in AGGREGATORS:
        return AGGREGATORS[name]
    raise AttributeError(f"agg has no aggregator {name!r}; known: {', '.join(AGGREGATORS)}")


def __dir__() -> list[str]:
    return [*AGGREGATORS, *__all__]


__all__ = ["Aggregator", "TypedAggregator", "from_string", "ss"]
