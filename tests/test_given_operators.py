"""Operators as arguments of statements: typed, of other kinds, of families, with operands of several types."""

import pickle

import numpy as np
import pytest
from both_libraries import both, each, operands, oracle

import bitblas
from bitblas import agg, binary, monoid, select
from bitblas.core.aggregators import AGGREGATORS
from bitblas.exceptions import DimensionMismatch


def entries(x):
    return x.dtype.name, *(a.tolist() for a in x.to_coo())


def test_typed_operators_are_one_object():
    v = bitblas.Vector.from_coo([0], [1])
    assert v.apply("abs").op is bitblas.unary.abs[int]
    assert v.ewise_mult(v, monoid.plus).op is binary.plus[int]
    assert v.reduce(monoid.plus).op is monoid.plus[int]
    assert agg.mean["FP32"] is agg.mean["FP32"] and agg.mean["FP32"] is not agg.mean["FP64"]


@pytest.mark.parametrize("name", AGGREGATORS)
def test_aggregators_pickle_to_themselves(name):
    op = AGGREGATORS[name]
    for x in (op, op[next(iter(op.types))]):
        assert pickle.loads(pickle.dumps(x)) is x


def test_a_programs_aggregator_is_not_taken_for_the_librarys():
    mine = agg.Aggregator("sum", composite=[agg.count], finalize=lambda n, opts: n)
    with pytest.raises((pickle.PicklingError, AttributeError)):  # its recipe is a function inside a function
        pickle.dumps(mine)


def test_a_count_has_the_type_that_is_asked_for(device):
    for name in ("count", "exists"):
        got = []
        for gb in (bitblas, oracle):
            v = gb.Vector.from_coo([0, 3], [1, 2], size=5, dtype="INT8")
            A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3], dtype="INT8")
            op = getattr(gb.agg, name)
            types = {t.name: op[t.name].return_type.name for t in bitblas.dtypes.ALL}
            plain = [op, op["INT16"], op["FP32"]]
            results = [(s.dtype.name, s.value) for s in (v.reduce(x).new() for x in plain)]
            got.append((types, results, *(entries(A.reduce_rowwise(x).new()) for x in plain)))
        assert got[0] == got[1]


def test_operators_of_another_kind():
    v = bitblas.Vector.from_coo([0, 1], [1, 2])
    assert v.apply(select.valueeq, 2).new().to_dict() == {0: False, 1: True}
    with pytest.raises(TypeError, match="expected a Semiring"):
        v.inner(v, lambda x, y: x + y)
    for op in (binary.plus[bool], binary.minus, binary.eq):
        with pytest.raises(TypeError, match="expected a Monoid"):
            v.reduce(op)
    with pytest.raises(KeyError, match="plus does not work with BOOL"):
        bitblas.Vector.from_coo([0], [True]).reduce(monoid.plus)


def test_a_family_accumulates_with_its_defaults(device):
    op = binary.register_anonymous(lambda k=1: lambda x, y: x + y + k, parameterized=True)
    v = bitblas.Vector.from_coo([0, 1], [1, 2], size=3)
    v(op) << v
    assert v.to_dict() == {0: 3, 1: 5}
    v(accum=op(10)) << v
    assert v.to_dict() == {0: 16, 1: 20}


@pytest.mark.in_turn
@pytest.mark.parametrize("symbol", ["|", "^"])
@pytest.mark.parametrize("dtype", ["FP64", "INT8", "BOOL"])
def test_in_place_with_a_boolean_operand(device, symbol, dtype):
    """The right operand must be BOOL; the left one keeps its type."""
    got = []
    for gb in (bitblas, oracle):
        v = gb.Vector.from_coo([0, 1], np.array([0, 2]).astype(bitblas.dtypes.lookup_dtype(dtype).np_type), size=3)
        A = gb.Matrix.from_coo([0, 1], [1, 0], v.to_coo()[1], nrows=2, ncols=2)
        names = {"v": v, "w": gb.Vector.from_coo([1, 2], True, size=3), "A": A}
        names["B"] = gb.Matrix.from_coo([0, 1], [0, 0], True, nrows=2, ncols=2)
        exec(f"v {symbol}= w; A {symbol}= B", names)
        got.append((entries(names["v"]), entries(names["A"])))
    assert got[0] == got[1]


@pytest.mark.parametrize("statement", ["f |= f", "b |= f", "f &= b", "f ^= f", "f |= True"])
def test_in_place_with_other_operands(statement):
    for gb in (bitblas, oracle):
        names = {"f": gb.Vector.from_coo([0], [1.5]), "b": gb.Vector.from_coo([0], [True])}
        with pytest.raises(TypeError, match="BOOL"):
            exec(statement, names)


def test_scalars_are_not_hashed():
    """They equal by value, which may change."""
    for gb in (bitblas, oracle):
        v = gb.Vector.from_coo([0], [1])
        for x in (gb.Scalar(int), v.reduce(), v[0]):
            with pytest.raises(TypeError, match="unhashable type"):
                hash(x)
        assert len({v, v.dup(), v.T if hasattr(v, "T") else v}) >= 2


def test_dimensions_that_do_not_fit_are_values_that_do_not():
    u, v = bitblas.Vector(int, 2), bitblas.Vector(int, 3)
    for call in (lambda: u.ewise_add(v), lambda: u[[0, 1]].new(input_mask=v.S)):
        with pytest.raises(DimensionMismatch) as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_aggregators_compute_in_the_type_that_is_asked_for():
    """Two numbers whose sum overflows INT8: as in python-graphblas."""
    v = bitblas.Vector.from_coo([0, 1], [100, 100], dtype="INT8")
    assert v.reduce(agg.mean["FP64"]).new().value == 100 and v.reduce(agg.mean).new().value == -28
    A = bitblas.Matrix.from_coo([0, 0], [0, 1], [100, 100], dtype="INT8")
    assert A.reduce_rowwise(agg.varp["FP64"]).new().to_dict() == {0: 0}
    assert A.reduce_scalar("mean[FP32]").new() == 100


# ---- operators of one type on operands of another: they are cast to it first, also if it computes in a wider one -----

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
