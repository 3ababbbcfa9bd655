"""Run a statement: convert device errors to errors of bitblas; notify the trace and the recorder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ...device import tracing
from .delayed import Delayed
from .explain import explain
from .listening import state as listening
from .listening import written
from .recording import state as recording


def statement(
    run: Callable[..., None], target: Any, value: Any, mask: Any = None, accum: Any = None, replace: bool = False
) -> None:
    """run(target, value, mask, accum, replace): a statement that writes into `target`."""
    try:
        if (tracing.active is None and not listening.threads) or _unheard():  # saves a call
            run(target, value, mask, accum, replace)
        else:
            text = lambda: written(target.name, value, mask, accum, replace)
            with _heard(lambda: reason(value, mask), text):
                run(target, value, mask, accum, replace)
    except target.device.errors as error:
        target.device.fail(error)


def assignment(run: Callable[..., None], target: Any, axes: Any, value: Any, *how: Any) -> None:
    """run(target, axes, value, *how): the same for a part of `target`; axes: one index, or all."""
    try:
        if _unheard():
            run(target, axes, value, *how)
        else:
            where = axes if isinstance(axes, tuple) else (axes,)
            text = lambda: written(target.name, value, *how[:4], axes=where)
            with _heard(lambda: f"assign to {target.name}[..]", text):
                run(target, axes, value, *how)
    except target.device.errors as error:
        target.device.fail(error)


def computed(expr: Any, run: Callable[[], Any], name: str, mask: Any = None) -> Any:
    """run(): what a delayed Matrix or Scalar gives, for a new object of that name."""
    try:
        if _unheard():
            return run()
        with _heard(lambda: reason(expr, mask), lambda: written(name, expr, mask)):
            return run()
    except expr.device.errors as error:
        return expr.device.fail(error)


def _unheard() -> bool:
    """Whether nobody listens; what is recorded for the device does not run."""
    if tracing.active is None and not (listening.threads and listening.recorder is not None):
        return True
    return recording.recorder is not None


@contextmanager
def _heard(why: Callable[[], str], text: Callable[[], str]) -> Iterator[None]:
    with listening.recorder.hears(text) if listening.recorder is not None else nullcontext():
        with tracing.active.of(why()) if tracing.active is not None else nullcontext():
            yield


def guarded(method: Callable[..., Any]) -> Any:
    """A method that reads an object whole."""

    @functools.wraps(method)
    def read(self: Any, *args: Any, **how: Any) -> Any:
        try:
            return method(self, *args, **how)
        except self.device.errors as error:
            return self.device.fail(error)

    return read


def reason(value: Any, mask: Any) -> str:
    """A statement in words: the plan of a product, else the expression."""
    if isinstance(value, Delayed):
        value = value._to_expr()
        return str(explain(value, mask=mask)) if value.method in ("mxv", "vxm", "mxm") else value._text()
    return f"<< {getattr(value, 'name', value)}"
