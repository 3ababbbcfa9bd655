"""Functions of values of user-defined types: operators, monoids and semirings of records and sub-arrays, on the CPU."""

import pickle

import pytest
from points import TRIPLE, P, listed, matrix, points, vector

import bitblas as gb
from bitblas.exceptions import NotImplementedException


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


@pytest.mark.slow
def test_functions_equal_complex_numbers():
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


def test_functions_that_give_numbers():
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
def test_functions_of_sub_arrays_and_hypersparse_objects():
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


def test_functions_on_a_gpu_are_refused(device):
    v = vector(0, 2, 3)
    bad = v.apply(lambda p: p.x), v.ewise_mult(v, ADD), matrix().mxv(v[:4].new(), ROTATE), v.reduce(SUM)
    for expr in bad if device != "cpu" else ():
        with pytest.raises(NotImplementedException, match=r"run on the CPU alone.*\.to\('cpu'\)"):
            expr.new()
