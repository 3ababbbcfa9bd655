"""Masked products of a matrix that has lost entries (operations/supports.py): trusses as users write them."""

import graphblas
import numpy as np
import pytest

import bitblas as gb


def count(library, C):
    """C<C> = C plus.pair C'."""
    return C.mxm(C.T, library.semiring.plus_pair[library.dtypes.INT64]).new(mask=C.S)


def entries(A):
    return [x.tolist() for x in A.to_coo()]


@pytest.mark.parametrize("symmetric", [True, False])
def test_selections_of_counts(device, tune, symmetric):
    """Random thresholds, self loops, several selections between two products; every count as python-graphblas'."""
    tune({"supports.removed_share": 1.0, "supports.few_entries": 0})
    recounted = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 30
        i, j = rng.integers(0, n, (2, 150 + 60 * seed))
        if symmetric:
            i, j = np.append(i, j), np.append(j, i)
        C = gb.Matrix.from_coo(i, j, 1, nrows=n, ncols=n, device=device)
        D = graphblas.Matrix.from_coo(i, j, 1, nrows=n, ncols=n)
        for k in range(1, 7):
            plan = gb.explain(C.mxm(C.T, gb.semiring.plus_pair[gb.dtypes.INT64]), mask=C.S)
            recounted += plan.direction == "removed"
            C, D = count(gb, C), count(graphblas, D)
            assert entries(C) == entries(D)
            for least in sorted(rng.integers(0, k + 2, 2).tolist()):
                C, D = C.select(">=", least).new(), D.select(">=", least).new()
            assert entries(C) == entries(D)
    assert recounted == 30 if symmetric else recounted < 30


def test_why_all_are_counted_again(device, tune):
    tune({"supports.removed_share": 0.0, "supports.few_entries": 0})
    i, j = np.array([0, 0, 1, 2, 0, 4]), np.array([1, 2, 2, 3, 4, 1])
    A = gb.Matrix.from_coo(np.append(i, j), np.append(j, i), 1, nrows=5, ncols=5, device=device)
    S = count(gb, A)
    S << S.select(">=", 2)
    plan = gb.explain(S.mxm(S.T, gb.semiring.plus_pair[gb.dtypes.INT64]), mask=S.S)
    assert plan.direction == "dot"
    assert "supports.removed_share = 0" in plan.reason
