"""The benchmark of the planner's choices, on graphs of a few vertices; times are not checked."""

from __future__ import annotations

import json

import pytest

from benchmarks import choices, judge
from bitblas.calibrate import Sample
from bitblas.plan import cost_model
from bitblas.plan.facts import Facts


def test_choices_are_measured_checked_and_fitted(tmp_path, capsys, monkeypatch):
    """A graph and a rectangular file in two forms; then the constants are fitted to the measurements."""
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr8")))
    monkeypatch.setattr(choices, "SAMPLE_US", 1.0)
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n")
    out, made = tmp_path / "out.json", tmp_path / "costs.json"
    options = ["--jobs", "0", "--samples", "1", "--folder", str(tmp_path), "--least", "1"]
    assert choices.main([*options, "--graphs", "grid2d_9", "--json", str(out)]) == 0
    text, data = capsys.readouterr().out, json.loads(out.read_text())
    grid, wide = data["samples"]
    assert grid["levels"] == 15 and wide["levels"] is None and grid["wrong"] == wide["wrong"] == []
    assert {name.split()[1] for name in wide["us"]} == {"bits", "numbers", "weights"}
    assert {name.split()[1] for name in grid["us"]} == {"bits", "numbers", "weights", "bfs"}
    assert "15 levels (estimated" in text and "the best single form: 100%" in text
    assert choices.main(["--refit", str(out), "--costs", str(made)]) == 0
    assert "fitted without it" in capsys.readouterr().out
    fitted = cost_model.Costs.from_json(json.loads(made.read_text())["cpu"])
    assert set(fitted.us) == {f"{key} {verb}" for key in ("csr", "b2sr8") for verb in cost_model.VERBS}
    assert choices.main([*options, "--graphs", "grid2d_9", "--limit", "0"]) == 0
    assert "no time for" in capsys.readouterr().out
    monkeypatch.setattr(choices, "difference", lambda got, expected: 1.0)
    assert choices.main(["--jobs", "0", "--graphs", "grid2d_9"]) == 1 and "WRONG ANSWERS" in capsys.readouterr().out
    assert choices.main(["--refit", str(made)]) == choices.main(["--graphs", "nothing", "--jobs", "0"]) == 2


def test_a_choice_is_judged():
    tiles = tuple((t, 1e4) for t in (4, 8, 16, 32, 64))
    seen = Facts(1 << 14, 1 << 14, 1 << 16, tiles, (), 9.0)
    us = {"csr": (20.0, 40.0, 500.0, 30.0), "b2sr8": (10.0, 50.0, 510.0, 20.0), "b2sr64": (1.0, 1.0, 1.0, 1.0)}
    sample = Sample("x", seen, {f"{k} {v}": t for k, times in us.items() for v, t in zip(cost_model.VERBS[:2], times)})
    sample.us.update({f"{k} bfs": times[2] for k, times in us.items()} | {"csr weights": 30.0, "b2sr8 weights": 20.0})
    alike = {f"{k} {v}": (1.0, *[0.0] * (cost_model.COUNTS[v] - 1)) for k in seen.forms for v in cost_model.VERBS}
    found = {pair.verb: pair for pair in judge.pairs(sample, cost_model.Costs("a test", "x", alike), kind="gpu")}
    assert {pair.chosen for pair in found.values()} == {"csr"}, "all promise the same"
    assert found["bits"].ratio == 2 and found["bits"].best == "b2sr8" and found["bits"].single == 1
    assert found["bits"].of_all == 4, "b2sr64 takes 1 us, which counts as 5, but has more bytes than CSR"
    assert found["numbers"].ratio == 1 and found["numbers"].single == 1.25
    assert found["bfs"].single == pytest.approx(1.02) and found["weights"].ratio == 1, "values stay by rows"
    assert judge.share(list(found.values())) == 0.75 == judge.share(list(found.values()), "single")
    assert "75%" in judge.summary(list(found.values()))
