"""The reference of Graph's methods that are algorithms: they are made when they are used, so no source has them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from bitblas.algorithms import _catalog
from bitblas.graph import Graph, documentation, methods

PAGE = "reference/graph.md"
BOOST = {"start.md": 6, "graph.md": 4, "cli.md": 4, "tour.md": 2, "networkx.md": 2, "coming.md": 2}


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Adds the methods to their page, and says what a search finds first."""
    if (boost := BOOST.get(page.file.src_uri)) is not None:
        page.meta["search"] = {"boost": boost}
    elif page.file.src_uri.startswith(("reference/", "algorithms/", "notebooks/")):
        page.meta["search"] = {"boost": 0.5}
    return markdown.replace("<!-- algorithms -->", _methods()) if page.file.src_uri == PAGE else markdown


def _methods() -> str:
    parts = ["## Algorithms as methods of Graph\n"]
    known = methods.programs()
    for folder, entries in _catalog.entries().items():
        listed = [entry.name for entry in entries if entry.name in known]
        if listed:
            parts.append(f"### {folder.capitalize()}\n")
            parts += [_method(name, folder) for name in listed]
    return "\n".join(parts)


def _method(name: str, folder: str) -> str:
    found = getattr(Graph, name)
    signature = inspect.signature(found)
    own = [p for p in signature.parameters.values() if p.name not in ("self", "gb")]
    call = str(signature.replace(parameters=own, return_annotation=inspect.Signature.empty)).replace("(*, )", "()")
    call = re.sub(r"(, )?\*\)$", ")", call)
    also = " Also `bfs`." if name == "bfs_levels" else ""
    text = documentation.of_method(methods.programs()[name]).partition("\n\nReferences\n")[0]
    anchor = f"#### `{name}` {{#bitblas.graph.Graph.{name} .doc-method}}"
    module = methods.programs()[name].__module__.rpartition(".")[2]
    more = f"[Method, program and references](../algorithms/{folder}.md#{module}).{also}"
    return f"{anchor}\n\n```python\n{name}{call}\n```\n\n{_markdown(text)}\n\n{more}\n"


def _markdown(text: str) -> str:
    """A docstring with sections as Markdown: bold heads and lists."""
    parts = []
    for block in re.split(r"\n\n(?=\w+\n-{4,}\n)", text):
        head = re.match(r"(\w+)\n-{4,}\n", block)
        if head is None:
            parts.append(block)
        elif head[1] == "Notes":
            parts.append(block[head.end() :])
        else:
            parts.append(f"**{head[1]}:**\n\n{_items(block[head.end() :])}")
    return "\n\n".join(parts)


def _items(block: str) -> str:
    lines: list[str] = []
    for line in block.splitlines():
        if line.startswith("    "):
            lines[-1] += ("" if lines[-1].endswith(":") else " ") + " " + line.strip()
        else:
            name, _, kind = line.partition(" : ")
            lines.append(f"- **{name}**{f' (`{kind}`)' if kind else ''}:")
    return "\n".join(re.sub(r"  +", " ", line) for line in lines)
