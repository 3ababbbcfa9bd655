"""Triangles, clustering, squares, cores and trusses against NetworkX and definitions: the same program text on
python-graphblas and on bitblas. Of bitblas, every device runs them in slow tests.
"""

import algorithm_runs as runs
import numpy as np
import oracles
import pytest
from algorithm_runs import by_vertex, edges, few_graphs, few_symmetric_graphs, full, matrix, networkx
from oracles import GRAPHS

from bitblas import algorithms as al


def simple(graph):
    """NetworkX's graph without self loops."""
    nx, G = pytest.importorskip("networkx"), networkx(graph)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return nx, G


class Programs:
    @few_symmetric_graphs
    def test_clustering(self, gb, graph):
        A, (nx, G) = matrix(gb, graph), simple(graph)
        t, c = al.triangles_per_vertex(A, gb=gb), al.local_clustering(A, gb=gb)
        assert (t.dtype, c.dtype) == (gb.dtypes.INT64, gb.dtypes.FP64)
        assert np.array_equal(full(t), by_vertex(nx.triangles(G), graph))
        assert full(t).sum() == 3 * oracles.triangles(graph)
        C = al.triangles_per_edge(A, gb=gb)
        assert C.dtype == gb.dtypes.INT64
        assert edges(C) == {(i, j): len(set(G[i]) & set(G[j])) for i in G for j in G[i]}
        assert full(c) == pytest.approx(by_vertex(nx.clustering(G), graph))
        assert al.average_clustering(A, gb=gb) == pytest.approx(nx.average_clustering(G))
        assert al.transitivity(A, gb=gb) == pytest.approx(nx.transitivity(G))
        assert full(al.square_clustering(A, gb=gb)) == pytest.approx(by_vertex(nx.square_clustering(G), graph))

    @few_graphs
    def test_clustering_of_directed_graphs(self, gb, graph):
        after = oracles.neighbours(graph)
        right = np.zeros(graph.n)
        for v in range(graph.n):
            near = after[v] | {u for u in range(graph.n) if v in after[u]}
            right[v] = sum(len(after[i] & near) for i in near) / max(1, len(near) * (len(near) - 1))
        A = matrix(gb, graph)
        assert full(al.local_clustering(A, directed=True, gb=gb)) == pytest.approx(right)
        assert al.average_clustering(A, directed=True, gb=gb) == pytest.approx(right.mean())

    @few_symmetric_graphs
    def test_cores(self, gb, graph):
        A, (nx, G) = matrix(gb, graph, graph.symmetric_integers(0, 9), "INT64"), simple(graph)
        core = al.core_numbers(A, gb=gb)
        right = by_vertex(nx.core_number(G), graph)
        assert core.dtype == gb.dtypes.INT64 and np.array_equal(full(core), right)
        for k in (0, int(right.max()), int(right.max()) + 1):
            inside = {(i, j): w for (i, j), w in edges(A).items() if min(right[i], right[j]) >= k}
            assert edges(al.k_core(A, k, gb=gb)) == inside

    @few_symmetric_graphs
    def test_trusses(self, gb, graph):
        A, (nx, G) = matrix(gb, graph), simple(graph)
        numbers, k = {(i, j): 2 for i in G for j in G[i]}, 2
        while True:
            H = nx.k_truss(G, k)
            near = {v: set(H[v]) for v in H}
            right = {(i, j): len(near[i] & near[j]) for i in H for j in H[i]}
            S = al.k_truss(A, k, gb=gb)
            assert S.dtype == gb.dtypes.INT64 and edges(S) == right
            if not right:
                break
            numbers |= dict.fromkeys(right, k)
            k += 1
        T = al.truss_numbers(A, gb=gb)
        assert T.dtype == gb.dtypes.INT64 and edges(T) == numbers

    def test_arguments(self, gb):
        A = matrix(gb, GRAPHS["karate"])
        for program, k, least in ((al.k_core, -1, 0), (al.k_truss, 1, 2)):
            with pytest.raises(gb.exceptions.InvalidValue, match=f"argument k: .*{least} or more, got {k}.*Hint"):
                program(A, k, gb=gb)
            assert program(A, 10**30, gb=gb).nvals == 0
            for wrong in (2.5, True, None, "3"):
                with pytest.raises(TypeError, match=r"argument k: expected an integer.*Hint"):
                    program(A, wrong, gb=gb)
        with pytest.raises(TypeError, match="argument directed: expected True or False"):
            al.local_clustering(A, directed="yes", gb=gb)


class TestOnGraphBLAS(runs.OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnCpu(runs.OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(runs.OnBitblas, Programs):
    """Every device."""
