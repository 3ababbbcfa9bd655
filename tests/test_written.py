"""benchmarks.sparse and the algorithms in it: answers are checked, times are not looked at."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csgraph

import bitblas
from benchmarks import graphs, sparse
from benchmarks.written import program

SMALL = ("rmat6", "delaunay_n6", "grid2d_9", "mycielskian5", "hub_n6", "even_n6")


def test_products_of_few_entries_and_written_algorithms(tmp_path, capsys, monkeypatch):
    options = ["--graphs", "rmat6,grid2d_5", "--seconds", "0", "--densities", "0,0.1,1", "--json", str(tmp_path / "s")]
    assert sparse.main(options) == 0
    rows = json.loads((tmp_path / "s").read_text())["rows"]
    assert len(rows) == 2 * (2 * len(sparse.SEMIRINGS) * 3 + len(sparse.ALGORITHMS)) and all(r["equal"] for r in rows)
    assert {row["plan"].split()[0] for row in rows if row["plan"]} == {"push", "pull"}
    monkeypatch.setattr(sparse, "equal", lambda *of: False)
    assert sparse.main([*options, "--verbs", "-", "--algorithms", "hits"]) == 1
    assert "DIFFERENT" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        sparse.main(["--algorithms", "sort"])


@pytest.mark.parametrize("name", SMALL)
def test_written_algorithms_give_what_they_say(name):
    """Against SciPy, and core numbers by their definition."""
    graph = graphs.make(name)
    A = bitblas.Matrix.from_coo(graph.rows, graph.col.astype(int), True, nrows=graph.n, ncols=graph.n, device="cpu")
    S, run = graph.scipy(), lambda of: program(bitblas, of)(A).to_dense(np.inf)
    with bitblas.config.set(device="cpu"):
        found = {of: run(of) for of in ("distances", "components", "kcore")}
    found["kcore"][np.isinf(found["kcore"])] = 0  # vertices without neighbours
    assert np.array_equal(found["distances"], csgraph.shortest_path(S, unweighted=True, indices=0))
    same = csgraph.connected_components(S, directed=True, connection="strong")[1]
    assert np.array_equal(np.equal.outer(same, same), np.equal.outer(found["components"], found["components"]))
    for k in range(1 + int(found["kcore"].max())):  # what is left when all of fewer neighbours than k have gone
        left = np.ones(graph.n, bool)
        while (left & (S @ left < k)).any():
            left &= S @ left >= k
        if (S != S.T).nnz == 0:
            assert np.array_equal(left, found["kcore"] >= k)
