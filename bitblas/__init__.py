"""bitblas: GraphBLAS on bits, for NVIDIA GPUs, from Python. Names and call style are python-graphblas'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semirings import binary, dtypes, indexunary, monoid, select, semiring, unary

from . import device, exceptions
from .config import config
from .core import Matrix, Scalar, TransposedMatrix, Vector, explain, op, op_from_string, replace

if TYPE_CHECKING:
    from . import algorithms, io

__version__ = "0.1.0.dev0"

__all__ = [
    "Matrix", "Scalar", "TransposedMatrix", "Vector", "algorithms", "binary", "config", "device", "dtypes",
    "exceptions", "explain", "indexunary", "io", "monoid", "op", "op_from_string", "replace", "select", "semiring",
    "unary",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # What `import bitblas` does not need comes at first use.
    if name in ("algorithms", "io"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
