"""docs/algorithms.md is what the docstrings say, and these say what the page needs."""

from pathlib import Path

import pytest

from bitblas import algorithms
from bitblas.algorithms import _catalog

PAGE = Path(__file__).parents[1] / "docs" / "algorithms.md"
ENTRIES = [entry for listed in _catalog.entries().values() for entry in listed]


def test_the_page_is_what_the_docstrings_say():
    assert PAGE.read_text() == _catalog.page(), "python -m bitblas.algorithms > docs/algorithms.md"


def test_every_algorithm_is_listed_once():
    assert sorted(entry.name for entry in ENTRIES) == sorted(algorithms.__all__)
    folders = {path.parent.name for path in Path(algorithms.__file__).parent.glob("*/[a-z]*.py")}
    assert {entry.folder for entry in ENTRIES} == folders == set(_catalog.entries())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_says_all(entry):
    assert entry.answers.endswith(".") and entry.answers[0].isupper() and len(entry.answers) > 15
    assert entry.check and entry.sources
    for source in entry.sources:  # authors: title. place year
        assert ": " in source and any(
            year.isdigit() and len(year) == 4
            for year in source.replace("-", " ")
            .replace("(", " ")
            .replace(")", " ")
            .replace(".", " ")
            .replace(",", " ")
            .split()
        ), source
