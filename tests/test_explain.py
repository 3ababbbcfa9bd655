"""gb.explain of every operation but products: the way that runs, with its reason, and nothing is computed."""

from __future__ import annotations

import numpy as np
import pytest
from both_libraries import each, operands
from core_programs import EXPRESSIONS, MATRIX_STATEMENTS, SCALARS, STATEMENTS

import bitblas as gb
from bitblas.core.statement.infix import Delayed
from bitblas.device import threads
from bitblas.plan import operation as plan

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


# Expression: its storage; its way, and one of the kernels that run, on the CPU and on a GPU (only once: on both).
CASES = {
    "u.ewise_mult(v)": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u.ewise_add(v)": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "one.ewise_mult(other)": ("bits", plan.ONE_VALUE, ""),
    "one.ewise_add(one)": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u - v": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u.apply('ainv')": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "1 - u": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "one + 1": ("bits", plan.ONE_VALUE, ""),
    "u.apply('one')": ("bits", plan.ONE_VALUE, ""),
    "u.apply('rowindex')": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u.select('>', 3.0)": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u.select(v.S)": ("bits", plan.UNDER_MASK, "kernels/merge"),
    "u.reduce()": ("bits", plan.CHUNKS, "kernels/reduce"),
    "one.reduce()": ("bits", plan.REPEATED, ""),
    "full.reduce()": ("bits", plan.EQUAL_CHUNKS, "kernels/reduce", plan.REPEATED, ""),
    "u.inner(v)": ("bits", plan.NEW_ARRAYS, "kernels/elementwise"),
    "u.outer(one)": ("bits", plan.ALL_PAIRS, "kernels/elementwise"),
    "u.reposition(3)": ("bits", plan.SHIFTED, "kernels/place"),
    "gb.agg.mean(u)": ("bits", plan.SEVERAL_STEPS, "kernels/reduce"),
    "u[3]": ("bits", plan.SINGLE_BIT, ""),
    "u[:5]": ("bits", plan.GATHERED, "kernels/gather"),
    "u[[3, 1]]": ("bits", plan.GATHERED, "kernels/gather"),
    "u[:]": ("bits", plan.WHOLE, ""),
    "few[3:9]": ("a list", plan.PART_OF_LIST, "", plan.PART_OF_LIST, "kernels/pack"),
    "few[[1, 2]]": ("a list", plan.SEARCHED_LIST, "", plan.SEARCHED_LIST, "kernels/pack"),
    "few + two": ("a list", plan.LISTED, "kernels/elementwise"),
    "few.ewise_mult(two)": ("a list", plan.LISTED, "kernels/elementwise"),
    "few.apply('ainv')": ("a list", plan.LISTED, "kernels/elementwise"),
    "few.reduce()": ("a list", plan.CHUNKS, "kernels/reduce"),
    "A.ewise_mult(B)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
    "A.ewise_add(B)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
    "A.T.ewise_add(B)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
    "A - B": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
    "A.ewise_mult(u)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/join"),
    "A.ewise_mult(A)": ("csr", plan.SAME_STRUCTURE, "kernels/elementwise"),
    "hyper + hyper2": ("hyper", plan.COMPRESSED, "formats/csr/merge_rows", plan.COMPRESSED, "formats/csr/join"),
    "F + F": ("bitmap", plan.BITMAP, "kernels/elementwise"),
    "flat + F": ("bitmap", plan.BITMAP, "kernels/elementwise"),
    "A.apply('ainv')": ("csr", plan.EACH_VALUE, "kernels/elementwise"),
    "A + 1": ("csr", plan.EACH_VALUE, "kernels/elementwise"),
    "A.apply('one')": ("csr", plan.ONE_VALUE, ""),
    "A.apply('rowindex')": ("csr", plan.BY_POSITION, "kernels/elementwise"),
    "none.apply('ainv')": ("csr", plan.NO_ENTRIES, ""),
    "flat.apply('ainv')": ("bitmap", plan.BITMAP, "kernels/elementwise"),
    "A.select('tril')": ("csr", plan.SELECTED_ROWS, "formats/csr/select_rows", plan.CLIPPED, "formats/csr/clip"),
    "A.select('>', 3.0)": ("csr", plan.SELECTED_ROWS, "formats/csr/select_rows", plan.FILTERED, "kernels/elementwise"),
    "A.select(B.S)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/match"),
    "A.select(A.S)": ("csr", plan.SAME_STRUCTURE, ""),
    "A.select(~A.V)": ("csr", plan.MERGED_ROWS, "formats/csr/merge_rows", plan.SEARCHED_ENTRIES, "formats/csr/match"),
    "hyper.select(hyper2.S)": (
        "hyper",
        plan.COMPRESSED,
        "formats/csr/merge_rows",
        plan.COMPRESSED,
        "formats/csr/match",
    ),
    "flat.select(F.S)": ("bitmap", plan.BITMAP, "kernels/merge"),
    "tiles.select('tril')": ("b2sr8", plan.CLIPPED, "formats/b2sr/filter"),
    "iso.select('tril')": ("b2sr8", plan.CLIPPED, "formats/b2sr/clip"),
    "tiles.select('>', 3.0)": ("b2sr8", plan.FILTERED, "formats/b2sr/filter"),
    "iso.select('>', 3.0)": ("b2sr8", plan.ONE_TEST, "kernels/elementwise"),
    "none.select('tril')": ("csr", plan.NO_ENTRIES, ""),
    "flat.select('>', 3.0)": ("bitmap", plan.BITMAP, "kernels/elementwise"),
    "A.reduce_scalar()": ("csr", plan.EACH_VALUE, "kernels/reduce"),
    "iso.reduce_scalar()": ("b2sr8", plan.REPEATED, ""),
    "none.reduce_scalar()": ("csr", plan.NO_ENTRIES, ""),
    "flat.reduce_scalar()": ("bitmap", plan.CHUNKS, "kernels/reduce"),
    "flat.reduce_rowwise()": ("bitmap", plan.SUMMED_LINES, "formats/bitmap/reduce_columns"),
    "A.reduce_rowwise()": ("csr", "pull", "formats/csr/pull"),
    "hyper.reduce_rowwise()": ("csr", "pull", "formats/csr/pull"),
    "A[3, 4]": ("csr", plan.ROW_SEARCH, ""),
    "A[3, :]": ("csr", plan.ROW_SLICE, "kernels/place"),
    "A[:, 3]": ("csr", plan.CLIPPED, "formats/csr/clip"),
    "A.T[3, :]": ("csr", plan.CLIPPED, "formats/csr/clip"),
    "A[:, :]": ("csr", plan.WHOLE, ""),
    "A[:5, :5]": ("csr", plan.SELECTED_ROWS, "formats/csr/extract", plan.SEARCHED_COLUMNS, "formats/csr/rows"),
    "A[:3, :]": ("csr", plan.SELECTED_ROWS, "formats/csr/extract", plan.SCATTERED_COLUMNS, "formats/csr/rows"),
    "A[[3, 1], [4, 2]]": ("csr", plan.SCATTERED_COLUMNS, "", plan.SCATTERED_COLUMNS, "formats/csr/rows"),
    "coded[[1, 2], :]": ("cgr", plan.DECODED_ROWS, "formats/cgr/decode"),
    "coded[3, :]": ("cgr", plan.DECODED_ROWS, "formats/cgr/decode"),
    "hyper[3, 4]": ("hyper", plan.COMPRESSED, ""),
    "hyper[:5, :5]": ("hyper", plan.COMPRESSED, "formats/csr/extract", plan.COMPRESSED, ""),
    "flat[1, 1]": ("bitmap", plan.SINGLE_BIT, ""),
    "A.reposition(1, 1)": ("csr", plan.SORTED_KEYS, "", plan.SORTED_KEYS, "formats/csr/rows"),
    "hyper.reposition(1, 1)": ("hyper", plan.SHIFTED, "", plan.SHIFTED, "formats/csr/rows"),
    "F.kronecker(F)": ("bitmap", plan.SORTED_KEYS, "kernels/elementwise"),
    "hyper.kronecker(F)": ("hyper and bitmap", plan.COMPRESSED, "kernels/elementwise"),
    "A.power(3)": (
        "csr",
        plan.REPEATED_SQUARES,
        "formats/csr/gustavson",
        plan.REPEATED_SQUARES,
        "formats/csr/short_rows",
    ),
    "A.power(0)": ("csr", plan.SORTED_KEYS, ""),
    "gb.agg.mean(A, rowwise=True)": ("csr", plan.SEVERAL_STEPS, "formats/csr/pull"),
    "gb.Scalar.from_value(3) + 1": ("a scalar", plan.ON_HOST, ""),
}
# Ways that no function chooses, because the call has only one.
ONLY = {plan.ALL_PAIRS, plan.UNDER_MASK, plan.SEVERAL_STEPS, plan.ON_HOST, plan.REPEATED_SQUARES, plan.SUMMED_LINES}


