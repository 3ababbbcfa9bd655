"""A.T: a transposed view of a Matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings.dtypes import DataType

from ... import foreign_names, verbs
from ...device import Device
from ...store import MatrixStore
from ..statement.infix import Operators
from .read import MatrixRead

if TYPE_CHECKING:
    from .matrix import Matrix


class TransposedMatrix(MatrixRead, Operators, metaclass=foreign_names.Hinted):
    """A.T: a view of A with rows and columns exchanged; `.new()` makes it a Matrix. Products read the view directly."""

    __slots__ = ("__weakref__", "_matrix")
    _matrix: Matrix
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> Matrix:
        return self._matrix

    @property
    def name(self) -> str:
        return f"{self._matrix.name}.T"

    @property
    def dtype(self) -> DataType:
        return self._matrix.dtype

    @property
    def device(self) -> Device:
        return self._matrix.device

    @property
    def nrows(self) -> int:
        return self._matrix.ncols

    @property
    def ncols(self) -> int:
        return self._matrix.nrows

    @property
    def nvals(self) -> int:
        return self._matrix.nvals

    @property
    def _store(self) -> MatrixStore:
        return verbs.matrix.transpose(self._matrix._store)

    @property
    def _stored(self) -> MatrixStore:
        return verbs.matrix.transpose(self._matrix._stored).tagged(self._order)

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> Any:
        """(rows, columns, values) as from `Matrix.to_coo`, in the order of the underlying matrix: by column, then
        row."""
        j, i, x = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return i, j, x

    def wait(self, how: str = "materialize") -> TransposedMatrix:
        """Itself, after pending writes and device work are complete."""
        self._matrix.wait(how)
        return self

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **opts: Any) -> Matrix:
        """The transpose as a Matrix."""
        return self.dup(dtype, mask=mask, name=name, **opts)

    def __dir__(self) -> list[str]:
        return dir(type(self))


foreign_names.add_foreign_names(TransposedMatrix, foreign_names.MATRIX)
