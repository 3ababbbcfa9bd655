"""The site's pages of algorithms: for each kind of question what its files say of their programs, the programs as they
are, and a picture of what one of them gives on a small graph.

Pictures are drawn when the site is built; BITBLAS_PICTURES=0 leaves them out.
"""

from __future__ import annotations

import ast
import os
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from bitblas.algorithms import _catalog

ROOT = Path(__file__).parent.parent
# Of each kind the algorithm that is drawn on Zachary's karate club, and what its values are there.
PICTURES = {
    "centrality": ("pagerank", "rank"),
    "cohesion": ("core_numbers", "core number"),
    "communities": ("louvain", "community"),
    "paths": ("bfs_levels", "edges from vertex 0"),
    "sets": ("coloring", "color"),
}


def on_files(files: Files, config: Any) -> Files:
    for folder, entries in _catalog.entries().items():
        text = _page(folder, entries)
        figure = _picture(folder)
        if figure is not None:
            name, program, content = figure
            files.append(File.generated(config, f"algorithms/{name}", content=content))
            text = text.replace("\n\n", f"\n\n![`{program}` on Zachary's karate club]({name})\n\n", 1)
        files.append(File.generated(config, f"algorithms/{folder}.md", content=text))
    return files


def _page(folder: str, entries: list[_catalog.Entry]) -> str:
    parts = [f"# {folder.capitalize()}\n\n{_catalog.title(folder)}"]
    for path in dict.fromkeys(entry.path for entry in entries):
        tree = ast.parse((ROOT / path).read_text())
        title, _, rest = (ast.get_docstring(tree) or "").partition(": ")
        calls = [f"- `{entry.call}`: {entry.answers}" for entry in entries if entry.path == path]
        prose, _, sources = rest.rpartition("\n\n")
        parts.append(f"## {title} {{#{Path(path).stem}}}\n\n{_plain(prose[0].upper() + prose[1:])}")
        parts.append("\n".join(calls))
        parts.append("**References**\n\n" + "\n".join(f"- {_plain(source)}" for source in sources.splitlines()))
        parts.append(f"```python\n{_program((ROOT / path).read_text(), tree)}\n```")
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Words of a docstring, as Markdown leaves them; what a paragraph is about (Method:, Input: ..) stands out."""
    text = re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", text)
    return re.sub(r"(?m)^(Method|State|Input|Check):(?= )", r"**\1:**", text)


def _program(text: str, tree: ast.Module) -> str:
    """A file without its docstrings, which the page has in words, and its imports."""
    lines = text.splitlines()
    for node in ast.walk(tree):
        gone = isinstance(node, (ast.Import, ast.ImportFrom))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            gone = True
        if gone:
            lines[node.lineno - 1 : node.end_lineno] = [None] * (node.end_lineno - node.lineno + 1)
    kept = "\n".join(line for line in lines if line is not None)
    return re.sub(r"\n{4,}", "\n\n\n", kept).strip()


def _picture(folder: str) -> tuple[str, str, bytes] | None:
    """The name of the picture's file, the algorithm that it shows, and the picture."""
    if os.environ.get("BITBLAS_PICTURES") == "0" or folder not in PICTURES:
        return None
    import networkx

    import bitblas as gb

    program, label = PICTURES[folder]
    A = gb.io.from_networkx(networkx.karate_club_graph(), weight=None)
    run = getattr(gb.algorithms, program)
    figure = gb.plots.graph(A, run(A, 0) if folder == "paths" else run(A), title=f"{program}(A)", label=label)
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=80)
    return f"{folder}.png", program, stream.getvalue()
