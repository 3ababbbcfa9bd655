"""Parts of matrices by lists of rows and columns: extracted and assigned, against python-graphblas."""

from __future__ import annotations

import graphblas
import numpy as np
import pytest

import bitblas

N = 24
INDEX = {
    "all": slice(None), "ascending": [1, 4, 5, 11, 23], "range": slice(3, 17), "mixed": [9, 2, 20, 0],
    "none": np.zeros(0, np.int64),
}  # fmt: skip
PAIRS = [
    ("all", "ascending"), ("ascending", "range"), ("range", "all"), ("mixed", "ascending"), ("ascending", "mixed"),
    ("none", "ascending"), ("range", "none"), ("mixed", "mixed"), ("all", "all"),
]  # fmt: skip


def random(gb, nrows, ncols, dtype, seed, density=0.3, **form):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((nrows, ncols)) < density)
    values = True if dtype == "iso" else rng.integers(1, 9, len(rows))
    dtype = "INT16" if dtype == "iso" else dtype
    return gb.Matrix.from_coo(rows, cols, values, dtype, nrows=nrows, ncols=ncols, **(form if gb is bitblas else {}))


def same(ours, theirs):
    assert ours.dtype.name == theirs.dtype.name and ours.shape == theirs.shape
    to_host = ours.device.to_host
    for x, y in zip(ours.to_coo(), theirs.to_coo(), strict=True):
        np.testing.assert_array_equal(to_host(x), y)


@pytest.mark.in_turn
@pytest.mark.parametrize(("rows", "cols"), PAIRS)
def test_a_part(device, rows, cols):
    for dtype, form in (("iso", "csr"), ("INT16", "mplg"), ("FC64", "csr")):
        found = [
            random(gb, N, N, dtype, 1, device=device, format=form)[INDEX[rows], INDEX[cols]].new()
            for gb in (bitblas, graphblas)
        ]
        same(*found)
    if rows == "all":  # an index that comes again
        found = [random(gb, N, N, "FP64", 1)[[3, 3, 1], INDEX[cols]].new() for gb in (bitblas, graphblas)]
        same(*found)


@pytest.mark.parametrize("dtype", ["iso", "FP64"])
def test_a_part_of_few_entries(device, dtype):
    """A ball in a large graph: out of it, and to its place in a matrix that is empty."""
    n, ball, found = 1 << 14, [1, 4, 5, 900, 16383], []
    for gb in (bitblas, graphblas):
        where = {"device": device} if gb is bitblas else {}
        rows, cols = np.array([*ball, *range(20, 900)]), np.array([*ball[::-1], *range(1020, 1900)])
        A = gb.Matrix.from_coo(rows, cols, 2 if dtype == "iso" else rows + 0.5, nrows=n, ncols=n, **where)
        C = gb.Matrix(A.dtype, n, n, **where)
        C[ball, ball] << A[ball, ball].new()
        found.append((C, A[ball, [5]].new(), A[ball, [7, 4]].new(), A[[5, 1], ball].new(), A[ball, [2, 3]].new()))
    for ours, theirs in zip(*found, strict=True):
        same(ours, theirs)


@pytest.mark.in_turn
@pytest.mark.parametrize(("rows", "cols"), PAIRS)
def test_a_part_that_is_assigned(device, rows, cols):
    """Into empty and full objects, and into another type; under a mask, with an accumulator."""
    for dtype, density, how in (
        ("FP64", 0.0, "plain"), ("FP64", 0.4, "plain"), ("INT16", 0.4, "plain"), ("FP64", 0.4, "accum"),
        ("FP64", 0.4, "mask"), ("FP64", 0.4, "complement"),
    ):  # fmt: skip
        found = []
        for gb in (bitblas, graphblas):
            C, M = (random(gb, N, N, dtype, seed, density, device=device) for seed in (2, 3))
            shape = C[INDEX[rows], INDEX[cols]].new().shape
            T = random(gb, *shape, "FP64", 4, device=device)
            given = {
                "plain": (), "accum": (gb.binary.plus,), "mask": (M.S,), "complement": (~M.S, gb.replace),
            }[how]  # fmt: skip
            target = C(*given) if given else C
            target[INDEX[rows], INDEX[cols]] << T
            found.append(C)
        same(*found)


@pytest.mark.parametrize("threads", (1, 2, 5))
def test_parts_that_threads_share(threads):
    """More entries than one thread processes: rows of every length, some of them not selected."""
    n, rng = 600, np.random.default_rng(5)
    flags = rng.random((n, n)) < np.linspace(0, 0.4, n)[rng.permutation(n), None]
    i, j = np.flatnonzero(rng.random(n) < 0.8), np.flatnonzero(rng.random(n) < 0.6)
    mixed, values, found = rng.permutation(i), rng.random(flags.sum()), []
    assert flags[np.ix_(i, j)].sum() > 1 << 14
    with bitblas.config.set(device="cpu", threads=threads):
        for gb in (bitblas, graphblas):
            A = gb.Matrix.from_coo(*flags.nonzero(), values, nrows=n, ncols=n)
            C = A.apply(gb.unary.ainv).new()
            C[i, j] << A[mixed, j].new()
            found.append((A[mixed, j].new(), A[i, :].new(), C))
    for ours, theirs in zip(*found, strict=True):
        same(ours, theirs)
