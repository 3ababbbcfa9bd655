"""Float sums in loops on the CPU have the same bits as in statements: the number of rounds that a table of kernels runs
depends on time, and must not change results."""

from __future__ import annotations

import numpy as np
import pytest
from test_loop import BOOL, FP64, INT64

import bitblas as gb
from bitblas.loop import Program

N = 9000  # more than one chunk of positions
LINE, END = np.arange(1, N), np.zeros(N - 1, int)


def both_ways(tune, begin, body):
    """What four rounds of `body` leave in the total and in y, by a table and by statements; begin: gives x and y."""
    found = []
    for patience in (0.0, 1e9):
        tune({"loop.tier_up_seconds": patience})
        x, y, total = *begin(), gb.Scalar(FP64)
        rounds, going = gb.Scalar.from_value(0, INT64), gb.Scalar.from_value(True, BOOL)

        def round_(_, x=x, y=y, total=total, rounds=rounds, going=going):
            body(x, y, total)
            rounds << rounds.apply(gb.binary.plus, right=1)
            going << rounds.apply(gb.binary.lt, right=4)

        program = Program(round_, while_=going)
        assert program.run() == 4
        assert ("from a table" in str(program.explain())) == (patience == 0), str(program.explain())
        found.append((total.value, y.to_coo()[1].tobytes()))
    return found


def vectors(values, share):
    at = np.flatnonzero(np.random.default_rng(2).random(N) < share)
    x = gb.Vector.from_coo(at, 0.1 if values == "iso" else np.random.default_rng(1).random(len(at)), FP64, size=N)
    return x, gb.Vector(FP64, N)


@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("values", ["iso", "any"])
def test_sums(tune, values, share):
    def body(x, y, total):
        total << x.reduce(gb.monoid.plus)
        x << x.apply(gb.binary.times, right=1.1)
        y << x.apply(gb.binary.plus, right=total)

    by_table, by_statements = both_ways(tune, lambda: vectors(values, share), body)
    assert by_table == by_statements


@pytest.mark.parametrize("share", [1.0, 0.6, 0.003])
def test_products_that_are_one_value(tune, share):
    """Are counted and multiplied; along entries they would be added one by one."""
    A = gb.Matrix.from_coo(np.append(LINE, END), np.append(END, LINE), 0.3, nrows=N, ncols=N)  # a star

    def body(x, y, total):
        y << x.vxm(A, gb.semiring.plus_plus)
        total << y.reduce(gb.monoid.plus)

    by_table, by_statements = both_ways(tune, lambda: vectors("iso", share), body)
    assert by_table == by_statements


@pytest.mark.parametrize("size", [63, 300, 4096, 4097, 8192, 9000])
def test_one_value_is_summed_as_many(size):
    for x in (0.1, 1.0):
        once, each = gb.Vector.from_scalar(x, size), gb.Vector.from_dense(np.full(size, x))
        assert once.ss.is_iso and not each.ss.is_iso
        assert once.reduce().new().value == each.reduce().new().value


def test_what_is_added_exactly():
    """Sums without rounding are the count times the value, and take no time."""
    plus, times = gb.monoid.plus, gb.monoid.times
    for dtype, x, k, exactly in (
        ("FP64", 1.0, 1 << 52, True), ("FP64", 0.1, 3, False), ("FP64", 0.75, 1 << 50, True),
        ("FP64", 0.75, 1 << 52, False), ("FP32", 3.0, 1 << 21, True), ("FP32", 3.0, 1 << 23, False),
        ("FP64", float("inf"), 2, False), ("FC64", 1 + 0.5j, 1 << 40, True), ("FC64", 1 + 0.1j, 5, False),
        ("INT8", 77, 1 << 40, True), ("FP64", 0.0, 1 << 60, True),
    ):  # fmt: skip
        assert plus[dtype].op.repeats_exactly(plus[dtype].dtype, x, k) == exactly, (dtype, x, k)
    assert gb.monoid.min.repeats_exactly(FP64, 0.1, 9) and not times["FP64"].op.repeats_exactly(FP64, 0.5, 9)
