"""Vectors stored as lists of entries, pushed along rows on the CPU: bit-identical to products with bitmaps."""

from itertools import product

import numpy as np
import pytest
from bitblas.dtypes import BOOL, FP64, INT64

import bitblas as gb
from bitblas import semiring, store, tuning

SEMIRINGS = {
    "plus_times": semiring.plus_times[FP64], "plus_pair": semiring.plus_pair[INT64],
    "any_pair": semiring.any_pair[BOOL], "any_second": semiring.any_second[FP64],
    "min_firstj": semiring.ss.min_firstj[INT64],
}  # fmt: skip
N = 3000


def operands(form, spread):
    """A matrix of short rows and a long one, and two vectors: their sums are not exact in any order."""
    rng = np.random.default_rng(5)
    rows, cols = rng.integers(0, N, 9000), rng.integers(0, N, 9000)
    rows, cols = np.append(rows, np.full(400, 7)), np.append(cols, rng.choice(N, 400, replace=False))
    keys = np.unique(rows * N + cols)
    number = np.arange(N) * spread
    rows, cols, n = number[keys // N], number[keys % N], N * spread
    A = gb.Matrix.from_coo(rows, cols, rng.random(len(keys)), nrows=n, ncols=n, format=form)
    v, w = (gb.Vector.from_coo(number[rng.choice(N, k, replace=False)], rng.random(k), size=n) for k in (300, 500))
    v[7 * spread] = 0.1
    return A, v, w


def answers(A, v, w, op):
    yield v.vxm(A, op).new()
    yield A.T.mxv(v, op).new()
    few = v.select(gb.select.rowle, v.to_coo()[0][3]).new()
    yield few.vxm(A, op).new()
    for mask in (w.S, ~w.S, (w > 0.5).new().V):
        yield v.vxm(A, op).new(mask=mask)
    t = w.dup(dtype=op.return_type)
    t(~v.S, gb.binary.plus if op.return_type is not BOOL else gb.binary.lor) << v.vxm(A, op)
    yield t


# Each kind of sum on one form; all of them on all forms are slow: a kernel each.
FORMS = {"csr": 1, "mplg": 1, "hyper": 1 << 40}
USUAL = {("hyper", "plus_times"), ("csr", "any_pair")}


@pytest.mark.parametrize(
    "form, name",
    [pytest.param(*case, marks=() if case in USUAL else pytest.mark.slow) for case in product(FORMS, SEMIRINGS)],
)
def test_products_are_those_of_bits(form, name, tune):
    spread = FORMS[form]
    expected = list(answers(*operands("csr", 1), SEMIRINGS[name]))  # few positions: bits
    tune({"list.positions.cpu": 0, "list.bits_per_entry": 1})
    with gb.trace() as ran:
        found = list(answers(*operands(form, spread), SEMIRINGS[name]))
    assert sum(run.kernel.endswith("push_list") for run in ran) > 10
    for x, y in zip(expected, found, strict=True):
        (i, a), (j, b) = x.to_coo(), y.to_coo()
        factor = spread if name == "min_firstj" else 1
        assert (i * spread == j).all() and (a * factor == b).all() and a.dtype == b.dtype


def test_rows_that_hold_much_are_pulled_from(tune):
    """Sorting more products than a pull reads does not pay."""
    tune({"list.positions.cpu": 0, "push.list.products": 0, "push_cost.list": 1 << 30})
    A, v, _ = operands("hyper", 1 << 40)
    ran = kernels(lambda: v.vxm(A, semiring.plus_times).new())
    assert ran.count("push_list") <= 2 and {"push", "pull"} & set(ran)  # counted, and left alone


def kernels(run):
    """Those that ran."""
    with gb.trace() as ran:
        run()
    return [each.kernel.split("/")[-1] for each in ran]


def test_prepared_products_follow_the_table():
    """A product that was prepared before a row changed is not used until the row is restored."""
    A, v, _ = operands("hyper", 1 << 40)
    product = lambda: v.vxm(A, semiring.plus_times).new()
    product()
    before = kernels(product)  # of the prepared product
    with tuning.override({"push.list.products": 0, "push_cost.list": 1 << 30}):
        assert {"push", "pull"} & {*kernels(product)}
    assert "push_list" in before and not {"push", "pull"} & {*before} and kernels(product) == before


def test_masks_of_bits(tune):
    """A list under a mask that holds bits."""
    A, v, w = operands("csr", 1)
    expected = v.vxm(A, semiring.plus_times).new(mask=~w.S)
    tune({"list.positions.cpu": 0, "list.bits_per_entry": 1})
    u = gb.Vector.from_coo(*v.to_coo(), size=N)
    assert type(u._stored) is store.SparseStore and type(w._stored) is not store.SparseStore
    assert u.vxm(A, semiring.plus_times).new(mask=~w.S).isequal(expected)
