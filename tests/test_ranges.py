"""How threads of the host share the units of a kernel."""

import graphblas
import numpy as np
import pytest
from battery import generator

import bitblas
from bitblas import device as devices
from bitblas.device import threads


def test_ranges_are_for_kernels_on_the_host(device):
    d = devices.get(device)
    assert d.ranges(99, 100) is None and d.ranges(1000, 100, work=99) is None and not d.splits(99, 100)
    found = d.ranges(1000, 100), d.ranges(7, 100, work=100, parts=3)
    assert d.splits(100, 100) == (device == "cpu")
    if device == "cpu":
        assert found[0].tolist() == threads.even_ranges(1000, d.parts).tolist() and found[1].tolist() == [0, 3, 6, 7]
    else:
        assert found == (None, None)


@pytest.mark.parametrize("rows", [0, 1, 5, 300])
def test_ranges_cover_all_units_once(rows):
    length = generator("ranges", rows).integers(0, 9, rows)
    ptr = np.append(0, np.cumsum(length))
    made = [threads.even_ranges(rows, 8), threads.balanced_ranges(ptr, 8), threads.balanced_ranges(ptr, 8, 64)]
    made += [threads.ranges_by_work(ptr[1:], 8)] if rows else []
    for limits in made:
        assert len(limits) == 9 and limits[0] == 0 and limits[-1] == rows and (np.diff(limits) >= 0).all()
    assert all(limit % 64 == 0 for limit in made[2].tolist()[:-1])
    if rows == 300:
        work = np.diff(ptr[made[1]]) + np.diff(made[1])
        assert work.max() - work.min() <= 2 * (length.max() + 1)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_sums_of_few_long_rows_are_accumulated_once(threads):
    """There are more ranges than words of the output: none of them is without rows in the middle of a word."""
    n, rng = 300, generator("ranges", "accumulated")
    keys, at = rng.choice(n * n, 20_000, replace=False), rng.choice(n, 200, replace=False)
    with bitblas.config.set(device="cpu", threads=threads):
        A = bitblas.Matrix.from_coo(keys // n, keys % n, rng.integers(1, 9, len(keys)), float, nrows=n, ncols=n)
        u = bitblas.Vector.from_coo(at, rng.integers(1, 9, len(at)), float, size=n)
        w = bitblas.Vector.from_dense(np.ones(n))
        expected = A.mxv(u).new().ewise_add(w, "plus").new()
        w(accum="plus") << A.mxv(u)
        assert w.isequal(expected)


def test_ranges_of_one_size_are_made_once():
    """Which a statement on full vectors would else take longer for than for the vectors."""
    found = threads.even_ranges(1 << 20, 2)
    assert threads.even_ranges(1 << 20, 2) is found
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_balanced_ranges_are_found_by_bisection():
    length = generator("ranges", "bisection").integers(0, 40, 1000)
    ptr = np.append(0, np.cumsum(length)).astype(np.int32)
    work = np.linspace(0, float(ptr[-1]) + 1000, 9)
    expected = np.searchsorted(ptr.astype(float) + np.arange(1001), work)
    assert threads.balanced_ranges(ptr, 8)[1:-1].tolist() == expected[1:-1].tolist()


@pytest.mark.parametrize("most", [0, 1, 3])
def test_what_ranges_write_side_by_side(most):
    """Unions, selections, regions and products leave gaps between the ranges of rows, however many of them a context
    lets threads share."""
    rng, n = np.random.default_rng(0), 400
    keys = [np.unique(rng.integers(0, n * n, 20_000)) for _ in range(2)]

    def found(gb):
        A, B = (gb.Matrix.from_coo(k // n, k % n, 1.0 + k % 7, nrows=n, ncols=n) for k in keys)
        made = A.ewise_add(B, gb.binary.plus), A.select(gb.select.valuegt, 3), A[50:350, :], A.mxm(B)
        return [x for C in made for x in C.new().to_coo()]

    with bitblas.config.set(device="cpu", threads=4), bitblas.ss.Context(nthreads=most):
        for x, y in zip(found(bitblas), found(graphblas), strict=True):
            np.testing.assert_array_equal(x, y)
