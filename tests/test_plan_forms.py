"""Which stored form is chosen: the rule, and what the constants that come with bitblas make of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from battery import generator
from test_plan import matrix

import bitblas
from bitblas import costs, plan_forms
from bitblas.config import config
from bitblas.facts import facts


def test_what_promises_most_is_chosen(device):
    """Full tiles against one entry a tile, by the constants that come with bitblas."""
    n = 1 << 12
    near = np.arange(n)[:, None] // 8 * 8 + np.arange(8)  # full 8x8 tiles on the diagonal
    full = bitblas.Matrix.from_coo(np.repeat(np.arange(n), 8), near.ravel(), True, nrows=n, ncols=n)
    far = generator("far").integers(0, n, (n, 8))
    scattered = bitblas.Matrix.from_coo(np.repeat(np.arange(n), 8), far.ravel(), True, nrows=n, ncols=n)
    seen = [facts(A._store.structure) for A in (full, scattered)]
    assert seen[0].fill == 64 and dict(seen[0].tiles)[64] == n / 64
    for A, of in zip((full, scattered), seen):
        best = plan_forms.best_form(of, A.profile().costs, "time", iso=True, gpu=A.device.is_gpu)
        assert A.format == A.profile().chosen == best
        assert A.memory().structure <= of.bytes_of("csr"), "never more bytes than plain CSR"
    small = bitblas.Matrix.from_coo(near[:8].ravel() // 8, near[:8].ravel() % 8, True, nrows=n, ncols=n)
    assert small.nvals < plan_forms.SMALL and small.format == "csr"
    with config.set(prefer="memory"):
        of = facts(small._store.structure)
        assert small.dup().profile().chosen == min(of.forms, key=of.bytes_of) != "csr", "small ones too"
        for A, of in zip((full, scattered), seen):
            least = A.dup().profile()
            assert least.chosen == min(of.forms, key=of.bytes_of) != "csr"
            assert least.facts.bytes_of(least.chosen) < of.bytes_of("csr")


def flat(**bytes_cost):
    """Costs by bytes alone: so much for each byte of a form, 1 where nothing is said."""
    us = {}
    for key in ("csr", "mplg", *(f"b2sr{t}" for t in (4, 8, 16, 32, 64)), "split4", "split8", "split16"):
        for verb in costs.VERBS:
            us[f"{key} {verb}"] = (0.0, bytes_cost.get(key, 1.0), 0.0, 0.0, 0.0)
    return costs.Costs("a test", "made up", us)


def test_the_rule_of_the_choice():
    sparse, dense = (facts(matrix(name, device="cpu")._store.structure) for name in ("130x130", "all ones"))
    best = plan_forms.best_form
    assert sparse.bytes_of("b2sr64") > sparse.bytes_of("csr")
    assert best(sparse, flat(b2sr64=1e-9), "time", iso=True) != "b2sr64", "never more bytes than plain CSR"
    assert best(dense, flat(b2sr64=1e-9), "time", iso=True) == "b2sr64"
    slow = dict.fromkeys(("mplg", "b2sr4", "b2sr8", "b2sr16", "b2sr32", "b2sr64", "split4", "split8", "split16"), 1e3)
    assert best(dense, flat(**slow), "time", iso=True) == "csr"
    assert best(dense, flat(**slow | {"b2sr8": 1e-9, "split8": 0.0}), "time", iso=True) == "b2sr8", "all verbs"
    assert best(dense, flat(**slow), "memory", iso=True) == min(dense.forms, key=dense.bytes_of)
    assert best(dense, flat(b2sr8=1e-9, mplg=0.0), "time", iso=False) == "csr", "values are found by row"
    assert best(dense, flat(**slow), "memory", iso=False) == "mplg"
    cheap = flat(**slow | {"b2sr8": 1e-9, "b2sr64": 1e-9})
    assert best(dense, cheap, "time", iso=True, gpu=True) == "csr", "too few tile rows"
    wide = facts(matrix("all ones", device="cpu")._store.structure)
    wide = dataclasses.replace(wide, nrows=plan_forms.BUSY // 4)
    assert plan_forms.candidates(wide, "time", True, True) == ("csr", "b2sr4", "b2sr8")
    uneven = flat(**slow | {"b2sr8": 1.0, "b2sr4": 1.0})
    uneven.us["b2sr8 bits"], uneven.us["b2sr8 numbers"] = (0.0, 0.01, 0.0, 0.0, 0.0), (0.0, 50.0, 0.0, 0.0, 0.0)
    gain = plan_forms.slowness(dense, uneven, "b2sr8", True) ** 2
    ratios = [uneven.predict(dense, "b2sr8", v) / uneven.predict(dense, "csr", v) for v in (costs.BITS, costs.NUMBERS)]
    assert gain == pytest.approx(ratios[0] * ratios[1]), "a gain of one product may pay for a loss of the other"
