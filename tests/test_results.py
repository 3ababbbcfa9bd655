"""Benchmarks: the page of results, made from the stored runs, losses included; and graphs that fill a device."""

import json

import numpy as np
import pytest

import bitblas
from benchmarks import results, size


def test_the_page_of_results_is_what_the_stored_runs_give(tmp_path):
    assert results.main(["--check"]) == 0, "python -m benchmarks.results makes it"
    later = {
        "who": "bitblas", "version": "abc", "device": "gpu", "machine": "m", "month": "2999-01", "how": "h",
        "rows": [{"graph": "rmat20", "algorithm": "bfs", "ms": 500.0}],
    }  # fmt: skip
    for path in results.STORED.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "later.json").write_text(json.dumps(later))
    rows = results.latest(results.read(tmp_path), "gpu")
    assert rows["bfs", "rmat20"]["bitblas"] == 500.0 and rows["bfs", "rmat20"]["BLEST"] == 0.197
    page = results.made(tmp_path)["results.md"]
    assert "**2538 slower**" in page and "| bitblas | abc | 2999-01 | m | h |" in page
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other\.json: expected a run of the benchmarks"):
        results.read(tmp_path)


def test_libraries_are_peers_of_a_gpu(tmp_path):
    """On the same graph, but for wrong answers; our own times on the CPU are not."""
    ours = {
        "who": "bitblas", "version": "abc", "device": "gpu", "machine": "m", "month": "2026-11", "how": "h",
        "rows": [{"graph": "roads", "algorithm": "bfs", "ms": 0.5}],
    }  # fmt: skip
    sides = {name: {"ms": ms, "right": ms < 9} for name, ms in (("bitblas", 3.0), ("NetworKit", 2.0), ("SciPy", 9.0))}
    theirs = {
        "time": "2026-11-29T00:00:00Z", "machine": {"processor": "p", "cores": 2}, "threads": 2, "samples": 4,
        "versions": {"numba": "1", "networkit": "11.3", "scipy": "1"},
        "libraries": [{"graph": graph, "algorithm": "bfs", "sides": sides} for graph in ("roads", "web")],
    }  # fmt: skip
    (tmp_path / "ours.json").write_text(json.dumps(ours))
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "theirs.json").write_text(json.dumps(theirs))
    figures = results.read(tmp_path)
    assert results.latest(figures, "gpu") == {("bfs", "roads"): {"bitblas": 0.5, "NetworKit, 2 CPU threads": 2.0}}
    assert "| roads | 0.5 | 2 (4.0) |" in results.page(figures, {})


def test_results_say_losses_like_wins():
    assert [results.ratio(2.0, x) for x in (1.0, 2.05, 4.0)] == ["**2.0 slower**", "the same", "2.0"]


def test_the_graph_is_the_same_in_any_chunks():
    """It goes both ways, without self loops."""
    cpu_ = bitblas.device.get("cpu")
    whole, cut = (list(zip(*size.Rmat(cpu_, 7, chunk=k), strict=True)) for k in (1 << 20, 100))
    pairs = [{*zip(np.concatenate(i).tolist(), np.concatenate(j).tolist())} for i, j in (whole, cut)]
    assert pairs[0] == pairs[1] == {(j, i) for i, j in pairs[0]} and all(i != j for i, j in pairs[0])
    assert len(np.concatenate(whole[0])) == 2 * 16 << 7 and max(max(pairs[0])) < 1 << 7


@pytest.mark.slow
def test_answers_are_checked(tmp_path, capsys, monkeypatch):
    pairs = {(i, j) for rows, cols in size.Rmat(bitblas.device.get("cpu"), 7) for i, j in zip(rows, cols, strict=True)}
    out = tmp_path / "size.json"
    options = ["--scale", "7", "--sources", "2", "--json", str(out)]
    assert size.main(options) == 0
    made = json.loads(out.read_text())
    assert made["nvals"] == len(pairs) and made["right"] and len(made["bfs"]) == 2
    monkeypatch.setattr(size, "bfs_levels", lambda M, s: bitblas.Vector.from_scalar(1, M.nrows))
    assert size.main(options) == 1 and "components" in capsys.readouterr().out
