"""Operators and types pickle to the same object; user-defined ones are found by name, or created again."""

import copy
import pickle
import subprocess
import sys

import pytest

import bitblas as gb
from bitblas.kernels.variant import Variant
from bitblas.operations.variants import BOTH, Call, elementwise_variant, reduce_variant
from semirings import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, UnaryOp, dtypes
from semirings.dtypes import BOOL, FP64, INT8, INT64

FAMILIES = ("unary", "binary", "monoid", "indexunary", "select", "semiring")
CATALOGUE = {family: list(getattr(gb, family)) for family in FAMILIES}  # before other tests register theirs


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
    assert len({*found, *again(found)}) == len(found) and pickle.dumps(found) == plain, (
        "hashes differ between processes"
    )
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


# ---- of programs ----------------------------------------------------------------------------------------------------


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
        "import pickle, sys; ring, made = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "import bitblas as gb; from semirings.dtypes import INT64\n"
        "assert ring is gb.semiring.test_pickle.sent.ring and ring.binaryop is gb.binary.test_pickle.sent.add\n"
        "assert ring.monoid is gb.monoid.test_pickle.sent.total and ring.monoid.identity(INT64) == 0\n"
        "assert made.parent is gb.binary.test_pickle.sent.sum_and(3)\n"
        "print(ring.binaryop.evaluate(INT64, x=2, y=5), made.op.evaluate(INT64, x=2, y=5))"
    )
    path = [str(p) for p in sys.path if p]
    run = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:0] = {path!r}\n{code}",
        pickle.dumps((ring, family(3)[int])).hex(),
    ]
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
    with pytest.raises(TypeError, match="must be a function"):
        UnaryOp.register_new("bad", object())
    assert not hasattr(gb.unary, "bad")


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
