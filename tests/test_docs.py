"""The pages are true: their Python runs, in order, as one program a page, and prints what its comments say; their
commands are commands; their links lead somewhere.

A comment `# -> text` is compared with what its block printed, line by line.
"""

import re
import shlex
from pathlib import Path

import nx_backend
import pytest

from bitblas.cli.parser import parser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, capsys, tmp_path, monkeypatch):
    if page.name == "networkx.md":
        pytest.importorskip("networkx")
        nx_backend.register()
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
        expected = re.findall(r"# -> (.*)$", block, re.MULTILINE)
        printed = capsys.readouterr().out.splitlines()
        if expected:
            assert printed == expected


def test_pages_are_there():
    assert {"README.md", "tour.md", "formats.md", "recipes.md", "architecture.md"} <= {page.name for page in PAGES}
    for name in ("README.md", "docs/tour.md", "docs/formats.md", "docs/recipes.md"):
        assert "```python" in (ROOT / name).read_text()


COMMANDS = sorted(
    {
        line.partition("#")[0].strip()
        for page in PAGES
        for line in page.read_text().splitlines()
        if re.match(r"    bitblas [a-z]+", line)
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command):
    assert parser().parse_args(shlex.split(command)[1:]).run


LINKS = [
    (page, link)
    for page in PAGES
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    if "://" not in link
]


@pytest.mark.parametrize("page, link", LINKS, ids=lambda part: part if isinstance(part, str) else part.name)
def test_links(page, link):
    assert (page.parent / link).exists()


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if page.name != "README.md" and f"({page.name})" not in index] == []
