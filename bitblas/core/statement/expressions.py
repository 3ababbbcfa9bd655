"""Delayed expressions: an operation and its operands, run by `.new()`, by `C << expr`, or when a value is read.

Also A.mxv(v) and v.vxm(A) (GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3), one statement of an algorithm's inner loop,
so facts are read once and directly from the stores; and, for type checkers only, the static types of infix
operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

import numpy as np

from semirings import Typed, dtypes, monoid
from semirings.dtypes import DataType

from ... import operations
from ...config import config
from ...device import Device
from ...exceptions import DimensionMismatch
from ..convert import same_device
from ..operators import typed
from ..options import check_options
from .infix import Delayed, NotInPlace, Operators, kinds, object_of, text_of

if TYPE_CHECKING:
    from ...order import Order
    from ...store import MatrixStore, VectorStore
    from ..matrix.matrix import Matrix as Matrix
    from ..matrix.read import MatrixRead
    from ..scalar import Scalar as Scalar
    from ..typing import DTypeArg, MaskArg, OperandLike, Operands, OperatorLike, Run
    from ..vector import Vector as Vector
    from .infix import Infix
    from .masks import Mask


# ---- Static types of infix operators and of calls of operators: `A @ v` and `min_plus(A @ v)` become Vectors.
#
# For type checkers and editors only; no code of this part runs.

if TYPE_CHECKING:
    # fmt: off
    class VectorInfix(Protocol):
        """A Vector on a side of an infix operator; one type for all, as pyright infers none in a library."""

        @overload
        def __call__(self, other: TypedMatrix, /) -> MatrixExpression: ...
        @overload
        def __call__(self, other: OperandLike, /) -> VectorExpression: ...

    class MatrixInfix(Protocol):
        """The same for a Matrix."""

        def __call__(self, other: OperandLike, /) -> MatrixExpression: ...

    class VectorPair(Protocol):
        """v & x and v | x."""

        @overload
        def __call__(self, other: TypedMatrix, /) -> Infix[Matrix]: ...
        @overload
        def __call__(self, other: TypedVector, /) -> Infix[Vector]: ...
        @overload
        def __call__(self, other: OperandLike | Mask, /) -> Any: ...

    class MatrixPair(Protocol):
        """A & x and A | x."""

        @overload
        def __call__(self, other: TypedMatrix | TypedVector, /) -> Infix[Matrix]: ...
        @overload
        def __call__(self, other: OperandLike | Mask, /) -> Any: ...

    class VectorProduct(Protocol):
        """v @ x."""

        @overload
        def __call__(self, other: TypedVector, /) -> Infix[Scalar]: ...
        @overload
        def __call__(self, other: TypedMatrix, /) -> Infix[Vector]: ...

    class MatrixProduct(Protocol):
        """A @ x."""

        @overload
        def __call__(self, other: TypedVector, /) -> Infix[Vector]: ...
        @overload
        def __call__(self, other: TypedMatrix, /) -> Infix[Matrix]: ...
    # fmt: on


if TYPE_CHECKING:
    ProductT = TypeVar("ProductT")
    PairT = TypeVar("PairT")
    InfixT = TypeVar("InfixT")
    ExpressionT = TypeVar("ExpressionT")

    class TypedOperators(Generic[ProductT, PairT, InfixT, ExpressionT]):
        # fmt: off
        __matmul__: ProductT
        __and__: PairT; __or__: PairT
        __add__: InfixT; __sub__: InfixT; __mul__: InfixT; __truediv__: InfixT
        __floordiv__: InfixT; __mod__: InfixT; __pow__: InfixT
        __lt__: InfixT; __le__: InfixT; __gt__: InfixT; __ge__: InfixT
        __radd__: InfixT; __rsub__: InfixT; __rmul__: InfixT; __rtruediv__: InfixT
        __rfloordiv__: InfixT; __rpow__: InfixT
        def __neg__(self) -> ExpressionT: ...
        def __abs__(self) -> ExpressionT: ...
        def __invert__(self) -> ExpressionT: ...
        def _apply_operator(self, op: OperatorLike, *args: Any, **kwargs: Any) -> ExpressionT: ...
        # fmt: on

    class TypedVector(TypedOperators[VectorProduct, VectorPair, VectorInfix, "VectorExpression"]):
        """The operators of a Vector or a delayed one."""

    class TypedMatrix(TypedOperators[MatrixProduct, MatrixPair, MatrixInfix, "MatrixExpression"]):
        """The operators of a Matrix or a delayed one."""
else:

    class TypedVector:
        __slots__ = ()

    class TypedMatrix:
        __slots__ = ()


# ---- Delayed expressions: an operation and its operands, run by `.new()`, by `C << expr`, or when a value is read.

Result = TypeVar("Result")  # type of the computed object


def check_functions(op: Typed, args: Operands) -> None:
    """UdfParseError for an operator that computes with values of a user-defined type in Python, on a GPU."""
    if type(op) is Typed:  # no aggregator, whose steps are expressions
        operations.udf.check_device(op, args[0].device)


class Expression(NotInPlace, Delayed, Operators, Generic[Result]):
    """Base class of the three kinds of expressions.

    method, args, op: the call (read by `explain`). `run(mask)` returns the result, a fresh store; the operation applies
    the mask itself only if `masked` is true.
    """

    __slots__ = ("_dtype", "_value", "args", "masked", "method", "op", "run")

    def __init__(
        self,
        method: str,
        args: Operands,
        op: Typed | None,
        run: Run,
        dtype: DataType | None = None,
        masked: bool = False,
    ) -> None:
        if op is not None and op.dtype._is_udt:
            check_functions(op, args)
        self.method, self.args, self.op, self.run = method, args, op, run
        self.masked, self._dtype = masked, dtype
        self._value: Any = None

    @property
    def dtype(self) -> DataType:
        # Lazy: a statement `w << expr` does not need it.
        if self._dtype is None:
            assert self.op is not None  # expressions without an operator have a type
            self._dtype = self.op.return_type
        return self._dtype

    @property
    def device(self) -> Device:
        return self.args[0].device

    def new(
        self,
        dtype: DTypeArg = None,
        *,
        mask: MaskArg = None,
        name: str | None = None,
        is_cscalar: bool | None = None,
        **opts: object,
    ) -> Result:
        """Compute into a new object, of `dtype` if given; with `mask` (of the same shape), only where it allows."""
        if opts:
            check_options(opts)
        kind = None if dtype is None else dtypes.lookup_dtype(dtype)
        if mask is None and self._value is not None and (kind is None or self._value.dtype is kind):
            value, self._value = self._value, None  # computed before and not handed out yet
            if name is not None:
                value.name = name
            return value
        return kinds[self.ndim]._computed(self, kind, mask, name)

    def dup(self, dtype: DTypeArg = None, **kwargs: Any) -> Result:
        return self._resolve().dup(dtype, **kwargs)

    def _to_expr(self) -> Expression[Result]:
        return self

    def _resolve(self) -> Any:
        if self._value is None:
            if not config.autocompute:
                raise TypeError(f"{self.method}: not computed yet, and config.autocompute is off; use .new()")
            self._value = kinds[self.ndim]._computed(self)
        return self._value

    def _text(self) -> str:
        first, *rest = (text_of(a) for a in self.args if a is not None)
        inner = [*rest, *([f"op={self.op!r}"] if self.op is not None else [])]
        return f"{first}.{self.method}({', '.join(inner)})"


class VectorExpression(TypedVector, Expression["Vector"]):
    """A delayed Vector of `size` positions.

    ends: `run` takes an `Into` instead of a mask, and completes the statement itself: it returns the new content of the
    vector on the left, or None if that was changed in place. along: the operands in whose order it may run (masks.py);
    None: only in the user's.
    """

    __slots__ = ("along", "ends", "size")
    ndim = 1

    def __init__(
        self,
        size: int,
        method: str,
        args: Operands,
        op: Typed | None,
        run: Run,
        dtype: DataType | None = None,
        masked: bool = False,
        ends: bool = False,
        along: Operands | None = None,
    ) -> None:
        if op is not None and op.dtype._is_udt:
            check_functions(op, args)
        # Without Expression.__init__ and tuples: a statement is made in two microseconds.
        self.method = method
        self.args = args
        self.op = op
        self.run = run
        self.masked = masked
        self._dtype = dtype
        self._value = None
        self.size = size
        self.ends = ends
        self.along = along

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)


class MatrixExpression(TypedMatrix, Expression["Matrix"]):
    """A delayed Matrix of nrows x ncols.

    along: the operands in whose order it may run (masks.py): `run(mask, order)`; None: only in the user's,
    `run(mask)`.
    """

    __slots__ = ("along", "ncols", "nrows")
    ndim = 2

    def __init__(
        self,
        nrows: int,
        ncols: int,
        method: str,
        args: Operands,
        op: Typed | None,
        run: Run,
        dtype: DataType | None = None,
        masked: bool = False,
        along: Operands | None = None,
    ) -> None:
        if op is not None and op.dtype._is_udt:
            check_functions(op, args)
        self.method = method  # as above
        self.args = args
        self.op = op
        self.run = run
        self.masked = masked
        self._dtype = dtype
        self._value = None
        self.nrows = nrows
        self.ncols = ncols
        self.along = along

    def computed(self, mask: operations.spgemm.MatrixMask | None, order: Order | None) -> MatrixStore:
        """The result as a store, in that order."""
        if self.along is None:
            return self.run(mask)
        t: MatrixStore = self.run(mask, order)
        return t if order is None or t.order is order else t.tagged(order)

    def reduce_scalar(self, op: OperatorLike = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """The monoid's reduction of all entries, as of the result. A sum of numbers of products, such as of
        `A.mxm(B, plus_pair)`, is counted without the product."""
        found = self._counted(op, allow_empty) if self.method == "mxm" and self._value is None else None
        made: ScalarExpression = found or self._resolve().reduce_scalar(op, allow_empty=allow_empty)
        return made

    def _counted(self, op: OperatorLike, allow_empty: bool) -> ScalarExpression | None:
        name = op if isinstance(op, str) else getattr(getattr(op, "op", op), "name", "")
        if name not in ("plus", "+") or not config.autocompute or not isinstance(self.op, Typed):
            return None
        f, semiring, (A, B) = typed(op, "monoid", self.dtype), self.op, self.args
        a, b = A._matrix._stored, B._matrix._stored
        product = operations.spgemm.counted_product(a, b, semiring, f)
        if product is None:
            return None
        of = operations.operands.MatrixProduct(a, b, semiring, A._transposed, B._transposed, None)

        def run(mask: object) -> np.generic | None:
            count = operations.spmv.total_products(of)
            none = None if allow_empty else f.identity
            return none if count is None else f.op.repeat(f.dtype, product, count)

        return ScalarExpression("reduce_scalar", (self,) if allow_empty else (self, f.identity), f, run)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.nrows, self.ncols)


class ScalarExpression(Expression["Scalar"]):
    """A delayed Scalar; `run` returns a NumPy scalar, or None for an empty one."""

    __slots__ = ()
    ndim = 0
    shape = ()


class Computed:
    """An attribute of an expression's result; reading it computes the result. (With __getattr__ instead Python would
    read every attribute of an expression five times slower.)"""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, expr: Any, kind: type | None = None) -> Any:
        return self if expr is None else getattr(expr._resolve(), self.name)


def enter(kind: Any) -> None:
    """Register Scalar, Vector or Matrix for modules that cannot import it; its delayed ones get its public
    attributes."""
    kinds[kind.ndim] = kind
    delayed = (ScalarExpression, VectorExpression, MatrixExpression)[kind.ndim]
    for name in dir(kind):
        if not name.startswith("_") and not hasattr(delayed, name):
            setattr(delayed, name, Computed(name))


# ---- A.mxv(v) and v.vxm(A): GraphBLAS C API 2.1, sections 4.3.2 and 4.3.3.


def multiply_vector(matrix: Any, vector: Vector, op: OperatorLike, method: str) -> VectorExpression:
    """A.mxv(v), or v.vxm(A). DimensionMismatch unless the inner sizes are equal; TypeError, KeyError for op."""
    A: MatrixRead = matrix if hasattr(matrix, "_matrix") else object_of(matrix, 2, method)
    M = A._matrix
    flip = method == "vxm"
    transpose = A._transposed != flip
    layout, u, dtype = M._data.structure.primary, vector._data, M._data.dtype
    nrows, ncols = (layout.ncols, layout.nrows) if transpose else (layout.nrows, layout.ncols)
    if u.size != ncols:
        raise DimensionMismatch(
            f"{method}: expected a vector of size {ncols} for a matrix of {A.nrows} x {A.ncols}, got {u.size}"
        )
    if layout.device is not u.device:
        same_device(method, M, vector)
    if flip:
        args: Operands = vector, A
        f = typed(op, "semiring", u.dtype, dtype)
    else:
        args, f = (A, vector), typed(op, "semiring", dtype, u.dtype)

    along = None if f.op.is_positional and operations.permute.reads_result(f, flip) else args

    def run(into: operations.operands.Into | None) -> VectorStore | None:
        matrix_store, u, op = M._read(), vector._stored, f
        if along is None:
            matrix_store = M._store
        if u.order is not None:
            u, op = operations.permute.by_value(u, f, flip)
        return operations.spmv.mxv(matrix_store, u, op, transpose, flip, None if into is None else into[1], into)

    return VectorExpression(nrows, method, args, f, run, None, False, True, along)
