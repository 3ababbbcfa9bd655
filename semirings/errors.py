"""Exceptions of the semirings package; bitblas.exceptions re-exports them."""


class GraphblasException(Exception):
    """The base of all errors of bitblas."""


class UdfParseError(GraphblasException):
    """A function that cannot become an operator: which construct, and at which line."""


class DomainMismatch(GraphblasException, TypeError):
    """An operator has no version for these types."""


class NotImplementedException(GraphblasException):
    """GraphBLAS has the operation, bitblas does not for these operands: the message says which, and what to use."""
