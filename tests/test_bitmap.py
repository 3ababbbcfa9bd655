"""Tall-skinny matrices as bitmaps: products from both sides, element-wise operations, and statements, against
python-graphblas."""

from __future__ import annotations

import itertools

import graphblas
import numpy as np
import pytest
from both_libraries import NAMES, each

import bitblas as gb
from bitblas.formats.schedule import groups_of
from bitblas.store import FlatStore

SHAPES = ((70, 5), (70, 20), (130, 64), (150, 70))
TYPES = {"FP64": np.float64, "INT64": np.int64, "BOOL": bool, "FP32": np.float32}


def entries(rng, shape, density, dtype, iso=False):
    rows, cols = np.nonzero(rng.random(shape) < density)
    values = rng.integers(0, 3, len(rows)).astype(TYPES[dtype])
    return rows, cols, values[:1].repeat(len(rows)) if iso else values


def both(given, shape, dtype, device, form="bitmap"):
    """The same matrix in both libraries; ours as a bitmap."""
    rows, cols, values = given
    how = {"nrows": shape[0], "ncols": shape[1]}
    other = graphblas.Matrix.from_coo(rows, cols, values, dtype, **how)
    iso = len(values) and (values == values[0]).all()
    mine = gb.Matrix.from_coo(rows, cols, values[0] if iso else values, dtype, **how, device=device, format=form)
    return mine, other


def on_host(A):
    """Rows, columns and values as NumPy's arrays."""
    return tuple(map(A.device.to_host, A.to_coo()))


def same(mine, other):
    ours, theirs = on_host(mine), other.to_coo()
    assert mine.dtype.name == other.dtype.name
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(x, y)


def is_bitmap(A):
    return isinstance(A._data, FlatStore)


def product(library, A, X, side, op):
    f = getattr(library.semiring, op[0])[op[1]]
    return {
        "AX": lambda: A.mxm(X, f), "ATX": lambda: A.T.mxm(X, f), "XTA": lambda: X.T.mxm(A, f),
        "WA": lambda: X.mxm(A, f), "WAT": lambda: X.mxm(A.T, f), "AWT": lambda: A.mxm(X.T, f),
    }[side]()  # fmt: skip


def scope(lib, **operands):
    return {name: getattr(lib, name) for name in NAMES} | operands


def by_both(do, *operands):
    """What a function makes of the operands of each library: do(library, ..)."""
    return [do(lib, *mine) for lib, *mine in zip((gb, graphblas), *operands, strict=True)]


CASES = (
    ("AX", "FP64", ("plus_times", "FP64"), 0), ("ATX", "BOOL", ("any_pair", "BOOL"), 1),
    ("XTA", "INT64", ("min_plus", "INT64"), 2), ("WA", "FP64", ("plus_times", "FP64"), 3),
    ("WAT", "BOOL", ("lor_land", "BOOL"), 0), ("AWT", "INT64", ("plus_pair", "INT64"), 1),
    ("AX", "BOOL", ("lor_land", "BOOL"), 2), ("WA", "INT64", ("plus_first", "INT64"), 3),
    ("XTA", "BOOL", ("any_pair", "BOOL"), 3), ("ATX", "INT64", ("min_plus", "INT64"), 0),
)  # fmt: skip


SLOW = pytest.mark.slow


@pytest.mark.parametrize("case", [0, 1, *(pytest.param(k, marks=SLOW) for k in range(2, len(CASES)))])
def test_products_from_both_sides(device, case):
    side, dtype, op, shape = CASES[case]
    rng = np.random.default_rng(case)
    n, k = SHAPES[shape]
    wide = side[0] == "W" or side.endswith("WT")
    a = both(entries(rng, (n, n), 0.06, dtype), (n, n), dtype, device, form="csr")
    of = (k, n) if wide else (n, k)
    out = (k, n) if side[0] in "WX" else (n, k)
    m = both(entries(rng, out, 0.4, "BOOL"), out, "BOOL", device, form=("bitmap", "csr")[case % 2])
    for density, iso in ((0.3, False), (0.004, False), (0.3, True), (0, False)):
        x = both(entries(rng, of, density, dtype, iso), of, dtype, device)
        _ = x[0].nvals  # counted: few entries push
        t = by_both(lambda lib, A, X: product(lib, A, X, side, op), a, x)
        same(t[0].new(), t[1].new())
        for mask in (lambda M: M.S, lambda M: ~M.S, lambda M: M.V, lambda M: ~M.V):
            c = both(entries(rng, out, 0.3, dtype), out, op[1], device)
            accum = "lor" if op[1] == "BOOL" else "min"
            for end in (lambda lib: lib.replace, lambda lib, accum=accum: getattr(lib.binary, accum)):
                by_both(lambda lib, C, T, M, mask=mask, end=end: C(mask(M), end(lib)) << T, c, t, m)
                same(*c)
            assert is_bitmap(c[0])


