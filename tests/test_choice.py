"""When a format is chosen: once enough reads amortize it, or on request; never for a matrix that is read once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
from test_plan_forms import flat

import bitblas as gb
from bitblas.algorithms import bfs_levels, triangle_count
from bitblas.config import config
from bitblas.exceptions import OutOfMemory
from bitblas.loop import at_once, repeat
from bitblas.operations import convert
from bitblas.plan import format_choice
from bitblas.plan import profile as plan_profile

N = 1 << 12
PAIR, MIN, ANY = gb.semiring.any_pair, gb.semiring.min_plus, gb.binary.any


@pytest.fixture
def quick(tune, monkeypatch):
    """Costs by which b2sr8 gains 150 us in each product: the sample is amortized by five reads, the conversion by
    twelve."""

    def costs(**us):
        made = flat(**{**dict.fromkeys(("csr", "mplg"), 200.0), "b2sr8": 50.0, **us})
        for module in (format_choice, plan_profile):
            monkeypatch.setattr(module, "costs_of", lambda device: made)

    costs()
    us = {"search_us": 900.0, "search_us_per_entry": 0.0, "convert_us": 1800.0, "convert_us_per_entry": 0.0}
    tune({f"format.{row}.{kind}": x for row, x in us.items() for kind in ("cpu", "gpu")})
    return costs


@pytest.fixture
def never(monkeypatch):
    """Looking is an error."""
    for name in ("find_best_format", "facts"):
        monkeypatch.setattr(format_choice, name, lambda *args, **options: pytest.fail("the plan looks"))


def blocks(values=True, n=N, **options):
    """Full tiles on the diagonal."""
    near = np.arange(n)[:, None] // 8 * 8 + np.arange(8)
    values = np.arange(8.0 * n) % 1009 if values is None else values
    return gb.Matrix.from_coo(np.repeat(np.arange(n), 8), near.ravel(), values, nrows=n, ncols=n, **options)


def half(n=N):
    return gb.Vector.from_coo(np.arange(0, n, 2), True, size=n)


def reads(A, times, u=None, op=PAIR):
    u = half() if u is None else u
    return [A.mxv(u, op).new() for _ in range(times)][-1]


def test_a_form_is_made_when_reads_have_repaid_it(device, quick):
    A, u = blocks(), half()
    found, first, before = [], reads(A, 1, u), A.memory().total
    for _ in range(14):
        assert reads(A, 1, u).isequal(first)
        found.append((format_choice.choice_of(A._store.structure, True).key, A.format))
    assert found[3:5] == [(None, "csr"), ("b2sr8", "csr")] and found[10:12] == [("b2sr8", "csr"), (None, "b2sr8")]
    assert list(A.memory().forms) == ["b2sr8"] and A.memory().structure < before
    assert A.isequal(blocks(format="csr"))


def test_no_form_is_made_while_a_graph_is_captured(device, quick, monkeypatch):
    A, u = blocks(), half()
    first = reads(A, 20, u)
    B = blocks()
    monkeypatch.setattr(type(B.device), "capturing", True)
    assert reads(B, 20, u).isequal(first) and B.format == "csr"
    monkeypatch.undo()
    assert reads(B, 1, u).isequal(first) and (A.format, B.format) == ("b2sr8", "csr")  # the plan has looked no more


def test_values_follow_their_entries(device, quick):
    quick(mplg=20.0)
    A = blocks(None)
    u = gb.Vector.from_dense(np.arange(N) % 7.0)
    first, entries = reads(A, 1, u, MIN), A.to_coo()
    assert reads(A, 40, u, MIN).isequal(first) and A.format == "mplg"
    assert all((x == y).all() for x, y in zip(A.to_coo(), entries))
    A[0, 0] = 7.5
    assert A[0, 0].new().value == 7.5 and A.nvals == 8 * N


@pytest.mark.parametrize("picked", [4, 8])
def test_sums_of_eight_bytes_repay_tiles_where_one_instruction_picks_eight(device, quick, monkeypatch, picked):
    """On a CPU; those of four bytes do, and so do counts."""
    A, B = blocks(), blocks()
    if A.device.kind == "cpu":
        monkeypatch.setattr(A.device, "permute_bytes", picked)
    u = gb.Vector.from_dense(np.arange(N) % 7.0)
    for of, dtype in (A, "FP64"), (B, "FP32"):
        reads(of, 40, u.dup(dtype), gb.semiring.plus_second[dtype])
    counted = A._store.structure.reads
    by_rows = A.device.kind == "cpu" and picked < 8
    assert (counted, A.format) == (0, "csr") if by_rows else A.format == "b2sr8"
    assert B.format == "b2sr8"
    reads(A, 40, u, gb.semiring.plus_pair[gb.dtypes.INT64])
    assert A.format == "b2sr8"


@pytest.mark.in_turn
def test_what_is_read_once_is_not_looked_at(device, never):
    A, u = blocks(), half()
    B = A.mxm(A, PAIR).new()
    W = blocks(None)
    results = W.mxm(B, gb.semiring.plus_first), A.ewise_add(B, ANY), A.T, A.select(gb.select.tril, -1)
    for made in (A, B, W, *(result.new() for result in results)):
        assert made.nvals and made.format == "csr"
        made.mxv(u, PAIR).new(), u.vxm(made, PAIR).new(), made.reduce_rowwise(gb.monoid.max).new()
        assert made.format == "csr"
    assert triangle_count(A) == N // 8 * 56
    for _ in range(15):  # as in algorithms: each result is read once
        A = A.mxm(A, PAIR).new()
        A.mxv(u, PAIR).new()


def test_forms_that_were_asked_for_stay(device, never):
    for form in ({"format": "csr"}, {"format": "b2sr", "tile": 4}, {"format": "mplg"}):
        A = blocks(**form)
        held = A.format
        reads(A, 60)
        A << A.mxm(A, PAIR)
        reads(A, 20)
        assert A.format == held


def test_what_cannot_gain_is_never_looked_at(device, tune, quick, never):
    quick(csr=4.0, mplg=4.0)
    tune({f"format.{row}.{kind}": 0.0 for row in ("search_us", "search_us_per_entry") for kind in ("cpu", "gpu")})
    small = gb.Matrix.from_coo(np.arange(100), np.arange(100), True, nrows=N, ncols=N)
    short = blocks(n=1 << 10)  # 8192 entries: a product takes less than the floor
    for A in (small, short):
        reads(A, 40, half(A.ncols))
        assert A.format == "csr"
    with gb.config.set(prefer="time"):
        assert format_choice.reads_needed(small._store.structure, True) == format_choice.NEVER


def test_one_look_is_one_kernel(device, quick):
    """Nothing is counted if the estimate is certain; packed rows are counted without unpacking."""
    for A in (blocks(n=1 << 14), blocks(n=1 << 14, format="mplg")):
        structure = A._store.structure
        with gb.trace() as seen:
            format_choice.find_best_format(structure, True)
        assert [event.kernel.split("/")[-1] for event in seen] == ["sample"]
        assert format_choice.choice_of(structure, True).key == "b2sr8"
        with gb.trace() as seen:
            format_choice.find_best_format(structure, False)
        assert not len(seen), "seen once, for matrices of one value and of several"
    assert not A.memory().caches, "plain numbers are kept, and the sample on the host"


def test_matrices_that_share_a_structure_share_what_was_made(device, quick, monkeypatch):
    A = blocks()
    B, C = A.dup(), A.dup()
    reads(A, 40)
    assert A.format == "b2sr8" and B.format == "csr"
    reads(B, 1)
    assert B._data.structure is A._data.structure
    del A, B
    reads(C, 1)
    assert C.format == "b2sr8", "made again, as reads have repaid it"


def test_rows_that_others_read_are_counted(device, quick):
    A, B = blocks(), blocks()
    for M in (A, B):
        reads(M, 8)
        assert format_choice.choice_of(M._store.structure, True).key == "b2sr8"
    A.mxm(A, PAIR).new()
    needed = [format_choice.reads_needed(M._store.structure, True) for M in (A, B)]
    assert needed[0] == 2 * needed[1]
    quick(split8=20.0)
    D = blocks()
    D.mxm(D, PAIR).new()
    reads(D, 60)
    assert D.format in ("csr", "b2sr8"), "not a form whose rows each of these statements would make"


def test_threads_may_read_while_a_form_is_made(quick):
    A, u = blocks(device="cpu"), gb.Vector.from_dense(np.arange(N, dtype=np.int32) % 5, device="cpu")
    expected = A.mxv(u, gb.semiring.plus_second).new()
    barrier = threading.Barrier(4)

    def read(_):
        barrier.wait()
        return all(A.mxv(u, gb.semiring.plus_second).new().isequal(expected) for _ in range(30))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(4)))
    assert A.format == "b2sr8"


def test_files_are_in_the_best_form(device, quick, tmp_path):
    path = tmp_path / "a.bitblas"
    for options, form in (({}, "b2sr8"), ({"format": "csr"}, "csr")):
        A = blocks(**options)
        A.save(path)
        assert A.format == gb.load(path).format == form
    C = blocks()
    assert C.T.mxv(half(), PAIR).new().nvals
    C.save(path, forms=True)
    assert C.format == "csr" and "csr.T" in C.memory().forms


def test_loops_are_captured_with_the_best_form(device, quick):
    """On a GPU, and on the CPU where a table of kernels takes over."""
    A, B = blocks(), blocks()
    with at_once():
        bfs_levels(A, 0)
    assert A.format == "b2sr8" and len(A.memory().forms) <= 2
    q, v = gb.Vector(bool, N), gb.Vector(bool, N)
    q[0] = True

    def body(_):
        v(q.S) << True
        q(~v.S, gb.replace) << q.vxm(B, PAIR[gb.dtypes.BOOL])

    with at_once():
        repeat(body, while_=q)
    assert B.format == "b2sr8" and v.nvals == 8


def test_memory_asks_at_once(device):
    with config.set(prefer="memory"):
        A = blocks()
        assert A.format == A.profile().chosen != "csr" and not A.profile().outlook
        assert A.ewise_add(A.T, ANY).new().format != "csr"


def test_where_there_is_no_room_it_stays(device, quick, monkeypatch):
    A = blocks()
    with monkeypatch.context() as m:
        m.setattr(convert, "convert_to", Mock(side_effect=OutOfMemory("no room")))
        reads(A, 40)
    reads(A, 40)
    assert A.format == "csr"


def test_the_profile_says_what_will_be(device, quick):
    A = blocks()
    found = A.profile()
    assert (found.chosen, found.stored, A.format) == ("b2sr8", "csr", "csr")
    assert "stored as csr so far; b2sr8 is built after 12 more products" in str(found)
    reads(A, 13)
    assert A.format == "b2sr8" and A.profile().outlook == "" and A.profile().stored == "b2sr8"
    assert not blocks(format="csr").profile().outlook, "asked for: it stays"
