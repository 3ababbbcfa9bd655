"""Writes into a matrix with packed values: values that do not fit are rejected at once, and the matrix stays
readable."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import InvalidValue
from bitblas.formats.packing import PackedValues

FAR = 1 << 40


def small(values=(3, 4), dtype=int, **how):
    return gb.Matrix.from_coo([0, 1], [1, 0], list(values), dtype, nrows=3, ncols=3, **{"packed": True, **how})


def vector(*values):
    return gb.Vector.from_coo(range(len(values)), list(values), size=3)


def entries(*values):
    return gb.Matrix.from_coo(range(len(values)), range(len(values)), list(values), nrows=3, ncols=3)


def one(C):
    C[0, 0] = FAR


def one_below(C):
    C[2, 2] = -FAR


def one_shifted(C):
    C[0, 0] << FAR


def one_of_several(C):
    C[0, 0] = 5
    C[1, 1] = FAR


def accumulated(C):
    C(gb.binary.plus)[0, 1] << FAR


def a_part(C):
    C[0, :] = vector(1, FAR)


def a_part_accumulated(C):
    C(gb.binary.plus)[0, [0, 1]] << FAR


def a_region(C):
    C[[0, 1], [0, 1]](gb.Matrix.from_coo([0, 1], [0, 1], 1, nrows=2, ncols=2).S) << FAR


def built(C):
    C.build([0, 1], [0, 1], [1, FAR], clear=True)


def updated(C):
    C << entries(1, FAR)


def updated_accumulated(C):
    C(gb.binary.plus) << gb.Matrix.from_coo([0], [1], [FAR], nrows=3, ncols=3)


def under_a_mask(C):
    C(entries(1, 1).S) << FAR


def in_place(C):
    C += entries(FAR)


def a_diagonal(C):
    C.setdiag(vector(1, FAR))


WAYS = [
    one, one_below, one_shifted, one_of_several, accumulated, a_part, a_part_accumulated, a_region, built, updated,
    updated_accumulated, under_a_mask, in_place, a_diagonal,
]  # fmt: skip


@pytest.mark.parametrize("write", WAYS)
def test_what_does_not_fit_is_refused_at_the_write(device, write):
    C = small()
    C[2, 0] = 9  # waits
    with pytest.raises(InvalidValue, match="packed: expected integers less than"):
        write(C)
    left = {0: {1: 3}, 1: {0: 4}, 2: {0: 9}} | ({0: {0: 5, 1: 3}} if write is one_of_several else {})
    assert C.to_dicts() == left and isinstance(C._stored.raw, PackedValues)
    C[0, 0] = 7
    assert C.get(0, 0) == 7


FLOATS = (0.5, np.nan, np.inf, -0.0, 2.0**54)


@pytest.mark.parametrize("x", FLOATS)
def test_floats_that_are_no_integers(device, x):
    C = small(dtype=float)
    with pytest.raises(InvalidValue, match="packed"):
        C[0, 0] = x
    assert C.to_dicts() == {0: {1: 3}, 1: {0: 4}}
    E = gb.Matrix(float, 3, 3, packed=True)  # one value for all entries is stored once, whatever it is
    if x == x:
        E[0, 0] = x
        E[1, 1] = x
        with pytest.raises(InvalidValue, match="packed"):
            E[2, 2] = 3
        assert E.nvals == 2 and E.ss.is_iso and E.get(1, 1) == x
        with pytest.raises(InvalidValue, match="packed"):
            E[0, 1] = 4
        assert E.nvals == 2
    else:
        with pytest.raises(InvalidValue, match="packed"):
            E[0, 0] = x
        assert E.nvals == 0


def test_what_fits_once_others_are_gone(device):
    C = small()
    del C[0, 1]
    C[1, 0] = FAR
    assert C.to_dicts() == {1: {0: FAR}}
    C[1, 0] = FAR + 1
    C[0, 0] = FAR + 2**32
    with pytest.raises(InvalidValue, match="packed"):
        C[2, 2] = FAR
    assert C.to_dicts() == {1: {0: FAR + 1}, 0: {0: FAR + 2**32}}


def test_a_refusal_does_not_forget_what_waits(device):
    C = gb.Matrix(int, 3, 3, packed=True)
    C[0, 0] = 3
    for at in ((1, 1), (2, 2)):
        with pytest.raises(InvalidValue, match="packed"):
            C[at] = FAR
    assert C.to_dicts() == {0: {0: 3}}


def test_many_writes_cost_one_rebuild(monkeypatch):
    from bitblas.core.matrix.stored import Writes

    C, rebuilds = gb.Matrix(int, 100, 100, device="cpu", packed=True), []
    into = Writes.into
    monkeypatch.setattr(Writes, "into", lambda self, held: rebuilds.append(len(self)) or into(self, held))
    for start in (1 << 33, 5):
        for k in range(1000):
            C[k % 100, k // 100] = start + k * (1 << 20)
        assert C.nvals == 1000
        C.clear()
    assert rebuilds == [1000, 1000]


VALUES = (0, 5, -1, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 40)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from((*VALUES, None, "read"))), max_size=20)


@hypothesis.given(STEPS)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_any_writes_are_taken_as_far_as_they_fit(device, steps):
    C, held = gb.Matrix(int, 2, 2, packed=True), {}
    for at, x in steps:
        i, j = divmod(at, 2)
        if x == "read":
            assert C.nvals == len(held)
        elif x is None:
            del C[i, j]
            held.pop((i, j), None)
        else:
            after = {**held, (i, j): x}
            fits = max(after.values()) - min(after.values()) < 1 << 32
            try:
                C[i, j] = x
            except InvalidValue:
                assert not fits
                continue
            assert fits
            held = after
    found = zip(*(x.tolist() for x in map(C.device.to_host, C.to_coo())))
    assert {(i, j): x for i, j, x in found} == held
