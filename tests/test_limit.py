"""The memory limit: what counts, what is rejected, and what is stored or built smaller because of it."""

from __future__ import annotations

import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas import operations
from bitblas.config import config
from bitblas.device import memory
from bitblas.exceptions import OutOfMemory
from bitblas.plan import format_choice as plan_forms
from bitblas.plan.facts import Facts
from bitblas.plan.format_choice import within

NUMBERS = re.compile(r"needs (\d+) bytes on device '\w+', (\d+) are in use, the limit is (\d+) \(config.memory_limit\)")


@pytest.fixture(autouse=True)
def _lifted(few_objects):
    """No limit afterwards."""
    yield
    config.memory_limit = None


def on(device: str) -> int:
    return memory.bytes_on(devices.get(device))


def refused(build) -> tuple[int, int]:
    """The estimate of a build, and the memory of the result."""
    with pytest.raises(OutOfMemory) as error:
        build()
    needed, now, limit = map(int, NUMBERS.search(str(error.value)).groups())
    assert limit == config.memory_limit < needed + now
    return needed, now


def entries(n: int = 400, k: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(0, n, k), rng.integers(0, n, k)


def test_limits_are_bytes_or_text():
    sizes = {"4GiB": 4 << 30, "500 MB": 500_000_000, "1.5kib": 1536, 7: 7, "12": 12, None: None}
    for text, number in sizes.items():
        with config.set(memory_limit=text):
            assert config.memory_limit == number == config.get("memory_limit")
        assert config.memory_limit is None
    for wrong in (-1, 1.5, True, "much", "4 XB", "", "-3"):
        with pytest.raises(ValueError, match="memory_limit: expected bytes, text such as '4GiB', or None, got"):
            config.set(prefer="memory", memory_limit=wrong)
        assert config.prefer == "time"
    code = "import bitblas; print(bitblas.config.memory_limit)"
    where = {"BITBLAS_MEMORY_LIMIT": "2MiB", "PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=where, check=True)
    assert run.stdout.strip() == str(2 << 20)


def test_too_little_and_exactly_enough(device):
    i, j = entries()
    kept = gb.Matrix.from_coo(i, j, True, nrows=400, ncols=400, format="csr")
    builds = (
        lambda: gb.Matrix.from_coo(i, j, True, nrows=400, ncols=400, format="csr"),
        lambda: gb.Matrix.from_chunks([(i, j)], nrows=400, ncols=400, format="csr"),
        lambda: kept.mxm(kept, gb.semiring.any_pair).new(),
        lambda: gb.Matrix(gb.dtypes.BOOL, 5000, 400),
    )
    for build in builds:
        build()  # what operands keep is there
        config.memory_limit = on(device) + 100
        needed, now = refused(build)
        for _ in range(4):  # a later step may need more than the one that was refused
            config.memory_limit = now + needed
            try:
                made = build()
                break
            except OutOfMemory as error:
                needed, now = map(int, NUMBERS.search(str(error)).groups()[:2])
        assert made.memory().total <= config.memory_limit
        del made
        config.memory_limit -= 1
        refused(build)
        config.memory_limit = None
        assert build().nrows > 0


@pytest.mark.parametrize("shape", [(100_000, 50, 20_000), (60, 1 << 20, 40_000)])
def test_what_a_build_needs_is_what_it_takes(shape, tune):
    """On the CPU: never more than was foreseen, and not much less than that."""
    tune({"chunks.least_entries": 1 << 20})  # nothing is gained by chunks
    (nrows, ncols, k), rng = shape, np.random.default_rng(4)
    i, j, x = rng.integers(0, nrows, k), rng.integers(0, ncols, k), rng.random(k)
    unique = np.unique(i * ncols + j)
    rows, cols, ptr = unique // ncols, unique % ncols, np.arange(k + 1)
    how = {"nrows": nrows, "ncols": ncols, "device": "cpu", "format": "csr"}
    for build in (
        lambda: gb.Matrix.from_coo(i, j, True, **how),
        lambda: gb.Matrix.from_coo(i, j, x, dup_op=gb.binary.plus, **how),
        lambda: gb.Matrix.from_coo(rows, cols, x[: len(unique)], **how),
        lambda: gb.Matrix.from_csr(ptr, j, True, **(how | {"nrows": k})),
    ):
        build()
        config.memory_limit = on("cpu")
        needed, _ = refused(build)
        config.memory_limit = None
        tracemalloc.start()
        made = build()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert needed / 4 < peak <= needed and made.nvals > 0


def test_objects_stay_as_they_were(device):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3], nrows=3000, ncols=3000, format="csr")
    B = A.dup()
    config.memory_limit = on(device)
    for statement in (
        lambda: A << A.mxm(A),
        lambda: A(gb.binary.plus) << A.T,
        lambda: A._store.structure.layout("b2sr8"),
        lambda: A.T.new(),
    ):
        with pytest.raises(OutOfMemory, match="are in use, the limit is"):
            statement()
    config.memory_limit = None
    assert A.isequal(B)
    A << A.mxm(A)
    assert A.nvals == 3


