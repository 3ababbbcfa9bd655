"""User-defined functions on the host: loops over arrays of records, compiled by Numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType
from semirings.functions import quotient
from semirings.udf import POSITIONS
from semirings.udf_types import gives_record, jitted
from semirings.user_types import UserType

from ..device import Device
from .record_work import Operand, Work, is_call, is_one


def run(device: Device, work: Work) -> Any:
    """As `records.run`."""
    t, z = work.taken, work.given
    names = tuple(work.operands)
    arrays: list[Any] = []
    for operand in work.operands.values():
        arrays += _records(t, operand)
    nowhere = np.zeros(1, np.int64)
    places = [nowhere if at is None else np.asarray(at, np.int64).reshape(-1) for at in (work.rows, work.cols)]
    pointers = nowhere if work.pointers is None else np.asarray(work.pointers, np.int64)
    out = _empty(z, work.size)
    loop = _loop(work.product, work.add, names)
    loop(work.size, out, _empty(z, 1), pointers, *places, *arrays)
    return z.encoded(out) if isinstance(z, UserType) else out


def _records(t: DataType, operand: Operand) -> tuple[Any, Any, int]:
    """The decoded values, as Numba takes them; their indices (empty: in order); the step, 0 for one value."""
    values, at = operand
    one = is_one(values)
    numbers = np.reshape(values, 1) if one else np.asarray(values)
    if at is not None and not one:  # values that are not listed may be invalid
        listed = np.zeros(len(numbers), bool)
        listed[at] = True
        numbers = np.where(listed, numbers, numbers.dtype.type(0))
    made = t.decoded(numbers) if isinstance(t, UserType) else numbers.astype(t.np_type, copy=False)
    return made, np.zeros(0, np.int64) if at is None or one else at, 0 if one else 1


def _empty(z: DataType, size: int) -> np.ndarray:
    if not isinstance(z, UserType):
        return np.empty(size, z.np_type)
    return np.zeros(size, z.record)  # a sub-array type keeps its dimensions


class How(NamedTuple):
    """How a result is written: field by field, which a record has by name and a tuple by number; as a one-dimensional
    array (or a tuple) element by element; else as a number."""

    fields: tuple[str, ...] = ()
    named: bool = False
    shape: tuple[int, ...] = ()


def _how(z: DataType, function: Any = None, arguments: tuple[DataType, ...] = ()) -> How:
    """For the result of a function, or a value of that type itself."""
    if not isinstance(z, UserType):
        return How()
    if z.record.subdtype is not None:
        return How(shape=z.record.shape)
    return How(z.record.names or (), function is None or gives_record(function, arguments))


def _written(target: str, k: str, how: How, value: str) -> list[str]:
    """Statements that write a value at target[k]. The value is read completely before anything is written, because it
    may be stored there."""
    if len(how.shape) == 1:
        return [f"r = {value}", *(f"{target}[{k}, {i}] = r[{i}]" for i in range(how.shape[0]))]
    if how.shape:
        return [f"r = {value}", "for i in range(len(r)):", f"    {target}[{k}, i] = r[i]"]
    if not how.fields:
        return [f"{target}[{k}] = {value}"]
    reads = [f"r{i} = r[{name if how.named else i!r}]" for i, name in enumerate(how.fields)]
    return [f"r = {value}", *reads, *(f"{target}[{k}][{name!r}] = r{i}" for i, name in enumerate(how.fields))]


@functools.lru_cache(256)
def _loop(product: Typed | None, add: Typed | None, names: tuple[str, ...]) -> Callable[..., None]:
    """z[s] = the product of s, or the fold of its segment. one: room for a product."""
    from numba import njit

    known: dict[str, Any] = {"njit": njit, "quotient": njit(quotient)}
    head, text, how = "", "x", How()
    if product is not None:
        call, z = product.op.expr, product.return_type
        how = _how(z)
        text = str(call)
        if is_call(product):
            how = _how(z, call.function, call.arguments(dict.fromkeys(("x", "y", "t"), product.dtype)))
            passed = ", ".join(f"np.uint64({n})" if n in POSITIONS else n for n in call.names)
            head = f"@njit\ndef {call.called}({', '.join(call.names)}):\n    return multiply({passed})\n\n\n"
            known["multiply"] = jitted(call.function)
    elif add is not None:
        how = _how(add.return_type)
    reads = [f"{n} = {n}s[({n}_at[k] if len({n}_at) else k) * {n}_step]" for n in names]
    places = ["ix = rows[k if len(rows) > 1 else 0]", "jx = cols[k if len(cols) > 1 else 0]"]
    made = lambda target, k: [*reads, *places, *_written(target, k, how, text)]
    if add is None:
        lines = ["k = s", *made("z", "s")]
    else:
        join = add.op.expr
        joins = _written("z", "s", _how(add.return_type, join.function, (add.dtype, add.dtype)), "join(z[s], one[0])")
        known["join"] = jitted(join.function)
        lines = ["k = pointers[s]", *made("z", "s"), "for k in range(pointers[s] + 1, pointers[s + 1]):"]
        lines += [f"    {line}" for line in (*made("one", "0"), *joins)]
    taken = ", ".join(f"{n}s, {n}_at, {n}_step" for n in names)
    body = "".join(f"        {line}\n" for line in lines)
    source = f"{head}def loop(n, z, one, pointers, rows, cols, {taken}):\n    for s in range(n):\n{body}"
    namespace = {"np": np, **known}
    exec(source, namespace)
    compiled: Callable[..., None] = njit(namespace["loop"], error_model="numpy", nogil=True)
    return compiled
