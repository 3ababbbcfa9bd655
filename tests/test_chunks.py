"""Matrices from chunks equal those of all entries at once, and take the memory of their formula."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from battery import FORMS
from hypothesis import given
from hypothesis import strategies as st

import bitblas as gb
from bitblas import tuning
from bitblas.config import config
from bitblas.device import memory
from bitblas.exceptions import IndexOutOfBound, OutOfMemory
from bitblas.operations import build


def cut(*arrays, at: list[int]):
    """Arrays in pieces that end at these places."""
    ends = [0, *at, len(arrays[0])]
    return [tuple(x[a:b] for x in arrays) for a, b in itertools.pairwise(ends)]


def entries(n: int, k: int, seed: int = 1):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, k), rng.integers(0, n, k), rng.random(k)


def assert_equal(A, B) -> None:
    """The same to the bit: values, and arrays of the stored form."""
    a, b = A._store, B._store
    host = lambda x: np.asarray(a.device.to_host(x)).tobytes()
    assert (A.format, A.shape, A.dtype, a.iso) == (B.format, B.shape, B.dtype, b.iso) and A.nvals == B.nvals
    for (name, x), y in zip(a.structure.primary.arrays().items(), b.structure.primary.arrays().values(), strict=True):
        assert host(x) == host(y) and x.dtype == y.dtype, name
    assert host(a.values) == host(b.values)


@pytest.mark.parametrize("key", ["csr", "b2sr8", "mplg", "nib"])
def test_chunks_are_all_entries_at_once(device, key, tune):
    tune({"chunks.least_entries": 50})  # many bands
    i, j, x = entries(60, 900)
    how = {"nrows": 64, "ncols": 61, **FORMS[key]}
    at = [1, 1, 300, 301, 850]
    assert_equal(gb.Matrix.from_chunks(cut(i, j, at=at), **how), gb.Matrix.from_coo(i, j, True, **how))
    assert_equal(gb.Matrix.from_chunks(cut(i, j, at=at), 2.5, **how), gb.Matrix.from_coo(i, j, 2.5, **how))
    for op in ("plus", "second", "minus"):  # in the order in which they come
        how["dup_op"] = getattr(gb.binary, op)
        y = x if op == "plus" else (1000 * x).astype(np.int64)
        expected = gb.Matrix.from_coo(i, j, y, **how)
        parts = cut(i, j, y, at=at)
        assert_equal(gb.Matrix.from_chunks(parts, **how), expected)
        assert_equal(gb.Matrix.from_chunks(lambda parts=parts: iter(parts), **how), expected)
        assert_equal(gb.Matrix.from_chunks(iter(parts), **how), expected)
    how.pop("dup_op")
    unique = np.unique(i * 64 + j)
    arrays = unique // 64, unique % 64, np.arange(len(unique))
    assert_equal(gb.Matrix.from_chunks(cut(*arrays, at=[100, 200]), **how), gb.Matrix.from_coo(*arrays, **how))
    assert len(i) > len(unique)


@pytest.mark.parametrize("key", ["mplg", "nib"])
def test_chunks_whose_rows_ascend_are_gone_through_once_more(key, tune, on_the_cpu):
    tune({"chunks.least_entries": 40})
    i, j, x = entries(300, 2000)
    order = np.argsort(i, kind="stable")
    i, j, x = i[order], j[order], x[order]
    passes = []

    def source(parts):
        passes.append(1)
        return iter(parts)

    how = {"nrows": 400, "ncols": 300, "format": key, "dup_op": gb.binary.plus}
    for parts, times in ((cut(i, j, x, at=[9, 700, 1500]), 2), (cut(i[::-1], j[::-1], x[::-1], at=[700]), 9)):
        passes.clear()
        A = gb.Matrix.from_chunks(lambda parts=parts: source(parts), **how)
        whole = [np.concatenate(of) for of in zip(*parts, strict=True)]
        assert_equal(A, gb.Matrix.from_coo(*whole, **how))
        assert len(passes) == times + (key == "nib")  # it looks at some rows first
    assert gb.Matrix.from_chunks([], nrows=70, ncols=7, format=key).nvals == 0
    assert gb.Matrix.from_chunks([([69], [3])], nrows=70, ncols=7, format=key).to_coo()[0].tolist() == [69]


def peak_of(parts, **how):
    """The matrix from chunks on the CPU, and the bytes that were in use at most while it was made."""
    with config.set(device="cpu"):
        gb.Matrix.from_chunks(parts[:2], **how)  # compiles
        tracemalloc.start()
        try:
            return gb.Matrix.from_chunks(parts, **how), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("shape", [(20_000, 20_000, 150_000), (100_000, 100_000, 150_000), (400, 100_000, 150_000)])
@pytest.mark.parametrize("key", ["mplg", "nib"])
def test_bands_never_hold_the_plain_columns_of_all(key, shape, tune):
    """The peak is what the formula says of the form that is made, with a tenth for what NIB takes by guess."""
    nrows, ncols, k = shape
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, nrows, k), rng.integers(0, ncols, k)
    parts = cut(i, j, at=list(range(4000, k, 4000)))
    tune({"nib.slice": 1 << 12, "chunks.most_entries.cpu": 1 << 12})
    A, peak = peak_of(parts, nrows=nrows, ncols=ncols, format=key)
    bands, longest = tuning.count("chunks.bands"), int(np.bincount(i).max())
    band = -(-k // bands)
    besides = 4 * (band + longest) + 8 * nrows + 24 * (nrows // bands + 1) + 96 * (4096 + longest)
    assert peak <= 1.1 * A.memory().structure + besides + (1 << 18)


@pytest.mark.parametrize("key", ["csr", "nib"])
def test_other_chunks_than_were_counted_are_refused(device, key):
    """As many entries, but not the same; more; fewer."""
    first = [([0, 0, 3], [0, 1, 2]), ([2, 1], [1, 1])]
    for second in ([([0, 0, 0], [0, 1, 2]), ([2, 1], [1, 1])], [*first, ([1], [0])], first[:1]):
        times = iter([first, second])
        with pytest.raises(ValueError, match=r"expected .* in every pass"):
            gb.Matrix.from_chunks(lambda times=times: iter(next(times)), nrows=4, ncols=4, format=key)


def test_what_does_not_fit_is_foreseen(few_objects, tune):
    """The error has the bytes, and the format that would fit; without a requested format that one is built."""
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, 2000, 300_000), rng.integers(0, 2000, 300_000)
    parts = cut(i, j, at=list(range(3000, len(i), 3000)))
    how = {"nrows": 2000, "ncols": 2000, "device": "cpu"}
    whole = gb.Matrix.from_coo(i, j, True, format="nib", **how)
    tune({"chunks.most_entries.cpu": 1 << 12})
    with config.set(memory_limit=memory.bytes_on(whole._store.device) + 1_600_000):
        told = r"300000 entries from chunks as csr: needs \d+ bytes on device 'cpu', .*limit is .*format='nib' n"
        with pytest.raises(OutOfMemory, match=told):
            gb.Matrix.from_chunks(parts, format="csr", **how)
        A = gb.Matrix.from_chunks(parts, **how)
    assert A.format == "mplg" and A.isequal(whole)
    with config.set(memory_limit=memory.bytes_on(whole._store.device) + 100_000):
        for form in ("auto", "nib", "mplg", "b2sr"):
            with pytest.raises(OutOfMemory, match=r"300000 entries from chunks as .*needs"):
                gb.Matrix.from_chunks(parts, format=form, **how)


@given(data=st.data())
def test_random_chunks(data):
    n, k = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 120))
    i, j, x = entries(n, k, data.draw(st.integers(0, 99)))
    at = sorted(data.draw(st.lists(st.integers(0, k), max_size=4)))
    least = data.draw(st.sampled_from([1, 7, 1000]))
    with config.set(device="cpu"), tuning.override({"chunks.least_entries": least}):
        found = gb.Matrix.from_chunks(cut(i, j, x, at=at), nrows=n, ncols=n, dup_op=gb.binary.plus)
        assert_equal(found, gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n, dup_op=gb.binary.plus))


def test_sizes_and_types_are_those_of_all_chunks(on_the_cpu):
    parts = [([3, 1], [0, 5], [1, 2]), ([], [], np.zeros(0)), ([9], [2], [2.5])]
    A = gb.Matrix.from_chunks(parts)
    assert (A.shape, A.dtype) == ((10, 6), gb.dtypes.FP64)
    assert A.to_dicts() == {1: {5: 2.0}, 3: {0: 1.0}, 9: {2: 2.5}}
    assert gb.Matrix.from_chunks(parts, dtype="INT32").to_dicts() == {1: {5: 2}, 3: {0: 1}, 9: {2: 2}}
    assert gb.Matrix.from_chunks([([0, 1], [1, 0], 4)]).to_dicts() == {0: {1: 4}, 1: {0: 4}}
    assert gb.Matrix.from_chunks([], nrows=3, ncols=2).nvals == 0
    wide = gb.Matrix.from_chunks(iter([([0], [1 << 40]), ([5], [7])]), nrows=6, ncols=1 << 41)
    assert wide.to_coo()[1].tolist() == [1 << 40, 7]


def test_what_is_wrong_with_chunks_is_told(on_the_cpu):
    for parts, how, error, match in (
        ([([0], [1]), ([0], [1], [2])], {}, ValueError, "expected 2 arrays in each, got 3"),
        ([([0],)], {}, ValueError, r"expected 2 or 3 \(rows, columns and"),
        ([([0], [1, 2])], {}, ValueError, "lengths must match"),
        ([([0], [1]), ([7], [1])], {"nrows": 7}, IndexOutOfBound, "rows: expected indices from 0 to 6, got 7"),
        ([([0], [-1])], {}, IndexOutOfBound, "columns: expected indices from 0"),
        ([([0], [1], [1]), ([0], [1], [2])], {}, ValueError, "Duplicate indices found"),
        ([([0], [1])], {"dup_op": gb.binary.plus}, ValueError, "dup_op must be None"),
        ([([0], [1])], {"value": [1, 2]}, ValueError, "value: expected a scalar"),
        ([], {}, ValueError, "nrows, ncols: expected sizes, because there are no"),
        (3, {}, TypeError, "not iterable"),
    ):
        with pytest.raises(error, match=match):
            gb.Matrix.from_chunks(parts, **how)


SHAPES = ((1000, 1000, 60_000, 4000), (200_000, 50, 3000, 500), (100, 100_000, 50_000, 50_000))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_peak_memory_is_what_the_formula_says(shape, weighted):
    nrows, ncols, k, size = shape
    rng = np.random.default_rng(3)
    i, j = rng.integers(0, nrows, k), rng.integers(0, ncols, k)
    parts = cut(i, j, *([rng.random(k)] * weighted), at=list(range(size, k, size)))
    how = {"nrows": nrows, "ncols": ncols, "dup_op": gb.binary.plus if weighted else None, "format": "csr"}
    A, peak = peak_of(parts, **how)
    value, longest = 8 * weighted, int(np.bincount(i).max())
    said = build.peak(A._store.device, k, size, longest, nrows, ncols, value) + (4 + value) * A.nvals
    assert said / 4 < peak <= said


def test_chunks_with_far_rows(device):
    """What from_coo gives, whether the far index comes first or last, and where rows are few at first and then many."""
    far, on = 1 << 40, {"device": device}
    parts = [([5, 1], [2, 3], [1, 2]), ([far, 5], [far + 1, 9], [3, 4])]
    for some in (parts, parts[::-1]):
        i, j, x = (np.concatenate(arrays) for arrays in zip(*some))
        for source in (some, iter(some)):
            A = gb.Matrix.from_chunks(source, **on)
            assert A.isequal(gb.Matrix.from_coo(i, j, x, **on)) and A.format == "hyper"
    with pytest.raises(ValueError, match="Duplicate"):
        gb.Matrix.from_chunks([*parts, ([5], [9], [7])], **on)
    joined = gb.Matrix.from_chunks([*parts, ([5], [9], [7])], dup_op="plus", **on)
    assert joined[5, 9].value == 11 and joined.nvals == 4
    assert gb.Matrix.from_chunks([([far], [0])], **on).nrows == far + 1
    empty = gb.Matrix.from_chunks([], nrows=far, ncols=far, **on)
    assert (empty.shape, empty.nvals, empty.format) == ((far, far), 0, "hyper")
    n = 1 << 23  # hypersparse until all chunks are read
    rng = np.random.default_rng(4)
    many = [(rng.integers(0, n, 150_000), rng.integers(0, n, 150_000)) for _ in range(5)]
    i, j = (np.concatenate(arrays) for arrays in zip(*many))
    for shape in ({}, {"nrows": n, "ncols": n}):
        A = gb.Matrix.from_chunks(many, **shape, **on)
        assert A.isequal(gb.Matrix.from_coo(i, j, True, nrows=A.nrows, ncols=A.ncols, **on)) and A.format == "csr"
