"""Errors, with the names of the GraphBLAS C API 2.1 (section 4.5) as python-graphblas spells them.

Every message names the argument, the expected and the received value, and a hint if one helps.
"""

from __future__ import annotations

import os
import sys
import warnings

from semirings.dtypes import DomainMismatch, GraphblasException, NotImplementedException, UdfParseError

__all__ = ["DomainMismatch", "GraphblasException", "NotImplementedException", "UdfParseError"]  # of semirings
__all__ += ["DimensionMismatch", "EmptyObject", "IndexOutOfBound", "InsufficientSpace", "InvalidIndex", "InvalidObject"]
__all__ += ["InvalidValue", "NoValue", "NullPointer", "OutOfMemory", "OutputNotEmpty", "Panic", "UninitializedObject"]
__all__ += ["CaptureError", "ConvergenceWarning", "DeviceError", "DistributedError", "JitError"]  # of bitblas alone


class ConvergenceWarning(UserWarning):
    """An algorithm stopped at its iteration limit before it converged: the result is the state after the last
    iteration."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside of this package that called it, however deep the call is."""
    here, level, frame = os.path.dirname(__file__) + os.sep, 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class NoValue(GraphblasException):
    """No entry at a position that was read."""


class InvalidValue(GraphblasException, ValueError):
    """An invalid argument or file content."""


class InvalidIndex(GraphblasException, IndexError):
    """An invalid index."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index beyond the object's size."""


class DimensionMismatch(GraphblasException, ValueError):
    """Shapes do not fit."""


class OutputNotEmpty(GraphblasException):
    """`build` into an object that has entries."""


class EmptyObject(GraphblasException):
    """A Scalar without a value where one is needed."""


class OutOfMemory(GraphblasException, MemoryError):
    """Not enough memory: needed and free bytes, and a hint."""


class DeviceError(GraphblasException, RuntimeError):
    """A device that is missing, too old, or that does not hold the operand."""


class DistributedError(GraphblasException, RuntimeError):
    """Ranks that do not connect, that end, or that run different programs; not of the C API."""


class UninitializedObject(GraphblasException):
    """An uninitialized GraphBLAS object. bitblas never raises it: its objects are always initialized."""


class InvalidObject(GraphblasException):
    """An invalid object, for instance after a device fault while it was written."""


class NullPointer(GraphblasException):
    """A missing argument of the C API. bitblas never raises it."""


class InsufficientSpace(GraphblasException):
    """An output array that is too small. bitblas never raises it: it allocates its arrays itself."""


class Panic(GraphblasException):
    """An internal error of the library."""


class CaptureError(GraphblasException, TypeError):
    """A statement that cannot run inside a loop on the device; not of the C API."""


class JitError(GraphblasException):
    """A kernel that does not compile."""
