"""The algebra of bitblas: types, operators, monoids and semirings as plain data. Imports nothing of bitblas."""

from . import dtypes, pickling
from .algebra import Monoid, Semiring
from .dtypes import DataType
from .namespaces import binary, indexunary, monoid, op, select, semiring, unary
from .operators import BinaryOp, IndexUnaryOp, Operator, Parameterized, SelectOp, UnaryOp
from .typed import Typed

__all__ = [
    "BinaryOp", "DataType", "IndexUnaryOp", "Monoid", "Operator", "Parameterized", "SelectOp", "Semiring", "Typed",
    "UnaryOp", "binary", "dtypes", "indexunary", "monoid", "op", "pickling", "select", "semiring", "unary",
]  # fmt: skip
