"""The decorator `algorithm`: registers a public algorithm, with the facts that its signature cannot state.

`bitblas.algorithms` exports every decorated program of its folders. Graph's methods, the type stubs, the commands and
the comparison with SuiteSparse read the facts from the attribute `facts` of the program.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, get_args

from .. import docstrings
from ..plan.ranks import WORK_KINDS, WorkKind
from . import _check as check

# The graphs that an algorithm accepts. A program with the parameter `directed` accepts any, and ignores directions by
# default. acyclic: directed, without cycles.
GraphKind = Literal["any", "undirected", "bipartite", "acyclic"]

# What the numbers of an answer are, with the type that a program on a Matrix returns.
ANSWERS: dict[str, str] = {
    "count": "int",
    "number": "float",
    "vertices": "list[int]",  # of a path or a cycle
    "value per vertex": "Vector",
    "class per vertex": "Vector",  # values only distinguish classes
    "vertex per vertex": "Vector",
    "representative per vertex": "Vector",  # a class, named by one of its vertices
    "distance per vertex": "Vector",  # from the argument `source`; no entry: not reachable
    "parent per vertex": "Vector",  # in a tree from `source`
    "distances per source": "Matrix",  # a row for each vertex in `sources`
    "value per pair": "Matrix",  # of vertices; symmetric if A is
    "value per edge": "Matrix",  # in each direction, whose mean is the value of an undirected edge
    "flow per edge": "Matrix",  # directed
    "undirected graph": "Matrix",  # on the same vertices
    "subgraph": "Matrix",  # on the same vertices, directed if the graph is
    "edges per hop": "tuple[Matrix, ...]",
    "graph of components": "Matrix",  # its vertices are components
    "positions": "Matrix",  # a row of coordinates for each vertex
    "walks": "Matrix",  # a row of vertices for each walk
    "value per walk": "Vector",
    "vertex sets": "Matrix",  # a row for each set, with an entry for each of its vertices
    "generated graph": "Matrix",
}
VERTEX_VALUED = frozenset({"vertex per vertex", "representative per vertex", "parent per vertex", "walks"})
CLASSES = frozenset({"class per vertex", "representative per vertex"})


@dataclass(frozen=True)
class Facts:
    """Facts about an algorithm. answer: a kind of `ANSWERS` for each part of its result. weighted: it always reads the
    values as weights (a program with the parameter `weighted` reads them if that is True). arrays: bytes per vertex and
    per entry of the arrays that it uses between statements (degrees, entry lists, sorted scores), slightly below the
    peaks measured on the CPU for graphs of 500 to 4000 vertices and up to 24 000 entries. GraphBLAS statements predict
    their own memory; arrays whose size depends on an intermediate result are checked with `check.memory`. work: how the
    work can be divided, by which ranks choose how they run it (plan/ranks.py); `sources` and `rows` are those of
    `shared_work` (_loops.py)."""

    answer: tuple[str, ...]
    graph: GraphKind = "any"
    weighted: bool = False
    arrays: tuple[int, int] = (0, 0)
    work: WorkKind = ""

    @property
    def undirected(self) -> bool:
        """Whether it rejects a matrix that is not symmetric."""
        return self.graph in ("undirected", "bipartite")


class Algorithm(Protocol):
    """A decorated program."""

    __name__: str
    __module__: str
    facts: Facts

    def __call__(self, *args: Any, **options: Any) -> Any: ...


Program = TypeVar("Program", bound=Callable[..., Any])


def algorithm(
    *,
    answer: str | tuple[str, ...],
    graph: GraphKind = "any",
    weighted: bool = False,
    arrays: tuple[int, int] = (0, 0),
    work: WorkKind = "",
    like: Callable[..., Any] | None = None,
) -> Callable[[Program], Program]:
    """Register a program; the parameters are those of `Facts`. It runs on the device of its Matrix A, or on the default
    device if it has none, and receives the library `gb`. A is checked to be square, and symmetric if `graph` requires
    it. like: a program whose docstring, after its first line, is that of this one too: both have the same parameters.
    ValueError for an unknown kind of answer, graph or work."""
    facts = Facts((answer,) if isinstance(answer, str) else answer, graph, weighted, arrays, work)
    if unknown := [kind for kind in facts.answer if kind not in ANSWERS]:
        raise ValueError(f"answer: expected {', '.join(map(repr, ANSWERS))}, got {unknown[0]!r}")
    if graph not in get_args(GraphKind):
        raise ValueError(f"graph: expected {', '.join(map(repr, get_args(GraphKind)))}, got {graph!r}")
    if work not in WORK_KINDS:
        raise ValueError(f"work: expected {', '.join(map(repr, WORK_KINDS))}, got {work!r}")

    def register(program: Program) -> Program:
        if "gb" not in (program.__kwdefaults__ or {}):
            raise TypeError(f"{program.__name__}: expected the keyword parameter gb=None, the library, got none")
        if like is not None:
            _, between, rest = (inspect.unwrap(like).__doc__ or "").partition("\n\n")
            program.__doc__ = f"{program.__doc__}{between}{rest}"
        generates = facts.answer == ("generated graph",)
        checked = program if generates else _checked(program, facts)
        public: Any = _on_default_device(checked) if generates else on_device_of_matrix(checked, arrays)
        public.facts = facts
        public.__doc__ = _sections(program, facts)
        return public

    return register


def _sections(program: Callable[..., Any], facts: Facts) -> str:
    """The docstring in NumPy's style, with the references of the module."""
    signature = inspect.signature(program)
    kinds = [ANSWERS[kind] for kind in facts.answer]
    return docstrings.numpy_style(
        program.__doc__ or "",
        signature.parameters,
        optional=docstrings.optional_names(signature),
        returns=kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]",
        references=(sys.modules[program.__module__].__doc__ or "").rstrip().rpartition("\n\n")[2],
    )


