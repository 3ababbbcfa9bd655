"""Products with dense arrays (operations/dense_spmm.py): sums, best products with their columns, and derivatives.
Products with full multivectors, which a GPU reads without bits.
"""

import numpy as np
import pytest

import bitblas as gb
from bitblas import tuning
from bitblas.operations.dense_spmm import BEST, PICK, SUM, DenseProduct, Lines, _split_of, multiply

N, M = 37, 50
WIDTHS = [1, 3, 8, 12, 16, 24, 64, 66, 132]  # 1 and 3: lanes share entries


def matrix(dtype):
    """Rows of 0 to 50 entries, which count as even, and the same as a dense array."""
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((N, M)) < np.linspace(0, 1, N)[:, None])
    x = rng.integers(-4, 5, len(i)).astype(dtype)
    D = np.zeros((N, M), dtype)
    D[i, j] = x
    present = np.zeros((N, M), bool)
    present[i, j] = True
    return gb.Matrix.from_coo(i, j, x, nrows=N, ncols=M), D, present


def run(A, mode, x, won=None, transposed=False, largest=True, shift=0):
    """The product as NumPy's arrays. shift: elements between a multiple of 16 bytes and the output."""
    device, of = A.device, DenseProduct(A._stored, transposed, mode, largest)
    n, width = of.shape[0], x.shape[1]
    room = device.asarray(np.full(n * width + 8, 99, x.dtype))
    y = room[shift : shift + n * width].reshape(n, width)
    winners = device.asarray(np.full((n, width), 99, np.int32)) if mode == BEST else None
    given = None if won is None else device.asarray(won)
    multiply(of, Lines(device.asarray(x), given), Lines(y, winners))
    assert device.to_host(room)[shift + n * width :].tolist() == [99] * (8 - shift)
    return device.to_host(y), None if winners is None else device.to_host(winners)


@pytest.mark.in_turn
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_best_products(device, dtype, width):
    A, D, present = matrix(dtype)
    x = np.random.default_rng(width).integers(-9, 10, (M, width)).astype(dtype)
    products = np.where(present[:, :, None], D[:, :, None] * x[None], -np.inf)
    for k, limit in enumerate((7, 1 << 30)):  # rows cut into segments, and whole
        with tuning.override({"multivector.long_row": limit, "multivector.segment": 4}):
            shift = (k + WIDTHS.index(width)) % 2  # in turn: each is a kernel
            assert np.array_equal(run(A, SUM, x, shift=shift)[0], D @ x)
            best, winner = run(A, BEST, x)
            some = present.any(1)
            assert np.array_equal(best[some], products.max(1)[some]) and not best[~some].any()
            assert np.array_equal(winner[some], products.argmax(1)[some]) and (winner[~some] == -1).all()
            # the derivative: G at the positions that won, times the entries of A
            G = np.random.default_rng(1).integers(-9, 10, (N, width)).astype(dtype)
            expected = np.zeros((M, width), dtype)
            for i in np.flatnonzero(some):
                for c in range(width):
                    expected[winner[i, c], c] += D[i, winner[i, c]] * G[i, c]
            assert np.array_equal(run(A, PICK, G, winner, transposed=True)[0], expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint16"])
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("length", [0, 3, 40])
def test_loads_are_aligned(dtype, even, length):
    """A lane loads as many positions at once as the addresses of all arrays, and the width, allow; a few columns get
    more lanes, which share entries."""
    size, room = np.dtype(dtype).itemsize, np.zeros(8192, dtype)
    first = -room.ctypes.data % 16 // size  # the first element at a multiple of 16 bytes
    for width in (*WIDTHS, 2, 4, 512):
        aligned, shifted = (Lines(room[k : k + 8 * width].reshape(8, width)) for k in (first, first + 1))
        split = _split_of(aligned, aligned, even=even, length=length)
        most, least = 16 // (size if even else max(size, 4)), 1 if length else 4
        assert split.together == max(
            k for k in (1, 2, 4, 8) if k == 1 or (k <= most and width % k == 0 and width // k >= least)
        )
        assert split.pieces == 1 or width % (split.side * split.pieces * split.together) == 0
        assert split.side * split.shares <= 32 and split.side * split.together * split.pieces < 2 * max(width, 4)
        assert split.shares <= max(1, length / 2) and (split.shares == 1 or split.pieces == 1)
        for pair in ((aligned, shifted), (shifted, aligned)):
            assert _split_of(*pair, even=even, length=length).together == 1


FULL = [
    ("FP32", 64, "plus_times"),
    ("FP64", 128, "min_plus"),
    ("INT8", 16, "max_second"),
    ("INT64", 8, "plus_firstj"),
    ("FP32", 8, "any_second"),
]


@pytest.mark.off_cpu
@pytest.mark.uses_cpu
@pytest.mark.parametrize(("dtype", "width", "ring"), FULL)
def test_full_multivectors(device, dtype, width, ring):
    kind, n, rows = gb.dtypes.lookup_dtype(dtype).np_type, 200, 260
    i, j = np.nonzero(matrix("float64")[2])
    i, j = np.append(i, np.full(n, N + 1)), np.append(j, np.arange(n))  # and a row of all columns
    x = (np.arange(len(i)) % 5 - 2).astype(kind)
    dense = (np.arange(n * width).reshape(n, width) % 7 - 3).astype(kind)
    holes = np.add.outer(np.arange(rows), np.arange(width)) % 3 > 0

    def product(device, mask, flip):
        A = gb.Matrix.from_coo(i, j, x, nrows=rows, ncols=n, device=device)
        X = gb.Matrix.from_dense(dense, format="bitmap", device=device)
        M = gb.Matrix.from_coo(*np.nonzero(holes), True, nrows=rows, ncols=width, device=device)
        expression = X.T.mxm(A.T, gb.semiring[ring]) if flip else A.mxm(X, gb.semiring[ring])
        if device != "cpu":
            assert "all present" in gb.explain(expression).reason
        M = M.T.new() if flip else M
        C = expression.new(mask=M.S) if mask == "mask" else expression.new(mask=~M.S) if mask else expression.new()
        return C.to_coo()

    for mask, flip, limit in ((None, False, 7), ("mask", False, 1 << 30), ("complement", True, 7)):
        even = 8 if limit == 7 else 1000  # a lane takes one piece of a line, and two
        with tuning.override({"multivector.long_row": limit, "multivector.segment": 4, "multivector.even_rows": even}):
            found, expected = product(device, mask, flip), product("cpu", mask, flip)
        for a, b in zip(found, expected, strict=True):
            assert np.array_equal(gb.device.get(device).to_host(a), b), (mask, flip)
