"""`python -m benchmarks.algorithms`: all algorithms, on both sides, with equal answers."""

import json
import time

import pytest

import bitblas
from benchmarks import algorithms
from bitblas.compare import every


def test_every_algorithm_is_measured_on_both_sides(tmp_path, capsys, monkeypatch):
    pytest.importorskip("graphblas")
    names = {program.name for program in every()}
    short = {"bfs_levels": "bfs", "minimum_spanning_forest": "msf", "triangle_count": "triangles"}
    short |= {"betweenness_centrality": "betweenness", "connected_components": "components"}
    short |= {"maximal_independent_set": "mis", "diameter_bounds": "diameter", "modularity": "louvain"}
    listed = set(bitblas.algorithms.__all__) - {n for n in bitblas.algorithms.__all__ if n.endswith("_graph")}
    assert {short.get(name, name) for name in listed} <= names
    path = tmp_path / "algorithms.json"
    options = ["--samples", "1", "--algorithms", "bfs,spring_layout", "--json", str(path)]
    assert algorithms.main([*options, "--graphs", "grid2d_8", "--square", "4"]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [row["graph"] for row in rows] == ["grid2d_8", "grid2d_4"]
    given = "rmat18", "delaunay_n7", "a.mtx"
    assert [algorithms.smaller(name, 9) for name in given] == ["rmat9", "delaunay_n7", "a.mtx"]
    assert all(row["equal"] and row["bitblas_ms"] > 0 and row["peer_ms"] > 0 for row in rows)
    assert "geometric mean of 2" in capsys.readouterr().out
    monkeypatch.setattr(bitblas.algorithms, "bfs_levels", lambda A, s, *, gb: A.nrows + (gb is bitblas))
    assert algorithms.main([*options[:2], "--algorithms", "bfs", "--graphs", "grid2d_3"]) == 1
    assert capsys.readouterr().out.split()[2] == "NO"
    monkeypatch.setattr(bitblas.algorithms, "bfs_levels", lambda A, s, *, gb: 7 if gb is bitblas else time.sleep(9))
    late = ["--algorithms", "bfs", "--peer-limit", "0.01", "--graphs", "grid2d_3,grid2d_4"]
    assert algorithms.main(late) == 0
    stopped, skipped, _, mean = capsys.readouterr().out.splitlines()
    assert stopped.split()[-2] == ">10.000" and skipped.split()[-1] == "-"
    assert "geometric mean of 1, of which 1 lower bounds" in mean
    with pytest.raises(SystemExit):
        algorithms.main(["--algorithms", "nothing"])
