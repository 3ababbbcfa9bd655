"""`python -m benchmarks.papers`: answers are checked, CGR's kernels run with other constants; and the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bitblas as gb
from benchmarks import evaluations, papers
from bitblas.formats.cgr.layout import Cgr

SMALL = ["--samples", "1", "--jobs", "0", "--pairs", "64", "--graphs", "grid2d_9,rmat6"]


def measured(tmp_path, *options, code=0):
    path = tmp_path / "papers.json"
    assert papers.main([*SMALL, *options, "--json", str(path)]) == code
    return json.loads(path.read_text())


def test_the_page_is_what_the_stored_runs_give():
    assert evaluations.page(evaluations.read()) == evaluations.PAGE.read_text(), "python -m benchmarks.papers --page"


def test_products_are_checked_and_shown(tmp_path, on_the_cpu):
    (tmp_path / "cycle.mtx").write_text(
        "%%MatrixMarket matrix coordinate pattern general\n2000 2000 2000\n"
        + "".join(f"{i + 1} {(i + 1) % 2000 + 1}\n" for i in range(2000))
    )
    made = measured(tmp_path, "--device", "cpu", "--folder", str(tmp_path), "--parts", "bmv,bmm,limits")
    rows = made["rows"]
    assert [r["graph"] for r in rows if r["part"] == "bmv"] == ["grid2d_9", "rmat6", "cycle"]
    assert all(r["right"] for r in rows) and made["equal"] and set(made["seconds"]) == {"bmv", "bmm", "limits"}
    squares = [r for r in rows if r["part"] == "bmm"]
    assert [r["products"] for r in squares] == [1052, 16256, 8000]
    assert squares[0]["triangles"] == 0 and squares[1]["triangles"] == 6660
    tiles = [r for r in rows if r["part"] == "limits"]
    assert {r["tile"] for r in tiles} == {4, 8, 16, 32}
    assert all(0.2 < r["measure"] < 300 for r in tiles)
    page = evaluations.page([made])
    assert "| cycle | " in page and "lose least: presence" in page and page.endswith("None.\n")


def test_wrong_answers_and_errors_are_rows(tmp_path, on_the_cpu, monkeypatch):
    right = papers.prepare

    def wrong(name):
        case = right(name)
        return case._replace(sums=case.sums + (np.arange(len(case.sums)) == 3)) if name == "rmat6" else case

    monkeypatch.setattr(papers, "prepare", wrong)
    monkeypatch.setattr(papers, "bmm", lambda run, case: 1 / 0)
    made = measured(tmp_path, "--device", "cpu", "--parts", "bmv,bmm", code=1)
    assert [(r["part"], r["right"]) for r in made["rows"]] == [
        ("bmv", True), ("bmv", False), ("bmm", False), ("bmm", False),
    ]  # fmt: skip
    page = evaluations.page([made])
    assert "- bmv, rmat6: wrong answer" in page and "- bmm, grid2d_9: ZeroDivisionError" in page
    later = made | {"time": "2999", "rows": [row for row in made["rows"] if row["right"]]}
    page = evaluations.page([later, made])  # of each part the latest run
    assert "rmat6: wrong answer" not in page and "ZeroDivisionError" in page and page.count("| grid2d_9 |") == 1


def test_only_known_parts(capsys):
    with pytest.raises(SystemExit):
        papers.main(["--parts", "all"])
    assert "known: bmv, bmm" in capsys.readouterr().err


@pytest.mark.parametrize(
    "constants",
    [{"ZETA": 2}, {"ZETA": 5}, {"SEGMENT": 64, "LEAST": 2}, {"SEGMENT": papers.NEVER, "TWO_PHASES": 1}],
    ids=str,
)
def test_other_constants_of_cgr(emulator, constants, tune):
    """Long rows, intervals and far columns: other bits than the shipped code's, with the same entries and sums."""
    tune({"coded.binned_from": 1, "csr.uneven": 1})
    device = gb.device.get("emulator")
    rng, n = np.random.default_rng(0), 3000
    rows = np.r_[np.zeros(700, int), rng.integers(0, n, 900), np.repeat(np.arange(9, 40), 6)]
    cols = np.r_[rng.permutation(n)[:700], rng.integers(0, n, 900), np.tile(np.arange(1000, 1006), 31)]
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, device=device, format="csr")
    u = gb.Vector.from_dense(np.arange(n, dtype=np.float32) % 7, device=device)
    plain = Cgr.from_csr(A._store.structure.primary, None, False)[0]
    with papers.compiled_with(device, constants):
        C = papers.calibrate.in_form(A, "cgr")
        layout = C._store.structure.primary
        assert len(layout.words) != len(plain.words)
        assert C.mxv(u, papers.SUM).new().isequal(A.mxv(u, papers.SUM).new())
        assert u.vxm(C, papers.PRESENCE).new().isequal(u.vxm(A, papers.PRESENCE).new())
        assert np.array_equal(layout.to_csr(False)[0].col, A._store.structure.primary.col)
    assert len(Cgr.from_csr(A._store.structure.primary, None, False)[0].words) == len(plain.words)


def test_schedules_give_the_same_answers(emulator, tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "SETTINGS", papers.SETTINGS[:2])
    made = measured(tmp_path, "--device", "emulator", "--coded", "web_n6", "--parts", "schedules")
    assert [row["setting"] for row in made["rows"]] == ["as shipped", *(s.name for s in papers.SETTINGS)]
    assert all(row["right"] for row in made["rows"])
    assert "Figure 9" in evaluations.page([made])
