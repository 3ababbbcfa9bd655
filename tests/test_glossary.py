"""docs/glossary.md names files that exist, and names that they define, so entries cannot become stale."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| word |")
]
ENTRIES = {row[0]: row for row in ROWS}


def defines(text: str, name: str) -> bool:
    """Whether a text of Python or CUDA C++ has a definition of the name: of a function, class, type, constant, field,
    parameter or attribute."""
    before = rf"^.*\b(?:def|class|struct|void|#define|bool|Ending) {name}\b|^{name}\("
    after = rf"\b{name}\b[^=\n(){{}}]* = |\b{name}: |\b{name}\[\w+\]"
    return re.search(f"{before}|{after}", text, re.MULTILINE) is not None


@pytest.mark.parametrize("word", ENTRIES)
def test_an_entry_names_what_exists(word):
    _, meaning, where = ENTRIES[word]
    assert re.fullmatch(r"\*\*[^*|]+\*\*(, \*\*[^*|]+\*\*)*", word) and len(meaning) > 20
    for part in where.split("; "):
        file, *names = re.findall(r"`([^`]+)`", part)
        text = (ROOT / ("" if file.partition("/")[0] in ("tests", "semirings") else "bitblas") / file).read_text()
        for name in names:
            assert defines(text, name), f"{name} is not defined in {file}"


def test_a_word_has_one_entry():
    words = [word for row in ROWS for word in re.findall(r"\*\*([^*]+)\*\*", row[0])]
    assert len(set(words)) == len(words) == len(set(map(str.lower, words))) and 30 < len(words) <= 45


def test_a_name_that_is_gone_is_noticed():
    text = (ROOT / "bitblas" / "loop" / "buffers.py").read_text()
    assert defines(text, "BUFFERS") and defines(text, "REMAINING") and defines(text, "Frontier")
    for gone in ("TURNS", "Frontiers", "range", "Device"):
        assert not defines(text, gone), gone
    kernel = (ROOT / "bitblas" / "kernels" / "frontier.cuh").read_text()
    assert defines(kernel, "may_run") and defines(kernel, "Stage") and not defines(kernel, "gate")
