"""Tiles from rows where a few rows hold most of the entries, and tiles of the transpose, tile by tile."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas
from bitblas import device as devices
from bitblas.config import config
from bitblas.formats import Structure
from bitblas.formats.b2sr import layout as b2sr
from bitblas.formats.csr import layout as csr
from bitblas.formats.csr.layout import find_row_faults
from bitblas.plan.facts import best_known

TILES = b2sr.TILES


def rows_of(lists, ncols):
    """A Csr on the device of the test with those columns in its rows."""
    d = devices.get(config.device)
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    col = np.concatenate([np.sort(row) for row in lists]).astype(np.int64)
    return csr.from_arrays(d, len(lists), ncols, d.asarray(ptr), d.asarray(col))


def hubs(seed=0):
    """Rows of all lengths: empty, full, all entries in few columns, spread thinly; the last tile row is cut off."""
    rng, ncols = np.random.default_rng(seed), 700
    lists = [rng.permutation(ncols)[: rng.integers(0, 12)] for _ in range(131)]
    lists[3], lists[64], lists[130] = np.arange(ncols), np.arange(0, ncols, 7), np.arange(ncols - 1)
    lists[40], lists[41], lists[42] = np.arange(64), np.arange(64), np.arange(300, 364)
    lists[90] = rng.permutation(ncols)[:400]
    return lists, ncols


def host(x):
    return devices.get(config.device).to_host(x)


def tiles_of(i, j, tile):
    return len({*zip((i // tile).tolist(), (j // tile).tolist())})


@pytest.mark.in_turn
@pytest.mark.parametrize("long", [1, 3, 64])
@pytest.mark.parametrize("tile", TILES)
def test_long_tile_rows_are_cut(device, tile, long, tune):
    """However many parts a tile row is cut into, the tiles are the same, and so is the order of the entries."""
    tune({"b2sr.cut_entries": long, "b2sr.cut_tiles": long})
    lists, ncols = hubs(tile)
    rows = rows_of(lists, ncols)
    i, j = (host(x) for x in rows.coo())
    expected = np.lexsort((j % tile, i % tile, j // tile, i // tile))
    form, places = b2sr.B2sr.from_csr(rows, tile, True)
    assert host(places).tolist() == expected.tolist()
    plain, nothing = b2sr.B2sr.from_csr(rows, tile, False)
    assert nothing is None and plain.equals(form)
    found = form.coo()
    assert np.array_equal(host(found[0]), i[expected]) and np.array_equal(host(found[1]), j[expected])
    assert form.tiles == b2sr.count_tiles(rows, tile) == tiles_of(i, j, tile)
    assert np.array_equal(host(form.value_ptr), host(plain.ranks()))
    for order in (False, True):
        back, ranks = form.to_csr(order)
        assert back.equals(rows)
    assert np.array_equal(host(places)[host(ranks)], np.arange(len(i)))


@pytest.mark.parametrize("tile", TILES)
def test_tiles_turn(device, tile):
    """The transpose of tiles is the tiles of the transpose, with the order of the values."""
    lists, ncols = hubs(100 + tile)
    straight, _ = b2sr.B2sr.from_csr(rows_of(lists, ncols), tile, True)
    transposed, places = straight.transpose(True)
    i, j = (host(x) for x in straight.coo())
    a, b = (host(x) for x in transposed.coo())
    assert np.array_equal(i[host(places)], b) and np.array_equal(j[host(places)], a)
    assert (transposed.nrows, transposed.ncols, transposed.tiles) == (ncols, len(lists), straight.tiles)
    expected, _ = b2sr.B2sr.from_csr(rows_of([i[j == c] for c in range(ncols)], len(lists)), tile, False)
    assert transposed.equals(expected)
    again, nothing = transposed.transpose(False)
    assert nothing is None and again.equals(straight) and not transposed.equals(straight)


def test_rows_turn(device):
    straight = rows_of(*hubs(7))
    i, j = (host(x) for x in straight.coo())
    stable = np.lexsort((i, j))
    for order in (False, True):
        transposed, places = straight.transpose(order)
        a, b = (host(x) for x in transposed.coo())
        assert np.array_equal(a, j[stable]) and np.array_equal(b, i[stable])
        assert np.array_equal(host(places), stable) if order else places is None


@pytest.mark.parametrize("tile", TILES)
def test_what_is_empty_turns_too(device, tile):
    d = devices.get(config.device)
    for nrows, ncols in ((0, 0), (5, 0), (0, 5), (70, 3)):
        none = d.asarray(np.zeros(0, np.int64))
        rows = csr.from_arrays(d, nrows, ncols, d.asarray(np.zeros(nrows + 1, np.int64)), none)
        straight, _ = b2sr.B2sr.from_csr(rows, tile, True)
        transposed, places = straight.transpose(True)
        assert (transposed.nrows, transposed.ncols, transposed.nvals, len(host(places))) == (ncols, nrows, 0, 0)


@pytest.mark.off_cpu
def test_too_large_to_sort(device):
    rows = rows_of([[0, 1], [1]], 2)
    rows.ncols = 1 << 63
    with pytest.raises(bitblas.exceptions.OutOfMemory, match="exceed the 64-bit sort keys of a GPU"):
        rows.transpose(False)


def test_what_asks_for_bytes_gets_exact_facts(device):
    rows = rows_of(*hubs(9))
    i, j = (host(x) for x in rows.coo())
    assert dict(best_known(Structure(rows)).tiles) == {t: tiles_of(i, j, t) for t in TILES}


@pytest.mark.parametrize("wide", [False, True])
def test_entries_in_any_order(device, wide):
    """Patterns and values, sorted or not, with and without duplicates; also where row * ncols + column overflows."""
    rng = np.random.default_rng(3)
    nrows, ncols = (50, 1 << 59) if wide else (50, 40)
    i, j = rng.integers(0, nrows, 300), rng.integers(0, 40, 300)
    x = rng.integers(0, 9, 300)
    keys, where = np.unique(i * 64 + j, return_inverse=True)
    sums = np.zeros(len(keys), np.int64)
    np.add.at(sums, where, x)
    for values, dup, expected in ((True, None, np.ones(len(keys), bool)), (x, bitblas.binary.plus, sums)):
        A = bitblas.Matrix.from_coo(i, j, values, nrows=nrows, ncols=ncols, dup_op=dup, format="csr")
        r, c, v = (host(a) for a in A.to_coo())
        assert np.array_equal(r, keys // 64) and np.array_equal(c, keys % 64) and np.array_equal(v, expected)


@pytest.mark.parametrize("ncols", [3, 1 << 40])
def test_columns_out_of_range(device, ncols):
    for wrong in (-1, 3) if ncols == 3 else (-1,):
        for kind in (np.int32, np.int64):
            cols = np.array([0, wrong, 2], kind)
            for make, rows in ((bitblas.Matrix.from_csr, [0, 1, 2, 3]), (bitblas.Matrix.from_coo, [0, 1, 2])):
                with pytest.raises(bitblas.exceptions.IndexOutOfBound, match=rf"columns: .* {ncols - 1}, got {wrong}"):
                    make(rows, cols, True, ncols=ncols)


def test_compressed_rows_in_any_order(device):
    """Columns that do not ascend are sorted, duplicates joined, as from_coo does it."""
    ptr, cols, x = [0, 3, 3, 5], [4, 1, 4, 0, 2], [1.0, 2.0, 3.0, 4.0, 5.0]
    A = bitblas.Matrix.from_csr(ptr, cols, x, ncols=5, dup_op=bitblas.binary.plus)
    assert [host(a).tolist() for a in A.to_coo()] == [[0, 0, 2, 2], [1, 4, 0, 2], [2.0, 4.0, 4.0, 5.0]]
    with pytest.raises(ValueError, match="dup_op"):
        bitblas.Matrix.from_csr(ptr, cols, x, ncols=5)
    assert bitblas.Matrix.from_csr(ptr, cols, 7, ncols=5).nvals == 4
    B = bitblas.Matrix.from_csc(ptr, cols, x, nrows=5, dup_op=bitblas.binary.plus)
    assert B.isequal(A.T.new())


@pytest.mark.parametrize("values", ([True, True], [2.0, 2.0], [np.nan, np.nan], [1j, 1j], [3, 4], [0.0, -0.0], []))
def test_values_that_are_one_are_stored_once(values, device):
    i, j = np.arange(len(values)), np.arange(len(values))[::-1]
    A = bitblas.Matrix.from_coo(i, j, np.array(values), nrows=2, ncols=2)
    v = bitblas.Vector.from_coo(i, np.array(values), size=2)
    one = len(values) > 0 and np.array(values[:1]).tobytes() == np.array(values[1:]).tobytes()
    assert (A.ss.is_iso, v.ss.is_iso) == (one, one) if values else A.nvals == v.nvals == 0
    found = host(A.to_coo()[2]).tobytes(), host(v.to_coo()[1]).tobytes()
    assert A.dtype == v.dtype and found[0] == found[1] == np.array(values).tobytes()


def test_equal_indices_of_one_value_are_refused():
    for kind, places in ((bitblas.Matrix, ([1, 1], [0, 0])), (bitblas.Vector, ([1, 1],))):
        with pytest.raises(ValueError, match="dup_op"):
            kind.from_coo(*places, [2, 2], device="cpu")
        assert kind.from_coo(*places, [2, 2], device="cpu", dup_op="plus").to_coo()[-1].tolist() == [4]


@pytest.mark.parametrize("types", [("int32", "int64"), ("int64", "int32"), ("int32", "int32"), ("int64", "int64")])
def test_what_is_wrong_with_rows_is_seen(device, types):
    d, r = devices.get(config.device), np.random.default_rng(3)
    lists, ncols = hubs()
    ptr = np.concatenate([[0, 0], np.cumsum([len(x) for x in lists])])
    cols = np.concatenate([np.sort(x) for x in lists])

    def found(ptr, cols, ncols=ncols):
        return tuple(find_row_faults(d, *(d.asarray(np.array(x, t)) for x, t in zip((ptr, cols), types)), ncols))

    def changed(x, k, value):
        return np.concatenate([x[:k], [value], x[k:][1:]])

    assert found(ptr, cols) == (False, False, False)
    assert found(ptr, cols, ncols - 1) == (False, True, False)
    for row in (1, 4, 41, 65, 131):  # the first, hubs, the last
        begin, end = ptr[row], ptr[row + 1]
        for k in {begin, begin + (end - begin) // 2, end - 1} - {end}:
            for x in (-1, ncols):
                assert found(ptr, changed(cols, k, x))[:2] == (False, True)
        k = begin + r.integers(0, end - begin - 1)
        for x in (cols[k], cols[k] - 1):  # twice, or falling
            assert found(ptr, changed(cols, k + 1, max(0, x))) == (False, False, True)
    last = len(ptr) - 1
    for k, x in ((0, 1), (0, -1), (5, -1), (5, len(cols) + 1), (last, len(cols) - 1), (last, 1 << 30)):
        assert found(changed(ptr, k, x), cols)[0]
    for ptr, cols in (([0], []), ([0, 0], [])):
        assert found(ptr, cols) == (False, False, False)
    for ptr, cols in (([1], []), ([0], [1]), ([0, 1], [])):
        assert found(ptr, cols) == (True, False, False)
