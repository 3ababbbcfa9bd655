"""The Python code of README.md runs, in order, as one program, and prints what its comments say.

A comment `# -> text` after a statement that prints is compared with what it printed.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, capsys, tmp_path, monkeypatch):
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
    assert PAGES[0].exists()
    assert "```python" in PAGES[0].read_text()
