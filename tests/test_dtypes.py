"""Types: looked up, compared, sorted and unified as in python-graphblas; unknown ones are rejected."""

import itertools
import operator

import numpy as np
import pytest

import bitblas
from semirings import dtypes
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT64


@pytest.fixture(scope="module")
def gb():
    return pytest.importorskip("graphblas")


KEYS = (
    "nope", "int", "GrB_INT8", "int8_t", "_Bool", "uint64_t", "d", ">i4", "double", "i4", "uint", "fp32", bool, int,
    float, complex, "FC32", "GxB_FC64", "F", np.float32, None, object, 3, "O", [1], np.int8(3), np.dtype("uint16"),
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_look_ups_equal_python_graphblas(gb, key):
    try:
        want = str(gb.dtypes.lookup_dtype(key))
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error), match="dtype: expected"):
            dtypes.lookup_dtype(key)
    else:
        assert str(dtypes.lookup_dtype(key)) == want
    assert dtypes.lookup_dtype(None, np.int8(3)) is INT8


def test_unify_equals_python_graphblas(gb):
    for a, b, left, right in itertools.product(dtypes.ALL, dtypes.ALL, (False, True), (False, True)):
        x, y = gb.dtypes.lookup_dtype(a.name), gb.dtypes.lookup_dtype(b.name)
        want = gb.dtypes.unify(x, y, is_left_scalar=left, is_right_scalar=right)
        assert dtypes.unify(a, b, is_left_scalar=left, is_right_scalar=right).name == want.name


NUMBA = ("int8", "float32", "float64", "bool_", "uint64", "complex64")


@pytest.mark.parametrize("name", NUMBA)
def test_types_of_numba_are_looked_up(name):
    types = pytest.importorskip("numba").types
    assert dtypes.lookup_dtype(getattr(types, name)).np_type.name == name.rstrip("_")
    assert dtypes.lookup_dtype(types.literal(3)) is INT64


OTHERS = ("INT64", "int64", int, float, np.int64, np.dtype("int64"), "FP32", "float32")


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_comparisons_equal_python_graphblas(gb, other):
    for ours, theirs in ((INT64, gb.dtypes.INT64), (FP32, gb.dtypes.FP32)):
        for compare in (operator.eq, operator.ne, operator.lt):
            assert compare(ours, other) is compare(theirs, other)
        assert ((other == ours), (other != ours)) == ((other == theirs), (other != theirs))


@pytest.mark.parametrize("other", ["nope", None, 5, "O", "S5"], ids=str)
def test_what_is_no_type_is_not_compared(other):
    for compare in (operator.eq, operator.ne, operator.lt):
        with pytest.raises(TypeError):
            compare(BOOL, other)


def test_hash_and_order(gb):
    theirs = [getattr(gb.dtypes, t.name) for t in dtypes.ALL]
    for t, other in zip(dtypes.ALL, theirs):
        assert hash(t) == hash(other) == hash(t.np_type) and {t: 1}[t.np_type] == 1 and t.gb_name == other.gb_name
    assert list(map(str, sorted(dtypes.ALL))) == list(map(str, sorted(theirs)))


def test_what_programs_ask_for():
    assert dtypes._supports_complex is True and dtypes._INDEX is UINT64 and dtypes.ss is not None
    public = {"DataType", "lookup_dtype", "register_anonymous", "register_new", "ss", "unify"}
    assert public <= set(dir(bitblas.dtypes))


RECORD = np.dtype([("x", bool), ("y", float)])


NOT_TYPES = {("$", RECORD): "identifier", ("UINT8", RECORD): "taken", ("register_new", RECORD): "taken"}


@pytest.mark.parametrize(("given", "message"), [*NOT_TYPES.items(), (("mine", np.int8), "builtin")])
def test_what_no_type_is_made_of(given, message):
    with pytest.raises(ValueError, match=message):
        dtypes.register_new(*given)


def test_types_without_a_name():
    with pytest.raises(ValueError, match="Python objects"):
        dtypes.register_anonymous(object)
    assert dtypes.register_anonymous(np.int8) is INT8 and dtypes.register_anonymous(float, "FP64") is FP64
