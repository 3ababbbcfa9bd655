"""Whole-object operations, broadcasting, aggregators, aliases, single writes and printing, against python-graphblas."""

import copy
import pickle
import weakref

import numpy as np
import pytest
from both_libraries import N, both, each, operands, plain, same
from hypothesis import given
from hypothesis import strategies as st
from object_programs import ALIASES, ERRORS, EXPRESSIONS, LINES, SIZES, STATEMENTS

import bitblas

pytest.importorskip("graphblas")
OBJECTS = "v, w, b, e, i, A, B, R, L, I, E"


PROGRAMS = [  # what they change, and other operands for a second run
    *((f"r = {text}", "r", None) for text in each(EXPRESSIONS)),
    *((text, OBJECTS, None) for text in each(STATEMENTS)),
    *((text, "A, E, I, R", {"dtype": "FP32", "other": "INT8", "seed": 5}) for text in each(LINES)),
    *((text, OBJECTS, {"seed": 5}) for text in each(ALIASES)),
]


@pytest.mark.in_turn
@pytest.mark.parametrize(("text", "look", "again"), PROGRAMS, ids=[text for text, *_ in PROGRAMS])
def test_program(device, text, look, again):
    both(text, look)
    if again:
        both(text, look, **again)


@pytest.mark.parametrize("text", each(SIZES))
def test_sizes_without_entries(device, text):
    # python-graphblas gives some sizes as NumPy's integers.
    both(f"r = {text}; size = list(map(int, r.shape)); r.resize(*size)", "r, size")


def test_weak_references(device):
    scope = operands(bitblas, 0, "INT64")
    A, v, x = scope["A"], scope["v"], bitblas.Scalar(int)
    delayed = [A @ v, A.mxv(v), v.reduce(), A.mxm(A), v | v, x | x, v[0], A[0, :]]
    for made in (A, v, x, A.T, A.S, ~v.V, *delayed, v(v.S), v(v.S)[0]):
        assert weakref.ref(made)() is made
    gone = weakref.ref(v.dup())
    assert gone() is None


@pytest.mark.in_turn
@pytest.mark.parametrize("text", each(ERRORS))
def test_error_leaves_all_as_it_was(device, text):
    both(text, "v, A")
    scope = operands(bitblas, 0, "INT64")
    before = {k: plain(scope[k]) for k in "v w b A B R L e E".split()}
    with pytest.raises(Exception) as caught:
        exec(text, scope)
    assert before == {k: plain(scope[k]) for k in before}, caught.value


INFIX = each("v // 2; v // w; 7 // w; v % 3; v % w; v ** 2; 2 ** s; A // B; A % 2; divmod(v, 3)[1]; R // s")


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
@pytest.mark.parametrize("text", INFIX)
def test_division_and_power(device, text, dtype):
    # No zeros on the right: for them python-graphblas returns uninitialized memory.
    both(f"w, B, s = ((abs(x).new() + 1).new() for x in (w, B, s)); r = {text}", "r", dtype)


# argmin of INT32: python-graphblas reports INT32, bitblas INT64 for all types.
WAYS = ["v.reduce({})", "A.reduce_rowwise({})", "A.reduce_columnwise({})", "A.T.reduce_rowwise({})", "e.reduce({})"]
POSITIONAL = {"argmin", "argmax", "first_index", "last_index"}


