"""Functions of values of user-defined types: operators, monoids and semirings of records and sub-arrays."""

import pickle

import numpy as np
import pytest
from points import TRIPLE, P, listed, matrix, points, vector

import bitblas as gb
from bitblas.exceptions import UdfParseError


def add_points(a, b):
    return a.x + b.x, a["y"] + b["y"]


ADD = gb.binary.register_new("tests.add_points", add_points, is_udt=True)
TURN = gb.binary.register_anonymous(lambda a, b: (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x), is_udt=True)
DOT = gb.binary.register_anonymous(lambda a, b: a.x * b.x + a.y * b.y, is_udt=True)
SUM = gb.monoid.register_anonymous(ADD, (0, 0))
ROTATE = gb.semiring.register_anonymous(SUM, TURN)


def numbers(x):
    """The entries as complex numbers, on which ADD is + and TURN is *."""
    *at, values = x.to_coo()
    make = gb.Vector.from_coo if len(at) == 1 else gb.Matrix.from_coo
    shape = {"size": x.size} if len(at) == 1 else {"nrows": x.nrows, "ncols": x.ncols}
    return make(*at, values["x"] + 1j * values["y"], "FC64", **shape)


def same(found, want):
    assert found.dtype is P
    assert numbers(found).isequal(want)


def test_a_product_of_records(device):
    u, A = vector(0, 2, 3, size=4), matrix()
    same(A.mxv(u, ROTATE).new(), numbers(A).mxv(numbers(u), "plus_times").new())


@pytest.mark.slow
def test_functions_equal_complex_numbers(device):
    """Points as complex numbers: what records give through functions, complex numbers give through the library."""
    u, v, A = vector(0, 2, 3, size=4), vector(1, 2, 3, size=4), matrix()
    x, y, B = numbers(u), numbers(v), numbers(A)
    same(u.ewise_mult(v, TURN).new(), x.ewise_mult(y, "times").new())
    same(u.ewise_add(v, ADD).new(), x.ewise_add(y, "plus").new())
    same(u.ewise_union(v, ADD, (1, 2), 0).new(), x.ewise_union(y, "plus", 1 + 2j, 0).new())
    same(u.apply(ADD, right=(1, 2)).new(), x.apply("plus", right=1 + 2j).new())
    same(A.ewise_add(A.T, ADD).new(), B.ewise_add(B.T, "plus").new())
    same(A.mxv(u, ROTATE).new(), B.mxv(x, "plus_times").new())
    same(u.vxm(A, ROTATE).new(mask=v.S), x.vxm(B, "plus_times").new(mask=y.S))
    same(A.mxm(A.T, ROTATE).new(), B.mxm(B.T, "plus_times").new())
    same(A.T.mxm(A, ROTATE).new(mask=~A.S), B.T.mxm(B, "plus_times").new(mask=~B.S))
    same(A.reduce_rowwise(SUM).new(), B.reduce_rowwise("plus").new())
    same(A.reduce_columnwise(SUM).new(), B.reduce_columnwise("plus").new())
    assert complex(*A.reduce_scalar(SUM).new().value) == B.reduce_scalar("plus").new().value
    assert complex(*u.reduce(SUM).new().value) == x.reduce("plus").new().value
    assert gb.Vector(P, 3).reduce(SUM, allow_empty=False).new().value == (0.0, 0.0)
    for w, z in ((u.dup(), x.dup()),):
        w(v.S, ADD) << v
        z(y.S, "plus") << y
        w(accum=SUM) << A.mxv(u, ROTATE)
        z(accum="plus") << B.mxv(x, "plus_times")
        w[[0, 1]](ADD) << v[[2, 3]]
        z[[0, 1]]("plus") << y[[2, 3]]
        same(w, z)
    C, D = A.dup(), B.dup()
    C(A.T.new().S, ADD, gb.replace) << A.mxm(A, ROTATE)
    D(B.T.new().S, "plus", gb.replace) << B.mxm(B, "plus_times")
    same(C, D)
    twice = gb.Vector.from_coo([0, 0, 1], points(1, 2, 3), dup_op=ADD)
    assert twice.to_dict() == {0: (3.0, 30.0), 1: (3.0, 30.0)}


