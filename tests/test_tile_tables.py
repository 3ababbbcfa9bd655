"""Pulls along whole tiles of the CPU: from tables of sums of three columns, and without, the same sums."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb

N = 195  # the last tile is not full


def answer(monkeypatch, picked: int, ring: str, dtype: str, share: float):
    rng = np.random.default_rng(7)
    near = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) < 9
    rows, cols = np.nonzero(near & (rng.random((N, N)) < 0.6))
    A = gb.Matrix.from_coo(rows, cols, 3, dtype, nrows=N, ncols=N, format="b2sr", device="cpu")
    monkeypatch.setattr(A.device, "permute_bytes", picked)
    at = np.flatnonzero(rng.random(N) < share)
    u = gb.Vector.from_coo(at, (at * 7 % 31).astype(dtype.lower().replace("fp", "float")), size=N, device="cpu")
    mask = gb.Vector.from_coo(np.arange(0, N, 3), True, size=N, device="cpu")
    semiring = getattr(gb.semiring, ring)[dtype]
    every, some = A.mxv(u, semiring), u.vxm(A, semiring).new(mask=~mask.S)
    return [kernel for w in (every.new(), some) for kernel in w.to_coo()], every


@pytest.mark.parametrize("share", [1.0, 0.7])
@pytest.mark.parametrize("ring, dtype", [("plus_second", "FP32"), ("plus_times", "FP64"), ("min_plus", "FP64"),
                                         ("max_first", "INT32"), ("plus_minus", "INT64")])  # fmt: skip
def test_tables_give_the_same_sums(monkeypatch, ring, dtype, share):
    with gb.config.set(device="cpu"):
        with_tables, _ = answer(monkeypatch, 8, ring, dtype, share)
        without, _ = answer(monkeypatch, 0, ring, dtype, share)
    for a, b in zip(with_tables, without, strict=True):
        assert np.array_equal(a, b)


def test_numbers_of_eight_bytes_have_tables_where_eight_are_picked(monkeypatch):
    with gb.config.set(device="cpu"):
        for picked, kernels in ((8, {"tables", "lanes"}), (4, {"lanes"})):
            _, product = answer(monkeypatch, picked, "plus_second", "FP64", 1.0)
            with gb.trace() as trace:
                product.new()
            assert kernels == {run.kernel.rpartition("/")[2] for run in trace} & {"tables", "lanes"}
