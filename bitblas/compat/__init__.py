"""Run programs that `import graphblas` on bitblas: call `bitblas.compat.install()` before importing them.

It registers bitblas in `sys.modules` under the name of python-graphblas, with the internal modules that programs import
(`graphblas.core.operator`, `.matrix`, `.utils`, ...). A program that needs more raises ImportError or AttributeError.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from . import internals

NAME = "graphblas"
VERSION = "2025.2.0"  # of python-graphblas, whose names and call style bitblas follows
# The names of `from graphblas import *`, as far as bitblas has them.
STAR = (
    "MAX_SIZE Matrix Recorder Scalar Vector agg backend binary config core dtypes exceptions indexunary init "
    "io monoid op replace select semiring ss unary viz"
).split()
SPACES = ("agg", "binary", "config", "dtypes", "indexunary", "monoid", "op", "select", "semiring", "unary")
MODULES = ("exceptions", "io", "ss", "viz")  # modules of bitblas with the same names


class _Alias(ModuleType):
    """A module under a name of python-graphblas: its own content, and that of the module `_source`."""

    _source: str | None = None

    def __getattr__(self, name: str) -> Any:
        if (name.startswith("__") and name != "__all__") or self._source is None:
            raise AttributeError(f"{self.__name__}: bitblas has no {name!r} in this module")
        return getattr(importlib.import_module(self._source), name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(dir(importlib.import_module(self._source)) if self._source else ())]


def _alias(name: str, content: dict[str, object], source: str | None = None) -> None:
    module = _Alias(name)
    module._source = source
    module.__path__ = []  # makes it a package, so that `import graphblas.core.operator` finds submodules
    module.__dict__.update(content)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def install() -> None:
    """Make `import graphblas` mean bitblas in this process. ImportError if the real one is loaded already."""
    there = sys.modules.get(NAME)
    if isinstance(there, _Alias):
        return
    if there is not None:
        raise ImportError(f"{NAME}: expected install() before the first import, got {there.__file__} already imported")
    _alias(NAME, {"__version__": VERSION}, "bitblas")
    for space in SPACES:
        found = sys.modules[f"{NAME}.{space}"] = getattr(sys.modules[NAME], space)
        for part in ("numpy", "ss"):
            if hasattr(found, part):
                sys.modules[f"{NAME}.{space}.{part}"] = getattr(found, part)
    for module in MODULES:
        _alias(f"{NAME}.{module}", {}, f"bitblas.{module}")
    for name, content in internals.modules().items():
        _alias(f"{NAME}.{name}", content)
    whole: Any = sys.modules[NAME]
    whole.__all__ = [name for name in STAR if hasattr(whole, name)]


def uninstall() -> None:
    """Undo `install()`; programs that are already imported keep their references."""
    if isinstance(sys.modules.get(NAME), _Alias):
        for name in [n for n in sys.modules if n == NAME or n.startswith(f"{NAME}.")]:
            del sys.modules[name]


__all__ = ["install", "uninstall"]
