"""Rows of NIB, CGR, Virtual and CR2 with changed bits or wrong counts: rejected, and never read beyond the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from battery import MATRICES, pattern
from test_builds import rows_of
from test_formats import host, make

import bitblas as gb
from bitblas import tuning
from bitblas.formats.cgr.layout import Cgr


def nibbles():
    return make(MATRICES["33x33"](), True, "BOOL", "nib")._store.structure.primary


def segments():
    """Several of both kinds."""
    mixed = sorted({*range(0, 3000, 30), *(a + k for a in range(5, 3000, 60) for k in range(4 + a % 3))})
    rows = [{3: mixed, 33: range(100, 120), 39: [0, 2999]}.get(row, []) for row in range(40)]
    return Cgr.from_csr(rows_of(rows, 3000), None, False)[0]


def nodes():
    """Two, of a matrix that is not square."""
    flags = np.zeros((12, 9), bool)
    flags[1:5, [0, 3, 4, 8]] = flags[6:11:2, 2:7] = flags[[3, 11], [7, 1]] = True
    return make(pattern(12, 9, flags), True, "BOOL", "virtual")._store.structure.primary


def pieces():
    """Several clusters, pieces of three lengths, and entries between clusters."""
    flags = np.zeros((11, 11), bool)
    flags[2, 1:8] = flags[[0, 1, 9, 4, 10], [1, 0, 8, 10, 2]] = flags[6, 3:6] = True
    with tuning.override({"cr2.log_cluster": 2, "cr2.log_longest": 2}):
        return make(pattern(11, 11, flags), True, "BOOL", "cr2")._store.structure.primary


MADE = {"nib": nibbles, "cgr": segments, "virtual": nodes, "cr2": pieces}
LIES = {
    ("nib", "rows"): ({"nrows": 65}, "heads: expected"), ("nib", "columns"): ({"ncols": 3}, "col: expected"),
    ("nib", "entries"): ({"nvals": 5}, "words: expected 5 entries"),
    ("nib", "too many"): ({"ncols": 1 << 31}, "holds up to"),
    ("cgr", "rows"): ({"nrows": 65}, "heads: expected"),
    ("cgr", "columns"): ({"ncols": 3}, "words: expected row 3 to decode within its bits, to columns below 3"),
    ("cgr", "entries"): ({"nvals": 5}, "words: expected 5 entries"),
    ("cgr", "too many"): ({"ncols": 1 << 31}, "holds up to"),
    ("cgr", "segment"): ({"segment": 255}, "segment: expected 256"),
    ("cgr", "segments"): ({"segment": 300}, "segment: expected 256"),
    ("cr2", "rows"): ({"nrows": 9}, "groups: expected|rows: expected"),
    ("cr2", "columns"): ({"ncols": 7}, "expected"),
    ("cr2", "entries"): ({"nvals": 16}, "between_cols: expected|groups: expected"),
    ("cr2", "inside"): ({"inside": 9}, "expected"),
    ("cr2", "clusters"): ({"log_cluster": 3}, "groups: expected"),
    ("cr2", "large clusters"): ({"log_cluster": 17}, "numbers: expected those of a CR2"),
    ("cr2", "an order"): ({"ordered": 1}, "perm: expected"),
    ("cr2", "too many"): ({"ncols": (1 << 32) + 1}, "holds up to"),
    ("virtual", "rows"): ({"nrows": 13}, "inner: expected 15 x 11, got 14 x 11"),
    ("virtual", "square"): ({"nrows": 9}, "arrays: expected|inner: expected"),
    ("virtual", "entries"): ({"nvals": 5}, "nodes: expected 5 entries"),
    ("virtual", "nodes"): ({"nodes": 3}, "inner: expected 15 x 12"),
    ("virtual", "inner"): ({"inner": 2}, "inner: expected a number below 2, got 2"),
    ("virtual", "too many"): ({"ncols": 1 << 31}, "holds up to"),
    ("virtual", "other entries"): ({"inner_nvals": 7}, "words: expected 7 entries"),
}  # fmt: skip


@pytest.mark.parametrize("key", ["nib", "virtual", "cr2", pytest.param("cgr", marks=pytest.mark.slow)])
def test_every_changed_bit_is_refused_or_another_matrix(device, key):
    """Changed bits of stored rows: nothing is read beyond the arrays, and invalid encodings are rejected."""
    form = MADE[key]()
    d, refused, other = form.device, 0, 0
    for name, array in form.arrays().items():
        data = host(array)
        for bit in range(8 * data.nbytes):
            changed = data.copy()
            changed.view(np.uint8)[bit // 8] ^= 1 << bit % 8
            try:
                made = type(form).restored(d, form.numbers(), form.arrays() | {name: d.asarray(changed)})
                made.check()
            except ValueError:
                refused += 1
            else:
                other += 1
                assert not made.equals(form)
    assert refused > 2 * other > 0


@pytest.mark.in_turn
@pytest.mark.parametrize(("key", "lie"), LIES)
def test_lies_are_refused(device, key, lie):
    change, match = LIES[key, lie]
    form = MADE[key]()
    shorter = [({}, {name: array[:-1]}, "expected") for name, array in form.arrays().items()]
    for numbers, arrays, words in ((change, {}, match), *shorter):
        with pytest.raises(ValueError, match=words):
            type(form).restored(form.device, form.numbers() | numbers, form.arrays() | arrays).check()


@pytest.mark.parametrize("key", MADE)
def test_pulls_of_rows_in_turn_and_of_some(key):
    """On the CPU the next entry of a row, or the next row, is decoded before it is used: rows of none to a hundred
    entries, with gaps of all sizes, all of them, and those that a mask allows; to their end, or to their first hit."""
    rng = np.random.default_rng(7)
    n = 1 << 20
    rows = np.repeat(np.arange(200), rng.integers(0, 100, 200) * rng.integers(0, 2, 200))
    keys = np.unique(rows * n + (rng.random(len(rows)) * (1 << rng.integers(5, 21, len(rows)))).astype(np.int64))
    how = {"nrows": 200, "ncols": n, "device": "cpu"}
    A, B = (gb.Matrix.from_coo(keys // n, keys % n, True, format=form, **how) for form in (key, "csr"))
    x = gb.Vector.from_dense(rng.integers(1, 9, n).astype(np.float32), device="cpu")
    hits = gb.Vector.from_coo(np.unique(keys % n)[::7], True, size=n, device="cpu")
    some = gb.Vector.from_coo(np.flatnonzero(rng.random(200) < 0.4), True, size=200, device="cpu")
    for u, semiring in ((x, gb.semiring.plus_second), (hits, gb.semiring.lor_land)):
        for mask in (None, some.S, ~some.S):
            found, wanted = (M.mxv(u, semiring).new(mask=mask) for M in (A, B))
            assert found.isequal(wanted) and found.nvals


@pytest.mark.parametrize("form", ["nib", "cgr", "cr2"])
def test_rows_that_are_asked_for_are_decoded_alone(device, form, monkeypatch, tune):
    """Parts, lines and entries, against those of plain rows; nothing reads the rest."""
    tune({"cr2.log_cluster": 5})
    rng, n = np.random.default_rng(7), 300
    lengths = rng.integers(0, 12, n)
    lengths[[3, 40, 299]] = 280, 0, 150
    i = np.repeat(np.arange(n), lengths)
    j = np.concatenate([rng.permutation(n)[:k] for k in lengths])
    j[i == 299] = np.arange(100, 250)
    for x in (True, np.arange(len(i), dtype=np.float32)):
        A, plain = (gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n, format=key) for key in (form, "csr"))
        if x is not True:
            A._store.structure.primary.ranks()  # they are kept, as values are
        with monkeypatch.context() as m:
            m.setattr(type(A._store.structure.primary), "to_csr", None)
            several = ([3, 299, 40, 3, 0], [40], list(range(n))[::-1])
            parts = [(rows, cols) for rows in several for cols in (slice(None), [5, 120, 121])]
            for part in (*parts, (slice(3, 6), [9, 4, 9]), *((row, slice(None)) for row in (3, 40, 299))):
                assert A[part].new().isequal(plain[part].new(), check_dtype=True)
            assert all(A.get(row, k) == plain.get(row, k) for row in (3, 40, 299) for k in (0, 120, 299))


@pytest.mark.parametrize(("form", "values"), [("nib", True), ("cgr", [3, 4, 5])])
def test_a_saved_one_is_mapped(form, values, tmp_path, on_the_cpu):
    """The words are those of the mapped file: none is read before a product needs it."""
    A = gb.Matrix.from_coo([0, 0, 2], [1, 2, 0], values, nrows=3, ncols=3, format=form)
    A.save(tmp_path / "a.bitblas")
    B = gb.load(tmp_path / "a.bitblas")
    words = B._store.structure.primary.words
    assert not words.flags.owndata and B.format == form
    while isinstance(words, np.ndarray):
        words = words.base
    assert isinstance(words, memoryview) and B.isequal(A)
