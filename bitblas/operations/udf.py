"""User-defined functions on values of user-defined types.

Elsewhere such values are numbers (semirings/user_types.py) that kernels move and compare. Here they are decoded: on the
host to arrays of records, in loops compiled by Numba; on a GPU to structs, which kernels/records.cu reads from the
table of their type. Results are encoded as numbers on the host, which keeps the tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semirings import Semiring, Typed
from semirings.dtypes import INT64, DataType
from semirings.errors import NotImplementedException
from semirings.functions import quotient
from semirings.udf import POSITIONS, Call
from semirings.udf_cuda import library, translated
from semirings.udf_types import gives_record, jitted
from semirings.udf_values import converted, kind_of, packing, word_of
from semirings.user_types import UserType

from ..device import Device
from ..device.base import dummy
from ..kernels.variant import Variant

# ---- Operations on values of user-defined types, the same for CPU and GPU.


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


def is_one(values: Any) -> bool:
    return isinstance(values, np.generic) or np.ndim(values) == 0


# ---- User-defined functions on the host: loops over arrays of records, compiled by Numba.


def run_on_host(device: Device, work: Work) -> Any:
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


# ---- User-defined functions on a GPU: kernels/records.cu, with structs for the values.

ARGUMENTS = "xyt"
_tables: dict[tuple[Device, UserType], Any] = {}


def run_on_device(device: Device, work: Work) -> Any:
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


# ---- User-defined functions on values of user-defined types.
#
# Elsewhere such values are numbers (semirings/user_types.py) that kernels move and compare. Here they are decoded: to
# arrays of records on the host; on a GPU to structs, which a kernel reads from the table of their
# type. Results are encoded as numbers on the host, which keeps the tables.


def computes(op: Typed) -> bool:
    """Whether an operator, or a part of a semiring, is a function that computes with values of a user-defined type."""
    if not op.dtype._is_udt:
        return False
    parts = (op.op.binaryop, op.op.monoid.binaryop) if isinstance(op.op, Semiring) else (plain(op).op,)
    return any(isinstance(part.expr, Call) for part in parts)


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


def run(device: Device, work: Work) -> Any:
    """The results of a work, an array. UdfParseError for a function that cannot be compiled for the device."""
    return run_on_host(device, work) if device.host_memory else run_on_device(device, work)
