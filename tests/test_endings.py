"""How a product ends its statement, in its kernel: every output (of one value, of many, empty) under every mask,
accumulator and replace, in place or not, for rows and for hubs; against python-graphblas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from battery import FORMS, MATRICES, PLAIN_FORMS
from battery_runs import MASKS, check

import bitblas
from bitblas.plan.product import plan_epilogue
from semirings.catalog import BINARY
from semirings.dtypes import BOOL, FP64, INT64

OUTPUTS = ("half iso", "half", "empty", "full iso")
# semiring, types of A, u and w, accumulator: presence alone; one value for all products, into many; counts; values
STATEMENTS = (
    ("any_pair", "BOOL", "BOOL", "BOOL", "lor"),
    ("lor_land", "BOOL", "BOOL", "FP64", "plus"),
    ("plus_pair", "BOOL", "BOOL", "INT64", "plus"),
    ("min_second", "BOOL", "INT64", "INT8", "min"),
    ("lor_land", "INT64", "INT64", "BOOL", "land"),
)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", ["csr", "b2sr8", pytest.param("b2sr64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s[0] + " " + s[3])
def test_every_end(device, form, statement, tune, monkeypatch):
    tune({"push_cost.cpu": float("inf"), "push_cost.gpu": float("inf")})
    name, a, u, w, accum = statement
    p = MATRICES["hub"]()
    cases = itertools.product(OUTPUTS, MASKS, ("", f"binary.{accum}"), ("", "replace"), ("u", "w"))
    for k, (kind, mask, joined, replaced, right) in enumerate(cases):
        if (replaced and not mask) or (right == "w" and kind != "half"):
            continue
        # Every other one cuts the hub into segments.
        tune({"rows.iterations": (16, 1)[k % 2]})

        def make(operands, kind=kind, full=k % 3):
            operands.matrix("A", p, a, form, a == "BOOL")
            operands.vector("u", "full" if full else "half iso", p.ncols, u)
            operands.vector("w", kind, p.nrows, w)
            operands.vector("m", "half", p.nrows, "BOOL")

        parts = [mask and f"{'~' * ('~' in mask)}m{mask.removeprefix('~')}", joined, replaced]
        how = ", ".join(part for part in parts if part)
        check(f"w{how and f'({how})'} << A.mxv({right}, semiring.{name})", "w", make)


def test_presence_alone_is_written_where_values_stay():
    lor, plus = BINARY["lor"][BOOL], BINARY["plus"][INT64]
    true, one, two = np.True_, np.int64(1), np.int64(2)
    assert not plan_epilogue(BOOL, true, BOOL, true, None).store
    assert not plan_epilogue(BOOL, true, BOOL, true, lor).store
    assert not plan_epilogue(BOOL, true, INT64, one, BINARY["max"][INT64]).store
    assert plan_epilogue(BOOL, true, INT64, one, plus).store, "1 + 1 is another value"
    assert plan_epilogue(BOOL, true, INT64, two, None).store
    assert plan_epilogue(FP64, None, FP64, np.float64(1), None).store, "products of many values"
    assert plan_epilogue(BOOL, true, BOOL, None, None).store, "an output of many values"


def test_a_statement_writes_in_place_unless_its_output_is_read(device):
    n = 200
    ring = bitblas.Matrix.from_coo(np.arange(n), (np.arange(n) + 1) % n, 1.5, nrows=n, ncols=n)
    u = bitblas.Vector.from_coo(np.arange(n), np.arange(n) * 1.0, size=n)
    w = u.dup()
    for statement, in_place in (
        ("w << ring.mxv(u)", True), ("w(m.S) << ring.mxv(u)", True), ("w(binary.plus) << ring.mxv(u)", True),
        ("w << ring.mxv(w)", False), ("w(w.S) << ring.mxv(u)", False), ("w(binary.plus) << ring.mxv(w)", False),
    ):  # fmt: skip
        present, values = w._store.present, w._store.values
        exec(statement, {"w": w, "ring": ring, "u": u, "m": u, "binary": bitblas.binary})
        assert (w._store.present is present, w._store.values is values) == (in_place, in_place), statement


@pytest.mark.in_turn
@pytest.mark.parametrize("form", PLAIN_FORMS)
def test_sizes_of_the_output_that_fill_no_word(device, form):
    """Whole words are written, by few rows or by many."""
    for n in (1, 5, 31, 33, 64, 65, 255, 257, 300):
        A = bitblas.Matrix.from_coo(np.arange(n), np.arange(n), True, nrows=n, ncols=n, **FORMS[form])
        u = bitblas.Vector.from_coo(np.arange(n), np.arange(n), size=n)
        for name in ("any_pair", "plus_second", "plus_pair"):
            t = A.mxv(u, bitblas.semiring[name]).new()
            assert t.nvals == n, (n, name)
