"""Integers near the limits: exact, or OverflowError; never through floats, and never wrapped."""

from __future__ import annotations

from collections import deque
from decimal import Decimal

import numpy as np
import pytest

import bitblas as gb
from bitblas import Matrix, Scalar, Vector
from bitblas.exceptions import IndexOutOfBound
from bitblas.loop import repeat

MOST = 2**64 - 1


def values_of(x):
    return [x.value] if isinstance(x, Scalar) else (x.to_coo()[-1] if hasattr(x, "to_coo") else x).tolist()


BUILDERS = {
    "Vector.from_coo": lambda x, dtype: Vector.from_coo([0, 1], x, dtype),
    "Vector.from_coo, a tuple": lambda x, dtype: Vector.from_coo((0, 1), tuple(x), dtype),
    "Vector.from_coo, a generator": lambda x, dtype: Vector.from_coo(iter([0, 1]), (y for y in x), dtype),
    "Vector.from_coo, a dict": lambda x, dtype: Vector.from_coo((d := dict(enumerate(x))).keys(), d.values(), dtype),
    "Vector.from_coo, a deque": lambda x, dtype: Vector.from_coo([0, 1], deque(x), dtype),
    "Vector.from_dict": lambda x, dtype: Vector.from_dict(dict(enumerate(x)), dtype),
    "Vector.from_pairs": lambda x, dtype: Vector.from_pairs(list(enumerate(x)), dtype),
    "Vector.from_dense": lambda x, dtype: Vector.from_dense(x, dtype=dtype),
    "Matrix.from_coo": lambda x, dtype: Matrix.from_coo([0, 0], [0, 1], x, dtype),
    "Matrix.from_edgelist": lambda x, dtype: Matrix.from_edgelist([(0, k, y) for k, y in enumerate(x)], dtype=dtype),
    "Matrix.from_edgelist, values": lambda x, dtype: Matrix.from_edgelist([(0, 0), (0, 1)], x, dtype),
    "Matrix.from_dicts": lambda x, dtype: Matrix.from_dicts({0: dict(enumerate(x))}, dtype),
    "Matrix.from_dense": lambda x, dtype: Matrix.from_dense([x], dtype=dtype),
    "Matrix.from_dense, rows": lambda x, dtype: Matrix.from_dense([[y] for y in x], dtype=dtype),
    "Matrix.from_csr": lambda x, dtype: Matrix.from_csr([0, 2], [0, 1], x, dtype),
    "Matrix.from_csc": lambda x, dtype: Matrix.from_csc([0, 2], [0, 1], x, dtype),
    "Matrix.from_dcsr": lambda x, dtype: Matrix.from_dcsr([0], [0, 2], [0, 1], x, dtype),
    "Matrix.from_dcsc": lambda x, dtype: Matrix.from_dcsc([0], [0, 2], [0, 1], x, dtype),
    "Matrix.from_chunks": lambda x, dtype: Matrix.from_chunks([([0, 0], [0, 1], x)], dtype=dtype),
}  # fmt: skip


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_integers_of_lists_are_exact_or_refused(build):
    assert values_of(build([MOST, 1], "UINT64")) == [MOST, 1]
    assert values_of(build([2**53 + 1, 0.5], "INT64")) == [2**53 + 1, 0]
    assert values_of(build([2**53 + 1, 2.7], "UINT64")) == [2**53 + 1, 2]
    found = build([2**63 + 5, 1], None)
    assert (found.dtype, values_of(found)) == ("UINT64", [2**63 + 5, 1])
    assert build([2**53 + 1, 0.5], None).dtype == "FP64"  # as in NumPy and python-graphblas
    for wrong, dtype in (
        ([2**63, 0], "INT64"), ([MOST, 1], "INT8"), ([2**63, -1], "UINT64"), ([2**64, 1], "UINT64"),
        ([-(2**63) - 1, 0], "INT64"), ([300, 1], "INT8"), ([2**53 + 1, 0.5], "INT8"), ([1e300, 1.0], "INT64"),
        ([2**63, -1], None), ([2**64, 1], None), ([2**2000, 1], "INT64"),
    ):  # fmt: skip
        with pytest.raises(OverflowError, match="expected"):
            build(wrong, dtype)
    assert values_of(build([2**64, 1], "FP64")) == [2.0**64, 1.0]
    assert values_of(build([2**63, 0], "BOOL")) == [True, False]


