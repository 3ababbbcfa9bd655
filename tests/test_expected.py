"""Published answers: LDBC Graphalytics' two example graphs with its six algorithms, and the expected results of
LAGraph's tests. tests/data/expected.json has the numbers, from ldbc/ldbc_graphalytics (Apache 2.0; vertices by their
names there) and GraphBLAS/LAGraph (BSD 2-clause). The same program text runs on python-graphblas and on bitblas.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, as_dict, full, matrix
from oracles import GRAPHS, Graph

from bitblas import algorithms

EXPECTED = json.loads((Path(__file__).parent / "data" / "expected.json").read_text())
LDBC, LAGRAPH = EXPECTED["ldbc"], EXPECTED["lagraph"]
kinds = pytest.mark.parametrize("kind", LDBC)


def of_ldbc(gb, kind, edges):
    """The Matrix of an example, and the vertices in its order."""
    at = {name: number for number, name in enumerate(LDBC[kind]["vertices"])}
    i, j, *w = zip(*edges, strict=True)
    i, j = ([at[name] for name in ends] for ends in (i, j))
    A = gb.Matrix.from_coo(i, j, list(w[0]) if w else 1.0, gb.dtypes.FP64, nrows=len(at), ncols=len(at))
    return A if kind == "directed" or not w else A.ewise_add(A.T, gb.binary.min).new()


def of_lagraph(name):
    if name in GRAPHS:
        return GRAPHS[name]
    found = LAGRAPH["graphs"][name]
    pairs = set(map(tuple, found["edges"]))
    return Graph.of(found["n"], pairs, symmetric=all((j, i) in pairs for i, j in pairs))


def both_ways(graph):
    return Graph.of(graph.n, zip(graph.rows, graph.cols, strict=True), symmetric=True)


class Programs:
    @kinds
    def test_ldbc(self, gb, kind):
        given, directed = LDBC[kind], kind == "directed"
        A = of_ldbc(gb, kind, given["edges"])
        names = np.array(given["vertices"])
        reached = lambda name: {v: x for v, x in enumerate(given[name]) if x is not None}
        assert as_dict(algorithms.bfs_levels(A, 0, gb=gb)) == reached("BFS")
        assert as_dict(algorithms.sssp(A, 0, gb=gb)) == pytest.approx(reached("SSSP"))
        assert full(algorithms.local_clustering(A, directed=directed, gb=gb)) == pytest.approx(given["LCC"])
        weak = algorithms.weakly_connected_components if directed else algorithms.connected_components
        assert names[full(weak(A, gb=gb))].tolist() == given["WCC"]
        label = algorithms.label_propagation(A, directed=directed, max_iter=2, gb=gb)
        assert names[full(label)].tolist() == given["CDLP"]
        with algorithms.Watch():
            assert full(algorithms.pagerank(A, tol=1e-300, max_iter=2, gb=gb)) == pytest.approx(given["PR"])
        other = of_ldbc(gb, "directed", given["CDLP graph"])[:8, :8].new()
        label = algorithms.label_propagation(other, directed=directed, max_iter=5, gb=gb)
        assert (full(label) + 1).tolist() == given["CDLP of it"]

    def test_lagraph_counts(self, gb):
        for name, number in LAGRAPH["triangles"].items():
            A = matrix(gb, of_lagraph(name))
            assert algorithms.triangle_count(A, gb=gb) == number
            for supports in (algorithms.triangles_per_edge(A, gb=gb), algorithms.k_truss(A, 3, gb=gb)):
                assert (supports.reduce_scalar(gb.monoid.plus).new().value or 0) == 6 * number
        for name, number in LAGRAPH["components"].items():
            assert len(set(full(algorithms.connected_components(matrix(gb, of_lagraph(name)), gb=gb)))) == number
        for name, number in LAGRAPH["largest core"].items():
            assert full(algorithms.core_numbers(matrix(gb, both_ways(of_lagraph(name))), gb=gb)).max() == number
        forest = algorithms.minimum_spanning_forest(matrix(gb, of_lagraph("A"), 1, "UINT64"), gb=gb)
        assert (forest.nvals, forest.reduce_scalar(gb.monoid.plus).new().value) == (12, 12)

    def test_lagraph_vertices(self, gb):
        """LAGraph compares ranks to 1e-4, and has betweenness and clustering with six digits."""
        for name, ranks in LAGRAPH["pagerank"].items():
            assert full(algorithms.pagerank(matrix(gb, of_lagraph(name)), gb=gb)) == pytest.approx(ranks, abs=1e-4)
        example = of_ldbc(gb, "directed", LDBC["directed"]["edges"])
        ranks = LAGRAPH["pagerank of LDBC's directed example"]
        assert full(algorithms.pagerank(example, tol=1e-9, gb=gb)) == pytest.approx(ranks, abs=1e-4)
        for name, right in LAGRAPH["betweenness"].items():
            found = full(algorithms.betweenness_centrality(matrix(gb, of_lagraph(name)), right["sources"], gb=gb))
            assert found == pytest.approx(right["values"], rel=1e-5)
        karate = matrix(gb, GRAPHS["karate"])
        assert full(algorithms.bfs_levels(karate, 30, gb=gb)).tolist() == LAGRAPH["levels of karate from 30"]
        west = matrix(gb, of_lagraph("west0067"))
        right = LAGRAPH["clustering of west0067, directed"]
        assert full(algorithms.local_clustering(west, directed=True, gb=gb)) == pytest.approx(right, abs=1e-6)
        strong = algorithms.strongly_connected_components(matrix(gb, of_lagraph("cover")), gb=gb)
        assert full(strong).tolist() == LAGRAPH["strong components of cover"]
        ends = "1-2 1-3 1-6 1-7 2-4 2-5 3-4 3-5 6-7 7-8 6-8 7-9 7-10 6-11 6-12 2-13 2-14 3-15 3-16".split()
        lind = Graph.of(17, [pair.split("-") for pair in ends], symmetric=True)
        right = [0, 3 / 43, 3 / 17, 3 / 17, 1 / 3, 1 / 3, 1 / 27, 1 / 27, 1 / 5]
        assert full(algorithms.square_clustering(matrix(gb, lind), gb=gb)) == pytest.approx([*right, *[0] * 8])


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs):
    """Every device."""
