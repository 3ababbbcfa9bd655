"""gb.explain of every operation: the plan by which it runs, with its reason, and nothing is computed."""

from __future__ import annotations

import numpy as np
import pytest
from both_libraries import each, operands
from core_programs import EXPRESSIONS, MATRIX_STATEMENTS, SCALARS, STATEMENTS

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.core.statement.infix import Delayed
from bitblas.device import threads, tracing
from bitblas.operations import multivector, plain_spmv, spgemm, spmv, virtual_nodes
from bitblas.plan import operation as plan
from bitblas.plan import product as kinds

N = 300


def objects():
    i, three = np.arange(N), np.repeat(np.arange(N), 3)
    V, M = gb.Vector.from_coo, gb.Matrix.from_coo
    ragged = lambda step, **how: M(
        three, (three * step + np.tile([0, 5, 11], N)) % N, np.arange(3 * N) * 1.0, nrows=N, ncols=N, **how
    )
    F = M([1, 5, 9], [1, 2, 3], [1.0, 2.0, 3.0], nrows=N, ncols=4, format="bitmap")
    tiles = {"nrows": N, "ncols": N, "format": "b2sr", "tile": 8}
    return {
        "gb": gb,
        "u": V(i[::2], i[::2] * 1.0, size=N),
        "v": V(i[::3], i[::3] * 1.0, size=N),
        "one": V(i[::3], 2.0, size=N),
        "other": V(i[::5], 2.0, size=N),
        "full": V(np.arange(10_000), 0.1, size=10_000),
        "few": V([1, 5, 1 << 40], [1.0, 2.0, 3.0], size=1 << 50),
        "two": V([1, 6], [1.0, 2.0], size=1 << 50),
        "A": ragged(7, format="csr"),
        "B": ragged(5, format="csr"),
        "coded": ragged(7, format="cgr"),
        "hyper": M([1, 5, 1 << 40], [1, 2, 3], [1.0, 2.0, 3.0], nrows=1 << 50, ncols=1 << 50),
        "hyper2": M([1, 5, 1 << 30], [1, 2, 3], [1.0, 2.0, 3.0], nrows=1 << 50, ncols=1 << 50),
        "F": F,
        "flat": (F + F).new(),
        "tiles": M([1, 5, 9], [1, 2, 3], [1.0, 2.0, 3.0], **tiles),
        "iso": M([1, 5, 9], [1, 2, 3], 1.0, **tiles),
        "none": gb.Matrix(float, N, N),
    }


