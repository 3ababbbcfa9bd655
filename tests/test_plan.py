"""The plan: a pure function that prints itself; its errors, its thresholds, and hubs."""

import numpy as np
import pytest
from battery import FORMS, MATRICES, PLAIN_FORMS, generator

import bitblas
from bitblas import device as devices
from bitblas.config import config
from bitblas.exceptions import InvalidValue
from bitblas.formats import EVERYWHERE, format_of
from bitblas.formats.b2sr.cost import DEFAULT_TILE
from bitblas.operations import plain_spmv
from bitblas.plan import format_choice as plan_forms
from bitblas.plan import product as plan


@pytest.fixture(autouse=True)
def _transposes_at_need(tune):
    """Build auxiliary formats for the first product that reads one: these tests begin after amortization."""
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})


def matrix(name="gaps", **options):
    p = MATRICES[name]()
    return bitblas.Matrix.from_coo(p.rows, p.cols, 1, nrows=p.nrows, ncols=p.ncols, **options)


def vector(size, share, dtype="INT64"):
    """An iso vector with that share of its entries."""
    at = np.arange(0, size, max(1, round(1 / share))) if share else np.zeros(0, int)
    return bitblas.Vector.from_coo(at, 1, dtype, size=size)


def chosen(A, u, semiring):
    f = bitblas.semiring[semiring] if isinstance(semiring, str) else semiring
    return plain_spmv.choose(A._store, u._store, f["INT64"], False, False).plan


# ---- pure, printable ------------------------------------------------------------------------------------------------


def test_a_plan_is_a_frozen_value_that_prints_itself(device):
    A, u = matrix(format="b2sr", tile=8), vector(140, 1.0)
    first, second = bitblas.explain(A.mxv(u)), bitblas.explain(A.mxv(u))
    assert first == second and hash(first) == hash(second) and str(first) == str(second)
    with pytest.raises(AttributeError):
        first.lanes = 3
    for word in ("mxv", "plus_times", "b2sr8", first.direction, "lanes", first.reason):
        assert word in str(first)
    assert "vxm" in str(bitblas.explain(u.vxm(A))) and "transpose" in str(bitblas.explain(A.T.mxv(u)))


def test_planning_computes_nothing(device, monkeypatch):
    A, u = matrix(format="b2sr", tile=16), vector(140, 0.5)

    for kind in (devices.Cpu, type(devices.get(config.device))):
        monkeypatch.setattr(kind, "kernel", lambda *args, **options: pytest.fail("a kernel was asked for"))
    before = {key: form for key, _, form, _ in A._store.structure.forms()}
    for expr in (A.mxv(u), u.vxm(A), A.T.mxv(u), A.mxm(A), A.mxm(A.T)):
        assert str(bitblas.explain(expr))
    assert before == {key: form for key, _, form, _ in A._store.structure.forms()}, "no form was built"


def test_explain_knows_the_mask():
    A = matrix(device="cpu")
    assert bitblas.explain(A.mxm(A), mask=A.S).direction == "dot"
    assert bitblas.explain(A.mxm(A)).direction == bitblas.explain(A.mxm(A), mask=~A.S).direction != "dot"


@pytest.mark.in_turn
@pytest.mark.parametrize("name", MATRICES)
def test_profile_prints_every_form(device, name):
    A = matrix(name, format="csr")
    text = str(A.profile())
    for key in FORMS:
        assert (key in text) == (format_of(key).cost.counts != "asked")
    assert text.count("<- auto") == 1 and "(held)" in text
    assert f"{A.nvals} entries" in text.splitlines()[0]


# ---- the stored form ------------------------------------------------------------------------------------------------


def test_forced_forms_are_kept(device):
    for key, form in FORMS.items():
        A = matrix(**form)
        assert A.format == key
        A << A.T
        A[0, 0] = True
        assert A.format == key
        A << A.ewise_add(A)
        assert A.format == key
    assert bitblas.Matrix(bool, 5, 5, format="b2sr", tile=32).format == "b2sr32"
    assert matrix(format="b2sr").format == f"b2sr{DEFAULT_TILE}"


BAD = [
    {"format": "coo"}, {"format": "B2SR"}, {"format": 8}, {"format": "csr", "tile": 8}, {"format": "split", "tile": 32},
    *({"format": "b2sr", "tile": tile} for tile in (5, 0, 128, "8")),
]  # fmt: skip


