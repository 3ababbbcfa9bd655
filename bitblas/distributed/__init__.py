"""Distributed graphs on several GPUs or machines: the same programs, with partitioned matrices and vectors.

See docs/scale.md. The module offers the same names as bitblas, so algorithms and programs can use either:

    import bitblas.distributed as gd
    gd.init()                                  # the rank comes from torchrun, mpirun, srun or `bitblas run -n 4`
    A = gd.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)
    levels = gd.algorithms.bfs_levels(A, 0)    # a gd.Vector: each rank stores its share

A rank stores its rows of a matrix, and the same positions of vectors, as objects of bitblas on its own device. A
statement exchanges what it reads of other ranks and then runs on these objects. The modules, bottom up:

    start, supervise        `init` finds this rank's number; `bitblas run` starts ranks and ends them together
    transports              the two calls that libraries provide, allgather and alltoall: NCCL on GPUs, MPI on CPUs
    group, liveness_board   calls between ranks with timeouts; errors that reach all ranks; which ranks have ended
    shares                  the partition: which positions a rank owns, the same for all objects of one size
    exchange                gather a vector or a matrix, combine sums, send entries to the owners of their rows
    base, vector, matrix    the objects and their statements; `products`: gather the vector, or push and combine
    loops                   the same exchanges as statements of captured loops
    work_sharing            algorithms on a copy of the whole graph: shared or replicated, as plan/ranks.py chooses
    reading                 files: a range of bytes, or the same number of rows, for each rank
"""

from __future__ import annotations

from typing import Any

from semirings import binary, dtypes, indexbinary, indexunary, monoid, select, semiring, unary

from .. import agg, exceptions
from ..config import config
from ..core import Scalar, op, replace
from .group import Group
from .matrix import Matrix, TransposedMatrix
from .products import explain
from .start import current, init
from .vector import Vector

__all__ = [
    "Group",
    "Matrix",
    "Scalar",
    "TransposedMatrix",
    "Vector",
    "agg",
    "algorithms",
    "binary",
    "config",
    "current",
    "dtypes",
    "exceptions",
    "explain",
    "indexbinary",
    "indexunary",
    "init",
    "monoid",
    "op",
    "read",
    "replace",
    "select",
    "semiring",
    "unary",
]


def __getattr__(name: str) -> Any:
    if name == "algorithms":
        from .. import algorithms

        return algorithms
    if name == "read":  # imported on demand: it needs the file readers
        from .reading import read

        return read
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
