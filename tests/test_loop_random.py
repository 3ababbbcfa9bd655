"""Random bodies of loops: a program against the same statements one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bitblas as gb
from bitblas.loop import repeat

BOOL, INT64, FP64 = gb.dtypes.BOOL, gb.dtypes.INT64, gb.dtypes.FP64
UNARIES = ("ainv", "abs", "lnot", "one")
KINDS = ("copy", "apply", "bound", "add", "mult", "select", "scalar", "index")
BINARIES = ("plus", "min", "second", "first", "times", "ge", "pair")


@st.composite
def statement(draw):
    return (
        draw(st.integers(0, 3)), draw(st.sampled_from(KINDS)), draw(st.integers(0, 3)), draw(st.integers(0, 3)),
        draw(st.sampled_from(BINARIES)), draw(st.sampled_from(UNARIES)),
        draw(st.sampled_from(["none", "S", "V", "~S", "~V"])), draw(st.integers(0, 3)),
        draw(st.sampled_from([None, None, "plus", "min"])), draw(st.booleans()),
    )  # fmt: skip


def value_of(kind, x, y, op, unary):
    return {
        "copy": lambda: x, "apply": lambda: x.apply(getattr(gb.unary, unary)), "bound": lambda: x.apply(op, right=2),
        "add": lambda: x.ewise_add(y, op), "mult": lambda: x.ewise_mult(y, op), "scalar": lambda: 3,
        "select": lambda: x.select(gb.select.valuege, 1), "index": lambda: x.apply(gb.indexunary.index, 5),
    }[kind]()  # fmt: skip


def play(statements, vectors, s):
    for w, kind, a, b, binary, unary, mask, m, accum, replace in statements:
        if binary == "ge" and vectors[w].dtype != BOOL and accum is not None:
            continue
        value = value_of(kind, vectors[a], vectors[b], getattr(gb.binary, binary), unary)
        parts = []
        if mask != "none":
            found = getattr(vectors[m], mask[-1])
            parts.append(~found if mask[0] == "~" else found)
            if replace:
                parts.append(gb.replace)
        if accum is not None:
            parts.append(getattr(gb.binary, accum))
        (vectors[w](*parts) if parts else vectors[w]) << value
    s << vectors[0].reduce(gb.monoid.plus[INT64])


def four_vectors(seed, n=70):
    rng = np.random.default_rng(seed)
    made = []
    for dtype in (INT64, FP64, gb.dtypes.INT8, BOOL):
        at = np.flatnonzero(rng.random(n) < 0.5)
        made.append(gb.Vector.from_coo(at, rng.integers(0, 5, len(at)), size=n, dtype=dtype))
    return made


@settings(max_examples=6)
@given(body=st.lists(statement(), min_size=1, max_size=6), seed=st.integers(0, 3))
def _check_random_body(body, seed):
    left = gb.Vector.from_scalar(1, 2)
    plain, s1 = four_vectors(seed), gb.Scalar(INT64)
    for _ in range(2):
        play(body, plain, s1)
    looped, s2 = four_vectors(seed), gb.Scalar(INT64)

    def round_(k):
        play(body, looped, s2)
        left << left.select(gb.select.valuelt, 1)

    assert repeat(round_, while_=left) == 1
    left << 1
    assert repeat(round_, while_=left) == 1
    for x, y in zip(plain, looped):
        assert x.isequal(y, check_dtype=True)
    assert s1.isequal(s2)


def test_random_bodies(device):
    _check_random_body()
