"""The errors that the algebra itself raises; bitblas.exceptions has them with all others."""


class GraphblasException(Exception):
    """The base of all errors of bitblas."""


class UdfParseError(GraphblasException):
    """A function that cannot become an operator: which construct, and at which line."""


class DomainMismatch(GraphblasException, TypeError):
    """An operator has no version for these types."""


class NotImplementedException(GraphblasException):
    """GraphBLAS has the operation, bitblas does not for these operands: the message says which, and what to use."""