# Storage of expressions; their way, and one of the kernels that run, on the CPU and on a GPU (only once: on both);
# and the expressions.
WAYS = (
    (("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
     "u.ewise_mult(v); u.ewise_add(v); one.ewise_add(one); u - v; u.apply('ainv'); 1 - u; u.apply('rowindex'); "
     "u.select('>', 3.0); u.inner(v)"),
    (("bits", plan.ONE_VALUE, ""), "one.ewise_mult(other); one + 1; u.apply('one')"),
    (("bits", plan.UNDER_MASK, "kernels/merge"), "u.select(v.S)"),
    (("bits", plan.CHUNKS, "kernels/reduce"), "u.reduce()"),
    (("bits", plan.REPEATED, ""), "one.reduce()"),
    (("bits", plan.EQUAL_CHUNKS, "kernels/reduce", plan.REPEATED, ""), "full.reduce()"),
    (("bits", plan.ALL_PAIRS, "kernels/elementwise"), "u.outer(one)"),
    (("bits", plan.SHIFTED, "kernels/place"), "u.reposition(3)"),
    (("bits", plan.SEVERAL_STEPS, "kernels/reduce"), "gb.agg.mean(u)"),
    (("bits", plan.SINGLE_BIT, ""), "u[3]"),
    (("bits", plan.GATHERED, "kernels/gather"), "u[:5]; u[[3, 1]]"),
    (("bits", plan.WHOLE, ""), "u[:]"),
    (("a list", plan.PART_OF_LIST, "", plan.PART_OF_LIST, "kernels/pack"), "few[3:9]"),
    (("a list", plan.SEARCHED_LIST, "", plan.SEARCHED_LIST, "kernels/pack"), "few[[1, 2]]"),
    (("a list", plan.LISTED, "kernels/elementwise"), "few + two; few.ewise_mult(two); few.apply('ainv')"),
    (("a list", plan.CHUNKS, "kernels/reduce"), "few.reduce()"),
    (("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
     "A.ewise_mult(B); A.ewise_add(B); A.T.ewise_add(B); A - B; A.ewise_mult(u)"),
    (("csr", plan.SAME_STRUCTURE, "kernels/elementwise"), "A.ewise_mult(A)"),
    (("hyper", plan.COMPRESSED, "formats/csr/merge_rows", plan.COMPRESSED, "formats/csr/join"), "hyper + hyper2"),
    (("bitmap", plan.BITMAP, "kernels/elementwise"), "F + F; flat + F; flat.apply('ainv'); flat.select('>', 3.0)"),
    (("csr", plan.EACH_VALUE, "kernels/elementwise"), "A.apply('ainv'); A + 1"),
    (("csr", plan.ONE_VALUE, ""), "A.apply('one')"),
    (("csr", plan.BY_POSITION, "kernels/elementwise"), "A.apply('rowindex')"),
    (("csr", plan.NO_ENTRIES, ""), "none.apply('ainv'); none.select('tril'); none.reduce_scalar()"),
    (("csr", plan.SELECTED_ROWS, "formats/csr/select_rows", plan.CLIPPED, "formats/csr/clip"), "A.select('tril')"),
    (("csr", plan.SELECTED_ROWS, "formats/csr/select_rows", plan.FILTERED, "kernels/elementwise"),
     "A.select('>', 3.0)"),
    (("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/match"),
     "A.select(B.S); A.select(~A.V)"),
    (("csr", plan.SAME_STRUCTURE, ""), "A.select(A.S)"),
    (("hyper", plan.COMPRESSED, "formats/csr/merge_rows", plan.COMPRESSED, "formats/csr/match"),
     "hyper.select(hyper2.S)"),
    (("bitmap", plan.BITMAP, "kernels/merge"), "flat.select(F.S)"),
    (("b2sr8", plan.CLIPPED, "formats/b2sr/filter"), "tiles.select('tril')"),
    (("b2sr8", plan.CLIPPED, "formats/b2sr/clip"), "iso.select('tril')"),
    (("b2sr8", plan.FILTERED, "formats/b2sr/filter"), "tiles.select('>', 3.0)"),
    (("b2sr8", plan.ONE_TEST, "kernels/elementwise"), "iso.select('>', 3.0)"),
    (("csr", plan.EACH_VALUE, "kernels/reduce"), "A.reduce_scalar()"),
    (("b2sr8", plan.REPEATED, ""), "iso.reduce_scalar()"),
    (("bitmap", plan.CHUNKS, "kernels/reduce"), "flat.reduce_scalar()"),
    (("bitmap", plan.SUMMED_LINES, "formats/bitmap/reduce_columns"), "flat.reduce_rowwise()"),
    (("csr", "pull", "formats/csr/pull"), "A.reduce_rowwise(); hyper.reduce_rowwise()"),
    (("csr", plan.ROW_SEARCH, ""), "A[3, 4]"),
    (("csr", plan.ROW_SLICE, "kernels/place"), "A[3, :]"),
    (("csr", plan.CLIPPED, "formats/csr/clip"), "A[:, 3]; A.T[3, :]"),
    (("csr", plan.WHOLE, ""), "A[:, :]"),
    (("csr", plan.SELECTED_ROWS, "formats/csr/extract", plan.SEARCHED_COLUMNS, "formats/csr/rows"), "A[:5, :5]"),
    (("csr", plan.SELECTED_ROWS, "formats/csr/extract", plan.SCATTERED_COLUMNS, "formats/csr/rows"), "A[:3, :]"),
    (("csr", plan.SCATTERED_COLUMNS, "", plan.SCATTERED_COLUMNS, "formats/csr/rows"), "A[[3, 1], [4, 2]]"),
    (("cgr", plan.DECODED_ROWS, "formats/cgr/decode"), "coded[[1, 2], :]; coded[3, :]"),
    (("hyper", plan.COMPRESSED, ""), "hyper[3, 4]"),
    (("hyper", plan.COMPRESSED, "formats/csr/extract", plan.COMPRESSED, ""), "hyper[:5, :5]"),
    (("bitmap", plan.SINGLE_BIT, ""), "flat[1, 1]"),
    (("csr", plan.SORTED_KEYS, "", plan.SORTED_KEYS, "formats/csr/rows"), "A.reposition(1, 1)"),
    (("hyper", plan.SHIFTED, "", plan.SHIFTED, "formats/csr/rows"), "hyper.reposition(1, 1)"),
    (("bitmap", plan.SORTED_KEYS, "kernels/elementwise"), "F.kronecker(F)"),
    (("hyper and bitmap", plan.COMPRESSED, "kernels/elementwise"), "hyper.kronecker(F)"),
    (("csr", plan.REPEATED_SQUARES, "formats/csr/gustavson", plan.REPEATED_SQUARES, "formats/csr/short_rows"),
     "A.power(3)"),
    (("csr", plan.SORTED_KEYS, ""), "A.power(0)"),
    (("csr", plan.SEVERAL_STEPS, "formats/csr/pull"), "gb.agg.mean(A, rowwise=True)"),
    (("a scalar", plan.ON_HOST, ""), "gb.Scalar.from_value(3) + 1"),
)  # fmt: skip
CASES = {call: way for way, calls in WAYS for call in each(calls)}
# Ways that no function chooses, because the call has only one.
ONLY = {
    plan.ALL_PAIRS,
    plan.COUNTED,
    plan.UNDER_MASK,
    plan.SEVERAL_STEPS,
    plan.ON_HOST,
    plan.REPEATED_SQUARES,
    plan.SUMMED_LINES,
}


def contents(scope):
    """What explaining must not change: the attributes of all stores, by identity."""
    stores = {name: x._data for name, x in scope.items() if hasattr(x, "_data")}
    return {name: {key: id(value) for key, value in vars(store).items()} for name, store in stores.items()}


@pytest.mark.in_turn
@pytest.mark.parametrize("call", CASES)
def test_a_call_runs_as_explained(device, call, monkeypatch):
    storage, way, kernel, *more = CASES[call]
    if more and device != "cpu":
        way, kernel = more
    scope = objects()
    expr, before = eval(call, scope), contents(scope)
    with gb.trace() as explaining:
        found = gb.explain(expr)
    assert (found.key, found.direction) == (storage, way) and found.reason
    if not call.endswith("rowwise()"):  # a product, whose entries are counted for its direction
        assert not len(explaining) and contents(scope) == before
    ways = set()
    for name in dir(plan):
        if name.endswith("_way"):
            monkeypatch.setattr(plan, name, noting(getattr(plan, name), ways))
    with gb.trace() as ran:
        expr.new()
    chosen = {x[0] if isinstance(x, tuple) else x for x in ways}
    alone = {plan.ONE_VALUE, plan.WHOLE, plan.SHIFTED, plan.SINGLE_BIT, "pull"} | ONLY  # by functions of other names
    assert way in chosen or way in alone or call == "A.power(0)", chosen
    kernels = {line.kernel for line in ran}
    assert kernel in kernels if kernel else kernels <= {"kernels/bits"}
    if way is not plan.SEVERAL_STEPS:  # "": kernels that read the facts of a hypersparse product
        assert {line.plan for line in ran} <= {str(found), *([""] if call.startswith("hyper.reduce") else [])}


def noting(function, ways):
    def noted(*args, **how):
        result = function(*args, **how)
        ways.add(result)
        return result

    return noted


def test_every_way_is_explained_by_some_case():
    ways = {value for name, value in vars(plan).items() if name.isupper() and isinstance(value, str)}
    cases = {way for _, *more in CASES.values() for way in more}
    elsewhere = {plan.FUNCTION, plan.JOINED, plan.OWN_ARRAYS, plan.IN_PLACE, plan.THEN_MERGED, plan.PLACED}
    elsewhere |= {plan.SCATTERED, plan.EMBEDDED, plan.PENDING_SUMS, plan.TRANSPOSED}  # in the tests below
    elsewhere |= {plan.COUNTED, plan.SUMMED_UNITS}  # test_tile_products.py
    elsewhere |= {plan.FUSED, plan.STORED_FIRST}  # test_map_products.py
    assert ways - cases == elsewhere


def statement(run):
    """The plans of the kernels of a statement."""
    with gb.trace() as ran:
        run()
    return {line.plan for line in ran}


def test_a_trace_explains_what_happens_to_the_output(device):
    scope = objects()
    u, v = scope["u"], scope["v"]
    w, whole = gb.Vector(float, N), gb.Vector(int, N)
    fresh = statement(lambda: w << u.ewise_mult(v))
    assert fresh == {str(gb.explain(u.ewise_mult(v)))}
    for run, way in (
        (lambda: w << u.ewise_mult(v), plan.OWN_ARRAYS),
        (lambda: w << w.ewise_mult(v), plan.NEW_ARRAYS),
        (lambda: w(w.S, gb.replace) << u.ewise_mult(v), plan.NEW_ARRAYS),
        (lambda: w(v.S) << u.apply("ainv"), plan.IN_PLACE),
        (lambda: w("plus") << u.apply("ainv"), plan.THEN_MERGED),
        (lambda: whole << u.apply("ainv"), plan.THEN_MERGED),
    ):
        plans = statement(run)
        assert len(plans) == 1 and way in plans.pop(), way


def test_a_trace_explains_assignments(device):
    scope = objects()
    u, A, few = scope["u"], scope["A"], scope["few"]
    assert any(plan.PLACED in text for text in statement(lambda: u[[0, 2]] << 4.0))
    (scattered,) = (text for text in statement(lambda: u("plus")[[0, 2]] << 4.0) if plan.SCATTERED in text)
    assert scattered.startswith(f"assign to {u.name}[..]: assign plus: ")
    assert f"<< {u.name}" in statement(lambda: u("plus") << u)
    assert any(plan.LISTED in text for text in statement(lambda: few[[0, 2]] << 4.0))
    part = A[:5, :5].new()
    way = plan.MERGED_ROWS if device == "cpu" else plan.SORTED_KEYS
    assert any(way in text for text in statement(lambda: A[1:6, :5] << part))
    assert any(plan.SORTED_KEYS in text for text in statement(lambda: A[[5, 4, 3, 2, 1], :5] << part))
    ways = plan.assign_matrix_way(gb.Matrix(complex, N, N)._stored, None, None, A._stored, None, None)
    assert ways is plan.EMBEDDED


def test_functions_and_masked_products(device):
    point = gb.dtypes.register_anonymous(np.dtype([("x", np.int64), ("y", np.int64)], align=True))
    if device == "cpu":
        add = gb.binary.register_anonymous(lambda a, b: (a["x"] + b["x"], a["y"] + b["y"]), is_udt=True)
        x = gb.Vector.from_coo([0, 1], [(1, 2), (3, 4)], dtype=point, size=3)
        assert gb.explain(x.ewise_mult(x, add)).direction is plan.FUNCTION
        X = gb.Matrix.from_coo([0, 1], [1, 2], [(1, 2), (3, 4)], dtype=point, nrows=3, ncols=3)
        Y = gb.Matrix.from_coo([0, 2], [1, 2], [(1, 2), (3, 4)], dtype=point, nrows=3, ncols=3)
        assert gb.explain(X.ewise_mult(Y, add)).direction is plan.JOINED
    scope = objects()
    assert gb.explain(scope["hyper"].ewise_mult(scope["hyper2"], gb.binary.firsti)).direction is plan.JOINED
    A, C = scope["A"], gb.Matrix(float, N, N)
    C(A.S) << A.mxm(A)
    total = C.reduce_scalar()
    if C._stored.deferred and C._stored.pending:
        assert gb.explain(total).direction is plan.PENDING_SUMS and C._stored.pending
    assert plan.transpose_way(A._stored) is plan.TRANSPOSED and plan.transpose_way(scope["flat"]._stored) is plan.BITMAP


def test_a_changed_row_changes_the_way(device, tune):
    scope = objects()
    few = lambda: gb.Vector.from_coo([1, 5], [1.0, 2.0], size=2000)
    assert gb.explain(few() + few()).direction is plan.NEW_ARRAYS
    tune({"list.positions.cpu": 64, "list.positions.gpu": 64})
    found = gb.explain(few() + few())
    assert found.direction is plan.LISTED and "list.bits_per_entry = 128" in found.reason
    tune({"list.bits_per_entry": 4000})
    assert gb.explain(few() + few()).direction is plan.NEW_ARRAYS
    make = lambda: gb.Matrix.from_coo([1, 900], [5, 7], [1.0, 2.0], nrows=1000, ncols=1000)
    assert gb.explain(make().ewise_mult(make())).key == "csr"
    tune({"hyper.floor": 16, "hyper.share": 4})
    assert gb.explain(make().ewise_mult(make())).direction is plan.COMPRESSED
    if device == "cpu":
        A, B = scope["A"], scope["B"]
        tune({"extract.searched_columns": 0})
        found = gb.explain(A[:5, :5])
        assert found.direction is plan.SEARCHED_COLUMNS and "extract.searched_columns = 0" in found.reason
        if threads.count() > 1:
            assert "threads" not in gb.explain(A.ewise_add(B)).reason
            tune({"parallel.entries": 1, "parallel.words": 1})
            assert "parallel.entries = 1" in gb.explain(A.ewise_add(B)).reason
            assert "parallel.words = 1" in gb.explain(scope["u"].ewise_add(scope["v"])).reason


def test_masks_and_orders(device):
    scope = objects()
    u, v, A, B = (scope[name] for name in "uvAB")
    found = gb.explain(u.ewise_mult(v), mask=v.S)
    assert found.direction is plan.NEW_ARRAYS and "the kernel applies the mask" in found.reason
    assert statement(lambda: u.ewise_mult(v).new(mask=v.S)) == {str(found)}
    assert "in a merge" in gb.explain(A.ewise_add(B), mask=~A.S).reason
    C = A.reorder("rcm")
    assert str(gb.explain(C.apply("ainv"))).endswith("in the order of the matrix)")
    for mask, error, said in (
        (gb.Vector(bool, 3).S, gb.exceptions.DimensionMismatch, "shape"), ([1, 2], TypeError, "a mask"),
        (A.S, TypeError, "the mask of a Vector"),
    ):  # fmt: skip
        with pytest.raises(error, match=f"mask: expected {said}"):
            gb.explain(u.ewise_mult(v), mask=mask)


@pytest.fixture
def sources(monkeypatch):
    """The kernels that run in a trace, each with its source text."""
    found, note = [], tracing.Trace.note

    def noted(self, on, variant, *args, **how):
        found.append((variant, on.source(variant)))
        note(self, on, variant, *args, **how)

    monkeypatch.setattr(tracing.Trace, "note", noted)
    return found


SOURCES = (
    "u.ewise_mult(v)", "u - v", "1 - u", "u.apply('ainv')", "u.apply('rowindex')", "u.select('>', 3.0)",
    "one.select('>', 1.0)", "u.reduce()",
)  # fmt: skip


@pytest.mark.parametrize("call", SOURCES)
def test_the_source_is_that_of_the_kernel_that_runs(device, call, sources):
    expr = eval(call, objects())
    found = gb.explain(expr, source=True)
    with gb.trace():
        expr.new()
    assert sources[0][1] == found.source and found == gb.explain(expr)._replace(source=found.source)


def test_what_is_not_explained(device):
    scope = objects()
    u, A = scope["u"], scope["A"]
    for value in (u, A, 3, None, "A @ u", u.S):
        with pytest.raises(TypeError, match=r"explain: expected a delayed expression such as A\.mxv"):
            gb.explain(value)
    for expr in (A.ewise_mult(A), u[3], gb.agg.mean(u)):
        with pytest.raises(TypeError, match=r"source: expected a product.*got.*hint: gb\.trace"):
            gb.explain(expr, source=True)


def test_plans_print_themselves():
    scope = objects()
    found = gb.explain(scope["u"].ewise_mult(scope["v"]))
    assert str(found).startswith("ewise_mult times: word by word into new arrays (bits, values; 300 positions as bits")
    assert (found.verb, found.semiring, found.key) == ("ewise_mult", "times", "bits")
    assert "<table>" in found._repr_html_() and "word by word" in found._repr_html_()


@pytest.mark.parametrize("block", [EXPRESSIONS, SCALARS], ids=["expressions", "scalars"])
def test_every_delayed_expression_has_a_plan(device, block):
    scope = operands(gb, 0, "INT64")
    for text in each(block):
        try:
            value = eval(text, scope)
            value = value._to_expr() if isinstance(value, Delayed) else value
        except (TypeError, AttributeError):  # both libraries refuse it
            continue
        if isinstance(value, Delayed):
            found = gb.explain(value)
            assert found.verb and found.key and found.direction and found.reason, text
            assert str(found).startswith(found.verb), text


@pytest.mark.parametrize(("block", "name"), [(STATEMENTS, "v"), (MATRIX_STATEMENTS, "A")])
def test_statements_have_the_same_result_in_a_trace(device, block, name):
    for text in each(block):
        plain, traced = operands(gb, 0, "INT64"), operands(gb, 0, "INT64")
        exec(text, plain)
        with gb.trace():
            exec(text, traced)
        assert traced[name].isequal(plain[name]), text


# ---- products -------------------------------------------------------------------------------------------------------

M = 3000


@pytest.fixture
def ran(monkeypatch, tune):
    """The plans of the products that run, in order, each with the kernel that it was prepared with."""
    # Auxiliary formats are built for the first product that reads one; short vectors may be lists.
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})
    tune({"list.positions.cpu": 1 << 16, "list.positions.gpu": 1 << 16})
    found: list[tuple[kinds.Plan, str]] = []
    chosen: list[kinds.Plan] = []
    choose, run = plain_spmv.choose, plain_spmv.PreparedProduct.run

    def watched_choose(*args):
        choice = choose(*args)
        chosen.append(choice.plan)
        return choice

    def watched_run(self, *args):
        found.append((chosen[-1], self.plan.kernel))
        return run(self, *args)

    def watch(module, name, kernel=""):
        plain = getattr(module, name)

        def watched(product, *args):
            result = plain(product, *args)
            if result is not None:
                found.append((chosen[-1], kernel) if kernel else (product.plan, product.plan.kernel))
            return result

        monkeypatch.setattr(module, name, watched)

    watch(virtual_nodes, "_binned", kinds.BINNED)
    monkeypatch.setattr(plain_spmv, "choose", watched_choose)
    monkeypatch.setattr(plain_spmv.PreparedProduct, "run", watched_run)
    watch(spmv, "multiply_listed")
    watch(spgemm, "multiply_rows")
    watch(spgemm, "multiply_dots")
    watch(multivector, "multiply")
    return found


