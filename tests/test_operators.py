"""Operators by name, by text and by comparison, and the page that lists them."""

import importlib

import numpy as np
import pytest
from test_semirings import cuda_text

import bitblas
from bitblas import binary, indexunary, monoid, op, select, semiring, unary
from bitblas.device import cubins, jit
from bitblas.kernels.variant import sum_of
from semirings import __main__ as document
from semirings import catalog, dtypes, laws, numpy_operators
from semirings.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT8, UINT64

# ---- every operator compiles for GPUs -------------------------------------------------------------------------------


COMPILED = [(t, arch) for t in (BOOL, INT8, UINT64, FP32, FP64) for arch in ("sm_80", "sm_90")]
QUICK = {(INT8, "sm_80"), (FP64, "sm_80"), (BOOL, "sm_90"), (UINT64, "sm_90"), (FP32, "sm_90")}


@pytest.mark.parametrize(
    ("t", "arch"), [pytest.param(*x, marks=() if x in QUICK else pytest.mark.slow) for x in COMPILED], ids=str
)
def test_every_operator_compiles(t, arch):
    core = pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")
    options = core.ProgramOptions(arch=arch, **{k: v for k, v in cubins.OPTIONS.items() if k != "ptxas_options"})
    assert core.Program(cuda_text(laws.cases(t)), "c++", options).compile("cubin").code


@pytest.mark.parametrize("t", dtypes.ALL, ids=str)
def test_numpys_monoids_keep_the_laws(t):
    """Of numbers that are exact, and none below 0: of a negative one gcd and hypot give the magnitude."""
    exact = ["maximum", "minimum", *(["gcd"] if t.kind == "u" else [])]
    found = [numpy_operators.MONOIDS[name] for name in exact]
    assert [v for m in found for v in laws.check_monoid(m, t)] == []


def test_every_semiring_keeps_the_laws():
    """One type of each kind; checks of a monoid are not repeated."""
    tried = 0
    for m in catalog.MONOIDS:
        for b in catalog.BINARY:
            found = catalog.find_semiring(f"{m}_{b}")
            for t in (BOOL, INT32, UINT8, FP64):
                if found is not None and t in found:
                    assert laws.check_semiring(found, t) == []
                    tried += 1
    assert tried > 1000


# ---- namespaces -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gb():
    return pytest.importorskip("graphblas")


FAMILIES = ("unary", "binary", "indexunary", "select", "monoid", "semiring")
COMPLEX = {"carg", "cimag", "conj", "creal", "cmplx"}
TEXTS = [
    "min", "+", "-", "*", "/", "//", "%", "**", "<", ">=", "==", "&", "|", "^", "~", "+[int]", "abs[FP32]", "min_plus",
    "min.+", "min.+[FP32]", "min_plus[int8]", "any.pair", "|.&", "tril", "row<=", "index>", "valueeq", "PLUS", "exp",
    "numpy.add", "add", "lor_land", "max.truediv", "rowindex",
]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_every_name_of_python_graphblas_is_there(gb, family):
    theirs = {n for n in dir(getattr(gb, family)) if n[0] != "_"} - {"register", "ss", "conj"} - COMPLEX
    ours = getattr(bitblas, family)
    assert [n for n in sorted(theirs) if not hasattr(ours, n)] == []
    assert {n for n in dir(ours) if n[0] != "_"} <= set(dir(ours))


@pytest.mark.parametrize("text", TEXTS)
def test_text_means_the_same(gb, text):
    def named(library, family, *errors):
        try:  # indexunary.from_string("<") of python-graphblas gives a SelectOp
            return repr(getattr(library, family).from_string(text)).partition(".")[2]
        except (ValueError, KeyError, *errors):
            return None

    for family in FAMILIES:
        assert named(bitblas, family) == named(gb, family, TypeError), family
    assert named(bitblas, "op") == named(gb, "op") is not None


def test_text_that_means_nothing():
    for text in ("no_such", "min.", "min[int", "min]int[", "min.plus.times", ""):
        with pytest.raises(ValueError, match=r"Unknown|expected the name"):
            op.from_string(text)
        with pytest.raises(ValueError, match="Unknown"):
            semiring.from_string(text)


def test_get_semiring():
    assert semiring.get_semiring(monoid.min, binary.plus) is semiring.min_plus
    assert semiring.get_semiring(monoid.min["INT8"], binary.plus) == semiring.min_plus["INT8"]
    assert semiring.get_semiring(monoid.min, binary.plus, "test_alias") is semiring.test_alias is semiring.min_plus
    for m, b in (
        (binary.minus, binary.plus),
        (unary.abs, binary.plus),
        (monoid.min, unary.abs),
        (binary.min, monoid.min),
    ):
        with pytest.raises(TypeError, match="expected"):
            semiring.get_semiring(m, b)


