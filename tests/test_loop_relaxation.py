"""Loops that relax edges until nothing changes, in one launch: which bodies are recognized, that answers equal those of
rounds, and which still run by rounds."""

import numpy as np
import pytest
from test_loop import FP32, INT64

import bitblas as gb
from bitblas.loop import Program
from bitblas.loop.ir import NO_LIMIT

pytestmark = pytest.mark.off_cpu


@pytest.fixture
def small(device, tune):
    """Few threads, and a queue that is soon full."""
    tune({"relaxation.vertices": 1, "relaxation.threads": 64, "relaxation.queue_bytes": 256, "relaxation.turns": 2})


def begun(n, dtype, source=None, value=0):
    """Distances and the queue, of one source."""
    d, q = gb.Vector(dtype, n), gb.Vector(dtype, n)
    if source is not None:
        d[source] = q[source] = value
    return d, q


def grid(width, height, dtype, seed=0, weights=None):
    i = np.arange(width * height).reshape(height, width)
    rows = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
    cols = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    values = np.random.default_rng(seed).integers(0, 9, len(rows)) if weights is None else weights(rows, cols)
    return gb.Matrix.from_coo(rows, cols, values.astype(dtype.np_type), nrows=i.size, ncols=i.size)


def relaxing(A, d, q, *, monoid="min", window=None, fixpoint=True, semiring="min_plus"):
    """The loop of shortest paths, in other words than the algorithm's."""
    dtype, accum = d.dtype, getattr(gb.binary, monoid)
    better = gb.binary.lt if monoid == "min" else gb.binary.gt
    least = gb.Scalar(dtype)

    def body(_):
        near, before = q.dup(), d.dup()
        if window is not None:
            least << q.reduce(gb.monoid.min, allow_empty=False)
            near << q.select(gb.select.valuele, least.apply(gb.binary.plus, right=window).new())
        d(accum) << near.vxm(A, getattr(gb.semiring, semiring)[dtype])
        q(~near.S, gb.replace) << q
        new = better(d & before).new()
        q(new.V) << d
        q(~before.S) << d

    return Program(body, while_=q, fixpoint=fixpoint)


def check_shortest(d, A, source):
    """As on the CPU, which runs rounds as written."""
    for found, expected in zip(d.to("cpu").to_coo(), gb.algorithms.sssp(A.to("cpu"), source).to_coo(), strict=True):
        assert np.array_equal(found, expected)


ODD, REFUSED = 9, 10


def numbers(program):
    return program._captured.device.to_host(program._captured.any_order.numbers)


