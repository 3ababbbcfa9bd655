"""What `python -m benchmarks.start` measures and checks."""

from __future__ import annotations

import json

from benchmarks import start


def test_the_start_of_processes(tmp_path, capsys, monkeypatch):
    assert len(start.EDGES) == 78
    levels, reached = [{0}], {0}
    while levels[-1]:
        near = {j for edge in start.EDGES for i, j in (edge, edge[::-1]) if i in levels[-1]}
        levels.append(near - reached)
        reached |= near
    assert start.DEPTHS == [len(level) for level in levels[:-1]]
    path = tmp_path / "start.json"
    assert start.main(["--samples", "1", "--only", "karate", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())
    assert [row["program"] for row in rows] == ["import, BFS on karate", "bitblas bfs karate.mtx"]
    assert all(row["wrong"] == "" and 0 < row["processor"] for row in rows)
    monkeypatch.setattr(start, "programs", lambda folder: [start.Program("bad", ("-c", "print(1)"), "2\n", None)])
    assert start.main(["--samples", "1"]) == 1 and "WRONG: expected '2" in capsys.readouterr().out