def test_lists_of_numpy_scalars_and_arrays_of_objects_are_exact():
    mixed = [np.int64(1), np.uint64(2**63 + 5)]
    for x in (mixed, np.array([1, 2**63 + 5], object)):
        for dtype in (None, "UINT64"):
            v = Vector.from_coo([0, 1], x, dtype)
            assert (v.dtype, values_of(v)) == ("UINT64", [1, 2**63 + 5])
        with pytest.raises(OverflowError):
            Vector.from_coo([0, 1], x, "INT64")
    v = Vector.from_coo([0, 1], [np.uint64(2**53 + 1), np.int8(-1)])
    assert (v.dtype, values_of(v)) == ("INT64", [2**53 + 1, -1])
    assert values_of(Vector.from_coo([0, 1], np.array([2**53 + 1, 0.5], object), "INT64")) == [2**53 + 1, 0]
    assert values_of(Vector.from_coo([0, 1], [Decimal(2**53 + 1), 1], "INT64")) == [2**53 + 1, 1]
    rows = [np.array([1, 2]), np.array([2**63 + 5, 3], np.uint64)]
    assert values_of(Matrix.from_dense(rows)) == [1, 2, 2**63 + 5, 3]
    with pytest.raises(OverflowError):
        Matrix.from_dense(rows, dtype="INT64")
    with pytest.raises(ValueError, match="expected numbers, got Python objects"):
        Vector.from_coo([0, 1], np.array([2**53 + 1, 0.5], object))
    for wrong, dtype, error, said in (
        ([None, 2**63], "UINT64", ValueError, "expected numbers"), (["1", 2**64], "UINT64", ValueError, "expected num"),
        ([2**64, "x"], "UINT64", ValueError, "expected numbers"), ([10**39, 1], "FP32", OverflowError, "FP32 holds"),
        ([2**63, float("nan")], "UINT64", ValueError, "NaN or infinity"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            Vector.from_coo([0, 1], wrong, dtype)
    assert values_of(Vector.from_coo(range(2), range(2**63 - 1, 2**63 + 1))) == [2**63 - 1, 2**63]


def test_sub_arrays_of_lists_are_exact():
    v = Vector.from_coo([0, 1], [[2**63 + 5, 1], [2, 3]])
    assert v.to_coo()[1].tolist() == [[2**63 + 5, 1], [2, 3]]
    with pytest.raises(OverflowError):
        Vector.from_coo([0, 1], [[2**63, 1], [2, 3]], "INT64")


# Statements that write x into v, A or s; and expressions that make an object of a type t with x.
WRITES = """
v[0] = x; v << x; v[1:] << x; v(v.S) << x; v(plus) << x; v(plus)[0] << x; v[[0, 1]] = [x, 1]; v(plus)[[0, 1]] << [x, 1];
v.build([0], [x], clear=True);
A[0, 1] = x; A[1, :] = x; A[:, :] = [[x, 1], [2, 3]]; A << x; A.setdiag(x); A.setdiag([x, 1]);
A.build([0], [0], [x], clear=True); s.value = x; s << x; s(plus) << x
"""
MAKES = """
Scalar.from_value(x, t); Vector.from_scalar(x, 2, t); Matrix.from_scalar(x, 1, 2, t); Vector.from_coo([0, 1], x, t);
Vector.from_coo([0], [1], t, size=2).to_dense(fill_value=x); Vector.from_coo([0], [1], size=2).to_dense(x, dtype=t);
(w := Vector(t, 2)).ss.build_scalar([0, 1], x) or w
"""
EACH = [text.strip() for text in f"{WRITES};{MAKES}".split(";")]


def written(text, x, dtype):
    """The objects, what the text raises, and the values afterwards."""
    scope = {"v": Vector.from_coo([0, 1], [1, 2], dtype), "A": Matrix.from_coo([0, 1], [1, 0], [1, 2], dtype)}
    scope |= {"s": Scalar.from_value(1, dtype), "plus": gb.binary.plus, "x": x, "t": dtype}
    names, error = scope | {"Scalar": Scalar, "Vector": Vector, "Matrix": Matrix}, None
    try:
        if text in MAKES:
            scope = {"made": eval(text, names)}
        else:
            exec(text, names)
    except OverflowError as raised:
        error = raised
    return error, [values_of(x) for x in scope.values() if isinstance(x, (Vector, Matrix, Scalar, np.ndarray))]


@pytest.mark.parametrize("text", EACH)
def test_one_integer_is_exact_or_refused_wherever_it_is_written(text):
    for x in (2**63, MOST):
        error, found = written(text, x, "UINT64")
        plus = "plus" in text
        assert error is None and any((x + plus) % 2**64 in values for values in found)
        assert {y for values in found for y in values} <= {1, 2, 3, x, (x + plus) % 2**64, (x + 2 * plus) % 2**64}
    for x in (2**63, MOST, 2**64, -(2**63) - 1, 2**2000):
        error, found = written(text, x, "INT64")
        assert "expected" in str(error) and found == [[1, 2], [1, 2], [1]]


def test_one_integer_chooses_the_type():
    for x in (2**63, MOST):
        s = Scalar.from_value(x)
        assert (s.dtype, s.value) == ("UINT64", x)
        assert Scalar.from_value(x, "FP64").value == float(x)
        assert Vector.from_scalar(x, 2).get(1) == Vector.from_coo([0, 1], x).get(1) == x
    for value, dtype in ((300, "INT8"), (-1, "UINT64"), (2**53 + 1, "INT8")):
        with pytest.raises(OverflowError):
            Vector.from_scalar(value, 2, dtype)
        with pytest.raises(OverflowError):
            Matrix.from_scalar(value, 2, 2, dtype)


def test_assigned_lists_are_exact_in_unsigned_objects_and_rounded_in_those_of_floats():
    v, w = Vector("UINT64", 2), Vector("FP64", 2)
    v[[0, 1]] = [2**53 + 1, 0.5]
    assert values_of(v) == [2**53 + 1, 0]
    v[[0, 1]] = [MOST, 1]
    assert values_of(v) == [MOST, 1]
    w[[0, 1]] = [2**63, -1]
    assert values_of(w) == [2.0**63, -1.0]
    A = Matrix("UINT64", 2, 1)
    A[:, 0] = [2**53 + 1, 0.5]
    assert values_of(A) == [2**53 + 1, 0]


def test_integers_beside_unsigned_objects_are_exact():
    v = Vector.from_coo([0, 1], [MOST, 2**53 + 1], "UINT64")
    for x, found in ((2**63, v.apply("minus", right=1 << 63).new()), (2**63, (v - 2**63).new())):
        assert found.dtype == "UINT64"
        assert values_of(found) == [MOST - x, (2**53 + 1 - x) % 2**64]
    assert values_of(v.apply("first", left=MOST).new()) == [MOST, MOST]
    assert values_of((v == MOST).new()) == [True, False]
    assert values_of(v.select("<", MOST).new()) == [2**53 + 1]
    assert values_of(v.select("==", 2**53).new()) == []  # equal in FP64
    assert values_of((v > 2**53).new()) == [True, True]
    assert values_of((v == 2**53).new()) == [False, False]
    assert values_of((v < -1).new()) == [False, False]
    assert values_of(v.apply(gb.indexunary.valuegt, right=2**53).new()) == [True, True]
    union = v.ewise_union(Vector("UINT64", 2), "minus", np.uint64(0), 2**63).new()
    assert values_of(union) == [MOST - 2**63, (2**53 + 1 - 2**63) % 2**64]
    assert (Scalar.from_value(MOST, "UINT64") == MOST) is True
    assert (Scalar.from_value(1, "UINT64") + 2**63).new().value == 2**63 + 1


def test_integers_beyond_the_type_are_refused_beside_signed_objects():
    v, A, s = Vector.from_coo([0], [2**63 - 1]), Matrix.from_coo([0], [0], [2**63 - 1]), Scalar.from_value(1)
    for x in (2**63, 2**64, -(2**63) - 1):
        for call in (
            lambda x=x: v + x, lambda x=x: x - v, lambda x=x: v.apply("plus", right=x), lambda x=x: v == x,
            lambda x=x: v.select("<", x), lambda x=x: A.select("valuege", x), lambda x=x: A.select("tril", x),
            lambda x=x: v.ewise_union(v, "plus", x, 0), lambda x=x: v.ewise_union(v, "plus", 0, x),
            lambda x=x: s + x, lambda x=x: x * s, lambda x=x: A.apply("rowindex", x),
        ):  # fmt: skip
            with pytest.raises(OverflowError, match="expected"):
                call()


def test_indices_of_several_kinds_are_exact():
    assert Vector.from_coo([np.uint64(5), 1], [1, 2]).to_coo()[0].tolist() == [1, 5]
    at = 2**59 + 1
    v = Vector.from_coo([np.uint64(at), 1], [1, 2], size=2**60)
    assert v.to_coo()[0].tolist() == [1, at]
    for wrong in ([2**63, 1], [2**64, 1], [2**63, -1], [MOST, np.int8(1)]):
        with pytest.raises(IndexOutOfBound, match="indices below"):
            Vector.from_coo(wrong, [1, 2])
        with pytest.raises(IndexOutOfBound, match="indices below"):
            Matrix.from_coo(wrong, [0, 1], [1, 2])
    for build in (
        lambda i: Vector.from_dict({i: 1, 2: 3}), lambda i: Vector.from_pairs([(i, 1), (2, 3)]),
        lambda i: Matrix.from_dicts({i: {0: 1}, 2: {0: 3}}), lambda i: Matrix.from_dicts({0: {i: 1, 2: 3}}),
    ):  # fmt: skip
        with pytest.raises(IndexOutOfBound, match="indices below"):
            build(2**63)
        with pytest.raises(ValueError, match="expected integers"):
            build(0.5)


def test_scalars_in_loops_are_refused_as_elsewhere(device):
    v = Vector("INT64", 2, device=device)

    going = Scalar.from_value(True)

    def body(k):
        v << 2**63
        going << False

    with pytest.raises(OverflowError, match="expected"):
        repeat(body, while_=going)
    assert v.nvals == 0


def test_indices_in_brackets_of_several_kinds_are_exact():
    v = Vector.from_coo([1, 5], [3, 4], size=6)
    assert values_of(v[[np.uint64(5), 1]].new()) == [4, 3]
    v[[np.uint64(5), 1]] = [2**53 + 1, 7]
    assert values_of(v) == [7, 2**53 + 1]
    for wrong in ([2**63, 1], [2**64, 1], [-(2**64), 1]):
        with pytest.raises(IndexError, match="Index out of range"):
            v[wrong].new()


def test_imported_lists_are_exact():
    assert values_of(Vector.ss.import_sparse([2**63 + 5, 1], indices=[0, np.uint64(1)], size=2)) == [2**63 + 5, 1]
    assert values_of(Vector.ss.import_full([2**53 + 1, 0.5], dtype="INT64")) == [2**53 + 1, 0]
    A = Matrix.ss.import_csr([2**64 - 1, 1], indptr=[0, 2], col_indices=[0, 1], nrows=1, ncols=2, dtype="UINT64")
    assert values_of(A) == [2**64 - 1, 1]
    with pytest.raises(OverflowError):
        A.ss.pack_csr([2**64, 1], indptr=[0, 2], col_indices=[0, 1])
    assert values_of(A) == [2**64 - 1, 1]


def test_a_missing_value_that_the_type_does_not_hold_is_nowhere():
    assert values_of(Vector.from_dense([3, 1], missing_value=2**63)) == [3, 1]
    assert values_of(Vector.from_dense([2**63, 1], missing_value=2**63)) == [1]
    assert values_of(Vector.from_dense([2**53, 2**53 + 1], missing_value=2**53)) == [2**53 + 1]
    assert values_of(Matrix.from_dense([[3, 1]], missing_value=2**63)) == [3, 1]
