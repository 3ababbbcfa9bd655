"""The public objects against python-graphblas: expressions, statements and errors of every kind and type."""

import numpy as np
import pytest
from battery import FORMS as EVERY_FORM
from both_libraries import N, both, each, operands, plain, same
from core_programs import ERRORS, EXPRESSIONS, MATRIX_STATEMENTS, SCALARS, STATEMENTS

import bitblas

DTYPES = ["BOOL", "INT8", "UINT8", "INT32", "INT64", "UINT64", "FP32", "FP64"]
VALUE_SELECTS = ["<", "<=", ">", ">=", "==", "!="]

# Each (operator, type) is a kernel to compile, so a text meets INT64, and every other one the next of the types; the
# slow test has them all.
SOME_TYPES = {(text, "INT64") for text in each(EXPRESSIONS)}
SOME_TYPES |= {(text, DTYPES[k % len(DTYPES)]) for k, text in enumerate(each(EXPRESSIONS)[::2])}


@pytest.mark.in_turn
@pytest.mark.parametrize(("text", "dtype"), sorted(SOME_TYPES))
def test_expression(device, text, dtype):
    both(f"r = {text}", "r", dtype)


PAIRS = [("INT64", "FP32"), ("BOOL", "INT8"), ("UINT8", "INT8"), ("FP32", "FP64"), ("UINT64", "INT64")]
TWO_TYPES = [(x, PAIRS[k % len(PAIRS)]) for k, x in enumerate(each(EXPRESSIONS)) if "w" in x or "B" in x]


def some(cases, every):
    """One of `every` cases; the others are slow."""
    return [case if k % every == 0 else pytest.param(*case, marks=pytest.mark.slow) for k, case in enumerate(cases)]


@pytest.mark.in_turn
@pytest.mark.parametrize(("text", "pair"), some(TWO_TYPES, 2))
def test_expression_of_two_types(device, text, pair):
    both(f"r = {text}", "r", *pair, seed=1)


# bitblas has these for BOOL too, or refuses them with another error.
NOT_OF_BOOL = {
    "v.reduce(binary.plus)", "v.inner(w, semiring.min_plus)", "v.outer(w)", "semiring.min_plus(A @ w)",
    'A.mxv(w, "min.plus")', "A.mxm(B, semiring.min_plus)", 'R.T.mxm(R, "max_times")',
}  # fmt: skip
ALL_TYPES = [(x, t) for x in each(EXPRESSIONS) for t in DTYPES if t != "BOOL" or x not in NOT_OF_BOOL]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "dtype"), ALL_TYPES)
def test_expression_of_every_type(device, text, dtype):
    both(f"r = {text}", "r", dtype, seed=2)


SELECTS = [(op, t) for k, t in enumerate(DTYPES) for op in VALUE_SELECTS[k % 2 :] + VALUE_SELECTS[: k % 2]]


@pytest.mark.in_turn
@pytest.mark.parametrize(("op", "dtype"), some(SELECTS, 2))
def test_select_by_value(device, op, dtype):
    # The thunk in the dtype of the object: SuiteSparse errs when they differ.
    thunk = f"Scalar.from_value(1, dtype='{dtype}')"
    text = "; ".join(f"{out} = {x}.select('{op}', {thunk}).new()" for out, x in (("r", "v"), ("Q", "A"), ("P", "I")))
    both(text, "r, Q, P", dtype)


MIXED = [("FP32", "INT32"), ("INT8", "FP64"), ("BOOL", "BOOL"), ("UINT8", "INT8")]


