"""Layouts against eigenvectors of SciPy and the same rounds in NumPy: the same program text on python-graphblas and on
bitblas. Of bitblas, every device runs them in slow tests.
"""

import numpy as np
import oracles
import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS, edges, matrix
from oracles import GRAPHS
from scipy.linalg import eigh

from bitblas.algorithms import Watch, spectral_layout, spring_layout


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
