"""Pushes along the entries of a vector: the sums of a pull, in the same order where they have one."""

import numpy as np
import pytest
from battery import FORMS, MATRICES, generator
from both_libraries import both, each

import bitblas as gb
from bitblas.plan.product import COUNT

IN_ORDER = ("csr", "mplg", "b2sr8", "b2sr64")  # whose pulls of values add up along the columns
FLIPPED = {"plus_second": "plus_first", "lxor_pair": "lxor_pair"}


def force(tune, how):
    cost = 0.0 if how == "push" else float("inf")
    tune({"push_cost.cpu": cost, "push_cost.gpu": cost})
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})


def operands(key, dtype, value=None):
    """A matrix with a row of many entries, its transpose, and a vector with half of its entries, of one value if it
    is an argument; sums of floats round."""
    p = MATRICES["long hub"]()
    rng = generator(dtype)
    some = lambda k: rng.random(k) - 0.5 if dtype.startswith("FP") else rng.integers(1, 9, k)
    x = some(len(p.rows))
    x[::2] *= dtype.startswith("INT")  # zeros, negative ones among them: sums of these alone keep their sign
    A = gb.Matrix.from_coo(p.rows, p.cols, x, dtype, nrows=p.nrows, ncols=p.ncols, **FORMS[key])
    B = gb.Matrix.from_coo(p.cols, p.rows, x, dtype, nrows=p.ncols, ncols=p.nrows, **FORMS[key])
    at = np.flatnonzero(rng.random(p.ncols) < 0.5)
    return A, B, gb.Vector.from_coo(at, some(len(at)) if value is None else value, dtype, size=p.ncols)


def bits(w):
    """The entries, and their values to the bit."""
    at, x = w.to_coo()
    return at.tolist(), x.tobytes()


def pulled_and_pushed(tune, A, B, u, name, dtype):
    force(tune, "pull")
    pull = A.mxv(u, getattr(gb.semiring, name)[dtype])
    assert gb.explain(pull).direction == "pull"
    pulled = bits(pull.new())
    force(tune, "push")
    push = u.vxm(B, getattr(gb.semiring, FLIPPED.get(name, name))[dtype])
    assert gb.explain(push).direction == "push" and gb.explain(push).kind == gb.explain(pull).kind
    return pulled, bits(push.new())


@pytest.mark.parametrize("key", IN_ORDER)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("plus_times", "FP64"), ("plus_second", "FP32"), pytest.param("times_plus", "FP64", marks=pytest.mark.slow)],
)
def test_float_sums_are_those_of_a_pull_to_the_bit(tune, key, name, dtype):
    with gb.config.set(device="cpu"):
        pulled, pushed = pulled_and_pushed(tune, *operands(key, dtype), name, dtype)
    assert pulled == pushed


@pytest.mark.in_turn
@pytest.mark.parametrize("key", ["csr", "b2sr8", pytest.param("b2sr32", marks=pytest.mark.slow), "split8"])
@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [("plus_second", "FP64", 0.1), pytest.param("plus_second", "FP32", 0.1, marks=pytest.mark.slow),
     ("plus_second", "INT8", 57),
     ("plus_second", "INT64", 3), ("lxor_pair", "BOOL", True)],
)  # fmt: skip
def test_counts_are_those_of_a_pull_to_the_bit(tune, key, name, dtype, value):
    """k times 0.1 is k * 0.1, which differs from a sum of k terms; and sums of eight bits wrap."""
    with gb.config.set(device="cpu"):
        found = operands(key, dtype, value)
        pulled, pushed = pulled_and_pushed(tune, *found, name, dtype)
        assert gb.explain(found[0].mxv(found[2], getattr(gb.semiring, name)[dtype])).kind == COUNT
    assert pulled == pushed


@pytest.mark.parametrize("key", ["b2sr8", "split8"])
def test_a_push_on_tiles_adds_in_the_order_of_rows(tune, key):
    """If a pull on whole tiles would not. (A Split adds the entries of a tile row's tiles first.)"""
    force(tune, "push")
    with gb.config.set(device="cpu"):
        found = {bits(u.vxm(B, gb.semiring.plus_first).new())[1] for _, B, u in [operands(key, "FP64")] * 2}
        _, B, u = operands("csr", "FP64")
        assert found == {bits(u.vxm(B, gb.semiring.plus_first).new())[1]}


