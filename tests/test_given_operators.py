"""Operators as arguments of statements: typed, of other kinds, of families, with operands of several types."""

import pickle

import numpy as np
import pytest

import bitblas
from bitblas import agg, binary, monoid, select
from bitblas.core.aggregators import AGGREGATORS
from bitblas.exceptions import DimensionMismatch

oracle = pytest.importorskip("graphblas")


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
    for error in (DimensionMismatch, ValueError):
        with pytest.raises(error):
            u.ewise_add(v)
        with pytest.raises(error):
            u[[0, 1]].new(input_mask=v.S)


def test_aggregators_compute_in_the_type_that_is_asked_for():
    """Two numbers whose sum overflows INT8: as in python-graphblas."""
    v = bitblas.Vector.from_coo([0, 1], [100, 100], dtype="INT8")
    assert v.reduce(agg.mean["FP64"]).new().value == 100 and v.reduce(agg.mean).new().value == -28
    A = bitblas.Matrix.from_coo([0, 0], [0, 1], [100, 100], dtype="INT8")
    assert A.reduce_rowwise(agg.varp["FP64"]).new().to_dict() == {0: 0}
    assert A.reduce_scalar("mean[FP32]").new() == 100
