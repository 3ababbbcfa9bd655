"""Products with multivectors along rows as they are stored: nibbles, codes, tiles and virtual nodes. The matrix is not
converted to rows."""

import numpy as np
import pytest
from battery import FORMS, generator

import bitblas as gb
from bitblas import algorithms
from bitblas.config import config
from bitblas.formats import class_of

KEYS = ("nib", "cgr", "virtual", "b2sr4", "b2sr8", "b2sr32", "split8", "cr2")
# Semiring, columns of the multivector, and whether the matrix has one value.
CASES = (("plus_second", 64, True), ("any_pair", 20, True), ("plus_times", 5, False), ("lor_land", 70, True))


def places(rows, cols, name):
    """Hubs, intervals, lists that rows share, empty rows."""
    rng = generator(name)
    there = rng.random((rows, cols)) < 0.03
    there[7], there[:, 3] = rng.random(cols) < 0.7, rng.random(rows) < 0.5
    there[40:70, 20:50], there[100:130, rng.choice(cols, 40)] = True, True
    there[12] = False
    return np.nonzero(there)


@pytest.fixture(autouse=True)
def for_memory():
    """On a GPU, products along the rows of tiles save memory, but not time."""
    with config.set(prefer="memory"):
        yield


@pytest.fixture
def undecoded(monkeypatch):
    """Fails if a matrix is converted to rows."""
    for key in KEYS:
        for name in ("to_csr", "plain"):
            if hasattr(class_of(key), name):
                monkeypatch.setattr(class_of(key), name, lambda *args: pytest.fail("the matrix is converted to rows"))


def same(t, u):
    assert t.shape == u.shape and t.dtype == u.dtype
    for x, y in zip(t.to_coo(), u.to_coo(), strict=True):
        np.testing.assert_array_equal(t.device.to_host(x), u.device.to_host(y))


@pytest.mark.in_turn
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("key", KEYS)
def test_products_are_those_of_rows(device, key, case, tune, monkeypatch, request):
    """From both sides, with and without a mask, of a dense multivector (pull) and of one with few lines (push)."""
    op, width, iso = case
    tune({"multivector.long_row": 64, "multivector.segment": 32})  # long rows are cut
    rng = generator(f"walked {key} {op}")
    n, m = 210, 170
    rows, cols = places(n, m, f"places {key}")
    kind, semiring = ("BOOL" if op in ("any_pair", "lor_land") else "FP64"), getattr(gb.semiring, op)
    a = (True if kind == "BOOL" else 2.0) if iso else rng.integers(1, 5, len(rows)).astype(float)
    A, of_rows = (gb.Matrix.from_coo(rows, cols, a, nrows=n, ncols=m, **FORMS[f]) for f in (key, "csr"))
    if key == "virtual":
        assert A._store.structure.primary.rows.nodes
    both_ways = A.T.new()  # transposes are built once and kept; they are not part of a product
    _ = A._store.structure.layout(A._store.structure.primary.key, transposed=True), both_ways
    if key != "virtual" or iso:
        request.getfixturevalue("undecoded")
    for density in (0.3, 0.004):
        x = np.nonzero(rng.random((m, width)) < density)
        values = True if kind == "BOOL" else rng.integers(1, 4, len(x[0])).astype(float)
        X = gb.Matrix.from_coo(*x, values, nrows=m, ncols=width, format="bitmap")
        assert X.nvals == len(x[0])  # counted: few lines push
        M = gb.Matrix.from_coo(*np.nonzero(rng.random((n, width)) < 0.4), True, nrows=n, ncols=width, format="bitmap")
        product, flipped = (lambda A, X=X: A.mxm(X, semiring)), (lambda A, X=X: X.T.mxm(A.T, semiring))
        assert gb.explain(product(A)).key == (key if key != "virtual" or iso else "csr")
        for form in (product, flipped):
            same(form(A).new(), form(of_rows).new())
            mask = M if form is product else M.T.new()
            for some in (mask.S, ~mask.S):
                same(form(A).new(mask=some), form(of_rows).new(mask=some))


