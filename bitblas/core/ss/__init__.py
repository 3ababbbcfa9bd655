"""`A.ss`, `v.ss`: the SuiteSparse extras of python-graphblas that programs use, on the stores of bitblas.

`Matrix.ss` and `Vector.ss` are the classes, for `import_*` and `deserialize`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..matrix.matrix import Matrix
from ..options import check_options
from ..vector import Vector
from .arrays import MatrixArrays, VectorArrays, importer, packer
from .base import Extras, from_bytes
from .segments import MatrixChoosing, MatrixTiles, VectorChoosing, VectorTiles, concat

if TYPE_CHECKING:
    import numpy as np

    from ..typing import DTypeArg


class MatrixExtras(MatrixChoosing, MatrixTiles, MatrixArrays, Extras):
    """`A.ss`."""

    __slots__ = ()
    orientation = "rowwise"

    @property
    def format(self) -> str:
        """The stored format, by its name in bitblas."""
        return self._parent.format

    def build_diag(self, vector: Vector, k: int = 0, **opts: object) -> None:
        """Replace the entries by `vector` on diagonal k."""
        check_options(opts)
        self._parent << vector.diag(int(k))

    @classmethod
    def deserialize(
        cls, data: np.ndarray | bytes, dtype: DTypeArg = None, *, name: str | None = None, **opts: object
    ) -> Matrix:
        """The Matrix from the result of `serialize`: an array or bytes. InvalidObject for anything else, or another
        dtype."""
        return from_bytes(Matrix, data, dtype, name, opts)


class VectorExtras(VectorChoosing, VectorTiles, VectorArrays, Extras):
    """`v.ss`."""

    __slots__ = ()
    format = "bitmap"

    def build_diag(self, matrix: Matrix, k: int = 0, **opts: object) -> None:
        """Replace the entries by diagonal k of `matrix`."""
        check_options(opts)
        self._parent << matrix.diag(int(k))

    @classmethod
    def deserialize(
        cls, data: np.ndarray | bytes, dtype: DTypeArg = None, *, name: str | None = None, **opts: object
    ) -> Vector:
        """The Vector from the result of `serialize`: an array or bytes. InvalidObject for anything else, or another
        dtype."""
        return from_bytes(Vector, data, dtype, name, opts)


for _kind, _extras in (("nrows", MatrixExtras), ("size", VectorExtras)):
    for _form in ("any", *_extras._forms):
        setattr(_extras, f"import_{_form}", importer(_kind, tuple(_extras._forms), _form))
        setattr(_extras, f"pack_{_form}", packer(_kind, tuple(_extras._forms), _form))

__all__ = ["MatrixExtras", "VectorExtras", "concat"]
