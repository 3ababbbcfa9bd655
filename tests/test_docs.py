"""The pages are right: the Python of a page runs as one program and prints what its comments show; commands exist;
links resolve.

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
def test_page(page, capsys, tmp_path, monkeypatch, tune):
    tune({"loop.tier_up_seconds": 1e-9})  # pages print captured loops: however fast their first rounds are
    if page.name == "networkx.md":
        pytest.importorskip("networkx")
        nx_backend.register()
    if page.name == "torch.md":
        pytest.importorskip("torch")
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)
        expected = re.findall(r"# -> (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == expected or not expected


# What the left columns of tables of two columns call their objects.
LEFT = {
    "NetworkX": "import networkx as nx",
    "python-graphblas": "import graphblas; M = graphblas.Matrix.from_coo(rows, cols, hours, nrows=n, ncols=n); "
    "V = graphblas.Vector.from_coo([0], [1.0], size=n); W = graphblas.Vector(float, n)",
    "SciPy": "from scipy.sparse import csr_array; from scipy.sparse.csgraph import *",
    "cuGraph": None,  # needs a GPU
}


@pytest.mark.slow
@pytest.mark.parametrize("library", LEFT)
def test_two_columns_run(library):
    """Both columns of the table, each in its own namespace, after the first block of the page."""
    page = (ROOT / "docs" / "coming.md").read_text()
    table = re.search(rf"^\| {library} \| bitblas \|\n\|.*\n((?:\|.*\n)+)", page, re.M)[1]
    rows = re.findall(r"^\| `(.*)` \| `(.*)` \|$", table, re.M)
    assert len(rows) == table.count("\n") > 10
    setup = re.search(r"^```python\n(.*?)^```", page, re.M | re.S)[1]
    for module in ("pandas", {"NetworkX": "networkx", "python-graphblas": "graphblas"}.get(library, "scipy")):
        pytest.importorskip(module)
    names = [{}, {}]
    for space in names:
        exec(setup, space)
    exec(LEFT[library] or "", names[0])
    alike = 0
    for row in rows:
        found = [None, None]
        for k, (code, space) in enumerate(zip(row, names, strict=True)):
            if k or LEFT[library] is not None:
                try:
                    found[k] = eval(compile(code, code, "eval"), space)
                except SyntaxError:  # a statement
                    exec(compile(code, code, "exec"), space)
        if library != "NetworkX" or not isinstance(found[0], (dict, list, int, float)):
            continue
        if "neighbors" in row[0]:  # in any order
            found = list(map(sorted, found))
        if type(found[0]) is type(found[1]):
            alike += 1
            assert found[1] == (
                pytest.approx(found[0], rel=1e-4) if isinstance(found[0], (dict, float)) else found[0]
            ), row
    assert alike >= 10 or library != "NetworkX"


def test_pages_are_there():
    assert {"README.md", "tour.md", "formats.md", "recipes.md", "architecture.md"} <= {page.name for page in PAGES}
    for name in ("README.md", "docs/tour.md", "docs/formats.md", "docs/recipes.md"):
        assert "```python" in (ROOT / name).read_text()


TEXT = "\n".join(page.read_text() for page in PAGES)
COMMANDS = sorted({line.partition("#")[0].strip() for line in re.findall(r"^    bitblas [a-z]+.*", TEXT, re.M)})


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command):
    assert parser().parse_args(shlex.split(command)[1:]).run


LINKS = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())]
LINKS = [(page, link) for page, link in LINKS if "://" not in link]


@pytest.mark.parametrize("page, link", LINKS, ids=lambda part: part if isinstance(part, str) else part.name)
def test_links(page, link):
    assert (page.parent / link).exists()


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if page.name != "README.md" and f"({page.name})" not in index] == []
