"""Ctrl-C in loops that run in one launch: it ends the launch after a round, objects are unchanged, and the next run is
right. In the emulator, which a signal cannot reach, the request to stop is there from the first round on."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from interrupts import interrupted
from test_grid_rounds import one_launch
from test_loop import BOOL, INT64, levels_program
from test_loop_relaxation import relaxing
from test_loop_selection import selecting
from test_small_rounds import in_cluster

import bitblas as gb
from bitblas.loop import Program
from bitblas.loop.gpu.transfer import STOP

pytestmark = pytest.mark.off_cpu
# Options that the tests of each kind of launch use too, and what makes all rounds one launch here.
OPTIONS = {
    "grid": {"loop.segment_entries": 32, "grid.chunk": 4, "grid.staged": 16, "grid.threads_small": 64},
    "cluster": {},
    "relaxation": {"relaxation.vertices": 1, "relaxation.threads": 64, "relaxation.queue_bytes": 256},
    "selection": {},
}


def path(n: int, leaves: int, dtype: gb.dtypes.DataType = BOOL) -> gb.Matrix:
    """A path of n vertices, and leaves of its first one."""
    rows = np.concatenate([np.arange(n - 1), np.zeros(leaves, np.int64)])
    cols = np.concatenate([np.arange(1, n), np.arange(n, n + leaves)])
    ends = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    return gb.Matrix.from_coo(*ends, dtype.np_type.type(1), nrows=n + leaves, ncols=n + leaves, format="csr")


def begun(kind: str, n: int) -> tuple[Program, list[gb.Vector], list[gb.Vector]]:
    """A program that takes a round for each vertex or two, its vectors, and their contents before it."""
    if kind == "selection":  # each vertex waits for the next one
        s, members = gb.Vector.from_coo(np.arange(n), np.arange(n) << 33, INT64, size=n), gb.Vector(BOOL, n)
        return selecting(path(n, 0), s, members), [s, members], [s.dup(), members.dup()]
    A = path(n, n // 2 if kind == "grid" else 0, INT64 if kind == "relaxation" else BOOL)
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(INT64 if kind == "relaxation" else BOOL, A.nrows)
    q[0] = 0
    if kind == "relaxation":
        v[0] = 0
    else:
        q[0] = True
    program = relaxing(A, v, q) if kind == "relaxation" else levels_program(A, v, q)
    return program, [v, q], [v.dup(), q.dup()]


@contextmanager
def stopped(program: Program, device: str) -> Iterator[None]:
    """The program ends by a request to stop."""
    if device != "emulator":
        with interrupted(0.05):
            yield
        return
    captured = program._captured
    loop, rounds = captured.loop, captured.build.outermost
    before = loop.parts
    at = len(captured.enter)  # these launches clear the request
    begin = [*before.begin[:at], lambda: rounds.__setitem__(STOP, 1), *before.begin[at:]]
    loop.parts = before._replace(begin=begin)
    yield
    loop.parts = before


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_request_to_stop_ends_a_launch(device, kind, tune):
    tune(OPTIONS[kind])
    n = 100 if device == "emulator" else 1 << 18
    program, vectors, before = begun(kind, n)
    whole = program.run()
    expected = [x.dup() for x in vectors]
    text = str(program.explain())
    assert kind in ("relaxation", "selection") or one_launch(program) == (kind == "grid")
    assert "in one launch" in text if kind != "cluster" else in_cluster(program) == whole
    for x, content in zip(vectors, before, strict=True):
        x << content
    rounds = 0
    with stopped(program, device):
        rounds = program.run()
    assert rounds < max(1, whole / 4)
    if device == "emulator":  # the rounds that it did are the results: it was no interrupt of Python
        assert not vectors[0].isequal(expected[0])
    else:
        assert all(x.isequal(content) for x, content in zip(vectors, before, strict=True))
    for x, content in zip(vectors, before, strict=True):
        x << content
    program.run()
    assert all(x.isequal(right) for x, right in zip(vectors, expected, strict=True))
