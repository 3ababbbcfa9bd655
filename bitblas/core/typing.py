"""Types of arguments of objects and statements. Read by type checkers: no module of core imports it when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from semirings import Monoid, Operator, Parameterized, Semiring, Typed

from ..device import Device
from ..typing import Array as Array
from ..typing import ArrayLike as ArrayLike
from ..typing import DTypeLike as DTypeLike
from ..typing import Number as Number
from .aggregators import Aggregator, TypedAggregator
from .hooks import SymbolicArray, SymbolicScalar
from .statement.expressions import MatrixExpression, ScalarExpression, VectorExpression
from .statement.indexing import Axis
from .statement.infix import Operand
from .statement.masks import Mask

# An operator, its name, a Python function, or an aggregator where a monoid reduces.
OperatorLike: TypeAlias = (
    Operator
    | Monoid
    | Semiring
    | Typed[Any]
    | Parameterized
    | Aggregator
    | TypedAggregator
    | Callable[..., object]
    | str
)
# Everything that may be in an expression or on the right of `<<`: an object, a delayed value, an array, or a scalar,
# which is a tuple or a list if its type is user-defined.
OperandLike: TypeAlias = Operand | Number | ArrayLike | SymbolicArray
# A mask, or a BOOL object: its values are the mask.
MaskLike: TypeAlias = Mask | Operand
# Indices and values of entries: arrays, lists, generators, columns of data frames.
IndicesLike: TypeAlias = ArrayLike | Iterable[Any] | SymbolicArray
ValuesLike: TypeAlias = IndicesLike | Number | Operand
# v[i], v[I]: an integer, or several.
IndexLike: TypeAlias = SupportsIndex | slice | IndicesLike | Operand
AnyExpression: TypeAlias = MatrixExpression | VectorExpression | ScalarExpression
# A value inside of an operation: None is an empty Scalar.
Value: TypeAlias = np.generic | SymbolicScalar
# The operands of a delayed operation in the order of its parameters: objects, values, indices, masks.
Operands: TypeAlias = tuple[Any, ...]
# Runs a delayed operation. Takes a mask or the output, and for matrices an order; returns a store or a NumPy scalar.
Run: TypeAlias = Callable[..., Any]
# Values of entries inside of the library: an array, or one value for all entries.
ArrayOrValue: TypeAlias = Array | np.generic
# The positions of an index: an array, a range, or all (None).
Places: TypeAlias = Array | range | None
# Arguments that may be left out.
DTypeArg: TypeAlias = DTypeLike | None
MaskArg: TypeAlias = MaskLike | None
OperatorArg: TypeAlias = OperatorLike | None
OperandArg: TypeAlias = OperandLike | None
SizeArg: TypeAlias = SupportsIndex | None
DeviceArg: TypeAlias = str | Device | None
# The indices of parent[key]: one for a Vector, two for a Matrix.
Axes: TypeAlias = tuple[Axis, ...]
