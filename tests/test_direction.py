"""Push or pull: the rule, the facts that it counts, and that statements run as `explain` predicts."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.operations import spmv_kernels
from bitblas.plan import auxiliary_formats
from bitblas.plan import direction as plan
from bitblas.plan.direction import Missing, ProductFacts, VectorFacts, choose_direction, is_cacheable
from bitblas.plan.product import COUNT, VALUES, WORDS
from bitblas.store import VectorStore


@pytest.fixture(autouse=True)
def _transposes_at_need(monkeypatch):
    """Build auxiliary formats for the first product that reads one: these tests begin after amortization."""
    monkeypatch.setattr(auxiliary_formats, "TRANSPOSE_READS", dict.fromkeys(auxiliary_formats.TRANSPOSE_READS, 0.0))


CASE = ProductFacts("mxv", "lor_land", "csr", False, WORDS, None, False, "cpu", "")


TRANSPOSED = CASE._replace(pull_of=True)  # a pull would read the transpose


def decided(*, case=CASE, rows=True, back=None, work=None, longest=0, **known):
    return choose_direction(case._replace(rows=rows, back=back, work=work, longest=longest), VectorFacts(1000, **known))


def test_what_is_known_decides():
    assert CASE.push_cost() == (3, 3), "what the numbers below are for"
    assert not decided(case=CASE._replace(ordered="a float sum has a fixed order")).push
    assert decided(least=334) is plan.AT_LEAST and decided(nvals=334) is plan.MANY
    assert decided(rows=False) is decided(rows=False, nvals=1) is plan.WITHOUT_TRANSPOSED_PUSH
    for more in ({"nvals": 334}, {"least": 999}, {"nvals": 2, "work": 1000, "longest": 999, "active": 334}):
        assert decided(case=TRANSPOSED, back=False, **more) is plan.WITHOUT_TRANSPOSED_PULL
        assert not decided(case=TRANSPOSED, back=True, **more).push and not decided(back=False, **more).push
    assert decided(case=TRANSPOSED, back=False, nvals=333) is plan.FEW
    assert decided(nvals=333) is plan.FEW, "the form is not there: nothing is known of its rows"
    assert decided(nvals=2, work=1000, longest=166) is plan.FEW
    assert decided(nvals=2, work=1000, longest=999, active=333) is plan.FEW
    assert decided(nvals=2, work=1000, longest=999, active=334) is plan.LONG_ROWS
    assert decided(nvals=0, work=0, longest=0, active=0) is plan.LONG_ROWS, "of no entries a pull costs nothing either"


def test_what_a_push_costs_depends_on_what_is_added_up(monkeypatch):
    def most(case):
        """The entries along which it pushes, of 1000, at most."""
        return max(k for k in range(1000) if decided(case=case, nvals=k).push)

    tiles, gpu = CASE._replace(key="b2sr8"), CASE._replace(device="gpu")
    assert most(CASE) == 333 and most(CASE._replace(kind=COUNT)) == 222 and most(CASE._replace(kind=VALUES)) == 416
    assert most(tiles) == 83 and most(tiles._replace(kind=COUNT)) == 41 and most(tiles._replace(kind=VALUES)) == 138
    assert {most(gpu._replace(kind=kind)) for kind in (WORDS, COUNT, VALUES)} == {62}
    assert most(CASE._replace(threads=1)) == 666 and most(CASE._replace(threads=64)) == 83
    told = {"case": tiles._replace(kind=VALUES), "nvals": 100, "work": 1000, "longest": 9}
    assert decided(**told, active=730) is plan.FEW and decided(**told, active=731) is plan.LONG_ROWS
    monkeypatch.setattr(plan, "CACHED", 999)
    told["nvals"] = 50
    assert decided(**told, active=365) is plan.FEW and decided(**told, active=366) is plan.LONG_ROWS


def test_rows_that_end_at_their_first_hit_are_read_so_far():
    early = CASE._replace(early=20.0)  # entries of a row, where a vector of 200 of 1000 gives a hit after 5
    assert early.pulled(200, 1000) == 0.25 and early.pulled(10, 1000) == 1 == CASE.pulled(200, 1000)
    assert early.pulled(0, 1000) == 1 and decided(case=early, nvals=0).push
    assert decided(case=early, nvals=129) is plan.FEW and decided(case=early, nvals=130) is plan.MANY
    assert decided(case=early, nvals=100, work=1000, longest=999, active=166) is plan.FEW
    assert decided(case=early, nvals=100, work=1000, longest=999, active=167) is plan.LONG_ROWS


def test_entries_from_which_on_a_loop_pulls():
    assert CASE.max_push_entries(1000) == 1000 / 3 == CASE._replace(early=2.0).max_push_entries(1000)
    early = CASE._replace(early=12.0)  # as `direction` decides for a single statement
    assert early.max_push_entries(1200) == 200
    known = {"rows": True, "work": None}
    assert choose_direction(early._replace(**known), VectorFacts(1200, nvals=199)).push
    assert not choose_direction(early._replace(**known), VectorFacts(1200, nvals=200)).push


def test_any_and_lor_end_a_row_at_their_first_hit():
    with config.set(device="cpu"):
        A = gb.Matrix.from_coo(np.arange(900) % 30, np.arange(900) // 30, 1.5, nrows=30, ncols=30)
        u = gb.Vector.from_dense(np.arange(30.0))
        found = [
            spmv_kernels.facts_of(A._stored, u._stored.values, ring[gb.dtypes.FP64], transpose=False, flip=False).early
            for ring in (gb.semiring.any_second, gb.semiring.min_second, gb.semiring.lor_second)
        ]
    assert found == [30.0, 0.0, 30.0]


def test_of_few_entries_all_are_read():
    few = CASE._replace(few=True)
    assert decided(case=few) is decided(case=few, nvals=1) is plan.SMALL
    assert decided(case=few._replace(pull_of=True), nvals=1).push, "not where that takes a transpose"
    assert is_cacheable(plan.SMALL, few, VectorFacts(1000, nvals=1))
    A = gb.Matrix.from_coo(range(40), range(40), True, nrows=40, ncols=40)
    B = gb.Matrix.from_coo(range(400), range(400), True, nrows=400, ncols=400)
    one = [gb.Vector.from_coo([3], True, size=M.ncols) for M in (A, B)]
    assert [gb.explain(M.mxv(u, "any_pair")).direction for M, u in zip((A, B), one)] == ["pull", "push"]


def test_what_is_not_known_is_asked_for_and_the_cheapest_first():
    assert decided(rows=None) is decided(rows=None, nvals=3) is Missing.ROWS
    assert decided() is decided(least=333) is Missing.NVALS and decided(case=TRANSPOSED, nvals=500) is Missing.BACK
    assert decided(nvals=2, work=1000, longest=167) is Missing.ACTIVE
    gpu = CASE._replace(device="gpu")
    assert decided(case=gpu, least=63) is plan.AT_LEAST and decided(case=gpu, least=62) is Missing.NVALS
    assert {ask.value for ask in Missing} <= {*VectorFacts._fields, *ProductFacts._fields}


def test_what_going_without_the_transpose_costs():
    known = VectorFacts(1000, nvals=500)
    assert (
        plan.missed_reads(CASE, known, plan.WITHOUT_TRANSPOSED_PUSH) == 1
        and plan.missed_reads(TRANSPOSED, known, plan.FEW) == 0
    )
    assert plan.missed_reads(TRANSPOSED, known, plan.WITHOUT_TRANSPOSED_PULL) == 3 * 0.5 - 1
    assert (
        plan.missed_reads(
            TRANSPOSED._replace(device="gpu"), VectorFacts(1000, least=1000), plan.WITHOUT_TRANSPOSED_PULL
        )
        == 15
    )


def test_a_direction_says_why():
    case, known = CASE._replace(work=50), VectorFacts(1000, 3, 9, 45)
    for found, text in (
        (plan.FEW, "9 of 1000 entries active"),
        (plan.AT_LEAST, "at least 3 of 1000 entries active"),
        (plan.LONG_ROWS, "9 of 1000 entries active, but their rows hold 45 of 50"),
        (plan.WITHOUT_TRANSPOSED_PUSH, "pushing needs csr of the transpose, whose construction is not yet amortized"),
        (plan.WITHOUT_TRANSPOSED_PULL, "pulling needs csr of the transpose, whose construction is not yet amortized"),
    ):
        assert found.reason(case, known) == text
    lined = plan.plan_mxv(CASE._replace(wide=True), known, plan.FEW, 4)
    assert (lined.direction, lined.transposed, lined.wide, lined.lanes) == ("push", True, False, 4)
    assert plan.plan_mxv(CASE._replace(wide=True), known, plan.LONG_ROWS, 1).wide


@pytest.fixture
def one_hub():  # row 1000 has half of the entries
    rng, n = np.random.default_rng(3), 3000
    i, j = np.concatenate([np.full(n, 1000), rng.permutation(n)]), np.concatenate([np.arange(n), rng.permutation(n)])
    return lambda **options: gb.Matrix.from_coo(i, j, 1, nrows=n, ncols=n, **options)


def ran(expr):
    """The plan by which a product ran, and its kernels; not those that counted, or made a form."""
    with gb.trace() as trace:
        expr.new()
    runs = [run for run in trace if run.kernel.endswith(("push", "pull", "lanes"))]
    (plan,) = {run.plan for run in runs}
    return plan, {run.kernel.rpartition("/")[2] for run in runs}


@pytest.mark.in_turn
@pytest.mark.parametrize("form", [{"format": "csr"}, {"format": "b2sr", "tile": 8}], ids=str)
@pytest.mark.parametrize("at", [[1000], [500, 501], list(range(0, 3000, 2))], ids=["hub", "few", "many"])
@pytest.mark.parametrize("semiring", ["min_second", "lor_land", "plus_pair"])
def test_a_statement_runs_as_explained(device, one_hub, form, at, semiring, monkeypatch):
    monkeypatch.setitem(plan.ROWS_SHARE, VALUES, 1.0)  # half of all entries are too many to push along
    A, u = one_hub(**form), gb.Vector.from_coo(at, np.arange(1, len(at) + 1), size=3000)
    op = getattr(gb.semiring, semiring)
    for T in (False, True, False, True):  # from the third on both forms are there
        expr = (A.T if T else A).mxv(u, op)
        explained = str(gb.explain(expr))
        how, kernels = ran(expr)
        assert how == explained
        assert kernels <= ({"push"} if ": push on" in how else {"pull", "lanes"}), how
    if form["format"] == "csr":
        pushes = (semiring != "plus_pair" or device == "cpu") and len(at) == 2
        assert (gb.explain(A.T.mxv(u, op)).direction == "push") == pushes


def test_entries_are_counted_where_that_is_open(device, monkeypatch, one_hub):
    counted = []

    def count(self):
        counted.append(self)
        self.count = int(np.unpackbits(devices.get(config.device).to_host(self.present).view(np.uint8)).sum())
        return self.count

    A, u = one_hub(format="csr"), gb.Vector.from_coo(np.arange(0, 3000, 2), 1, size=3000)
    monkeypatch.setattr(VectorStore, "nvals", property(count))
    few = gb.semiring.min_second
    for least, asked in ((1500, []), (0, [u._store])):
        counted.clear()
        u._store.count, u._store.least = None, least
        assert gb.explain(A.T.mxv(u, few)).direction == "pull" and counted == asked
    counted.clear()
    u._store.count = None
    gb.explain(A.T.mxv(u, gb.semiring.plus_pair))
    assert counted == ([u._store] if device == "cpu" else []), "a GPU pulls counts, whatever is active"


def test_words_are_the_case_of_equal_products():
    A = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2, device="cpu")
    case = spmv_kernels.facts_of(
        A._store, np.bool_(True), gb.semiring.lor_land[gb.dtypes.BOOL], transpose=True, flip=True
    )
    assert (case.verb, case.kind, case.product, case.ordered, case.pull_of) == ("vxm", WORDS, True, "", True)


@pytest.mark.parametrize("kind", (WORDS, COUNT, VALUES))
@pytest.mark.parametrize("threads", (1, 2, 16))
def test_a_full_vector_is_not_pushed_by_rows(kind, threads):
    case = CASE._replace(kind=kind, threads=threads)
    assert not decided(case=case, nvals=1000, work=10000, longest=20, active=10000).push


@pytest.mark.parametrize("prefer", ("time", "memory"))
def test_rows_are_made_beside_tiles_that_are_pushed_along(prefer, monkeypatch):
    monkeypatch.setattr(auxiliary_formats, "LEAST", 0)
    n, at = 600, np.arange(599)
    A = gb.Matrix.from_coo(at, at + 1, True, nrows=n, ncols=n, format="b2sr", tile=8, device="cpu")
    u, plus = gb.Vector.from_coo(np.arange(20), 2.0, size=n, device="cpu"), gb.semiring.plus_first[gb.dtypes.FP64]
    keys, held, answers = [], [], []
    with config.set(prefer=prefer):
        for _ in range(18):
            answers.append(u.vxm(A, plus).new())
            keys.append(gb.explain(u.vxm(A, plus)).key)
            held.append(A._store.structure.has("csr"))
    later = "csr" if prefer == "time" else "b2sr8"
    assert (keys[0], keys[-1], held[0], held[-1]) == ("b2sr8", later, False, prefer == "time")
    assert A.format == "b2sr8" and all(answer.isequal(answers[0]) for answer in answers)
    assert gb.explain(A.mxv(gb.Vector.from_coo(at, 1.0, size=n, device="cpu"), plus)).key == "b2sr8", "pulls stay"


def test_no_rows_are_made_beside_a_form_that_keeps_none(monkeypatch):
    """They would be made in every push, and dropped."""
    monkeypatch.setattr(auxiliary_formats, "LEAST", 0)
    n = 600
    A = gb.Matrix.from_coo(np.arange(n), (np.arange(n) * 7) % n, True, nrows=n, ncols=n, device="cpu", format="nib")
    A._stored.structure.pushed = 1e9  # as after many pushes
    monkeypatch.setattr(type(A._stored.structure.primary), "to_csr", None)
    v = gb.Vector.from_coo([3], True, size=n, device="cpu")
    for _ in range(3):
        v = v.vxm(A, gb.semiring.any_pair).new()
    assert v.to_coo()[0].tolist() == [3 * 7**3 % n]


def test_no_rows_are_made_beside_a_split_which_keeps_none(monkeypatch):
    monkeypatch.setattr(auxiliary_formats, "LEAST", 0)
    at = np.arange(599)
    A = gb.Matrix.from_coo(at, at + 1, True, nrows=600, ncols=600, format="split", device="cpu")
    monkeypatch.setattr(type(A._store.structure.primary), "to_csr", None)  # building rows fails
    u, plus = gb.Vector.from_coo(np.arange(20), 2.0, size=600, device="cpu"), gb.semiring.plus_first[gb.dtypes.FP64]
    for _ in range(18):
        assert u.vxm(A, plus).new().nvals == 20


@pytest.mark.parametrize("key", ("nib", "cgr"))
def test_rows_of_codes_are_weighed_by_themselves(key):
    """As by the words before each row, which are those of all."""
    rng = np.random.default_rng(2)
    at = np.unique(rng.integers(0, 300, (2000, 2)) ** 2 // 300, axis=0)
    A = gb.Matrix.from_coo(at[:, 0], at[:, 1], True, nrows=300, ncols=300, device="cpu", format=key)
    form = A._store.structure.primary
    semiring = gb.semiring.any_pair[gb.dtypes.BOOL]
    case = spmv_kernels.facts_of(A._store, np.True_, semiring, transpose=True, flip=True)
    assert case.early == A.nvals / 300, "a row that pulls ends at its first hit, as plain ones do"
    for rows in ([], [0], [31, 32, 63, 64, 299], range(300)):
        v = gb.Vector.from_coo(list(rows), 1, dtype=int, size=300, device="cpu")._stored
        bits = np.packbits(np.isin(np.arange(320), list(rows)), bitorder="little").view(np.uint64)
        wanted = int(np.diff(form.ptr)[list(rows)].sum())
        assert form.format.active(form, bits) == spmv_kernels.active_entries(v, form) == wanted


def test_pushes_along_rows_beside_tiles_pay_where_pulls_are_by_tiles():
    both = CASE._replace(key="b2sr8", beside=6.5)
    assert both.push_key == "csr" and CASE._replace(key="b2sr8").push_key == "b2sr8"
    assert decided(case=both, nvals=38).push and not decided(case=both, nvals=45).push


@pytest.mark.parametrize("form", [{"format": "nib"}, {"format": "cgr"}, {"format": "split", "tile": 8}])
@pytest.mark.parametrize("both_ways", [False, True])
def test_what_is_small_is_not_made_twice_to_push(device, form, both_ways):
    """However often a statement would push against its edges; a symmetric matrix is its own transpose."""
    n, at = 3000, np.arange(2999)
    i, j = (np.r_[at, at + 1], np.r_[at + 1, at]) if both_ways else (at, at + 1)
    A, u = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, **form), gb.Vector.from_coo([7], True, size=n)
    product = A.mxv(u, gb.semiring.lor_land)
    A._stored.structure.missed = 1e9  # as after many products
    before = sum(A.memory().forms.values())
    for _ in range(3):
        assert product.new().to_coo()[0].tolist() == ([6, 8] if both_ways else [6])
    assert gb.explain(product).direction == ("push" if both_ways else "pull")
    assert sum(A.memory().forms.values()) == before