POSITIONAL = {  # by the shapes that they are tried on
    (70, 5): "A.apply(indexunary.rowindex, 2); A.select(select.tril, -1); A.ewise_mult(B, binary.ss.secondj)",
    (150, 130): "A.apply(indexunary.colindex, 1); A.select('colgt', 100)",
    (20, 70): """A.apply(unary.ss.positionj1); A.select("rowle", 7); A.ewise_add(B, binary.ss.firsti1);
A.apply(indexunary.diagindex, 3); A.select(select.triu, 1 << 62)""",
}


@pytest.mark.parametrize("shape", POSITIONAL)
def test_operators_of_rows_and_columns_read_places(device, shape):
    rng = np.random.default_rng(shape)
    a, b = (both(entries(rng, shape, 0.3, "INT64"), shape, "INT64", device) for _ in range(2))
    for text in each(POSITIONAL[shape]):
        t = by_both(lambda lib, A, B, text=text: eval(text, scope(lib, A=A, B=B)).new(), a, b)
        same(*t)
        assert is_bitmap(t[0])


OF_EVERY_TYPE = """A.ewise_add(B, f).new(); A.ewise_mult(B, f).new(); A.select("==", 1).new(); A.dup(); A.T.new();
A.apply(unary.identity).new(); A.apply(unary.one).new(); A.dup("INT64"); A.ewise_mult(M, binary.second).new(mask=~B.S);
M.ewise_add(M, binary.first).new()"""
OF_NUMBERS = """A.apply(binary.minus, right=3).new(); A.apply(binary.minus, left=3).new();
A.ewise_union(B, binary.minus, 1, 2).new(); A.apply(indexunary.rowindex).new(); A.reduce_scalar("min").new();
A.reduce_rowwise("min").new(); A.reduce_columnwise("min").new(); M.reduce_rowwise("min").new();
M.reduce_columnwise("min").new(); B.T.reduce_rowwise("min").new(); B.T.reduce_columnwise("min").new()"""
SUMS = [f"{x}.{way}(f).new()" for x in ("A", "M", "B.T") for way in ("reduce_rowwise", "reduce_columnwise")]
STEPS = "B.S) << 1; ~M.V) << 0; C.S, replace) << A; ~C.S) << B; M.S, f) << C; M.S, replace) << C; ) << C.T.T"


@SLOW  # the kernels are those of vectors
@pytest.mark.parametrize("dtype", ["FP64", "BOOL"])
@pytest.mark.parametrize("shape", [(70, 5), (20, 70), (130, 64)])
def test_entry_by_entry(device, shape, dtype):
    rng = np.random.default_rng(shape)
    a, b, m = (both(entries(rng, shape, 0.4, dtype, iso), shape, dtype, device) for iso in (False, False, True))
    number = dtype == "FP64"
    texts = [*each(OF_EVERY_TYPE), *SUMS, "A.reduce_scalar(f).new()", *(each(OF_NUMBERS) if number else ())]

    def made(lib, A, B, M):
        names = scope(lib, A=A, B=B, M=M, C=A.dup(), f=lib.monoid.plus if number else lib.monoid.lor)
        found = [eval(text, names) for text in texts]
        for step in each(STEPS):
            exec(f"C({step}", names)
            found.append(names["C"].dup())
        return [*found, A]

    for mine, other in zip(*by_both(made, a, b, m), strict=True):
        assert mine.nvals == other.nvals
        same(mine, other) if mine.ndim else np.testing.assert_array_equal(mine.value, other.value)


