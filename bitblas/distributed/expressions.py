"""Delayed expressions of distributed objects. Communication happens when the statement runs, in the same order on all
ranks; the remaining work is a statement on this rank's share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from semirings import Typed, dtypes
from semirings.dtypes import DataType

from ..core.options import check_options
from ..core.statement.expressions import Expression
from ..core.statement.masks import Mask

if TYPE_CHECKING:
    from ..core import Matrix as WholeMatrix
    from ..core import Vector as WholeVector
    from ..core.statement.indexing import IndexExpr
    from ..core.typing import DTypeArg, MaskArg

    Local: TypeAlias = Expression | IndexExpr | WholeMatrix | WholeVector

# The distributed Vector and Matrix classes by number of dimensions; each registers itself.
classes_by_ndim: dict[int, Any] = {}


Result = TypeVar("Result")


class DistributedExpression(Expression[Result]):
    """A delayed distributed Vector or Matrix.

    local(): this rank's share, a bitblas object or expression on one device. shape: of the whole.
    """

    __slots__ = ("local", "ndim", "shape")
    ndim: int
    shape: tuple[int, ...]

    def __init__(
        self,
        shape: tuple[int, ...],
        method: str,
        args: tuple[Any, ...],
        op: Typed | None,
        local: Callable[[], Local],
        dtype: DataType | None = None,
    ) -> None:
        super().__init__(method, args, op, local, dtype)
        self.shape, self.ndim, self.local = shape, len(shape), local

    @property
    def size(self) -> int:
        return self.shape[0]

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    def new(self, dtype: DTypeArg = None, *, mask: MaskArg = None, name: str | None = None, **opts: object) -> Result:
        """Compute into a new object, of `dtype` if given; with `mask` (of the same shape), only where the mask
        allows."""
        check_options(opts)
        kind = self.dtype if dtype is None else dtypes.lookup_dtype(dtype)
        if mask is None and self._value is not None and self._value.dtype is kind:
            value, self._value = self._value, None
            return value
        return classes_by_ndim[self.ndim]._computed(self, kind, mask, name)

    def _resolve(self) -> Any:
        if self._value is None:
            self._value = classes_by_ndim[self.ndim]._computed(self, self.dtype)
        return self._value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(classes_by_ndim[self.ndim], name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._resolve(), name)


def part_of(mask: Mask) -> Mask:
    """This rank's share of a mask."""
    return Mask(mask.parent._rows()._part, mask.structure, mask.complement)
