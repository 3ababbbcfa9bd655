"""Functions inside python-graphblas that programs import: what an object is, and which operator a name means."""

from __future__ import annotations

from typing import Any

from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, Typed, UnaryOp, dtypes, semiring

from .. import core
from ..core import operators
from ..core.aggregators import Aggregator, TypedAggregator
from ..core.statement.delayed import Delayed

UNKNOWN_OPCLASS = "UnknownOpClass"


def output_type(value: Any) -> type:
    """The class of the object that `value` is, or would be once it is computed."""
    if isinstance(value, Delayed):
        return (core.Scalar, core.Vector, core.Matrix)[value.ndim]
    return type(value)


def ensure_type(value: Any, types: type | tuple[type, ...]) -> Any:
    """`value`, computed if it is delayed. TypeError unless it is one of `types`."""
    found = output_type(value)
    if not issubclass(found, types):
        raise TypeError(f"expected {types}, got {found}")
    return value.new() if isinstance(value, Delayed) else value


def find_opclass(op: Any) -> tuple[Any, str]:
    """The operator (that text or a Python function names) and the name of its class."""
    if isinstance(op, str):
        try:
            op = core.op_from_string(op)
        except ValueError:
            return op, UNKNOWN_OPCLASS
    plain = op.op if isinstance(op, Typed) else op
    if isinstance(plain, (Aggregator, TypedAggregator)):
        return op, "Aggregator"
    kinds = (BinaryOp, Monoid, Semiring, UnaryOp, SelectOp, IndexUnaryOp)
    return op, next((k.__name__ for k in kinds if isinstance(plain, k)), UNKNOWN_OPCLASS)


def get_typed_op(op: Any, dtype: Any, dtype2: Any = None, *, kind: str = "binary", **_: Any) -> Any:
    """The operator for operands of these types; kind: "unary", "binary", "monoid", "semiring", "index"."""
    second = None if dtype2 is None else dtypes.lookup_dtype(dtype2)
    return operators.typed(op, kind, dtypes.lookup_dtype(dtype), second)


def get_semiring(monoid: Any, binaryop: Any, name: str | None = None) -> Any:
    """The semiring of a monoid and a multiplier: the one that there is, if no name is asked for. A BinaryOp stands for
    its monoid, or a Monoid for its operator, but not both. TypeError for anything else."""
    if isinstance(monoid, BinaryOp) and not isinstance(binaryop, Monoid):
        monoid = monoid.monoid
    if isinstance(monoid, Monoid) and isinstance(binaryop, Monoid):
        binaryop = binaryop.binaryop
    if not isinstance(monoid, Monoid) or not isinstance(binaryop, BinaryOp):
        raise TypeError(f"expected a Monoid and a BinaryOp, got {monoid!r} and {binaryop!r}; perhaps switch them")
    known = getattr(semiring, f"{monoid.name}_{binaryop.name}", None) if name is None else None
    if isinstance(known, Semiring) and (known.monoid, known.binaryop) == (monoid, binaryop):
        return known
    return Semiring.register_anonymous(monoid, binaryop, name)
