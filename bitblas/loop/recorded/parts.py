"""The parts of a symbolic program: statements before its rounds, in one round, and after them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from semirings.dtypes import BOOL

from ...core.scalar import Scalar
from ...core.statement.recording import state
from ...exceptions import CaptureError
from .asked import Asked
from .blocks import named, needed, some_of
from .indexed import direct
from .ir import Body, Vec, flat
from .recomputed import recomputed
from .record import Recorder
from .state import state_of
from .wholes import in_one_place


def record(
    body: Callable[..., Any], begin: Callable[[], Any] | None = None, end: Callable[..., Any] | None = None, *,
    host: bool = False, asks: Asked | None = None,
) -> tuple[Body, Recorder]:  # fmt: skip
    """Record the statements of begin(), body(round, *state) and end(*state), where state is the result of begin.
    Returns them with the recorder, which references the objects. host: whether these are on the CPU. asks: the loop
    condition, if it must be computed. Raises CaptureError, OnHost."""
    if state.recorder is not None:
        raise CaptureError("a loop captured while another body is recorded: not supported")
    recorder = Recorder(host=host)
    state.recorder = recorder
    try:
        given = state_of(begin)
        first, recorder.repeats = recorder.begin_part(), True
        body(recorder.round, *given)
        if asks is not None:
            asks.after_round(recorder)
        recorder.repeats = False
        asked = recorder.begin_part()
        if asks is not None:
            asks.before_rounds(recorder)
        after = recorder.begin_part()
        if end is not None:
            end(*given)
    finally:
        state.recorder = None
    del given
    recorder.check_matrices()
    all_ = tuple(recorder.statements)
    vectors = tuple(v for _, v in recorder.vectors.values())
    scalars = tuple(s for _, s in recorder.scalars.values())
    own, unknown = _own(recorder), _unknown(recorder)
    every = tuple(flat(all_))
    kept = [tuple(needed(part, every)) for part in (all_[:first] + all_[asked:after], all_[first:asked], all_[after:])]
    every = tuple(s for part in kept for s in flat(part))
    beginning, statements, ending = (tuple(direct(part, own, every)) for part in kept)
    written = Body(statements, vectors, scalars, beginning, ending, own, unknown)
    if recorder.group is not None:
        written = in_one_place(recomputed(written), frozenset() if asks is None else asks.kept)
    return written, recorder


def among(
    body: Callable[..., Any], vectors: tuple[Any, ...], begin: Callable[[], Any] | None
) -> tuple[Callable[..., Any], Scalar, Callable[[], Any]]:
    """Extend a body by the condition that any of several vectors has an entry: new body, condition and begin."""
    goes_on, ask = Scalar(BOOL, name=f"any of {named(vectors)}"), some_of(vectors)

    def asking(number: Any, *given: Any) -> None:
        body(number, *given)
        goes_on << ask()

    def first() -> tuple[Any, ...]:
        given = state_of(begin)
        goes_on << ask()
        return given

    return asking, goes_on, first


def _own(recorder: Recorder) -> frozenset[Vec]:
    """The vectors that only the statements reference: each run creates them again, with their initial contents."""
    known = [(weakref.ref(vector), type(vector), vector._data, x) for vector, x in recorder.vectors.values()]
    recorder.vectors.clear()
    own = []
    for ref, kind, data, x in known:
        vector = ref()
        if vector is None:
            own.append(x)
            vector = kind._from_store(data)
        recorder.vectors[id(vector)] = vector, x
    return frozenset(own)


def _unknown(recorder: Recorder) -> frozenset[int]:
    """The same for Scalars, by number."""
    known = [(weakref.ref(scalar), scalar._value, x) for scalar, x in recorder.scalars.values()]
    recorder.scalars.clear()
    own = []
    for ref, value, x in known:
        scalar = ref()
        if scalar is None:
            own.append(x.id)
            scalar = Scalar(x.dtype)
            scalar._value = value
        recorder.scalars[id(scalar)] = scalar, x
    return frozenset(own)


__all__ = ["record"]
