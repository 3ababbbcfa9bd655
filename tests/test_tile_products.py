"""Products without a mask of matrices of bit tiles, as tiles: presence and counts."""

import numpy as np
import pytest
from battery import FORMS, MATRICES, generator

import bitblas as gb
from bitblas.formats import class_of

TILES = (4, 8, 16, 32, 64)
CASES = {  # semiring, type of the operands, type of the product
    "any_pair": ("any_pair", "BOOL", "BOOL"),
    "lor_land": ("lor_land", "BOOL", "BOOL"),
    "plus_pair": ("plus_pair", "INT64", "INT64"),
    "plus_times": ("plus_times", "FP32", "FP32"),
}


def matrix(rows, cols, shape, dtype, key):
    one = {"BOOL": True, "INT64": 1, "FP32": np.float32(1)}[dtype]
    return gb.Matrix.from_coo(rows, cols, one, dtype, nrows=shape[0], ncols=shape[1], **FORMS[key])


def same(t, u):
    assert t.shape == u.shape and t.dtype == u.dtype and t.nvals == u.nvals
    ours, theirs = ({(i, j): x for i, j, x in zip(*(t.device.to_host(x).tolist() for x in T.to_coo()))} for T in (t, u))
    assert ours == theirs


@pytest.fixture
def by_tiles(tune):
    """Always by tiles."""
    tune({f"spgemm.tile_products.{kind}.{device}": 0 for kind in ("words", "count") for device in ("cpu", "gpu")})


@pytest.mark.in_turn
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("case", CASES)
def test_products_are_those_of_rows(device, case, tile, by_tiles):
    name, dtype, out = CASES[case]
    rng = generator(f"tiles {case} {tile}")
    semiring = getattr(gb.semiring, name)[dtype]
    for shapes in (((70, 90), (90, 50)), ((130, 67), (67, 129))):
        patterns = [rng.random(shape) < 0.06 for shape in shapes]
        patterns[0][5] = patterns[0][:, 7] = patterns[1][9] = True  # long rows and columns
        patterns[0][20:40], patterns[1][:, 30:38] = False, False  # empty ones
        (A, B), (C, D) = (
            [matrix(*np.nonzero(p), p.shape, dtype, key) for p in patterns] for key in (f"b2sr{tile}", "csr")
        )
        expected = C.mxm(D, semiring).new()
        plan = gb.explain(A.mxm(B, semiring))
        assert (plan.key, plan.direction) == (f"b2sr{tile}", "tiles") and "per pair of tiles" in plan.reason
        E = A.mxm(B, semiring).new()
        assert E.dtype == out and E._store.structure.primary.key == f"b2sr{tile}"
        E._store.structure.primary.check()
        same(E, expected)
        same(A.T.new().T.mxm(B, semiring).new(), expected)
        same(A.mxm(B.T.new().T, semiring).new(), expected)
        same(B.T.mxm(A.T, semiring).new(), expected.T.new())


@pytest.mark.in_turn
@pytest.mark.parametrize("name", MATRICES)
def test_products_of_nasty_matrices(device, name, by_tiles, monkeypatch):
    p = MATRICES[name]()
    for op in ("any_pair", "plus_pair"):
        semiring = getattr(gb.semiring, op)["INT64"]
        A, C = (matrix(p.rows, p.cols, (p.nrows, p.ncols), "INT64", key) for key in ("b2sr8", "csr"))
        with monkeypatch.context() as m:
            m.setattr(class_of("b2sr8"), "to_csr", lambda *args: pytest.fail("tiles are converted"))
            E = A.mxm(A.T, semiring).new()
        E._store.structure.primary.check()
        same(E, C.mxm(C.T, semiring).new())


def test_thin_tiles_and_other_values_go_by_rows(device):
    n = 64
    line = np.arange(n - 1)
    A = matrix(line, line + 1, (n, n), "INT64", "b2sr8")  # 8 products per pair of tiles
    thin = gb.explain(A.mxm(A, gb.semiring.plus_pair))
    assert (thin.key, thin.direction) == ("csr", "gustavson") and "products per pair of tiles" in thin.reason
    full = matrix(*np.divmod(np.arange(n * n), n), (n, n), "INT64", "b2sr8")
    assert gb.explain(full.mxm(full, gb.semiring.plus_pair)).direction == "tiles"
    for semiring in (gb.semiring.min_plus, gb.semiring.plus_first):
        valued = full.apply(gb.indexunary.rowindex, 1).new()
        assert gb.explain(valued.mxm(full, semiring)).direction == "gustavson"
    same(full.mxm(full, gb.semiring.plus_pair).new(), matrix(*np.divmod(np.arange(n * n), n), (n, n), "INT64", "csr")
         .apply("times", n).new())  # fmt: skip


