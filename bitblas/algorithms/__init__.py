"""Graph algorithms as short GraphBLAS programs: one file per algorithm, in folders by topic.

The adjacency matrix A has one row and one column per vertex, and an entry A[i, j] for each edge i -> j. The programs
use only the part of the API that bitblas shares with python-graphblas, so the same text runs on both:

    bfs_levels(A, 0)                          # on bitblas
    bfs_levels(A, 0, gb=graphblas)            # on python-graphblas; A is one of its matrices

`with Watch() as seen:` around a call records the number of rounds and whether it converged (`seen.rounds`, ..).

To add an algorithm, add its file: every function that is decorated with `algorithm` is exported here. The comment above
a statement is its formula: `w<m, replace> = q any.pair A` means "into w, under the mask m, the product of q and A over
the semiring any_pair"; `!m` is the complement of m, `A'` the transpose of A, `.*` the element-wise product, `min=` an
accumulation by min.
"""

import importlib
import pkgutil

from ..foreign_names import on_library as _unknown
from ._algorithm import Algorithm as _Algorithm
from ._algorithm import Facts as _Facts
from ._loops import Watch as Watch


def _decorated() -> dict[str, _Algorithm]:
    """The algorithms in the files of all folders, by name."""
    found: dict[str, _Algorithm] = {}
    for folder in pkgutil.iter_modules(__path__, f"{__name__}."):
        if folder.ispkg:
            for file in pkgutil.iter_modules(importlib.import_module(folder.name).__path__, f"{folder.name}."):
                module = importlib.import_module(file.name)
                for name, value in sorted(vars(module).items()):
                    if isinstance(getattr(value, "facts", None), _Facts) and value.__module__ == file.name:
                        found[name] = value
    return found


_found = _decorated()
globals().update(_found)
__all__ = sorted(_found)


def __getattr__(name: str) -> object:
    raise _unknown(__name__, name, (), __all__)