@pytest.mark.parametrize("options", BAD, ids=str)
def test_bad_forms_are_refused(options):
    with pytest.raises(ValueError, match=r"(format|tile): expected"):
        bitblas.Matrix(bool, 3, 3, device="cpu", **options)
    with pytest.raises(ValueError, match=r"(format|tile): expected"):
        bitblas.Matrix.from_coo([0], [0], device="cpu", **options)
    with pytest.raises(InvalidValue):
        plan_forms.choose_form(matrix(device="cpu")._store.structure, options["format"], options.get("tile"))


# ---- direction and kernel -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", PLAIN_FORMS)
def test_the_direction_switches_with_the_density(device, key):
    A = matrix("130x130", **FORMS[key])
    order = [chosen(A, vector(130, share), "min_plus").direction for share in (0.0, 0.01, 0.5, 1.0)]
    assert order == ["push", "push", "pull", "pull"]
    pushed, pulled = (chosen(A, vector(130, share), "lor_land") for share in (0.01, 1.0))
    assert pushed.transposed and not pulled.transposed, "a push reads the transpose"
    assert pushed.key == pulled.key == key


def test_float_sums_and_counts_are_pulled_on_a_gpu(device):
    """Where threads share the work, sums have an order if each is taken by one row. The CPU pushes in one thread."""
    A, few = matrix("130x130"), vector(130, 0.01, "FP64")
    direction = "push" if device == "cpu" else "pull"
    sums, counts, least = (
        bitblas.explain(A.mxv(few, bitblas.semiring[name])) for name in ("plus_second", "plus_pair", "min_second")
    )
    assert sums.direction == direction and ("order" in sums.reason) == (device != "cpu")
    assert counts.kind == plan.COUNT and counts.direction == direction and least.direction == "push"


def test_equal_products_need_no_values(device):
    iso, u = matrix("130x130"), vector(130, 1.0)
    rng = generator("equal")
    i, j = rng.integers(0, 130, 50), rng.integers(0, 130, 50)
    many = bitblas.Matrix.from_coo(i, j, rng.integers(0, 9, 50), nrows=130, ncols=130, dup_op="plus")
    words, count, values = plan.WORDS, plan.COUNT, plan.VALUES
    for A, name, kind in (
        (iso, "lor_land", words), (iso, "any_pair", words), (iso, "plus_times", count), (iso, "min_plus", words),
        (many, "plus_pair", count), (many, "any_second", words), (many, "plus_times", values),
        (many, "plus_second", count), (many, "lor_land", values), (iso, "any_secondi", values),
    ):  # fmt: skip
        found = bitblas.explain(A.mxv(u, getattr(bitblas.semiring, name)))
        assert found.kind == kind, f"{name}: {found}"


# ---- hubs -----------------------------------------------------------------------------------------------------------

LANES = (1, 2, 4, 8, 16, 32)


def assert_cut(form, longest, *of_split):
    """Units longer than `longest` are covered by segments, each entry once, in order. Segments are no longer either;
    those of a Split, whose units have several parts, have about the given length, where tiles count by their cost."""
    host = lambda x: np.asarray(devices.get(config.device).to_host(x)).astype(np.int64)
    hubs = form.format.view.hubs(form, longest, *of_split)
    parts = form.parts if of_split else 1
    starts = host(form.starts if of_split else form.ptr).reshape(-1, parts)
    most, cost = of_split or (longest, 1)
    costs = [cost, 1, 1][:parts]
    long = np.flatnonzero(np.diff(starts, axis=0) @ costs > longest)
    if not len(long):
        assert hubs is None
        return
    rows, first, begin, end, row_of = map(host, hubs)
    begin, end = begin.reshape(-1, parts), end.reshape(-1, parts)
    assert np.array_equal(rows, long) and hubs.segments == len(begin) == len(end) == first[-1]
    assert ((end - begin) @ costs <= most + (cost + 1 if of_split else 0)).all()
    assert (end >= begin if of_split else end > begin).all()
    for h, row in enumerate(rows):
        mine = slice(first[h], first[h + 1])
        assert (row_of[mine] == row).all() and np.array_equal(end[mine][:-1], begin[mine][1:])
        assert np.array_equal((begin[mine][0], end[mine][-1]), starts[row : row + 2])


