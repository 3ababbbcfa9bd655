"""The tuning table: every row is read, every name that is read has a row, and a changed row changes the next plan."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

import bitblas as gb
from bitblas import tuning

ROOT = Path(__file__).parents[1]
READ = re.compile(r'\btuning\.(?:value|count)\(\s*f?"([^"]+)"')
# Names as patterns: an expression in braces matches any part of a name.
NAMES = sorted(
    {
        re.sub(r"\{[^}]*\}", "*", name)
        for folder in ("bitblas", "semirings")
        for file in (ROOT / folder).rglob("*.py")
        if file.name != "tuning.py"
        for name in READ.findall(file.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_is_read_has_a_row(name):
    assert any(fnmatchcase(row, name) for row in tuning.TABLE)


@pytest.mark.parametrize("name", sorted(tuning.TABLE))
def test_every_row_is_read_and_explained(name):
    assert any(fnmatchcase(name, pattern) for pattern in NAMES), "no module reads this row"
    row = tuning.TABLE[name]
    assert row.unit and row.reason and row.measured
    assert row.reason.endswith(".")
    assert not row.measured.endswith(".")
    assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", name)


def test_override_restores_rows_and_versions():
    name = next(iter(tuning.TABLE))
    row, version = tuning.TABLE[name], tuning.version()
    cleared = []
    tuning.on_change(lambda: cleared.append(tuning.value(name)))
    with pytest.raises(ZeroDivisionError), tuning.override({name: 12345}):
        assert tuning.count(name) == tuning.value(name) == 12345
        inside = tuning.version()
        with tuning.override({name: 1}):
            assert tuning.version() not in (version, inside)
        assert (tuning.value(name), tuning.version()) == (12345, inside)
        _ = 1 / 0
    assert tuning.TABLE[name] is row
    assert tuning.version() == version
    assert cleared == [12345, 1, 12345, row.value]


@pytest.mark.parametrize("form", ["csr", "b2sr"])
def test_a_changed_row_changes_the_next_of_two_equal_statements(device, tune, form):
    """The plan, what runs, and not the answer; afterwards the first plan again."""
    n = 3000
    A = gb.Matrix.from_coo(np.arange(n), (np.arange(n) * 7) % n, True, nrows=n, ncols=n, format=form)
    u = gb.Vector.from_coo(np.arange(0, n, 10 if device == "cpu" else 100), 1, size=n)

    def run():
        with gb.trace() as ran:
            w = u.vxm(A, gb.semiring.min_second).new()
        (how,) = {str(line.plan) for line in ran if line.kernel.endswith(("push", "pull", "lanes"))}
        assert how == str(gb.explain(u.vxm(A, gb.semiring.min_second)))
        return how, w

    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0, "push_cost.cpu": 1.0, "push_cost.gpu": 1.0})
    first, w = run()
    with tuning.override({"push_cost.cpu": 1e9, "push_cost.gpu": 1e9}):
        second, same = run()
        assert (": push on" in first, ": pull on" in second) == (True, True)
        assert same.isequal(w)
    assert run()[0] == first


def test_unknown_rows_change_nothing():
    before, version = dict(tuning.TABLE), tuning.version()
    with pytest.raises(KeyError, match="no_such"), tuning.override({next(iter(before)): 7, "no_such.row": 1}):
        pass
    assert tuning.TABLE == before and tuning.version() == version


def test_the_table_is_printed():
    text = tuning.table()
    for name, row in tuning.TABLE.items():
        assert f"{name} = {row.value:,} {row.unit}\n    {row.reason}\n    measured: {row.measured}\n" in text + "\n"