def test_what_commutes_equals_python_graphblas(gb):
    for name, ours in catalog.BINARY.items():
        other = getattr(gb.binary.ss, name, None) or getattr(gb.binary, ours.name)
        want, got = other.commutes_to, ours.commutes_to
        assert (got and got.name) == (want and want.name.removeprefix("ss.")), name
        assert ours.is_commutative == other.is_commutative, name
        assert (ours.monoid and ours.monoid.name) == (other.monoid and other.monoid.name), name
    for name in ("min_plus", "min_minus", "any_firsti", "plus_secondj1", "plus_pow", "max_second"):
        other = getattr(gb.semiring.ss, name, None) or getattr(gb.semiring, name)
        want = other.commutes_to.name.replace("ss.", "")
        assert semiring[name].commutes_to.name == want
        assert semiring[name]["INT64"].commutes_to.name == want
        assert semiring[name].is_commutative == other.is_commutative


def test_parts_of_typed_operators():
    assert semiring.min_plus["INT8"].monoid == monoid.min["INT8"]
    assert semiring.min_plus["INT8"].binaryop == binary.plus["INT8"]
    assert monoid.plus["FP32"].binaryop == binary.plus["FP32"]
    assert monoid.min["INT8"].identity == 127
    assert binary.plus["BOOL"].monoid is None
    assert binary.lt["INT8"].commutes_to == binary.gt["INT8"]
    assert binary.firsti["INT8"].is_positional
    assert (binary.lt["INT8"].type, binary.lt["INT8"].return_type, binary.lt["INT8"].parent) == (INT8, BOOL, binary.lt)
    with pytest.raises(AttributeError, match="has no identity"):
        binary.plus["INT8"].identity


@pytest.mark.slow  # python-graphblas compiles operators to tell their types
@pytest.mark.parametrize("family", ["unary", "binary", "monoid", "semiring", "op"])
def test_numpy_names(gb, family):
    """With `config.mapnumpy` python-graphblas has our operators under these names too; the others are NumPy's own. Of
    its semirings those that have no type are not here."""
    theirs, ours = getattr(gb, family).numpy, getattr(bitblas, family).numpy
    lacking = [n for n in getattr(theirs, "__all__", None) or theirs._semiring_names if not hasattr(ours, n)]
    assert not {n for n in lacking if getattr(theirs, n).types}
    mapped = getattr(theirs, "_numpy_to_graphblas", {})
    for name in mapped:
        if mapped[name] is not None:
            assert ours[name].name == mapped[name]
    assert set(ours.__all__) <= set(dir(ours))


def test_numpy_modules():
    from bitblas.binary import numpy as of_binary
    from bitblas.monoid.numpy import gcd
    from bitblas.op.numpy import add_gcd, sign, subtract

    assert of_binary is binary.numpy and gcd is monoid.numpy.gcd and gcd.binaryop is of_binary.gcd
    assert sign is unary.numpy.sign and subtract is binary.minus and add_gcd is semiring.numpy.add_gcd
    assert importlib.import_module("bitblas.semiring.ss") is importlib.import_module("bitblas.semiring")
    assert semiring.numpy.add_multiply is semiring.plus_times
    assert {"plus", "abs", "min_plus", "numpy"} <= set(dir(op)) and not hasattr(op, "register_new")
    with pytest.raises(AttributeError, match="no operator 'add_no'"):
        semiring.numpy.add_no


@pytest.mark.in_turn
@pytest.mark.parametrize("name", ["gcd", "maximum", "minimum", "hypot", "logaddexp", "logaddexp2"])
def test_numpys_monoids_reduce_as_numpy_does(device, name):
    ring, ufunc = semiring.numpy[f"{name}_add"], getattr(np, name)
    kinds = {"gcd": ("INT8", "UINT64")}.get(name, ("FP32", "FP64"))
    for t in (*kinds, *(("BOOL", "INT16") if name in ("maximum", "minimum") else ())):
        values = np.array([6, 4, 10, 8]).astype(dtypes.lookup_dtype(t).np_type)
        v = bitblas.Vector.from_coo(range(4), values)
        A = bitblas.Matrix.from_coo([0, 0, 1, 1], [0, 2, 1, 3], values, nrows=2, ncols=4)
        got = v.reduce(monoid.numpy[name]).new()
        assert got.dtype == t and np.isclose(got.value, ufunc.reduce(values), rtol=1e-6)
        if t != "BOOL":  # there is no semiring of plus
            w = A.mxv(v, ring).new()
            products = [values[:2] + values[[0, 2]], values[2:] + values[[1, 3]]]
            assert np.allclose(w.to_coo()[1], [ufunc.reduce(p) for p in products], rtol=1e-6)
    ones = bitblas.Matrix.from_coo([0, 0, 0], [0, 1, 2], 2.0 if "FP64" in kinds else -2, nrows=1, ncols=3)
    got = ones.reduce_scalar(monoid.numpy[name]).new().value
    assert np.isclose(got, ufunc.reduce(np.array([2.0] * 3 if "FP64" in kinds else [-2] * 3)))


