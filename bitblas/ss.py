"""python-graphblas' `gb.ss`: SuiteSparse's functions on whole objects, its settings, and facts about the library."""

from __future__ import annotations

from types import MappingProxyType

from . import __version__
from .core import Matrix, TransposedMatrix, Vector
from .core.options import check_options
from .core.ss import concat
from .core.ss.settings import Context, burble, config, global_context
from .core.statement.infix import Operand, describe
from .typing import DTypeLike

about = MappingProxyType({"library_name": "bitblas", "library_version": __version__, "api_version": (2, 1, 0)})


def diag(
    x: Operand, k: int = 0, dtype: DTypeLike | None = None, *, name: str | None = None, **opts: object
) -> Matrix | Vector:
    """A new Matrix with the Vector x on diagonal k, or a new Vector of diagonal k of the Matrix x.

    Raises TypeError for anything else.
    """
    check_options(opts)
    x = x._resolve() if isinstance(x, Operand) else x
    if not isinstance(x, (Matrix, TransposedMatrix, Vector)):
        raise TypeError(f"x: expected a Vector or a Matrix, got {describe(x)}")
    return x.diag(int(k)).dup(dtype, name=name)


__all__ = ["Context", "about", "burble", "concat", "config", "diag", "global_context"]
