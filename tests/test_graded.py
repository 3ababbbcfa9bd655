"""Degree binning: pulls of power-law matrices from full vectors on a GPU, against NumPy."""

import numpy as np
import pytest
from battery import generator

import bitblas as gb
from bitblas import device as devices
from bitblas import tuning
from bitblas.config import config
from bitblas.formats.csr import kernels
from bitblas.formats.csr.kernels import column_types, hub_columns

N = 3000


@pytest.fixture
def small(tune):
    """Few entries are graded, and few columns hot."""
    tune({"csr.binned_from": 1, "coded.binned_from": 1})
    tune({"binned.shared.bytes": 6 << 10, "binned.shared.fewer_bytes": 6 << 10})


def skewed(rng, n=N):
    """Rows of every length, long ones that are cut among them, and empty ones; most entries in the first columns."""
    lengths = np.zeros(n, np.int64)
    lengths[:: n // 60] = [n, 2049, 2048, 1025, 1024, 513, *range(54)]
    lengths[5:200] += 3
    rows = np.repeat(np.arange(n), lengths)
    cols = np.concatenate([np.sort(rng.permutation(n)[:k]) for k in lengths])
    keys = np.unique(rows * n + np.where(lengths[rows] < 1000, cols**2 // n, cols))
    return keys // n, keys % n


def host(v):
    return [devices.get(config.device).to_host(x) for x in v.to_coo()]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("form", "semiring", "dtype", "turned"),
    [
        ("csr", "plus_second", "FP32", False), ("mplg", "min_plus", "INT64", True),
        ("cgr", "plus_second", "FP32", False), ("cgr", "min_plus", "FP32", False), ("cgr", "min_plus", "INT64", True),
        ("nib", "plus_second", "FP32", False), ("nib", "plus_second", "INT64", True),
        ("nib", "min_plus", "FP32", False), ("nib", "min_plus", "INT64", True),
    ],
)  # fmt: skip
def test_answers(device, small, monkeypatch, form, semiring, dtype, turned):
    of, rng = {"FP32": np.float32, "INT64": np.int64}[dtype], generator("graded")
    rows, cols = skewed(rng)
    cols = N - 1 - cols if turned else cols
    x = rng.integers(1, 9, len(rows)).astype(of) if semiring == "min_plus" else True
    u = rng.integers(1, 9, N).astype(of)
    A = gb.Matrix.from_coo(rows, cols, x, nrows=N, ncols=N, format=form)
    made = A.mxv(gb.Vector.from_dense(u), gb.semiring[semiring][of])
    at = np.unique(rows)
    begin = np.searchsorted(rows, at)
    values = np.minimum.reduceat(x + u[cols], begin) if semiring == "min_plus" else np.add.reduceat(u[cols], begin)
    plan, gpu = gb.explain(made), devices.get(config.device).is_simt
    assert ("degree-binned" in plan.reason) == gpu and ("768 hot" in plan.reason or "1536 hot" in plan.reason) == (
        gpu and not turned and form != "cgr"
    )
    assert ('A.reorder("degree")' in plan.reason) == (gpu and turned and form != "cgr")
    w = made.new()
    for got, right in zip(host(w), (at, values), strict=True):
        assert np.array_equal(got, right)
    accum = gb.monoid[semiring.partition("_")[0]]
    w(accum) << made
    twice = values if semiring == "min_plus" else 2 * values
    assert np.array_equal(host(w)[1], twice)
    w(w.S, gb.replace) << made
    assert np.array_equal(host(w)[1], values)
    some = np.flatnonzero(np.arange(N) % 3 == 1)
    mask = gb.Vector.from_coo(some, True, size=N)
    assert ("degree-binned" in gb.explain(made, mask=mask.S).reason) == gpu
    for allowed, to in ((np.isin(at, some), mask.S), (~np.isin(at, some), ~mask.S)):
        w(to, gb.replace) << made
        assert np.array_equal(host(w)[0], at[allowed]) and np.array_equal(host(w)[1], values[allowed])
        w << made
        w(to, accum) << made  # what the mask closes stays
        assert np.array_equal(host(w)[1], np.where(allowed, twice, values))


@pytest.mark.parametrize("form", ["nib", "cgr"])
def test_codes_longer_than_a_word(device, small, form):
    """Columns so far apart that values need more than 24 bits, first in their rows and later."""
    n, far = 40, (1 << 24) + 300
    cols = [[0, far - 1], [far - 3, far - 2, far - 1], [5, 6, 7, 8, 9, far - 9], *([k, far - 1 - k] for k in range(37))]
    u = np.zeros(far, np.int8)
    for at in {j for row in cols for j in row}:
        u[at] = at % 5 + 1
    i = np.repeat(np.arange(n), [len(row) for row in cols])
    A = gb.Matrix.from_coo(i, np.concatenate(cols), True, nrows=n, ncols=far, format=form)
    w = A.mxv(gb.Vector.from_dense(u), gb.semiring.plus_second["INT8"]).new()
    assert host(w)[1].tolist() == [sum(int(u[j]) for j in row) for row in cols]


def test_same_bits(device, small):
    """Float sums have a fixed order, in every repetition."""
    rng = generator("graded bits")
    rows, cols = skewed(rng)
    u = gb.Vector.from_dense(rng.random(N, np.float32) - 0.5)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)
    first, again = (host(A.mxv(u, gb.semiring.plus_second).new())[1].tobytes() for _ in range(2))
    assert first == again


def test_grades(device, small):
    """Every entry is in one piece, every piece in one run; long rows are cut."""
    rows, cols = skewed(generator("grades"))
    A = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)
    form = A._store.structure.layout("csr")
    bins, xp = kernels.degree_bins(form), form.device.xp
    found = bins.pieces
    entries = xp.concatenate([xp.arange(int(b), int(b) + int(k)) for b, k in zip(found.begin, found.length)])
    assert np.array_equal(np.sort(devices.get(config.device).to_host(entries)), np.arange(A.nvals))
    assert found.segments == 6 and int(found.piece[-1]) == len(found.row) == len(np.unique(rows)) - 3 + 6
    for grade in range(len(kernels.log_limits())):
        some = found.length[int(found.piece[grade]) : int(found.piece[grade + 1])]
        assert (some <= 1 << (tuning.count("csr.bin_log_longest") - grade)).all()
        runs = int(found.run[grade + 1]) - int(found.run[grade])
        assert runs == -(-len(some) // kernels.rows_of_run(grade))
    assert bins.runs == int(found.run[-1])


def test_cached_decisions_follow_their_thresholds(device, tune):
    """What a layout keeps in its cache is computed again when rows of the tuning table change."""
    rows, cols = skewed(generator("thresholds"))
    layout = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N)._store.structure.layout("csr")
    bins = kernels.degree_bins(layout).pieces
    with tuning.override({"csr.bin_log_longest": 8, "rows.hot_share": 0.0}):
        cut = kernels.degree_bins(layout).pieces
        assert int(cut.length.max()) == 1 << 8 < int(bins.length.max()) and cut.segments > bins.segments
        assert layout.format.kernels["mxv.pull.binned"].hot(layout, 9) == 9
    tune({"rows.hot_share": 2.0, "rows.hub_column_skew": 1e9})
    assert layout.format.kernels["mxv.pull.binned"].hot(layout, 9) == 0
    assert hub_columns(layout, column_types(layout)) is None
    tune({"rows.hub_column_skew": 1})
    assert layout.device.host_memory or hub_columns(layout, column_types(layout)) is not None


@pytest.mark.parametrize("key", ["csr", "mplg"])
def test_rows_of_a_rank_have_hub_columns(emulator, key):
    """Of a matrix that is not square, the entries of columns are counted."""
    rng = generator("hub columns of some rows")
    rows, cols = rng.integers(0, 90, 900), np.minimum(rng.integers(0, 300, 900), rng.integers(0, 300, 900))
    rows[:200] = 7  # a long one
    keys = np.unique(rows * 300 + cols)
    A = gb.Matrix.from_coo(keys // 300, keys % 300, True, nrows=100, ncols=300, device="emulator")
    layout = A._store.structure.layout(key)
    hub, filled = hub_columns(layout, column_types(layout))
    counts = np.bincount(keys % 300, minlength=300)
    for row in range(100):
        some = keys[keys // 300 == row] % 300
        assert bool(filled[row // 64] >> np.uint64(row % 64) & np.uint64(1)) == (len(some) > 0)
        assert not len(some) or counts[hub[row]] == counts[some].max()
