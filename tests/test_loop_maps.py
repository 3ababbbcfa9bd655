"""Products with a map as steps of a loop, compared with python-graphblas and with the same rounds one by one."""

import numpy as np
import pytest

import bitblas as gb
from bitblas.algorithms import _loops, label_propagation
from bitblas.algorithms.communities.label_propagation import _voting


def edges(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    hub = np.r_[np.zeros(n // 2, int), np.arange(3, n, 5)[: n // 8]]
    i, j = np.r_[i, hub], np.r_[j, rng.integers(0, n, len(hub))]
    pairs = np.unique(np.r_[i, j] * n + np.r_[j, i])
    return pairs // n, pairs % n


def matrix(lib, i, j, n, values=True, **more):
    return lib.Matrix.from_coo(i, j, values, nrows=n, ncols=n, **more)


@pytest.mark.parametrize("directed", [False, True])
def test_label_propagation(device, directed):
    import graphblas

    n = 300
    i, j = edges(n, 500, 3)
    if directed:
        keep = (i * 7 + j) % 3 > 0
        i, j = i[keep], j[keep]
    A = matrix(gb, i, j, n, device=device)
    with gb.loop.at_once():
        found = label_propagation(A, directed=directed)
        program = _loops.cached_loop(_voting, A, gb, directed, 10).program
    expected = label_propagation(matrix(graphblas, i, j, n), directed=directed, gb=graphblas)
    assert found.to_dense().tolist() == expected.to_dense().tolist()
    print(program.explain())
    kinds = [line.kind for line in program.explain().launches]
    assert kinds == ["ewise", "map", "ewise"]
