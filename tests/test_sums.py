"""The copy of a matrix for repeated sums on a GPU: answers against NumPy, when it is made, and what it stores."""

import numpy as np
import pytest
from battery import generator
from test_graded import N, host, skewed

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.formats.csr import sums

UNPOPULAR = {"rows.hot_share": 2.0, "sums.block_entries": 1e9}
UFUNCS = {"plus": np.add, "min": np.minimum, "max": np.maximum}


@pytest.fixture
def small(tune):
    """Small matrices get a copy, at once if products have no cost, and pieces are cut early."""
    tune({"csr.binned_from": 1, "sums.least_entries": 1, "sums.block_entries": 100, "sums.uneven_columns": 1})
    tune({"sums.block_entries_per_row": 0, "sums.range_entries": 5000})
    tune({"sums.build_us": 0, "sums.build_us_per_entry": 2})  # two products amortize it
    tune({f"sums.gain_us_per_entry.{shape}": 1 for shape in ("even", "uneven")})
    tune({"binned.shared.bytes": 6 << 10, "binned.shared.fewer_bytes": 6 << 10})


@pytest.fixture
def gpu(device):
    if not devices.get(config.device).is_simt:
        pytest.skip("the CPU has no such copy")


def expected(rows, cols, products, monoid):
    """The rows that have entries, and their sums."""
    order = np.argsort(rows, kind="stable")
    at, begin = np.unique(rows[order], return_index=True)
    return at, UFUNCS[monoid].reduceat(products[order], begin)


@pytest.mark.parametrize(
    ("name", "dtype", "hot", "weighted"),
    [("plus_second", "FP32", True, False), ("plus_times", "FP64", True, True), ("min_plus", "INT64", False, True),
     ("max_plus", "FP32", False, True)],
)  # fmt: skip
def test_answers(gpu, small, tune, name, dtype, hot, weighted):
    """Sums of whole numbers are exact, so any order gives the same."""
    rng, of = generator("sums"), gb.dtypes.lookup_dtype(dtype).np_type
    rows, cols = skewed(rng)
    tune({} if hot else UNPOPULAR)
    x = rng.integers(1, 9, len(rows)).astype(of)
    u = rng.integers(1, 9, N).astype(of)
    A = gb.Matrix.from_coo(rows, cols, x if weighted else True, nrows=N, ncols=N)
    v, semiring = gb.Vector.from_dense(u), gb.semiring[name][dtype]
    monoid, _, op = name.partition("_")
    products = {"second": u[cols], "times": x * u[cols], "plus": x + u[cols]}[op]
    at, values = expected(rows, cols, products, monoid)
    assert "amortized after 2 more products" in gb.explain(A.mxv(v, semiring)).reason
    first = A.mxv(v, semiring).new()
    assert A.prepare("sums") is A
    assert gb.explain(A.mxv(v, semiring)).reason.endswith("a copy for sums")
    made = A.mxv(v, semiring)
    w = made.new()
    for found in (first, w):
        assert all(map(np.array_equal, host(found), (at, values)))
    copy = sums.sums_of(A._store.structure.primary, 1536)
    blocks = [part.kind for part in copy.parts]
    assert blocks == ([sums.HOT, sums.HOT] if hot else [sums.MIXED])
    assert any("sums" in cache and size > 0 for cache, size in A.memory().caches.items())
    w(gb.monoid[monoid]) << made
    assert np.array_equal(host(w)[1], UFUNCS[monoid](values, values) if monoid != "plus" else 2 * values)
    if op == "times":  # by the rows of the transpose
        B = gb.Matrix.from_coo(cols, rows, x, nrows=N, ncols=N).prepare("sums")
        turned = [v.vxm(B, semiring).new() for _ in range(2)][1]
        assert gb.explain(v.vxm(B, semiring)).kernel == "sums" and "sums.T" in B.memory().copies
        assert all(map(np.array_equal, host(turned), (at, values)))
    some = np.flatnonzero(np.arange(N) % 3 == 1)
    mask = gb.Vector.from_coo(some, True, size=N)
    for allowed, to in ((np.isin(at, some), mask.S), (~np.isin(at, some), ~mask.S)):
        w(to, gb.replace) << made
        assert np.array_equal(host(w)[0], at[allowed]) and np.array_equal(host(w)[1], values[allowed])


