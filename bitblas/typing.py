"""Types of arguments that occur all over the library: arrays, numbers, dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from semirings import DataType

# An array in the memory of a device: NumPy's on CPUs, CuPy's on GPUs. CuPy has no type information, and its arrays have
# NumPy's methods and signatures, so both are checked as NumPy's.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
# What users pass as an array: also lists, tuples and objects with the protocols of arrays.
ArrayLike: TypeAlias = Array | Sequence[Any]
# What users pass as a value.
Number: TypeAlias = bool | int | float | complex | np.generic
# What users pass as a type: a name ("FP64", "int32"), a Python type, NumPy's dtype, or a DataType.
DTypeLike: TypeAlias = DataType | str | type | np.dtype[Any]
