"""Many entries on the CPU: one kernel builds row pointers and columns of entries sorted by row and column; other
entries are counted, by columns and then by rows."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.exceptions import IndexOutOfBound
from bitblas.formats.csr import layout
from bitblas.operations import build

BLOCK = 1024  # of in_order.cpu.py
INTEGERS = [(np.int64, np.int64), (np.int32, np.int64), (np.int64, np.int32), (np.int32, np.int32)]


def some(n, nrows, ncols, seed):
    """n entries of a matrix by row and column, none twice; the first and the last rows are empty."""
    keys = np.sort(np.random.default_rng(seed).choice((nrows - 4) * ncols, n, replace=False))
    return keys // ncols + 2, keys % ncols


def run(rows, cols, nrows, ncols):
    return layout.in_order(devices.get("cpu"), nrows, ncols, rows, cols, np.int32)


@pytest.fixture(params=[1, 2, 5])
def threads(request, tune):
    tune({"formats.parallel_entries": 1})
    with config.set(threads=request.param):
        yield request.param


@pytest.mark.parametrize("types", INTEGERS)
@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2, 2 * BLOCK + 1, 5000])
def test_what_is_in_order_becomes_rows(threads, types, n):
    for nrows, ncols in ((70, 100), (9000, 3), (5, 6000)):  # one row of five has all
        rows, cols = some(n, nrows, ncols, n)
        ptr, col = run(rows.astype(types[0]), cols.astype(types[1]), nrows, ncols)
        assert ptr.tolist() == np.searchsorted(rows, np.arange(nrows + 1)).tolist()
        assert col.dtype == np.int32 and col.tolist() == cols.tolist()


@pytest.mark.parametrize("at", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2500, 4998, 4999])
def test_what_is_not_is_seen_wherever_it_is(threads, at):
    nrows, ncols, n = 70, 100, 5000
    rows, cols = some(n, nrows, ncols, 1)
    far = 1 << 62

    def wrong(row, col, at=at):
        i, j = rows.copy(), cols.copy()
        i[at], j[at] = row, col
        assert run(i, j, nrows, ncols) is None, (at, row, col)

    for row in (-1, -far, nrows, far):
        wrong(row, cols[at])
    for col in (-1, -far, ncols, far):
        wrong(rows[at], col)
    if at:
        wrong(rows[at - 1], cols[at - 1])  # twice
        wrong(rows[at - 1] - 1, 99)  # an earlier row
        if cols[at - 1]:
            wrong(rows[at - 1], cols[at - 1] - 1)  # an earlier column
    assert run(rows[::-1].copy(), cols[::-1].copy(), nrows, ncols) is None
    assert run(np.full(n, -1), np.arange(n), nrows, n) is None
    assert run(np.full(n, nrows), np.arange(n), nrows, n) is None


def test_large_matrices_are_built_by_it(monkeypatch):
    """from_coo: in any order the same matrix, and the same errors; and no reference to the values."""
    asked = []
    monkeypatch.setattr(build, "in_order", lambda *given, real=build.in_order: asked.append(real(*given)) or asked[-1])
    n, nrows, ncols = 70_005, 1000, 900
    rows, cols = some(n, nrows, ncols, 3)
    values = np.arange(n) % 7
    A = gb.Matrix.from_coo(rows, cols, values, nrows=nrows, ncols=ncols, device="cpu")
    assert asked[-1] is not None
    values[:] = 99
    turned = np.random.default_rng(0).permutation(n)
    like = {"nrows": nrows, "ncols": ncols, "device": "cpu"}
    B = gb.Matrix.from_coo(rows[turned], cols[turned], (np.arange(n) % 7)[turned], **like)
    assert asked[-1] is None and A.isequal(B, check_dtype=True)
    for form in ("csr", "mplg", "nib", "b2sr"):
        tile = 8 if form == "b2sr" else None
        C = gb.Matrix.from_coo(rows.astype(np.int32), cols, True, **like, format=form, tile=tile)
        assert asked[-1] is not None and C.format.startswith(form)
        assert [x.tolist() for x in C.to_coo()[:2]] == [rows.tolist(), cols.tolist()]
    few = len(asked)
    gb.Matrix.from_coo([0, 1], [1, 0], True, device="cpu")
    assert asked[few:] == [None]  # for a few no kernel is loaded
    with pytest.raises(IndexOutOfBound, match=f"columns: expected indices from 0 to {ncols - 2}, got {ncols - 1}"):
        gb.Matrix.from_coo(rows, cols, True, nrows=nrows, ncols=ncols - 1, device="cpu")
    rows[-1] = rows[-2]
    cols[-1] = cols[-2]
    with pytest.raises(ValueError, match="Duplicate indices"):
        gb.Matrix.from_coo(rows, cols, np.arange(n), nrows=nrows, ncols=ncols, device="cpu")


@pytest.mark.parametrize("types", INTEGERS)
@pytest.mark.parametrize(("nrows", "ncols", "n"), [(1, 1, 3), (1, 50, 60), (50, 1, 60), (9, 7, 500), (300, 80, 200)])
def test_entries_are_counted(tune, types, nrows, ncols, n):
    """Rows in order, equal entries as they came."""
    rng = np.random.default_rng(n)
    rows, cols = rng.integers(0, nrows, n).astype(types[0]), rng.integers(0, ncols, n).astype(types[1])
    expected = np.lexsort((cols, rows))
    for order in (False, True):
        found, came = layout.counting_sort(devices.get("cpu"), nrows, ncols, rows, cols, order)
        assert found.col.tolist() == cols[expected].tolist()
        assert found.ptr.tolist() == np.searchsorted(rows[expected], np.arange(nrows + 1)).tolist()
        assert (came is None) == (not order) and (came is None or came.tolist() == expected.tolist())
    tune({"csr.counting_sort_from": 1})
    assert layout.sort_entries(devices.get("cpu"), rows, cols, nrows, ncols).tolist() == expected.tolist()


@pytest.mark.parametrize("n", [0, 1, 40, 3000])
def test_what_is_counted_is_what_keys_give(tune, n):
    """from_coo with few entries sorts keys: the same matrix, equal entries joined in the same order."""
    rng = np.random.default_rng(n)
    nrows, ncols = 60, 90
    rows, cols, values = rng.integers(0, nrows, n), rng.integers(0, ncols, n), rng.random(n)
    distinct = np.unique(rows * ncols + cols, return_index=True)[1]
    rng.shuffle(distinct)

    def made():
        like = {"nrows": nrows, "ncols": ncols, "device": "cpu"}
        yield gb.Matrix.from_coo(rows, cols, True, **like)
        yield gb.Matrix.from_coo(rows[distinct], cols[distinct], values[distinct], **like)
        for dup_op in ("first", "second", "plus", "minus"):
            yield gb.Matrix.from_coo(rows, cols, values, dup_op=getattr(gb.binary, dup_op), **like)
        if n == 3000:
            with pytest.raises(ValueError, match="Duplicate indices"):
                gb.Matrix.from_coo(rows, cols, values, **like)

    few = list(made())
    tune({"csr.counting_sort_from": 1})
    for x, y in zip(few, made(), strict=True):
        assert x.isequal(y, check_dtype=True) and x.ss.is_iso == y.ss.is_iso
