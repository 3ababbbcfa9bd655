"""Unions and intersections of matrices that are large enough to be shared by threads, with rows of every length, on
every device, against python-graphblas."""

import graphblas
import numpy as np
import pytest

import bitblas

STATEMENTS = {
    "union": lambda gb, A, B, M: A.ewise_add(B, gb.binary.minus).new(),
    "intersection": lambda gb, A, B, M: A.ewise_mult(B, gb.binary.minus).new(),
    "defaults": lambda gb, A, B, M: A.ewise_union(B, gb.binary.minus, 3, 5).new(),
    "comparison": lambda gb, A, B, M: A.ewise_mult(B, gb.binary.lt).new(),
    "types": lambda gb, A, B, M: A.ewise_add(B.apply(gb.unary.sqrt).new(), gb.binary.plus).new(),
    "one value": lambda gb, A, B, M: M.ewise_add(A.ewise_mult(B, gb.binary.pair).new(), gb.binary.max).new(),
    "two values": lambda gb, A, B, M: M.ewise_add(M.T.new(), gb.binary.plus).new(),
    "masked": lambda gb, A, B, M: into(gb, A.dup(), B, M.S),
    "outside": lambda gb, A, B, M: into(gb, A.dup(), B, ~M.S),
    "replaced": lambda gb, A, B, M: into(gb, A.dup(), B, M.S, gb.replace),
    "accumulated": lambda gb, A, B, M: into(gb, A.dup(), B, M.S, gb.binary.times),
    "accumulated outside": lambda gb, A, B, M: into(gb, A.dup(), B, ~M.V, gb.binary.times, gb.replace),
    "selected": lambda gb, A, B, M: A.select(M.S).new(),
    "by value": lambda gb, A, B, M: A.select(gb.select.valuegt, 2).new(),
    "below": lambda gb, A, B, M: A.select(gb.select.tril, -3).new(),
    "above by far": lambda gb, A, B, M: A.select(gb.select.triu, -(2**62)).new(),
    "rows": lambda gb, A, B, M: M.select(gb.select.rowgt, 7).new(),
    "none": lambda gb, A, B, M: A.select(gb.select.valuegt, 99).new(),
    "product under a mask": lambda gb, A, B, M: into(gb, A.dup(), A.mxm(B, gb.semiring.plus_times), M.S),
    "pairs under a mask": lambda gb, A, B, M: into(gb, A.dup(), A.mxm(M, gb.semiring.plus_pair), M.S, gb.binary.plus),
    "plus what a product left": lambda gb, A, B, M: M.ewise_add(product(gb, M), gb.binary.minus).new(),
    "product": lambda gb, A, B, M: A.mxm(B, gb.semiring.min_plus).new(),
    "one value under a mask": lambda gb, A, B, M: into(gb, A.dup(), 7, M.S),
    "a row": lambda gb, A, B, M: assigned(A.dup(), 3, B[7, :].new()),
    "an empty row": lambda gb, A, B, M: assigned(A.dup(), 3, A[4, :].new()),
}


def product(gb, M):
    """Only presence, under a mask whose positions have not been computed."""
    return M.mxm(M, gb.semiring.any_pair[int]).new(mask=M.S)


def assigned(C, i, u):
    C[i, :] << u
    return C


def into(gb, C, B, *how):
    C(*how) << B
    return C


def operands(gb, n, device, **form):
    """A and B share many places, both have a long row and empty ones; M has one value."""
    rng = np.random.default_rng(5)
    flags = rng.random((2, n, n)) < 0.3
    flags[0, 7], flags[1, 9], flags[1, n // 2 :: 3] = True, True, False
    flags[0, :5] = False
    where = {"device": device, **form} if gb is bitblas else {}
    make = lambda i, j, x: gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n, **where)
    made = [make(*np.nonzero(pattern), rng.integers(-5, 9, pattern.sum())) for pattern in flags]
    return [*made, make(*np.nonzero(rng.random((n, n)) < 0.2), 2)]


@pytest.mark.in_turn
@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(device, statement):
    for n in (40, 300):
        same(statement, n, device)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", ("b2sr", "split"))
@pytest.mark.parametrize(
    "statement", ("product under a mask", "pairs under a mask", "plus what a product left", "union")
)
def test_statements_on_tiles(device, statement, form):
    """Sums at the entries of a mask are in the order of its format."""
    same(statement, 90, device, format=form)


def same(statement, n, device, **form):
    found = STATEMENTS[statement](bitblas, *operands(bitblas, n, device, **form))
    expected = STATEMENTS[statement](graphblas, *operands(graphblas, n, device))
    assert found.dtype == expected.dtype.name
    for x, y in zip(found.to_coo(), expected.to_coo(), strict=True):
        np.testing.assert_array_equal(found.device.to_host(x), y)


WRITES = {
    "there": lambda C: C.__setitem__((1, 2), 8),
    "not there": lambda C: C.__setitem__((2, 0), 8),
    "the same": lambda C: C.__setitem__((1, 2), 5),
    "deleted": lambda C: C.__delitem__((1, 2)),
    "deleted where nothing is": lambda C: C.__delitem__((2, 2)),
    "last": lambda C: C.__setitem__((2, 3), 1),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("values", (5, [4, 5, 6], []), ids=("one", "several", "none"))
@pytest.mark.parametrize("write", WRITES)
def test_single_writes(device, write, values):
    """Each is read at once, and leaves the copy alone that was made before."""
    made = []
    for gb in (bitblas, graphblas):
        where = {"device": device} if gb is bitblas else {}
        i, j = ([0, 1, 1], [1, 2, 3]) if values else ([], [])
        C = gb.Matrix.from_coo(i, j, values, np.int64, nrows=3, ncols=4, **where)
        before = C.dup()
        WRITES[write](C)
        made.append([[list(map(int, x)) for x in M.to_coo()] for M in (C, before)])
        if gb is bitblas and values == 5 and write in ("the same", "deleted", "deleted where nothing is"):
            assert C.ss.is_iso
    assert made[0] == made[1]
