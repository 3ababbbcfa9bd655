"""Combine the weights of duplicate edges: sums and products of small integers are INT64 and never wrap."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from ..exceptions import InvalidValue

JOINING = "dup_op combines them: 'plus', 'min', 'max', 'first', .."
# Names of other libraries, and aggregations without an operator here.
_OPERATORS = {
    "sum": "'plus'",
    "add": "'plus'",
    "last": "'second'",
    "product": "'times'",
    "mul": "'times'",
    "or": "'lor'",
}
_OPERATORS |= dict.fromkeys(("mean", "avg", "average"), "'plus' of the weights divided by 'plus' of ones")
_OPERATORS |= {"count": "'plus' of ones", "keep": "'first'"}
_SUMS = ("plus", "minus", "rminus")  # bounded by the sum of absolute values
_GROW = (*_SUMS, "times", "pow", "rpow")


def check_dup_op(dup_op: Any, dtype: Any = None) -> None:
    """Raise InvalidValue for an unknown operator name (with a suggestion) and for an operator that is not defined for
    `dtype`; TypeError for an object that is neither a name nor an operator."""
    import bitblas as gb

    from ..core.operators import typed

    if isinstance(dup_op, str) and dup_op.isidentifier() and not hasattr(gb.binary, dup_op):
        near = difflib.get_close_matches(dup_op, [name for name in dir(gb.binary) if not name.startswith("_")], 1)
        meant = _OPERATORS.get(dup_op) or (repr(near[0]) if near else "'plus', 'min', 'max', 'first', ..")
        raise InvalidValue(f"dup_op: expected the name of a binary operator, got {dup_op!r}. Hint: {meant}")
    if dup_op is None or dtype is None:
        return
    try:
        typed(dup_op, "binary", gb.dtypes.lookup_dtype(dtype))
    except (KeyError, ValueError) as error:
        raise InvalidValue(
            f"dup_op: expected a binary operator of {dtype}, got {dup_op!r}: {str(error.args[0]).removeprefix('op: ')}"
        ) from None
    except TypeError as error:
        raise TypeError(f"dup_op: {str(error).removeprefix('op: ')}") from None


def name_of(dup_op: Any) -> str:
    """The name of an operator, without its type."""
    return str(getattr(dup_op, "name", dup_op)).partition("[")[0]


def grows(dup_op: Any, dtype: Any) -> bool:
    """Whether the result of an operator on two integers may overflow their type. dtype: NumPy's."""
    return dup_op is not None and dtype.kind in "iu" and name_of(dup_op) in _GROW


def fits(dup_op: Any, total: float, dtype: Any) -> bool:
    """Whether results certainly fit, given `total`, the sum of absolute values. dtype: an integer type of NumPy."""
    name = name_of(dup_op)
    if name not in _SUMS or (dtype.kind == "u" and name != "plus"):  # 3 - 5 is no UINT64
        return False
    return total < float(np.iinfo(dtype).max) * 0.999


def total_of(values: np.ndarray) -> float:
    """The approximate sum of absolute values."""
    return float(np.abs(values.astype(np.float64)).sum())


def wide_type(dtype: Any) -> Any:
    """INT64 for smaller integer types, so that sums fit."""
    return dtype if dtype.itemsize == 8 else np.dtype(np.int64)


def cast_to(source: str, A: Any, dtype: Any, name: str | None) -> Any:
    """Cast an INT64 Matrix to a smaller type. InvalidValue for a value that does not fit."""
    import bitblas as gb

    kind = gb.dtypes.lookup_dtype(dtype)
    if A.nvals:
        low, high = (int(A.reduce_scalar(f).new().value) for f in (gb.monoid.min, gb.monoid.max))
        wrong = high if high > kind.highest else low if low < kind.lowest else None
        if wrong is not None:
            raise InvalidValue(f"{source}: dtype {kind}: expected weights that fit, got {wrong}")
    return A.dup(kind, name=name)
