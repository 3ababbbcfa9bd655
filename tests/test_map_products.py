"""Products with a map that are reduced by row as they are computed, compared with sums in plain Python."""

import numpy as np
import pytest

import bitblas as gb
from bitblas import tuning
from bitblas.operations import map_products as maps
from bitblas.operations.map_products import Keys, Score
from semirings import dtypes

WEIGHTS = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT64", "FP32", "FP64")


def graph(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns without duplicates."""
    if kind == "star":
        return np.r_[np.zeros(n - 1, int), np.arange(1, n)], np.r_[np.arange(1, n), np.zeros(n - 1, int)]
    if kind == "mixed":  # two bins of rows: each is a kernel (test_rows_of_every_bin: all bins)
        degree = rng.choice([0, 20, 30, 40, 60], n)
    else:
        degree = np.minimum(n, (rng.pareto(0.7, n) * {"few": 3, "none": 0}[kind]).astype(int))
    cols = [np.sort(rng.choice(n, d, replace=False)) for d in degree]
    return np.repeat(np.arange(n), degree), np.concatenate([*cols, np.zeros(0, int)]).astype(int)


def weights(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    kind = np.dtype(dtypes.lookup_dtype(dtype).np_type)
    if kind.kind == "b":
        return rng.random(count) < 0.7
    low = 0 if kind.kind == "u" else -4
    values = rng.integers(low, 5, count)
    return (values / 4 if kind.kind == "f" else values).astype(kind)  # sums of quarters are exact


def sums(i, j, x, key):
    """{row: {key: sum}} for sums without rounding or overflow."""
    found: dict[int, dict[int, object]] = {}
    for row, col, value in zip(i.tolist(), j.tolist(), x, strict=True):
        if key[col] >= 0:
            of = found.setdefault(row, {})
            of[int(key[col])] = of[int(key[col])] + value if int(key[col]) in of else value
    return found


def choice(of, largest, score=lambda row, key, total: total, own=None):
    """The chosen key and score of each row."""
    chosen = {}
    for row, keys in of.items():
        scored = [(score(row, k, t), k) for k, t in keys.items() if own is None or own[row] != k]
        if scored:
            best = (max if largest else min)(s for s, _ in scored)
            chosen[row] = min(k for s, k in scored if s == best), best
    return chosen


@pytest.fixture(params=[None, 48], ids=["hubs from 8193", "hubs from 33"])
def hubs(request):
    """Small parts, so that a test has hubs with several."""
    if request.param is None:
        yield
        return
    rows = {"map.row_entries": 48, "map.part": 16, "map.slots": 64, "map.shares": 2, "map.table_bytes": 2000}
    with tuning.override(rows):
        yield


def compare(found: maps.Choice, expected, n, device):
    key, score = device.to_host(found.key), device.to_host(found.score)
    assert key.dtype == np.int32 and len(key) == n
    assert {k: v for k, v in enumerate(key.tolist()) if v >= 0} == {row: k for row, (k, _) in expected.items()}
    for row, (_, best) in expected.items():
        assert score[row] == best


@pytest.mark.in_turn
@pytest.mark.parametrize(("kind", "largest"), [("few", True), ("mixed", False), ("star", True), ("none", True)])
def test_the_most_frequent_key(device, hubs, kind, largest):
    rng = np.random.default_rng(5)
    n = 300
    i, j = graph(kind, n, rng)
    A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    key = rng.integers(-1, 12, n).astype(np.int32)
    d = A.device
    keys = Keys(d.asarray(key), 12)
    found = maps.choose_key(A._stored, keys, gb.semiring.plus_pair[gb.dtypes.INT64], largest=largest)
    compare(found, choice(sums(i, j, np.ones(len(i), int).tolist(), key), largest), n, d)


@pytest.mark.in_turn
@pytest.mark.parametrize(("dtype", "packed"), [*((t, False) for t in WEIGHTS), ("INT8", True)])
def test_weights_of_every_type(device, dtype, packed):
    rng = np.random.default_rng(7)
    n = 200
    i, j = graph("mixed", n, rng)
    x = weights(dtype, len(i), rng)
    kind = dtypes.lookup_dtype(dtype)
    A = gb.Matrix.from_coo(i, j, x, kind, nrows=n, ncols=n, format="mplg" if packed else "csr")
    key = rng.integers(-1, 9, n).astype(np.int32)
    wide = gb.dtypes.INT64 if kind.kind in "iub" else kind
    exact = [v.item() for v in x.astype(wide.np_type)]
    expected = sums(i, j, exact, key)
    keys = Keys(A.device.asarray(key), 9)
    found = maps.choose_key(A._stored, keys, gb.semiring.plus_first[wide])
    compare(found, choice(expected, True), n, A.device)


SEMIRINGS = [
    ("min_first", "INT64"),
    ("max_second", "FP64"),
    ("plus_times", "INT64"),
    ("plus_times", "FP32"),
    ("min_plus", "INT8"),
    ("lor_land", "BOOL"),
]


@pytest.mark.in_turn
@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_any_semiring(device, hubs, name, dtype):
    rng = np.random.default_rng(11)
    n, count = 150, 300
    i, j = graph("mixed", n, rng)
    kind = dtypes.lookup_dtype(dtype)
    x, y = weights(dtype, len(i), rng), weights(dtype, n, rng)
    A = gb.Matrix.from_coo(i, j, x, kind, nrows=n, ncols=n)
    key = rng.integers(-1, count, n).astype(np.int32)
    d, f = A.device, getattr(gb.semiring, name)[kind]
    # the same by the stored product
    (at,) = (key >= 0).nonzero()
    C = A.mxm(gb.Matrix.from_coo(at, key[at], y[at], kind, nrows=n, ncols=count), f).new()
    rows, cols, values = (np.asarray(d.to_host(part)) for part in C.to_coo())
    expected: dict[int, dict[int, object]] = {}
    for r, c, v in zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True):
        expected.setdefault(r, {})[c] = v
    keys = Keys(d.asarray(key), count, kind, d.asarray(y))
    compare(maps.choose_key(A._stored, keys, f, largest=False), choice(expected, False), n, d)
    monoid = (gb.monoid.lor if dtype == "BOOL" else gb.monoid.max)[kind]
    u, want = maps.reduce_keys(A._stored, keys, f, monoid), C.reduce_rowwise(monoid).new()
    assert gb.Vector._from_store(u).isequal(want, check_dtype=True)
    counted = gb.Vector._from_store(maps.reduce_keys(A._stored, keys, f, None))
    assert counted.to_dict() == {k: len(of) for k, of in expected.items()}


@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_scores_own_keys_and_active_rows(device, hubs, dtype):
    rng = np.random.default_rng(13)
    n, count = 220, 40
    i, j = graph("mixed", n, rng)
    kind = dtypes.lookup_dtype(dtype)
    x = rng.integers(1, 9, len(i))
    A = gb.Matrix.from_coo(i, j, x, gb.dtypes.INT64, nrows=n, ncols=n)
    d = A.device
    key = rng.integers(-1, count, n).astype(np.int32)
    row, of_key = (
        (rng.random(k) * 4 for k in (n, count)) if dtype == "FP64" else (rng.integers(0, 5, k) for k in (n, count))
    )
    own, active = rng.integers(-1, count, n).astype(np.int32), rng.random(n) < 0.8
    row, of_key = row.astype(kind.np_type), of_key.astype(kind.np_type)
    found = maps.choose_key(
        A._stored, Keys(d.asarray(key), count), gb.semiring.plus_first[gb.dtypes.INT64],
        score=Score("s - x * y", kind, d.asarray(row), d.asarray(of_key)), own=d.asarray(own), active=d.asarray(active),
    )  # fmt: skip
    total = {r: of for r, of in sums(i, j, x.tolist(), key).items() if active[r]}
    gain = lambda r, k, t: kind.np_type.type(t) - row[r] * of_key[k]
    compare(found, choice(total, True, gain, own), n, d)  # bit for bit, without fused multiply-add
    assert d.to_host(found.own).tolist() == [total.get(r, {}).get(int(own[r]), 0) for r in range(n)]


@pytest.mark.parametrize(("name", "dtype"), [("plus_pair", "INT64"), ("plus_first", "INT32"), ("plus_first", "FP64")])
def test_rows_of_every_bin(device, name, dtype):
    rng = np.random.default_rng(29)
    n, kind = 8500, dtypes.lookup_dtype(dtype)
    lengths = np.array([0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 512, 513, 2048, 2049, 4096, 4097, 8192, 8193])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    cols = np.concatenate([np.sort(rng.choice(n, length, replace=False)) for length in lengths])
    x = weights(dtype, len(rows), rng)
    A = gb.Matrix.from_coo(rows, cols, x, kind, nrows=len(lengths), ncols=n)
    key = rng.integers(-1, 2000, n).astype(np.int32)
    exact = [1] * len(rows) if name == "plus_pair" else x.astype(np.float64).tolist()
    found = maps.choose_key(A._stored, Keys(A.device.asarray(key), 2000), getattr(gb.semiring, name)[kind])
    compare(found, choice(sums(rows, cols, exact, key), True), len(lengths), A.device)


def test_of_the_transpose(device):
    rng = np.random.default_rng(17)
    n, m = 90, 130
    i, j = rng.integers(0, n, 900), rng.integers(0, m, 900)
    i, j = np.unique(np.stack([i, j]), axis=1)
    A = gb.Matrix.from_coo(i, j, rng.integers(-3, 4, len(i)), nrows=n, ncols=m)
    key = rng.integers(0, 7, n).astype(np.int32)
    found = maps.choose_key(
        A._stored, Keys(A.device.asarray(key), 7), gb.semiring.plus_first[gb.dtypes.INT64], transpose=True
    )
    rows, cols, values = (A.device.to_host(part) for part in A.to_coo())
    compare(found, choice(sums(cols, rows, values.tolist(), key), True), m, A.device)


def test_sums_of_floats_have_one_order(device, hubs):
    rng = np.random.default_rng(19)
    n = 300
    i, j = graph("mixed", n, rng)
    A = gb.Matrix.from_coo(i, j, rng.standard_normal(len(i)), nrows=n, ncols=n)
    key = A.device.asarray(rng.integers(0, 5, n).astype(np.int32))
    runs = []
    for _ in range(2):
        found = maps.choose_key(A._stored, Keys(key, 5), gb.semiring.plus_first[gb.dtypes.FP64])
        some = A.device.to_host(found.key) >= 0
        runs.append((A.device.to_host(found.key).tobytes(), A.device.to_host(found.score)[some].tobytes()))
    assert runs[0] == runs[1]


def test_nan_is_never_chosen(device):
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [np.nan, -1.0, np.nan], nrows=2, ncols=2)
    key = A.device.asarray(np.array([0, 1], np.int32))
    found = maps.choose_key(A._stored, Keys(key, 2), gb.semiring.plus_first[gb.dtypes.FP64])
    assert A.device.to_host(found.key).tolist() == [1, -1]


# ---- the language: products that are not stored, on both libraries


def lazy_program(lib, name, shape):
    """Reductions of A (+).(x) L by rows, columns and all, after one operator; and the entries themselves."""
    rng = np.random.default_rng(3)
    n, count = 60, 9
    j = np.concatenate([np.sort(rng.choice(n, 5 + k % 4, replace=False)) for k in range(n - 2)])
    i = np.repeat(np.arange(n - 2), 5 + np.arange(n - 2) % 4)  # rows of one bin, and empty ones
    A = lib.Matrix.from_coo(i, j, rng.integers(-5, 6, len(i)), lib.dtypes.INT64, nrows=n, ncols=n)
    some = rng.random(n) < {"partial": 0.8, "full": 2.0}[shape]
    (at,) = some.nonzero()
    x = rng.integers(1, 5, n)[some]
    L = lib.Matrix.from_coo(at, rng.integers(0, count, n)[some], x, lib.dtypes.INT64, nrows=n, ncols=count)
    op, agg, monoid = getattr(lib.semiring, name)[lib.dtypes.INT64], lib.agg, lib.monoid
    product = lambda: A.mxm(L, op).new()
    by = (agg.ss.argmax, agg.ss.argmin, agg.ss.first, agg.ss.last, agg.ss.first_index, agg.ss.last_index, agg.count)
    found = []
    for r in (*by, agg.max, agg.sum, agg.mean, monoid.plus, monoid.min):
        C = product()
        found += [C.reduce_rowwise(r).new(), C.reduce_columnwise(r).new()]
    found.append(product().apply(lib.unary.ainv).new().reduce_rowwise(agg.ss.argmax).new())
    found.append(product().apply(lib.binary.minus, right=3).new().reduce_rowwise(monoid.max).new())
    found.append(product().select(lib.select.valuegt, 2).new().reduce_rowwise(agg.ss.argmin).new())
    found.append(product().select(lib.select.colle, 4).new().reduce_rowwise(agg.count).new())
    found.append(product().T.reduce_rowwise(monoid.max).new())
    C = product()
    A << A.apply(lib.unary.ainv)  # C keeps what its operands were
    L.clear()
    found += [C.reduce_rowwise(agg.ss.argmax).new(), C.mxv(C.reduce_columnwise(monoid.plus).new(), op).new()]
    answers = [(v.dtype.name, *(part.tolist() for part in v.to_coo())) for v in found]
    return [*answers, C.nvals, C.reduce_scalar(monoid.max).new().value, C.reduce_scalar(monoid.plus).new().value]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("name", "shape"),
    [("plus_pair", "full"), ("plus_times", "partial"), ("plus_first", "full"), ("min_plus", "partial")],
)
def test_the_same_text_on_python_graphblas(device, name, shape):
    graphblas = pytest.importorskip("graphblas")
    found, right = lazy_program(gb, name, shape), lazy_program(graphblas, name, shape)
    for k, (ours, theirs) in enumerate(zip(found, right, strict=True)):
        assert ours == theirs, k


def test_only_what_reads_entries_computes_them(device):
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [2, 3, 4], nrows=3, ncols=2)
    L = gb.Matrix.from_coo([0, 1], [1, 1], 1, nrows=2, ncols=2)
    C = A.mxm(L).new()
    assert C.reduce_rowwise(gb.agg.ss.argmax).new().to_dict() == {0: 1, 1: 1}
    assert C.reduce_rowwise(gb.monoid.max).new().to_dict() == {0: 5, 1: 4}
    assert C.reduce_rowwise(gb.monoid.plus).new().to_dict() == {0: 5, 1: 4}
    assert C.reduce_scalar(gb.monoid.plus).new().value == 9
    assert C.shape == (3, 2) and C.dtype == gb.dtypes.INT64
    assert C._store.pending
    assert "computed when its entries are read" in str(gb.explain(A.mxm(L)))
    assert gb.explain(C.reduce_rowwise(gb.agg.ss.argmax)).direction == "fused into the reduction"
    assert gb.explain(C.reduce_rowwise(gb.monoid.min)).direction == "fused into the reduction"
    assert "columns" in gb.explain(C.reduce_columnwise(gb.monoid.max)).reason
    assert "several steps" in gb.explain(C.reduce_rowwise(gb.agg.varp)).reason
    assert C._store.pending
    assert C.to_dicts() == {0: {1: 5}, 1: {1: 4}} and not C._store.pending
    assert C.reduce_rowwise(gb.agg.ss.argmax).new().to_dict() == {0: 1, 1: 1}


def test_entries_after_an_operator(device):
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [2, 3, 4], nrows=3, ncols=2)
    L = gb.Matrix.from_coo([0, 1], [1, 1], 1, nrows=2, ncols=2)
    product = lambda: A.mxm(L).new()
    assert product().apply(gb.unary.ainv).new().to_dicts() == {0: {1: -5}, 1: {1: -4}}
    assert product().apply(gb.binary.minus, left=1).new().to_dicts() == {0: {1: -4}, 1: {1: -3}}
    assert product().apply(gb.indexunary.rowindex, 1).new().to_dicts() == {0: {1: 1}, 1: {1: 2}}
    kept = product().select(gb.select.valuegt, 4).new()
    assert kept._store.pending and kept.to_dicts() == {0: {1: 5}}
    twice = product().apply(gb.unary.ainv).new().apply(gb.unary.abs).new()
    assert twice.reduce_rowwise(gb.monoid.max).new().to_dict() == {0: 5, 1: 4}


def test_what_is_not_a_map_is_stored(device):
    A = gb.Matrix.from_coo([0, 1], [0, 1], [2, 3], nrows=2, ncols=2)
    two = gb.Matrix.from_coo([0, 0], [0, 1], 1, nrows=2, ncols=2)
    assert not A.mxm(two).new()._store.deferred
    assert not A.mxm(A).new(mask=A.S)._store.__class__.__name__.startswith("LazyMap")


def test_float_sums_of_a_monoid_that_rounds_are_stored_first(device):
    A = gb.Matrix.from_coo([0, 0], [0, 1], [0.1, 0.7], nrows=2, ncols=2)
    L = gb.Matrix.from_coo([0, 1], [1, 0], 1.0, nrows=2, ncols=2)
    C = A.mxm(L, gb.semiring.min_times).new()
    assert gb.explain(C.reduce_rowwise(gb.monoid.plus)).direction == "the product is computed first"
    assert C.reduce_rowwise(gb.monoid.plus).new()[0].new().value == 0.1 + 0.7


def test_a_star_of_many_leaves(device):
    n = 100_001 if device == "cpu" else 20_001
    leaf = np.arange(1, n)
    rows, cols = np.r_[np.zeros(n - 1, int), leaf], np.r_[leaf, np.zeros(n - 1, int)]
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)
    L = gb.Matrix.from_coo(np.arange(n), np.arange(n) % 1000, True, nrows=n, ncols=1000)
    best = A.mxm(L, gb.semiring.plus_pair[gb.dtypes.INT64]).new().reduce_rowwise(gb.agg.ss.argmax).new()
    counts = np.bincount(leaf % 1000, minlength=1000)
    assert best[0].new().value == counts.argmax() and best[5].new().value == 0


def test_the_example():
    import runpy
    from pathlib import Path

    runpy.run_path(str(Path(__file__).parents[1] / "examples" / "majority_vote.py"))


def test_memory_is_foreseen(device):
    A = gb.Matrix.from_coo([0, 1], [1, 0], True, nrows=4000, ncols=4000)
    L = gb.Matrix.from_coo(np.arange(4000), np.zeros(4000, int), True, nrows=4000, ncols=4000)
    C = A.mxm(L, gb.semiring.plus_pair[gb.dtypes.INT64]).new()
    used = gb.device.memory.bytes_on(A.device)
    with gb.config.set(memory_limit=used + 1000), pytest.raises(gb.exceptions.OutOfMemory, match="product with a map"):
        C.reduce_rowwise(gb.agg.ss.argmax).new()
    assert C.reduce_rowwise(gb.agg.ss.argmax).new().nvals == 2
