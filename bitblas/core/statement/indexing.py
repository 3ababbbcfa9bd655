"""C[I, J], v[i]: extraction (GraphBLAS C API 2.1, 4.3.6) and the targets of assignment (4.3.7)."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from ...device import Device
from ...exceptions import DimensionMismatch
from ..options import check_options
from .axes import Axis
from .base import Assigner, Output
from .delayed import Waiting
from .infix import Operators
from .mask import Mask, check

_OUTPUT_CALL: Any = Output.__call__
Made = TypeVar("Made")  # type of the extracted object


class IndexExpr(Waiting, Operators, Generic[Made]):
    """parent[I]: extracts when it is read, assigns when it is on the left of `<<`."""

    __slots__ = ("_expr", "axes", "parent")

    def __init__(self, parent: Any, axes: tuple[Axis, ...]) -> None:
        self.parent, self.axes, self._expr = parent, axes, None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple([a.size for a in self.axes if a.size is not None])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.parent.dtype

    @property
    def device(self) -> Device:
        return self.parent.device

    def _to_expr(self) -> Any:
        if self._expr is None:
            self._expr = self.parent._extract(self.axes)
        return self._expr

    def new(
        self, dtype: Any = None, *, mask: Any = None, input_mask: Any = None, name: str | None = None, **opts: Any
    ) -> Made:
        """Extract into a new Scalar, Vector or Matrix; `mask` has the shape of the result, `input_mask` that of the
        object that is read."""
        if input_mask is not None:
            if mask is not None:
                raise TypeError("mask, input_mask: expected only one of them, got both")
            mask = self._masked_by(input_mask)
        made: Made = self.parent._extract(self.axes).new(dtype, mask=mask, name=name, **opts)
        return made

    def __lshift__(self, value: Any) -> None:
        if not isinstance(self.parent, Output):
            raise TypeError(f"{self._text()} << x: expected an index of a Matrix or Vector, not of an expression")
        self.parent._assign(self.axes, value, None, None, False, False)

    def update(self, expr: Any, **opts: Any) -> None:
        """The same as `<<`: assign to parent[I]."""
        check_options(opts)
        self << expr

    def __call__(self, *args: Any, **kwargs: Any) -> Assigner:
        """C[I, J](mask, accum, replace) << expr: mask has the shape of the region, and replace affects only the
        region."""
        region = _Region(self.shape, self.parent)
        updater = _OUTPUT_CALL(region, *args, **kwargs)
        updater.target = self.parent
        return Assigner(updater, self.axes, region_mask=updater.mask is not None)

    def _masked_by(self, input_mask: Any) -> Mask:
        """The mask of the extracted object, from a mask of the parent's shape or, for a row or column, of a Vector
        along it."""
        if not self.ndim:
            raise ValueError("input_mask: not allowed when a single element is read")
        m = check(input_mask, getattr(input_mask, "ndim", self.parent.ndim))
        axes, shape = self.axes, self.parent.shape
        if m.ndim > len(axes):
            raise TypeError("input_mask: expected the mask of a Vector to read a Vector, got that of a Matrix")
        if m.ndim < len(axes):
            if self.ndim == 2:
                raise TypeError("input_mask: expected the mask of a Matrix to read a Matrix, got that of a Vector")
            axes, shape = zip(*((a, n) for a, n in zip(axes, shape) if a.size is not None))
        if m.parent.shape != shape:
            raise DimensionMismatch(f"input_mask: expected shape {shape}, got {m.parent.shape}")
        return Mask(m.parent._extract(axes).new(), m.structure, m.complement)

    def _text(self) -> str:
        return f"{self.parent.name}[{', '.join(map(str, self.axes))}]"


class _Region:
    """Stands in for parent[I] while the parameters of an assignment are parsed: masks have its rank."""

    __slots__ = ("_mask_ranks", "dtype", "ndim")

    def __init__(self, shape: tuple[int, ...], parent: Any) -> None:
        self.ndim, self.dtype = max(1, len(shape)), parent.dtype
        self._mask_ranks = (self.ndim,)
