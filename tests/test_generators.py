"""Graph generators against known properties of their distributions; the same graphs from both libraries and devices."""

import networkx as nx
import numpy as np
import pytest
from algorithm_runs import OnBitblas, OnCpu, OnGraphBLAS, edges

from bitblas.algorithms import (
    barabasi_albert_graph,
    copying_model_graph,
    erdos_renyi_graph,
    grid_graph,
    rmat_graph,
    small_world_graph,
)

UNDIRECTED = {
    "rmat": lambda gb, seed=None: rmat_graph(7, 8, seed=seed, gb=gb),
    "erdos_renyi": lambda gb, seed=None: erdos_renyi_graph(150, 0.05, seed=seed, gb=gb),
    "barabasi_albert": lambda gb, seed=None: barabasi_albert_graph(200, 3, seed=seed, gb=gb),
    "copying_model": lambda gb, seed=None: copying_model_graph(180, 3, 0.4, seed=seed, gb=gb),
    "small_world": lambda gb, seed=None: small_world_graph(120, 6, 0.2, seed=seed, gb=gb),
}


class Programs:
    @pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
    def test_undirected_and_the_same_everywhere(self, gb, make):
        import graphblas

        found = edges(A := make(gb))
        assert A.dtype == gb.dtypes.BOOL and A.nrows == A.ncols
        assert found == {(j, i): True for i, j in found} and not any(i == j for i, j in found)
        assert found == edges(make(graphblas)) == edges(make(gb)) != edges(make(gb, 5))

    def test_rmat(self, gb):
        A = rmat_graph(9, 4, directed=True, gb=gb)
        i, j = np.array(list(edges(A))).T
        assert A.shape == (512, 512) and len(i) <= 4 * 512
        upper, left = (i < 256).mean(), (j < 256).mean()  # duplicates, which are likelier up and left, are gone
        assert 0.6 < upper < 0.78 and 0.6 < left < 0.78
        for a, b, c, corner in ((1, 0, 0, (0, 0)), (0, 1, 0, (0, 511)), (0, 0, 1, (511, 0)), (0, 0, 0, (511, 511))):
            assert set(edges(rmat_graph(9, 4, a=a, b=b, c=c, directed=True, gb=gb))) == {corner}

    def test_erdos_renyi(self, gb):
        for directed in (False, True):
            counts = [erdos_renyi_graph(200, 0.1, directed=directed, seed=s, gb=gb).nvals for s in range(8)]
            assert np.mean(counts) / (200 * 199) == pytest.approx(0.1, abs=0.005) and len(set(counts)) > 4
            i, j = np.array(list(edges(erdos_renyi_graph(200, 0.1, directed=directed, gb=gb)))).T
            assert abs(i.mean() - 99.5) < 5 and abs(j.mean() - 99.5) < 5
            assert erdos_renyi_graph(30, 1, directed=directed, gb=gb).nvals == 30 * 29
            assert erdos_renyi_graph(30, 0, directed=directed, gb=gb).nvals == 0
        assert erdos_renyi_graph(1, 0.5, gb=gb).nvals == erdos_renyi_graph(0, 0.5, gb=gb).nvals == 0

    def test_barabasi_albert(self, gb):
        found = edges(barabasi_albert_graph(400, 2, gb=gb))
        degree = np.bincount([i for i, _ in found], minlength=400)
        assert len(found) > 2 * 2 * 400 * 0.9 and degree[20:].min() >= 1
        assert degree.max() > 20 > np.median(degree) and degree[:20].mean() > 4 * degree[200:].mean()

    def test_copying_model(self, gb):
        ends = {p: np.array(list(edges(copying_model_graph(400, 3, p, directed=True, gb=gb)))) for p in (0, 0.3, 1)}
        for p, found in ends.items():
            assert (found[:, 0] > found[:, 1]).all() and set(found[:, 0]) == set(range(1, 400)), p
        assert not ends[0][:, 1].any()  # all copy vertex 0
        copied, free = (np.bincount(ends[p][:, 1], minlength=400) for p in (0.3, 1))
        assert copied.max() > 2 * free.max() and np.count_nonzero(copied) < np.count_nonzero(free)
        assert len(ends[1]) > 3 * 399 * 0.95
        assert copying_model_graph(1, 2, 0.5, gb=gb).nvals == copying_model_graph(0, 2, 0.5, gb=gb).nvals == 0
        with pytest.raises(gb.exceptions.InvalidValue, match="argument p: expected a number in"):
            copying_model_graph(3, 1, 1.5, gb=gb)

    def test_lattices(self, gb):
        for height, width in ((3, 5), (1, 4), (4, 1), (0, 3), (3, 0)):
            G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(height, width))
            right = {(i, j) for e in G.edges for i, j in (e, e[::-1])}
            assert set(edges(grid_graph(height, width, gb=gb))) == right
        for n, k in ((9, 4), (5, 0), (0, 2), (7, 6)):
            right = {(i, j) for e in nx.watts_strogatz_graph(n, k, 0).edges for i, j in (e, e[::-1])} if n else set()
            assert set(edges(small_world_graph(n, k, 0, gb=gb))) == right
        led = set(edges(small_world_graph(500, 4, 0.3, gb=gb))) & set(edges(small_world_graph(500, 4, 0, gb=gb)))
        assert len(led) / 2000 == pytest.approx(0.7, abs=0.05)

    @pytest.mark.parametrize(
        ("make", "name", "value"),
        [
            (lambda x, gb: rmat_graph(x, gb=gb), "scale", 31), (lambda x, gb: rmat_graph(3, a=x, gb=gb), "a", 2),
            (lambda x, gb: rmat_graph(3, b=x, gb=gb), r"a \+ b \+ c", 0.5),
            (lambda x, gb: erdos_renyi_graph(x, 0.5, gb=gb), "n", -1),
            (lambda x, gb: erdos_renyi_graph(5, x, gb=gb), "p", 1.5),
            (lambda x, gb: barabasi_albert_graph(5, x, gb=gb), "m", 0),
            (lambda x, gb: small_world_graph(5, x, 0.5, gb=gb), "k", 3),
            (lambda x, gb: grid_graph(x, 2, gb=gb), "height", -1),
        ],
    )  # fmt: skip
    def test_arguments(self, gb, make, name, value):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"argument {name}: expected .*, got .*Hint"):
            make(value, gb)
        with pytest.raises(TypeError, match=r"argument \w+: expected .*, got str 'x'.*Hint"):
            make("x", gb)


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnCpu(OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs):
    """Every device."""
