"""Exceptions of the semirings package; bitblas.exceptions re-exports them."""


class GraphblasException(Exception):
    """The base of all errors of bitblas."""


class UdfParseError(GraphblasException):
    """A function that cannot become an operator; the message names the construct and its line."""


class DomainMismatch(GraphblasException, TypeError):
    """An operator has no version for these types."""


class NotImplementedException(GraphblasException):
    """A GraphBLAS operation that bitblas does not support for these operands; the message names it and an
    alternative.
    """