def test_what_is_held_is_counted_once_and_given_back(device):
    start = on(device)
    A = gb.Matrix.from_coo(*entries(), 1.5, nrows=400, ncols=400, format="csr")
    B, v = A.dup(), gb.Vector.from_dense(np.arange(1000.0))
    assert on(device) == start + A.memory().total + v.memory().total and B.nvals == A.nvals
    del A, B, v
    assert on(device) == start


# ---- smaller forms --------------------------------------------------------------------------------------------------

SEEN = Facts(10_000, 10_000, 80_000, ((4, 40_000.0), (8, 38_000.0), (16, 35_000.0), (32, 30_000.0), (64, 25_000.0)))
CSR, SMALL, LESS = (SEEN.bytes_of(key) for key in ("csr", "b2sr4", "mplg"))


def test_the_plan_takes_a_smaller_form_under_a_limit(monkeypatch):
    key, reason = within(SEEN, "csr", 2 * CSR - 1)
    assert key == "mplg" and LESS < SMALL < CSR and "mplg is the smallest" in reason
    monkeypatch.setattr(Facts, "forms", property(lambda self: ("csr", "b2sr4", "b2sr8")))
    assert within(SEEN, "csr", 10 * CSR) == within(SEEN, "csr", 2 * CSR) == ("csr", "")
    key, reason = within(SEEN, "csr", 2 * CSR - 1)
    assert key == "b2sr4" and SMALL < CSR
    assert f"csr and its transpose need {2 * CSR} bytes, b2sr4 is the smallest" in reason
    assert within(SEEN, "csr", CSR + SMALL) == ("csr", ""), "no room to build it"
    key, reason = within(SEEN, "b2sr8", CSR + 10)
    assert key == "csr" and "no room to build b2sr8" in reason


def loose() -> tuple[np.ndarray, np.ndarray]:
    """1000 x 1000 with 1.9 entries in a tile: too few for tiles to be fast, enough for 4 x 4 ones to be small."""
    rng, i, j = np.random.default_rng(2), [], []
    for row in range(0, 1000, 8):
        tiles = (rng.permutation(125)[:36] * 8).tolist()
        for pair in range(4):
            some = tiles[8 * pair : 8 * pair + 8]
            i += [row + 2 * pair] * 9 + [row + 2 * pair + 1] * 8
            j += [*some, tiles[32 + pair], *some]
    return np.array(i), np.array(j)


def test_a_limit_changes_the_choice_and_the_profile_says_why(device, monkeypatch):
    monkeypatch.setattr(plan_forms, "best_form", lambda *args, **options: "csr")  # whatever calibrations say
    A = gb.Matrix.from_coo(*loose(), True, nrows=1000, ncols=1000)
    one = gb.Vector.from_scalar(True, 1000).diag()
    A.mxm(one, gb.semiring.any_pair).new()  # what the operands keep is there
    seen = A.profile().facts
    assert A.format == A.profile().chosen == "csr" and not A.profile().reason
    budget = seen.bytes_of("csr") + seen.bytes_of("mplg") + 500
    assert budget < 2 * seen.bytes_of("csr")
    config.memory_limit = on(device) + budget
    B = A.mxm(one, gb.semiring.any_pair).new()
    profile = B.profile()
    assert B.format == profile.chosen == "mplg" and "mplg is the smallest that can be built" in str(profile)
    config.memory_limit = None
    assert B.isequal(A) and A.mxm(one, gb.semiring.any_pair).new().format == "csr"


def test_entries_are_taken_in_chunks_where_sorting_them_all_would_not_fit(device, monkeypatch, tune):
    tune({"chunks.least_entries": 64})
    i, j = entries(100, 20_000)
    original = operations.build.from_counts
    for x, dup in ((True, None), (np.arange(20_000.0) / 7, gb.binary.plus), (np.arange(20_000), gb.binary.minus)):
        make = lambda x=x, dup=dup: gb.Matrix.from_coo(i, j, x, nrows=100, ncols=100, dup_op=dup, format="csr")
        whole, calls = make(), []
        counted = lambda *a, calls=calls, **k: calls.append(1) or original(*a, **k)
        config.memory_limit = on(device) + 20_000 * (19 if x is True else 40)
        with monkeypatch.context() as m:
            m.setattr(operations.build, "from_counts", counted)
            A = make()
        config.memory_limit = None
        assert calls and A.isequal(whole, check_dtype=True) and A.nvals < 20_000
