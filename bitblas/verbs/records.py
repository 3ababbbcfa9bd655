"""User-defined functions on values of user-defined types.

Elsewhere such values are numbers (semirings/user_types.py) that kernels move and compare. Here they are decoded: to
arrays of records on the host (records_host.py); on a GPU to structs, which a kernel reads from the table of their type
(records_device.py). Results are encoded as numbers on the host, which keeps the tables.
"""

from __future__ import annotations

import functools
from typing import Any

from semirings import Semiring, Typed
from semirings.errors import NotImplementedException
from semirings.udf import Call

from ..device import Device
from .record_work import Operand, Work, is_call


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
    return _runner(device.host_memory)(device, work)


@functools.cache
def _runner(on_host: bool) -> Any:
    """Imported when a user-defined function first runs: both modules import Numba."""
    if on_host:
        from .records_host import run as run_on_host

        return run_on_host
    from .records_device import run as run_on_device

    return run_on_device


__all__ = ["Operand", "Work", "computed", "computes", "folded", "is_call", "plain", "run", "unplaced"]
