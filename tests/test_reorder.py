"""Orders of vertices, and matrices stored in one: every verb as in the battery, in the user's numbering."""

from __future__ import annotations

import numpy as np
import pytest
import test_battery as battery_tests
from battery import MATRICES, VECTORS, covering, label, sample
from test_battery import ALGEBRAS, ENTRYWISE, MXM, PRODUCTS

import bitblas as gb
from bitblas import exceptions, reorder

SQUARE = ("no entries", "1x1", "gaps", "self loops", "symmetric", "hub", "65x65", "dense row")
ORDERED = ("csr reordered", "b2sr8 reordered")
CALLS = {"form": ORDERED, "algebra": ALGEBRAS, "call": ("mxv pull", "mxv push", "vxm pull", "vxm push"), "u": VECTORS}
# A second matrix in the same order, in another one, in none.
OTHERS = {"right": ("csr reordered", "csr other", "csr"), "at": ("csr reordered", "csr")}


def pytest_generate_tests(metafunc):
    if "product_case" in metafunc.fixturenames:
        cases = list(sample(PRODUCTS | {"matrix": SQUARE}, 60, covering(CALLS)))
        metafunc.parametrize("product_case", cases, ids=label)
    if "mxm_case" in metafunc.fixturenames:
        cases = sample(MXM | OTHERS | {"form": ORDERED, "matrix": SQUARE}, 12)
        metafunc.parametrize("mxm_case", list(cases), ids=label)
    if "entry_case" in metafunc.fixturenames:
        cases = covering({"text": ENTRYWISE["text"], "mask": battery_tests.MASKS[:4]})
        rest = sample(ENTRYWISE | OTHERS | {"form": ORDERED, "matrix": SQUARE}, len(cases))
        metafunc.parametrize("entry_case", [r | c for r, c in zip(rest, cases)], ids=label)


def test_product(device, product_case, monkeypatch):
    battery_tests.run_product(product_case, monkeypatch)


def test_mxm(device, mxm_case):
    battery_tests.run_mxm(mxm_case)


def test_entrywise(device, entry_case):
    battery_tests.run_entrywise(entry_case)