@pytest.mark.in_turn
@pytest.mark.parametrize("dtype", ["INT64", "FP64", pytest.param("UINT8", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [n for n in bitblas.core.aggregators.AGGREGATORS if n != "any_value"])
def test_aggregator(device, name, dtype):
    space = "gb.agg.ss" if name in POSITIONAL | {"first", "last"} else "gb.agg"
    ways = WAYS if name in POSITIONAL else [*WAYS, "A.reduce_scalar({})", "E.reduce_scalar({})"]
    text = f"x = {space}.{name}; v = v.apply(unary.abs).new() + 1; A = A.apply(unary.abs).new() + 1; "
    names = [f"r{k}" for k in range(len(ways))]
    both(text + "; ".join(f"{r} = {way.format('x')}" for r, way in zip(names, ways)), ", ".join(names), dtype)


@pytest.mark.in_turn
def test_aggregators_compute_by_themselves(device):
    """A recipe has several steps; config.autocompute is about what the user left delayed."""
    A, v = (operands(bitblas, 0, "INT64")[k] for k in "Av")
    for name in bitblas.core.aggregators.AGGREGATORS:
        agg = getattr(bitblas.agg, name)
        if v.dtype not in agg:
            continue
        delayed = [v.reduce(agg), A.reduce_rowwise(agg), A.T.reduce_rowwise(agg), A.reduce_columnwise(agg)]
        delayed += [] if name in POSITIONAL else [A.reduce_scalar(agg)]
        expected = [plain(x.new()) for x in delayed]
        with bitblas.config.set(autocompute=False):
            assert same(expected, [plain(x.new()) for x in delayed]), name


def test_constant_results_store_one_value(device):
    A, v = (operands(bitblas, 0, "FP64")[k] for k in "Av")
    unary, binary = bitblas.unary, bitblas.binary
    for x in (A, v):
        made = [unary.one(x), binary.pair(x, 1), binary.second(x, 7), binary.first(7, x)]
        assert [y.new().ss.is_iso for y in made] == [True] * 4
        assert [y.new().ss.iso_value.value for y in made] == [1, 1, 7, 7]
        assert not binary.first(x, 7).new().ss.is_iso and not unary.ainv(x).new().ss.is_iso


def test_aggregators_by_name_and_as_functions(device):
    both("r = v.reduce('count'); q = A.reduce_rowwise('mean'); p = gb.agg.sum(v); o = gb.agg.mean(A, columnwise=True)",
         "r, q, p, o")  # fmt: skip
    both("r = gb.agg.max(A); q = v.reduce(gb.agg.mean['FP64']); p = gb.agg.mean.types[dtypes.INT8].name", "r, q, p")
    v, any_value = bitblas.Vector.from_coo([1, 2], [5, 6]), bitblas.agg.any_value
    assert v.reduce(any_value).new().value in (5, 6)
    assert repr(bitblas.agg.mean["INT8"]) == "agg.mean[INT8]" and bitblas.op.from_string("count") is bitblas.agg.count
    from_string = bitblas.agg.from_string
    assert repr(bitblas.agg.ss.first) == "agg.ss.first" and repr(from_string("any[INT8]")) == "agg.any[INT8]"
    assert from_string("|") is bitblas.agg.any and repr(from_string("+[int]")) == "agg.sum[INT64]"
    with pytest.raises(ValueError, match="agg: expected one of sum"):
        from_string("bad")
    with pytest.raises(AttributeError, match="known: sum"):
        bitblas.agg.foo


def test_what_differs_from_the_oracle(device):
    """python-graphblas keeps entries of the output that a repositioned alias no longer has; it takes sizes and columns
    that do not fit, and raises other errors for them."""
    scope = operands(bitblas, 0, "INT64")
    for x, moved in ((scope["A"], scope["A"].reposition(1, 1)), (scope["v"], scope["v"].reposition(1))):
        expected = moved.new()
        x << moved
        assert x.isequal(expected)
    A, v = scope["A"], scope["v"]
    assert scope["E"].to_dicts() == {}
    assert A.reduce_rowwise(bitblas.agg.argmin).dtype is bitblas.dtypes.INT64
    v[3:9] += 5  # python-graphblas refuses it
    for bad in (lambda: A.resize(-1, 3), lambda: v.resize(-1)):
        with pytest.raises(bitblas.exceptions.InvalidValue, match="expected a size"):
            bad()
    with pytest.raises(bitblas.exceptions.IndexOutOfBound, match="columns"):
        bitblas.Matrix.from_csr([0, 1], [5], ncols=3)
    with pytest.raises(bitblas.exceptions.DimensionMismatch, match="input_mask"):
        A[:, :].new(input_mask=scope["R"].S)


def test_objects_are_copied_and_pickled(device):
    scope = operands(bitblas, 0, "FP32")
    form = bitblas.Matrix.from_coo([0, 9], [1, 8], True, nrows=20, ncols=9, format="b2sr", tile=8, name="form")
    scalars = bitblas.Scalar(int), bitblas.Scalar.from_value(2.5, is_cscalar=True)
    for x in (*(scope[k] for k in "v b e i A L I E".split()), form, *scalars):
        for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
            assert y is not x and (y.name, y.shape, y.dtype, y.device) == (x.name, x.shape, x.dtype, x.device)
            assert y.isequal(x, check_dtype=True)
            if x.ndim:
                assert y.ss.is_iso == x.ss.is_iso and y.ss.format == x.ss.format
    y = copy.copy(scope["v"])
    y[3] = 100
    assert scope["v"].get(3) != 100


# ---- single writes --------------------------------------------------------------------------------------------------

INDEX, VALUE = st.integers(-9, 8), st.integers(-3, 3)
STEP = st.one_of(
    st.tuples(st.just("set"), INDEX, INDEX, VALUE), st.tuples(st.just("set"), INDEX, INDEX, VALUE),
    st.tuples(st.just("del"), INDEX, INDEX), st.tuples(st.just("get"), INDEX, INDEX), st.tuples(st.just("nvals")),
    st.tuples(st.just("fill"), VALUE), st.tuples(st.just("double")), st.tuples(st.just("clear")),
)  # fmt: skip


def run_steps(x, steps, single):
    """The same steps on an object and on a dict."""
    model: dict = {}
    for step, *args in steps:
        key = tuple(a % 9 for a in args[:2])[: 1 if single else 2]
        at = (args[0] if single else tuple(args[:2])) if len(args) > 1 else None
        if step == "set":
            x[at], model[key] = args[2], args[2]
        elif step == "del":
            del x[at]
            model.pop(key, None)
        elif step == "get":
            found = x.get(at) if single else x.get(*at)
            assert found == model.get(key) and (at in x) == (key in model)
        elif step == "nvals":
            assert x.nvals == len(model)
        elif step == "fill":
            x(x.S) << args[0]
            model = dict.fromkeys(model, args[0])
        elif step == "double":
            x << x + x
            model = {k: 2 * value for k, value in model.items()}
        else:
            x.clear()
            model = {}
    *indices, values = x.to_coo()
    assert dict(zip(zip(*(i.tolist() for i in indices)), values.tolist())) == model


@pytest.mark.parametrize("single", [True, False], ids=["vector", "matrix"])
def test_single_writes_against_a_dict(device, single):
    @given(st.lists(STEP, max_size=40))
    def check(steps):
        run_steps(bitblas.Vector(int, 9) if single else bitblas.Matrix(int, 9, 9), steps, single)

    check()


@pytest.mark.parametrize("dtype", ["INT64", "BOOL", "FP32"])
def test_many_single_writes_into_a_vector(device, dtype):
    v, rng = bitblas.Vector(dtype, 1000), np.random.default_rng(3)
    v[[1, 5, 900]] = 1
    model = {1: 1, 5: 1, 900: 1}
    for k, i in enumerate(rng.integers(0, 1000, 300).tolist()):
        if k % 3:
            v[i] = model[i] = k % 2
        else:
            del v[i]
            model.pop(i, None)
    assert v._data.nvals == 3  # nothing is written before the read
    assert {i: int(x) for i, x in v.to_dict().items()} == model and v.nvals == len(model)
    iso = bitblas.Vector(dtype, 1000)
    for i in range(0, 1000, 7):
        iso[i] = 1
    assert iso.ss.is_iso and iso.nvals == 143


# ---- printing -------------------------------------------------------------------------------------------------------


def test_objects_print_as_tables(device):
    A = bitblas.Matrix.from_coo([0, 3], [1, 2], [1.5, 2], nrows=5, ncols=4, name="<A>")
    v = bitblas.Vector.from_coo([0, 300], [1.5, 2], size=500, name="v")
    lines = repr(A).splitlines()
    assert lines[0].split() == ['"<A>"', "nvals", "nrows", "ncols", "dtype", "format", "device"]
    assert lines[1].split() == ["gb.Matrix", "2", "5", "4", "FP64", A.format, str(device)]
    assert [line.split() for line in lines[3:]] == [
        ["0", "1", "2", "3"], ["0", "1.5"], ["1"], ["2"], ["3", "2.0"], ["4"],
    ]  # fmt: skip
    assert "..." in repr(v) and "499" in repr(v) and "300" not in repr(v).splitlines()[3]
    assert "&lt;A&gt;" in A._repr_html_() and "<td>1.5</td>" in A._repr_html_()
    for x in (A.T, A.S, ~A.V, v.S, A @ A.T, A.mxv(bitblas.Vector(float, 4)), A[0, :], v.reduce(), A & A, A.T @ v[:5]):
        assert repr(x) and x._repr_html_().startswith("<d")
    for empty in (bitblas.Matrix(), bitblas.Vector(), bitblas.Matrix(int, 3, 0)):
        assert repr(empty).count("\n") == 1
    assert repr(bitblas.Scalar.from_value(3, name="s")).split() == ['"s"', "value", "dtype", "gb.Scalar", "3", "INT64"]


def test_printing_computes_nothing(device):
    A = operands(bitblas, 0, "INT64")["A"]
    expr = A @ A
    assert "Not computed yet" in repr(expr) and expr._to_expr()._value is None
    huge = bitblas.Vector.from_coo([5], [1], size=1 << 22)
    assert "ComplementedStructuralMask" in repr(~huge.S)


def test_names_of_modules():
    from bitblas.semiring import min_plus
    from bitblas.unary import ainv

    assert min_plus is bitblas.semiring.min_plus and ainv is bitblas.unary.ainv
    assert bitblas.MAX_SIZE == 1 << 60 and bitblas.backend == "bitblas"
    bitblas.init("suitesparse")
    with pytest.raises(ValueError, match="backend"):
        bitblas.init("other")
    with pytest.raises(bitblas.exceptions.NotImplementedException, match=r"ss\.unpack_hyperhash"):
        bitblas.Matrix(int, N, N).ss.unpack_hyperhash()
