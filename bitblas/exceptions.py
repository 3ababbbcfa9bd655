"""Errors, with the names of the GraphBLAS C API 2.1 (section 4.5) as python-graphblas spells them.

Every message names the argument, the expected and the received value, and a hint if one helps.
"""

from __future__ import annotations

import os
import sys
import warnings

from semirings.errors import DomainMismatch, GraphblasException, NotImplementedException, UdfParseError

__all__ = [
    "CaptureError", "ConvergenceWarning", "DeviceError", "DimensionMismatch", "DistributedError", "DomainMismatch",
    "EmptyObject", "GraphblasException", "IndexOutOfBound", "InsufficientSpace", "InvalidIndex", "InvalidObject",
    "InvalidValue", "JitError", "NoValue", "NotImplementedException", "NullPointer", "OutOfMemory", "OutputNotEmpty",
    "Panic", "UdfParseError", "UninitializedObject",
]  # fmt: skip


class ConvergenceWarning(UserWarning):
    """A limit of rounds ended an algorithm before it was done: what came out is the state after the last round."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package from which it was called, however deep the call is."""
    here, level, frame = os.path.dirname(__file__) + os.sep, 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class NoValue(GraphblasException):
    """No entry where one was asked for."""


class InvalidValue(GraphblasException, ValueError):
    """An argument or a file holds what it must not."""


class InvalidIndex(GraphblasException, IndexError):
    """An index that cannot be one."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index beyond the object's size."""


class DimensionMismatch(GraphblasException, ValueError):
    """Shapes do not fit."""


class OutputNotEmpty(GraphblasException):
    """`build` into an object that has entries."""


class EmptyObject(GraphblasException):
    """A Scalar without a value where one is needed."""


class OutOfMemory(GraphblasException, MemoryError):
    """What does not fit: needed and free bytes, and what to do."""


class DeviceError(GraphblasException, RuntimeError):
    """A device that is missing, too old, or that does not hold the operand."""


class DistributedError(GraphblasException, RuntimeError):
    """Ranks that do not meet, that end, or that run different programs; not of the C API."""


class UninitializedObject(GraphblasException):
    """An object of GraphBLAS that was never made. bitblas raises it nowhere: its objects are always made."""


class InvalidObject(GraphblasException):
    """An object that is broken, as by a fault of the device while it was written."""


class NullPointer(GraphblasException):
    """An argument of the C API that is missing. bitblas raises it nowhere."""


class InsufficientSpace(GraphblasException):
    """An output array that is too small. bitblas raises it nowhere: it makes its arrays itself."""


class Panic(GraphblasException):
    """A fault inside the library."""


class CaptureError(GraphblasException, TypeError):
    """A statement that cannot run inside a loop on the device; not of the C API."""


class JitError(GraphblasException):
    """A kernel that does not compile."""
