"""Symbolic execution of a program: while a Recorder is set, `w << expr` records a Statement and computes nothing.

Operations that need values on the host (nvals, to_coo, a Scalar in an `if`) raise CaptureError. A program has three
parts: statements before its rounds, in one round, and after them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from semirings import IndexUnaryOp, Monoid, Semiring, Typed, UnaryOp
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, INT64, DataType, lookup_dtype

from ...core.hooks import SymbolicScalar, state
from ...core.matrix.matrix import Matrix
from ...core.scalar import Scalar
from ...core.statement.expressions import Expression, MatrixExpression, ScalarExpression, VectorExpression
from ...core.statement.indexing import IndexExpr
from ...core.statement.infix import NAMES, Infix, Operand, is_tensor
from ...core.statement.masks import Mask
from ...core.statement.scalar_operands import of
from ...core.vector import Vector
from ...exceptions import CaptureError, DimensionMismatch
from ...operations.permute import by_value
from ...operations.variants import BOTH, FILLED, LEFT, UNION, binary_of
from ...operations.virtual_nodes import rows_of
from ...order import Order
from ...store import VectorStore, empty_vector, full_bits
from ..ir import (
    Body,
    Const,
    Elementwise,
    Gather,
    IndexCheck,
    Masked,
    Part,
    Product,
    Reduce,
    Scal,
    Scatter,
    Statement,
    Term,
    Vec,
    flat,
)
from .control_flow import BlockRecorder, Expr, LoopCondition, OnHost, from_store, needed_statements, state_of
from .exchanges import ExchangeRecorder, rematerialize
from .index_vectors import IndexRecorder, scatter_directly
from .maps import MapRecorder
from .multivectors import MatrixRecorder, SymbolicTensor
from .virtual_nodes import lower_virtual_product

if TYPE_CHECKING:
    from ...core.matrix.read import MatrixRead
    from ...store import MatrixStore

# ---- Symbolic execution of a body: while a Recorder is set, `w << expr` records a Statement and computes nothing.

HINT = (
    "loops on a device support mxv, vxm, ewise_*, apply, select, reduce to a Scalar, masks, accumulators, assignment, "
    "p[x.to_dense()], Vector.from_coo(x.to_dense(), ..)"
)


class Recorder(BlockRecorder, IndexRecorder, ExchangeRecorder, MatrixRecorder, MapRecorder):
    """The statements of one symbolic run of a body, and the objects that they name."""

    def __init__(self, *, host: bool = False) -> None:
        super().__init__()
        self.host = host
        self.device: Any = None  # of the first vector: Cuda, or on the CPU a Device
        self.matrices, self.statements, self.levels = [], [], []
        self.vectors, self.scalars = {}, {}
        self.round = Scalar(INT64, name="round")

    # ---- the hooks of core ----

    def refuse(self, what: str) -> NoReturn:
        raise CaptureError(f"{what}: cannot be captured; {HINT}")

    def shape_of(self, vector: Vector) -> SymbolicTensor:
        return SymbolicTensor(self, vector)

    def symbol(self, value: Any) -> tuple[SymbolicScalar, DataType]:
        """A Scalar of the body (or a delayed one, which becomes a statement) as a symbolic operand."""
        if not isinstance(value, Scalar):
            value = value._to_expr() if isinstance(value, (Infix, IndexExpr)) else value
            value = value.new() if value._value is None else value._value
        held = value._value  # a Scalar may have been created from another one
        return held if isinstance(held, SymbolicScalar) else SymbolicScalar(value), value.dtype

    def vector_statement(
        self, w: Vector | Matrix, value: Any, mask: Mask | None, accum: Typed | None, replace: bool
    ) -> None:
        target = self._vec(w)
        lowered = self._value(value, w, mask)
        m = None if mask is None else self._masked(mask, target)
        text = f"{w.name}{_parameters(mask, accum, replace)} << {_text(value)}"
        self.statements.append(Statement(target, lowered, m, accum, replace and mask is not None, text))

    def scalar_statement(self, s: Scalar, value: Any, accum: Typed | None) -> None:
        # Before the target is registered, because it may be read here for the first time.
        lowered = self._scalar_value(value, s.dtype)
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

    def written_condition(self, condition: object, part: Part) -> Vec | Scal | None:
        """The vector or scalar of a loop condition; None if no statement of the part writes it."""
        known: Mapping[int, tuple[object, Vec | Scal]] = self.scalars if isinstance(condition, Scalar) else self.vectors
        found = known.get(id(condition))
        return None if found is None or all(s.target != found[1] for s in flat(part)) else found[1]

    # ---- lowering ----

    def _vec(self, vector: Vector | Matrix) -> Vec:
        if id(vector) not in self.vectors:
            data = vector._data
            if self.device is None:
                self.device = data.device
                if self.device.captures_bodies is self.host:
                    raise OnHost
            if data.dtype._is_udt:
                self.refuse(f"{vector.name}: of {data.dtype}, a user-defined type, in a loop on {self.device.name}")
            if data.device is not self.device:
                self.refuse(f"{vector.name}: on {data.device}, while the loop runs on {self.device}")
            size = self._places(vector) if isinstance(vector, Matrix) else vector._data.size
            self.vectors[id(vector)] = vector, Vec(len(self.vectors), size, data.dtype)
        return self.vectors[id(vector)][1]

    def _scal(self, scalar: Scalar) -> Scal:
        if scalar is self.round:
            return Scal(-1, INT64)
        scalar = self.enclosing_round(scalar)
        if id(scalar) not in self.scalars:
            self.scalars[id(scalar)] = scalar, Scal(len(self.scalars), scalar.dtype)
        return self.scalars[id(scalar)][1]

    def _term(self, value: Operand | SymbolicScalar | np.generic | None, dtype: DataType | None = None) -> Term:
        """A Vector, a Scalar, a Symbol or a value as an operand."""
        value = SymbolicScalar(value) if isinstance(value, Scalar) else value
        if isinstance(value, SymbolicScalar):
            plain = self._scal(value.scalar)
            return Scal(plain.id, plain.dtype, tuple(lookup_dtype(t) for t in value.casts))
        if isinstance(value, Operand) and value.ndim:
            return self._tensor(value)
        if value is None:
            assert dtype is not None
            return Const(dtype, None)
        assert isinstance(value, np.generic)
        return Const(lookup_dtype(value.dtype) if dtype is None else dtype, value)

    def _masked(self, mask: Mask, like: Vec) -> Masked:
        vec = self._vec(mask.parent)
        if vec.size != like.size:
            raise DimensionMismatch(f"mask: expected shape {(like.size,)}, got {(vec.size,)}")
        return Masked(vec, mask.structure, mask.complement)

    def _value(self, value: Any, w: Vector | Matrix | Expr, mask: Mask | None) -> Elementwise | Product | Gather:
        if isinstance(value, (Infix, IndexExpr)):
            value = value._to_expr()
        if is_tensor(value):
            if value.ndim != w.ndim:
                self.refuse(f"{w.name} << {_text(value)}: a {NAMES[value.ndim]}")
            if value.shape != w.shape:
                what = "vector of size" if w.ndim == 1 else "matrix of shape"
                size = lambda x: x.shape[0] if w.ndim == 1 else x.shape
                raise DimensionMismatch(f"w << x: expected a {what} {size(w)}, got {size(value)}")
            if isinstance(value, (VectorExpression, MatrixExpression)) and value._value is None:
                return self._expression(value, mask)
            return Elementwise(LEFT, None, self._term(value))
        term = self._scalar_term(value, w.dtype)
        return (self._everywhere(w, term, mask) if isinstance(w, Matrix) else None) or Elementwise(LEFT, None, term)

    def _scalar_term(self, value: object, like: DataType | None = None) -> Term:
        """A scalar as an operand. like: the type that it will be cast to."""
        found, dtype = of(value, like)
        return self._term(found, dtype)

    def _expression(self, expr: Expr, mask: Mask | None = None) -> Elementwise | Product | Gather:
        if expr.method == "__getitem__" and len(expr.args) == 2:
            return self._gather(*expr.args)
        lower: Callable[[Any], Elementwise | Product] | None = getattr(self, f"_{expr.method}", None)
        if lower is None:
            what = "extraction by index" if expr.method == "__getitem__" else expr.method
            self.refuse(f"{_text(expr)}: {what}")
        if isinstance(expr, VectorExpression) and expr.method in ("mxv", "vxm"):
            along = lower_virtual_product(self, expr, mask)
            if along is not None:
                return self._value(along, expr, None)
        return self._at_places(expr, lower(expr))

    def _mxv(self, expr: VectorExpression, flip: bool = False) -> Product:
        A, vector = expr.args[::-1] if flip else expr.args
        u, held, op = self._vec(vector), self._held(A, expr.method), _operator(expr)
        if held.order is not None and op.op.is_positional:
            u, op = self._numbered(expr, u, held, flip)
        return Product(held, u, op, A._transposed != flip, flip, expr.size, self.is_exchange_result(u))

    def _held(self, A: MatrixRead, text: str) -> MatrixStore:
        """The matrix of a product, read now: a captured program keeps this format for many rounds."""
        held = A._matrix._read(now=True)
        self.matrices.append((A._matrix, held))
        format = held.structure.primary.format
        by_rows = format.plain and "advance" not in format.kernels  # only single statements run on the format
        if by_rows and self.host:
            self.refuse(f"{text}: a matrix in the format {format.key!r}")
        return rows_of(held) if by_rows or held.structure.has_virtual_nodes else held

    def _times(self, A: MatrixRead, u: Vec, op: Typed[Semiring], text: str) -> Product:
        """A times u, by a semiring that reads no positions."""
        return Product(self._held(A, text), u, op, A._transposed, False, A.nrows)

    def _numbered(self, expr: VectorExpression, u: Vec, held: MatrixStore, flip: bool) -> tuple[Vec, Typed[Semiring]]:
        """A positional product with a reordered matrix: a statement before it writes the user's numbers into a vector,
        and the product then multiplies by value."""
        if expr.along is None:
            self.refuse(f"{_text(expr)}: positions of the result of a reordered matrix")
        full = VectorStore(held.device, u.size, BOOL, full_bits(held.device, u.size), np.bool_(True), u.size)
        full.order = held.order
        numbers, op = by_value(full, _operator(expr), flip)
        if numbers is full:  # the position in the vector, seen as a matrix of one row or column: 0
            return u, op
        t = self._vec(Vector._from_store(empty_vector(held.device, u.size, INT64)))
        by_number = Elementwise(BOTH, BINARY["second"][INT64], u, self._vec(Vector._from_store(numbers)))
        self.statements.append(Statement(t, by_number, text=f"{t} << the numbers of {u}"))
        return t, op

    def _vxm(self, expr: VectorExpression) -> Product:
        return self._mxv(expr, True)

    def _ewise_add(self, expr: Expr) -> Elementwise:
        u, v = map(self._term, expr.args)
        return Elementwise(UNION, binary_of(_operator(expr)), u, v)

    def _ewise_mult(self, expr: Expr) -> Elementwise:
        u, v = map(self._term, expr.args)
        return Elementwise(BOTH, binary_of(_operator(expr)), u, v)

    def _ewise_union(self, expr: Expr) -> Elementwise:
        u, v, left, right = expr.args
        return Elementwise(
            FILLED,
            binary_of(_operator(expr)),
            self._term(u),
            self._term(v),
            defaults=(self._default(left), self._default(right)),
        )

    def _default(self, value: object) -> Term:
        return self._term(value) if isinstance(value, SymbolicScalar) else self._scalar_term(value)

    def _apply(self, expr: Expr | ScalarExpression) -> Elementwise:
        op = _operator(expr)
        x, *rest = expr.args
        if isinstance(op.op, UnaryOp):
            return Elementwise(LEFT, op, self._term(x), bound="x")
        if isinstance(op.op, IndexUnaryOp):
            return Elementwise(LEFT, op, self._term(x), self._term(rest[0]), bound="xt")
        left = len(rest) == 2
        return Elementwise(LEFT, binary_of(op), self._term(x), self._term(rest[-1]), bound="yx" if left else "xy")

    def _select(self, expr: Expr) -> Elementwise:
        x, by = expr.args
        if expr.op is None:
            u = self._term(x)
            assert isinstance(u, Vec)
            return Elementwise(LEFT, None, u, under=self._masked(by, u))
        return Elementwise(LEFT, expr.op, self._term(x), self._term(by), bound="xt", keep=True)

    def _scalar_value(self, value: Any, like: DataType) -> Elementwise | Reduce:
        if isinstance(value, Infix):
            value = value._to_expr()
        if isinstance(value, ScalarExpression) and value._value is None:
            op, of_ = value.op, value.args[0]
            if value.method.startswith("reduce") and isinstance(op, Typed) and isinstance(op.op, Monoid):
                if hasattr(of_, "_recorded_sum"):  # distributed
                    return Elementwise(LEFT, None, self._scalar_term(of_._recorded_sum(op, *value.args[1:])))
                return Reduce(op, self._tensor(of_), *value.args[1:])
            if value.method == "apply":
                return self._apply(value)
            if value.method in ("ewise_mult", "ewise_add"):
                mode = BOTH if value.method == "ewise_mult" else UNION
                u, v = map(self._scalar_term, value.args)
                assert value.op is not None
                return Elementwise(mode, binary_of(value.op), u, v)
            self.refuse(f"{_text(value)}: {value.method}")
        return Elementwise(LEFT, None, self._scalar_term(value, like))


def _operator(expr: Expr | ScalarExpression) -> Typed:
    assert expr.op is not None
    return expr.op


def _alike(a: Order | None, b: Order | None) -> bool:
    return a is not None and b is not None and a.size == b.size and bool((a.perm == b.perm).all())


def _by_position(s: Statement, size: int) -> bool:
    """Whether a statement reads positions of vectors of this size."""
    e = s.value
    if isinstance(e, IndexCheck):
        return False
    if isinstance(e, Scatter) and (e.u is None or e.index is None) and e.size == size:
        return True
    if any(x.size == size for x in s.elsewhere):
        return True
    return isinstance(e, Elementwise) and e.op is not None and bool(getattr(e.op.op, "positional", False))


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


Thing = TypeVar("Thing")
Number = TypeVar("Number")
Content = TypeVar("Content")


# ---- The parts of a symbolic program: statements before its rounds, in one round, and after them.


def record(
    body: Callable[..., object],
    begin: Callable[[], object] | None = None,
    end: Callable[..., object] | None = None,
    *,
    host: bool = False,
    condition: LoopCondition | None = None,
) -> tuple[Body, Recorder]:
    """Record the statements of begin(), body(round, *state) and end(*state), where state is the result of begin.
    Returns them with the recorder, which references the objects. host: whether these are on the CPU. condition: that
    of the loop, if it must be computed. Raises CaptureError, OnHost."""
    if state.recorder is not None:
        raise CaptureError("a loop captured while another body is recorded: not supported")
    recorder = Recorder(host=host)
    state.recorder = recorder
    try:
        given = state_of(begin)
        first, recorder.repeats = recorder.begin_part(), True
        body(recorder.round, *given)
        if condition is not None:
            condition.after_round(recorder)
        recorder.repeats = False
        before_rounds = recorder.begin_part()
        if condition is not None:
            condition.before_rounds(recorder)
        after = recorder.begin_part()
        if end is not None:
            end(*given)
    finally:
        state.recorder = None
    del given
    recorder.check_matrices()
    all_ = tuple(recorder.statements)
    vectors = tuple(v for _, v in recorder.vectors.values())
    scalars = tuple(s for _, s in recorder.scalars.values())
    # Each run creates them again, with their initial contents.
    own = frozenset(_unreferenced(recorder.vectors, lambda v: v._data, lambda data, _: from_store(data)))
    unknown = frozenset(s.id for s in _unreferenced(recorder.scalars, lambda s: s._value, _scalar))
    every = tuple(flat(all_))
    kept = [
        tuple(needed_statements(part, every))
        for part in (all_[:first] + all_[before_rounds:after], all_[first:before_rounds], all_[after:])
    ]
    every = tuple(s for part in kept for s in flat(part))
    beginning, statements, ending = (tuple(scatter_directly(part, own, every)) for part in kept)
    written = Body(statements, vectors, scalars, beginning, ending, own, unknown)
    if recorder.group is not None:
        written = rematerialize(written)
    return written, recorder


def _unreferenced(
    objects: dict[int, tuple[Thing, Number]],
    content: Callable[[Thing], Content],
    new: Callable[[Content, Number], Thing],
) -> list[Number]:
    """The objects that only the statements reference, by number. They are replaced by new ones with their content."""
    known = [(weakref.ref(thing), content(thing), number) for thing, number in objects.values()]
    objects.clear()
    found = []
    for ref, data, number in known:
        thing = ref()
        if thing is None:
            found.append(number)
            thing = new(data, number)
        objects[id(thing)] = thing, number
    return found


def _scalar(value: np.generic | None, like: Scal) -> Scalar:
    scalar = Scalar(like.dtype)
    scalar._value = value
    return scalar