def statements(block):
    """Each of one type; and of two, of which every other one is slow."""
    texts = each(block)
    mixed = [(text, MIXED[k // 2 % len(MIXED)]) for k, text in enumerate(texts)]
    return [(text, ("INT64", "INT64")) for text in texts] + some(mixed, 2)


@pytest.mark.in_turn
@pytest.mark.parametrize(("text", "pair"), statements(STATEMENTS))
def test_vector_statement(device, text, pair):
    both(text, "v, w, b, e, i", *pair)


@pytest.mark.in_turn
@pytest.mark.parametrize(("text", "pair"), statements(MATRIX_STATEMENTS))
def test_matrix_statement(device, text, pair):
    both(text, "A, B, L, I, E", *pair)


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(ERRORS))
def test_error_leaves_all_as_it_was(device, text):
    both(text, "v, w, A, B")
    scope = operands(bitblas, 0, "INT64")
    before = {k: plain(scope[k]) for k in "v w b A B R L e E".split()}
    with pytest.raises(Exception) as caught:
        exec(text, scope)
    assert before == {k: plain(scope[k]) for k in before}, caught.value


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(SCALARS))
def test_scalar(device, text):
    both(f"r = {text}", "r")


@pytest.mark.parametrize("dtype", ["BOOL", "FP64"])
def test_coo_without_rows(device, dtype):
    i, j = np.arange(120) % 50, np.arange(120) * 7 % 40
    for form in EVERY_FORM.values():
        A = bitblas.Matrix.from_coo(i, j, True if dtype == "BOOL" else i * 50.0 + j, nrows=50, ncols=40, **form)
        host = lambda x, to_host=A.device.to_host: to_host(x).tolist()
        rows, cols, values = map(host, A.to_coo())
        for X, number in ((A, 1), (A.T, 0)):
            asked = {"rows": number == 0, "columns": number == 1}
            found = X.to_coo(**asked)
            assert found[1 - number] is None and host(found[number]) == cols and host(found[2]) == values
            assert X.to_coo(values=False, **asked)[2] is None
        assert host(A.to_coo(columns=False)[0]) == rows


@pytest.mark.in_turn
@pytest.mark.parametrize("form", ["csr", "b2sr4", "b2sr8", "b2sr16", "b2sr32", "b2sr64"])
def test_forms_agree(device, form):
    scope = operands(bitblas, 3, "FP64")
    A, B, v, L = scope["A"], scope["B"], scope["v"], scope["L"]
    C = bitblas.Matrix.from_coo(*A.to_coo(), nrows=N, ncols=N, **EVERY_FORM[form])
    assert C.format == form
    assert C.isequal(A, check_dtype=True) and plain(C) == plain(A)
    pairs = [
        (C.T.new(), A.T.new()), (C.mxv(v).new(), A.mxv(v).new()), (C + B, A + B), (B * C, B * A), (C[3, :], A[3, :]),
        (C[:, 3], A[:, 3]), (C[5:50, ::-1], A[5:50, ::-1]), (C.select("tril"), A.select("tril")), (C.diag(), A.diag()),
        (C.apply(bitblas.unary.ainv), A.apply(bitblas.unary.ainv)), (C.reduce_rowwise("max"), A.reduce_rowwise("max")),
        (C.dup(mask=L.V), A.dup(mask=L.V)), (C.apply("colindex"), A.apply("colindex")),
    ]  # fmt: skip
    for found, expected in pairs:
        assert same(plain(found), plain(expected))
    assert all(C.get(i, j) == A.get(i, j) for i in range(0, N, 7) for j in range(N))
    C[3, 4] = 5.0
    C << C + B
    assert C.format == form


def test_memory_counts_every_form(device):
    A = operands(bitblas, 0, "FP64")["A"].dup()
    alone = A.memory()
    assert list(alone.forms) == [A.format] and alone.values == 8 * A.nvals and alone.structure == alone.forms[A.format]
    A.T.new()
    more = A.memory()
    assert more.total > alone.total == alone.structure + alone.values and "total" in str(more)
    assert bitblas.Matrix.from_coo([0, 1], [1, 0], True).memory().values == 0


def test_many_single_writes_cost_one_rebuild(device):
    A = bitblas.Matrix(int, 1000, 1000)
    for k in range(3000):
        A[k % 1000, (7 * k) % 1000] = k
    assert A._data.nvals == 0
    assert A.nvals == len({(k % 1000, (7 * k) % 1000) for k in range(3000)})
    assert A.get(999, 7 * 2999 % 1000) == 2999


def test_names_and_copies(device):
    v = bitblas.Vector(int, 3, name="x")
    assert v.name == "x" and bitblas.Vector(int, 3).name != bitblas.Vector(int, 3).name
    w = v.dup(name="y")
    w[0] = 1
    assert (w.name, v.nvals, w.nvals) == ("y", 0, 1)
    u = bitblas.Vector(float, 3)
    u << w
    u[1] = 2
    assert w.nvals == 1
    assert (v + w).new(name="z").name == "z"


def test_a_computed_expression_is_not_shared(device):
    v = bitblas.Vector.from_coo([0], [1], size=3)
    expr = v + v
    assert expr.nvals == 1
    first, second = expr.new(), expr.new()
    first[1] = 5
    assert second.nvals == 1


@pytest.mark.uses_cpu
def test_devices_do_not_mix(device):
    v = bitblas.Vector.from_coo([0, 2], [1, 2], size=3)
    A = bitblas.Matrix.from_coo([0, 2], [1, 2], [1.5, 2], nrows=3, ncols=3)
    if device == "cpu":
        assert v.to("cpu") is v and A.to("cpu") is A
        return
    w, B = v.to("cpu"), A.to("cpu")
    assert (w.device.name, B.device.name, w.to_dict(), B.to_dicts()) == ("cpu", "cpu", v.to_dict(), A.to_dicts())
    assert w.to(device).isequal(v, check_dtype=True) and B.to(device).isequal(A, check_dtype=True)
    for mix in (
        lambda: v + w, lambda: A.mxv(w), lambda: w.vxm(A), lambda: A @ B, lambda: A.mxm(B), lambda: v.update(w),
        lambda: v(w.S) << 1, lambda: A(B.S) << A, lambda: v.isequal(w), lambda: A.update(B), lambda: v[:2] << w[:2],
    ):  # fmt: skip
        with pytest.raises(bitblas.exceptions.DeviceError, match=r"cpu.*\.to\(device\)"):
            expr = mix()
            expr.new() if expr is not None else None


def test_explain_prints_the_plan(device):
    scope = operands(bitblas, 0, "FP64")
    A, v = scope["A"], scope["v"]
    for expr in (A.mxv(v), v.vxm(A), A.T.mxv(v, "min_plus"), A @ A, bitblas.semiring.plus_pair(A @ A.T), v + v):
        assert expr.__class__ and str(bitblas.explain(expr))
    with pytest.raises(TypeError, match="product"):
        bitblas.explain(v)


def test_what_differs_from_the_oracle(device):
    """SuiteSparse errs in select by value of another dtype; some errors come earlier here, or are TypeErrors."""
    scope = operands(bitblas, 0, "FP32")
    v, A = scope["v"], scope["A"]
    assert set(v.select(v == 1).new().to_dict().values()) == {1.0}
    assert A.select(">", 1).nvals == A.select(A > 1).nvals == sum(x > 1 for x in A.to_coo()[2].tolist())
    assert v[[]].new().size == 0 and A[[], []].new().shape == (0, 0)
    for bad in (np.clongdouble, "foo", object):
        with pytest.raises(ValueError, match="dtype: expected"):
            bitblas.Vector(bad, 3)
    for bad in (-1, 1.5, None, True):
        with pytest.raises((ValueError, TypeError), match="size: expected"):
            bitblas.Vector(int, bad)
    with pytest.raises(TypeError, match="expected a Vector"):
        v.ewise_mult(1)
    with pytest.raises(ValueError, match="integers"):
        bitblas.Vector.from_coo([0.5], [1], size=3)


def test_operator_text():
    assert bitblas.op.from_string("+") is bitblas.binary.plus
    assert repr(bitblas.op_from_string("min.plus[int]")) == "semiring.min_plus[INT64]"
    assert bitblas.op.min_plus.name == "min_plus"
    with pytest.raises(ValueError, match="expected"):
        bitblas.op_from_string("nothing")
    with pytest.raises(AttributeError):
        bitblas.op.nothing


def test_the_product_of_many_linear_keys_is_refused():
    A = bitblas.Matrix.from_coo([0], [1], 1, nrows=1000, ncols=1 << 60, device="cpu", format="csr")
    with pytest.raises(bitblas.exceptions.NotImplementedException, match="2\\*\\*63"):
        A[0, 5] = 2
    assert A.nvals == 1
    with pytest.raises(bitblas.exceptions.OutOfMemory, match="bytes"):
        bitblas.Matrix.from_scalar(1, 1 << 20, 1 << 20, device="cpu")
