"""Algorithms as a user writes them (written.py) agree with SciPy, python-graphblas and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csgraph
from written import ALGORITHMS

import bitblas
from benchmarks import graphs

SMALL = ("rmat6", "delaunay_n6", "grid2d_9", "mycielskian5", "hub_n6", "even_n6")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_written_algorithms_agree_with_python_graphblas(algorithm):
    oracle = pytest.importorskip("graphblas")
    for name in ("rmat6", "grid2d_5"):
        graph = graphs.make(name)
        with bitblas.config.set(device="cpu"):
            (i, x), (j, y) = (
                ALGORITHMS[algorithm](
                    gb, gb.Matrix.from_coo(graph.rows, graph.col.astype(int), True, nrows=graph.n, ncols=graph.n)
                ).to_coo()
                for gb in (bitblas, oracle)
            )
        assert np.array_equal(i, j) and np.allclose(x, y, rtol=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_written_algorithms_give_what_they_say(name):
    """Against SciPy, and core numbers by their definition."""
    graph = graphs.make(name)
    A = bitblas.Matrix.from_coo(graph.rows, graph.col.astype(int), True, nrows=graph.n, ncols=graph.n, device="cpu")
    S, run = graph.scipy(), lambda of: ALGORITHMS[of](bitblas, A).to_dense(np.inf)
    with bitblas.config.set(device="cpu"):
        found = {of: run(of) for of in ("distances", "components", "kcore")}
    found["kcore"][np.isinf(found["kcore"])] = 0  # vertices without neighbours
    assert np.array_equal(found["distances"], csgraph.shortest_path(S, unweighted=True, indices=0))
    same = csgraph.connected_components(S, directed=True, connection="strong")[1]
    assert np.array_equal(np.equal.outer(same, same), np.equal.outer(found["components"], found["components"]))
    for k in range(1 + int(found["kcore"].max())):  # the k-core: repeatedly remove vertices of fewer than k neighbours
        left = np.ones(graph.n, bool)
        while (left & (S @ left < k)).any():
            left &= S @ left >= k
        if (S != S.T).nnz == 0:
            assert np.array_equal(left, found["kcore"] >= k)