def contents(scope):
    """What explaining must not change: the attributes of all stores, by identity."""
    stores = {name: x._data for name, x in scope.items() if hasattr(x, "_data")}
    return {name: {key: id(value) for key, value in vars(store).items()} for name, store in stores.items()}


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
    assert any(plan.SCATTERED in text for text in statement(lambda: u("plus")[[0, 2]] << 4.0))
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
    with pytest.raises(gb.exceptions.DimensionMismatch, match="mask: expected shape"):
        gb.explain(u.ewise_mult(v), mask=gb.Vector(bool, 3).S)
    with pytest.raises(TypeError, match="mask: expected a mask"):
        gb.explain(u.ewise_mult(v), mask=[1, 2])
    with pytest.raises(TypeError, match="mask: expected the mask of a Vector"):
        gb.explain(u.ewise_mult(v), mask=A.S)


SOURCES = (
    "u.ewise_mult(v)",
    "u - v",
    "1 - u",
    "u.apply('ainv')",
    "u.apply('rowindex')",
    "u.select('>', 3.0)",
    "one.select('>', 1.0)",
    "u.reduce()",
)


@pytest.mark.parametrize("call", SOURCES)
def test_the_source_is_that_of_the_kernel_that_runs(device, call, monkeypatch):
    from bitblas.device import tracing

    expr = eval(call, objects())
    told, ran, note = gb.explain(expr, source=True), [], tracing.Trace.note

    def noted(self, on, variant, *args, **how):
        ran.append(on.source(variant))
        note(self, on, variant, *args, **how)

    monkeypatch.setattr(tracing.Trace, "note", noted)
    with gb.trace():
        expr.new()
    assert ran[:1] == [told.source] and told == gb.explain(expr)._replace(source=told.source)


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
