"""Vectors of more than one chunk: counting, listing, building, reading and writing by index, against NumPy."""

from __future__ import annotations

from itertools import product

import graphblas
import numpy as np
import pytest
from coded_rows import host

import bitblas as gb
from bitblas.store import CHUNK

SIZES = (1, 63, 64, 65, CHUNK * 64, CHUNK * 64 + 1, CHUNK * 64 * 2 + 70)
TYPES = ("BOOL", "INT8", "INT32", "UINT64", "FP32", "FP64")


def sample(n, dtype, density=0.5, seed=0):
    """Flags and values."""
    rng = np.random.default_rng(seed)
    kind = gb.dtypes.lookup_dtype(dtype).np_type
    return rng.random(n) < density, rng.integers(0, 2 if dtype == "BOOL" else 100, n).astype(kind)


def vector(flags, values):
    at = np.flatnonzero(flags)
    return gb.Vector.from_coo(np.random.default_rng(1).permutation(at), True, size=len(flags)), gb.Vector.from_coo(
        at[::-1].copy(), values[at[::-1]], size=len(flags)
    )


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_entries(device, n, dtype):
    flags, values = sample(n, dtype)
    iso, v = vector(flags, values)
    for u, expected in ((iso, np.ones(n, bool)), (v, values)):
        u._store.count = None
        assert u.nvals == flags.sum()
        i, x = map(host, u.to_coo())
        assert (i == np.flatnonzero(flags)).all() and (x == expected[flags]).all() and x.dtype == expected.dtype
        assert (host(u.to_dense(0, dtype=u.dtype)) == np.where(flags, expected, 0)).all()
    full = gb.Vector.from_dense(values)
    assert (host(full.to_dense()) == values).all() and full.dtype == dtype
    assert (
        host(gb.Vector.from_dense(values, missing_value=values[0]).to_coo()[0]) == np.flatnonzero(values != values[0])
    ).all()


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "dtype, name",
    [("BOOL", "lor"), *product(["INT8", "INT64", "UINT64", "FP32", "FP64"], "plus min max times first minus".split())],
)
def test_equal_indices_are_joined(device, name, dtype):
    """One index has half of the values, as in the histogram of a graph with one large component; others have few."""
    n, size = 1000, 130
    rng = np.random.default_rng(2)
    at = np.where(rng.random(n) < 0.5, 5, rng.integers(0, size, n))
    values = sample(n, dtype)[1] if name != "times" else sample(n, dtype)[1] // 50 + sample(n, dtype)[1].dtype.type(1)
    found, expected = (
        x.Vector.from_coo(at, values, size=size, dup_op=getattr(x.binary, name)) for x in (gb, graphblas)
    )
    assert found.to_dict() == pytest.approx(expected.to_dict(), rel=1e-5)


def test_bad_indices_are_refused(device):
    # NumPy converts the larger ones to floats and objects.
    for at, values, more, said in (
        ([3, -1], 1, {"size": 10}, "0 to 9, got -1"), ([3, 10], [1, 2], {"size": 10, "dup_op": "plus"}, "to 9, got 10"),
        *(([0, beyond], [1, 2], {}, rf"below 2\*\*63, got {beyond}") for beyond in (2**64 - 2, 2**64)),
    ):  # fmt: skip
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=said):
            gb.Vector.from_coo(at, values, **more)
    with pytest.raises(ValueError, match="Duplicate"):
        gb.Vector.from_coo([3, 3], [1, 2], size=10)
    assert gb.Vector.from_coo([3, 3], 1, size=10).to_dict() == {3: 1}
    v = gb.Vector.from_dense(np.arange(10))
    assert v[np.array([-1, 0, -10])].new().to_dict() == {0: 9, 1: 0, 2: 0}
    for bad in (-11, 10):
        with pytest.raises(IndexError, match=str(bad)):
            v[np.array([1, bad])]


