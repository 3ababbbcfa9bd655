"""Contraction S' A S of graphs by groups of vertices, against SciPy, through several formats."""

import numpy as np
import pytest
import scipy.sparse

import bitblas as gb
from bitblas.operations import contraction

SHAPES = [(50, 300, 7), (1, 1, 1), (5, 0, 2), (300, 5000, 300), (400, 40000, 3), (70000, 9000, 70000)]


def sums_of(A, group, count):
    i, j, w = (A.device.to_host(x) for x in A.to_coo())
    S = scipy.sparse.coo_array((w.astype(np.int64), (group[i], group[j])), shape=(count, count)).tocsr()
    S.sum_duplicates()
    S.sort_indices()
    return S


@pytest.mark.in_turn
@pytest.mark.parametrize("format", ["csr", "b2sr", "nib"])
@pytest.mark.parametrize("kind", ["BOOL", "INT64", "UINT8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_contraction(shape, kind, format, on_the_cpu):
    n, entries, count = shape
    rng = np.random.default_rng(0)
    i, j, w = rng.integers(0, n, entries), rng.integers(0, n, entries), rng.integers(0, 9, entries)
    if kind == "BOOL":
        A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format=format)
    else:
        A = gb.Matrix.from_coo(i, j, w, kind, nrows=n, ncols=n, dup_op="second", format=format)
    group = rng.integers(0, count, n).astype(np.int32)
    _, values = contraction.rows_of(A._in_users_order)
    values = np.int64(1) if isinstance(values, np.generic) else values
    compare(A, group, count, values)


def compare(A, group, count, values):
    rows, _ = contraction.rows_of(A._in_users_order)
    found, sums, loop = contraction.contract(A.device, rows, values, A.device.asarray(group), count)
    right, host = sums_of(A, group, count), A.device.to_host
    C = scipy.sparse.csr_array((host(sums), host(found.columns()), host(found.ptr)), shape=(count, count))
    C.sort_indices()
    assert np.array_equal(C.indptr, right.indptr)
    assert np.array_equal(C.indices, right.indices)
    assert np.array_equal(C.data, right.data)
    assert np.array_equal(host(loop), right.diagonal())


def test_contraction_of_large_weights(on_the_cpu):
    """Sums that pass 32 bits."""
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 200, 3000), rng.integers(0, 200, 3000)
    A = gb.Matrix.from_coo(i, j, (i + j) * 2**40, nrows=200, ncols=200, dup_op="second")
    compare(A, rng.integers(0, 30, 200).astype(np.int32), 30, contraction.rows_of(A._in_users_order)[1])
