"""Dictionaries of dictionaries read by machine code, in the order of Python's own loops; values that are no numbers."""

from __future__ import annotations

import gc
import random
import sys
from collections import OrderedDict
from itertools import chain

import numpy as np
import pytest

from bitblas.device import dictionaries


def nested(sizes, value):
    """Dictionaries of these sizes; "w" of the k-th inner dictionary is value(k)."""
    rng, count = random.Random(3), iter(range(sum(sizes)))
    some = [*range(-500, 0), *map(str, range(500)), *((k, "x") for k in range(500))]
    keys = [rng.sample(some, size) for size in sizes]
    return {row: {key: value(next(count)) for key in inner} for row, inner in enumerate(keys)}


SIZES = [0, 1, 200, 3, 0, 64, 65, *[5] * 130, 0]


def test_hashes_come_in_the_order_of_the_dictionaries():
    top = nested(SIZES, lambda k: {})
    del top[2][next(iter(top[2]))]  # a hole in a table
    keys = list(chain.from_iterable(top.values()))
    assert dictionaries.hashes(top, len(keys)).tolist() == list(map(hash, keys))
    assert dictionaries.hashes({}, 0).tolist() == dictionaries.hashes({1: {}}, 0).tolist() == []
    assert dictionaries.hashes({0: OrderedDict.fromkeys("ab")}, 2).tolist() == [hash("a"), hash("b")]
    for other in (len(keys) - 1, len(keys) + 1):
        with pytest.raises(RuntimeError, match="they were modified while they were read"):
            dictionaries.hashes(top, other)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("kind", [int, float, "either"])
def test_attributes_are_integers_or_floats(kind, deep):
    def number(k):
        value = (-1, 2**63 - 1, -(2**63), 7)[k % 4] if k % 3 else k
        whole = kind is int or (kind == "either" and k % 2)
        return {"w": value if whole else float(value)} if k % 5 else {"other": "x"}

    top = nested(SIZES, lambda k: {0: number(k)} if deep else number(k))
    if deep:
        top[2][next(iter(top[2]))]["second"] = {"w": 12}
    found = chain.from_iterable(inner.values() for inner in top.values())
    data = list(chain.from_iterable(several.values() for several in found) if deep else found)
    default = -1 if kind is int else -1.0
    expected = np.array([each.get("w", default) for each in data], np.int64 if kind is int else np.float64)
    kept = np.random.default_rng(1).random(len(data)) < 0.5
    for mask, right in ((None, expected), (kept, expected[kept])):
        got = dictionaries.attributes(top, 1 + deep, len(data), mask, "w", default)
        assert got.dtype == right.dtype and got.tolist() == right.tolist()


@pytest.mark.parametrize("wrong", [True, None, "3", 2**63, 10**400, np.int64(3), np.float32(1), 1j, [1]])
def test_other_values_are_left_to_python(wrong):
    for half in (0, 0.5):
        top = nested([100, 30], lambda k, half=half: {"w": wrong if k == 90 else k + half})
        found = dictionaries.attributes(top, 1, 130, None, "w", 1)
        assert found[90] == 2.0**63 if half and wrong == 2**63 else found is None
    assert dictionaries.attributes(nested([3], lambda k: {}), 1, 3, None, "w", wrong) is None


def test_errors_of_objects_are_raised_and_nothing_is_held():
    class Odd:
        fails = False

        def __hash__(self):
            if Odd.fails:
                raise ValueError("no hash")
            return hash("w")

        def __eq__(self, other):
            raise ValueError("no comparison")

    top = {0: {Odd(): {}}}
    Odd.fails = True
    with pytest.raises(ValueError, match="no hash"):
        dictionaries.hashes(top, 1)
    Odd.fails = False
    with pytest.raises(ValueError, match="no comparison"):
        dictionaries.attributes({0: {1: {Odd(): 1}}}, 1, 1, None, "w", 1)
    key, value = object(), 10**15
    top = {0: {key: {"w": value}}}
    gc.collect()
    before = sys.getrefcount(key), sys.getrefcount(value), sys.getrefcount(float)
    for _ in range(100):
        dictionaries.hashes(top, 1)
        dictionaries.attributes(top, 1, 1, None, "w", 1.5)
    assert (sys.getrefcount(key), sys.getrefcount(value)) == before[:2]
    assert abs(sys.getrefcount(float) - before[2]) < 50