STATEMENTS = """
w << v.vxm(A, ring); w(b.S, replace) << v.vxm(A, ring); w(~b.S, replace) << v.vxm(A, ring); w(b.S) << v.vxm(A, ring);
w(accum) << v.vxm(A, ring); w(~b.V, accum) << v.vxm(A, ring); v << v.vxm(A, ring); v(~v.S, replace) << v.vxm(A, ring);
w(w.S, replace) << v.vxm(A, ring); b(~b.V, replace) << v.vxm(A, ring); b << v.vxm(A, ring); v(accum) << v.vxm(A, ring)
"""  # the last ones write into their inputs (no value mask of floats: for SuiteSparse -0.0 is true in a mask)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("plus_times", "FP64"), ("plus_pair", "FP64"), ("plus_times", "INT64"), ("min_first", "INT64"),
     ("lor_land", "BOOL"), ("any_pair", "BOOL"), ("any_pair", "FP64")],
)  # fmt: skip
def test_statements_that_push(device, tune, name, dtype):
    """Into outputs whose arrays are new, and into those that the product reads."""
    force(tune, "push")
    accum = "binary.lor" if dtype == "BOOL" else "binary.plus"
    for text in each(STATEMENTS):
        text = text.replace("ring", f"semiring.{name}").replace("accum", accum)
        both(f"{text}\n{text}", "v, w, b", dtype)  # the second time into what the first has left


def test_a_push_writes_into_the_output_that_is_there(tune):
    """A statement of few entries takes no new memory as large as the vector."""
    force(tune, "push")
    with gb.config.set(device="cpu"):
        _, B, u = operands("csr", "FP64")
        w, v = gb.Vector("FP64", B.ncols), gb.Vector.from_scalar(1.0, B.ncols)
        w << u.vxm(B, gb.semiring.plus_times)
        present, x = w._store.present, w._store.values
        w(v.S, gb.replace) << u.vxm(B, gb.semiring.plus_times)
        assert w._store.present is present and w._store.values is x
        expected = u.vxm(B, gb.semiring.plus_times).new()
        assert w.isequal(expected) and w.nvals == expected.nvals


def places(w):
    return w.to_coo()[0].tolist()


@pytest.mark.in_turn
@pytest.mark.parametrize("key", ["csr", "mplg", "b2sr8", "split8"])
@pytest.mark.parametrize("name", ["lor_land", "any_pair", "min_first"])
def test_presence_of_full_vectors(device, key, name):
    """The rows with entries: computed once for all products, and not returned to users."""
    p = MATRICES["gaps"]()
    A, T = (
        gb.Matrix.from_coo(*at, True, nrows=n, ncols=m, **FORMS[key])
        for at, n, m in (((p.rows, p.cols), p.nrows, p.ncols), ((p.cols, p.rows), p.ncols, p.nrows))
    )
    ring = getattr(gb.semiring, name)[gb.dtypes.BOOL]
    rows, half = np.unique(p.rows), np.arange(0, p.nrows, 2)
    m = gb.Vector.from_coo(half, True, size=p.nrows)
    full = gb.Vector.from_scalar(True, p.ncols)
    expected = {"": rows, "m": np.intersect1d(rows, half), "~m": np.setdiff1d(rows, half)}
    for _ in range(2):
        for text, mask in (("", None), ("m", m.S), ("~m", ~m.S)):
            for expr in (A.mxv(full, ring), full.vxm(T, ring)):
                found = expr.new(mask=mask)
                assert found.nvals == len(expected[text]) and places(found) == expected[text].tolist(), text
                found << True  # the cached array is not the returned one
        w = gb.Vector.from_coo(half, True, size=p.nrows)
        w(gb.binary.lor) << A.mxv(full, ring)
        assert places(w) == np.union1d(rows, half).tolist()
        w(w.S, gb.replace) << A.mxv(full, ring)
        assert places(w) == rows.tolist()
        w(m.S, gb.replace) << A.mxv(full, ring)
        w << A.mxv(full, ring)
        assert places(w) == rows.tolist() and w.nvals == len(rows)


CASES = [("csr", "plus_times", "FP64"), ("b2sr8", "plus_times", "FP64")]


@pytest.mark.parametrize(("key", "name", "dtype"), CASES)
def test_threads_that_share_a_push_change_no_bit(tune, key, name, dtype):
    """Each has separate words of the output, and long rows cross their boundaries; a mask applies to all of them."""
    tune({"push.shared_entries": 0, "push.shared_row_length": 0, "push.words_per_thread": 1})
    force(tune, "push")
    found = []
    for threads in (1, 2, 5):
        with gb.config.set(device="cpu", threads=threads):
            _, B, u = operands(key, dtype)
            given = u.vxm(B, getattr(gb.semiring, name)[dtype])
            assert gb.explain(given).direction == "push"
            some = gb.Vector.from_coo(range(0, B.ncols, 3), True, size=B.ncols)
            found.append((bits(given.new()), bits(given.new(mask=~some.S))))
    assert found[0] == found[1] == found[2]
