"""Functions of values of user-defined types, on the CPU: operators, monoids and semirings of records and sub-arrays.
On a GPU they raise an error.
"""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from points import TRIPLE, P, listed, matrix, points, vector

import bitblas as gb
from bitblas.exceptions import UdfParseError


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


def loops(a, b):
    total, best = 0, a.v[0]
    for i in range(3):
        if b.v[i] == 0:
            continue
        total += a.v[i] * b.v[2 - i]
        if a.v[i] > best:
            best = a.v[i]
    while total > 10:
        total -= 7
    return total + best


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
@pytest.mark.parametrize("function", [chosen, branches, loops, multiplied, added, trace], ids=lambda f: f.__name__)
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
