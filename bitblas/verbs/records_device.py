"""User-defined functions on a GPU: kernels/records.cu, with structs for the values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from semirings import Typed
from semirings.dtypes import INT64, DataType
from semirings.udf_cpp import library, translated
from semirings.udf_values import converted, kind_of, packing, word_of
from semirings.user_types import UserType

from ..device import Device
from ..device.base import dummy
from ..kernels.prologue import Variant
from .record_work import Operand, Work, is_call, is_one

ARGUMENTS = "xyt"
_tables: dict[tuple[Device, UserType], Any] = {}


def run(device: Device, work: Work) -> Any:
    """As `records.run`."""
    t, z, xp = work.taken, work.given, device.xp
    listed = tuple(n for n in ARGUMENTS if n in work.operands and work.operands[n].at is not None)
    placed = work.rows is not None
    kernel = device.kernel(records_variant(work.product, work.add, tuple(work.operands), listed, placed))
    none = dummy(device, "int64")
    out = xp.empty(work.size * _words(z), _word_type(z))
    args: list[Any] = []
    for name in ARGUMENTS:
        operand = work.operands.get(name, Operand(np.int64(0)))
        values, at = operand.values, operand.at
        of, one = t if name in work.operands else INT64, is_one(values)
        array = device.full(1, of.np_type.type(values)) if one else values.astype(of.np_type, copy=False)
        which = () if name == "t" else (none if at is None else at,)
        table = _table(device, of) if isinstance(of, UserType) else dummy(device, of.np_type.name)
        args += [array, *which, int(not one), table]
    places = (_each(xp, at, work.size) if placed else none for at in (work.rows, work.cols))
    pointers = none if work.pointers is None else work.pointers.astype(np.int64, copy=False)
    if work.size:
        kernel(work.size, pointers, *places, *args, out)
    if not isinstance(z, UserType):
        return out
    packed = device.to_host(out).reshape(work.size, _words(z))
    return device.asarray(z.interned(packed.view(np.uint8)))


def _each(xp: Any, at: Any, size: int) -> Any:
    return xp.ascontiguousarray(xp.broadcast_to(xp.asarray(at, np.int64), (size,)))


def _table(device: Device, t: UserType) -> Any:
    """The packed values of a type on the device; the table only grows."""
    word = np.dtype(_word_type(t))
    held = _tables.get((device, t))
    begin = 0 if held is None else len(held) * word.itemsize // t._packed.itemsize
    more = t.table(begin).view(word)
    if len(more):
        fresh = device.asarray(more)
        held = _tables[device, t] = fresh if held is None else device.xp.concatenate((held, fresh))
    return held


def _word_type(t: DataType) -> Any:
    return np.dtype(f"u{word_of(t)}") if isinstance(t, UserType) else t.np_type


def _words(t: DataType) -> int:
    return t._packed.itemsize // word_of(t) if isinstance(t, UserType) else 1


@functools.lru_cache(256)
def records_variant(
    product: Typed | None, add: Typed | None, names: tuple[str, ...], listed: tuple[str, ...], placed: bool
) -> Variant:
    """names: the operands of the product; listed: operands with an index array; placed: it reads positions."""
    made: Any = add if product is None else product
    t, z = made.dtype, (made if add is None else add).return_type
    parts = [library(), *(packing(n.upper(), t if n in names else INT64) for n in ARGUMENTS), packing("Z", z)]
    call: Any = None if product is None else product.op.expr
    head, text, kind = "", "x" if call is None else str(call), kind_of(t)
    if product is not None and is_call(product):
        head, kind = translated(call.called, call.function, call.arguments(dict.fromkeys(ARGUMENTS, t)))
    more, text = converted(text, kind, kind_of(z))
    parts += [head, more, _function("product", "X_T x, Y_T y, T_T t, i64 ix, i64 jx", text)]
    head, more, text = "", "", "x"
    if add is not None:
        head, kind = translated("joined", add.op.expr.function, (add.dtype, add.dtype))
        more, text = converted("joined(x, y)", kind, kind_of(z))
    parts += [head, more, _function("join", "Z_T x, Z_T y", text)]
    constants = {"FOLD": add is not None, "PLACES": placed, "X_LISTED": "x" in listed, "Y_LISTED": "y" in listed}
    label = " ".join(str(op) for op in (product, add) if op is not None)
    flags = tuple((name, int(flag)) for name, flag in constants.items())
    return Variant("kernels/records", constants=flags, label=label, text="".join(parts))


def _function(name: str, parameters: str, text: str) -> str:
    return f"__device__ __forceinline__ Z_T {name}({parameters}) {{ return {text}; }}\n"
