"""`memory()` reports the memory of objects: compared with a walk over everything that Python's collector reaches."""

from __future__ import annotations

import gc
import types

import numpy as np
import pytest
from battery import FORMS

import bitblas as gb
from bitblas import device as devices
from bitblas.device import memory

KEYS = tuple(FORMS)


def reachable(thing, device: str) -> int:
    """Bytes of all arrays of the device that can be reached from an object, each with all the memory that it keeps."""
    d, seen, stack, total = devices.get(device), set(), [thing], 0
    stop = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, devices.Device)
    while stack:
        x = stack.pop()
        while isinstance(x, d.xp.ndarray) and isinstance(x.base, d.xp.ndarray):
            x = x.base
        known = id(x) in seen or isinstance(x, stop) or (isinstance(x, dict) and "__builtins__" in x)
        if known or type(x).__module__.partition(".")[0] in ("numba", "semirings", "emulator"):
            continue
        seen.add(id(x))
        if isinstance(x, d.xp.ndarray):
            total += int(x.nbytes)
        else:
            stack += gc.get_referents(x)
    return total


def grid(side: int = 12, x=True, **how) -> gb.Matrix:
    """A grid with a row of many entries, so that there are schedules for it."""
    at = np.arange(side * side).reshape(side, side)
    ends = np.concatenate([[at[:, :-1].ravel(), at[:, 1:].ravel()], [at[:-1].ravel(), at[1:].ravel()]], axis=1)
    i, j = np.append(ends[0], np.full(side * side, 5)), np.append(ends[1], at)
    values, dup = (x, None) if x is True else (np.arange(len(i), dtype=np.float64), gb.binary.plus)
    return gb.Matrix.from_coo(i, j, values, nrows=side**2, ncols=side**2, dup_op=dup, **how)


def check(x, device: str):
    """The receipt of an object, which is true."""
    found = x.memory()
    assert found.total == reachable(x._store, device)
    return found


@pytest.mark.parametrize("key", KEYS)
def test_receipts_are_true(device, key, tune):
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})
    for x in (True, 1.0):
        A = grid(x=x, **FORMS[key])
        alone = check(A, device)
        form = A._store.structure.primary
        assert list(alone.forms) == [key] and alone.structure == sum(int(x.nbytes) for x in form.arrays().values())
        assert alone.values == (0 if x is True else 8 * A.nvals)
        if key not in ("csr", "b2sr8"):
            continue
        v = gb.Vector.from_dense(np.arange(A.nrows) % 3 + 0.5)
        ring = gb.semiring.plus_second if x is True else gb.semiring.plus_times
        A.mxv(v, ring).new()
        A.T.mxv(v, ring).new()
        check(A, device)
        B = A.T.new()
        check(B, device)
        found = check(A, device)
        assert found.forms[f"{key}.T"] > A.nrows // 4 and found.total > alone.total
        if x is not True:
            assert found.copies[f"{key}.T"] == alone.values and found.orders[f"{key}.T"] > 0


def test_receipts_count_what_an_algorithm_keeps(device):
    A = grid(format="b2sr", tile=8)
    gb.algorithms.bfs_levels(A, 0)
    found = check(A, device)
    assert not devices.get(device).is_gpu or found.caches["programs"] > 8 * A.nrows


@pytest.mark.usefixtures("emulator")
def test_programs_take_the_same_memory_in_turn():
    """Programs of one matrix, and of others of its size, share memory; contents left by another change no answer."""
    with gb.config.set(device="emulator"):
        A, B = grid(40), grid(40)
        levels, parents = gb.algorithms.bfs_levels(A, 0), gb.algorithms.bfs_parents(A, 5)
        for _ in range(3):  # later programs read the transpose too, with shorter lists
            gb.algorithms.bfs_parents(A, 5), gb.algorithms.bfs_levels(A, 0)
        first = A.memory().caches["programs"]
        for M in (A, B):
            for _ in range(4):
                assert gb.algorithms.bfs_parents(M, 5).isequal(parents)
                assert gb.algorithms.bfs_levels(M, 0).isequal(levels)
        assert A.memory().caches["programs"] == first and B.memory().caches["programs"] <= first
        arrays = [{id(x) for x in memory.arrays_in(M._store.prepared, A._store.device, set())} for M in (A, B)]
        assert len(arrays[0] & arrays[1]) > 10
        alone = grid(40)
        gb.algorithms.bfs_levels(alone, 0)
        one = alone.memory().caches["programs"]
        gb.algorithms.bfs_levels(alone, 3, depth_limit=1000)  # a separate program
        assert alone.memory().caches["programs"] - one < one // 2


def test_receipts_of_vectors(device):
    v = gb.Vector(gb.dtypes.FP64, 1000)
    assert check(v, device).total == 0
    v[3] = 1.5
    v << v.apply(gb.unary.ainv)
    v[4] = 2.5
    _ = v.nvals
    found = check(v, device)
    assert (found.presence, found.values) == (128, 8000)
    assert gb.Vector.from_scalar(1, 1000).memory().values == 0 and "presence" in str(found)


def test_the_parts_are_named(device):
    A = grid(x=1.0, format="b2sr", tile=8)
    text = str(A.memory())
    assert "b2sr8 ranks" in text and "values" in text and "total" in text
    check(gb.Matrix(gb.dtypes.BOOL, 0, 0), device)


@pytest.mark.parametrize("key", ["b2sr8", "split8"])
def test_a_look_at_the_rows_does_not_keep_them(device, key):
    A, B = grid(x=1.0, **FORMS[key]), grid(x=1.0, **FORMS[key])
    assert A.isequal(B) and not A.isequal(B.T)
    A.profile()
    own = lambda found: [form for form in found if not form.endswith(".T")]
    for M in (A, B):
        assert own(M.memory().forms) == [key] and not own(M.memory().copies)
    if key == "b2sr8":
        A.ewise_add(B, gb.binary.plus).new()  # keeps its rows, and a look leaves them there
        assert A.isequal(B) and "csr" in A.memory().forms
