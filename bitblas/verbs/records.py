"""Functions of programs on values of user-defined types: loops over arrays of records, compiled by Numba, on the host.

Everywhere else such values are numbers (semirings/user_types.py), which kernels move and compare; here they are what
the numbers stand for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import DataType
from semirings.errors import NotImplementedException
from semirings.functions import quotient
from semirings.udf import POSITIONS, Call
from semirings.udf_types import gives_record, jitted
from semirings.user_types import UserType

from ..device import Device


def computes(op: Typed) -> bool:
    """Whether an operator, or a part of a semiring, is a function that computes with values of a user-defined type."""
    if not op.dtype._is_udt:
        return False
    parts = (op.op.binaryop, op.op.monoid.binaryop) if isinstance(op.op, Semiring) else (plain(op).op,)
    return any(isinstance(part.expr, Call) for part in parts)


def plain(op: Typed) -> Typed:
    """The operator itself, of a monoid its operator."""
    found: Any = getattr(op.op, "binaryop", op.op)
    return found[op.dtype]


def check(device: Device, op: Typed) -> None:
    """NotImplementedException on a GPU."""
    if not device.host_memory:
        raise NotImplementedException(
            f"op: {op!r} is a function of values of {op.dtype}, which run on the CPU alone, got operands on "
            f"{device.name!r}; expected them on the CPU: .to('cpu')"
        )


def unplaced(op: Typed) -> Exception:
    return NotImplementedException(
        f"op: {op!r} reads positions and values of {op.dtype}, which products of two matrices do not give together"
    )


def computed(device: Device, op: Typed, size: int, rows: Any = None, cols: Any = None, **operands: Any) -> Any:
    """op of `size` operands each, x, y and t, arrays or one value: an array of its result's type (BOOL: bools)."""
    check(device, op)
    call, t, z = op.op.expr, op.dtype, op.return_type
    arrays = {name: _records(t, value, size) for name, value in operands.items()}
    nowhere = np.zeros(size, np.int64)
    places = [nowhere if at is None else np.broadcast_to(np.asarray(at, np.int64), size) for at in (rows, cols)]
    out = _empty(z, size)
    how = _how(z, call.function, call.arguments(dict.fromkeys(("x", "y", "t"), t)))
    _loop(call.function, call.names, str(call), tuple(arrays), how)(size, out, *places, *arrays.values())
    return _numbers(z, out)


def folded(device: Device, op: Typed, values: Any, pointers: Any) -> Any:
    """op joined from left to right over each segment values[pointers[s]:pointers[s + 1]], none of them empty."""
    check(device, op)
    t, pointers = op.dtype, np.asarray(pointers, np.int64)
    x = _records(t, values, int(pointers[-1]))
    out = x[pointers[:-1]].copy()
    function = op.op.expr.function
    _fold(function, _how(t, function, (t, t)))(len(out), out, x, pointers)
    return _numbers(t, out)


def _records(t: DataType, values: Any, size: int) -> np.ndarray:
    """What numbers stand for, as Numba takes it."""
    one = isinstance(values, np.generic) or np.ndim(values) == 0
    numbers = np.full(size, values) if one else np.asarray(values)[:size]
    return t.decoded(numbers) if isinstance(t, UserType) else numbers.astype(t.np_type, copy=False)


def _empty(z: DataType, size: int) -> np.ndarray:
    if not isinstance(z, UserType):
        return np.empty(size, z.np_type)
    return np.zeros(size, z.record)  # of sub-arrays it has their dimensions


def _numbers(z: DataType, out: np.ndarray) -> Any:
    return z.encoded(out) if isinstance(z, UserType) else out


class How(NamedTuple):
    """How a result is written: field by field, which a record has by name and a tuple by number; as an array, of one
    dimension element by element, which a tuple may be, too; else as a number."""

    fields: tuple[str, ...] = ()
    named: bool = False
    shape: tuple[int, ...] = ()


def _how(z: DataType, function: Any, arguments: tuple[DataType, ...]) -> How:
    if not isinstance(z, UserType):
        return How()
    if z.record.subdtype is not None:
        return How(shape=z.record.shape)
    return How(z.record.names or (), gives_record(function, arguments))


def _written(target: str, how: How, value: str) -> list[str]:
    """Statements that write a value at target[k]. All of it is read before anything is written: it may stand there."""
    if len(how.shape) == 1:
        return [f"r = {value}", *(f"{target}[k, {i}] = r[{i}]" for i in range(how.shape[0]))]
    if how.shape:
        return [f"r = {value}", "for i in range(len(r)):", f"    {target}[k, i] = r[i]"]
    if not how.fields:
        return [f"{target}[k] = {value}"]
    reads = [f"r{i} = r[{name if how.named else i!r}]" for i, name in enumerate(how.fields)]
    return [f"r = {value}", *reads, *(f"{target}[k][{name!r}] = r{i}" for i, name in enumerate(how.fields))]


def _compiled(text: str, **names: Any) -> Callable[..., None]:
    from numba import njit

    namespace = {"np": np, **names}
    exec(text, namespace)
    made: Callable[..., None] = njit(namespace["loop"], error_model="numpy", nogil=True)
    return made


@functools.lru_cache(256)
def _loop(function: Any, parameters: Any, text: str, operands: tuple[str, ...], how: How) -> Callable[..., None]:
    """z[k] = text, in which the function is called with the operands of k and where they stand."""
    from numba import njit

    called = text.partition("(")[0]
    passed = ", ".join(f"np.uint64({n})" if n in POSITIONS else n for n in parameters)
    body = [*(f"{name} = {name}s[k]" for name in operands), *_written("z", how, text)]
    lines = (
        f"@njit\ndef {called}({', '.join(parameters)}):\n    return function({passed})\n\n\n"
        f"def loop(n, z, rows, cols, {', '.join(f'{name}s' for name in operands)}):\n"
        f"    for k in range(n):\n        ix, jx = rows[k], cols[k]\n{_indented(body, 8)}"
    )
    return _compiled(lines, function=jitted(function), njit=njit, quotient=njit(quotient))


@functools.lru_cache(256)
def _fold(function: Any, how: How) -> Callable[..., None]:
    """z[k] joined with x[pointers[k] + 1:pointers[k + 1]], one after the other."""
    lines = (
        "def loop(n, z, x, pointers):\n    for k in range(n):\n"
        "        for e in range(pointers[k] + 1, pointers[k + 1]):\n"
        f"{_indented(_written('z', how, 'function(z[k], x[e])'), 12)}"
    )
    return _compiled(lines, function=jitted(function))


def _indented(lines: list[str], by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in lines)


__all__ = ["check", "computed", "computes", "folded", "plain", "unplaced"]
