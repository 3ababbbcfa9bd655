"""Layouts against eigenvectors of SciPy and the same rounds in NumPy: the same program text on python-graphblas and on
bitblas. Of bitblas, every device runs them in slow tests.
"""

import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, edges, matrix, networkx
from oracles import GRAPHS
from scipy.linalg import eigh

from bitblas.algorithms import Watch, forceatlas2_layout, spectral_layout, spring_layout


def positions(P):
    """A full Matrix as an array."""
    found = edges(P)
    assert len(found) == P.nrows * P.ncols
    return np.array([[found[v, axis] for axis in range(P.ncols)] for v in range(P.nrows)]).reshape(P.shape)


class Programs:
    def test_spectral_layout(self, gb):
        graph = oracles.grid(5, 9)
        weights = graph.symmetric_integers(1, 2)
        A = matrix(gb, graph, weights, "FP64")
        for weighted in (False, True):
            P = positions(spectral_layout(A, weighted=weighted, tol=1e-11, max_iter=4000, gb=gb))
            M = graph.scipy(weights if weighted else None).toarray().astype(float)
            D = np.diag(M.sum(axis=1))
            right = eigh(D - M, D)[0][1:3]
            for axis, value in zip(P.T, right, strict=True):
                assert axis @ axis == pytest.approx(1)
                assert axis @ (D - M) @ axis / (axis @ D @ axis) == pytest.approx(value, rel=1e-6)
            assert P[:, 0] @ D @ P[:, 1] == pytest.approx(0, abs=1e-8)
            assert D.diagonal() @ P == pytest.approx(np.zeros(2), abs=1e-8)

    def test_axes_of_graphs_that_have_few(self, gb):
        for name, dimensions in (("no_edges", 2), ("one_vertex", 1), ("disconnected", 3)):
            with Watch():
                P = positions(spectral_layout(matrix(gb, GRAPHS[name]), dimensions=dimensions, max_iter=20, gb=gb))
            assert P.shape == (GRAPHS[name].n, dimensions) and np.isfinite(P).all()
        with Watch() as seen:
            spectral_layout(matrix(gb, GRAPHS["karate"]), max_iter=3, gb=gb)
        assert (seen.rounds, seen.converged) == (6, False)
        with pytest.raises(gb.exceptions.InvalidValue, match=r"argument dimensions: .*1 or more, got 0.*Hint"):
            spectral_layout(matrix(gb, GRAPHS["tree"]), dimensions=0, gb=gb)

    @pytest.mark.parametrize("size", [1 << 22, 100])
    def test_forceatlas2_layout(self, gb, tune, size):
        nx = pytest.importorskip("networkx")
        tune({"spring.pairs": size})
        graph = GRAPHS["karate"]
        weights = graph.symmetric_integers(1, 3)
        A, G = matrix(gb, graph, weights, "INT32"), networkx(graph, weights)
        hashes = [[oracles.vertex_hash(v, 3, axis) / 2**31 - 1 for axis in (0, 1)] for v in range(graph.n)]
        start = {v: np.array(p) for v, p in enumerate(hashes)}
        for weighted in (False, True):
            for options in ({}, {"linlog": True, "gravity": 2.5, "scaling_ratio": 5.0, "jitter_tolerance": 0.5}):
                P = positions(forceatlas2_layout(A, weighted=weighted, rounds=12, seed=3, **options, gb=gb))
                weight = "weight" if weighted else None
                with np.errstate(invalid="ignore"):
                    theirs = nx.forceatlas2_layout(G, start, max_iter=12, weight=weight, **options)
                assert P == pytest.approx(np.array([theirs[v] for v in range(graph.n)]), rel=1e-6)
        P = positions(forceatlas2_layout(A, rounds=60, gb=gb))
        apart, joined = np.sqrt(((P[:, None] - P) ** 2).sum(axis=2)), graph.scipy().toarray() > 0
        assert apart[joined].mean() < 0.8 * apart[~joined & ~np.eye(graph.n, dtype=bool)].mean()

    def test_forceatlas2_layout_of_few_vertices_and_wrong_options(self, gb):
        assert forceatlas2_layout(gb.Matrix(bool, 0, 0), gb=gb).shape == (0, 2)
        assert np.isfinite(positions(forceatlas2_layout(matrix(gb, GRAPHS["one_loop"]), gb=gb))).all()
        assert np.isfinite(positions(forceatlas2_layout(matrix(gb, GRAPHS["no_edges"]), gb=gb))).all()
        A = matrix(gb, GRAPHS["tree"], -1.0)
        for options in ({"gravity": -1}, {"scaling_ratio": 0}, {"jitter_tolerance": np.inf}, {"rounds": 0}):
            with pytest.raises(gb.exceptions.InvalidValue, match=f"argument {next(iter(options))}: expected"):
                forceatlas2_layout(A, **options, gb=gb)
        with pytest.raises(gb.exceptions.InvalidValue, match="argument A: expected values of 0 or more"):
            forceatlas2_layout(A, weighted=True, gb=gb)

    @pytest.mark.parametrize("size", [1 << 22, 100])
    def test_spring_layout(self, gb, tune, size):
        tune({"spring.pairs": size})  # of pairs at once: all, or some rows
        graph = GRAPHS["karate"]
        weights = graph.symmetric_integers(1, 3)
        A = matrix(gb, graph, weights, "FP64")
        for weighted in (False, True):
            P = positions(spring_layout(A, weighted=weighted, seed=2, gb=gb))
            apart = np.sqrt(((P[:, None] - P) ** 2).sum(axis=2))
            joined, other = graph.scipy().toarray() > 0, ~np.eye(graph.n, dtype=bool)
            assert apart[joined].mean() < 0.8 * apart[other & ~joined].mean()
            assert apart[other].min() > 0.01 * graph.n**-0.5

    def test_a_round_is_what_the_forces_say(self, gb):
        graph = oracles.path(7)
        end = positions(spring_layout(matrix(gb, graph), rounds=1, seed=5, gb=gb))
        start = np.array([[oracles.vertex_hash(v, 5, axis) / 2.0**32 for axis in (0, 1)] for v in range(7)])
        k, M = 7**-0.5, graph.scipy().toarray()
        far = start[:, None] - start
        near = np.maximum((far**2).sum(axis=2), 1e-4)
        force = (far * (k * k / near - M * np.sqrt(near) / k)[:, :, None]).sum(axis=1)
        length = np.maximum(np.sqrt((force**2).sum(axis=1)), 1e-4)
        assert end == pytest.approx(start + force * 0.1 / length[:, None])

    def test_layouts_without_vertices(self, gb):
        A = gb.Matrix(gb.dtypes.BOOL, 0, 0)
        assert spring_layout(A, gb=gb).shape == spectral_layout(A, gb=gb).shape == (0, 2)


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs):
    """Every device."""
