"""Products of two full matrices at the entries of a mask (operations/sddmm.py), against NumPy."""

import numpy as np
import pytest

import bitblas as gb

N, M = 70, 45  # rows of X, and of Y
RINGS = {  # of rows x and y of the operands, and numbers of columns
    "plus_times": ("FP32", lambda x, y, k: (x * y).sum()),
    "min_plus": ("FP64", lambda x, y, k: (x + y).min()),
    "max_minus": ("INT8", lambda x, y, k: (x - y).max()),
    "plus_second": ("INT64", lambda x, y, k: y.sum()),
    "max_firstj": ("INT64", lambda x, y, k: k - 1),
    "land_eq": ("INT32", lambda x, y, k: (x == y).all()),
}
CASES = [
    ("plus_times", 64, {}, "csr"),
    ("plus_times", 3, {"format": "bitmap"}, "b2sr"),
    ("min_plus", 10, {"format": "bitmap"}, "mplg"),
    ("max_minus", 66, {}, "csr"),
    ("plus_second", 1, {}, "bitmap"),
    ("max_firstj", 24, {"format": "bitmap"}, "csr"),
    ("land_eq", 16, {}, "csr"),
]


def numbers(dtype, *shape):
    found = np.random.default_rng(shape[0]).integers(-4, 5, shape)
    return found.astype(gb.dtypes.lookup_dtype(dtype).np_type)


def a_mask(device, format="csr", **shape):
    rng = np.random.default_rng(1)
    i, j = np.nonzero(rng.random((N, M)) < np.linspace(0, 0.9, N)[:, None] ** 3)  # the first rows are empty
    how = {"format": format} | ({"tile": 8} if format == "b2sr" else {})
    return gb.Matrix.from_coo(i, j, np.arange(len(i)) % 3 > 0, nrows=N, ncols=M, device=device, **how, **shape)


@pytest.mark.parametrize(("ring", "k", "form", "format"), CASES)
def test_dense_products_at_the_entries_of_a_mask(device, ring, k, form, format):
    dtype, reduce = RINGS[ring]
    x, y = numbers(dtype, N, k), numbers(dtype, M, k)
    X, Y = (gb.Matrix.from_dense(side, device=device, **form) for side in (x, y))
    mask, op = a_mask(device, format), gb.semiring[ring]
    plan = gb.explain(X.mxm(Y.T, op), mask=mask.S)
    assert plan.direction == "dot" and f"dot products of {k} numbers at the entries of the mask (SDDMM)" in plan.reason
    i, j, keep = (mask.device.to_host(part) for part in mask.to_coo())
    expected = [reduce(x[a], y[b], k) for a, b in zip(i, j, strict=True)]
    C = X.mxm(Y.T, op).new(mask=mask.S)
    found = [mask.device.to_host(part) for part in C.to_coo()]
    assert np.array_equal(found[0], i) and np.array_equal(found[1], j) and np.array_equal(found[2], expected)
    # operands that are stored transposed, the mask's values, and an accumulator
    XT, YT = (gb.Matrix.from_dense(side.T.copy(), device=device, **form) for side in (x, y))
    D = XT.T.mxm(YT, op).new(mask=mask.V)
    assert np.array_equal(mask.device.to_host(D.to_coo()[2]), np.array(expected)[keep])
    if ring == "plus_times":
        C(mask.S, gb.binary.plus) << X.mxm(Y.T, op)
        assert np.array_equal(mask.device.to_host(C.to_coo()[2]), 2 * np.array(expected))


def test_results_of_statements_are_dense_operands(device):
    """Bitmaps whose rows are padded: of 10 positions, to 16."""
    x, y = numbers("FP32", N, 10), numbers("FP32", M, 10)
    X, Y = (gb.Matrix.from_dense(side, format="bitmap", device=device) for side in (x, y))
    X, Y = X.apply(gb.unary.ainv).new(), Y.apply(gb.unary.identity).new()
    mask = a_mask(device)
    found = X.mxm(Y.T).new(mask=mask.S).to_coo()[2]
    i, j = (mask.device.to_host(part) for part in mask.to_coo()[:2])
    assert np.array_equal(mask.device.to_host(found), (-x @ y.T)[i, j])


def test_other_products_take_other_ways(on_the_cpu):
    mask, X, Y = a_mask("cpu"), gb.Matrix.from_dense(numbers("FP32", N, 8)), gb.Matrix.from_dense(numbers("FP32", M, 8))
    reason = lambda expression, mask: gb.explain(expression, mask=mask).reason
    assert "SDDMM" in reason(X.mxm(Y.T), mask.S)
    holes = X.dup()
    del holes[0, 0]
    for expression, at in (
        (holes.mxm(Y.T), mask.S),
        (X.mxm(Y.T), ~mask.S),
        (X.mxm(Y.T), None),
        (X.mxm(Y.T, gb.semiring.plus_pair), mask.S),
    ):
        assert "SDDMM" not in reason(expression, at)
    none = gb.Matrix(bool, N, M)
    assert X.mxm(Y.T).new(mask=none.S).nvals == 0
