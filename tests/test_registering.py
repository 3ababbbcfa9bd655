"""User-defined operators from Python functions under their own names, and functions that are rejected. Operators and
types pickle to the same object; user-defined ones are found by name, or created again."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from udf_functions import closure, entries, vector

import bitblas as gb
from bitblas.exceptions import UdfParseError
from bitblas.kernels.variant import Variant
from bitblas.operations.variants import BOTH, Call, elementwise_variant, reduce_variant
from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, UnaryOp, dtypes
from semirings.dtypes import BOOL, FP64, INT8, INT64
from semirings.registration import build

FAMILIES = ("unary", "binary", "monoid", "indexunary", "select", "semiring")
CATALOGUE = {family: list(getattr(gb, family)) for family in FAMILIES}  # before other tests register theirs


def test_names():
    op = gb.binary.register_new("test_udf.inner.twice", lambda x, y: 2 * x + y)
    assert gb.binary.test_udf.inner.twice is op
    assert gb.op.from_string("test_udf.inner.twice") is op
    assert gb.semiring.from_string("min.plus") is gb.semiring.min_plus
    with pytest.raises(AttributeError, match="is already defined"):
        gb.binary.register_new("test_udf.inner.twice", lambda x, y: x)


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


def test_parameterized():
    scaled = gb.binary.register_new("test_udf.scaled", closure, parameterized=True)
    assert scaled(3) is scaled(3)
    assert scaled(3, offset=1)["FP64"].op.evaluate(FP64, x=2.0, y=0) == 7
    v = vector("FP64")
    assert entries(v.ewise_mult(v, gb.binary.isclose(rel_tol=1e-3)).new()) == {(0,): True, (1,): True, (2,): True}
    assert entries(v.ewise_mult(v, gb.binary.isclose).new())[(0,)] is True
    op = gb.binary.register_anonymous(lambda low=0: lambda x, y: max(min(x, y), low), parameterized=True)
    least = gb.monoid.register_anonymous(op, lambda low=0: 1000)
    assert least(2)["INT64"].identity == 1000


def captures(value):
    return lambda x, y: x + value.y


TABLE, FACTORS = np.arange(10), (1, 2, 5)


def indexed(x, y):
    return TABLE[min(max(x, 0), 9)] + y


def endless(x, y):
    return x if x <= 0 else endless(x - 1, y)


def raises(x, y):
    if x > 2:
        raise ValueError(x)
    return x


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
        (lambda: gb.binary.register_new("plus.more", lambda x, y: x), AttributeError, "Cannot use as a nested path"),
        (lambda: gb.unary.register_new("abs", lambda x: x), AttributeError, "already defined"),
        (lambda: gb.unary.register_new("not a name", lambda x: x), ValueError, "identifiers"),
        (lambda: gb.select.register_new("wrong", lambda x, i, j, t: i), ValueError, "BOOL return type"),
        (lambda: UnaryOp.register_new("wrong", object()), TypeError, "must be a function"),
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
    assert not hasattr(gb.unary, "wrong") and not hasattr(gb.select, "wrong")


@pytest.mark.parametrize(
    ("function", "value", "construct"),
    [
        (raises, 2, "ValueError"),
        (text, 5, "builtins.len"),
        (indexed, 4, "is not supported on a GPU"),
        (of_a_tuple, 4, "a value of type Tuple"),
        (any_element, 1, "this index"),
    ],
)
def test_what_only_the_cpu_can(function, value, construct):
    op = build("binary", function)
    v = gb.Vector.from_coo([0], [2], size=1, device="cpu")
    assert entries(v.ewise_mult(v, op).new()) == {(0,): value}
    line = function.__code__.co_firstlineno
    with pytest.raises(UdfParseError, match=rf"{function.__name__}, line ({line + 1}|{line + 2}): .*{construct}"):
        op.expr.definition_cpp({"x": INT64, "y": INT64})


# ---- pickling -------------------------------------------------------------------------------------------------------


def again(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_catalogue_pickles_to_itself(family):
    space = getattr(gb, family)
    named = [space[name] for name in CATALOGUE[family]]
    if family in ("unary", "binary", "monoid"):
        named += [space.numpy[name] for name in space.numpy]
    typed = [op[next(iter(op.types))] for op in named if hasattr(op, "types")]
    for op in (*named, *typed, space, getattr(space, "numpy", space)):
        assert again(op) is op and copy.deepcopy(op) is op and copy.copy(op) is op, op


def test_variants_go_to_other_processes():
    """Which compile them: `make kernels`."""
    named = (reduce_variant(gb.monoid[m][FP64], FP64)[0] for m in ("plus", "min", "any"))
    pairs = (elementwise_variant(Call(BOTH), gb.binary[op][INT64], INT64, INT64)[0] for op in ("plus", "bor", "cdiv"))
    found = [*named, *pairs, Variant("loop/gpu/elementwise", text="#define STATEMENTS")]
    plain = pickle.dumps(found)
    assert len({*found, *again(found)}) == len(found)
    assert pickle.dumps(found) == plain, "hashes differ between processes"
    assert again(found) == found and [v.cpp() for v in again(found)] == [v.cpp() for v in found]


@pytest.mark.parametrize(
    "op",
    [
        gb.binary.isclose, gb.binary.isclose(rel_tol=1e-3)["FP32"], gb.semiring.plus_hypot,
        gb.semiring.plus_hypot[float], gb.semiring.numpy.gcd_multiply, gb.semiring.numpy.add_gcd[int],
        gb.semiring.lor_plus["INT8"], *dtypes.ALL,
    ],
    ids=str,
)  # fmt: skip
def test_what_is_made_when_it_is_asked_for_pickles_to_itself(op):
    assert again(op) is op


def shifted(x):
    return x + 3


def sum_of_both(x, y):
    return x + y


def corner(x, i, j, t):
    return i + j <= t


def shifted_by(k=0):
    def inner(x):
        return x + k

    return inner


def sum_and(k=0):
    def inner(x, y):
        return x + y + k

    return inner


def minus_itself(k=0):
    return -k


def test_registered_ones_pickle_to_themselves():
    add = BinaryOp.register_new("test_pickle.add", sum_of_both)
    total = Monoid.register_new("test_pickle.total", add, 0)
    ring = Semiring.register_new("test_pickle.ring", total, add)
    family = UnaryOp.register_new("test_pickle.shifted_by", shifted_by, parameterized=True)
    ops = [add, total, ring, family, family(2), UnaryOp.register_new("test_pickle.shifted", shifted)]
    ops += [SelectOp.register_new("test_pickle.corner", corner), gb.indexunary.test_pickle.corner]
    for op in (*ops, add["INT8"], total[int], ring[float]):
        assert again(op) is op


def test_registered_ones_come_back_in_another_process():
    """They are registered under their name, with the operators that they use."""
    add = BinaryOp.register_new("test_pickle.sent.add", sum_of_both)
    ring = Semiring.register_new("test_pickle.sent.ring", Monoid.register_new("test_pickle.sent.total", add, 0), add)
    family = BinaryOp.register_new("test_pickle.sent.sum_and", sum_and, parameterized=True)
    code = (
        f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}"
        + """
