"""Operators that read values and their positions, z = f(x, ix, jx, y, iy, jy, theta), against sums written out."""

import pickle

import pytest
from udf_functions import entries

import bitblas as gb
from bitblas.exceptions import DomainMismatch, NotImplementedException, UdfParseError


def far(x, ix, jx, y, iy, jy, theta):
    return x * 1000 + ix * 100 + jx * 10 + y * theta + iy * 3 + jy * 7


FAR = gb.indexbinary.register_new("tests.far", far)
OP = FAR(5)
RING = gb.semiring.register_anonymous(gb.monoid.plus, OP)


def z(x, at_x, y, at_y):
    return far(x, *at_x, y, *at_y, 5)


def objects(**how):
    A = gb.Matrix.from_coo([0, 0, 1, 3, 3], [1, 3, 0, 0, 2], [1, 2, 3, 4, 5], nrows=4, ncols=4, **how)
    B = gb.Matrix.from_coo([0, 1, 1, 3], [2, 1, 3, 2], [2, 3, 5, 7], nrows=4, ncols=4, **how)
    u = gb.Vector.from_coo([0, 2, 3], [1, 2, 3], size=4)
    v = gb.Vector.from_coo([0, 1, 3], [3, 5, 6], size=4)
    return A, B, u, v


def product(A, B):
    """The sums over k of z(A[i, k], B[k, j]); a vector has (i, 0) or (0, j)."""
    sums = {}
    for (i, k), x in A.items():
        for (l, j), y in B.items():
            if k == l:
                sums[i, j] = sums.get((i, j), 0) + z(x, (i, k), y, (k, j))
    return sums


def column(u):
    return {(i, 0): x for (i,), x in u.items()}


def turned(A):
    return {(j, i): x for (i, j), x in A.items()}


def narrow(found, axis=0):
    return {(at[axis],): x for at, x in found.items()}


def union(a, b, left=None, right=None):
    """z where both have an entry, or one has and a default replaces the other."""
    found = {}
    for at in a.keys() | b.keys():
        place = at if len(at) == 2 else (*at, 0)
        x, y = a.get(at, left), b.get(at, right)
        found[at] = z(x, place, y, place) if None not in (x, y) else x if y is None else y
    return found


def test_products(device):
    A, B, u, v = objects()
    a, b, c = entries(A), entries(B), column(entries(u))
    assert entries(A.mxv(u, RING).new()) == narrow(product(a, c))
    assert entries(u.vxm(A, RING).new()) == narrow(product(turned(c), a), 1)
    assert entries(A.mxm(B, RING).new()) == product(a, b)
    assert entries(A.T.mxm(B, RING).new()) == product(turned(a), b)
    C = A.mxm(B.T, RING).new(mask=A.S)
    assert entries(C) == {at: x for at, x in product(a, turned(b)).items() if at in a}
    assert u.inner(v, RING).new().value == product(turned(c), column(entries(v)))[0, 0]


def test_unions_and_intersections(device):
    A, B, u, v = objects()
    for x, y in ((A, B), (u, v)):
        one, two = entries(x), entries(y)
        assert entries(x.ewise_add(y, OP).new()) == union(one, two)
        both = {at: value for at, value in union(one, two).items() if at in one and at in two}
        assert entries(x.ewise_mult(y, OP).new()) == both


@pytest.mark.slow
def test_defaults_and_scalars_stand_where_the_entry_does(device):
    A, B, u, v = objects()
    for x, y in ((A, B), (u, v)):
        one, two = entries(x), entries(y)
        assert entries(x.ewise_union(y, OP, 8, 9).new()) == union(one, two, 8, 9)
        assert entries(x.apply(OP, right=4).new()) == union(one, {}, None, 4)
        assert entries(x.apply(OP, left=4).new()) == union(dict.fromkeys(one, 4), one)
    w = u.dup()
    w(v.S) << w.ewise_mult(w, OP)
    assert entries(w) == {at: z(x, (*at, 0), x, (*at, 0)) if at in entries(v) else x for at, x in entries(u).items()}


def test_outer_and_kronecker(device):
    A, B, u, v = objects()
    a, b = entries(A), entries(B)
    pairs = {(i, j): z(x, (i, 0), y, (0, j)) for (i,), x in entries(u).items() for (j,), y in entries(v).items()}
    assert entries(u.outer(v, OP).new()) == pairs
    K = {(i * 4 + k, j * 4 + m): z(x, (i, j), y, (k, m)) for (i, j), x in a.items() for (k, m), y in b.items()}
    assert entries(A.kronecker(B, OP).new()) == K


