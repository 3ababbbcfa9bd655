"""Multivectors (tall-skinny matrices) in a body, and symbolic stand-ins for vectors and matrices.

A multivector is stored as a vector (store.py), so that element-wise statements, masks, accumulators and sums are those
of vectors. The product of a sparse matrix and a multivector works by rows. Of a stand-in, sizes, types and devices are
known; reading entries raises CaptureError.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semirings import Typed
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, DataType

from ... import tuning
from ...core.matrix.matrix import Matrix
from ...core.vector import Vector
from ...formats.bitmap.layout import lines_of
from ...operations.multivector import at_places, valid_bits
from ...operations.variants import BOTH
from ...order import Order
from ...store import FlatStore, VectorStore, flat_of, refusal
from ..ir import (
    NO_TARGET,
    Const,
    Elementwise,
    Gather,
    MultivectorProduct,
    Product,
    Scal,
    Stacked,
    Statement,
    Term,
    Vec,
)
from .control_flow import Expr, Recording
from .maps import SymbolicMatrix

if TYPE_CHECKING:
    from ...core.scalar import Scalar
    from ...core.statement.expressions import MatrixExpression
    from ...core.statement.infix import Operand
    from ...core.statement.masks import Mask
    from ...device import Device
    from ...store import MatrixStore
    from ..stack import Stack

# ---- Symbolic stand-ins for a body's objects during capture: sizes, types and devices are known, entries are not and
# raise CaptureError.


class SymbolicTensor:
    """Stands for a Vector or a Matrix."""

    order = None  # known after recording

    def __init__(self, recorder: Recording, tensor: Vector | Matrix) -> None:
        self._recorder, self._tensor = recorder, tensor
        self.dtype, self.device = tensor.dtype, tensor.device
        if isinstance(tensor, Matrix):
            self.nrows, self.ncols = tensor.nrows, tensor.ncols
        else:
            self.size = tensor.size

    def __getattr__(self, name: str) -> Scalar:
        if name == "nvals":
            return self._recorder.count(self._tensor)
        self._recorder.refuse(f"{self._tensor.name}: reading its entries")


# ---- Multivectors (tall-skinny matrices) in a body: each is stored as a vector (store.py), so that element-wise
# statements, masks, accumulators and sums are those of vectors. The product of a sparse matrix and a multivector
# works by rows.


def shape_hint() -> str:
    columns = tuning.count("multivector.most_columns")
    return f"a matrix in a body has at most {columns} columns and more rows, or the reverse"


class MultivectorAsVector:
    """A multivector presented to a program as a Vector of its positions."""

    __slots__ = ("device", "dtype", "matrix", "name", "size")
    _pending: tuple[()] = ()

    def __init__(self, matrix: Matrix) -> None:
        self.matrix, self.name, self.size = matrix, matrix.name, lines_of(*matrix.shape).places
        self.device: Device = matrix.device
        self.dtype: DataType = matrix.dtype

    @property
    def _data(self) -> VectorStore:
        return flat_of(self.matrix._settled())

    def _in(self, order: Order | None) -> VectorStore:
        return self._data

    def _adopt(self, store: VectorStore) -> None:
        self.matrix._adopt(FlatStore(store, *self.matrix.shape))


def as_vector(thing: Vector | Matrix) -> Vector | MultivectorAsVector:
    """A Vector itself; a Matrix as one."""
    return MultivectorAsVector(thing) if isinstance(thing, Matrix) else thing


def is_narrow(data: MatrixStore) -> bool:
    """Whether a matrix may be read and written by statements of a body."""
    lines = lines_of(data.nrows, data.ncols)
    fits = lines.places * data.dtype.np_type.itemsize <= tuning.value(f"multivector.bytes.{data.device.kind}")
    return (
        0 < lines.width <= tuning.count("multivector.most_columns")
        and lines.width < lines.number
        and fits
        and not refusal(data.nrows, data.ncols)
    )


class MatrixRecorder(Recording):
    """The part of a Recorder that handles multivectors."""

    def __init__(self) -> None:
        super().__init__()
        self.stacks: list[Stack] = []
        self.valid: dict[tuple[int, int], Vector] = {}  # by shape: a Vector with an entry at each valid position

    # ---- the hooks of core ----

    def takes(self, matrix: Matrix) -> bool:
        """Whether a Matrix may belong to the body, with entries that are known on the device only."""
        return not isinstance(matrix._data, SymbolicMatrix) and is_narrow(matrix._data)

    def matrix_shape(self, matrix: Matrix) -> SymbolicTensor:
        return SymbolicTensor(self, matrix)

    def matrix_statement(self, C: Matrix, value: Any, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
        """C(mask, accum, replace) << value."""
        if not self.takes(C):
            self.refuse(f"{C.name} << ..: a Matrix of {C.nrows} x {C.ncols}; {shape_hint()}")
        if mask is not None:
            mask.fits(C)
        self.vector_statement(C, value, mask, accum, replace)

    def stack_statement(self, stack: Stack, what: str, matrix: Any) -> None:
        """stack.push(matrix), .pop(matrix) or .clear()."""
        text = f"stack.{what}({'' if matrix is None else matrix.name})"
        if not (matrix is None or isinstance(matrix, Vector) or (isinstance(matrix, Matrix) and self.takes(matrix))):
            self.refuse(f"{text}: expected a Vector or a multivector")
        x = None if matrix is None else self._vec(matrix)
        if what == "pop" and x is not None and x.dtype is not BOOL:
            self.refuse(f"{text}: expected a Vector or a Matrix of BOOL, got {x.dtype}")
        lines = 0 if x is None else lines_of(*matrix.shape).number if isinstance(matrix, Matrix) else x.size
        value = Stacked(id(stack), what, len(self.indexed), lines, x if what == "push" else None)
        self.stacks.append(stack)  # kept alive, because the number identifies it
        self.indexed.append((text, 0 if x is None else x.size))
        target = x if what == "pop" and x is not None else Scal(NO_TARGET, BOOL)
        self.statements.append(Statement(target, value, text=text))

    # ---- lowering ----

    def _places(self, matrix: Matrix) -> int:
        """The size of a multivector, which belongs to the body from now on."""
        if not self.takes(matrix):
            self.refuse(f"{matrix.name}: a Matrix of {matrix.nrows} x {matrix.ncols}; {shape_hint()}")
        if matrix._data.order is not None:
            self.refuse(f"{matrix.name}: a reordered multivector")
        return lines_of(*matrix.shape).places

    def _tensor(self, operand: Operand) -> Vec:
        """A Vector or Matrix, or the transpose of a Matrix, which has the same positions."""
        value = operand._resolve()
        if value.ndim == 2:
            if not hasattr(value, "_matrix"):
                self.refuse(f"{value.name}: a Vector where a Matrix is expected")
            value = value._matrix
        return self._vec(value)

    def _everywhere(self, target: Matrix, scalar: Term, mask: Mask | None) -> Elementwise | None:
        """A single value wherever a mask allows it, but not in the padding between rows."""
        lines = lines_of(*target.shape)
        inside = mask is not None and not mask.complement
        if lines.stride == lines.width or inside or (isinstance(scalar, Const) and scalar.value is None):
            return None
        key = lines.number, lines.width
        if key not in self.valid:
            bits = valid_bits(target._data)
            data = VectorStore(target.device, lines.places, BOOL, bits, np.bool_(True), lines.number * lines.width)
            repeats, self.repeats = self.repeats, False  # created once, not in each round
            self.valid[key] = Vector._from_store(data, "the places")
            self.repeats = repeats
        dtype = scalar.casts[-1] if isinstance(scalar, Scal) and scalar.casts else scalar.dtype
        return Elementwise(BOTH, BINARY["second"][dtype], self._vec(self.valid[key]), scalar)

    def _mxm(self, expr: MatrixExpression) -> MultivectorProduct:
        """T = S X by rows, of a sparse S and a multivector X; or the same of their transposes, if T is wide."""
        A, B = expr.args
        flip = expr.ncols > expr.nrows  # T is stored by columns
        (S, X), lines = ((B, A) if flip else (A, B)), lines_of(*expr.shape)
        assert expr.op is not None
        inner, sparse, narrow = A.ncols, S._matrix, X._matrix
        text = expr._text()
        if lines.width == lines.number or lines_of(*X.shape).number != inner:
            self.refuse(f"{text}: not the product of a sparse matrix and a multivector; {shape_hint()}")
        if self.takes(sparse) and id(sparse) in self.vectors:
            self.refuse(f"{text}: two matrices of the body")
        u, held = self._vec(narrow), sparse._read(now=True)
        if held.order is not None:
            self.refuse(f"{text}: multivectors in a loop with a reordered matrix")
        self.matrices.append((sparse, held))
        return MultivectorProduct(
            held, u, expr.op, S._transposed != flip, flip, lines.places, inner=lines_of(*X.shape), lines=lines
        )

    def check_matrices(self) -> None:
        """Final check after recording. A product uses the matrix as it was when it was recorded."""
        self.valid.clear()  # not referenced elsewhere
        for matrix, _ in self.matrices:
            if id(matrix) in self.vectors:
                self.refuse(f"{matrix.name}: a multivector of the body where a sparse matrix is expected")

    def _at_places(self, expr: Expr, found: Elementwise | Product | Gather) -> Elementwise | Product | Gather:
        """Replace an operator that reads rows and columns by one that derives them from the position."""
        if expr.ndim == 2 and isinstance(found, Elementwise) and found.op is not None and found.op.op.positional:
            return replace(found, op=at_places(found.op, lines_of(*expr.shape)))
        return found
