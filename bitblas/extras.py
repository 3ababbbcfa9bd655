"""Installation checks: how to install extras, and a conflicting package of the same name."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from contextlib import suppress
from typing import Any

_FOREIGN = re.compile(r"bitblas-[^-]+\.(dist|egg)-info")  # ours is bit_graphblas-*


# The packages of an extra, as pyproject.toml has them without the least versions, which pip takes anyway: installed by
# themselves, since an extra of a clone is a new wheel, whose kernels are compiled again, for minutes.
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
    """The command that brings the packages of an extra, and words after it."""
    return f"pip install {' '.join(p if p.replace('-', '').isalnum() else repr(p) for p in PACKAGES[extra])}{more}"


def load(module: str, what: str, package: str | None = None) -> Any:
    """A module of another package, for `what`. ImportError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = package or module.partition(".")[0]
        raise ImportError(f"{what} needs {name} ({error}): pip install {name}", name=module) from error


def check_name(package: str) -> None:
    """RuntimeWarning where another distribution has put its `bitblas` into the same folder: Microsoft's BitBLAS,
    kernels for tensors of few bits, has this import name too. It costs a listing of the folder above `package`."""
    with suppress(OSError):
        for name in filter(_FOREIGN.fullmatch, os.listdir(os.path.dirname(os.path.abspath(package)))):
            warnings.warn(
                f"the distribution {name.rpartition('.')[0]} (Microsoft's BitBLAS?) is installed into the same folder, "
                f"{package}: the files of both are mixed there, and either may break. Uninstall both (pip uninstall "
                "bitblas bit-graphblas), then install the one that you want, or each into an environment of its own",
                RuntimeWarning,
                stacklevel=3,
            )
