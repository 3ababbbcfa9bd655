"""NIB: the code nibble by nibble, values of every length, walks of every width, segments of long rows, and
programs along it."""

from __future__ import annotations

import numpy as np
import pytest
import test_loop
from battery import MATRICES
from battery_runs import ALGEBRAS
from coded_rows import encoded, head_of, nibbles, row_values
from test_battery import run_matrices
from test_formats import assert_sound, host, make

import bitblas as gb
from bitblas import device as devices
from bitblas.exceptions import InvalidValue
from bitblas.formats import format_of
from bitblas.formats.coded import blocks_of
from bitblas.formats.csr.layout import from_arrays
from bitblas.formats.nib.layout import Nib
from bitblas.io import host_coo
from bitblas.plan.facts import facts


def structure(rows, cols, nrows: int, ncols: int) -> Nib:
    found = gb.Matrix.from_coo(rows, cols, True, nrows=nrows, ncols=ncols, format="nib")._store.structure.primary
    assert isinstance(found, Nib)
    return found


def test_the_code(device):
    """A row nibble by nibble: 3 bits each, the lowest first, bit 3 at the end of a value."""
    row = [12, 18, 19, 20, 21, 24, 27, 28, 29, 101]
    form = structure([16] * 10, row, 102, 102)
    assert row_values(16, row) == [7, 5, 0, 0, 0, 2, 2, 0, 0, 71]
    assert nibbles(form, 16) == [0xF, 0xD, 8, 8, 8, 0xA, 0xA, 8, 8, 7, 0, 9]
    assert nibbles(form, 15) == nibbles(form, 17) == nibbles(form, 101) == []
    assert [head_of(head) for head in host(form.heads).tolist()] == [(0, 4)] + [(6, 0)] * 4  # 12 nibbles in 2 words


def long_values(n: int):
    """Rows with values of 1 to 11 nibbles, each next to short ones, so that they begin at every nibble of a word."""
    rows, cols = [], []
    for row in range(70):
        at = 3 * row
        for k in range(30):
            at += 1 + (row * k) % 3 + (1 << min(30, 3 * ((row + k) % 11)) if k % 5 == 2 else 0)
            if at >= n:
                break
            rows.append(row)
            cols.append(at)
    rows += [0, 69, 69]
    cols += [n - 1, n - 1, 0]
    key = np.unique(np.array(rows) * n + np.array(cols))
    return key // n, key % n


@pytest.mark.parametrize("lanes", [1, 32])
def test_values_of_every_length(device, lanes, tune):
    """Encoded as they should be, and decoded by any number of lanes."""
    tune({"nib.code_words_per_lane": 1e-3 if lanes == 32 else 1e9})
    n = (1 << 31) - 1
    rows, cols = long_values(n)
    form = structure(rows, cols, 70, n)
    found = form.coo()
    assert np.array_equal(host(found[0]), rows) and np.array_equal(host(found[1]), cols)
    assert max(len(encoded([v])) for r in range(70) for v in row_values(r, cols[rows == r].tolist())) == 11
    for row in (0, 1, 37, 69):
        assert nibbles(form, row) == encoded(row_values(row, cols[rows == row].tolist()))
    assert_sound(form)


def test_wide_ends_and_many_rows(device):
    """Ends of more than 32 bits are read and written; groups without entries have no block."""
    sizes = np.zeros(64, np.int64)
    sizes[[3, 31, 40]] = 1 << 33, 5, 7
    d = devices.get(gb.config.device)
    heads, ends, total = blocks_of(d, 64, d.asarray(sizes), 8)
    first = 34 + (1 << 30) + 1
    assert [head_of(int(h)) for h in host(heads)] == [(0, 34), (first, 4), (first + 5, 0)]
    assert int(total[0]) == first + 5
    assert host(ends)[[2, 3, 30, 31, 39, 63]].tolist() == [0, 1 << 33, 1 << 33, (1 << 33) + 5, 0, 7]
    form = structure([500], [3], 1000, 1000)
    assert [head_of(head) for head in host(form.heads).tolist()] == [(0, 0)] * 15 + [(0, 4)] + [(5, 0)] * 17


@pytest.mark.parametrize("threads", [False, True])
def test_ranges_of_rows(threads, tune):
    """On the CPU threads take whole groups of rows."""
    if threads:
        tune({"formats.parallel_entries": 1})
    with gb.config.set(device="cpu"):
        for name in ("gaps", "hub", "tall", "130x130", "last only"):
            assert_sound(make(MATRICES[name](), True, "BOOL", "nib")._store.structure.primary)


# Matrices, and one product of each kind; long rows in segments in half of the cases (`run_matrices`).
SHAPES = ("gaps", "hub", "long hub", "dense column", "wide", "all ones", "no entries", "63x63", "65x65")
CASES = (("mxv pull", 0, "half iso", True), ("mxv pull", 5, "half", False), ("vxm push", 12, "sparse", False))


@pytest.mark.parametrize("call, algebra, u, iso", CASES)
def test_products(device, call, algebra, u, iso, tune, monkeypatch):
    run_matrices(SHAPES, "nib", call, ALGEBRAS[algebra], u, iso, tune, monkeypatch, accum=False, replace=True)