import pickle
ring, made = pickle.loads(bytes.fromhex(sys.argv[1]))
import bitblas as gb
from semirings.dtypes import INT64
assert ring is gb.semiring.test_pickle.sent.ring and ring.binaryop is gb.binary.test_pickle.sent.add
assert ring.monoid is gb.monoid.test_pickle.sent.total and ring.monoid.identity(INT64) == 0
assert made.parent is gb.binary.test_pickle.sent.sum_and(3)
print(ring.binaryop.evaluate(INT64, x=2, y=5), made.op.evaluate(INT64, x=2, y=5))"""
    )
    run = [sys.executable, "-c", code, pickle.dumps((ring, family(3)[int])).hex()]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.stdout.split() == ["7", "10"], done.stderr


def test_anonymous_ones_are_made_again():
    add = BinaryOp.register_anonymous(sum_of_both, "mine")
    total = Monoid.register_anonymous(add, {"INT64": 0, "FP64": 0.0}, is_idempotent=True)
    ring = Semiring.register_anonymous(total, add, "ring")
    made, m, s = again((add, total, ring))
    assert (made.name, m.name, s.name) == ("mine", "mine", "ring")
    assert made.types == add.types and m.types == total.types == {INT64: INT64, FP64: FP64} and m.is_idempotent
    assert s.monoid is m and s.binaryop is m.binaryop is made
    assert again(Semiring.register_anonymous(total, add)[int]).binaryop.op.name == "mine"
    plain = gb.Vector(INT8, 1).apply(shifted).op  # a function where an operator is expected: the type that Numba infers
    assert again(plain).return_type is plain.return_type is INT64
    assert again(IndexUnaryOp.register_anonymous(corner)).types[INT8] is BOOL


def test_families_are_made_again():
    family = BinaryOp.register_anonymous(sum_and, parameterized=True)
    totals = Monoid.register_anonymous(family, minus_itself)
    rings = Semiring.register_anonymous(totals, family, "rings")
    b, m, s = again((family, totals, rings))
    assert b(1)[int].op.evaluate(INT64, x=1, y=1) == 3
    assert m(2)["INT64"].identity == -2 and s(2).monoid is m(2) and s(2).binaryop is b(2) and s(2).name == "rings"
    assert again(totals(4))["INT64"].identity == -4


def test_what_has_no_name_in_a_module_does_not_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(UnaryOp.register_anonymous(lambda x: x + 1))


# ---- registering by the classes -------------------------------------------------------------------------------------


def test_classes_register_as_the_namespaces_do():
    kinds = {"unary": UnaryOp, "binary": BinaryOp, "indexunary": IndexUnaryOp, "select": SelectOp, "monoid": Monoid}
    for name, kind in {**kinds, "semiring": Semiring}.items():
        assert kind.register_new is getattr(gb, name).register_new
        assert kind.register_anonymous is getattr(gb, name).register_anonymous
    op = UnaryOp.register_new("test_pickle.by_class", shifted)
    assert op is gb.unary.test_pickle.by_class is gb.op.test_pickle.by_class


def test_families_know_their_monoids():
    family = BinaryOp.register_anonymous(sum_and, parameterized=True)
    assert family.monoid is None and family(1).monoid is None and not family.is_positional
    totals = Monoid.register_anonymous(family, minus_itself)
    assert family.monoid is totals and family(1).monoid is totals(1)
    v = gb.Vector.from_coo([0, 1, 3], [1, 2, -4])
    assert v.reduce(totals(1)).new().value == v.reduce(family(1)).new().value == 1
    assert gb.binary.isclose.commutes_to is gb.binary.isclose
    with pytest.raises(ValueError, match="Signatures"):
        Monoid.register_anonymous(family, lambda y=0: -y)
    other = BinaryOp.register_anonymous(lambda z=0: lambda x, y: x - y - z, parameterized=True)
    with pytest.raises(ValueError, match="Signatures"):
        Semiring.register_anonymous(totals, other)


def test_parts_may_be_named():
    BinaryOp.register_new("test_pickle.late", lambda x, y: x + y, lazy=True)
    Monoid.register_new("test_pickle.late", "test_pickle.late", 0, lazy=True)
    Semiring.register_new("test_pickle.late", "test_pickle.late", "test_pickle.late", lazy=True)
    ring = gb.semiring.test_pickle.late
    assert ring.monoid is gb.monoid.test_pickle.late and ring.binaryop is gb.binary.test_pickle.late


def test_what_is_registered_late_stands_where_it_fits():
    gb.indexunary.register_new("test_pickle.twice", lambda x, i, j, t: 2 * x - t, lazy=True)
    assert "test_pickle.twice" not in gb.select and gb.indexunary.test_pickle.twice.orig_func(3, 0, 0, 1) == 5
    assert "test_pickle.twice" not in gb.select
    gb.indexunary.register_new("test_pickle.below", lambda x, i, j, t: j < i, lazy=True)
    assert gb.indexunary.test_pickle.below[int].orig_func(0, 2, 1, 0) and gb.select.test_pickle.below[int]
    gb.select.register_new("test_pickle.above", lambda x, i, j, t: j > i, lazy=True)
    assert gb.indexunary.test_pickle.above.types[INT8] is BOOL
    assert gb.unary.abs.orig_func is None


def test_an_operator_may_be_taken_out():
    gb.unary.register_new("test_pickle_gone", shifted)
    del gb.unary.test_pickle_gone
    assert not hasattr(gb.unary, "test_pickle_gone") and gb.unary.register_new("test_pickle_gone", shifted)
    with pytest.raises(AttributeError, match="no operator"):
        del gb.unary.nothing_like_it
