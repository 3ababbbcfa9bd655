"""What the site has in addition to the pages of docs/: the README as its first page, the changelog, the examples, the
notebooks with the outputs that they store, the benchmarks' page.

Links are written for a reader of the repository, relative to their file; here they become the site's.
"""

from __future__ import annotations

import ast
import base64
import html
import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
TAKEN = {"docs/README.md": "index.md", "README.md": "index.md", "examples/": "examples/index.md"}
TAKEN |= {"CHANGELOG.md": "changelog.md"}
TAKEN |= {"benchmarks/README.md": "benchmarks.md", "benchmarks/": "benchmarks.md"}


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made: the README, a page of all examples, the benchmarks'."""
    made = {
        "index.md": _cards(_pictured((ROOT / "README.md").read_text())),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(),
        "benchmarks.md": (ROOT / "benchmarks" / "README.md").read_text(),
        "examples/index.md": _examples(),
    }
    origin = {"index.md": "", "changelog.md": "", "benchmarks.md": "benchmarks/", "examples/index.md": "examples/"}
    for page, text in made.items():
        files.append(File.generated(config, page, content=_linked(text, origin[page], page)))
    for path in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        text, pictures = _notebook(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links of a page of docs/ that leave docs/."""
    if page.file.src_uri == "index.md":
        page.meta["title"] = "Fast graph analytics in Python"
    return (
        markdown
        if page.file.generated_by
        else _linked(markdown, f"docs/{Path(page.file.src_uri).parent}/", page.file.src_uri)
    )


def _pictured(text: str) -> str:
    """The README's picture of two schemes as the theme has it."""
    light = re.compile(r'<picture>.*?<img width="(\d+)" alt="([^"]*)" src="docs/(\S+)-light\.svg">\s*</picture>', re.S)
    both = r"![\2](\3-light.svg#only-light){width=\1}![](\3-dark.svg#only-dark){width=\1}"
    return light.sub(both, text)


def _cards(text: str) -> str:
    """The README's list of entries as cards."""
    return re.sub(
        r"(?<=\n## Where to begin\n\n)(.*?)(?=\n\n## )",
        r'<div class="grid cards" markdown>\n\n\1\n\n</div>',
        text,
        flags=re.S,
    )


def _notebook(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as a page, and its pictures by their names."""
    notebook = json.loads(path.read_text())
    parts, pictures = [], {}
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(re.sub(r"\((\w+)\.ipynb\)", r"(\1.md)", text))
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures)}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![What the cell above draws]({name})")
            elif "text/html" in data:
                parts.append(_output("".join(data["text/html"])))
            else:
                said = "".join(data.get("text/plain", output.get("text", ())))
                parts.append(_output(f"<pre>{html.escape(said.rstrip())}</pre>"))
    source = f"This page is the notebook `examples/notebooks/{path.name}` with the outputs that it stores."
    return f"---\ntitle: {json.dumps(notebook['metadata']['title'])}\n---\n\n" + "\n\n".join(
        [*parts, f"---\n\n{source}"]
    ) + "\n", pictures


def _output(text: str) -> str:
    """What a cell gave, as Markdown leaves it alone: no line of it is empty."""
    return '<div class="output" style="overflow-x: auto">' + re.sub(r"\n(?=\n)", "\n&nbsp;", text) + "</div>"


def _examples() -> str:
    """All examples on one page: what each says of itself, and its text."""
    parts = ["# Examples\n\nWhole programs to start from. They run as part of the tests."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text()
        said = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("[", "\\[")  # no links
        parts.append(f"## {path.name}\n\n{said}\n\n```python\n{text}```")
    return "\n\n".join(parts) + "\n"


def _linked(text: str, folder: str, page: str) -> str:
    """The text with its links, relative to the repository's `folder`, as links from `page` of the site."""
    up = "../" * page.count("/")

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or not target:
            return found[0]
        path = _normal(folder + target)
        if words.endswith(".md") and (ROOT / path).is_file():  # a page is called by its title
            words = (ROOT / path).read_text().partition("\n")[0].removeprefix("# ")
        if path in TAKEN:
            return f"[{words}]({up}{TAKEN[path]}{anchor})"
        if path.startswith("examples/notebooks/"):
            return f"[{words}]({up}notebooks/{Path(path).stem}.md)"
        if path.startswith("examples/"):
            return f"[{words}]({up}examples/index.md#{path.removeprefix('examples/').replace('.', '')})"
        if path.startswith("bitblas/algorithms/"):
            kind, name = Path(path).parts[-2:]
            return f"[{words}]({up}algorithms/{kind}.md#{Path(name).stem})"
        if path.startswith("docs/"):
            return f"[{words}]({up}{path.removeprefix('docs/')}{anchor})"
        return f"{words} (`{path}`)" if words != path else f"`{path}`"  # a file that the site does not have: its name

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)", link, text)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
