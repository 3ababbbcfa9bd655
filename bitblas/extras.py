"""What installing has to do with: how extras are installed, and another package of the same name."""

from __future__ import annotations

import os
import re
import warnings
from contextlib import suppress

_FOREIGN = re.compile(r"bitblas-[^-]+\.(dist|egg)-info")  # ours is bit_graphblas-*


def hint(extra: str, more: str = "") -> str:
    """The command that brings an extra, and words after it."""
    return f"pip install '.[{extra}]'{more} in a clone of bitblas"


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
