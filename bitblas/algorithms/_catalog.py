"""Catalog of the algorithms, built from their docstrings, and the page docs/algorithms.md."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from typing import NamedTuple

from . import Watch
from ._algorithm import Algorithm

PROSE = """# Algorithms

`bitblas.algorithms` has one file per algorithm or family: a few GraphBLAS statements with their formulas. All run on
CPU and GPU, many as loops that stay on the device ([loops.md](loops.md)), and with `gb=graphblas` unchanged on
python-graphblas. Each is also a method of [`Graph`](graph.md) that takes and returns names. The tests run both and
compare with the references at the [end](#sources-and-tests). This page is generated from the docstrings:
`python -m bitblas.algorithms > docs/algorithms.md`.

```python
import bitblas as gb
from bitblas.algorithms import louvain, modularity, rmat_graph

A = rmat_graph(8)
communities = louvain(A)
print(modularity(A, communities) > 0.1, len(set(communities.to_dense().tolist())) < 256)  # -> True True
```

An undirected graph stores each edge both ways. Algorithms for undirected graphs reject other matrices;
`A.ewise_add(A.T, "max").new()` adds the missing directions. Values are weights if `weighted=True` (default False), or
always if the entry says so. `help(louvain)` prints the input, options, result type and errors.
"""


class Entry(NamedTuple):
    """A public algorithm: name, function, folder, first docstring line, sources, and what it is checked against."""

    name: str
    program: Algorithm
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
    def needs(self) -> str:
        """What `answers` does not say: the graph that it needs, and whether it always reads the values."""
        facts = self.program.facts
        article = "an" if facts.graph[0] in "aeiou" else "a"
        stated = facts.graph == "any" or f"{facts.graph} graph" in self.answers
        graph = "" if stated else f" Needs {article} {facts.graph} graph."
        return graph + (" The values are weights." if facts.weighted else "")

    @property
    def arguments(self) -> str:
        parameters = inspect.signature(self.program).parameters.values()
        parts = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters if p.name != "gb"]
        return f"({', '.join(parts)})"


def _entry(name: str, program: Algorithm) -> Entry:
    module = inspect.getmodule(program)
    parts = [" ".join(part.split("\n")) for part in (inspect.getdoc(module) or "").split("\n\n")]
    lines = (inspect.getdoc(module) or "").split("\n\n")[-1].splitlines()
    check = next((part.removeprefix("Check: ") for part in parts if part.startswith("Check: ")), "")
    if not check:
        raise ValueError(
            f"{program.__module__}: expected a paragraph of its docstring that begins with 'Check: ', got none. "
            "Hint: see the recipe for an algorithm."
        )
    answers = (inspect.getdoc(inspect.unwrap(program)) or "").partition("\n")[0]
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
    """The text of docs/algorithms.md: one list by folder, then the sources by file."""
    text, found = [PROSE], entries()
    for folder, listed in found.items():
        text += [f"## {folder.capitalize()}", "", title(folder), ""]
        text += [f"- [`{each.name}`](../{each.path}): {each.answers}{each.needs}" for each in listed]
        text.append("")
    text += ["## Sources and tests", "", "By file; authors and titles, then what the tests compare with.", ""]
    for listed in found.values():
        for path, each in {each.path: each for each in listed}.items():
            sources = " ".join(f"{source.rstrip('.')}." for source in each.sources)
            text.append(f"- [{each.folder}/{Path(path).stem}](../{path}). {sources} *Tested against* {each.check}.")
    return "\n".join([*text, ""])
