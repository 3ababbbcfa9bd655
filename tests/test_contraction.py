"""Contraction S' A S of graphs by groups of vertices, against SciPy and python-graphblas."""

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
    w = w << 40 if kind == "INT64" else w  # sums pass 32 bits
    if kind == "BOOL":
        A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format=format)
    else:
        A = gb.Matrix.from_coo(i, j, w, kind, nrows=n, ncols=n, dup_op="second", format=format)
    group = rng.integers(0, count, n).astype(np.int32)
    rows, values = contraction.rows_of(A._in_users_order)
    values = np.int64(1) if isinstance(values, np.generic) else values
    found, data, loop = contraction.contract_rows(A.device, rows, values, A.device.asarray(group), count)
    C = scipy.sparse.csr_array((data, found.columns(), found.ptr), shape=(count, count))
    right = sums(A, group, count)
    assert (C != right).nnz == 0 and C.nnz == right.nnz
    assert np.array_equal(loop, right.diagonal())


def contracted(lib, dtype, first, second, kind, **more):
    """S' A S as two products, and with S' A read in between."""
    rng = np.random.default_rng(2)
    n, count, entries = 5000 if dtype == "INT32" else 160, 100, 900  # of few columns as well
    i, j = np.divmod(rng.choice(n * n, entries, replace=False), n)
    x = True if dtype == "BOOL" else rng.integers(-3, 9, entries)
    A = lib.Matrix.from_coo(i, j, x, dtype, nrows=n, ncols=n, **more)
    S = lib.Matrix.from_coo(np.arange(n), rng.integers(0, count, n), True, nrows=n, ncols=count, **more)
    f, g = (getattr(lib.semiring, name)[kind] for name in (first, second))
    C, P = S.T.mxm(A, f).mxm(S, g).new(), S.T.mxm(A, f).new()
    read = P.nvals
    return C.to_dicts(), P.mxm(S, g).new().to_dicts(), read, P.to_dicts(), C.dtype.name


WAYS = [("BOOL", "plus_pair", "plus_first", "INT64"), ("INT64", "plus_second", "plus_first", "INT64"),
        ("INT32", "plus_times", "plus_times", "INT32"), ("INT8", "plus_second", "plus_first", "UINT16"),
        ("FP64", "plus_second", "plus_first", "FP64"), ("INT64", "plus_second", "plus_first", "FP32"),
        ("INT64", "min_second", "min_first", "INT64")]  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize(("dtype", "first", "second", "kind"), WAYS)
def test_two_products_with_a_map(device, dtype, first, second, kind):
    import graphblas

    found = contracted(gb, dtype, first, second, kind, device=device)
    assert found == contracted(graphblas, dtype, first, second, kind)


@pytest.mark.off_cpu
@pytest.mark.parametrize("format", ["mplg", "nib", "cgr", "b2sr", "split", "virtual"])
def test_rows_of_each_format(device, format):
    rng = np.random.default_rng(3)
    n, count = 300, 120
    i, j = np.divmod(rng.choice(n * n, 3000, replace=False), n)
    A = gb.Matrix.from_coo(i, j, (i + j) % 200, "UINT8", nrows=n, ncols=n, format=format, device=device)
    group = rng.integers(0, count, n)
    S = gb.Matrix.from_coo(np.arange(n), group, True, nrows=n, ncols=count, device=device)
    C = S.T.mxm(A, gb.semiring.plus_second["INT64"]).mxm(S, gb.semiring.plus_first["INT64"])
    assert gb.explain(C).direction == "contraction"
    right = sums(A, group, count).tocoo()
    for found, expected in zip(C.new().to_coo(), (*right.coords, right.data), strict=True):
        assert np.array_equal(A.device.to_host(found), expected)


