"""Lazy loading of submodules, so that `import bitblas` is fast.

After `from .. import operations`, the first `operations.spgemm.mxm(..)` loads spgemm.py, and Python keeps it as the
attribute `spgemm`.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def module_of(package: str, name: str) -> ModuleType:
    """A module of a package, for its `__getattr__`. AttributeError if there is none of that name."""
    full = f"{package}.{name}"
    try:
        if not name.startswith("_"):
            return importlib.import_module(full)
    except ModuleNotFoundError as fault:
        if fault.name != full:
            raise
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
