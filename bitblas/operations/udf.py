"""User-defined functions on values of user-defined types, on the CPU.

Elsewhere such values are numbers (semirings/user_types.py) that kernels move and compare. Here they are decoded to
arrays of records, on which a loop compiled by Numba runs; the results are encoded as numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semirings import Typed
from semirings.dtypes import DataType, NotImplementedException, UdfParseError
from semirings.functions import quotient
from semirings.udf import POSITIONS, Call
from semirings.udf_types import gives_record, jitted
from semirings.user_types import UserType

from ..device import Device
from ..plan.operation import is_function as computes


class Operand(NamedTuple):
    """Values, an array or one for all; `at` gives the index of each product's operand, None: in order."""

    values: Any
    at: Any = None


class Work(NamedTuple):
    """`product` (of operands x, y and t by name; None: x itself) of `size` operands each; with `add` a left fold of
    each segment pointers[s]:pointers[s + 1], none of them empty. rows, cols: their positions."""

    size: int
    product: Typed | None
    operands: dict[str, Operand]
    add: Typed | None = None
    pointers: Any = None
    rows: Any = None
    cols: Any = None

    @property
    def taken(self) -> DataType:
        """The type of the operands."""
        made: Any = self.add if self.product is None else self.product
        found: DataType = made.dtype
        return found

    @property
    def given(self) -> DataType:
        made: Any = self.product if self.add is None else self.add
        found: DataType = made.return_type
        return found


def is_call(op: Typed) -> bool:
    return isinstance(op.op.expr, Call)


# ---- Loops over arrays of records, compiled by Numba.


def run(device: Device, work: Work) -> Any:
    """The results of a work, an array. UdfParseError on a GPU."""
    for op in (work.product, work.add):
        if op is not None:
            check_device(op, device)
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
    one = isinstance(values, np.generic) or np.ndim(values) == 0
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


# ---- Functions of values of user-defined types, as operations call them.


def check_device(op: Typed, device: Device) -> None:
    """UdfParseError for a function that computes with values of a user-defined type, on a GPU."""
    if not device.host_memory and computes(op):
        raise UdfParseError(
            f"op: expected an operator of numbers on {device}, got {op!r}, a Python function of values of {op.dtype}. "
            'Hint: compute on the CPU, with operands that .to("cpu") returns'
        )


def plain(op: Typed) -> Typed:
    """The operator itself; of a monoid its binary operator."""
    found: Any = getattr(op.op, "binaryop", op.op)
    return found[op.dtype]


def unplaced(op: Typed) -> Exception:
    return NotImplementedException(
        f"op: {op!r} reads positions and values of {op.dtype}, which products of two matrices do not support"
    )


def computed(device: Device, op: Typed, size: int, rows: Any = None, cols: Any = None, **operands: Any) -> Any:
    """op of `size` operands each, x, y and t, arrays or one value: an array of its result's type (BOOL: bools)."""
    return run(device, Work(size, op, {k: Operand(v) for k, v in operands.items()}, rows=rows, cols=cols))


def folded(device: Device, op: Typed, values: Any, pointers: Any) -> Any:
    """Left fold of op over each segment values[pointers[s]:pointers[s + 1]], none of them empty."""
    return run(device, Work(len(pointers) - 1, None, {"x": Operand(values)}, op, pointers))
