"""What `python -m benchmarks.start` measures and checks."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import scipy.sparse.csgraph

from benchmarks import start


def test_the_start_of_processes(tmp_path, capsys, monkeypatch):
    assert len(start.EDGES) == 78
    levels, reached = [{0}], {0}
    while levels[-1]:
        near = {j for edge in start.EDGES for i, j in (edge, edge[::-1]) if i in levels[-1]}
        levels.append(near - reached)
        reached |= near
    assert start.DEPTHS == [len(level) for level in levels[:-1]]
    near = [sorted({j for edge in start.EDGES for i, j in (edge, edge[::-1]) if i == v}) for v in range(34)]
    labels = list(range(34))
    for _ in range(2):
        found = [Counter(labels[u] for u in near[v]) for v in range(34)]
        labels = [min(label for label, times in of.items() if times == max(of.values())) for of in found]
    assert start.LABELLED == f"{np.unique(labels, return_counts=True)[1].tolist()}\n"
    pairs = start.EDGES + [(j, i) for i, j in start.EDGES[::3]]
    graph = scipy.sparse.coo_array((np.ones(len(pairs)), tuple(zip(*pairs))), shape=(34, 34))
    _, numbers = scipy.sparse.csgraph.connected_components(graph, connection="strong")
    least = [int(np.flatnonzero(numbers == number)[0]) for number in numbers]
    assert start.CONNECTED == f"{np.unique(least, return_counts=True)[1].tolist()}\n"
    path = tmp_path / "start.json"
    assert start.main(["--samples", "1", "--only", "karate", "--json", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["program"] for row in rows] == ["import, BFS on karate", "bitblas bfs karate.mtx"]
    assert all(row["wrong"] == "" and 0 < row["processor"] for row in rows)
    monkeypatch.setattr(start, "programs", lambda folder: [start.Program("bad", ("-c", "print(1)"), "2\n", None)])
    assert start.main(["--samples", "1"]) == 1 and "WRONG: expected '2" in capsys.readouterr().out
