"""Internal functions of python-graphblas that programs import: type tests and operator look-up."""

from __future__ import annotations

from typing import Any

from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, Typed, UnaryOp, dtypes, semiring

from .. import core
from ..core import operators
from ..core.aggregators import Aggregator, TypedAggregator
from ..core.statement.infix import Delayed
from ..typing import DTypeLike

UNKNOWN_OPCLASS = "UnknownOpClass"
KINDS = {
    "unary": UnaryOp,
    "binary": BinaryOp,
    "indexunary": IndexUnaryOp,
    "select": SelectOp,
    "monoid": Monoid,
    "semiring": Semiring,
}


def output_type(value: object) -> type:
    """The class of `value`, or of its result if it is delayed."""
    if isinstance(value, Delayed):
        return (core.Scalar, core.Vector, core.Matrix)[value.ndim]
    return type(value)


def ensure_type(value: object, types: type | tuple[type, ...]) -> object:
    """`value`, computed if it is delayed. TypeError unless it is one of `types`."""
    found = output_type(value)
    if not issubclass(found, types):
        raise TypeError(f"expected {types}, got {found}")
    return value.new() if isinstance(value, Delayed) else value


def find_opclass(op: object) -> tuple[object, str]:
    """The operator (also given as text or a Python function) and the name of its class."""
    if isinstance(op, str):
        try:
            op = core.op_from_string(op)
        except ValueError:
            return op, UNKNOWN_OPCLASS
    plain = op.op if isinstance(op, Typed) else op
    if isinstance(plain, (Aggregator, TypedAggregator)):
        return op, "Aggregator"
    return op, next((k.__name__ for k in KINDS.values() if isinstance(plain, k)), UNKNOWN_OPCLASS)


def get_typed_op(
    op: Any, dtype: DTypeLike, dtype2: DTypeLike | None = None, *, kind: str | None = None, **_: object
) -> Typed | TypedAggregator:
    """The operator for operands of these types. kind, required for a name or a function: "unary", "binary", "monoid",
    "semiring", "indexunary", "select" or "binary|aggregator". ValueError without it, or for an unknown name."""
    if isinstance(op, str):
        if kind is None:
            raise ValueError(f'kind: expected the kind of {op!r}, for example "unary" or "binary", got None')
        if kind == "binary|aggregator":
            op, kind = core.op_from_string(op), "binary"
    if isinstance(op, TypedAggregator):
        return op
    left, right = dtypes.lookup_dtype(dtype), None if dtype2 is None else dtypes.lookup_dtype(dtype2)
    if isinstance(op, Aggregator):
        return op[left]
    plain = op.op if isinstance(op, Typed) else op
    found = (name for name, its in KINDS.items() if isinstance(plain, its))
    return operators.typed(op, kind or next(found, "binary"), left, right)


get_semiring = semiring.get_semiring