def test_positions_of_reordered_matrices_are_the_users(device):
    A, _, u, _ = objects()
    P = A.reorder([2, 0, 3, 1])
    assert entries(P.mxv(u, RING).new()) == entries(A.mxv(u, RING).new())
    assert entries(P.ewise_mult(P, OP).new()) == entries(A.ewise_mult(A, OP).new())


@pytest.mark.slow
def test_positions_of_hypersparse_matrices_are_the_users(device):
    A, B, u, _ = objects()
    far = 1 << 40
    H = gb.Matrix.from_coo(*A.to_coo(), nrows=far, ncols=far)
    G = gb.Matrix.from_coo(*B.to_coo(), nrows=far, ncols=far)
    x = gb.Vector.from_coo(*u.to_coo(), size=far)
    assert H.format == "hyper" and G.format == "hyper"
    for call in (
        lambda A, B, u: A.mxv(u, RING), lambda A, B, u: u.vxm(A, RING), lambda A, B, u: A.ewise_add(B, OP),
        lambda A, B, u: A.ewise_union(B, OP, 8, 9), lambda A, B, u: u.ewise_mult(u, OP),
    ):  # fmt: skip
        assert entries(call(H, G, x).new()) == entries(call(A, B, u).new())
    with pytest.raises(NotImplementedException, match="format='csr'"):
        H.mxm(G, RING).new()


def test_theta_makes_the_operator():
    assert repr(FAR) == "indexbinary.tests.far" and FAR is gb.indexbinary.tests.far
    assert FAR(5) is OP and FAR(5.0) is not OP and FAR(theta=gb.Scalar.from_value(5)).is_positional
    assert OP["INT64"].return_type == "INT64" and FAR(0.5)["INT64"].return_type == "FP64"
    assert FAR(5.0)["FP32"].return_type == "FP32" and FAR.orig_func is far
    for op in (FAR, OP, OP["INT64"], RING):
        assert repr(pickle.loads(pickle.dumps(op))) == repr(op)
    assert pickle.loads(pickle.dumps(OP)) is OP
    ring = gb.semiring.register_anonymous(gb.monoid.plus, FAR)  # waits for theta, too
    A, _, u, _ = objects()
    assert entries(A.mxv(u, ring(5)).new()) == entries(A.mxv(u, RING).new())


def test_errors_leave_everything_as_it_was():
    A, _, u, _ = objects()
    before = entries(A), entries(u)
    for op in (OP, gb.binary.secondi):
        for bad in (
            lambda op: A(op).__lshift__(A),
            lambda op: u(accum=op).__lshift__(u),
            lambda op: gb.Vector.from_coo([0, 0], [1, 2], dup_op=op),
            lambda op: gb.Matrix.from_coo([0, 0], [1, 1], [1, 2], dup_op=op),
            lambda op: gb.monoid.register_anonymous(op, 0),
        ):
            with pytest.raises(DomainMismatch, match="expected an operator of values alone"):
                bad(op)
    register = gb.indexbinary.register_anonymous
    for call, error, said in (
        (lambda: A.ewise_add(A, FAR), TypeError, "theta: expected a number"),
        (lambda: FAR("5"), TypeError, "theta: expected a number, got str"),
        (lambda: register(lambda x, y: x), TypeError, "expected 7 arguments for indexbinary"),
        (lambda: register(3), TypeError, "must be a function"),
        (lambda: gb.indexbinary.register_new("tests.far", far), AttributeError, "already defined"),
        (lambda: register(lambda x, ix, jx, y, iy, jy, theta: x.none)(1), UdfParseError, "none"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert (entries(A), entries(u)) == before


def test_a_type_may_be_given_before_theta():
    """As python-graphblas writes it."""
    A = objects()[0]
    typed = FAR["INT64"](5)
    assert A.ewise_mult(A, typed).new().isequal(A.ewise_mult(A, OP).new()) and typed.opclass == "BinaryOp"
    ring = gb.semiring.register_anonymous(gb.monoid.plus, typed)
    assert A.mxm(A, ring).new().isequal(A.mxm(A, RING).new())
