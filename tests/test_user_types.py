"""User-defined types, records and sub-arrays: stored, moved and compared on every device."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from points import FLAGGED, POINT, TRIPLE, P, listed, matrix, points, vector

import bitblas as gb
from bitblas.exceptions import DomainMismatch
from semirings import dtypes

# ---- types ----------------------------------------------------------------------------------------------------------


def test_types():
    assert gb.dtypes.TestPoint is P is gb.dtypes.lookup_dtype(POINT) is gb.dtypes.lookup_dtype("TestPoint")
    assert P == POINT and P != "INT64" and P._is_udt and not P._is_anonymous and P.record == POINT
    assert TRIPLE.name == "FP64[3]" and TRIPLE._is_anonymous and gb.dtypes.lookup_dtype("FP64[3]") is TRIPLE
    assert gb.dtypes.register_anonymous({"x": "FP32", "y": np.float32}) is P
    assert gb.dtypes.register_anonymous([("a", "i8"), ("b", "i4", (2,))]).name == "{'a': INT64, 'b': INT32[2]}"
    assert gb.dtypes.unify(P, POINT) is P and pickle.loads(pickle.dumps(P)) is P
    for bad, error, text in (
        (lambda: gb.dtypes.register_new("TestPoint", "f8,f8"), ValueError, "taken"),
        (lambda: gb.dtypes.register_anonymous("f8,f8", "TestPoint"), ValueError, "taken"),
        (lambda: gb.dtypes.register_anonymous("f8,f8", "float32"), ValueError, "taken, by FP32"),
        (lambda: gb.dtypes.register_anonymous([("a", object)]), ValueError, "Python objects"),
        (lambda: gb.dtypes.register_anonymous("S5"), ValueError, "record"),
        (lambda: gb.dtypes.unify(P, "FP32"), DomainMismatch, "user-defined types cannot be cast"),
        (lambda: gb.dtypes.lookup_dtype("FP63[3]"), ValueError, "expected one of"),
    ):
        with pytest.raises(error, match=text):
            bad()


@pytest.mark.parametrize("dtype", [POINT, FLAGGED, np.dtype((np.int16, (2, 2)))], ids=["point", "flagged", "subarray"])
def test_values_come_back_bit_by_bit(dtype):
    t, rng = dtypes.register_anonymous(dtype), np.random.default_rng(1)
    base, shape = dtype.subdtype or (dtype, ())
    some = np.zeros((300, *shape), base)
    for name in dtype.names or [...]:
        some[name] = rng.integers(0, 2 if name == "flag" else 9, some[name].shape)
    numbers = t.encoded(some)
    assert np.array_equal(t.decoded(numbers), some) and (t.of_raw(t.raw(numbers)) == numbers).all()
    assert t.one(0) == 0 == t.encoded(np.zeros((1, *shape), base))[0]
    alike = (some[:, None] == some).reshape(300, 300, -1).all(-1)
    assert ((numbers[:, None] == numbers) == alike).all()
    if dtype is POINT:
        special = np.array([(np.nan, 0.0), (0.0, -0.0)], POINT)
        assert t.decoded(t.encoded(special)).tobytes() == special.tobytes()


# ---- moved and compared, the same text on python-graphblas ----------------------------------------------------------

MOVES = """
v = Vector.from_coo([0, 2, 3], data[:3], size=5); v
v[0] = (7, 8); v[4] = data[1]; v
v[3] = {"y": 8, "x": 7}; v
v[[1, 2]] = data[3:5]; v
v(w.S)[:] = 1; v
v(~w.S) << w; v
v << second(v, (1, 1)); v
v << first(s, v); v
u = v.dup(); del u[0]; u.resize(4); u
v(w.S, replace) << w[[0, 0, 0, 1, 1]]; v
A = Matrix.from_coo([0, 0, 1, 3], [0, 2, 1, 3], data[:4], nrows=4, ncols=4); A
A[1, 3] = (5, 5); del A[0, 0]; A
A[2, :] = w[:4].new(); A
A[:2, [0, 3]] = 2; A
B = A.T.new(); B(A.S) << A; B
C = A[[3, 1, 1], :].new(); C
A.select(select.tril).new()
A.ewise_add(B, binary.second).new()
A.ewise_mult(B, binary.eq).new()
A.ewise_mult(B, binary.ne).new()
A.mxv(w[:4].new(), semiring.any_pair).new()
A.diag()
A.reposition(1, 0).new()
A.reduce_rowwise(agg.count).new()
v.apply(unary.one).new()
v.apply(unary.ss.positioni).new()
v.ewise_mult(w, binary.ss.firsti).new()
A.mxm(B, semiring.ss.max_secondi).new()
"""


def run_moves(lib, line_by_line):
    names = "Matrix Vector Scalar binary unary semiring select agg replace".split()
    scope = {name: getattr(lib, name) for name in names} | {"gb": lib}
    scope |= {"first": lib.binary.first, "second": lib.binary.second, "data": points(1, 2, 3, 4, 5)}
    t = lib.dtypes.register_anonymous(POINT)
    scope["w"] = lib.Vector.from_coo([1, 2], points(6, 7), size=5)
    scope["s"] = lib.Scalar.from_value((3, 4), dtype=t)
    for line in line_by_line:
        *statements, look = line.split("; ")
        for statement in statements:
            exec(statement, scope)
        found = eval(look, scope)
        found = found.new() if not hasattr(found, "to_coo") else found
        kind = found.dtype
        yield line, "udt" if kind == t else str(kind), found.shape, listed(found)


@pytest.mark.slow
def test_moves_equal_python_graphblas(device):
    oracle = pytest.importorskip("graphblas")
    lines = MOVES.strip().splitlines()
    for ours, theirs in zip(run_moves(gb, lines), run_moves(oracle, lines), strict=True):
        assert ours == theirs


def test_doors(device, tmp_path):
    v, A = vector(0, 2, 3), matrix()
    assert v[2].new().value == (2.0, 20.0) and v.get(3) == (3.0, 30.0) and v.get(1) is None
    assert v.to_dict()[2] == (2.0, 20.0) and v.to_dense(0).tolist()[1:3] == [(0.0, 0.0), (2.0, 20.0)]
    assert v.to_coo()[1].dtype == POINT and "(2.0, 20.0)" in repr(v)
    for x in (v, A):
        assert x.isequal(pickle.loads(pickle.dumps(x)), check_dtype=True)
        assert x.isequal(type(x).ss.deserialize(x.ss.serialize()), check_dtype=True) and x.isclose(x.dup())
    A.save(tmp_path / "A.bitblas")
    assert gb.load(tmp_path / "A.bitblas").isequal(A, check_dtype=True)
    v[2] = {"y": 8, "x": 9}
    assert v.get(2) == (9.0, 8.0)
    for wrong in ({"x": 1}, {"x": 1, "z": 2}):
        with pytest.raises(DomainMismatch, match="value: expected one of"):
            v[2] = wrong
    i = gb.Matrix.from_scalar((1, 2), 3, 3, dtype=P)
    i.save(tmp_path / "i.bitblas")
    assert gb.load(tmp_path / "i.bitblas").isequal(i) and i.apply(gb.unary.one).new().dtype == "INT64"
    assert A.reduce_scalar(gb.monoid.any).new().dtype is P and A.reduce_scalar(gb.agg.count).new() == 4
    assert v.select("==", (3, 30)).new().to_dict() == {3: (3.0, 30.0)} and A.select("!=", (1, 10)).new().nvals == 3
    t = gb.Vector.from_coo([0, 2], [[1, 2, 3], [4, 5, 6]], dtype=TRIPLE, size=3)
    t[1] = [7, 8, 9]
    assert listed(t)[1] == [[1, 2, 3], [7, 8, 9], [4, 5, 6]] and t[1].new().value.tolist() == [7, 8, 9]
    t[:] = [0, 0, 1]
    t[[0, 1]] = [[1, 1, 1], [2, 2, 2]]
    assert listed(t)[1] == [[1, 1, 1], [2, 2, 2], [0, 0, 1]]


@pytest.mark.slow
def test_another_process_reads_what_was_written(tmp_path):
    A, t = matrix(), gb.Vector.from_coo([0, 2], [[1, 2, 3], [4, 5, 6]], dtype=TRIPLE, size=3)
    A.save(tmp_path / "A.bitblas")
    (tmp_path / "t.pickle").write_bytes(pickle.dumps((t, A)))
    text = (
        "import pickle, sys, bitblas as gb\n"
        "gb.Vector.from_coo([0], [(9, 9)], dtype=gb.dtypes.register_anonymous([('x', 'f4'), ('y', 'f4')]))\n"
        "A, (t, B) = gb.load(sys.argv[1]), pickle.load(open(sys.argv[2], 'rb'))\n"
        "print(A.to_coo()[2].tolist() == B.to_coo()[2].tolist() == [(1, 10), (2, 20), (3, 30), (4, 40)])\n"
        "print(t.to_coo()[1].tolist() == [[1, 2, 3], [4, 5, 6]], A.dtype.record.names)"
    )
    paths = [str(tmp_path / name) for name in ("A.bitblas", "t.pickle")]
    done = subprocess.run([sys.executable, "-c", text, *paths], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True", "True ('x', 'y')"]


def test_what_is_refused(device):
    v, A = vector(0, 2, 3), matrix()
    plain, before = gb.Vector(float, 5), (listed(v), listed(A))
    for bad, error, text in (
        (lambda: v.apply(gb.unary.sqrt), KeyError, "sqrt does not work with TestPoint"),
        (lambda: v.ewise_mult(v, gb.binary.numpy.gcd), KeyError, "numpy.gcd does not work with TestPoint"),
        (lambda: v.ewise_add(v), KeyError, "plus does not work with TestPoint"),
        (lambda: A.mxv(vector(1, size=4)), KeyError, "plus_times"),
        (lambda: v.ewise_add(v, "=="), DomainMismatch, "user-defined types cannot be cast"),
        (lambda: v.ewise_mult(plain, "first"), DomainMismatch, "user-defined types cannot be cast"),
        (lambda: plain << v, DomainMismatch, "expected FP64, got TestPoint"),
        (lambda: v << plain, DomainMismatch, "expected TestPoint, got FP64"),
        (lambda: A[0, :] << plain[:4], DomainMismatch, "user-defined types cannot be cast"),
        (lambda: v.dup(int), DomainMismatch, "user-defined types cannot be cast"),
        (lambda: A.to_coo("FP32"), DomainMismatch, "user-defined types cannot be cast"),
        (lambda: v.__setitem__(0, (1, 2, 3)), DomainMismatch, "expected one of TestPoint"),
        (lambda: A.__setitem__((0, 0), "text"), DomainMismatch, "expected one of TestPoint"),
        (lambda: plain.__setitem__(0, v[2].new()), DomainMismatch, "user-defined"),
        (lambda: gb.Vector.from_coo([0], ["x"], dtype=P), ValueError, "expected an array of TestPoint"),
        (lambda: v(gb.binary.plus) << v, KeyError, "plus does not work with TestPoint"),
        (lambda: v.ss.selectk("largest", 1), DomainMismatch, "order"),
        (lambda: v.select(lambda p, i, j, t: p.x), ValueError, "BOOL return type"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            bad()
    assert (listed(v), listed(A)) == before and plain.nvals == 0


def test_what_no_record_can_be_is_refused(device):
    """Accumulators, Scalars and tiles of another type; a Scalar that is a record is accepted."""
    v, A, number = vector(0, 2, 3), matrix(), gb.Scalar.from_value(3)
    for bad in (
        lambda: v(gb.binary.ne),
        lambda: v.__lshift__(number),
        lambda: gb.Vector(int, 5).reduce().new(P),
        lambda: v.reduce(gb.agg.count).new(P),
        lambda: gb.ss.concat([gb.Vector(bool, 1), v]),
    ):
        with pytest.raises(DomainMismatch, match="user-defined types cannot be cast"):
            bad()
    A.setdiag(gb.Scalar.from_value((5, 50), dtype=P), 1)
    A.setdiag((6, 60), -3)
    assert A[0, 1].new().value == A[2, 3].new().value == (5.0, 50.0) and A[3, 0].new().value == (6.0, 60.0)
    assert gb.Vector.from_coo([], [], dtype=TRIPLE, size=3).nvals == 0


def test_values_of_more_dimensions_are_sub_arrays():
    """As in python-graphblas, whose notebooks give them so."""
    for values, dtype, kind in (([[1, 2], [3, 4]], None, "INT64[2]"), (np.ones((2, 3), "f4"), "FP64", "FP64[3]")):
        A = gb.Matrix.from_coo([0, 1], [1, 0], values, dtype)
        v = gb.Vector.from_coo([0, 1], values, dtype)
        assert (A.dtype, v.dtype) == (kind, kind) and A.to_coo()[2].tolist() == np.asarray(values).tolist()
        assert v.get(1).tolist() == list(values[1])


def test_operators_of_a_user_defined_type_refuse_other_operands(device):
    """Not even where they do not read the values: FC32 has the bytes of such a record."""
    dtype = gb.dtypes.register_anonymous({"a": "INT32", "b": "INT32"})
    A = gb.Matrix.from_coo([0], [0], [1j], "FC32", nrows=2, ncols=2)
    v = gb.Vector.from_coo([0], [True], size=2)
    for make in (
        lambda: gb.binary.eq[dtype](A & A),
        lambda: gb.unary.one[dtype](v),
        lambda: gb.semiring.any_pair[dtype](A @ v),
        lambda: A.reduce_rowwise(gb.monoid.any[dtype]),
    ):
        with pytest.raises(gb.exceptions.DomainMismatch, match="user-defined types cannot be cast"):
            make().new()