@pytest.mark.in_turn
@pytest.mark.parametrize("u_full", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [65, CHUNK * 64 + 1])
def test_extract_and_assign(device, n, dtype, u_full):
    flags, values = sample(n, dtype, 1.1 if u_full else 0.5)
    iso, u = vector(flags, values)
    order = np.random.default_rng(3).permutation(n)
    for v, expected in ((iso, np.ones(n, bool)), (u, values)):
        t = v[order].new()
        at = np.flatnonzero(flags[order])
        i, x = map(host, t.to_coo())
        assert (i == at).all() and (x == expected[order][at]).all()
    others, more = sample(n, dtype, 0.5, 7)
    for target in (vector(others, more)[1], gb.Vector(dtype, n), vector(others, more)[0], gb.Vector.from_dense(more)):
        half = order[: n // 2]
        old = target.to_dict()
        target[half] << u[: n // 2].new()
        written = set(half.tolist())
        expected = {i: x for i, x in old.items() if i not in written}
        kind = target.dtype.np_type.type
        expected |= {int(i): kind(values[k]).item() for k, i in enumerate(half) if flags[k]}
        assert target.to_dict() == expected


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_equality(device, n, dtype):
    flags, values = sample(n, dtype)
    iso, v = vector(flags, values)
    assert v.isequal(v.dup()) and iso.isequal(iso.dup())
    for at in {0, n // 2, n - 1}:
        other = v.dup()
        if flags[at]:
            other[at] = not values[at] if dtype == "BOOL" else values[at] + 1
            assert not v.isequal(other)
            del other[at]
        else:
            other[at] = values[at]
        assert not v.isequal(other) and not other.isequal(v)
    assert gb.Vector.from_scalar(1, n).isequal(gb.Vector.from_dense(np.ones(n)))


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", ["BOOL", "INT64", "FP32", "FP64"])
@pytest.mark.parametrize("n", [*SIZES, CHUNK * 64 * 64 + 3])
def test_sums_of_many_chunks(device, n, dtype):
    flags, values = sample(n, dtype, 0.01 if n > 1 << 17 else 0.5)
    flags[-1] = True
    v = vector(flags, values)[1]
    for name, total in (("plus", values[flags].sum()), ("max", values[flags].max()), ("min", values[flags].min())):
        if v.dtype in gb.monoid[name].types:
            assert v.reduce(gb.monoid[name]).new() == total.astype(values.dtype)
    empty = vector(np.zeros(n, bool), values)[1]
    assert empty.reduce(gb.monoid.plus if dtype != "BOOL" else gb.monoid.lor).new().is_empty


@pytest.mark.parametrize("dtype", TYPES)
def test_single_writes(device, dtype):
    n, rng = 300, np.random.default_rng(5)
    flags, values = sample(n, dtype)
    for v in (vector(flags, values)[1], vector(flags, values)[0].dup(dtype), gb.Vector(dtype, n)):
        expected = v.to_dict()
        for count in (1, 5, 40):
            for i in rng.integers(0, n, count).tolist():
                if rng.random() < 0.3:
                    del v[i]
                    expected.pop(i, None)
                else:
                    v[i] = values[i]
                    expected[i] = values[i].item()
            assert v.to_dict() == dict(sorted(expected.items())) and v.nvals == len(expected)


ENDS = ("", "(m.S)", "(~m.S)", "(m.V, replace)", "(plus)", "(m.S, plus)", "(~m.V, plus, replace)")
STEPS = (
    "x.ewise_add(y, plus)", "x.ewise_mult(y, gb.binary.times)", "x.ewise_union(y, gb.binary.minus, 1, 2)",
    "x.apply(gb.unary.ainv)", "x.apply(gb.binary.minus, left=3)", "x.apply(gb.indexunary.index, 2)",
    "x.select('>', 30)", "iso.select('index<=', 40)", "w.apply(gb.unary.ainv)",
    "w.select('<', 50)", "w.ewise_add(x, plus)",
    "iso.ewise_add(iso, gb.binary.first)", "iso.apply(gb.unary.one)", "x.apply(gb.binary.second, right=7)",
)  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize("w_type", ["BOOL", "INT32", "FP64"])
@pytest.mark.parametrize("how", ENDS)
def test_statements_end_in_the_kernel(device, how, w_type):
    """The same with the result first made on its own."""
    n = 200
    few = ENDS.index(how) + len(w_type)  # every third step: each of them with every end or every type
    for step in STEPS[few % 3 :: 3]:
        names = {"gb": gb, "replace": gb.replace, "plus": gb.binary.plus if w_type != "BOOL" else gb.binary.lor}
        for seed, (name, dtype) in enumerate((("x", "INT64"), ("y", "FP32"), ("m", "INT8"), ("w", w_type))):
            names[name] = vector(*sample(n, dtype, 0.6, seed))[1]
        names["iso"] = vector(*sample(n, "BOOL", 0.6, 9))[0].dup("INT64")
        step = step.replace("plus", "gb.binary.plus") if "w" not in step else step
        for target in ("w.dup()", "iso.dup(w.dtype)", "gb.Vector(w.dtype, w.size)"):
            exec(f"t = {step}.new(); a = {target}; b = {target}", names)
            exec(f"a{how} << {step}; b{how} << t", names)
            a, b = names["a"], names["b"]
            assert a.isequal(b, check_dtype=True) and a.nvals == len(a.to_coo()[0]) == b.nvals, (step, target)
