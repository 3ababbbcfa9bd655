"""Contraction S' A S of graphs by groups of vertices, against SciPy, through several formats."""

import numpy as np
import pytest
import scipy.sparse

import bitblas as gb
from bitblas.operations import contraction

SHAPES = [(50, 300, 7), (1, 1, 1), (5, 0, 2), (300, 5000, 300), (400, 40000, 3), (70000, 9000, 70000)]


def sums(A, group, count):
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
    rows, values = contraction.rows_of(A._in_users_order)
    values = np.int64(1) if isinstance(values, np.generic) else values
    C = contraction.contract(A.device, rows, values, A.device.asarray(group), count)
    right, found = sums(A, group, count), C.structure.plain_rows()
    host = A.device.to_host
    assert np.array_equal(host(found.ptr), right.indptr)
    assert np.array_equal(host(found.columns()), right.indices)
    assert np.array_equal(host(C.values), right.data)


def test_contraction_by_rows(on_the_cpu):
    """The rows whose columns are in no order, with sums that pass 32 bits, and the diagonal."""
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 200, 3000), rng.integers(0, 200, 3000)
    A = gb.Matrix.from_coo(i, j, (i + j) * 2**40, nrows=200, ncols=200, dup_op="second")
    group = rng.integers(0, 30, 200).astype(np.int32)
    rows, values = contraction.rows_of(A._in_users_order)
    found, data, loop = contraction.contract_rows(A.device, rows, values, A.device.asarray(group), 30)
    right = sums(A, group, 30)
    C = scipy.sparse.csr_array((data, found.columns(), found.ptr), shape=(30, 30))
    assert (C != right).nnz == 0 and C.nnz == right.nnz
    assert np.array_equal(loop, right.diagonal())