@pytest.mark.slow
def test_functions_that_give_numbers(device):
    u, A = vector(0, 2, 3, size=4), matrix()
    ring = gb.semiring.register_anonymous(gb.monoid.plus, DOT)
    assert listed(u.apply(lambda p: p.x + p["y"]).new()) == [[0, 2, 3], [0, 22, 33]]
    assert u.ewise_mult(u, DOT).new().dtype == "FP32" and u.inner(u, ring).new() == 101 * 13
    assert listed(A.mxv(u, ring).new()) == [[0, 3], [101 * 4, 101 * 12]]
    assert listed(A.select(lambda p, i, j, t: p.x > t.x, 2).new())[2] == [(3, 30), (4, 40)]
    assert listed(u.select(lambda p, i, j, t: i >= 2, 0).new())[0] == [2, 3]
    place = gb.indexunary.register_anonymous(lambda p, i, j, t: p.x + i * 10 + t.y, is_udt=True)
    assert listed(u.apply(place, 100).new())[1] == [100, 122, 133]
    far = lambda a, ia, ja, b, ib, jb, theta: a.x * b.y + ia + theta * jb
    step = gb.indexbinary.register_anonymous(far, is_udt=True)
    assert listed(u.outer(u, step(100)).new())[2][:4] == [0, 200, 300, 2]
    assert pickle.loads(pickle.dumps(ADD)) is ADD and pickle.loads(pickle.dumps(SUM))[P].identity == 0
    iso = gb.Vector.from_scalar((1, 2), 3, dtype=P)
    assert iso.apply(lambda p: p.x + p.y).new().reduce().new() == 9 and iso.reduce(SUM).new().value == (3.0, 6.0)


@pytest.mark.slow
def test_functions_of_sub_arrays_and_hypersparse_objects(device):
    t = gb.Vector.from_coo([0, 2], [[1, 2, 3], [4, 5, 6]], dtype=TRIPLE, size=3)
    assert listed(t.apply(lambda a: a * 2).new())[1] == [[2, 4, 6], [8, 10, 12]]
    assert listed(t.apply(lambda a: (a[2], a[1], 0)).new())[1] == [[3, 2, 0], [6, 5, 0]]
    assert listed(t.apply(lambda a: a[0] + a[2]).new())[1] == [4, 10]
    add = gb.binary.register_anonymous(lambda a, b: a + b, is_udt=True)
    assert t.reduce(gb.monoid.register_anonymous(add, 0)).new().value.tolist() == [5, 7, 9]
    far, A, u = 1 << 40, matrix(), vector(0, 2, 3, size=4)
    H, w = gb.Matrix.from_coo(*A.to_coo(), nrows=far, ncols=far), gb.Vector.from_coo(*u.to_coo(), size=far)
    assert listed(H.mxv(w, ROTATE).new()) == listed(A.mxv(u, ROTATE).new())
    assert listed(H.mxm(H, ROTATE).new()) == listed(A.mxm(A, ROTATE).new())
    assert listed(H.ewise_add(H.T, ADD).new()) == listed(A.ewise_add(A.T, ADD).new())
    assert listed(w.ewise_add(w, ADD).new()) == listed(u.ewise_add(u, ADD).new())
    assert listed(A.reorder([2, 0, 3, 1]).mxv(u, ROTATE).new()) == listed(A.mxv(u, ROTATE).new())


# ---- each construct, against Python ---------------------------------------------------------------------------------

NESTED = gb.dtypes.register_anonymous([("flag", "?"), ("at", [("x", "<f8"), ("n", "<i2")]), ("v", "<i4", (3,))])
TABLE = gb.dtypes.register_anonymous("FP64[2, 2]")


def twice(a):
    return a.at.x * 2, a["v"]


def chosen(a, b):
    return a if a.at.x < b.at.x else b


