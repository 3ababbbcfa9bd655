"""Semiring algebra as plain data: dtypes, operators, monoids, semirings. Imports nothing of bitblas."""

from . import dtypes, pickling
from .algebra import Monoid, Semiring
from .dtypes import DataType
from .namespaces import binary, indexbinary, indexunary, monoid, op, select, semiring, unary
from .operators import BinaryOp, IndexBinaryOp, IndexUnaryOp, Operator, Parameterized, SelectOp, Typed, UnaryOp

__all__ = [
    "BinaryOp",
    "DataType",
    "IndexBinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "Operator",
    "Parameterized",
    "SelectOp",
    "Semiring",
    "Typed",
    "UnaryOp",
    "binary",
    "dtypes",
    "indexbinary",
    "indexunary",
    "monoid",
    "op",
    "pickling",
    "select",
    "semiring",
    "unary",
]
