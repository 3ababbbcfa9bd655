"""The algebra of bitblas: types, operators, monoids and semirings as plain data. Imports nothing of bitblas."""

from . import dtypes
from .algebra import BinaryOp, IndexUnaryOp, Monoid, Operator, Semiring, Typed, UnaryOp
from .catalog import binary, indexunary, monoid, select, semiring, unary
from .dtypes import DataType

__all__ = [
    "BinaryOp", "DataType", "IndexUnaryOp", "Monoid", "Operator", "Semiring", "Typed", "UnaryOp",
    "binary", "dtypes", "indexunary", "monoid", "select", "semiring", "unary",
]  # fmt: skip