@pytest.mark.off_cpu
@pytest.mark.parametrize("share", [1, 0.7, 0])  # of the vertices that are in a group
@pytest.mark.parametrize(("n", "count", "entries"), [(5, 3, 0), (5, 1, 7), (6000, 2, 300), (40, 1000, 33)])
def test_few_groups_and_many(device, n, count, entries, share):
    rng = np.random.default_rng(n)
    i, j = np.divmod(rng.choice(n * n, entries, replace=False), n)
    A = gb.Matrix.from_coo(i, j, i - j + 0.5, nrows=n, ncols=n, device=device)
    group, there = rng.integers(0, count, n), rng.random(n) < share
    there[0] |= share > 0
    v = np.flatnonzero(there)
    S = gb.Matrix.from_coo(v, group[v], True, nrows=n, ncols=count, device=device)
    C = S.T.mxm(A, gb.semiring.plus_second["FP64"]).mxm(S, gb.semiring.plus_first["FP64"])
    assert (gb.explain(C).direction == "contraction") == (share > 0)
    found = C.new().to_coo()
    i, j = (x[there[i] & there[j]] for x in (i, j))
    right = scipy.sparse.coo_array((i - j + 0.5, (group[i], group[j])), shape=(count, count)).tocsr().tocoo()
    for x, expected in zip(found, (*right.coords, right.data), strict=True):
        assert np.array_equal(A.device.to_host(x), expected)


@pytest.mark.off_cpu
@pytest.mark.parametrize("bits", [64, 20])  # of keys; with few the numbers of entries are sorted with them
@pytest.mark.parametrize("kind", ["BOOL", "FP64"])
@pytest.mark.parametrize("groups", [1, 3, 300])
def test_chunks_of_sorted_entries(device, monkeypatch, bits, kind, groups):
    """Pairs of groups in several chunks, as one chunk each, and rows of groups that are empty."""
    monkeypatch.setattr(contraction, "KEY_BITS", bits)
    rng = np.random.default_rng(groups)
    n, entries = 500, 5 * contraction.CHUNK + 1
    i, j = np.divmod(rng.choice(n * n, entries, replace=False), n)
    w = np.ones(entries) if kind == "BOOL" else rng.integers(1, 99, entries) / 8
    A = gb.Matrix.from_coo(i, j, True if kind == "BOOL" else w, kind, nrows=n, ncols=n, device=device)
    group, count = 200 + 7 * rng.integers(0, groups, n) % 300, 700
    S = gb.Matrix.from_coo(np.arange(n), group, True, nrows=n, ncols=count, device=device)
    C = S.T.mxm(A, gb.semiring.plus_second["FP64"]).mxm(S, gb.semiring.plus_first["FP64"])
    assert gb.explain(C).direction == "contraction"
    right = scipy.sparse.coo_array((w, (group[i], group[j])), shape=(count, count)).tocsr().tocoo()
    for found, expected in zip(C.new().to_coo(), (*right.coords, right.data), strict=True):
        assert np.array_equal(A.device.to_host(found), expected)


@pytest.mark.off_cpu
@pytest.mark.parametrize(("n", "count"), [(160, 100), (5000, 100)])  # of few columns as well
def test_explain_contraction(device, n, count):
    v = np.arange(n)
    A = gb.Matrix.from_coo(np.r_[v, v], np.r_[v, v[::-1]], np.r_[v, v], device=device)
    S, part = (
        gb.Matrix.from_coo(v, at, True, nrows=n, ncols=count, device=device) for at in (v % count, v // 2 % count)
    )
    half = gb.Matrix.from_coo(v[:70], v[:70], True, nrows=n, ncols=count, device=device)
    plus_second, plus_first = gb.semiring.plus_second, gb.semiring.plus_first
    plan = gb.explain(S.T.mxm(A, plus_second).mxm(S, plus_first))
    assert plan.direction == "contraction" and "S' A is not computed" in plan.reason
    why = {
        "sums other than": S.T.mxm(A, gb.semiring.min_second).mxm(S, gb.semiring.min_first),
        "its operands are not": S.T.mxm(A, plus_second).mxm(part, plus_first),
        "does not keep": S.T.mxm(A, plus_second).mxm(S, gb.semiring.plus_pair),
    }
    for text, product in why.items():
        assert text in gb.explain(product).reason
    assert gb.explain(half.T.mxm(A, plus_second).mxm(half, plus_first)).direction == "contraction"
