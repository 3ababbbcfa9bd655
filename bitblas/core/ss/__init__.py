"""`A.ss`, `v.ss`: the SuiteSparse extras of python-graphblas that programs use, on the stores of bitblas.

`Matrix.ss` and `Vector.ss` are the classes, for `import_*` and `deserialize`.
"""

from __future__ import annotations

from ..matrix.matrix import Matrix
from ..options import check_options
from ..vector import Vector
from .arrays import MatrixArrays, VectorArrays, importer, packer
from .base import Extras
from .segments import MatrixChoosing, MatrixTiles, VectorChoosing, VectorTiles, concat


class MatrixExtras(MatrixChoosing, MatrixTiles, MatrixArrays, Extras):
    """`A.ss`."""

    __slots__ = ()
    _kind = Matrix
    orientation = "rowwise"

    @property
    def format(self) -> str:
        """The stored format, by its name in bitblas."""
        return self._parent.format

    def build_diag(self, vector: Vector, k: int = 0, **opts: object) -> None:
        """Replace the entries by `vector` on diagonal k."""
        check_options(opts)
        self._parent << vector.diag(int(k))


class VectorExtras(VectorChoosing, VectorTiles, VectorArrays, Extras):
    """`v.ss`."""

    __slots__ = ()
    _kind = Vector
    format = "bitmap"

    def build_diag(self, matrix: Matrix, k: int = 0, **opts: object) -> None:
        """Replace the entries by diagonal k of `matrix`."""
        check_options(opts)
        self._parent << matrix.diag(int(k))


for _kind, _extras in (("nrows", MatrixExtras), ("size", VectorExtras)):
    for _form in ("any", *_extras._forms):
        setattr(_extras, f"import_{_form}", importer(_kind, tuple(_extras._forms), _form))
        setattr(_extras, f"pack_{_form}", packer(_kind, tuple(_extras._forms), _form))

__all__ = ["MatrixExtras", "VectorExtras", "concat"]
