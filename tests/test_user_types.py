"""User-defined types, records and sub-arrays: stored, moved and compared on every device; operators, monoids and
semirings from functions of them."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from points import FLAGGED, POINT, TRIPLE, P, listed, matrix, points, vector

import bitblas as gb
from bitblas.exceptions import DomainMismatch, UdfParseError
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
        lambda: v(gb.binary.ne), lambda: v.__lshift__(number), lambda: gb.Vector(int, 5).reduce().new(P),
        lambda: v.reduce(gb.agg.count).new(P), lambda: gb.ss.concat([gb.Vector(bool, 1), v]),
    ):  # fmt: skip
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
        lambda: gb.binary.eq[dtype](A & A), lambda: gb.unary.one[dtype](v),
        lambda: gb.semiring.any_pair[dtype](A @ v), lambda: A.reduce_rowwise(gb.monoid.any[dtype]),
    ):  # fmt: skip
        with pytest.raises(gb.exceptions.DomainMismatch, match="user-defined types cannot be cast"):
            make().new()


# ---- functions of values of user-defined types, on the CPU; on a GPU they raise an error -----------------------------


def add_points(a, b):
    return a.x + b.x, a["y"] + b["y"]


ADD = gb.binary.register_new("tests.add_points", add_points, is_udt=True)
TURN = gb.binary.register_anonymous(lambda a, b: (a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x), is_udt=True)
DOT = gb.binary.register_anonymous(lambda a, b: a.x * b.x + a.y * b.y, is_udt=True)
SUM = gb.monoid.register_anonymous(ADD, (0, 0))
ROTATE = gb.semiring.register_anonymous(SUM, TURN)


def into(w, expr, *how):
    w(*how) << expr
    return w


# The operators of points, and those of complex numbers that equal them.
POINTS = SimpleNamespace(add=ADD, turn=TURN, sum=SUM, ring=ROTATE, pair=(1, 2), values=points)
COMPLEX = SimpleNamespace(
    add=gb.binary.plus, turn=gb.binary.times, sum=gb.monoid.plus, ring=gb.semiring.plus_times, pair=1 + 2j,
    values=lambda *numbers: np.array([k + 10j * k for k in numbers]),
)  # fmt: skip
CALLS = {
    "apply, right": lambda u, v, A, f: A.apply(f.add, right=f.pair),
    "apply, left": lambda u, v, A, f: u.apply(f.add, left=f.pair),
    "reduce": lambda u, v, A, f: u.reduce(f.sum),
    "reduce_rowwise": lambda u, v, A, f: A.reduce_rowwise(f.sum),
    "reduce_columnwise": lambda u, v, A, f: A.reduce_columnwise(f.sum),
    "reduce_columnwise of the transpose": lambda u, v, A, f: A.T.reduce_columnwise(f.sum),
    "reduce_scalar": lambda u, v, A, f: A.reduce_scalar(f.sum),
    "ewise_mult": lambda u, v, A, f: u.ewise_mult(v, f.turn),
    "ewise_add": lambda u, v, A, f: u.ewise_add(v, f.add),
    "ewise_add of matrices": lambda u, v, A, f: f.add(A | A.T),
    "ewise_union": lambda u, v, A, f: u.ewise_union(v, f.add, f.pair, 0),
    "broadcast": lambda u, v, A, f: A.ewise_mult(u, f.turn),
    "mxv": lambda u, v, A, f: A.mxv(u, f.ring),
    "vxm": lambda u, v, A, f: f.ring(u @ A.T),
    "vxm at a mask": lambda u, v, A, f: u.vxm(A, f.ring).new(mask=v.S),
    "mxm": lambda u, v, A, f: A.mxm(A.T, f.ring),
    "mxm outside of a mask": lambda u, v, A, f: A.T.mxm(A, f.ring).new(mask=~A.S),
    "kronecker": lambda u, v, A, f: A.kronecker(A, f.turn),
    "power": lambda u, v, A, f: A.power(2, f.ring),
    "accumulator": lambda u, v, A, f: into(u, v, v.S, f.add),
    "monoid as accumulator": lambda u, v, A, f: into(u, A.mxv(u, f.ring), f.sum),
    "accumulator of a part": lambda u, v, A, f: (u[[0, 1]](f.add) << v[[2, 3]], u)[1],
    "accumulator of an element": lambda u, v, A, f: (A[0, 0](f.add) << f.pair, A)[1],
    "mask and accumulator": lambda u, v, A, f: into(A, A.mxm(A, f.ring), A.T.new().S, f.add, gb.replace),
    "duplicates of a Vector": lambda u, v, A, f: gb.Vector.from_coo([0, 0, 1], f.values(1, 2, 3), dup_op=f.add),
    "duplicates of a Matrix": lambda u, v, A, f: gb.Matrix.from_coo([0, 0], [1, 1], f.values(1, 2), dup_op=f.add),
}


def operands():
    return vector(0, 2, 3, size=4), vector(1, 2, 3, size=4), matrix()


def numbers(x):
    """A scalar, or entries as complex numbers, on which ADD is + and TURN is *."""
    if isinstance(x, gb.Scalar):
        return complex(*x.value)
    *at, values = x.to_coo()
    make = gb.Vector.from_coo if len(at) == 1 else gb.Matrix.from_coo
    shape = {"size": x.size} if len(at) == 1 else {"nrows": x.nrows, "ncols": x.ncols}
    return make(*at, values["x"] + 1j * values["y"], "FC64", **shape)


@pytest.mark.parametrize("call", [x if x == "mxv" else pytest.param(x, marks=pytest.mark.slow) for x in CALLS], ids=str)
def test_functions_equal_complex_numbers(call):
    """Points as complex numbers: what records give through functions, complex numbers give through the library."""
    given = operands()
    found, expected = CALLS[call](*given, POINTS), CALLS[call](*map(numbers, operands()), COMPLEX)
    found, expected = (x if hasattr(x, "to_coo") else x.new() for x in (found, expected))
    assert found.dtype is P
    assert numbers(found).isequal(expected) if hasattr(found, "to_coo") else numbers(found) == expected.value


def test_sums_of_no_points():
    assert gb.Vector(P, 3).reduce(SUM, allow_empty=False).new().value == (0.0, 0.0)


def test_explain_describes_products_of_functions():
    u, A = vector(0, 2, 3, size=4), matrix()
    for expr in (A.mxv(u, ROTATE), u.vxm(A, ROTATE), A.mxm(A.T, ROTATE)):
        plan = gb.explain(expr, source=True)
        assert (plan.verb, plan.direction, plan.source) == (expr.method, "sorted", "")
        assert "sorted by position" in str(plan)


@pytest.mark.slow
def test_functions_that_give_numbers():
    u, A = vector(0, 2, 3, size=4), matrix()
    ring = gb.semiring.register_anonymous(gb.monoid.plus, DOT)
    assert listed(u.apply(lambda p: p.x + p["y"]).new()) == [[0, 2, 3], [0, 22, 33]]
    assert u.ewise_mult(u, DOT).new().dtype == "FP32" and u.inner(u, ring).new() == 101 * 13
    assert listed(A.mxv(u, ring).new()) == [[0, 3], [101 * 4, 101 * 12]]
    assert listed(A.select(lambda p, i, j, t: p.x > t.x, 2).new())[2] == [(3, 30), (4, 40)]
    assert listed(u.select(lambda p, i, j, t: i >= 2, 0).new())[0] == [2, 3]
    place = gb.indexunary.register_anonymous(lambda p, i, j, t: p.x + i * 10 + t.y, is_udt=True)
    assert listed(u.apply(place, 100).new())[1] == [100, 122, 133]
    far = lambda a, ia, ja, b, ib, jb, theta: a.x * b.y + ia + theta * jb
    step = gb.indexbinary.register_anonymous(far, is_udt=True)
    assert listed(u.outer(u, step(100)).new())[2][:4] == [0, 200, 300, 2]
    assert pickle.loads(pickle.dumps(ADD)) is ADD and pickle.loads(pickle.dumps(SUM))[P].identity == 0
    iso = gb.Vector.from_scalar((1, 2), 3, dtype=P)
    assert iso.apply(lambda p: p.x + p.y).new().reduce().new() == 9 and iso.reduce(SUM).new().value == (3.0, 6.0)


@pytest.mark.slow
def test_functions_of_sub_arrays_and_hypersparse_objects():
    t = gb.Vector.from_coo([0, 2], [[1, 2, 3], [4, 5, 6]], dtype=TRIPLE, size=3)
    assert listed(t.apply(lambda a: a * 2).new())[1] == [[2, 4, 6], [8, 10, 12]]
    assert listed(t.apply(lambda a: (a[2], a[1], 0)).new())[1] == [[3, 2, 0], [6, 5, 0]]
    assert listed(t.apply(lambda a: a[0] + a[2]).new())[1] == [4, 10]
    add = gb.binary.register_anonymous(lambda a, b: a + b, is_udt=True)
    assert t.reduce(gb.monoid.register_anonymous(add, 0)).new().value.tolist() == [5, 7, 9]
    far, A, u = 1 << 40, matrix(), vector(0, 2, 3, size=4)
    H, w = gb.Matrix.from_coo(*A.to_coo(), nrows=far, ncols=far), gb.Vector.from_coo(*u.to_coo(), size=far)
    assert listed(H.mxv(w, ROTATE).new()) == listed(A.mxv(u, ROTATE).new())
    assert listed(H.mxm(H, ROTATE).new()) == listed(A.mxm(A, ROTATE).new())
    assert listed(H.ewise_add(H.T, ADD).new()) == listed(A.ewise_add(A.T, ADD).new())
    assert listed(w.ewise_add(w, ADD).new()) == listed(u.ewise_add(u, ADD).new())
    assert listed(A.reorder([2, 0, 3, 1]).mxv(u, ROTATE).new()) == listed(A.mxv(u, ROTATE).new())


# ---- each construct, against Python ---------------------------------------------------------------------------------

NESTED = gb.dtypes.register_anonymous([("flag", "?"), ("at", [("x", "<f8"), ("n", "<i2")]), ("v", "<i4", (3,))])
TABLE = gb.dtypes.register_anonymous("FP64[2, 2]")


def twice(a):
    return a.at.x * 2, a["v"]


def chosen(a, b):
    return a if a.at.x < b.at.x else b


def branches(a, b):
    x, v = twice(a)
    if a.flag and not b.flag:
        return x + b.at.n
    elif v[0] > b.v[-1]:
        return float(v[1])
    return a["at"]["x"] - len(b.v)


def multiplied(a, b):
    r = np.zeros_like(a)
    for i in range(2):
        for j in range(len(b)):
            for k in range(2):
                r[i, j] += a[i, k] * b[k][j]
    return r


def added(a, b):
    s = a
    for _ in range(2):
        s = s * 0.5 + b
    return np.maximum(s, -a) - (b > 1)


def trace(a, b):
    return a[0, 0] * b[1, 1] + a[-1][-1] + (a + b).sum()


def values(t, n=12):
    rng = np.random.default_rng(7)
    base, shape = t.record.subdtype or (t.record, ())
    some = np.zeros((n, *shape), base)
    if t is TABLE:
        return rng.integers(-3, 4, some.shape).astype(float)
    some["flag"], some["v"] = rng.integers(0, 2, n), rng.integers(-2, 5, (n, 3))
    some["at"]["x"], some["at"]["n"] = rng.integers(-4, 5, n) / 2, rng.integers(-3, 4, n)
    return some


@pytest.mark.slow
@pytest.mark.parametrize("function", [chosen, branches, multiplied, added, trace], ids=lambda f: f.__name__)
def test_constructs_equal_python(function):
    t = TABLE if function in (multiplied, added, trace) else NESTED
    some = values(t).view(np.recarray) if t is NESTED else values(t)
    u = gb.Vector.from_coo(range(12), some, dtype=t)
    v = u[::-1].new()
    op = gb.binary.register_anonymous(function, is_udt=True)
    found = u.ewise_mult(v, op).new()
    want = [function(x, y) for x, y in zip(some, some[::-1])]
    if found.dtype is t:
        assert np.array_equal(found.to_coo()[1], np.array(want, t.record.base))  # isequal distinguishes -0.0 from 0.0
    else:
        assert found.to_dict() == dict(enumerate(want))
    w = v.dup(found.dtype) if found.dtype is t else gb.Vector(found.dtype, 12)
    mask = gb.Vector.from_coo(range(5), True, size=12)
    w(mask.S, gb.replace) << u.ewise_mult(v, op)
    assert w.isequal(found.select("index<=", 4).new())


def a_list(a, b):
    return [a.at.x, b.at.x][int(a.v[0] > 0)]


def a_slice(a, b):
    return a[0, :].sum() + b[1, 0]


@pytest.mark.parametrize("function, t", [(a_list, NESTED), (a_slice, TABLE)], ids=["list", "slice"])
def test_everything_that_numba_compiles_runs(function, t):
    some = values(t, 3).view(np.recarray) if t is NESTED else values(t, 3)
    u = gb.Vector.from_coo(range(3), some, dtype=t)
    found = u.ewise_mult(u, gb.binary.register_anonymous(function, is_udt=True)).new()
    assert found.to_dict() == {k: function(x, x) for k, x in enumerate(some)}


def test_a_record_of_complex_numbers():
    c = gb.dtypes.register_anonymous([("z", "<c8"), ("x", "<i4")])
    assert gb.Vector.from_coo([0], [(1j, 2)], dtype=c, size=2).apply(lambda a: a.x).new()[0] == 2


# ---- on a GPU -------------------------------------------------------------------------------------------------------

PLUS_DOT = gb.semiring.register_anonymous(gb.monoid.plus, DOT)
PLACE = gb.indexunary.register_anonymous(lambda p, i, j, t: p.x + i, is_udt=True)
STEP = gb.indexbinary.register_anonymous(lambda a, ia, ja, b, ib, jb, theta: a.x * b.y + theta, is_udt=True)
LESS = gb.binary.register_anonymous(lambda a, b: a.x < b.x, is_udt=True)
REFUSED = {name: lambda u, A, call=call: call(u, u, A, POINTS) for name, call in CALLS.items()} | {
    "apply": lambda u, A: u.apply(lambda p: p.x),
    "apply with positions": lambda u, A: A.apply(PLACE, 0),
    "select": lambda u, A: u.select(lambda p, i, j, t: p.x > t.x, 2),
    "select by position": lambda u, A: A.select(lambda p, i, j, t: i >= 2, 0),
    "a product that gives numbers": lambda u, A: A.mxv(u, PLUS_DOT),
    "inner": lambda u, A: u.inner(u, PLUS_DOT),
    "outer": lambda u, A: u.outer(u, STEP(100)),
    "equal values": lambda u, A: gb.Vector.from_scalar((1, 2), 4, dtype=P).reduce(SUM),
    "no entries": lambda u, A: gb.Matrix(P, 4, 4).mxv(u, ROTATE),
    "sub-arrays": lambda u, A: gb.Vector.from_coo([0], [[1, 2, 3]], dtype=TRIPLE).apply(lambda a: a * 2),
    "no duplicates": lambda u, A: gb.Vector.from_coo([0, 1], points(1, 2), dup_op=ADD),
    "sort": lambda u, A: u.ss.sort(LESS),
    "scan": lambda u, A: A.ss.scan(SUM),
}


@pytest.mark.off_cpu
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_gpu_refuses_functions_of_records(call, device):
    """Before anything changes; on the CPU the same operands work."""
    u, A = vector(0, 2, 3, size=4), matrix()
    before = listed(u), listed(A)
    with pytest.raises(UdfParseError, match=r"op: expected an operator of numbers on .*, got .*Hint: .*to\("):
        call(u, A)
    assert (listed(u), listed(A)) == before


@pytest.mark.off_cpu
def test_a_loop_on_a_gpu_refuses_functions_of_records(device):
    u, x, rounds = vector(0, 2, 3, size=4), gb.Vector.from_scalar(1, 4), gb.Scalar.from_value(3)
    before = listed(u), listed(x)

    def body(k):
        x << x.apply(gb.binary.plus, right=1)
        u << u.apply(ADD, right=(1, 2))
        rounds << rounds.apply(gb.binary.minus, right=1)

    with pytest.raises(UdfParseError, match="expected an operator of numbers on"):
        gb.loop.repeat(body, while_=rounds)
    assert (listed(u), listed(x)) == before and rounds == 3


@pytest.mark.uses_cpu
def test_the_hint_works(device):
    u, A = vector(0, 2, 3, size=4), matrix()
    found = A.to("cpu").mxv(u.to("cpu"), ROTATE).new().to(device)
    assert found.device == gb.device.get(device) and listed(found) == [[0, 3], [(-396.0, 80.0), (-1188.0, 240.0)]]


def test_functions_of_scalars_run_on_the_host(device):
    s = gb.Scalar.from_value((1, 2), dtype=P)
    assert s.apply(lambda p: p.x + p.y).new() == 3