@pytest.mark.parametrize("name", ["any_pair", "plus_times"])
def test_products_at_a_mask(device, name, tune):
    """Rows of A that need the table several times, rows of the mask that need several steps, rows without entries; on a
    GPU no rows are made of it."""
    tune({"nib.dot_slots": 512})
    n, rng = 700, np.random.default_rng(3)
    i = np.concatenate([np.zeros(n, int), np.full(n // 2, 5), rng.integers(0, n, 3000) // 9 * 9 % n])
    j = np.concatenate([np.arange(n), np.arange(0, n, 2), rng.integers(0, n, 3000)])
    dense = np.zeros((n, n))
    dense[i, j] = rng.integers(1, 9, len(i))
    A = gb.Matrix.from_coo(*dense.nonzero(), dense[dense.nonzero()], nrows=n, ncols=n, format="nib")
    with gb.trace() as seen:
        found = A.mxm(A.T, gb.semiring[name][gb.dtypes.FP64]).new(mask=A.S)
    assert device == "cpu" or [x.kernel for x in seen if x.kernel.endswith("/dot")] == ["formats/nib/dot"]
    wanted = np.where(dense > 0, dense @ dense.T, 0)
    rows, cols, values = host_coo(found)
    assert np.array_equal(np.stack([rows, cols]), wanted.nonzero())
    assert np.array_equal(values, wanted[rows, cols] if name == "plus_times" else np.ones(len(rows)))


def test_marks_of_segments(emulator):
    """Each mark is between two values, with the column and the number of entries before it in its row."""
    with gb.config.set(device="emulator"):
        n = (1 << 31) - 1
        rows, cols = long_values(n)
        form = structure(rows, cols, 70, n)
        for part in (2, 3):
            found = form.format.view.hubs(form, 4, part)
            begin = host(found.begin).reshape(-1, 4)
            assert len(found.rows) > 10 and (begin[:, 0] <= begin[:, 3]).all()
            for s, row in enumerate(host(found.row_of).tolist()):
                values, at = row_values(row, cols[rows == row].tolist()), int(begin[s, 2])
                first = int(begin[host(found.first)[host(found.rows).tolist().index(row)], 0])
                assert begin[s, 0] == first + len(encoded(values[:at]))
                assert at == 0 or begin[s, 1] == cols[rows == row][at - 1]


def test_programs(device, tune):
    """Levels and shortest paths along nibbles; rows cut into segments."""
    test_loop.test_breadth_first_levels(device, ("nib", None))
    test_loop.test_shortest_paths(device, ("nib", None), gb.dtypes.INT64)
    tune({"loop.segment_entries": 2})
    test_loop.test_breadth_first_levels(device, ("nib", None))


@pytest.mark.slow  # every_kernel.py runs the same kernels
def test_parents(device):
    test_loop.test_breadth_first_parents(device, ("nib", None))


def test_what_it_cannot_number():
    with gb.config.set(device="cpu"):
        with pytest.raises(InvalidValue, match=r"'nib' holds up to 2147483647 rows and columns, .* 'csr'"):
            gb.Matrix.from_coo([0], [0], True, nrows=3, ncols=1 << 31, format="nib")
        wide = gb.Matrix.from_coo([0, 1], [0, 1 << 31], True, nrows=2, ncols=(1 << 31) + 1)
        assert "nib" not in wide.profile().facts.forms


def test_bytes_are_predicted(device):
    """To the byte where they are counted."""
    for name in ("gaps", "hub", "all ones", "wide", "tall", "129x129", "no entries", "0x5"):
        A = make(MATRICES[name](), True, "BOOL", "csr")
        held = A._store.structure.layout("nib").nbytes
        assert facts(A._store.structure, exact=True).bytes_of("nib") == held == A.memory().forms["nib"]
        assert facts(A._store.structure).bytes_of("nib") == pytest.approx(held, rel=0.1)


def test_the_estimate_is_near(device):
    """Of a graph too large to read every entry."""
    rng = np.random.default_rng(2)
    n, m = 3000, 40000
    keys = np.unique(rng.integers(0, n, m) * n + (rng.random(m) ** 3 * n).astype(np.int64))
    d = devices.get(gb.config.device)
    ptr = np.searchsorted(keys, np.arange(n + 1) * n)
    rows = from_arrays(d, n, n, d.asarray(ptr), d.asarray(keys % n))
    A = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n, format="csr")
    guess = dict(A.profile().facts.own)["nib"]
    assert guess == pytest.approx(format_of("nib").cost.count(rows), rel=0.05)


def scattered(**how):
    """Edges from anywhere to anywhere: the gaps of a row take fewer bits than its columns."""
    rng = np.random.default_rng(3)
    keys = np.unique(rng.integers(0, 600, 9000) * 600 + rng.integers(0, 600, 9000))
    return gb.Matrix.from_coo(keys // 600, keys % 600, True, nrows=600, ncols=600, **how)


def test_it_is_chosen_where_bytes_count(device):
    with gb.config.set(prefer="memory"):
        A = scattered()
    assert A.format == "nib" and A.memory().structure < 0.36 * (4 * A.nvals + 4 * 601)
    v, op = gb.Vector.from_dense(np.arange(600) % 7 < 3), gb.semiring.plus_second["INT64"]
    assert A.mxv(v, op).new().isequal(scattered(format="csr").mxv(v, op).new())
    assert list(A.memory().forms) == ["nib"] and "pull on nib" in str(gb.explain(A.mxv(v, gb.semiring.lor_land)))


def test_nobody_knows_what_it_gains_in_time(device):
    """Of rows that were made before bytes counted more than time: the profile names it, reads do not repay it."""
    A = scattered()
    with gb.config.set(prefer="memory"):
        assert A.profile().chosen == "nib" and A.format == "csr"
        A.mxv(gb.Vector.from_scalar(True, 600), gb.semiring.lor_land).new()
        assert A.format == "csr"