def test_a_statement_writes_in_place_only_where_nobody_else_looks(device):
    rng = np.random.default_rng(7)
    given = entries(rng, (100, 20), 0.5, "FP64")
    C, D = (gb.Matrix.from_coo(*given, nrows=100, ncols=20, device=device, format="bitmap") for _ in range(2))
    C(gb.binary.plus) << D  # from now on it holds places
    held = C._data.flat
    C(D.S) << 1.5
    assert C._data.flat is held
    before = on_host(C)[2]
    E = C.dup()
    F = C.T.new()
    C(D.S) << 2.5
    assert C._data.flat is not held and (before == on_host(E)[2]).all() and (on_host(F)[2] == 1.5).all()
    rows = C.to_coo()[0]
    C(D.S) << C.apply(gb.binary.times, right=0.0)
    G = gb.Matrix(gb.dtypes.BOOL, 100, 20, device=device)
    G(C.S) << True
    C(~D.S, gb.replace) << 0
    assert G.nvals == len(rows) and C.nvals == 2000 - len(given[0])


def test_chosen_for_narrow_operands():
    n = 5000
    at = np.arange(n)
    A = gb.Matrix.from_coo(at, (at + 1) % n, 1.0, nrows=n, ncols=n, device="cpu")
    X = gb.Matrix.from_dense(np.arange(8.0 * n).reshape(n, 8), device="cpu")
    plan = gb.explain(A.mxm(X))
    assert "bitmap" in str(plan) and plan.direction == "pull"
    T = A.mxm(X).new()
    assert T.format == "bitmap" and (T.to_dense() == np.roll(X.to_dense(), -1, axis=0)).all()
    few = gb.Matrix.from_coo([3], [1], 1.0, nrows=n, ncols=8, device="cpu")
    assert A.mxm(few).new().format == "csr"
    few = gb.Matrix.from_coo([3], [1], 1.0, nrows=n, ncols=8, device="cpu", format="bitmap")
    assert gb.explain(A.T.mxm(few)).direction == "push" and A.T.mxm(few).new().to_coo()[0].tolist() == [4]


def test_long_rows_are_cut(device):
    n, rng = 3000, np.random.default_rng(3)
    cols, rows = np.r_[np.arange(n), rng.integers(0, n, 500)], np.r_[np.full(n, 7), rng.integers(0, n, 500)]
    key = np.unique(rows * n + cols)
    given = key // n, key % n, rng.integers(1, 5, len(key)).astype(float)
    a = both(given, (n, n), "FP64", device, form="csr")
    x = both(entries(rng, (n, 9), 0.3, "FP64"), (n, 9), "FP64", device)
    for op in (("plus_times", "FP64"), ("any_pair", "BOOL")):
        for side in ("AX", "ATX"):
            same(*by_both(lambda lib, A, X, side=side, op=op: product(lib, A, X, side, op).new(), a, x))


def a_graph(n, degree, seed):
    """Random directed edges, those of a circle and a hub among them."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, n, n * degree), rng.integers(0, n, n * degree)
    at = np.arange(n)
    rows, cols = np.r_[rows, at[: n // 2], np.full(n // 2, 3)], np.r_[cols, at[: n // 2] + 1, at[::2]]
    return np.divmod(np.unique(rows * n + cols), n)


@pytest.mark.slow
def test_searches_from_several_sources(device):
    """Of more vertices than a bitmap is made for."""
    n, sources = 4200, [5, 17, 4000, 5, 2]
    rows, cols = a_graph(n, 1, 4)
    length = 1.0 + (rows + cols) % 5
    how = {"nrows": n, "ncols": n}
    A, W = (gb.Matrix.from_coo(rows, cols, x, **how, device=device) for x in (True, length))
    B, L = (graphblas.Matrix.from_coo(rows, cols, x, **how) for x in (True, length))
    al = gb.algorithms
    V = al.levels_from_each(A, sources)
    assert V.format == "bitmap"
    same(V, al.levels_from_each(B, sources, gb=graphblas))
    assert al.levels_from_each(A, sources, depth_limit=2).isequal(V.select("<=", 2).new())
    for k, source in enumerate(sources):
        assert V[k, :].new().isequal(al.bfs_levels(A, source))
    same(al.distances_from_each(W, sources), al.distances_from_each(L, sources, gb=graphblas))
    one, *others = (on_host(al.betweenness_centrality(A, sources, batch=batch))[1] for batch in (1, 2, 5))
    for found in others:
        np.testing.assert_allclose(found, one, rtol=1e-12, atol=1e-12)


# Statements by index on a tall matrix: single places, lines, regions, parts of a mask, repeated indices; on a wide one.
WRITES = {
    "single": "C[3, 2] = 7; C[n - 1, k - 1] = 1; del C[0, 0]; C[3, 3] << C[3, 2]",
    "lines": "C[:, 1] << w; C[2, :] << 5; C(accum=binary.plus)[:, 3] << w; C(M.S)[:, 1] << 2",
    "regions": """C[[4, 9], [1, 3]] << B; C(M.V, binary.times)[1:7, ::2] << 3; C(~M.S, replace)[:, 2] << w
