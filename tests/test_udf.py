"""Operators from Python functions: types as in python-graphblas, the same values on the host, in Numba and in CUDA C++,
in every operation."""

import json
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from udf_functions import FUNCTIONS, closure, entries, operands, text_for, vector
from udf_texts import SAVED, generate, heads, made_by, unpacked

import bitblas as gb
from bitblas import device as devices
from bitblas.device import cubins, jit
from bitblas.kernels.variant import Variant
from semirings import dtypes, laws
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT64
from semirings.registration import build


def close(want, got, step=None, least=0.0):
    """Equal, or within 8 units in the last place of values of at least this size, computed in the type `step`."""
    if want.dtype.kind != "f":
        return want == got
    scale = np.maximum(np.abs(want), max(least, np.finfo(want.dtype).tiny))
    with np.errstate(all="ignore"):
        near = np.abs(want - got) <= 8 * np.finfo(step or want.dtype).eps * scale
    return (want == got) | ((want != want) & (got != got)) | near


@pytest.mark.parametrize(
    "t", [INT8, FP64, *(pytest.param(t, marks=pytest.mark.slow) for t in (BOOL, UINT64, FP32))], ids=str
)
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


@pytest.mark.slow  # python-graphblas compiles each for all types
@pytest.mark.parametrize(("family", "name"), [
    *(("unary", n) for n in UNARY), *(("indexunary", n) for n in INDEX),
    *(("binary", n) for n in ("plus", "divide", "floor", "square", "compare", "chain", "casts", "branches")),
])  # fmt: skip
def test_types_equal_python_graphblas(family, name):
    oracle = pytest.importorskip("graphblas")
    function = {"unary": UNARY, "indexunary": INDEX, "binary": FUNCTIONS}[family][name]
    ours, theirs = (getattr(lib, family).register_anonymous(function) for lib in (gb, oracle))
    assert types_of(ours) == types_of(theirs)


# ---- in operations --------------------------------------------------------------------------------------------------


def matrix(dtype="INT64"):
    return gb.Matrix.from_coo([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], [4, -1, 3, 2, 5], dtype=dtype, nrows=3, ncols=3)


def test_functions_given_to_the_verbs(device):
    A, v = matrix(), vector()
    assert entries(v.apply(lambda x: x * x + 1).new()) == {(0,): 2, (1,): 5, (2,): 10}
    assert entries(A.apply(lambda x, y: x - y, right=2).new())[(0, 2)] == -3
    assert entries(v.ewise_mult(v, lambda x, y: x * y - 1).new()) == {(0,): 0, (1,): 3, (2,): 8}
    assert v.ewise_add(v, lambda x, y: x / y).new().dtype == FP64
    assert entries(A.select(lambda x, i, j, t: i + j >= t, 3).new()) == {(1, 2): 3, (2, 1): 5}
    assert entries(A.apply(gb.indexunary.register_anonymous(lambda x, i, j, t: x * t), 3).new())[(0, 1)] == 12


def doubled_and_more(x):
    return x * 2, x + 1.5


def rotated(x, y):
    t = (1, 2.5)
    for i in range(3):
        if x > i:
            t = (t[1], x)
    return t[0] + t[-1]


def nested(x, y):
    t = (x, (y, 1), doubled_and_more(x))
    a, (b, c), d = t
    return a + b * c + d[1]


def ordered(x, y):
    low, high = (x, y) if x < y else (y, x)
    return high - 2 * low


@pytest.mark.parametrize("function", [rotated, nested, ordered], ids=lambda f: f.__name__)
def test_tuples(function, device):
    u, v = gb.Vector.from_coo([0, 1, 2], [3, -2.5, 1]), gb.Vector.from_coo([0, 1, 2], [-4.0, 7, 1])
    found = u.ewise_mult(v, gb.binary.register_anonymous(function)).new()
    assert found.to_dict() == {k: function(*pair) for k, pair in enumerate([(3, -4), (-2.5, 7), (1, 1)])}


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
    at = (0, 1), (2, 2)
    pattern = gb.Matrix.from_coo(*zip(*at), True, nrows=3, ncols=3)
    assert entries(A.mxm(A, ring).new(mask=pattern.S)) == {k: x for k, x in entries(dense).items() if k in at}
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


# ---- without Numba: saved CUDA C++ computes the same as Python ------------------------------------------------------

TEXTS = json.loads(SAVED.read_text())


def launcher(device, text, tmp_path):
    """The kernel `evaluate` of a text on a GPU or in the emulator."""
    d = devices.get(device)
    if device == "emulator":
        from emulator import emu

        return emu.RawModule(code=text).get_function("evaluate")
    path = tmp_path / "udf.cubin"
    path.write_bytes(cubins.compile_text(text, Variant("kernels/udf"), d.arch)[0])
    return d.xp.RawModule(path=str(path)).get_function("evaluate")


@pytest.mark.off_cpu  # which runs the Python function itself
@pytest.mark.parametrize("t", TEXTS["types"])
def test_saved_operators(t, device, tmp_path):
    saved, d = TEXTS["types"][t], devices.get(device)
    kernel = launcher(device, "".join(heads()) + "\n".join(saved["text"]) + "\n", tmp_path)
    x, y, want = unpacked(saved["x"]), unpacked(saved["y"]), {k: unpacked(v) for k, v in saved["want"].items()}
    assert len(want) >= 22
    got = [d.xp.zeros(len(x), w.dtype) for w in want.values()]
    kernel((-(-len(x) // jit.BLOCK),), (jit.BLOCK,), (np.int64(len(x)), d.asarray(x), d.asarray(y), *got))
    # Numba takes the arctan2 of small integers in FP32, whatever the result is stored as.
    steps = {name: np.float32 if (t, name) == ("INT8", "transcendental") else w.dtype for name, w in want.items()}
    # Terms of the size of 4 may cancel, and a GPU's differ by some units.
    wrong = {name for (name, w), g in zip(want.items(), got) if not close(w, d.to_host(g), steps[name], 4.0).all()}
    assert wrong == set()


def test_what_is_saved_is_what_is_made():
    numba = pytest.importorskip("numba")
    if TEXTS["made by"] != made_by():
        pytest.skip(f"saved with {TEXTS['made by']}, here is Numba {numba.__version__}")
    with np.errstate(all="ignore"):
        assert as_text(generate()) == as_text(TEXTS), "run python tests/udf_texts.py"


def as_text(texts):
    """With numbers as text, without the sign of a NaN, which the compiler chooses."""
    read = lambda want: {name: list(map(str, unpacked(x))) for name, x in want.items()}
    return {t: saved | {"want": read(saved["want"])} for t, saved in texts["types"].items()}
