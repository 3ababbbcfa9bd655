"""Products with a map as steps of a loop, compared with python-graphblas and with the same rounds one by one."""

import graphblas
import numpy as np
import pytest

import bitblas as gb
from bitblas import tuning
from bitblas.algorithms import _loops, label_propagation
from bitblas.algorithms.communities.label_propagation import _voting
from bitblas.exceptions import CaptureError, IndexOutOfBound


def edges(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Both directions of m random edges, and of the edges of a hub."""
    rng = np.random.default_rng(seed)
    i, j = np.c_[rng.integers(0, n, (2, m)), [np.zeros(n // 2, int), rng.integers(0, n, n // 2)]]
    return tuple(np.divmod(np.unique(np.r_[i, j] * n + np.r_[j, i]), n))


def kinds(program: gb.loop.Program) -> list[str]:
    """The kernels of a round."""
    return [line.kind for line in program.explain().launches if line.kind != "begin"]


@pytest.mark.in_turn
@pytest.mark.parametrize(("directed", "entries"), [(False, 16), (True, 0), (False, 0), (True, 32)])
def test_label_propagation(device, directed, entries):
    n = 300
    i, j = edges(n, 500, 3)
    if directed:
        i, j = np.r_[i[i < j], j[:50]], np.r_[j[i < j], i[:50]]
    make = lambda lib, **more: lib.Matrix.from_coo(i, j, True, nrows=n, ncols=n, **more)
    A = make(gb, device=device)
    with gb.loop.at_once(), tuning.override({"map.thread_entries": entries}):
        found = label_propagation(A, directed=directed)
        again = label_propagation(A, directed=directed)
        assert kinds(_loops.cached_loop(_voting, A, gb, directed, 10).program) == ["ewise", "map", "ewise"]
    expected = label_propagation(make(graphblas), directed=directed, gb=graphblas)
    assert label_propagation(A.reorder("degree"), directed=directed).isequal(found)
    assert found.to_dense().tolist() == again.to_dense().tolist() == expected.to_dense().tolist()


def spread(lib, repeat, semiring, selector, transposed, weights, **more):
    """Opinions spread along a matrix that is not square; rows and columns have their own."""
    rng = np.random.default_rng(1)
    m, n, k = 40, 70, 6
    i, j = np.divmod(rng.choice(m * n, 400, replace=False), n)
    x = rng.integers(1, 9, 400).astype(weights)
    A = lib.Matrix.from_coo(j, i, x, nrows=n, ncols=m, **more) if transposed else None
    A = A.T if transposed else lib.Matrix.from_coo(i, j, x, nrows=m, ncols=n, **more)
    chosen = lib.Vector(lib.dtypes.INT64, m, **more)
    opinion = lib.Vector.from_coo(np.arange(0, n, 3), rng.integers(0, k, len(range(0, n, 3))), size=n, **more)
    rounds = lib.Vector.from_coo([0], [4], size=1, **more)
    fixed = lib.Vector.from_coo([3, 8], True, size=m, **more)
    how = getattr(lib.agg.ss, selector, None) or (lib.agg.count if selector == "count" else selector)

    def body(_):
        places, keys = opinion.to_coo()
        L = lib.Matrix.from_coo(places, keys, True, nrows=n, ncols=k)
        C = A.mxm(L, getattr(lib.semiring, semiring)[lib.dtypes.INT64])
        found = C.reduce_rowwise(how)
        if selector in ("argmax", "max"):
            chosen(~fixed.S) << found
        else:
            chosen << found
        # opinions grow, so some columns lose theirs
        seen = chosen.dup()
        opinion(lib.binary.plus) << 1
        opinion << opinion.select(lib.select.valuelt, k)
        seen << seen.apply(lib.binary.plus, right=1)
        chosen(seen.S) << seen
        rounds << rounds.apply(lib.binary.minus, right=1)
        rounds << rounds.select(lib.select.valuegt, 0)

    repeat(body, rounds)
    return chosen.to_dict(), opinion.to_dict()


CASES = [("plus_first", "argmax", False, "int64"), ("plus_pair", "argmin", True, "int64"),
         ("min_first", "first_index", False, "int64"), ("plus_first", "last_index", True, "int64"),
         ("plus_first", "max", False, "int64"), ("plus_pair", "min", True, "int64"),
         ("max_first", "plus", False, "int64"), ("plus_first", "plus", True, "int64"),
         ("min_first", "first", False, "int64"), ("plus_pair", "count", True, "int64")]  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize(("semiring", "selector", "transposed", "weights"), CASES)
def test_a_loop_of_the_user(device, semiring, selector, transposed, weights):
    def repeat(body, condition):
        program = gb.loop.Program(body, while_=condition)
        program.run()
        # The sum of all sums is that of all products, with a vector on a GPU.
        assert ("map" in kinds(program)) == (device == "cpu" or (semiring, selector) != ("plus_first", "plus"))

    def plain(body, condition):
        while condition.nvals:
            body(0)

    case = semiring, selector, transposed, weights
    with gb.loop.at_once():
        found = spread(gb, repeat, *case, device=device)
    assert found == spread(graphblas, plain, *case)


def loop_of(device, key, ncols, after=lambda C: C.reduce_rowwise(gb.agg.ss.argmax), listed=False):
    """A round that reads the map of these keys."""
    n = len(key)
    A = gb.Matrix.from_coo(range(n), range(n), 1, device=device)
    keys = gb.Vector.from_coo([k for k, x in enumerate(key) if x is not None], [x for x in key if x is not None],
                              size=n, dtype="INT64", device=device)  # fmt: skip
    x, going = gb.Vector("INT64", n, device=device), gb.Vector.from_coo([0], True, size=n, device=device)

    def body(_):
        places, values = keys.to_coo()
        if listed:
            places, values = going.to_coo()[0], keys.to_dense()[going.to_coo()[0]]
        L = gb.Matrix.from_coo(places, values, True, nrows=n, ncols=ncols)
        x << after(A.mxm(L, gb.semiring.plus_pair))
        going.clear()

    with gb.loop.at_once():
        gb.loop.repeat(body, while_=going)
    return x.to_dict()


def test_keys_are_checked(device):
    assert loop_of(device, [2, None, 0], 3) == {0: 2, 2: 0}
    for wrong in (3, -1, 1 << 32):
        with pytest.raises(IndexOutOfBound):
            loop_of(device, [2, wrong, 0], 3)


@pytest.mark.off_cpu
def test_missing_keys_and_what_is_not_captured(device):
    assert loop_of(device, [2, 1, 0], 3, listed=True) == {0: 2}
    with pytest.raises(TypeError, match="missing"):
        loop_of(device, [None, 1, 0], 3, listed=True)
    for after in (lambda C: C.reduce_rowwise("any"), lambda C: C.reduce_columnwise("plus"),
                  lambda C: C.new().mxv(gb.Vector.from_scalar(1, 3, device=device))):  # fmt: skip
        with pytest.raises(CaptureError):
            loop_of(device, [2, 1, 0], 3, after)


def test_two_maps_in_a_round(device):
    n = 90
    i, j = edges(n, 120, 5)

    def run(lib, repeat, **more):
        A = lib.Matrix.from_coo(i, j, True, nrows=n, ncols=n, **more)
        label = lib.Vector.from_coo(range(n), range(n), size=n, dtype="INT64", **more)
        turns = lib.Vector.from_coo([0], [3], size=1, **more)

        def vote(B, label):
            L = lib.Matrix.from_coo(*label.to_coo(), True, nrows=n, ncols=n)
            best = B.mxm(L, lib.semiring.plus_pair[lib.dtypes.INT64]).new().reduce_rowwise(lib.agg.ss.argmax).new()
            label(best.S) << best

        def body(_):
            vote(A, label)
            half = label.apply(lib.binary.floordiv, right=2).new()
            vote(A, half)
            label << half
            turns << turns.apply(lib.binary.minus, right=1)
            turns << turns.select(lib.select.valuegt, 0)

        repeat(body, turns)
        return label.to_dict()

    with gb.loop.at_once():
        found = run(gb, lambda body, q: gb.loop.repeat(body, while_=q), device=device)

    def plain(body, q):
        while q.nvals:
            body(0)

    assert found == run(graphblas, plain)
