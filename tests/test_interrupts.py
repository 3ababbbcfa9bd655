"""Ctrl-C during long work on the CPU: kernels run a few ranges at a time, and the output of a statement is
unchanged."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

import bitblas as gb
from bitblas import tuning
from bitblas.device import cpu, threads
from bitblas.device.cpu import RESUMED
from bitblas.loop import Program, at_once

N = 300
ring = gb.semiring.plus_times


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


@pytest.fixture(params=[1, 3])
def short(tune, request):
    """Little work counts as long; with one thread and with several."""
    tune({"interrupt.long_work": 64, "interrupt.chunk_work": 16, "parallel.entries": 64})
    with gb.config.set(threads=request.param):
        yield


def matrix(seed, n=N, nvals=3000, dtype=float):
    rng = np.random.default_rng(seed)
    i, j = np.divmod(rng.choice(n * n, nvals, replace=False), n)
    return gb.Matrix.from_coo(i, j, rng.integers(1, 9, nvals), dtype, nrows=n, ncols=n)


def vector(seed, n=N, nvals=200, dtype=float):
    rng = np.random.default_rng(seed)
    return gb.Vector.from_coo(rng.choice(n, nvals, replace=False), rng.integers(1, 9, nvals), dtype, size=n)


# What long work may be part of; each gives a result, or changes `out`, of an empty or a full beginning.
STATEMENTS = {
    "mxm": lambda A, B, u, C, w: C << A.mxm(B, ring),
    "mxm.accum": lambda A, B, u, C, w: C(accum="plus") << A.mxm(B, ring),
    "mxm.mask": lambda A, B, u, C, w: C(B.S, replace=True) << A.mxm(B.T, ring),
    "mxm.complement": lambda A, B, u, C, w: C(~B.S) << A.mxm(B, ring),
    "mxm.any": lambda A, B, u, C, w: C << A.mxm(B, "any_pair"),
    "mxm.count": lambda A, B, u, C, w: C << A.mxm(B, "plus_pair"),
    "mxm.dense": lambda A, B, u, C, w: C << dense(3).mxm(dense(4), ring),
    "mxv": lambda A, B, u, C, w: w << A.mxv(u, ring),
    "mxv.accum": lambda A, B, u, C, w: w(accum="plus") << A.mxv(u, ring),
    "mxv.mask": lambda A, B, u, C, w: w(u.S) << A.mxv(u, ring),
    "mxv.replace": lambda A, B, u, C, w: w(u.S, replace=True) << A.mxv(u, ring),
    "mxv.itself": lambda A, B, u, C, w: w << A.mxv(w, ring),
    "vxm": lambda A, B, u, C, w: w << u.vxm(A, ring),
    "vxm.few": lambda A, B, u, C, w: w << u[:40].new().vxm(A[:40, :].new(), ring),
    "add": lambda A, B, u, C, w: C << A.ewise_add(B, "plus"),
    "mult": lambda A, B, u, C, w: C << A.ewise_mult(B, "times"),
    "select": lambda A, B, u, C, w: C << A.select(">", 3),
    "extract": lambda A, B, u, C, w: C << A[np.arange(N)[::-1].tolist(), list(range(N))],
    "sums": lambda A, B, u, C, w: w << A.reduce_rowwise(),
}


def dense(seed):
    return gb.Matrix.from_dense(np.random.default_rng(seed).integers(1, 5, (N, N)).astype(float))


def objects():
    return matrix(1), matrix(2), vector(3), matrix(4, nvals=500), vector(5)


def run(name, things=None):
    things = objects() if things is None else things
    STATEMENTS[name](*things)
    return things


def same(x, y):
    return all(a.isequal(b, check_dtype=True) for a, b in zip(x, y, strict=True))


def expected(name):
    """By one range each: nothing is long then."""
    with tuning.override({"interrupt.long_work": 1 << 60}):
        return run(name)


@pytest.mark.parametrize("name", STATEMENTS)
def test_long_work_gives_what_one_range_gives(name, short):
    assert same(run(name), expected(name))


@pytest.mark.parametrize("name", ["csr", "b2sr", "mplg", "nib", "cgr", "split"])
def test_every_form_runs_in_ranges(name, short):
    A, u = matrix(1, dtype=bool), vector(3)
    B = gb.Matrix.from_coo(*A.to_coo(), nrows=N, ncols=N, format=name)
    with tuning.override({"interrupt.long_work": 1 << 60}):
        wanted = A.mxv(u, ring).new(), A.mxm(A, "plus_pair").new(), A.T.mxv(u, ring).new()
    assert same((B.mxv(u, ring).new(), B.mxm(B, "plus_pair").new(), B.T.mxv(u, ring).new()), wanted)


def test_few_threads_share_the_ranges(short):
    A, B = matrix(1), matrix(2)
    wanted = A.mxm(B, ring).new()
    for most in (1, 2):
        threads.set_limit(most)
        try:
            assert A.mxm(B, ring).new().isequal(wanted)
        finally:
            threads.set_limit(0)


class Clock:
    """In the place of `time` in the module that launches kernels: Ctrl-C at the look number `at`."""

    def __init__(self, at):
        self.at, self.looks = at, 0

    def perf_counter(self):
        self.looks += 1
        if self.looks == self.at:
            signal.raise_signal(signal.SIGINT)
        return time.perf_counter()


@pytest.fixture
def handled():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", sorted({*STATEMENTS} - {"vxm"}))  # a push is one launch
def test_an_interrupt_leaves_objects_as_they_are(name, short, handled, monkeypatch, tune):
    """Wherever between two groups of ranges it comes; afterwards the statement runs."""
    wanted, things = expected(name), objects()
    run(name)  # kernels are compiled
    clock = Clock(0)
    tune({"interrupt.group_seconds": 0.0})
    with monkeypatch.context() as patch:
        patch.setattr(cpu, "time", clock)
        run(name)
    assert clock.looks > 2, "expected several groups of ranges"
    for at in sorted({1, 2, clock.looks // 2, clock.looks - 1}):
        before = [x.dup() for x in things]
        with monkeypatch.context() as patch:
            patch.setattr(cpu, "time", broken := Clock(at))
            with pytest.raises(KeyboardInterrupt):
                run(name, things)
        assert broken.looks == at and same(things, before)
    assert same(run(name, things), wanted)


def test_groups_take_about_as_long_as_they_should(monkeypatch):
    """Fewer ranges after a slow group, twice as many at most after a fast one."""
    counts, now = [], [0.0]

    def kernel(limits):
        counts.append(len(limits) - 1)
        now[0] += 0.01 * counts[-1]

    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(cpu, "time", clock)
    with gb.config.set(threads=1):
        cpu.run_in_groups(np.arange(101), kernel)
    assert counts[:3] == [2, 4, 8] and sum(counts) == 100 and 9 <= max(counts) <= 10
    counts.clear()
    cpu.run_in_groups(np.arange(6), kernel, in_turn=True)
    assert counts == [1] * 5


def test_work_that_is_not_long_is_launched_as_before():
    device, long_work = matrix(1).device, tuning.count("interrupt.long_work")
    assert device.chunks(long_work - 1) == 1
    assert device.chunks(long_work) == long_work // tuning.count("interrupt.chunk_work")
    assert not isinstance(device.ranges(1 << 20, 1, fresh=True), threads.Chunks)
    assert isinstance(device.ranges(long_work, 1, fresh=True), threads.Chunks)
    assert not isinstance(device.ranges(long_work, 1), threads.Chunks)


@pytest.fixture
def tables():
    """Loops on the CPU are tables of kernels from their first round on."""
    with at_once():
        yield


def symmetric(n, share):
    """BOOL, so that it is its own transpose."""
    some = np.random.default_rng(7).random((n, n)) < share
    i, j = (some | some.T).nonzero()
    return gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, symmetric=True, format="csr")


def spreading(A, rounds):
    """x = A x, some rounds: the vector, and the program."""
    x, t = gb.Vector.from_dense(np.ones(A.nrows)), gb.Vector(float, A.nrows)

    def body(_):
        t << A.mxv(x, gb.semiring.plus_second[gb.dtypes.FP64])
        x << t.apply(gb.binary.times, right=1e-3)

    return x, Program(body, while_=x, limit=rounds)


def test_long_products_inside_of_a_loop(short, tables):
    x, program = spreading(symmetric(N, 0.05), 4)
    program.run()
    with tuning.override({"interrupt.long_work": 1 << 60}):
        y, whole = spreading(symmetric(N, 0.05), 4)
        whole.run()
    assert x.isequal(y) and x.nvals == N
    made = [one._tier_up.rounds.build.table for one in (program, whole)]
    parts, wholes = (int(table.words[3]) for table in made)
    assert parts > wholes, "expected a product in several operations"


def test_a_round_pauses_inside_of_a_long_product(tables, monkeypatch, tune):
    """After 20 ms, with the next part of it to go on with; an interrupt there leaves vectors as they were."""
    tune({"interrupt.long_work": 1 << 16, "interrupt.chunk_work": 1 << 16})
    n = 3000
    A = symmetric(n, 0.6)
    with gb.config.set(threads=1):
        x, program = spreading(A, 3)
        assert program.run() == 3
        wanted = x.dup()
        made, turns = program._tier_up.rounds.build.table, []
        loop = made.loop
        x << 1.0
        monkeypatch.setattr(made, "loop", lambda *args: (turns.append(int(made.state[RESUMED])), loop(*args))[1])
        assert program.run() == 3 and x.isequal(wanted)
        assert any(turns), "no part took long enough to pause"

        def interrupted(*args):
            if made.state[RESUMED]:
                raise KeyboardInterrupt
            return loop(*args)

        monkeypatch.setattr(made, "loop", interrupted)
        x << 1.0
        before = x.dup()
        with pytest.raises(KeyboardInterrupt):
            program.run()
        assert x.isequal(before)
        monkeypatch.setattr(made, "loop", loop)
        assert program.run() == 3 and x.isequal(wanted)