# ---- sums of products -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", TILES)
def test_a_sum_under_a_mask_computes_no_entries(device, tile):
    """Triangle counting: the sum of counts is taken inside the product, tile by tile."""
    rng = generator(f"sums {tile}")
    there = np.tril(rng.random((150, 150)) < 0.1, -1)
    there[120, :110] = True
    A, C = (matrix(*np.nonzero(there), there.shape, "INT64", key) for key in (f"b2sr{tile}", "csr"))
    for dtype in ("INT64", "INT32", "UINT8"):  # the last one wraps
        semiring = gb.semiring.plus_pair[dtype]
        expected = C.mxm(C.T, semiring).new(mask=C.S)
        with gb.trace() as ran:
            D = A.mxm(A.T, semiring).new(mask=A.S)
            assert gb.explain(D.reduce_scalar("plus")).direction == "sum inside a masked product"
            assert D.reduce_scalar("plus").new().value == expected.reduce_scalar("plus").new().value
        dots = [run.text for run in ran if "b2sr/dot" in run.kernel]
        assert len(dots) == 1 and "TILE_SUMS=1" in dots[0]
        same(D, expected)  # now the entries are computed
        assert gb.explain(D.reduce_scalar("plus")).direction != "sum inside a masked product"
        assert D.reduce_scalar("max").new().value == expected.reduce_scalar("max").new().value
    nothing = matrix(*np.nonzero(there.T & (rng.random(there.shape) < 0.5)), there.shape, "INT64", f"b2sr{tile}")
    few = matrix([0], [149], there.shape, "INT64", f"b2sr{tile}")
    assert few.mxm(few, gb.semiring.plus_pair).new(mask=nothing.S).reduce_scalar("plus").new().value is None
    values = A.mxm(A.T, gb.semiring.plus_pair["FP64"]).new(mask=A.S)  # a float sum has a fixed order
    assert gb.explain(values.reduce_scalar("plus")).direction != "sum inside a masked product"


@pytest.mark.parametrize("key", ["csr", "nib", "b2sr8", "virtual"])
def test_the_sum_of_counts_needs_no_product(device, key):
    rng = generator(f"counted {key}")
    patterns = [rng.random(shape) < 0.1 for shape in ((70, 90), (90, 50))]
    A, B = (matrix(*np.nonzero(p), p.shape, "INT64", key) for p in patterns)
    counts = patterns[0].astype(int) @ patterns[1].astype(int)
    for product in (A.mxm(B, gb.semiring.plus_pair), A.T.new().T.mxm(B, gb.semiring.plus_pair)):
        total = product.reduce_scalar(gb.monoid.plus)
        assert gb.explain(total).direction == "products counted, without a product"
        with gb.trace() as ran:
            assert total.new().value == counts.sum() == product.new().reduce_scalar("plus").new().value
        assert "mxm" in str(product) and len(ran)
    doubled = A.apply("times", 2).new().mxm(B, gb.semiring.plus_times["UINT8"])
    assert doubled.reduce_scalar("plus").new().value == 2 * counts.sum() % 256
    empty = matrix([], [], (90, 50), "INT64", key)
    assert A.mxm(empty, gb.semiring.plus_pair).reduce_scalar().new().value is None
    assert A.mxm(empty, gb.semiring.plus_pair).reduce_scalar(allow_empty=False).new().value == 0
    for other in (A.mxm(B, gb.semiring.plus_pair["FP64"]), A.mxm(B, gb.semiring.max_pair)):
        assert gb.explain(other.reduce_scalar("plus")).direction != "products counted, without a product"
    assert A.mxm(B, gb.semiring.plus_pair).reduce_scalar("max").new().value == counts.max()
    assert A.mxm(B, gb.semiring.plus_pair).reduce_scalar(gb.agg.count).new().value == (counts > 0).sum()