def _checked(program: Callable[..., Any], facts: Facts) -> Callable[..., Any]:
    """Reject a matrix that the program does not accept."""
    require = check.symmetric if facts.undirected else check.square

    @functools.wraps(program)
    def checked_program(A: Any, *args: Any, **options: Any) -> Any:
        require(options["gb"], A)
        return program(A, *args, **options)

    return checked_program


def on_device_of_matrix(program: Callable[..., Any], arrays: tuple[int, int] = (0, 0)) -> Callable[..., Any]:
    """Create vectors on the device of the matrix, not on the default device, and pass the library `gb`. As a decorator:
    for programs that are not public algorithms."""
    name = program.__name__

    @functools.wraps(program)
    def on_device(A: Any, *args: Any, **options: Any) -> Any:
        if hasattr(A, "matrix") and hasattr(A, "pagerank"):
            raise check.graph_given("A", name)
        gb = options["gb"] = check.library(options.get("gb"), A)
        if hasattr(A, "_run_on_ranks") and (on_ranks := A._run_on_ranks(on_device, args, options)) is not None:
            return on_ranks()  # a distributed matrix, of which each rank has a copy
        if any(arrays) and hasattr(A, "nvals") and hasattr(A, "nrows"):
            n, nvals = A.nrows, A.nvals
            nbytes = arrays[0] * n + arrays[1] * nvals
            check.memory(A, f"{name}: arrays of {n} vertices and {nvals} entries", nbytes)
        device = getattr(A, "device", None)  # None: python-graphblas has no devices
        if device is None or not hasattr(device, "guard"):
            return program(A, *args, **options)
        with device.guard:  # device errors of array code between statements become bitblas exceptions
            if device.name == gb.config.device:
                return program(A, *args, **options)
            with gb.config.set(device=device.name):
                return program(A, *args, **options)

    return on_device


def _on_default_device(program: Callable[..., Any]) -> Callable[..., Any]:
    """For graph generators: device errors of array code become bitblas exceptions."""

    @functools.wraps(program)
    def on_device(*args: Any, **options: Any) -> Any:
        gb = options["gb"] = check.library(options.get("gb"))
        get = getattr(getattr(gb, "device", None), "get", None)
        if get is None:
            return program(*args, **options)
        with get(gb.config.device).guard:
            return program(*args, **options)

    return on_device
