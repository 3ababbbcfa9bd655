"""Operators from Python functions: types as python-graphblas finds them, the same values on the host, in Numba and in
CUDA C++, through every verb; and what is refused."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import bitblas as gb
from bitblas.device import jit
from bitblas.exceptions import UdfParseError
from bitblas.kernels.prologue import Function
from semirings import dtypes, laws
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT64
from semirings.registration import build

# ---- functions that both devices have -------------------------------------------------------------------------------

K = 3


def doubled(x):
    return x * 2 + K


def branches(x, y):
    if x > y:
        return x - y
    elif x == y:
        z = 1
    else:
        z = y
    return z + 1


def loop(x, y):
    total = 0
    for i in range(6):
        if i == 3:
            continue
        if total > 50:
            break
        total += doubled(x) * i
    return total + y


def rounds(x, y):
    n = 0
    a, b = x, y
    while n < 10 and a > b:
        a, b = b, a - 1
        n += 1
    return a + b


def backwards(x, y):
    z = 1
    for i in range(10, 0, -3):
        z = z * i % 17
    for j in range(2, 6):
        z ^= j
    return (z << 2 >> 1) + x


def closure(scale, offset=0.5):
    def inner(x, y):
        return x * scale + offset

    return inner


FUNCTIONS = {
    "plus": lambda x, y: x + 2 * y,
    "minus": lambda x, y: y - x,
    "divide": lambda x, y: x / (y * y + 1),
    "floor": lambda x, y: x // 3 - y // -4,
    "modulo": lambda x, y: x % 3 + y % -4,
    "square": lambda x, y: x**2 + y**3,
    "root": lambda x, y: math.sqrt(abs(x)) + abs(y) ** 1.5,
    "extremes": lambda x, y: max(x, y, 1) - min(x, y),
    "compare": lambda x, y: (x < y) + (x == y) * 2,
    "chain": lambda x, y: 1 < x < 5 or y,
    "conditional": lambda x, y: -x if not x > y else +y,
    "bits": lambda x, y: (int(x != 0) & 7) | (8 ^ int(y > 1)),
    "shift": lambda x, y: (int(x != 0) + 5) << 3 >> 1,
    "casts": lambda x, y: float(x) + np.float32(y) + bool(x),
    "numpy": lambda x, y: np.maximum(x, y) - np.minimum(x, 2),
    "floors": lambda x, y: np.floor(x / 3) + np.rint(y / 2),
    "transcendental": lambda x, y: math.exp(-abs(x)) + np.arctan2(x, y) + math.pi,
    "constant": lambda x, y: math.inf if x == 2 else 1,
    "fmod": lambda x, y: np.fmod(float(x), 3.0) + math.copysign(1, y),
    "branches": branches,
    "loop": loop,
    "rounds": rounds,
    "backwards": backwards,
    "closure": closure(2),
    "closure of float32": closure(np.float32(1.5), 2),
}
OPERATORS = {name: build("binary", f, name) for name, f in FUNCTIONS.items()}
TRIED = (BOOL, INT8, UINT64, FP32, FP64)


def functions(t):
    return {name: op for name, op in OPERATORS.items() if t in op}


def text_for(t):
    """One kernel with every function at every pair of operands."""
    named, args = functions(t), (("a", t), ("b", t))
    made = [
        Function(f"f{k}", op.result_type(t), args, (("x", t, "a"), ("y", t, "b")), op.expr)
        for k, op in enumerate(named.values())
    ]
    outputs = ", ".join(f"{f.result.c_type}* o{k}" for k, f in enumerate(made))
    lines = "\n".join(f"  o{k}[p] = f{k}(a[p], b[p]);" for k in range(len(made)))
    text = (jit.PACKAGE / "kernels" / "base.cuh").read_text() + (jit.ALGEBRA / "functions.cuh").read_text()
    text += "\n".join(f.cpp() for f in made)
    text += (
        f'\nextern "C" __global__ void __launch_bounds__(BLOCK) evaluate(i64 n, const {t.c_type}* a, '
        f"const {t.c_type}* b, {outputs}) {{\n  const i64 p = thread_number();\n  if (p >= n) return;\n{lines}\n}}\n"
    )
    return text, named


def close(want, got):
    if want.dtype.kind != "f":
        return want == got
    scale = np.maximum(np.abs(want), np.finfo(want.dtype).tiny)
    with np.errstate(all="ignore"):
        near = np.abs(want - got) <= 8 * np.finfo(want.dtype).eps * scale
    return (want == got) | ((want != want) & (got != got)) | near


def operands(t):
    if t.kind == "f":
        return st.one_of(st.floats(-1e6, 1e6, width=32), st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]))
    low, high = (0, 1) if t is BOOL else (max(-100, int(t.lowest)), 100)
    return st.integers(low, high)


@pytest.mark.parametrize("t", TRIED, ids=str)
def test_cuda_agrees_with_the_host(t, emulator):
    from emulator import emu

    text, named = text_for(t)
    kernel = emu.RawModule(code=text).get_function("evaluate")
    assert len(named) >= 22

    @settings(max_examples=15)
    @given(st.lists(st.tuples(operands(t), operands(t)), min_size=1, max_size=40))
    def agree(pairs):
        x, y = (np.array(c).astype(t.np_type) for c in zip(*pairs))
        results = [np.zeros(x.size, op.result_type(t).np_type) for op in named.values()]
        kernel((1,), (jit.BLOCK,), (np.int64(x.size), x, y, *results))
        for (name, op), got in zip(named.items(), results):
            want = np.array([op.evaluate(t, x=a, y=b) for a, b in zip(x, y)])
            assert want.dtype == got.dtype
            assert close(want, got).all(), (name, x, y, want, got)

    agree()


@pytest.mark.parametrize("t", (INT8, FP32), ids=str)
def test_functions_compile_for_gpus(t):
    core = pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")
    for arch in ("sm_80", "sm_90"):
        assert core.Program(text_for(t)[0], "c++", core.ProgramOptions(arch=arch, std="c++17")).compile("cubin").code


# ---- python-graphblas -----------------------------------------------------------------------------------------------

UNARY = {
    "plus one": lambda x: x + 1, "half": lambda x: x / 2, "is positive": lambda x: x > 0,
    "root": lambda x: math.sqrt(x),
    "is odd": lambda x: x % 2 == 1, "float": lambda x: float(x), "same": lambda x: x, "bits": lambda x: x & 3,
}  # fmt: skip
INDEX = {
    "row mod": lambda x, i, j, thunk: i % 3 + j, "sum": lambda x, i, j, thunk: x + i,
    "corner": lambda x, i, j, thunk: i + j <= thunk, "larger": lambda x, i, j, thunk: x > thunk,
}  # fmt: skip


def types_of(op):
    return {str(t): str(z) for t, z in op.types.items() if str(t) in dtypes._BY_NAME and str(z) in dtypes._BY_NAME}


@pytest.mark.parametrize(("family", "name"), [
    *(("unary", n) for n in UNARY), *(("indexunary", n) for n in INDEX),
    *(("binary", n) for n in ("plus", "divide", "floor", "square", "compare", "chain", "casts", "branches")),
])  # fmt: skip
def test_types_equal_python_graphblas(family, name):
    oracle = pytest.importorskip("graphblas")
    function = {"unary": UNARY, "indexunary": INDEX, "binary": FUNCTIONS}[family][name]
    ours, theirs = (getattr(lib, family).register_anonymous(function) for lib in (gb, oracle))
    assert types_of(ours) == types_of(theirs)


# ---- through the verbs ----------------------------------------------------------------------------------------------


def matrix(dtype="INT64"):
    return gb.Matrix.from_coo([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], [4, -1, 3, 2, 5], dtype=dtype, nrows=3, ncols=3)


def vector(dtype="INT64"):
    return gb.Vector.from_coo([0, 1, 2], [1, -2, 3], dtype=dtype, size=3)


def entries(x):
    return dict(zip(zip(*(i.tolist() for i in x.to_coo()[:-1])), x.to_coo()[-1].tolist()))


def test_functions_given_to_the_verbs(device):
    A, v = matrix(), vector()
    assert entries(v.apply(lambda x: x * x + 1).new()) == {(0,): 2, (1,): 5, (2,): 10}
    assert entries(A.apply(lambda x, y: x - y, right=2).new())[(0, 2)] == -3
    assert entries(v.ewise_mult(v, lambda x, y: x * y - 1).new()) == {(0,): 0, (1,): 3, (2,): 8}
    assert v.ewise_add(v, lambda x, y: x / y).new().dtype == FP64
    assert entries(A.select(lambda x, i, j, t: i + j >= t, 3).new()) == {
        (1, 2): 3,
        (2, 1): 5,
    }
    assert entries(A.apply(gb.indexunary.register_anonymous(lambda x, i, j, t: x * t), 3).new())[(0, 1)] == 12


def test_a_semiring_of_functions(device):
    gap = gb.binary.register_anonymous(lambda x, y: abs(x - y), "gap")
    larger = gb.monoid.register_anonymous(
        gb.binary.register_anonymous(lambda x, y: x if x > y else y), int(INT64.lowest), is_idempotent=True
    )
    ring = gb.semiring.register_anonymous(larger, gap)
    A, v = matrix(), vector()
    mask = gb.Vector.from_coo([0, 2], True, size=3)
    assert laws.check_semiring(ring, INT64) == []
    assert entries(A.mxv(v, ring).new()) == {(0,): 6, (1,): 0, (2,): 7}
    assert entries(v.vxm(A, ring).new(mask=mask.S)) == {(0,): 1, (2,): 5}
    dense = A.mxm(A, ring).new()
    assert entries(dense)[(0, 1)] == 6
    pattern = gb.Matrix.from_coo([0, 2], [1, 2], True, nrows=3, ncols=3)
    assert entries(A.mxm(A, ring).new(mask=pattern.S)) == {
        k: x for k, x in entries(dense).items() if k in ((0, 1), (2, 2))
    }
    assert entries(v.apply(gap, right=10).new()) == {(0,): 9, (1,): 12, (2,): 7}


def test_equal_values_are_added_by_doubling(device):
    twisted = gb.monoid.register_anonymous(gb.binary.register_anonymous(lambda x, y: x + y + x * y), 0)
    ones = gb.Matrix.from_coo([0, 0, 0, 1], [0, 1, 2, 2], 2, nrows=2, ncols=3)  # 1 + z = (1 + x)(1 + y)
    ring = gb.semiring.get_semiring(twisted, gb.binary.first)
    assert laws.check_monoid(twisted, INT64) == []
    assert entries(ones.mxv(gb.Vector.from_scalar(1, 3), ring).new()) == {(0,): 26, (1,): 2}
    assert ones.reduce_scalar(twisted).new().value == 80


def test_what_a_function_captures_is_part_of_the_kernel():
    one, two = (build("binary", closure(k)) for k in (2, 3))
    assert one.expr != two.expr
    assert build("binary", closure(2)).expr == one.expr
    assert [op.evaluate(INT64, x=1, y=0) for op in (one, two)] == [2.5, 3.5]


# ---- registering ----------------------------------------------------------------------------------------------------


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


def text(x, y):
    return len("abc") + x


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gb.unary.register_anonymous(abs), TypeError, "must be a function"),
        (lambda: gb.unary.register_anonymous(lambda x, y: x), TypeError, "expected 1 arguments"),
        (lambda: gb.binary.register_anonymous(lambda x, y: x, is_udt=True), NotImplementedError, "user-defined types"),
        (lambda: gb.binary.register_anonymous(lambda x, y: [x, y]), UdfParseError, "Unable to parse function"),
        (lambda: gb.binary.register_anonymous(captures(object())), UdfParseError, "captures value, a object"),
        (lambda: gb.binary.register_anonymous(endless), UdfParseError, "calls itself"),
        (lambda: gb.monoid.register_anonymous(abs, 0), TypeError, "expected a BinaryOp"),
        (lambda: gb.monoid.register_anonymous(gb.binary.eq, {"INT8": 0}), TypeError, "eq takes INT8, but gives BOOL"),
        (lambda: gb.semiring.register_anonymous(gb.binary.plus, gb.binary.plus), TypeError, "expected a Monoid"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("function", "construct"), [(raises, "ValueError"), (text, "builtins.len"), (indexed, "an index")]
)
def test_what_only_the_cpu_can(function, construct):
    op = build("binary", function)
    v = gb.Vector.from_coo([0], [2], size=1, device="cpu")
    assert entries(v.ewise_mult(v, op).new()) == {(0,): {"ValueError": 2, "builtins.len": 5, "an index": 4}[construct]}
    line = function.__code__.co_firstlineno
    with pytest.raises(UdfParseError, match=rf"{function.__name__}, line ({line + 1}|{line + 2}): .*{construct}"):
        op.expr.definition_cpp({"x": INT64, "y": INT64})