@pytest.mark.uses_cpu
@pytest.mark.parametrize("width, dtype", [(12, FP32), (40, FP32), (12, INT64)])
def test_shortest_paths(small, tune, width, dtype):
    """Of two sources, one after the other; with windows of distances in the body, and by the algorithm. INT64: lists
    are soon full."""
    if dtype is INT64:
        tune({"relaxation.listed": 0.02, "relaxation.window": 4, "relaxation.near": 8})
    A = grid(width, 20, dtype)
    n = A.nrows
    d, q = begun(n, dtype)
    program = relaxing(A, d, q, window=3)
    for source in (0, n // 2):
        d.clear()
        q.clear()
        d[source] = q[source] = 0
        assert program.run() > 1 and not q.nvals
        check_shortest(d, A, source)
        assert list(numbers(program)[[ODD, REFUSED]]) == [0, 0]
    assert "edges are relaxed until nothing changes" in str(program.explain())
    check_shortest(gb.algorithms.sssp(A, 7), A, 7)


@pytest.mark.uses_cpu
def test_weights_that_are_infinite_negative_or_far_apart(small, tune):
    """No path of infinite weight is lost, and vertices that cannot be reached have no entry; negative weights without a
    negative cycle are relaxed as often as it takes; the limit skips distances that no vertex has."""
    tune({"relaxation.window": 0.1})
    height = np.random.default_rng(1).integers(0, 50, 240)
    A = grid(12, 20, FP32, weights=lambda rows, cols: np.where((rows % 7 == 0) & (cols > 30), np.inf, 3.0))
    B = grid(12, 20, INT64, weights=lambda rows, cols: 2 + height[cols] - height[rows])
    D = grid(12, 20, FP32, weights=lambda rows, cols: np.where(rows // 60 == cols // 60, 1.0, 1e4))
    for C in (A, B, D):
        keep = C.select(gb.select.rowle, 199).new()  # nothing leads on from the last rows
        d, q = begun(240, C.dtype, 5)
        relaxing(keep, d, q).run()
        check_shortest(d, keep, 5)


def test_labels(small):
    """The least label that reaches a vertex, of a vector that is full."""
    A = grid(12, 20, INT64)
    A = A.select(gb.select.valuegt, 3).new()
    d = gb.Vector.from_coo(np.arange(240), np.random.default_rng(0).permutation(240), size=240)
    q = d.dup()
    plainly, waits = d.dup(), d.dup()
    relaxing(A, plainly, waits, semiring="min_first", fixpoint=False).run()
    program = relaxing(A, d, q, semiring="min_first")
    program.run()
    assert d.isequal(plainly) and "edges are relaxed until nothing changes" in str(program.explain())


def test_what_goes_by_rounds_all_the_same(small):
    """A limit; values that wait and are not those that are kept; a product that is no number."""
    A = grid(12, 20, FP32)
    d, q = begun(240, FP32, 0)
    program = relaxing(A, d, q)
    program.limit = 3
    assert program.run() == 3 and q.nvals
    program.limit = NO_LIMIT
    d.clear()
    q.clear()
    d[0], q[0] = 0, 1
    program.run()
    assert numbers(program)[REFUSED] and d[1].new().value == 1 + A[0, 1].new().value
    d.clear()
    q.clear()
    d[0] = q[0] = np.nan
    program.limit = 5
    program.run()
    assert np.isnan(d[1].new().value)


def test_bodies_that_are_not_known(small):
    """Each reports the reason."""
    A = grid(12, 20, FP32)
    (d, q), more = begun(240, FP32), gb.Vector(FP32, 240)
    semiring = gb.semiring.min_plus[FP32]

    def plus_one(_):
        t = q.vxm(A, semiring).new()
        t(gb.binary.ge(t & d).new().V, gb.replace) << t
        q << t
        d(t.S) << t.apply(gb.binary.plus, right=1)

    def forgets(_):  # what does not improve does not wait, what improves is dropped where it waits
        t = q.vxm(A, semiring).new()
        q(~t.S, gb.replace) << q.select(gb.select.valuelt, 0)
        d(gb.binary.min) << t

    def writes_more(k):
        more(q.S) << k
        t = q.vxm(A, semiring).new()
        q.clear()
        d(gb.binary.min) << t

    def sums(_):
        d(gb.binary.min) << q.vxm(A, gb.semiring.plus_times[FP32])
        q.clear()

    for body, why in ((plus_one, "number is written"), (forgets, "number is written"), (writes_more, "2 vectors"),
                      (sums, "keeps the order")):  # fmt: skip
        d.clear()
        q.clear()
        d[0] = q[0] = 0
        program = Program(body, while_=q, limit=2, fixpoint=True)
        program.run()
        text = str(program.explain())
        assert "no relaxation" in text and why in text, text
    program = relaxing(A, d, q, fixpoint=False)
    program.run()
    assert "in any order" not in str(program.explain())


@pytest.mark.parametrize("default", [True, False])
def test_scalars_that_the_end_reads(small, default):
    """The last value of a Scalar depends on the order of the rounds, also if it only stands in for missing entries."""
    A = grid(12, 20, FP32)
    (d, q), found, least = begun(240, FP32, 0), gb.Vector(FP32, 240), gb.Scalar(FP32)
    rounds = relaxing(A, d, q)

    def body(k):
        rounds.body(k)
        least << q.reduce(gb.monoid.min, allow_empty=False)

    def end():
        found << (d.ewise_union(q, "plus", 0, least) if default else d.apply("plus", right=least))

    program = Program(body, while_=q, end=end, fixpoint=True)
    program.run()
    assert "read a scalar that the rounds write" in str(program.explain())
