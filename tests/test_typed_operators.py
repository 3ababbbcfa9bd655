"""Operators of one type on operands of another: they are cast to it first, also where it computes in a wider one."""

import pytest
from test_core import both, each, operands

import bitblas

pytest.importorskip("graphblas")

# On FP64, halves among them, which a cast to INT32 cuts.
CUT = """
v.ewise_mult(w, binary.pow["INT32"]); v.ewise_mult(w, binary.rpow["INT32"]); i.ewise_mult(i, binary.pow["INT32"]);
v.ewise_mult(w, binary.isclose()["INT32"]); v.apply(unary.minv["INT32"]); i.apply(unary.minv["INT32"]);
v.apply(binary.pow["INT32"], right=2.7); v.apply(binary.isclose()["INT32"], left=2.7);
i.apply(binary.pow["INT32"], 1.5);
v.ewise_union(w, binary.isclose()["INT32"], 1.5, 2.5); A.ewise_mult(B, binary.pow["INT32"]);
A.ewise_add(B, binary.isclose()["INT32"]); A.apply(unary.minv["INT32"]);
A.apply(binary.rpow["INT32"], left=1.5);
v.outer(w, binary.isclose()["INT32"]); v.ewise_mult(w, binary.truediv["INT32"]); v.apply(unary.sqrt["INT32"]);
v.ewise_mult(w, binary.hypot["INT32"]); A.kronecker(R[:2, :2].new(), binary.isclose()["INT32"])
"""


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(CUT))
def test_operands_are_cast_first(device, text):
    both(f"v = abs(v).new(); w = abs(w).new(); A = abs(A).new(); B = abs(B).new(); r = {text}", "r", "FP64")


STATEMENTS = """
v(binary.isclose()["INT32"]) << w; v(b.V, binary.pow["INT32"]) << w; A(binary.isclose()["INT32"]) << B
"""


@pytest.mark.parametrize("text", each(STATEMENTS))
def test_accumulators_are_cast_first(device, text):
    both(f"v = abs(v).new(); w = abs(w).new(); A = abs(A).new(); B = abs(B).new(); {text}", "v, A", "FP64")


def test_products_and_scalars_are_cast_first(device):
    scope = operands(bitblas, 0, "FP64")
    A, v = scope["A"].apply("abs").new(), scope["v"].apply("abs").new()
    cut, op = v.dup("INT32"), bitblas.semiring.plus_pow["INT32"]
    assert A.mxv(v, op).new().isequal(A.dup("INT32").mxv(cut, op).new(), check_dtype=True)
    assert v.vxm(A, op).new().isequal(cut.vxm(A.dup("INT32"), op).new(), check_dtype=True)
    assert A.mxm(A, op).new().isequal(A.dup("INT32").mxm(A.dup("INT32"), op).new(), check_dtype=True)
    i, I = bitblas.Vector.from_scalar(2.5, 70), bitblas.Matrix.from_scalar(2.5, 70, 70)
    assert I.mxv(i, op).new().to_dict() == dict.fromkeys(range(70), 4 * 70)
    assert bitblas.binary.pow["INT32"](2.5, 2.5) == 4 and bitblas.unary.minv["INT32"](1.5) == 1