C[[1, 2], :3] << [[1, 2, 3], [4, 5, 6]]""",
    "parts": """C[[4, 9], [1, 3]](P.V) << B; C[[2, 0], [0, 4]](~P.S, binary.times, replace) << 2
C[:, 1](v.S, replace) << w; C(~v.V)[[9, 3, 8, 11], 2] << 1
C(w.dup()[:k].new().S, replace=True)[5, [0, 3, 4]] << [7, 8, 9]""",
    "repeats": "C[[5, 5], [1, 3]] << 4; C[n - 2, :] << Scalar(C.dtype)",
    "wide": "C(binary.first if C.dtype == bool else binary.plus)[:, 3] << 1; C[2, [4, 129]] << 0; C[1, 7] = 2",
}


@pytest.mark.in_turn
@pytest.mark.parametrize("op", WRITES)
@pytest.mark.parametrize("dtype, iso", [("FP64", False), ("BOOL", False), pytest.param("INT64", True, marks=SLOW)])
def test_statements_by_index_stay_bitmaps(op, dtype, iso, device):
    n, k = shape = (6, 130) if op == "wide" else (70, 5)
    c = both(entries(np.random.default_rng(5), shape, 0.3, dtype, iso), shape, dtype, device)
    for lib, C, how in zip((gb, graphblas), c, ({"device": device}, {})):
        w = lib.Vector.from_coo(range(0, n, 3), range(0, n, 3), C.dtype, size=n, **how)
        B = lib.Matrix.from_coo([0, 1, 1], [1, 0, 1], [3, 4, 5], C.dtype, nrows=2, ncols=2, **how)
        M = lib.Matrix.from_coo([0, 5, 9], [1, 1, 3], [True, False, True], nrows=max(n, 10), ncols=k, **how)
        P = lib.Matrix.from_coo([0, 0, 1], [0, 1, 1], [True, False, True], nrows=2, ncols=2, **how)
        v = w.apply(lib.unary.one[bool]).new()
        exec(WRITES[op], scope(lib, C=C, n=n, k=k, w=w, v=v, B=B, M=M, P=P))
    same(*c)
    assert is_bitmap(c[0]) and c[0].get(3, 2) == c[1].get(3, 2)


@pytest.mark.parametrize(("rows", "entries"), [(32, 40), (4, 1000), (8, 1)])
def test_groups_of_rows_are_about_as_long(rows, entries):
    rng, n, longest = np.random.default_rng(rows), 300, 60
    lengths = np.minimum(rng.zipf(1.4, n), 200) - 1
    at = np.arange(n).repeat(lengths), np.concatenate([np.arange(k) for k in lengths])
    A = gb.Matrix.from_coo(*at, True, nrows=n, ncols=n, device="cpu")
    limits = groups_of(A._store.structure.rows(transposed=False), longest, rows, entries)
    short = np.append(0, np.cumsum(lengths * (lengths <= longest)))
    assert limits[0] == 0 and limits[-1] == n
    for first, end in itertools.pairwise(limits):
        assert 0 < end - first <= rows and short[end - 1] - short[first] < entries
        # as many rows as allowed
        assert end == n or end % rows == 0 or short[end] // entries > short[first] // entries
