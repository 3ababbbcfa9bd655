"""The page of results: made from the stored runs, losses included."""

import json

import pytest

from benchmarks import results


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


def test_results_say_losses_like_wins():
    assert [results.ratio(2.0, x) for x in (1.0, 2.05, 4.0)] == ["**2.0 slower**", "the same", "2.0"]
