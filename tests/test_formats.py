"""Every stored format preserves its input: entries, values and their order, bytes, padding, transposes."""

from __future__ import annotations

import numpy as np
import pytest
from battery import DTYPES, FORMS, MATRICES, SOME_FORMS, Pattern, generator, pattern, values
from coded_rows import CODED, host, rows_order
from hypothesis import given
from hypothesis import strategies as st

import bitblas
from bitblas import tuning
from bitblas.config import config
from bitblas.formats import format_of, packing
from bitblas.formats.b2sr import cost as b2sr_choice
from bitblas.formats.split import cost as split_layout
from bitblas.formats.split import layout as split_format
from bitblas.operations import convert
from bitblas.plan.facts import Facts, facts
from semirings.dtypes import lookup_dtype

TILES, KEYS = (4, 8, 16, 32, 64), tuple(FORMS)


def make(p: Pattern, x, dtype: str, key: str):
    return bitblas.Matrix.from_coo(p.rows, p.cols, x, dtype, nrows=p.nrows, ncols=p.ncols, **FORMS[key])


def sorted_entries(p: Pattern, x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.lexsort((p.cols, p.rows))
    return p.rows[order], p.cols[order], np.broadcast_to(x, len(order))[order]


def assert_entries(A, p: Pattern, x) -> None:
    """A has exactly those entries, by row and column."""
    for found, expected in zip(A.to_coo(), sorted_entries(p, x), strict=True):
        assert np.array_equal(host(found), expected)


def predicted(form, **held) -> int:
    """The bytes of a layout, by its own report."""
    return form.format.cost.predict_bytes(Facts(form.nrows, form.ncols, form.nvals, **{"tiles": (), **held}))


def assert_sound(form) -> None:
    """The promises of a form: ascending, index types that fit, padding bits zero, no empty tile, bytes as predicted."""
    if isinstance(form, split_format.Split):
        assert_sound_split(form)
        return
    if check := CODED.get(form.key):
        check(form, predicted)
        return
    ptr, col, bits = host(form.ptr).astype(np.int64), host(form.col), None
    by_rows = form.format.by_rows
    if form.key == "mplg":
        assert form.width == max(1, (form.ncols - 1).bit_length()) and form.col.dtype == np.uint32
        assert len(col) == packing.packed_words(form.nvals, form.width)
        assert form.nbytes == predicted(form)
        form = form.to_csr(False)[0]  # the columns, plain
        col = host(form.col)
    count = form.nvals if by_rows else form.tiles
    assert len(ptr) == form.units + 1 and ptr[0] == 0 and ptr[-1] == count and (np.diff(ptr) >= 0).all()
    assert form.ptr.dtype == form.col.dtype == np.int32
    row = np.repeat(np.arange(form.units), np.diff(ptr))
    limit = form.ncols if by_rows else -(-form.ncols // form.tile)
    key = row * max(1, limit) + col[:count]
    assert (np.diff(key) > 0).all() and ((0 <= col[:count]) & (col[:count] < limit)).all()
    if by_rows:  # which rows and columns have entries is not known before
        assert form.nbytes == predicted(form) or (form.format.hypersparse and form.nbytes < predicted(form))
        return
    t = form.tile
    assert form.bits.dtype == b2sr_choice.word_type(t) and len(host(form.bits)) >= count * b2sr_choice.words_per_tile(t)
    bits = np.unpackbits(host(form.bits).view(np.uint8), bitorder="little")[: count * t * t].reshape(count, t, t)
    assert bits.sum() == form.nvals and bits.any(axis=(1, 2)).all()
    tile, r, c = np.nonzero(bits)
    assert (row[tile] * t + r < form.nrows).all() and (col[tile] * t + c < form.ncols).all(), "padding bits are zero"
    ranks = 0 if form.value_ptr is None else host(form.value_ptr).nbytes
    assert form.nbytes - ranks == predicted(form, tiles=((t, max(1, count)),))
    if form.value_ptr is not None:
        assert np.array_equal(host(form.value_ptr)[:count], np.cumsum(bits.sum(axis=(1, 2))) - bits.sum(axis=(1, 2)))


def assert_sound_split(form) -> None:
    """Also: tiles are those that pay, each range of the rest ascends in a tile row and keeps to its columns, padding
    bits of packed numbers are zero."""
    t, d, xp = form.tile, form.device, form.device.xp
    rule, far_width = split_layout.rule_of(form.ncols, t, form.near_width), split_layout.entry_width(form.ncols, t)
    in_far = form.in_rest - form.in_near
    sizes = (form.tiles, form.in_near, in_far) if form.near_width else (form.tiles, in_far)
    starts = host(form.starts).astype(np.int64).reshape(-1, form.parts)
    assert form.starts.dtype == np.int32 and not starts[0].any() and tuple(starts[-1]) == sizes
    assert len(starts) == form.units + 1 == -(-form.nrows // t) + 1 and (form.near_width or not form.in_near)
    tiles = form.tile_part()
    if form.tiles:
        assert_sound(tiles)
        count = np.diff(host(tiles.ranks())[: form.tiles], append=form.in_tiles)
        assert (count >= np.where(host(tiles.col)[: form.tiles] < rule.limit, rule.near, rule.far)).all()
    widths = (form.near_width, far_width)[-len(sizes) + 1 :]
    for part, (size, width, least) in enumerate(zip(sizes[1:], widths, (rule.near, rule.far)[-len(widths) :]), 1):
        words = form.range_words()[-len(widths) :][part - 1]
        codes = host(packing.unpack(d, words, size, width, np.int64))
        row = np.repeat(np.arange(form.units), np.diff(starts[:, part]))
        assert (np.diff((row << 32) + codes) > 0).all()
        _, count = np.unique((row << 32) + codes // (t * t), return_counts=True)
        assert (count < least).all()
        is_near = codes // (t * t) < rule.limit
        assert is_near.all() if part + 1 < form.parts else not is_near.any()
    near_bits, near_words = form.in_near * form.near_width, split_layout.near_words(form.in_near, form.near_width)
    columns = form.tiles * split_layout.column_width(form.ncols, t)
    near, far = form.rest[:near_words], form.rest[near_words:]
    for string, bits in ((form.col, columns), (near, near_bits), (far, in_far * far_width)):
        assert int.from_bytes(host(xp.ascontiguousarray(string)).tobytes(), "little") >> bits == 0
    parts = split_layout.Parts(form.tiles, in_far, form.in_near, form.near_width)
    ranks = 0 if form.value_ptr is None else host(form.value_ptr).nbytes
    assert form.nbytes - ranks == predicted(form, own=((form.key, parts),))


@pytest.mark.in_turn
@pytest.mark.parametrize("key", KEYS)
def test_round_trip_of_every_matrix(device, key):
    for k, (name, maker) in enumerate(MATRICES.items()):
        p, dtype = maker(), DTYPES[k % len(DTYPES)]
        for x in (True, values(generator(name), dtype, len(p.rows))):
            A = make(p, x, dtype, key)
            assert (A.format, A.shape, A.nvals) == (key, (p.nrows, p.ncols), len(p.rows)), name
            # Values in host memory are compared, and few on a GPU
            compared = device == "cpu" or len(p.rows) <= tuning.count("build.single_writes")
            assert A._store.iso == (x is True or (compared and len(set(x.tolist())) == 1))
            assert_entries(A, p, np.asarray(x, A.dtype.np_type))
            assert_sound(A._store.structure.primary)
            q = Pattern(p.ncols, p.nrows, p.cols, p.rows)
            B = A.T.new()
            assert_entries(B, q, np.asarray(x, A.dtype.np_type))
            assert_entries(B.T.new(), p, np.asarray(x, A.dtype.np_type))
            assert_sound(B._store.structure.primary)
            assert A.format == B.format == key


@pytest.mark.parametrize("key", KEYS)
def test_order_of_entries(device, key):
    """Tile row, tile, bit; in a Split first those in tiles, then near ones: `to_coo(sort=False)` lists them so, values
    along."""
    p = MATRICES["wide" if key == "split8" else "gaps"]()
    x = values(generator("order"), "INT64", len(p.rows))
    A = make(p, x, "INT64", key)
    i, j, found = (host(a).astype(np.int64) for a in A.to_coo(sort=False))
    t = format_of(key).rows_per_unit
    order = rows_order(key, i, j) if t == 1 else np.lexsort((j % t, i % t, j // t, i // t))
    if key.startswith("split"):
        _, tile, count = np.unique(i // t * 1000 + j // t, return_inverse=True, return_counts=True)
        rule = split_layout.rule_of(p.ncols, t, A._store.structure.primary.near_width)
        near = j // t < rule.limit
        thin = count[tile] < np.where(near, rule.near, rule.far)
        assert thin.any() and not thin.all() and (thin & near).any() == (key == "split8")
        order = order[np.argsort((thin * (2 - near))[order], kind="stable")]
    assert np.array_equal(order, np.arange(len(i)))
    where = {(a, b): c for a, b, c in zip(p.rows.tolist(), p.cols.tolist(), x.tolist())}
    assert where == {(a, b): c for a, b, c in zip(i.tolist(), j.tolist(), found.tolist())}


@pytest.mark.in_turn
@pytest.mark.parametrize("source", KEYS)
def test_conversions(device, source):
    """From every form to every other, with values and without, and of the transpose."""
    for name in ("gaps", "last only", "wide", "no entries", "130x130", "all ones")[: 4 if device == "emulator" else 6]:
        p = MATRICES[name]()
        x = values(generator(name), "FP64", len(p.rows))
        for key in KEYS if source == "csr" else SOME_FORMS:
            A = make(p, x, "FP64", source)
            store = convert.with_format(A._store, **FORMS[key])
            assert_entries(bitblas.Matrix._from_store(store), p, x)
            assert_sound(store.structure.primary)
            structure = A._store.structure
            form, order = structure.layout(key, transposed=True), structure.order(key, transposed=True)
            rows, cols = (host(a) for a in form.coo())
            assert_sound(form)
            primary = np.broadcast_to(host(A._store.values), len(p.rows))
            moved = primary if order is None else primary[host(order)]
            assert_entries(
                bitblas.Matrix.from_coo(rows, cols, moved, "FP64", nrows=p.ncols, ncols=p.nrows),
                Pattern(p.ncols, p.nrows, p.cols, p.rows), x,
            )  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_symmetric_structures_share_the_transpose(device, key):
    p = MATRICES["symmetric"]()
    structure = make(p, True, "BOOL", key)._store.structure
    assert structure.layout(key, transposed=True) is structure.layout(key)
    A = make(p, values(generator("s"), "INT64", len(p.rows)), "INT64", key)
    assert A.memory().forms[A.format] > 0
    i, j = (host(x) for x in A._store.structure.coo())
    place = {at: k for k, at in enumerate(zip(i.tolist(), j.tolist()))}
    order = [place[at] for at in zip(p.rows.tolist(), p.cols.tolist())]  # of the input's entries in A's format
    assert_entries(A.T.new(), Pattern(p.ncols, p.nrows, p.cols, p.rows), host(A._store.values)[order])
    other = make(MATRICES["gaps"](), True, "BOOL", key)._store.structure
    assert other.layout(key, transposed=True) is not other.layout(key)


@pytest.mark.parametrize("key", KEYS)
def test_duplicates(device, key):
    rng = generator("duplicates")
    i, j, x = rng.integers(0, 40, 600), rng.integers(0, 30, 600), rng.integers(0, 100, 600)
    for op, combine in (("plus", np.add), ("min", np.minimum), ("second", lambda a, b: b), ("minus", np.subtract)):
        dense, seen = np.zeros((40, 30), np.int64), np.zeros((40, 30), bool)
        for a, b, c in zip(i, j, x, strict=True):
            dense[a, b] = combine(dense[a, b], c) if seen[a, b] else c
            seen[a, b] = True
        A = bitblas.Matrix.from_coo(i, j, x, nrows=40, ncols=30, dup_op=getattr(bitblas.binary, op), **FORMS[key])
        p = pattern(40, 30, seen)
        assert_entries(A, p, dense[p.rows, p.cols])
    iso = bitblas.Matrix.from_coo(i, j, 7, nrows=40, ncols=30, **FORMS[key])
    assert iso.nvals == seen.sum() and iso.memory().values == 0
    with pytest.raises(ValueError, match="dup_op"):
        bitblas.Matrix.from_coo(i, j, x, nrows=40, ncols=30, **FORMS[key])


def test_predicted_bytes_are_the_bytes(device):
    """Of a matrix that the profile sees whole: what it predicts is what is built; of lists of rows, the most. (Of
    gaps it sees the sizes, not whose they are: test_nib.py; pieces are counted: test_cr2.py.)"""
    for name in ("gaps", "hub", "all ones", "wide", "tall", "129x129"):
        A = make(MATRICES[name](), True, "BOOL", "csr")
        seen = facts(A._store.structure)
        for key in set(KEYS) - {"nib", "cgr", "cr2", "virtual"}:
            held = A._store.structure.layout(key).nbytes
            assert seen.bytes_of(key) == held or (format_of(key).hypersparse and seen.bytes_of(key) > held), (name, key)


@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_random_structures(key, data):
    nrows, ncols = data.draw(st.integers(0, 150), "nrows"), data.draw(st.integers(0, 150), "ncols")
    cells = nrows * ncols
    flat = data.draw(st.lists(st.integers(0, max(0, cells - 1)), max_size=200 if cells else 0), "places")
    at = np.unique(np.array(flat, np.int64))
    p = Pattern(nrows, ncols, at // max(1, ncols), at % max(1, ncols))
    x = np.arange(len(at))
    with config.set(device="cpu"):
        A = make(p, x, "INT64", key)
        assert_entries(A, p, x)
        assert_sound(A._store.structure.primary)
        assert_entries(A.T.new(), Pattern(ncols, nrows, p.cols, p.rows), x)
        other = data.draw(st.sampled_from(KEYS), "other")
        assert_sound(A._store.structure.layout(other, transposed=True))


@pytest.mark.parametrize("tile", TILES)
def test_parallel_build_equals_serial(tile, tune):
    """On the CPU: above formats.parallel_entries tile rows are built by several threads; nothing changes."""
    rng = generator("parallel", tile)
    nrows, ncols, k = 1003, 997, 80_000
    at = rng.permutation(nrows * ncols)[:k]
    p = Pattern(nrows, ncols, at // ncols, at % ncols)
    x = rng.integers(0, 100, k)
    assert k > tuning.count("formats.parallel_entries")
    with config.set(device="cpu"):
        many = make(p, x, "INT64", f"b2sr{tile}")._store
        assert_entries(bitblas.Matrix._from_store(many), p, x)
        tune({"formats.parallel_entries": 1 << 40})
        one = make(p, x, "INT64", f"b2sr{tile}")._store
    a, b = many.structure.primary, one.structure.primary
    for name in ("ptr", "col", "bits", "value_ptr"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.array_equal(many.values, one.values)


def test_every_dtype_keeps_its_values(device):
    p = MATRICES["gaps"]()
    for dtype in DTYPES:
        x = values(generator(dtype), dtype, len(p.rows))
        if dtype.startswith("FP"):
            x[:4] = (np.nan, np.inf, -0.0, np.finfo(x.dtype).tiny / 4)
        A = make(p, x, dtype, "b2sr16")
        assert A.dtype is lookup_dtype(dtype)
        found, expected = host(A.to_coo()[2]), sorted_entries(p, x)[2]
        assert found.tobytes() == expected.tobytes()


def test_tile_columns_may_be_narrower_than_columns(device):
    """From 2**31 columns on a column number has 64 bits, that of a tile has 32 up to 2**31 tiles."""
    rows, cols = np.array([0, 0, 8, 9, 70]), np.array([0, (1 << 31) - 2, (1 << 31) + 1, (1 << 32) - 1, 1 << 31])
    A = bitblas.Matrix.from_coo(rows, cols, True, nrows=71, ncols=1 << 32, format="b2sr", tile=8)
    form = A._store.structure.primary
    assert form.col.dtype == np.int32 and form.tiles == 5 and form.to_csr(False)[0].col.dtype == np.int64
    for found, expected in zip(A.to_coo(), (rows, cols)):
        np.testing.assert_array_equal(A.device.to_host(found), expected)


@pytest.mark.parametrize("ncols", [1 << 34, 1 << 36, (1 << 45) + 3])
def test_a_profile_of_very_many_columns(ncols):
    """Tiles are counted by numbers of rows and columns side by side in 64 bits."""
    rows, cols = np.array([0, 1, 5, 64, 130]), ncols - np.array([1, 2, 3, 70, 1])
    A = bitblas.Matrix.from_coo(rows, cols, True, nrows=131, ncols=ncols, device="cpu")
    expected = {T: float(len({(r // T, c // T) for r, c in zip(rows.tolist(), cols.tolist())})) for T in (4, 8, 64)}
    found = dict(A.profile().facts.tiles)
    assert {T: found[T] for T in expected} == expected
