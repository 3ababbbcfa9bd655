"""Agreement tests: compare implementations of every operator, cast and `repeated` at all pairs of edge values.

The host's results are compared with those of an implementation that the caller provides (Numba, CUDA C++,
SuiteSparse:GraphBLAS), within the tolerances listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from . import catalog, dtypes
from .algebra import Monoid
from .catalog import COMPLEX_MATH, MATH
from .dtypes import DataType
from .laws import at, edge_values
from .operators import Operator

# ---- Tolerances: how far implementations of an operator may differ.

# Operators that platforms round differently, and the allowed difference in units in the last place (WITH_ZEROS: of the
# larger of the value and 1, because no library meets the zeros of these functions).
ULPS = dict.fromkeys((*MATH, *COMPLEX_MATH, "pow", "rpow", "atan2", "hypot"), 4) | {
    "erfc": 16,
    "lgamma": 16,
    "tgamma": 16,
}
ULPS |= {"numpy.rad2deg": 1, "numpy.deg2rad": 1}
ULPS |= dict.fromkeys((f"numpy.{name}" for name in ("float_power", "hypot", "logaddexp", "logaddexp2")), 4)
# For complex numbers, in units of the larger part: complex functions combine several real ones.
COMPLEX_ULPS = dict.fromkeys((*COMPLEX_MATH, "signum"), 16) | dict.fromkeys(("abs", "absfirst", "abssecond", "carg"), 4)
COMPLEX_ULPS |= {"numpy.reciprocal": 2, "numpy.sign": 2, "numpy.square": 2}  # NumPy fuses products and sums
COMPLEX_ULPS |= dict.fromkeys(("pow", "rpow", "numpy.float_power"), 1 << 11)
WITH_ZEROS = ("lgamma", "numpy.logaddexp", "numpy.logaddexp2")
for _name in ("ceil", "floor", "sqrt", "trunc"):
    del ULPS[_name]
    COMPLEX_ULPS[_name] = 16 * (_name == "sqrt")


# ---- Agreement tests: compare implementations of every operator, cast and `repeated` at all pairs of edge values.


@dataclass(frozen=True)
class Case:
    """One function of (x, y, positions) -> z at all pairs of edge values, to be evaluated by every implementation.

    `kind` is "op", "cast" or "repeat"; `what` the operator, the target type or the monoid. Operands are columns of
    equal length; y is also the thunk of an index-unary operator, and i the number of summands.
    """

    kind: str
    what: Operator | DataType | Monoid
    dtype: DataType
    result: DataType
    x: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    i: np.ndarray = field(repr=False)
    j: np.ndarray = field(repr=False)

    @property
    def label(self) -> str:
        return f"{self.what if isinstance(self.what, DataType) else repr(self.what)} of {self.dtype}"

    def disagreement(self, want: np.ndarray, got: np.ndarray, *, bits: bool) -> np.ndarray:
        """A mask of the rows where two result columns differ: NaN equals NaN, -0.0 equals 0.0 unless `bits`, and
        operators in tolerances.ULPS may differ in their last places.
        """
        size, name = want.size, getattr(self.what, "name", "")
        limit = ULPS.get(name, 0)
        if self.dtype.kind == "c":
            limit = COMPLEX_ULPS.get(name, limit)
        if want.dtype.kind == "c":  # compared part by part
            want, got = (z.view(f"f{z.dtype.itemsize // 2}") for z in (want, got))
        if bits:
            raw = f"u{want.dtype.itemsize}"
            apart = (want.view(raw) != got.view(raw)) & ((want == want) | (got == got))
        else:
            apart = (want != got) & ((want == want) | (got == got))
        if limit and want.dtype.kind == "f":
            with np.errstate(all="ignore"):
                scale = np.abs(want)
                if self.result.kind == "c":  # ulp of the larger part
                    scale = np.repeat(np.fmax(scale[::2], scale[1::2]), 2)
                scale = np.spacing(np.maximum(scale, 1) if name in WITH_ZEROS else scale)
                apart &= ~(np.abs(want - got) <= limit * np.where(np.isfinite(want), scale, 0))
        return apart.reshape(size, -1).any(axis=1) if size else apart

    def on_host(self) -> np.ndarray:
        """The results in Python."""
        if isinstance(self.what, DataType):
            values = [dtypes.cast_scalar(x, self.result) for x in self.x]
        elif isinstance(self.what, Monoid):
            values = [self.what.repeat(self.dtype, x, int(k)) for x, k in zip(self.x, self.i)]
        else:
            values = [at(self.what, self.dtype, *v) for v in zip(self.x, self.y, self.i.tolist(), self.j.tolist())]
        return np.array(values, self.result.np_type)


def cases(t: DataType) -> list[Case]:
    """All operators, casts and monoids of the catalog for operands of type `t`."""
    values = edge_values(t)
    x, y = (c.ravel() for c in np.meshgrid(values, values, indexing="ij"))
    number = np.arange(x.size, dtype=np.int64)
    columns = (x, y, number % 7, number % 5)
    operators = catalog.all_operators()
    found = [Case("op", op, t, op.result_type(t), *columns) for op in operators if t in op]
    found += [Case("cast", to, t, to, *columns) for to in dtypes.ALL]
    repeats = (x, y, 1 + number * number % 97, columns[3])
    return found + [
        Case("repeat", m, t, t, *repeats) for m in catalog.MONOIDS.values() if t in m and m.result_type(t) is t
    ]


def agreement(
    t: DataType, implementations: Mapping[str, Callable[[list[Case]], list[np.ndarray]]], extra: Iterable[Case] = ()
) -> list[str]:
    """Differences between the implementations and Python, bit by bit (NaN equals NaN), on all cases of type `t`.

    An implementation maps the list of cases to one result column each.
    """
    todo, found = [*cases(t), *extra], []
    expected = [c.on_host() for c in todo]
    for name, run in implementations.items():
        for case, want, got in zip(todo, expected, run(todo), strict=True):
            if got.dtype != want.dtype:
                found.append(f"{case.label}: {want.dtype} in Python, {got.dtype} in {name}")
                continue
            for k in np.flatnonzero(case.disagreement(want, got, bits=True))[:1]:
                at = f"x={case.x[k]}, y={case.y[k]}, i={case.i[k]}, j={case.j[k]}"
                found.append(f"{case.label} at {at}: {want[k]!r} in Python, {got[k]!r} in {name}")
    return found
