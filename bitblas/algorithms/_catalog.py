"""Catalog of the algorithms, built from their docstrings, and the page docs/algorithms.md."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from . import Watch

PROSE = """# Algorithms

`bitblas.algorithms` has a folder for each kind of question, a file for each algorithm, and in it a program of a few
GraphBLAS statements with its formulas: a name leads to it. All run on the CPU and on a GPU, many as loops that stay
there ([loops.md](loops.md)), and, given `gb=graphblas`, as they are on python-graphblas: the tests do, and compare with
what the last column says. This page is made from their docstrings: `python -m bitblas.algorithms > docs/algorithms.md`.

```python
import bitblas as gb
from bitblas.algorithms import louvain, modularity, rmat_graph

A = rmat_graph(8)
communities = louvain(A)
print(modularity(A, communities) > 0.1, len(set(communities.to_dense().tolist())) < 256)  # -> True True
```

An undirected graph has each edge both ways; algorithms that need one refuse a matrix with an edge in one direction only
(`A.ewise_add(A.T, "max").new()` has both). Weights count where an option `weighted` is True, False by default, and
without such an option in shortest paths, spanning forests and flows. What an algorithm needs beyond a square matrix,
its options, its errors and the type of its result stand in its docstring: `help(louvain)`.
"""


class Entry(NamedTuple):
    """A public algorithm: name, function, folder, first docstring line, sources, and what it is checked against."""

    name: str
    program: Callable[..., Any]
    folder: str
    answers: str
    sources: tuple[str, ...]
    check: str

    @property
    def path(self) -> str:
        """Its file in the repository."""
        return self.program.__module__.replace(".", "/") + ".py"

    @property
    def call(self) -> str:
        """The call with its required arguments, and options with their defaults."""
        return f"{self.name}{self.arguments}"

    @property
    def arguments(self) -> str:
        parameters = inspect.signature(self.program).parameters.values()
        given = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters if p.name != "gb"]
        return f"({', '.join(given)})"


def _entry(name: str, program: Callable[..., Any]) -> Entry:
    module = inspect.getmodule(program)
    parts = [" ".join(part.split("\n")) for part in (inspect.getdoc(module) or "").split("\n\n")]
    lines = (inspect.getdoc(module) or "").split("\n\n")[-1].splitlines()
    check = next(part.removeprefix("Check: ") for part in parts if part.startswith("Check: "))
    answers = (inspect.getdoc(program) or "").partition("\n")[0]
    return Entry(name, program, program.__module__.split(".")[-2], answers, tuple(lines), check.rstrip("."))


def entries() -> dict[str, list[Entry]]:
    """The algorithms by folder, in import order of `bitblas.algorithms`."""
    package = sys.modules[Watch.__module__.rpartition(".")[0]]
    found: dict[str, list[Entry]] = {}
    for name, program in vars(package).items():
        if name in package.__all__:
            entry = _entry(name, program)
            found.setdefault(entry.folder, []).append(entry)
    return found


def title(folder: str) -> str:
    """The first line of a folder."""
    return inspect.getdoc(importlib.import_module(f"{__package__}.{folder}")) or ""


def page() -> str:
    """The text of docs/algorithms.md."""
    text = [PROSE]
    for folder, listed in entries().items():
        text += [
            f"## {folder}",
            "",
            title(folder),
            "",
            "| call | gives | from | checked against |",
            "|---|---|---|---|",
        ]
        for entry in listed:
            call = f"[`{entry.name}`](../{entry.path})<br>`{entry.arguments}`"
            cells = (call, entry.answers, " ".join(entry.sources), entry.check)
            text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        text.append("")
    return "\n".join(text)