def branches(a, b):
    x, v = twice(a)
    if a.flag and not b.flag:
        return x + b.at.n
    elif v[0] > b.v[-1]:
        return float(v[1])
    return a["at"]["x"] - len(b.v)


def loops(a, b):
    total, best = 0, a.v[0]
    for i in range(3):
        if b.v[i] == 0:
            continue
        total += a.v[i] * b.v[2 - i]
        if a.v[i] > best:
            best = a.v[i]
    while total > 10:
        total -= 7
    return total + best


def multiplied(a, b):
    r = np.zeros_like(a)
    for i in range(2):
        for j in range(len(b)):
            for k in range(2):
                r[i, j] += a[i, k] * b[k][j]
    return r


def added(a, b):
    s = a
    for _ in range(2):
        s = s * 0.5 + b
    return np.maximum(s, -a) - (b > 1)


def trace(a, b):
    return a[0, 0] * b[1, 1] + a[-1][-1] + (a + b).sum()


def values(t, n=12):
    rng = np.random.default_rng(7)
    base, shape = t.record.subdtype or (t.record, ())
    some = np.zeros((n, *shape), base)
    if t is TABLE:
        return rng.integers(-3, 4, some.shape).astype(float)
    some["flag"], some["v"] = rng.integers(0, 2, n), rng.integers(-2, 5, (n, 3))
    some["at"]["x"], some["at"]["n"] = rng.integers(-4, 5, n) / 2, rng.integers(-3, 4, n)
    return some


@pytest.mark.slow
@pytest.mark.parametrize("function", [chosen, branches, loops, multiplied, added, trace], ids=lambda f: f.__name__)
def test_constructs_equal_python(function, device):
    t = TABLE if function in (multiplied, added, trace) else NESTED
    some = values(t).view(np.recarray) if t is NESTED else values(t)
    u = gb.Vector.from_coo(range(12), some, dtype=t)
    v = u[::-1].new()
    op = gb.binary.register_anonymous(function, is_udt=True)
    found = u.ewise_mult(v, op).new()
    want = [function(x, y) for x, y in zip(some, some[::-1])]
    if found.dtype is t:
        assert np.array_equal(found.to_coo()[1], np.array(want, t.record.base))  # isequal knows -0.0 from 0.0
    else:
        assert found.to_dict() == dict(enumerate(want))
    w = v.dup(found.dtype) if found.dtype is t else gb.Vector(found.dtype, 12)
    mask = gb.Vector.from_coo(range(5), True, size=12)
    w(mask.S, gb.replace) << u.ewise_mult(v, op)
    assert w.isequal(found.select("index<=", 4).new())


def a_list(a, b):
    return [a.at.x, b.at.x][int(a.v[0] > 0)]


def an_operand_is_set(a, b):
    b.v[0] = 1
    return b.v[0]


def a_slice(a, b):
    return a[0, :].sum()


def two_names(a, b):
    r = np.zeros_like(a)
    s = r
    s[0, 0] = 1
    return r


def test_what_has_no_form_for_a_gpu(device):
    """A clear error, and what was there stays; on the CPU Numba compiles it."""
    for function, t in ((a_list, NESTED), (an_operand_is_set, NESTED), (a_slice, TABLE), (two_names, TABLE)):
        u = gb.Vector.from_coo(range(3), values(t, 3), dtype=t)
        expr = u.ewise_mult(u, gb.binary.register_anonymous(function, is_udt=True))
        w = gb.Vector.from_scalar(7, 3, dtype=expr.dtype)
        before = w.dup()
        if device == "cpu":
            continue
        with pytest.raises(UdfParseError, match=rf"{function.__name__}, line \d+: .* is not supported on a GPU"):
            w << expr
        assert w.isequal(before)
    c = gb.dtypes.register_anonymous([("z", "<c8"), ("x", "<i4")])
    u = gb.Vector.from_coo([0], [(1j, 2)], dtype=c, size=2)
    if device == "cpu":
        assert u.apply(lambda a: a.x).new()[0] == 2
    else:
        with pytest.raises(UdfParseError, match="values of complex64 are not supported on a GPU"):
            u.apply(lambda a: a.x).new()
