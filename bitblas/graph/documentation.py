"""Docstrings of Graph's methods: those of the programs on a Matrix, in terms of names and graphs."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import docstrings
from ..docstrings import Failure, Parameter
from .validation import VERTEX, VERTICES

if TYPE_CHECKING:
    from ..algorithms._algorithm import Algorithm

# What a method returns for each kind of answer of a program.
TYPES = {
    "count": "int",
    "number": "float",
    "vertices": "list of vertices",
    **dict.fromkeys(
        (
            "value per vertex",
            "class per vertex",
            "vertex per vertex",
            "representative per vertex",
            "distance per vertex",
            "parent per vertex",
        ),
        "Values",
    ),
    "distances per source": "dict of Values",
    **dict.fromkeys(
        ("value per pair", "value per edge", "flow per edge", "undirected graph", "subgraph", "graph of components"),
        "Graph",
    ),
    "edges per hop": "tuple of Graph",
    "positions": "dict of coordinates",
    "walks": "list of lists of vertices",
    "value per walk": "list",
    "vertex sets": "list of lists of vertices",
}
SAID = {
    "Values": "A mapping from vertices to values",
    "dict of Values": "By source, a mapping from vertices to values",
    "dict of coordinates": "By vertex, its coordinates",
}
# The shapes and types of vectors and matrices, which a Graph does not show.
SHAPE = re.compile(
    r"^(?:a |of |with |size n|full|dtype|BOOL|INT64|FP64|FP32|FP32 or FP64 if A is|else INT64|of A's dtype|"
    r"n x n|k x n[^:;,.]*|k x k[^:;,.]*|n x \w+|len\(starts\) x \(length \+ 1\)|Vector|Matrix|,| )+(?=[:;.,]|$)[:;,]? ?"
)
NAMES = {
    "personalization": ("dict or Values", "numbers by vertex, 0 or more, with a sum above 0: jumps are in proportion "
                        "to them; None: uniform."),
    "labels": ("dict or Values", "the community of each vertex."),
    "pairs": ("list of pairs, or Graph", "the pairs of vertices to compare; None: all that share a neighbour."),
}  # fmt: skip
OF_MATRIX = re.compile(r"A not square|A is not a Matrix|A not symmetric|another size|wrong types")
WORDS = (
    (r"in a BOOL matrix every entry, also False, is an edge of weight 1", "without weights every edge has weight 1"),
    (r"[Ww]hether (the )?values( of A)? \(0 or more\) are weights", "use the weights, 0 or more; else each is 1"),
    (r"these entries of A\b", "these edges"),
    (r"(the )?entries of A\b", "the edges"),
    (r"(the )?values of A\b", "the weights"),
    (r"(, |, of )?FP32 or FP64 if A is, else INT64|(, )?(INT64|FP64|BOOL)(?=,)|(, )?size n, full", ""),
    (r"row s has the (\w+) from sources\[s\]", r"the \1 from it"),
    (r"with a row of vertices for each path", "the vertices of each path"),
    (r"a Vector of their", "their"),
    (r"tuple of Matrix, n x n, of the dtype of A, one per hop", "a graph for each hop"),
    (r", and a Matrix, n x n: the", "; then the"),
    (r"and a Vector: component numbers", "and component numbers"),
    (r"UINT64 \(if A is\) or FP64 \(floats\): ", ""),
    (r"\bA's\b", "the graph's"),
    (r"\bof A'", "of the transposed adjacency matrix"),
    (r"(?<![\w`(])A(?= (has|not|is|minus|without)\b|[,;.:]|$)", "the graph"),
    (r"\bno entry\b", "none"),
    (r"\bno rows\b", "empty"),
    (r"([Tt]he|its) smallest vertex number", r"\1 first vertex"),
)
DIRECTIONS = (
    "For undirected graphs: edge directions of a directed one are ignored, as in `to_undirected()`, with a warning."
)


def of_method(program: Algorithm) -> str:
    """The docstring of a program as a method of Graph."""
    plain = inspect.unwrap(program)
    signature = inspect.signature(plain)
    parts = docstrings.split(plain.__doc__ or "", signature.parameters)
    kinds = [TYPES[kind] for kind in program.facts.answer]
    kind = kinds[0] if len(kinds) == 1 else f"tuple of {', '.join(kinds)}"
    prose = [_graph(paragraph) for paragraph in parts.prose]
    if program.facts.undirected:
        prose.append(DIRECTIONS)
    if any(p.name == "weighted" for p in signature.parameters.values()):
        prose.append('`by("km")` is the graph with another attribute as weight.')
    made = parts._replace(
        prose=prose,
        parameters=[_parameter(p) for p in parts.parameters if p.names not in ("A", "gb")],
        returns=_returns(kind, parts.returns),
        raises=_failures(parts.raises),
    )
    return docstrings.rendered(
        made,
        signature.parameters,
        optional=docstrings.optional_names(signature),
        returns=kind,
        references=(sys.modules[program.__module__].__doc__ or "").rstrip().rpartition("\n\n")[2],
    )


def _graph(text: str) -> str:
    """Words about the matrix A as words about the graph."""
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    return text


def _parameter(given: Parameter) -> Parameter:
    names = [name for name in given.names.split(", ") if name != "gb"]
    if names[0] in NAMES and len(names) == 1:
        return Parameter(names[0], *NAMES[names[0]])
    text = _graph(given.text)
    if {*names} <= {*VERTEX, *VERTICES}:
        several = {*names} & {*VERTICES}
        text = re.sub(r"^(int, )?(two different vertices|0 <= [\w, ]+ < n)(, |: )?", "", text)
        text = re.sub(r"^(a vertex, or several|vertices)(: |, |; )?", "", text)
        kind = "vertices" if several and given.kind != "int" else "vertex"
        return Parameter(", ".join(names), kind, f"by name{f'; {text}' if text.strip('.') else '.'}")
    return Parameter(", ".join(names), given.kind, text)


def _returns(kind: str, text: str) -> str:
    """The description of a result without shapes and types."""
    if kind.startswith("tuple of "):
        text = re.sub(
            r"^(an? |the )?(Python int or float|list of Python ints|Python float|Python int)s?, and ", "", text
        )
        text = re.sub(r"^(an? |two |the )?(Python ints?|Vectors?|Matrix|Python float)( or float)?\b", "", text)
    text = re.sub(r"^(an? |two |the )?(Python (int or float|ints?|float)|list of Python ints)", "", text)
    left = SHAPE.sub("", re.sub(r"^(an?|two|the) ", "", text)).strip(" ,.;:")
    said = SAID.get(kind, "")
    return _graph(f"{said}: {left}" if said and left else said or left or kind)


def _failures(failures: Iterable[Failure]) -> list[Failure]:
    """The errors of a method, each once, without reasons that a Graph does not have."""
    found: dict[str, list[str]] = {}
    for error, text in failures:
        if error == "IndexOutOfBound":
            error, text = "InvalidValue", "a vertex that the graph does not have"
        parts = re.split(r"([,;] (?:or )?)(?![^(]*\))", text) if OF_MATRIX.search(text) else [text]
        kept = [k for k in range(0, len(parts), 2) if parts[k] and not OF_MATRIX.search(parts[k])]
        reason = "".join(parts[k] if k == kept[0] else parts[k - 1] + parts[k] for k in kept)
        if reason:
            found.setdefault(error, []).append(_graph(reason))
    return [Failure(error, "; ".join(reasons)) for error, reasons in found.items()]
