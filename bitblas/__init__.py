"""Fast graph analytics in Python, on CPU or NVIDIA GPU: GraphBLAS on bits, with the API of python-graphblas."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

# Objects created by imports are permanent: the garbage collector would scan them about thirty times and find nothing.
# Freezing and unfreezing moves them to the oldest generation, which is scanned last.
_collects = gc.isenabled()
gc.disable()
try:
    from semirings import binary, dtypes, indexbinary, indexunary, monoid, select, semiring, unary

    from . import agg, device, exceptions
    from .config import config
    from .core import Matrix, Scalar, TransposedMatrix, Vector, explain, op, op_from_string, replace
    from .core.hooks import late as _above
    from .core.statement.running import Recorder
    from .device import Trace as trace
    from .extras import check_name as _check_name
finally:
    if _collects:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()

if TYPE_CHECKING:
    from . import algorithms, compat, datasets, io, loop, plots, reorder, ss, viz
    from . import nx as nx
    from . import scanpy as scanpy
    from . import torch as torch
    from .graph import Graph
    from .registry.warm import warm_program as warm

_LOADED_LATER = {*"algorithms compat datasets graph io loop nx plots reorder scanpy ss torch viz".split()}
__version__ = "0.1.0.dev0"

_check_name(__path__[0])
load = Matrix.load
MAX_SIZE = 1 << 60  # the largest number of rows, columns or positions of an object
backend = "bitblas"

__all__ = [
    "MAX_SIZE",
    "Graph",
    "Matrix",
    "Recorder",
    "Scalar",
    "TransposedMatrix",
    "Vector",
    "agg",
    "algorithms",
    "backend",
    "binary",
    "compat",
    "config",
    "datasets",
    "device",
    "dtypes",
    "exceptions",
    "explain",
    "indexbinary",
    "indexunary",
    "init",
    "io",
    "load",
    "loop",
    "monoid",
    "op",
    "op_from_string",
    "plots",
    "reorder",
    "replace",
    "select",
    "semiring",
    "ss",
    "trace",
    "unary",
    "viz",
    "warm",
]

# Operator namespaces are not files; registering them makes `from bitblas.semiring import min_plus` and
# `import bitblas.binary.numpy` work.
for _name in ("binary", "dtypes", "indexbinary", "indexunary", "monoid", "op", "select", "semiring", "unary"):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]
    for _part in ("numpy", "ss"):
        if hasattr(globals()[_name], _part):
            sys.modules[f"{__name__}.{_name}.{_part}"] = getattr(globals()[_name], _part)


def _later(module: str, name: str) -> Callable[[], Any]:
    """A function that returns a name of a module that `import bitblas` does not load."""
    return lambda: getattr(importlib.import_module(f"{__name__}.{module}"), name)


_above.update(orders=_later("reorder", "ORDERS"), measured=_later("calibrate", "measured"))
_above["io"] = lambda: importlib.import_module(f"{__name__}.io")
_above["torch"] = lambda: __getattr__("torch")
_above["plots"] = lambda: importlib.import_module(f"{__name__}.plots")


def init(backend: str = "bitblas", blocking: bool = False) -> None:
    """Does nothing: bitblas is initialized by its import. ValueError for another backend."""
    if backend not in ("bitblas", "suitesparse"):
        raise ValueError(f"backend: expected 'bitblas', got {backend!r}")


def __getattr__(name: str) -> Any:
    # Import at first use what `import bitblas` does not need.
    if name == "Graph":
        return importlib.import_module(f"{__name__}.graph").Graph
    if name == "warm":
        return importlib.import_module(f"{__name__}.registry.warm").warm_program
    if name == "torch":
        importlib.import_module(f"{__name__}.extras").load("torch", "bitblas.torch")
    if name in _LOADED_LATER:
        return importlib.import_module(f"{__name__}.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    algorithms = importlib.import_module(f"{__name__}.algorithms").__all__
    raise importlib.import_module(f"{__name__}.foreign_names").on_library(__name__, name, __all__, algorithms)


def __dir__() -> list[str]:
    return sorted({*__all__, "nx", "scanpy", "torch", "__version__"})
