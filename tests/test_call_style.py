"""Small things of python-graphblas' call style that its own tests found missing."""

import numpy as np
import pytest
from both_libraries import both, each, operands

import bitblas
from bitblas import Matrix, Scalar, Vector, agg, binary, config, indexunary, select, semiring, unary
from bitblas.core.operators import typed

oracle = pytest.importorskip("graphblas")

SAME = """
A.apply(select.valueeq, 3); v.apply(select.valuegt, 1); v.apply(select.rowle, 9);
v[[Scalar.from_value(1), Scalar.from_value(0)]];
select.value(Scalar.from_value(3) < 5); select.valuene(5, Scalar.from_value(5));
select.valueeq(Scalar.from_value(5), 5); v(A[0, :].new().S) << 3;
A.reduce_rowwise(gb.agg.Aggregator("x", composite=[gb.agg.varp, gb.agg.stdp],
finalize=lambda x, y, opts: binary.times(x & y), types=[gb.agg.varp]))
"""

ERRORS = """
A.T[:, :] << A; A.T[1, 0] << 5; A.T[1, 0](accum="+") << 5; v[[0, 1]] = [2, object()]; A[[0], [0, 1]] = [[object(), 2]];
A.setdiag(object()); Matrix.from_dense(1); Vector.from_pairs(np.array([[0, 1], [2, 3]]));
v.inner(v, lambda x, y: x + y); v.reduce(binary.plus[bool]);
A[1, 2]() == A[1, 2](); bool(A[1, 2]()); A[:3, :3].new(input_mask=R.S);
Matrix.from_csr(*A.to_csr(), ncols=6); select.value(Scalar.from_value(3) | Scalar.from_value(3))
"""

IN_PLACE = "x += 1; x -= 1; x *= 2; x /= 2; x //= 2; x %= 2; x **= 2; x ^= x; x |= x; x &= x; x @= x"


@pytest.mark.parametrize("text", [" ".join(text.split()) for text in each(SAME)])
def test_result(device, text):
    both(*((text, "v") if "<<" in text else (f"r = {text}", "r")))


@pytest.mark.parametrize("text", each(ERRORS))
def test_error(device, text):
    both(text, "v, A")


@pytest.mark.parametrize("text", each(IN_PLACE))
def test_what_is_delayed_is_not_changed_in_place(text):
    v = Vector.from_coo([0, 2], [True, False])
    for x in (v.ewise_mult(v, binary.land), v & v):
        with pytest.raises(TypeError, match="in place"):
            exec(text, {"x": x})
    A = Matrix.from_coo([0, 1], [1, 1], [1, 2])
    A[[0], [1]] += 5  # indexed reads and assignments
    assert A.to_dicts() == {0: {1: 6}, 1: {1: 2}}


def test_unknown_names_compute_nothing():
    v = operands(bitblas, 0, "INT64")["v"]
    expr = v + 1
    with config.set(autocompute=False):
        assert not hasattr(expr, "value") and not hasattr(v[[0, 1]], "ncols")
        for call in (lambda: expr.nvals, lambda: v << v.inner(v)):  # one number for all positions
            with pytest.raises(TypeError, match="autocompute"):
                call()
        assert (v + 1).new().nvals == v.nvals
    for bad in ({"autocompute": "perhaps"}, {"prefer": "luck"}, {"nothing": 1}):
        with pytest.raises(ValueError, match="expected"):
            config.set(**bad)
    assert expr._value is None and expr.nvals == v.nvals and expr._value is not None
    assert config["autocompute"] is config.autocompute and config["prefer"] == config.prefer
    with pytest.raises(KeyError):
        config["set"]


def test_aggregators_of_a_program():
    both_ends = agg.Aggregator("ends", composite=[agg.first, agg.last], finalize=lambda x, y, _: binary.plus(x & y))
    A = Matrix.from_coo([0, 0, 1, 2, 2], [0, 3, 1, 0, 1], [1, 5, 7, 2, 3])
    assert A.reduce_rowwise(both_ends).new().to_dict() == {0: 6, 1: 14, 2: 5}
    assert A[0, :].new().reduce(both_ends).new() == 6 and repr(both_ends) == "agg.ends"
    index = agg.Aggregator("index", composite=[agg.argmin], finalize=lambda x, _: x)
    with pytest.raises(ValueError, match="reduce_scalar"):
        A.reduce_scalar(index)
    for wrong in ({}, {"composite": [agg.sum]}, {"finalize": min}, {"composite": [3], "finalize": min}):
        with pytest.raises(TypeError, match="composite"):
            agg.Aggregator("x", **wrong)


def test_typed_operators_are_themselves():
    for op, kind, types, expected in (
        (binary.bor, "binary", 1, binary.bor), (bitblas.monoid.plus, "binary", 1, binary.plus),
        (semiring.plus_times, "semiring", 2, semiring.plus_times),
    ):  # fmt: skip
        assert typed(op, kind, *[bitblas.dtypes.INT64] * types) is expected["INT64"]


def test_operators_of_python_functions():
    twice, minus = lambda x: 2 * x, lambda x, i, j, thunk: x - thunk
    op = unary.register_anonymous(twice)
    assert op.orig_func is op[int].orig_func is twice and unary.abs.orig_func is unary.abs[int].orig_func is None
    indexunary.register_new("call_style_minus", minus, lazy=True)
    assert not hasattr(select, "call_style_minus") and "call_style_minus" in indexunary
    assert indexunary.call_style_minus(Vector.from_coo([1], [5]), 2).new().to_dict() == {1: 3}
    del indexunary.call_style_minus
    assert not hasattr(indexunary, "call_style_minus")
    with pytest.raises(AttributeError):
        del indexunary.call_style_minus
    assert select.register_new("call_style_minus", minus, lazy=True) is None
    with pytest.raises(ValueError, match="BOOL"):
        select.call_style_minus
    assert not hasattr(select, "call_style_minus")
    family = binary.register_anonymous(lambda k: lambda x, y: x + y + k, parameterized=True)
    v = Vector.from_coo([0, 1], [1, 2])
    v(family(1)) << v
    assert v.to_dict() == {0: 3, 1: 5} and np.array(Scalar.from_value(2)) == 2
