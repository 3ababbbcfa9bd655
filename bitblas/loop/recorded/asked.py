"""Loop conditions other than one vector on one device: any of several vectors, or a distributed vector."""

from __future__ import annotations

from typing import Any

from semirings.dtypes import BOOL

from ...core.scalar import Scalar
from .blocks import named, some_of
from .ir import Vec


class Asked:
    """The condition that any of several vectors has an entry, evaluated before the first round and after each.

    If a round gathers all of a distributed BOOL vector before it writes it, that gather moves to the end of the round
    and serves as the condition, so that no other communication is needed. term: the Scalar or the vector.
    """

    term: Scalar | Vec

    def __init__(self, condition: Any) -> None:
        vectors = condition if isinstance(condition, tuple) else (condition,)
        self.goes_on, self.ask = Scalar(BOOL, name=f"any of {named(vectors)}"), some_of(vectors)
        self.one = vectors[0] if len(vectors) == 1 and vectors[0].dtype is BOOL else None
        self.carried: Any = None

    def after_round(self, recorder: Any) -> None:
        if self.one is not None and hasattr(self.one, "_part"):
            self.carried = recorder.put_last(self.one._part)
        if self.carried is None:
            self.goes_on << self.ask()
        self.term = self.goes_on if self.carried is None else self.carried.target

    def before_rounds(self, recorder: Any) -> None:
        if self.carried is None:
            self.goes_on << self.ask()
        else:
            recorder.exchange_again(self.carried)

    @property
    def kept(self) -> frozenset[Vec]:
        """The vector that must not be merged with others."""
        return frozenset() if self.carried is None else frozenset({self.carried.target})
