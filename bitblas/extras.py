"""Optional packages and how to install them, a conflicting package of the same name, lazily loaded submodules."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from contextlib import suppress
from types import ModuleType
from typing import Any

# ---- Installation checks: how to install extras, and a conflicting package of the same name.

_FOREIGN = re.compile(r"bitblas-[^-]+\.(dist|egg)-info")  # bitblas itself is bit_graphblas-*


# The packages of an extra, as in pyproject.toml without minimum versions, because pip installs the newest anyway.
# Installed by name, because an extra of a clone builds a new wheel, which compiles all kernels again, for minutes.
PACKAGES = {
    "arrow": ("pyarrow",),
    "compare": ("python-graphblas==2025.2.0", "suitesparse-graphblas<10", "pandas<3", "networkx"),
    "cuda12": ("cupy-cuda12x", "cuda-core", "cuda-bindings==12.*", "cuda-toolkit[cudart,nvrtc]==12.*"),
    "cuda13": ("cupy-cuda13x", "cuda-core", "cuda-bindings==13.*", "cuda-toolkit[cudart,nvrtc]==13.*"),
    "datashade": ("datashader", "hvplot", "pandas"),
    "igraph": ("igraph",),
    "mpi": ("mpi4py", "openmpi"),
    "nccl12": ("nvidia-nccl-cu12",),
    "nccl13": ("nvidia-nccl-cu13",),
    "networkx": ("networkx",),
    "plots": ("matplotlib",),
}


def hint(extra: str, more: str = "") -> str:
    """The command that installs the packages of an extra, followed by `more`."""
    return f"pip install {' '.join(p if p.replace('-', '').isalnum() else repr(p) for p in PACKAGES[extra])}{more}"


def load(module: str, what: str, package: str | None = None) -> Any:
    """Import a module of another package, for `what`. ImportError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = package or module.partition(".")[0]
        raise ImportError(f"{what} needs {name} ({error}): pip install {name}", name=module) from error


def check_name(package: str) -> None:
    """RuntimeWarning if another distribution has installed its `bitblas` into the same folder: Microsoft's BitBLAS,
    kernels for low-bit tensors, has this import name too. Costs a listing of the folder above `package`."""
    with suppress(OSError):
        for name in filter(_FOREIGN.fullmatch, os.listdir(os.path.dirname(os.path.abspath(package)))):
            warnings.warn(
                f"the distribution {name.rpartition('.')[0]} (Microsoft's BitBLAS?) is installed into the same folder, "
                f"{package}: their files are mixed, and either may break. Uninstall both (pip uninstall "
                "bitblas bit-graphblas), then install the one that you want, or each into an environment of its own",
                RuntimeWarning,
                stacklevel=3,
            )


# ---- Lazy loading of submodules, so that `import bitblas` is fast.
#
# After `from .. import operations`, the first `operations.spgemm.mxm(..)` loads spgemm.py, and Python keeps it as the
# attribute `spgemm`.


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
