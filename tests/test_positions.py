"""Positional operators wherever operands meet, against python-graphblas; as semirings and operators alike."""

import pytest
from both_libraries import both, each, operands

import bitblas

POSITIONS = [f"{of}{axis}{one}" for of in ("first", "second") for axis in "ij" for one in ("", "1")]
PRODUCTS = """
v.inner(w, op); w.inner(v, op); op(v @ w); v.inner(e, op); A.mxv(v, op); v.vxm(A, op); A.T.mxv(v, op); v.vxm(A.T, op);
A.mxm(B, op); A.T.mxm(B, op); A.mxm(B.T, op); A.T.mxm(B.T, op)
"""
TOGETHER = """
v.ewise_mult(w, op); v.ewise_add(w, op); v.ewise_union(w, op, 1, 2); A.ewise_mult(B, op); A.ewise_add(B, op);
A.ewise_mult(B.T, op); A.T.ewise_add(B, op); A.ewise_union(B, op, 1, 2); v.outer(w, op); v.apply(op, left=2);
A[:9, :9].new().kronecker(B[:9, :9].new(), op); A.apply(op, right=2); A.T.apply(op, left=2)
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("position", POSITIONS)
def test_products_equal_python_graphblas(device, position):
    """`any` may take another product than there. Every position meets `max` everywhere, and one monoid more."""
    for monoid in ("max", ("min", "plus", "times")[POSITIONS.index(position) % 3]):
        for statement in each(PRODUCTS)[: None if monoid == "max" else 6]:
            both(f"op = semiring.ss.{monoid}_{position}; r = {statement}", "r", "FP64")
    v = operands(bitblas, 0, "INT32")["v"]
    assert v.inner(v, getattr(bitblas.semiring.ss, f"any_{position}")).new().dtype == "INT32"


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("position", "dtype"),
    [(p, "INT32") for p in POSITIONS]
    + [pytest.param(p, "BOOL", marks=pytest.mark.slow) for p in ("firsti", "secondj1")],
)
def test_operators_equal_python_graphblas(device, position, dtype):
    for statement in each(TOGETHER):
        both(f"op = binary.ss.{position}; r = {statement}", "r", dtype)


@pytest.mark.in_turn
@pytest.mark.parametrize("position", POSITIONS)
def test_inner_products_of_reordered_vectors_have_the_users_positions(device, position):
    """A vector that was multiplied by a reordered matrix is stored in its order."""
    names = operands(bitblas, 0, "INT64")
    A = names["A"].reorder("rcm")
    x, y = A.mxv(names["v"]).new(), A.T.mxv(names["w"]).new()
    assert x._data.order is not None
    plain = [bitblas.Vector.from_coo(*z.to_coo(), size=A.nrows) for z in (x, y)]
    op = bitblas.semiring[f"max_{position}"]
    want = plain[0].inner(plain[1], op).new().value
    assert x.inner(y, op).new().value == want is not None


def test_values_of_kronecker_have_the_type_that_they_say(device):
    R = operands(bitblas, 0, "INT32")["R"]
    K = R.kronecker(R, bitblas.binary.firsti1).new()
    assert K.dtype.np_type == K.to_coo()[2].dtype == "int32"
