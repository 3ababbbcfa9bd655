"""Generate the .pyi type stubs of the algorithms, as functions and as methods of Graph.

`python -m bitblas.graph.stubs` writes the two files. Signatures are those of the programs; return types are read from
the line "Returns .." of their docstrings.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import methods

HERE = Path(__file__).parent
FILES = {"algorithms": HERE.parent / "algorithms" / "__init__.pyi", "methods": HERE / "typed.pyi"}
HEAD = "# Made by python -m bitblas.graph.stubs.\n"
# Beginnings of "Returns ..", the longer ones first, and the types that are meant.
RETURNS = {
    "two Python ints": ["int", "int"], "two Vectors": ["Vector", "Vector"], "a tuple of Matrix": ["tuple[Matrix, ...]"],
    "a Python int or float": ["float"], "a Python int": ["int"], "a Python float": ["float"],
    "a list of Python ints": ["list[int]"], "a Vector": ["Vector"], "a Matrix": ["Matrix"],
}  # fmt: skip
LINE = 120


def returns(program: Callable[..., Any]) -> list[str]:
    """The types of what a program gives, one for each part."""
    said = re.search(r"^Returns? (.*?)(?:[:;.]|\Z)", inspect.getdoc(program) or "", re.M | re.S)
    text = " ".join(said[1].split()) if said else ""
    parts: list[str] = []
    for part in re.split(r", and |(?<=cycles), and ", text):
        found = next((types for words, types in RETURNS.items() if part.startswith(words)), None)
        if found is None:
            raise ValueError(f"{program.__name__}: expected 'Returns {' | '.join(RETURNS)} ..', got {text!r}")
        parts += found
    return parts


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"


def parameters(program: Callable[..., Any], **instead: str | None) -> list[str]:
    """Those of a program with types, which their defaults say; `instead`: others, by name, None for none."""
    found = []
    for name, p in inspect.signature(program).parameters.items():
        if p.kind is p.KEYWORD_ONLY and "*" not in found:
            found.append("*")
        kind = type(p.default).__name__ if p.default not in (p.empty, None) else "Any"
        text = f"{name}: {kind}" + ("" if p.default is p.empty else f" = {p.default!r}")
        if (said := instead.get(name, text)) is not None:
            found.append(said)
    return found if found[-1:] != ["*"] else found[:-1]


def _function(name: str, given: list[str], gives: str, indent: str = "") -> list[str]:
    line = f"{indent}def {name}({', '.join(given)}) -> {gives}: ..."
    if len(line) <= LINE:
        return [line]
    inside = f"{indent}    {', '.join(given)}"
    several = [inside] if len(inside) < LINE else [f"{indent}    {one}," for one in given]
    return [f"{indent}def {name}(", *several, f"{indent}) -> {gives}: ..."]


def of_algorithms() -> str:
    """The functions of bitblas.algorithms: objects of bitblas; of another library, `gb`, whatever it has."""
    from .. import algorithms

    lines = ["from typing import Any, overload", "", "from ..core import Matrix, Vector"]
    lines += ["from ._watch import Watch as Watch", "", "__all__: list[str]", ""]
    for name in sorted(algorithms.__all__):
        program = getattr(algorithms, name)
        if isinstance(program, type):
            continue
        lines += ["@overload", *_function(name, parameters(program, gb="gb: None = None"), _joined(returns(program)))]
        lines += ["@overload", *_function(name, parameters(program, gb="gb: Any"), "Any")]
    return HEAD + "\n".join(lines) + "\n"


def _named(name: str, kind: str) -> str:
    """What `methods.named` makes of it."""
    if kind == "list[int]":
        return "list[Any]"
    if "Matrix" not in kind:
        return kind.replace("Vector", "Values")
    if name.endswith("_layout"):
        return "dict[Any, tuple[float, ...]]"
    if name in methods.A_ROW_EACH:
        return "dict[Any, Values]"
    rows = name in methods.GIVE_VERTICES or name == "color_classes"
    return "list[list[Any]]" if rows else kind.replace("Matrix", "Graph")


def of_methods() -> str:
    """A class with the methods that Graph has by `__getattr__`."""
    lines = [
        "from typing import Any",
        "",
        "from .answers import Values",
        "from .graph import Graph",
        "",
        "class Methods:",
    ]
    known = {**methods.programs(), **{short: methods.programs()[long] for short, long in methods.SHORT.items()}}
    for name, program in sorted(known.items()):
        long = methods.SHORT.get(name, name)
        gives = _joined([_named(long, kind) for kind in returns(program)])
        lines += _function(name, ["self", *parameters(program, A=None, gb=None)], gives, "    ")
    return HEAD + "\n".join(lines) + "\n"


def made() -> dict[Path, str]:
    """The files, with their texts."""
    return {FILES["algorithms"]: of_algorithms(), FILES["methods"]: of_methods()}


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text)