def one_hub(dtype=int, **options):
    """Row 1000 has half of the entries; values differ."""
    rng = np.random.default_rng(3)
    i = np.concatenate([np.full(M, 1000), rng.permutation(M)])
    j = np.concatenate([np.arange(M), rng.permutation(M)])
    values = (np.arange(2 * M) % 7 + 1).astype(dtype)
    return gb.Matrix.from_coo(i, j, values, nrows=M, ncols=M, dup_op=gb.binary.plus, **options)


def factors() -> dict[str, object]:
    at = np.arange(M)
    pattern = gb.Matrix.from_coo(at, (7 * at) % M, True, nrows=M, ncols=M, format="csr")
    far, alike = 10**8, (np.repeat(at[:400], 16), np.tile(at[:16], 400))
    return {
        "gb": gb,
        "A": one_hub(format="csr"),
        "F": one_hub(float, format="csr"),
        "P": pattern,
        "tiles": gb.Matrix.from_coo(at, (7 * at) % M, 1, nrows=M, ncols=M, format="b2sr", tile=8),
        "virtual": gb.Matrix.from_coo(*alike, 1, nrows=M, ncols=M, format="virtual"),
        "hyper": gb.Matrix.from_coo([5, 9, far - 1], [9, 5, 5], [1, 2, 3], nrows=far, ncols=far),
        "wide": gb.Matrix.from_coo([5, 6, 9], [7, 7, 8], [1, 2, 3], nrows=1 << 16, ncols=1 << 16, format="csr"),
        "listed": gb.Vector.from_coo([5, far - 1], [1, 2], size=far),
        "short": gb.Vector.from_coo([5, 6], [1, 2], size=1 << 16),
        "ones": gb.Vector.from_coo([5, 9], [1, 2], size=far),
        "many": gb.Vector.from_coo(at[: M // 2], at[: M // 2] + 1, size=M),
        "few": gb.Vector.from_coo([3, 70], [1, 2], size=M),
        "full": gb.Vector.from_coo(at, at + 1, size=M),
        "reals": gb.Vector.from_coo(at, at + 0.5, size=M),
        "X": gb.Matrix.from_dense(np.arange(8.0 * 2 * M).reshape(2 * M, 8)),
        "S": gb.Matrix.from_coo(np.arange(2 * M), np.arange(2 * M)[::-1].copy(), 1.0, nrows=2 * M, ncols=2 * M),
        "sparse": gb.Matrix.from_coo([3], [1], True, nrows=2 * M, ncols=8, format="bitmap"),
    }  # fmt: skip


# The product, its mask, and the kernel of the plan: of all devices, or of the CPU and of a GPU.
PRODUCTS = {
    "pull": ("A.mxv(many, gb.semiring.min_plus)", "", kinds.PULL),
    "pull under a mask": ("F.mxv(reals, gb.semiring.plus_times)", "few.S", (kinds.PULL, kinds.BINNED)),
    "binned pull": ("F.mxv(reals, gb.semiring.plus_times)", "", (kinds.PULL, kinds.BINNED)),
    "push": ("few.vxm(P, gb.semiring.any_pair)", "", kinds.PUSH),
    "push of values": ("few.vxm(A, gb.semiring.min_plus)", "~many.S", kinds.PUSH),
    "presence": ("P.mxv(full, gb.semiring.any_pair)", "", kinds.PRESENCE),
    "whole tiles": ("tiles.mxv(full, gb.semiring.plus_second)", "", (kinds.WIDE, kinds.PULL)),
    "counts of tiles": ("tiles.mxv(full, gb.semiring.plus_pair)", "", kinds.PULL),
    "list": ("listed.vxm(hyper, gb.semiring.min_plus)", "", (kinds.LIST, kinds.PULL)),
    "rows of a list": ("short.vxm(wide, gb.semiring.min_plus)", "", (kinds.LIST, kinds.PULL)),
    "hypersparse": ("hyper.mxv(ones, gb.semiring.plus_times)", "", (kinds.LIST, kinds.PULL)),
    "by position": ("hyper.mxv(ones, gb.semiring.ss.min_firsti)", "", (kinds.LIST, kinds.PULL)),
    "virtual nodes": ("virtual.mxv(many, gb.semiring.plus_times)", "", kinds.PULL),
    "virtual nodes, full": ("virtual.mxv(reals, gb.semiring.plus_times)", "", (kinds.PULL, kinds.BINNED)),
    "virtual nodes, pushed": ("few.vxm(virtual, gb.semiring.any_pair)", "", kinds.PUSH),
    "virtual, by rows": ("virtual.mxv(full, gb.semiring.ss.min_firsti)", "", kinds.PULL),
    "dots": ("A.mxm(A, gb.semiring.plus_times)", "P.S", kinds.DOT),
    "dots at a mask of values": ("A.mxm(A, gb.semiring.plus_times)", "P.V", kinds.DOT),
    "rows": ("P.mxm(P, gb.semiring.plus_pair)", "", kinds.ROWS),
    "rows of a hub, not at a mask": ("F.mxm(F, gb.semiring.plus_times)", "~P.S", kinds.ROWS),
    "rows, not at a mask": ("P.mxm(P, gb.semiring.plus_pair)", "~P.S", kinds.ROWS),
    "hypersparse rows": ("hyper.mxm(hyper, gb.semiring.ss.min_firsti)", "", kinds.ROWS),
    "hypersparse dots": ("hyper.mxm(hyper, gb.semiring.plus_times)", "hyper.S", kinds.DOT),
    "multivector": ("S.mxm(X, gb.semiring.plus_times)", "", kinds.LINES),
    "multivector, pushed": ("S.T.mxm(sparse, gb.semiring.any_pair)", "", kinds.LINES),
}


SOURCED = {
    "push",
    "pull",
    "pull_full",
    "lanes",
    "hubs",
    "dot",
    "gustavson",
    "short_rows",
    "long_rows",
}  # kernels of products


def assert_runs_as_explained(ran, sources, call, mask, kernel):
    simt = devices.get(config.device).is_simt
    scope = factors()
    for _ in range(3):  # prepared, looked up, and with all formats
        expr, where = eval(call, scope), eval(mask, scope) if mask else None
        explained = gb.explain(expr, mask=where)
        with_source = gb.explain(expr, mask=where, source=True)
        assert with_source == explained._replace(source=with_source.source)
        assert str(with_source) == "\n\n".join(filter(None, (str(explained), with_source.source)))
        assert not ran, "nothing is computed"
        sources.clear()
        with gb.trace() as trace:
            made = expr.new(mask=where)
            _ = made.nvals if made.ndim == 2 else None  # a product with a map is computed when it is read
        # but not of the pass that counts
        texts = [text for variant, text in sources if variant.entry in SOURCED and variant.constant("FILL", 1)]
        shown = [text in with_source.source for text in texts]
        assert texts or explained.kernel in (kinds.LIST, kinds.PRESENCE, kinds.BINNED)
        # With virtual nodes there are two products; the source is that of the first.
        assert all(shown) or ("virtual nodes" in explained.reason and any(shown))
        plan, prepared = ran[0]
        ran.clear()
        assert not trace.runs or str(explained) in {run.plan for run in trace}  # a cached result needs no kernel
        assert explained.kernel == (kernel[simt] if isinstance(kernel, tuple) else kernel)
        assert explained.kernel == prepared
        assert explained.reason.startswith(plan.reason)
        names = {"verb", "semiring", "key"} if "virtual nodes" in explained.reason else {"semiring"}
        same = {name: getattr(plan, name) for name in {*names, "reason", "kernel"}}
        assert explained._replace(**same) == plan


@pytest.mark.in_turn
@pytest.mark.parametrize("call, mask, kernel", PRODUCTS.values(), ids=PRODUCTS)
def test_a_product_runs_by_the_plan_that_explain_returns(device, ran, sources, tune, call, mask, kernel):
    tune({"csr.binned_from": 1, "coded.binned_from": 1})
    assert_runs_as_explained(ran, sources, call, mask, kernel)


@pytest.mark.parametrize("name", ["list", "rows of a list", "hypersparse", "by position"])
def test_a_list_of_too_many_products_is_no_list(device, ran, sources, tune, name):
    tune({"push.list.products": 0, "push_cost.list": 1e9})
    call, mask, _ = PRODUCTS[name]
    assert_runs_as_explained(ran, sources, call, mask, kinds.PULL)
