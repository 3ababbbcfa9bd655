"""The benchmark of whole algorithms on a graph of a few vertices: every answer is checked, and wrong ones are
reported."""

from __future__ import annotations

import json

import bitblas
from benchmarks import programs


def test_whole_algorithms_are_checked(tmp_path, capsys):
    options = ["--device", "cpu", "--graphs", "grid2d_8", "--samples", "1", "--json", str(tmp_path / "programs.json")]
    assert programs.main(options) == 0
    rows = json.loads((tmp_path / "programs.json").read_text())["rows"]
    assert [row["algorithm"] for row in rows] == list(programs.ALGORITHMS)
    assert all(row["right"] for row in rows)
    form = [*options, "--format", "split", "--tile", "8", "--algorithms", "bfs"]
    assert programs.main(form) == 0 and capsys.readouterr().out.splitlines()[-1].split()[-1] == "split8"


WRONG = {
    "bfs_levels": lambda level: level.apply(bitblas.binary.times, right=2),
    "sssp": lambda d: d.apply(bitblas.binary.plus, right=1),
    "pagerank": lambda r: r.apply(bitblas.binary.times, right=2.0),
    "connected_components": lambda label: label.apply(bitblas.binary.plus, right=1),
    "triangle_count": lambda count: count + 1,
    "maximal_independent_set": lambda member: member.apply(bitblas.unary.lnot),
    "coloring": lambda color: color.apply(bitblas.binary.times, right=0),
    "minimum_spanning_forest": lambda forest: forest.apply(bitblas.binary.plus, right=1.0),
    "betweenness_centrality": lambda share: share.apply(bitblas.binary.times, right=2.0),
}


def test_answers_that_are_wrong_are_seen(capsys, monkeypatch):
    """Of each algorithm, by its own check alone."""
    for name, wrong in WRONG.items():
        right = getattr(bitblas.algorithms, name)

        def spoilt(*args, right=right, wrong=wrong, **options):
            found = wrong(right(*args, **options))
            return found if isinstance(found, int) else found.new()

        monkeypatch.setattr(bitblas.algorithms, name, spoilt)
    assert programs.main(["--device", "cpu", "--graphs", "grid2d_8", "--samples", "1"]) == 1
    told = [line.split()[1:3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert told == [[name, "NO"] for name in programs.ALGORITHMS]