@pytest.mark.in_turn
@pytest.mark.parametrize("key", ["nib", "cgr", "virtual", "b2sr8", "split8", "cr2"])
def test_batches_of_searches_in_a_loop(device, key, tune):
    """Betweenness of all vertices, in batches, on a directed and an undirected graph, by plain numbers."""
    tune({"multivector.least_rows": 1, "multivector.rows_per_column": 1})
    rows, cols = places(170, 170, f"searches {key}")
    kept = (rows < 64) & (cols < 64) & (rows != cols)
    rows, cols = rows[kept], cols[kept]
    for i, j in ((rows, cols), (np.append(rows, cols), np.append(cols, rows))):
        A, of_rows = (gb.Matrix.from_coo(i, j, True, nrows=64, ncols=64, **FORMS[f]) for f in (key, "csr"))
        found, expected = (algorithms.betweenness_centrality(M, range(40), batch=16) for M in (A, of_rows))
        found, expected = (x.device.to_host(x.to_dense()) for x in (found, expected))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert {form.removesuffix(".T") for form in A.memory().forms} == {key}


LOOPS = {
    "bfs_levels": lambda A: algorithms.bfs_levels(A, 5),
    "pagerank": algorithms.pagerank,
    "connected_components": algorithms.connected_components,
    "levels_from_each": lambda A: algorithms.levels_from_each(A, [5, 7, 90]),
    "maximal_independent_set": algorithms.maximal_independent_set,
    "diagonal": lambda A: A.diag(-3),
}


@pytest.mark.parametrize("key", ["cr2", "split8"])
def test_loops_make_no_rows(device, key, tune, monkeypatch):
    """Traversals, sums and labels on an undirected graph: statements, captured loops, and their first rounds."""
    tune({"multivector.least_rows": 1, "multivector.rows_per_column": 1})
    i, j = places(170, 170, f"loops {key}")
    i, j = np.append(i, j), np.append(j, i)
    A, of_rows = (gb.Matrix.from_coo(i, j, True, nrows=170, ncols=170, **FORMS[f]) for f in (key, "csr"))
    i, j, _ = A.to_coo()
    of_weights = [gb.Matrix.from_coo(i, j, (i + j) % 7 + 1, nrows=170, ncols=170, **FORMS[f]) for f in (key, "csr")]
    structure = of_weights[0]._store.structure
    _ = structure.order(key, transposed=True)  # a transpose with values is built once and kept
    kind = class_of(key)
    decode = lambda layout, order, run=kind.to_csr: (
        pytest.fail("the graph is converted to rows") if layout.nrows == layout.ncols else run(layout, order)
    )
    monkeypatch.setattr(kind, "to_csr", decode)
    for run in LOOPS.values():
        found, expected = run(A), run(of_rows)
        assert found.isclose(expected) if found.dtype.name.startswith("FP") else found.isequal(expected)
        assert {form.removesuffix(".T") for form in A.memory().forms} == {key}
    found, expected = (algorithms.sssp(W, 5) for W in of_weights)
    assert found.isequal(expected)


def test_tiles_are_read_as_rows_to_save_time(device):
    A = gb.Matrix.from_coo(*places(210, 170, "time"), True, nrows=210, ncols=170, **FORMS["b2sr8"])
    X = gb.Matrix.from_coo([5], [1], True, nrows=170, ncols=20, format="bitmap")
    product = A.mxm(X, gb.semiring.any_pair)
    assert gb.explain(product).key == "b2sr8"
    with config.set(prefer="time"):
        assert gb.explain(product).key == ("b2sr8" if device == "cpu" else "csr")
        product.new()
    assert gb.explain(product).key == ("b2sr8" if device == "cpu" else "csr")  # rows exist
