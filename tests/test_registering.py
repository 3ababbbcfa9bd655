"""User-defined operators from Python functions under their own names, and functions that are rejected."""

import numpy as np
import pytest
from udf_functions import closure, entries, vector

import bitblas as gb
from bitblas.exceptions import UdfParseError
from semirings.dtypes import FP64, INT64
from semirings.registration import build


def test_names():
    op = gb.binary.register_new("test_udf.inner.twice", lambda x, y: 2 * x + y)
    assert gb.binary.test_udf.inner.twice is op
    assert gb.op.from_string("test_udf.inner.twice") is op
    assert gb.semiring.from_string("min.plus") is gb.semiring.min_plus
    with pytest.raises(AttributeError, match="is already defined"):
        gb.binary.register_new("test_udf.inner.twice", lambda x, y: x)
    with pytest.raises(AttributeError, match="Cannot use as a nested path"):
        gb.binary.register_new("plus.more", lambda x, y: x)
    with pytest.raises(AttributeError, match="already defined"):
        gb.unary.register_new("abs", lambda x: x)
    with pytest.raises(ValueError, match="identifiers"):
        gb.unary.register_new("not a name", lambda x: x)


def test_lazy_ones_are_made_when_they_are_asked_for():
    assert gb.unary.register_new("test_udf.late", lambda x: x.no_such_thing, lazy=True) is None
    with pytest.raises(UdfParseError, match="no_such_thing"):
        gb.unary.test_udf.late


def test_a_select_is_an_index_unary_too():
    op = gb.select.register_new("test_udf.corner", lambda x, i, j, t: i + j <= t)
    assert op is gb.select.test_udf.corner
    assert repr(gb.indexunary.test_udf.corner) == "indexunary.test_udf.corner"
    gb.indexunary.register_new("test_udf.diagonal", lambda x, i, j, t: i == j)
    assert repr(gb.select.test_udf.diagonal) == "select.test_udf.diagonal"
    with pytest.raises(ValueError, match="BOOL return type"):
        gb.select.register_new("test_udf.wrong", lambda x, i, j, t: i)


def test_parameterized():
    scaled = gb.binary.register_new("test_udf.scaled", closure, parameterized=True)
    assert scaled(3) is scaled(3)
    assert scaled(3, offset=1)["FP64"].op.evaluate(FP64, x=2.0, y=0) == 7
    v = vector("FP64")
    assert entries(v.ewise_mult(v, gb.binary.isclose(rel_tol=1e-3)).new()) == {(0,): True, (1,): True, (2,): True}
    assert entries(v.ewise_mult(v, gb.binary.isclose).new())[(0,)] is True
    least = gb.monoid.register_anonymous(
        gb.binary.register_anonymous(lambda low=0: lambda x, y: max(min(x, y), low), parameterized=True),
        lambda low=0: 1000,
    )
    assert least(2)["INT64"].identity == 1000


def captures(value):
    return lambda x, y: x + value.y


TABLE = np.arange(10)


def indexed(x, y):
    return TABLE[min(max(x, 0), 9)] + y


def endless(x, y):
    return x if x <= 0 else endless(x - 1, y)


def raises(x, y):
    if x > 2:
        raise ValueError(x)
    return x


FACTORS = (1, 2, 5)


def of_a_tuple(x, y):
    return FACTORS[1] * x


def any_element(x, y):
    t = (x, y, 1)
    return t[int(x) % 3]


def text(x, y):
    return len("abc") + x


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gb.unary.register_anonymous(abs), TypeError, "must be a function"),
        (lambda: gb.unary.register_anonymous(lambda x, y: x), TypeError, "expected 1 arguments"),
        (lambda: gb.binary.register_anonymous(lambda x, y: [x, y]), UdfParseError, "Unable to parse function"),
        (lambda: gb.binary.register_anonymous(captures(object())), UdfParseError, "captures value, a object"),
        (lambda: gb.binary.register_anonymous(endless), UdfParseError, "recursion is not supported"),
        (lambda: gb.monoid.register_anonymous(abs, 0), TypeError, "expected a BinaryOp"),
        (lambda: gb.monoid.register_anonymous(gb.binary.eq, {"INT8": 0}), TypeError, "eq takes INT8, but gives BOOL"),
        (lambda: gb.semiring.register_anonymous(gb.binary.plus, gb.binary.plus), TypeError, "expected a Monoid"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("function", "construct"),
    [
        (raises, "ValueError"),
        (text, "builtins.len"),
        (indexed, "is not supported on a GPU"),
        (of_a_tuple, "a value of type Tuple"),
        (any_element, "this index"),
    ],
)
def test_what_only_the_cpu_can(function, construct):
    op = build("binary", function)
    v = gb.Vector.from_coo([0], [2], size=1, device="cpu")
    assert entries(v.ewise_mult(v, op).new()) == {
        (0,): {raises: 2, text: 5, indexed: 4, of_a_tuple: 4, any_element: 1}[function]
    }
    line = function.__code__.co_firstlineno
    with pytest.raises(UdfParseError, match=rf"{function.__name__}, line ({line + 1}|{line + 2}): .*{construct}"):
        op.expr.definition_cpp({"x": INT64, "y": INT64})
