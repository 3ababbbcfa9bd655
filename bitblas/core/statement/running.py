"""Statements run: what a device raises becomes an error of bitblas, and a trace hears what the statement is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...device import tracing
from .delayed import Delayed
from .explain import explain
from .recording import state as recording


def statement(run: Callable[..., None], target: Any, value: Any, *how: Any) -> None:
    """run(target, value, *how): a statement that writes into `target`."""
    try:
        if tracing.active is None or recording.recorder is not None:  # what is recorded does not run
            run(target, value, *how)
        else:
            with tracing.active.of(reason(value, how[0])):
                run(target, value, *how)
    except target.device.errors as error:
        target.device.fail(error)


def assignment(run: Callable[..., None], target: Any, where: Any, value: Any, *how: Any) -> None:
    """run(target, where, value, *how): the same for a part of `target`."""
    try:
        if tracing.active is None or recording.recorder is not None:
            run(target, where, value, *how)
        else:
            with tracing.active.of(f"assign to {target.name}[..]"):
                run(target, where, value, *how)
    except target.device.errors as error:
        target.device.fail(error)


def computed(expr: Any) -> Any:
    """What a delayed Scalar gives."""
    try:
        if tracing.active is None or recording.recorder is not None:
            return expr.run(None)
        with tracing.active.of(reason(expr, None)):
            return expr.run(None)
    except expr.device.errors as error:
        return expr.device.fail(error)


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
