"""Symbolic execution of a body: while a Recorder is set, `w << expr` records a Statement and computes nothing.

Operations that need values on the host (nvals, to_coo, a Scalar in an `if`) raise CaptureError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from semirings import IndexUnaryOp, Monoid, Typed, UnaryOp
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, INT64, DataType, lookup_dtype

from ...core.scalar import Scalar
from ...core.statement.expr import Expression, ScalarExpression
from ...core.statement.indexing import IndexExpr
from ...core.statement.infix import Infix
from ...core.statement.mask import Mask
from ...core.statement.operand import NAMES, Operand, is_tensor
from ...core.statement.operands import of
from ...core.statement.recording import Symbol
from ...core.vector.vector import Vector
from ...exceptions import CaptureError, DimensionMismatch
from ...order import Order
from ...store import VectorStore, empty_vector, full_bits
from ...verbs.reorder import by_value
from ...verbs.variants import BOTH, FILLED, LEFT, UNION, binary_of
from ...verbs.virtual import rows_of
from .blocks import BlockRecorder, Level
from .exchanged import ExchangeRecorder
from .indexed import IndexRecorder
from .ir import Block, Const, Gather, Masked, Pointwise, Product, Reduce, Scal, Scatter, Statement, Term, Vec, flat
from .matrices import MatrixRecorder
from .nodes import over_nodes
from .shapes import Shape
from .state import OnHost

HINT = (
    "loops on a device support mxv, vxm, ewise_*, apply, select, reduce to a Scalar, masks, accumulators, assignment, "
    "p[x.to_dense()], Vector.from_coo(x.to_dense(), ..)"
)


class Recorder(BlockRecorder, IndexRecorder, ExchangeRecorder, MatrixRecorder):
    """The statements of one symbolic run of a body, and the objects that they name."""

    def __init__(self, *, host: bool = False) -> None:
        super().__init__()
        self.host = host  # whether vectors are on the CPU
        self.device: Any = None  # the device of the first vector
        self.matrices: list[tuple[Any, Any]] = []  # each Matrix and its contents when it was read
        self.statements: list[Statement | Block] = []  # of the innermost block
        self.vectors: dict[int, tuple[Any, Vec]] = {}  # by the id of the Vector, which is kept alive here
        self.scalars: dict[int, tuple[Any, Scal]] = {}
        self.levels: list[Level] = []
        self.round = Scalar(INT64, name="round")

    # ---- the hooks of core ----

    def refuse(self, what: str) -> NoReturn:
        raise CaptureError(f"{what}: cannot be captured; {HINT}")

    def shape_of(self, vector: Any) -> Any:
        return Shape(self, vector)

    def symbol(self, value: Any) -> tuple[Any, DataType]:
        """A Scalar of the body (or a delayed one, which becomes a statement) as a symbolic operand."""
        if not isinstance(value, Scalar):
            value = value._to_expr() if isinstance(value, (Infix, IndexExpr)) else value
            value = value.new() if value._value is None else value._value
        held = value._value  # a Scalar may have been created from another one
        return held if isinstance(held, Symbol) else Symbol(value), value.dtype

    def vector_statement(self, w: Any, value: Any, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
        target = self._vec(w)
        lowered = self._value(value, w, mask)
        m = None if mask is None else self._masked(mask, target)
        text = f"{w.name}{_parameters(mask, accum, replace)} << {_text(value)}"
        self.statements.append(Statement(target, lowered, m, accum, replace and mask is not None, text))

    def scalar_statement(self, s: Any, value: Any, accum: Typed | None) -> None:
        lowered = self._scalar_value(
            value, s.dtype
        )  # before the target is registered, because it may be read here for the first time
        text = f"{s.name}{_parameters(None, accum, False)} << {_text(value)}"
        self.statements.append(Statement(self._scal(s), lowered, None, accum, False, text))

    def order(self) -> Order | None:
        """The vertex order of the loop: that of its matrices. CaptureError if these differ, or if a statement reads
        positions, which refer to the user's order."""
        orders = list(dict.fromkeys(held.order for _, held in self.matrices))
        order = orders[0] if orders else None
        if not all(_alike(order, other) for other in orders[1:]):
            self.refuse("matrices in different orders")
        positional = (s for s in flat(self.statements) if order is not None and _by_position(s, order.size))
        if (found := next(positional, None)) is not None:
            self.refuse(f"{found.text}: positions, in a loop over a reordered matrix")
        return order

    # ---- lowering ----

    def _vec(self, vector: Any) -> Vec:
        if id(vector) not in self.vectors:
            data = vector._data
            if self.device is None:
                self.device = data.device
                if self.device.records_loops is self.host:
                    raise OnHost
            if data.dtype._is_udt:
                self.refuse(f"{vector.name}: of {data.dtype}, a user-defined type, in a loop on {self.device.name}")
            if data.device is not self.device:
                self.refuse(f"{vector.name}: on {data.device}, while the loop runs on {self.device}")
            size = data.size if vector.ndim == 1 else self._places(vector)
            self.vectors[id(vector)] = vector, Vec(len(self.vectors), size, data.dtype)
        return self.vectors[id(vector)][1]

    def _scal(self, scalar: Any) -> Scal:
        if scalar is self.round:
            return Scal(-1, INT64)
        scalar = self.outer_round(scalar)
        if id(scalar) not in self.scalars:
            self.scalars[id(scalar)] = scalar, Scal(len(self.scalars), scalar.dtype)
        return self.scalars[id(scalar)][1]

    def _term(self, value: Any, dtype: DataType | None = None) -> Term:
        """A Vector, a Symbol or a value as an operand."""
        if isinstance(value, Symbol):
            plain = self._scal(value.scalar)
            return Scal(plain.id, plain.dtype, tuple(lookup_dtype(t) for t in value.casts))
        if isinstance(value, Operand) and value.ndim:
            return self._tensor(value)
        assert dtype is not None or isinstance(value, np.generic)
        return Const(lookup_dtype(value.dtype) if dtype is None else dtype, value)

    def _masked(self, mask: Mask, like: Vec) -> Masked:
        vec = self._vec(mask.parent)
        if vec.size != like.size:
            raise DimensionMismatch(f"mask: expected shape {(like.size,)}, got {(vec.size,)}")
        return Masked(vec, mask.structure, mask.complement)

    def _value(self, value: Any, w: Any, mask: Mask | None) -> Pointwise | Product | Gather:
        if isinstance(value, (Infix, IndexExpr)):
            value = value._to_expr()
        if is_tensor(value):
            if value.ndim != w.ndim:
                self.refuse(f"{w.name} << {_text(value)}: a {NAMES[value.ndim]}")
            if value.shape != w.shape:
                what = "vector of size" if w.ndim == 1 else "matrix of shape"
                size = lambda x: x.shape[0] if w.ndim == 1 else x.shape
                raise DimensionMismatch(f"w << x: expected a {what} {size(w)}, got {size(value)}")
            if isinstance(value, Expression) and value._value is None:
                return self._expression(value, mask)
            return Pointwise(LEFT, None, self._term(value))
        term = self._scalar_term(value, w.dtype)
        return (self._everywhere(w, term, mask) if w.ndim == 2 else None) or Pointwise(LEFT, None, term)

    def _scalar_term(self, value: Any, like: DataType | None = None) -> Term:
        """A scalar as an operand. like: the type that it will be cast to."""
        found, dtype = of(value, like)
        return self._term(found, dtype)

    def _expression(self, expr: Any, mask: Mask | None = None) -> Pointwise | Product | Gather:
        if expr.method == "__getitem__" and len(expr.args) == 2:
            return self._gather(*expr.args)
        lower: Callable[[Any], Pointwise | Product] | None = getattr(self, f"_{expr.method}", None)
        if lower is None:
            what = "extraction by index" if expr.method == "__getitem__" else expr.method
            self.refuse(f"{_text(expr)}: {what}")
        along = over_nodes(self, expr, mask) if expr.method in ("mxv", "vxm") else None
        found: Pointwise | Product | Gather
        found = self._at_places(expr, lower(expr)) if along is None else self._value(along, expr, None)
        return found

    def _mxv(self, expr: Any, flip: bool = False) -> Product:
        A, vector = expr.args[::-1] if flip else expr.args
        u = self._vec(vector)
        held, op = A._matrix._read(now=True), expr.op  # read now: a captured program keeps this format for many rounds
        self.matrices.append((A._matrix, held))
        held = rows_of(held) if held.structure.composed else held
        if held.order is not None and op.op.is_positional:
            u, op = self._numbered(expr, u, held, flip)
        return Product(held, u, op, A._transposed != flip, flip, expr.size, self.is_given(u))

    def _numbered(self, expr: Any, u: Vec, held: Any, flip: bool) -> tuple[Vec, Typed]:
        """A positional product with a reordered matrix: a statement before it writes the user's numbers into a vector,
        and the product then multiplies by value."""
        if expr.along is None:
            self.refuse(f"{_text(expr)}: positions of the result of a reordered matrix")
        full = VectorStore(held.device, u.size, BOOL, full_bits(held.device, u.size), np.bool_(True), u.size)
        full.order = held.order
        numbers, op = by_value(full, expr.op, flip)
        if numbers is full:  # the position in the vector, seen as a matrix of one row or column: 0
            return u, op
        t = self._vec(Vector._from_store(empty_vector(held.device, u.size, INT64)))
        by_number = Pointwise(BOTH, BINARY["second"][INT64], u, self._vec(Vector._from_store(numbers)))
        self.statements.append(Statement(t, by_number, text=f"{t} << the numbers of {u}"))
        return t, op

    def _vxm(self, expr: Any) -> Product:
        return self._mxv(expr, True)

    def _ewise_add(self, expr: Any) -> Pointwise:
        u, v = map(self._term, expr.args)
        return Pointwise(UNION, binary_of(expr.op), u, v)

    def _ewise_mult(self, expr: Any) -> Pointwise:
        u, v = map(self._term, expr.args)
        return Pointwise(BOTH, binary_of(expr.op), u, v)

    def _ewise_union(self, expr: Any) -> Pointwise:
        u, v, left, right = expr.args
        return Pointwise(
            FILLED, binary_of(expr.op), self._term(u), self._term(v),
            defaults=(self._default(left), self._default(right)),
        )  # fmt: skip

    def _default(self, value: Any) -> Term:
        return self._scalar_term(value)

    def _apply(self, expr: Any) -> Pointwise:
        op: Any = expr.op
        x, *rest = expr.args
        if isinstance(op.op, UnaryOp):
            return Pointwise(LEFT, op, self._any(x), bound="x")
        if isinstance(op.op, IndexUnaryOp):
            return Pointwise(LEFT, op, self._any(x), self._term(rest[0]), bound="xt")
        left = len(rest) == 2
        return Pointwise(LEFT, binary_of(op), self._any(x), self._term(rest[-1]), bound="yx" if left else "xy")

    def _select(self, expr: Any) -> Pointwise:
        x, by = expr.args
        if expr.op is None:
            u = self._term(x)
            assert isinstance(u, Vec)
            return Pointwise(LEFT, None, u, under=self._masked(by, u))
        return Pointwise(LEFT, expr.op, self._term(x), self._term(by), bound="xt", keep=True)

    def _any(self, x: Any) -> Term:
        return self._term(Symbol(x)) if isinstance(x, Scalar) else self._term(x)

    def _scalar_value(self, value: Any, like: DataType) -> Pointwise | Reduce:
        if isinstance(value, Infix):
            value = value._to_expr()
        if isinstance(value, ScalarExpression) and value._value is None:
            op, of_ = value.op, value.args[0]
            if value.method.startswith("reduce") and isinstance(op, Typed) and isinstance(op.op, Monoid):
                if hasattr(of_, "_recorded_sum"):  # distributed
                    return Pointwise(LEFT, None, self._scalar_term(of_._recorded_sum(op, *value.args[1:])))
                return Reduce(op, self._tensor(of_), *value.args[1:])
            if value.method == "apply":
                return self._apply(value)
            if value.method in ("ewise_mult", "ewise_add"):
                mode = BOTH if value.method == "ewise_mult" else UNION
                u, v = map(self._scalar_term, value.args)
                assert value.op is not None
                return Pointwise(mode, binary_of(value.op), u, v)
            self.refuse(f"{_text(value)}: {value.method}")
        return Pointwise(LEFT, None, self._scalar_term(value, like))


def _alike(a: Order | None, b: Order | None) -> bool:
    return a is not None and b is not None and a.size == b.size and bool((a.perm == b.perm).all())


def _by_position(s: Statement, size: int) -> bool:
    """Whether a statement reads positions of vectors of this size."""
    e = s.value
    if isinstance(e, Scatter) and (e.u is None or e.index is None) and e.size == size:
        return True
    if any(x.size == size for x in s.elsewhere):
        return True
    return isinstance(e, Pointwise) and e.op is not None and bool(getattr(e.op.op, "positional", False))


def _parameters(mask: Mask | None, accum: Typed | None, replace: bool) -> str:
    parts = [] if mask is None else [mask.name]
    parts += ([] if accum is None else [repr(accum)]) + ["replace"] * bool(replace)
    return f"({', '.join(parts)})" if parts else ""


def _text(value: Any) -> str:
    if isinstance(value, IndexExpr):
        value = value._to_expr()
    if getattr(value, "method", None) == "__getitem__" and len(value.args) == 2:
        return f"{value.args[0].name}[{value.args[1]}]"
    if isinstance(value, (Expression, Infix)):
        return value._text()
    return str(getattr(value, "name", None) or value)


__all__ = ["OnHost", "Recorder"]
