"""`bitblas warm`: run programs so that their kernels are compiled afterwards."""

from __future__ import annotations

import json

import pytest

import bitblas as gb
from bitblas.cli import main
from bitblas.registry import warm

PROGRAM = """
import sys
import bitblas as gb
v = gb.Vector.from_coo([0, 1], [2.0, 3.0], size=2)
print("printed by the program", sys.argv, __name__)
assert v.apply(gb.unary.ainv).new()[0].value == -2 and v.device.name == "cpu"
"""


@pytest.fixture
def few(monkeypatch):
    """One algorithm on the smallest graph, in addition to the files."""
    monkeypatch.setattr(warm, "tasks", lambda files, every=False: [*files, "bfs first"])


def test_all_algorithms_on_all_graphs():
    names = warm.tasks(["a.py"])
    assert names[0] == "a.py" and len(names) == 1 + 9 * len(warm.GRAPHS) and len(set(names)) == len(names)
    assert names[1].endswith(" road"), "the longest first"
    more = warm.tasks(["a.py"], plain=True)
    assert more[0] == "products INT64" and len(more) == 24 + len(names) and more[24:] == names
    all_of = warm.tasks([], every=True)
    assert {"maximum_flow town", "maximum_flow first"} <= set(all_of) and "maximum_flow road" not in all_of
    assert [warm.graph(name).n for name in ("first", "town")] == [6, 1600]


@pytest.mark.parametrize("program", ["bfs first", "triangles town", "others BOOL"])
def test_algorithms_run(program):
    assert warm.run(program)[::2] == (program, "")


def test_algorithms_run_on_graphs_that_were_read_often_too():
    with gb.trace() as trace:
        assert warm.run("triangles town").error == ""
    assert {"formats/csr", "formats/b2sr"} <= {run.kernel.rpartition("/")[0] for run in trace.runs}


def test_programs_run(tmp_path, capsys):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "page.md").write_text(f"# Page\n\n```python\n{PROGRAM}```\n\ntext\n\n```python\nv.nvals\n```\n")
    (tmp_path / "ends.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "bad.py").write_text("1 / 0\n")
    (tmp_path / "exits.py").write_text("import sys; sys.exit('no input')\n")
    errors = {name: warm.run(str(tmp_path / name)).error for name in ("good.py", "page.md", "ends.py")}
    assert set(errors.values()) == {""}, errors
    assert warm.run(str(tmp_path / "bad.py")).error == "ZeroDivisionError: division by zero"
    assert warm.run(str(tmp_path / "exits.py")).error == "SystemExit: no input"
    assert capsys.readouterr() == ("", "")


def test_the_command(tmp_path, capsys, few):
    (tmp_path / "good.py").write_text(PROGRAM)
    assert main(["warm", "-j", "1", str(tmp_path / "good.py")]) == 0
    assert main(["warm", "-j", "1", str(tmp_path / "good.py")]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith("0 kernels compiled in ") and out.endswith("; 2 of 2 programs ran\n")
    assert err == ""


def test_a_program_that_fails(tmp_path, capsys, few):
    (tmp_path / "bad.py").write_text("raise ValueError('no\\ngraph')\n")
    assert main(["warm", "--json", "-j", "2", str(tmp_path / "bad.py"), str(tmp_path / "missing.py")]) == 1
    out, err = capsys.readouterr()
    assert set(json.loads(out)["errors"]) == {str(tmp_path / name) for name in ("bad.py", "missing.py")}
    assert f"bitblas: error: {tmp_path / 'bad.py'}: ValueError: no graph\n" in err
    assert main(["warm", "-j", "0"]) == 2