@pytest.mark.parametrize("hot", [True, False])
def test_long_rows(gpu, small, tune, hot):
    """Rows of several pieces in both parts, of a matrix that is not square; and a vector with one value."""
    tune({"rows.hot_share": 0.0, "sums.block_entries": 3000} if hot else UNPOPULAR)
    rng, ncols = generator("long sums"), 20_000
    lengths = [ncols, 9000, sums.LONGEST, sums.LONGEST + 1, 0, 5, 1, 0, 300] + [3] * 400
    rows = np.repeat(np.arange(len(lengths)), lengths)
    cols = np.concatenate([np.sort(rng.permutation(ncols)[:k]) for k in lengths])
    cols[lengths[0] :] = cols[lengths[0] :] // 3  # more popular
    rows, cols = np.unique(np.stack([rows, cols]), axis=1)
    x = rng.integers(-9, 9, len(rows)).astype(np.float32)
    A = gb.Matrix.from_coo(rows, cols, x, nrows=len(lengths), ncols=ncols).prepare("sums")
    u = rng.integers(-9, 9, ncols).astype(np.float32)
    for v, y in ((gb.Vector.from_dense(u), u[cols]), (gb.Vector.from_scalar(3.0, ncols, "FP32"), 3)):
        assert gb.explain(A.mxv(v, gb.semiring.plus_times)).kernel == "sums"
        w = A.mxv(v, gb.semiring.plus_times).new()
        assert all(map(np.array_equal, host(w), expected(rows, cols, x * y, "plus")))
    copy = sums.sums_of(A._store.structure.primary, 1536)
    assert copy.segments and (len(copy.parts) > 2) == hot
    # every entry has one slot
    cols = [x for p in copy.parts for x in ([p.narrow] if p.kind == sums.HOT else [p.narrow, p.wide])]
    taken = [devices.get(config.device).to_host(x) != np.iinfo(x.dtype).max for x in cols if len(x) > 1]
    places = devices.get(config.device).to_host(copy.places)[np.concatenate(taken)]
    assert np.array_equal(np.sort(places), np.arange(len(rows)))


def test_even_rows(gpu, small, tune):
    """Rows of even lengths with columns near the diagonal, some of which have one far away."""
    tune(UNPOPULAR)
    rng, n = generator("even sums"), 40_000
    rows, step = np.repeat(np.arange(n), 3), np.tile(np.arange(-1, 2) * 11, n)
    cols = np.clip(rows + step, 0, n - 1)
    cols[[0, 7]] = n - 1, n - 3
    cols[rng.integers(0, len(cols), 30)] = rng.integers(0, n, 30)
    rows, cols = np.unique(np.stack([rows, cols]), axis=1)
    x = rng.integers(1, 9, len(rows)).astype(np.float32)
    u = rng.integers(1, 9, n).astype(np.float32)
    A = gb.Matrix.from_coo(rows, cols, x, nrows=n, ncols=n)
    made = A.mxv(gb.Vector.from_dense(u), gb.semiring.plus_times)
    assert "amortized after 2 more products" in gb.explain(made).reason
    A.prepare("sums")
    assert gb.explain(made).kernel == "sums"
    assert all(map(np.array_equal, host(made.new()), expected(rows, cols, x * u[cols], "plus")))
    (part,) = sums.sums_of(A._store.structure.primary, 1536).parts
    assert part.kind == sums.MIXED and len(part.narrow) > len(part.wide) > 0