@pytest.mark.in_turn
@pytest.mark.parametrize("key", PLAIN_FORMS)
@pytest.mark.parametrize("name", ["hub", "long hub", "dense row", "dense column", "all ones", "no entries"])
def test_segments_cover_each_hub_once(device, key, name):
    structure = matrix(name, **FORMS[key])._store.structure
    for transposed in (False, True):
        form = structure.layout(key, transposed=transposed)
        for longest in (1, 2, 3, 64, 100, 119, 120, 121, 1000, 2999, 3000, 3001):
            assert_cut(form, longest)


def one_hub(n, **options):  # n x n; one row has half of all entries
    rng = generator("one hub", n)
    i, j = np.concatenate([np.full(n, n // 3), rng.permutation(n)]), np.concatenate([np.arange(n), rng.permutation(n)])
    return bitblas.Matrix.from_coo(i, j, True, nrows=n, ncols=n, **options)


@pytest.mark.in_turn
@pytest.mark.parametrize("key", PLAIN_FORMS)
@pytest.mark.parametrize("name", ["lor_land", "plus_pair", "min_second", "plus_second"])
def test_no_unit_of_work_is_longer_than_the_plan_allows(device, key, name, monkeypatch):
    gpu = devices.get(config.device).is_gpu
    launches = []
    cls = type(devices.get(config.device))
    plain = cls.kernel

    def watch(on, variant):
        kernel = plain(on, variant)

        def call(n, longest, begin, end, *args, **options):
            host = devices.get(config.device).to_host
            length = host(end[:n]).astype(np.int64) - host(begin[:n])
            launches.append((variant.constant("LANES"), int(longest), length))
            kernel(n, longest, begin, end, *args, **options)

        return call if variant.kernel.endswith(("pull", "push")) else kernel

    monkeypatch.setattr(cls, "kernel", watch)
    n = 3000
    A, u, hub = one_hub(n, **FORMS[key]), vector(n, 1.0), 0
    u[5] = 7  # no longer iso
    for share, T in ((1.0, False), (0.01, True)):  # the second one pushes, along the hub's row too
        v = u if share == 1.0 else bitblas.Vector.from_coo(np.arange(0, n, 100), np.arange(0, n, 100), size=n)
        expr = (A.T if T else A).mxv(v, getattr(bitblas.semiring, name))
        plan_of, _ = bitblas.explain(expr), expr.new()
        for lanes, longest, length in launches:
            hub = max(hub, int(length.max(initial=0)))
            push, pull = format_of(key).kernels["mxv.push"], format_of(key).kernels["mxv.pull"]
            limit = push.longest(lanes) if plan_of.direction == "push" else pull.longest(plan_of.kind, lanes)
            if gpu and longest == EVERYWHERE:
                assert lanes == pull.part_lanes and length.max() <= pull.segment()
            assert longest == EVERYWHERE or (lanes == plan_of.lanes and longest == limit)
        if gpu:  # each entry (or tile) of the form is done exactly once, in units that are short enough
            form = A._store.structure.layout(key, transposed=plan_of.transposed)
            done = sum(int(length[length <= longest].sum()) for _, longest, length in launches)
            assert done == form.work
        launches.clear()
    assert not gpu or not format_of(key).by_rows or hub >= n


def test_hubs_give_the_same_answer(device):
    n, to_host = 3000, devices.get(config.device).to_host
    x = generator("answer").integers(0, 50, n)
    i, j = (to_host(a).astype(np.int64) for a in one_hub(n, format="csr").to_coo()[:2])
    u, expected = bitblas.Vector.from_dense(x), np.bincount(i, x[j], minlength=n)
    for form in PLAIN_FORMS:
        found = one_hub(n, **FORMS[form]).mxv(u, bitblas.semiring.plus_second).new()
        assert np.array_equal(to_host(found.to_dense(0)), expected)


@pytest.mark.parametrize("key", ["csr", "b2sr4", "b2sr8"])
@pytest.mark.parametrize(("at", "direction"), [([1000], "pull"), ([500, 501], "push")])
def test_a_push_along_a_hub_is_not_light(device, key, at, direction, tune):
    """Vertex 1000 alone has half of the edges."""
    tune({"push_cost.cpu": 64.0, "push_cost.gpu": 16.0, "pull.threads.cpu": 2})
    A, u = one_hub(3000, **FORMS[key]), bitblas.Vector.from_coo(at, 1, size=3000)
    both = u.vxm(A, bitblas.semiring.min_second)
    assert bitblas.explain(both).direction == direction
    rows, cols, found = map(devices.get(config.device).to_host, (*A.to_coo()[:2], both.new().to_coo()[0]))
    assert np.array_equal(found, np.unique(cols[np.isin(rows, at)]))
