"""The parts of a program written down: what it does before its rounds, in one, and after them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ..core.scalar import Scalar
from ..core.statement.recording import state
from ..core.vector.vector import Vector
from ..exceptions import CaptureError
from .indexed import direct
from .ir import Body, Vec
from .record import Recorder
from .state import state_of


def record(
    body: Callable[..., Any], begin: Callable[[], Any] | None = None, end: Callable[..., Any] | None = None, *,
    host: bool = False,
) -> tuple[Body, Recorder]:  # fmt: skip
    """The statements of begin(), body(round, *state) and end(*state), where begin gave the state; and the recorder,
    which knows the objects. host: whether these lie on the CPU. Raises CaptureError, OnHost."""
    if state.recorder is not None:
        raise CaptureError("a loop inside the body of a loop: cannot be captured")
    recorder = Recorder(host=host)
    state.recorder = recorder
    try:
        given = state_of(begin)
        first = len(recorder.statements)
        body(recorder.round, *given)
        after = len(recorder.statements)
        if end is not None:
            end(*given)
    finally:
        state.recorder = None
    del given
    all_ = tuple(recorder.statements)
    vectors = tuple(v for _, v in recorder.vectors.values())
    scalars = tuple(s for _, s in recorder.scalars.values())
    own, unknown = _own(recorder), _unknown(recorder)
    parts = all_[:first], all_[first:after], all_[after:]
    beginning, statements, ending = (tuple(direct(part, own, all_)) for part in parts)
    return Body(statements, vectors, scalars, beginning, ending, own, unknown), recorder


def _own(recorder: Recorder) -> frozenset[Vec]:
    """The vectors that nobody but the statements knows: each run makes them anew, from what they held at first."""
    known = [(weakref.ref(vector), vector._data, x) for vector, x in recorder.vectors.values()]
    recorder.vectors.clear()
    own = []
    for ref, data, x in known:
        vector = ref()
        if vector is None:
            own.append(x)
            vector = Vector._from_store(data)
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