def test_few_columns(gpu, small, tune):
    """Rows of even lengths whose columns are all hot; copies built at once and by ranges of rows are the same."""
    rng, n = generator("few columns"), 1400
    rows, cols = np.unique(np.stack([np.repeat(np.arange(n), 20), rng.integers(0, n, 20 * n)]), axis=1)
    u = rng.integers(1, 9, n).astype(np.float32)
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, len(rows)), "FP32", nrows=n, ncols=n).prepare("sums")
    made, copies = A.mxv(gb.Vector.from_dense(u), gb.semiring.plus_second), []
    for entries in (1 << 20, 3000):
        tune({"sums.range_entries": entries})
        A._store.structure.primary.cache.clear()
        assert gb.explain(made).kernel == "sums"
        assert all(map(np.array_equal, host(made.new()), expected(rows, cols, u[cols], "plus")))
        copies.append(sums.sums_of(A._store.structure.primary, 1536, valued=True))
    (one,), (other,) = (copy.parts for copy in copies)
    assert one.kind == sums.HOT and one.columns == len(np.unique(cols))
    to_host = devices.get(config.device).to_host
    for x, y in ((one.row, other.row), (one.narrow, other.narrow), (copies[0].places, copies[1].places)):
        assert np.array_equal(to_host(x), to_host(y))


@pytest.mark.in_turn
@pytest.mark.parametrize(("dtype", "mean"), [("FP32", 27), ("FP64", 16), ("INT32", 50)])
def test_staged_rows(device, dtype, mean):
    """Plain rows of even lengths, some of them empty, that warps of a GPU load together."""
    rng, n, ncols, of = generator("staged"), 300, 500, gb.dtypes.lookup_dtype(dtype).np_type
    rows = np.repeat(np.arange(n), rng.integers(0, 2 * mean, n))
    rows, cols = np.unique(np.stack([rows, rng.integers(0, ncols, len(rows))]), axis=1)
    x, u = rng.integers(1, 9, len(rows)).astype(of), rng.integers(1, 9, ncols).astype(of)
    A = gb.Matrix.from_coo(rows, cols, x, nrows=n, ncols=ncols)
    made = A.mxv(gb.Vector.from_dense(u), gb.semiring.plus_times)
    with gb.trace() as trace:
        w = made.new()
    assert ("STAGED=1" in str(trace)) == devices.get(config.device).is_simt
    at, values = expected(rows, cols, x * u[cols], "plus")
    assert all(map(np.array_equal, host(w), (at, values)))
    w(gb.monoid.plus) << made
    assert np.array_equal(host(w)[1], 2 * values)


def test_loop(gpu, small):
    """A loop counts its rounds; once they have amortized a copy, it is captured again. Runs give the same bits."""
    rows, cols = skewed(generator("loop sums"))
    both = [np.concatenate(pair) for pair in ((rows, cols), (cols, rows))]
    A = gb.Matrix.from_coo(*both, True, nrows=N, ncols=N)
    ranks = lambda: gb.algorithms.pagerank(A, tol=1e-30, max_iter=3)
    with pytest.warns(gb.exceptions.ConvergenceWarning):
        first, *found = ranks(), ranks(), ranks()
    assert A._store.structure.sums_credit >= 2
    assert sums.has_sums(A._store.structure.primary, 1536)
    one, again = (host(x)[1] for x in found)
    assert one.tobytes() == again.tobytes() and np.allclose(host(first)[1], one, rtol=1e-6)


def test_no_room(gpu, small, monkeypatch):
    """A copy that does not fit is not made, and the plan says so."""
    rows, cols = skewed(generator("no room"))
    A = gb.Matrix.from_coo(rows, cols, True, nrows=N, ncols=N).prepare("sums")
    made = A.mxv(gb.Vector.from_dense(np.ones(N, np.float32)), gb.semiring.plus_second)
    monkeypatch.setattr(type(A.device), "missing", lambda self, nbytes: f"{nbytes} do not fit")
    assert "no copy for sums" in gb.explain(made).reason
    w = made.new()
    monkeypatch.undo()
    assert not sums.has_sums(A._store.structure.primary, 1536)
    assert all(map(np.array_equal, host(w), expected(rows, cols, np.ones(len(rows), np.float32), "plus")))


def test_unknown_use(device):
    with pytest.raises(gb.exceptions.InvalidValue, match="use: expected 'sums', got 'search'"):
        gb.Matrix("FP32", 2, 2).prepare("search")