@pytest.mark.slow  # a kernel each; test_semirings.py and test_agreement.py check their values
@pytest.mark.parametrize("name", sorted(binary.numpy))
def test_numpys_operators_run(device, name):
    f = binary.numpy[name]
    for t in (t for t in ("INT32", "FP32") if t in f):
        v = bitblas.Vector.from_coo([0, 1, 3], [7, 2, 3], size=5, dtype=t)
        w = bitblas.Vector.from_coo([0, 1, 2], [2, 5, 3], size=5, dtype=t)
        got = v.ewise_mult(w, f).new()
        want = getattr(np, name)(np.array([7, 2]).astype(t.replace("FP", "float").lower()), [2, 5])
        assert np.allclose(got.to_coo()[1], want), t


# ---- apply and select, positions ------------------------------------------------------------------------------------


def objects(library):
    A = library.Matrix.from_coo([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], [4, -1, 3, 2, 5], nrows=3, ncols=3)
    B = library.Matrix.from_coo([0, 0, 1, 2, 2], [1, 2, 2, 0, 1], [True, False, True, False, True], nrows=3, ncols=3)
    b = library.Vector.from_coo([0, 1, 2], [True, True, False])
    return {"A": A, "B": B, "b": b, "v": library.Vector.from_coo([0, 2, 3], [1, 7, 4], size=5)}


STATEMENTS = [
    "select.tril(A, -1)", "indexunary.tril(A, -1)", "select.value(A > 3)", "select.value(2 < A)", "select.row(A <= 1)",
    "select.row(A < 1)", "select.row(A >= 1)", "select.column(A > 0)", "select.index(v < 3)", "select.index(v > 0)",
    "select.value(v == 4)", "indexunary.index(v, 2)", "A.select('row<=', 1)", "A.apply(indexunary.diagindex, 1)",
    "unary.ss.positioni(v)", "unary.ss.positionj1(A)", "A.ewise_mult(A, binary.ss.firstj1)",
    "A.mxm(A, semiring.ss.plus_firsti1)", "A.mxm(A, semiring.ss.min_secondj1)", "v.ewise_mult(v, binary.ss.secondi1)",
    "A.mxv(A.reduce_rowwise().new(), semiring.ss.max_firstj1)", "A.mxm(A, semiring.plus_isgt)",
    "unary.exp2(v)", "v.ewise_mult(v, binary.bshift)", "v.ewise_add(v, 'hypot')", "A.mxm(A, semiring.bor_band)",
    "A.reduce_rowwise('*')", "A % 3", "v // 2", "v ** 2",
    "A.apply(select.tril)", "v.apply(select.valuegt, 3)",
    "B.reduce_rowwise('*')", "B.reduce_columnwise('*')", "B.mxm(B, semiring.plus_pair['BOOL'])",
    "B.mxv(b, semiring.min_pair['BOOL'])", "b.vxm(B, semiring.max_pair['BOOL'])", "B.mxv(b, semiring.times_first)",
    "B.mxm(B, semiring.times_pair['BOOL'])", "b.vxm(B, semiring.times_second)", "B.mxm(B, semiring.times_first)",
]  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_equal_python_graphblas(gb, device, statement):
    results = []
    for library in (bitblas, gb):
        names = {n: getattr(library, n) for n in ("select", "indexunary", "unary", "binary", "semiring")}
        found = eval(statement, {**names, **objects(library)}).new()
        results.append([found.dtype.name, *(x.tolist() for x in found.to_coo())])
    assert results[0] == results[1]


def test_what_is_no_comparison():
    A = objects(bitblas)["A"]
    for wrong in (A, A.S, A.T):
        with pytest.raises(TypeError, match=r"Typical usage: select\.value"):
            select.value(wrong)
    with pytest.raises(ValueError, match="rowne"):
        select.row(A != 2)
    with pytest.raises(ValueError, match="expected a comparison"):
        select.value(A + 2)


def test_identities_of_semirings_are_of_the_products_type():
    functions, values, _ = sum_of(catalog.MONOIDS["bxnor"], UINT8)
    assert values[0] == ("IDENTITY", UINT8, "0xff")
    assert [f.name for f in functions] == ["add", "repeated"]
    assert (FP32 in indexunary.valueeq, INT64 in semiring.lor_land) == (True, True)


# ---- the page -------------------------------------------------------------------------------------------------------


def test_the_page_is_current():
    assert document.page() == (jit.ALGEBRA.parent / "docs" / "semirings.md").read_text()
