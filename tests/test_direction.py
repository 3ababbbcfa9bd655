"""Push or pull: the rule, the facts that it counts, and that statements run as `explain` predicts."""

from __future__ import annotations

import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.operations import plain_spmv
from bitblas.plan import direction as plan
from bitblas.plan.direction import Missing, ProductFacts, VectorFacts, choose_direction, is_cacheable
from bitblas.plan.product import COUNT, VALUES, WORDS
from bitblas.store import VectorStore


@pytest.fixture(autouse=True)
def _transposes_at_need(tune):
    """Build auxiliary formats for the first product that reads one: these tests begin after amortization."""
    tune({"transpose.reads.cpu": 0.0, "transpose.reads.gpu": 0.0})


CASE = ProductFacts("mxv", "lor_land", "csr", False, WORDS, None, False, "cpu", "")
TRANSPOSED = CASE._replace(pull_transposed=True)  # a pull would read the transpose


def decided(*, case=CASE, rows=True, back=None, work=None, longest=0, **known):
    case = case._replace(push_ready=rows, pull_ready=back, items=work, longest_unit=longest)
    return choose_direction(case, VectorFacts(1000, **known))


def test_what_is_known_decides():
    assert CASE.push_cost() == (3, 3), "what the numbers below are for"
    assert not decided(case=CASE._replace(fixed_order="a float sum has a fixed order")).push
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


def test_what_a_push_costs_depends_on_what_is_added_up(tune):
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
    tune({"push_cost.tiles.cached": 999})
    told["nvals"] = 50
    assert decided(**told, active=365) is plan.FEW and decided(**told, active=366) is plan.LONG_ROWS


def test_rows_that_end_at_their_first_hit_are_read_so_far():
    early = CASE._replace(early_exit=20.0)  # entries of a row, where a vector of 200 of 1000 gives a hit after 5
    assert early.read_share(200, 1000) == 0.25 and early.read_share(10, 1000) == 1 == CASE.read_share(200, 1000)
    assert early.read_share(0, 1000) == 1 and decided(case=early, nvals=0).push
    assert decided(case=early, nvals=129) is plan.FEW and decided(case=early, nvals=130) is plan.MANY
    assert decided(case=early, nvals=100, work=1000, longest=999, active=166) is plan.FEW
    assert decided(case=early, nvals=100, work=1000, longest=999, active=167) is plan.LONG_ROWS


def test_entries_from_which_on_a_loop_pulls():
    case = CASE._replace(items=2000)
    assert case.push_limits(1000) == case._replace(early_exit=2.0).push_limits(1000) == (333, 666)
    assert case.push_limits(999) == (332, 666), "as of a statement: 333 * 3 entries cost as much as a pull"
    early = CASE._replace(early_exit=12.0)  # as `direction` says of a single statement
    assert early._replace(items=1200).push_limits(1200).entries == 199
    known = {"push_ready": True, "items": None}
    assert choose_direction(early._replace(**known), VectorFacts(1200, nvals=199)).push
    assert not choose_direction(early._replace(**known), VectorFacts(1200, nvals=200)).push


def test_any_and_lor_end_a_row_at_their_first_hit():
    A = gb.Matrix.from_coo(np.arange(900) % 30, np.arange(900) // 30, 1.5, nrows=30, ncols=30, device="cpu")
    values = gb.Vector.from_dense(np.arange(30.0), device="cpu")._stored.values
    for ring, early in ((gb.semiring.any_second, 30.0), (gb.semiring.min_second, 0.0), (gb.semiring.lor_second, 30.0)):
        facts = plain_spmv.facts_of(A._stored, values, ring[gb.dtypes.FP64], transpose=False, flip=False)
        assert facts.early_exit == early


def test_of_few_entries_all_are_read():
    few = CASE._replace(small=True)
    assert decided(case=few) is decided(case=few, nvals=1) is plan.SMALL
    assert decided(case=few._replace(pull_transposed=True), nvals=1).push, "not where that takes a transpose"
    assert is_cacheable(plan.SMALL, few, VectorFacts(1000, nvals=1))
    A = gb.Matrix.from_coo(range(40), range(40), True, nrows=40, ncols=40)
    B = gb.Matrix.from_coo(range(400), range(400), True, nrows=400, ncols=400)
    one = [gb.Vector.from_coo([3], True, size=M.ncols) for M in (A, B)]
    assert [gb.explain(M.mxv(u, "any_pair")).direction for M, u in zip((A, B), one)] == ["pull", "push"]


def test_what_is_not_known_is_asked_for_and_the_cheapest_first():
    assert decided(rows=None) is decided(rows=None, nvals=3) is Missing.PUSH_FORMAT
    assert decided() is decided(least=333) is Missing.VECTOR_ENTRIES
    assert decided(case=TRANSPOSED, nvals=500) is Missing.PULL_FORMAT
    assert decided(nvals=2, work=1000, longest=167) is Missing.ACTIVE_ITEMS
    gpu = CASE._replace(device="gpu")
    assert decided(case=gpu, least=63) is plan.AT_LEAST and decided(case=gpu, least=62) is Missing.VECTOR_ENTRIES
    assert {ask.value for ask in Missing} <= {*VectorFacts._fields, *ProductFacts._fields}


def test_what_going_without_the_transpose_costs():
    known, full = VectorFacts(1000, nvals=500), VectorFacts(1000, least=1000)
    for case, facts, found, reads in (
        (CASE, known, plan.WITHOUT_TRANSPOSED_PUSH, 1),
        (TRANSPOSED, known, plan.FEW, 0),
        (TRANSPOSED, known, plan.WITHOUT_TRANSPOSED_PULL, 3 * 0.5 - 1),
        (TRANSPOSED._replace(device="gpu"), full, plan.WITHOUT_TRANSPOSED_PULL, 15),
    ):
        assert plan.missed_reads(case, facts, found) == reads


def test_a_direction_says_why():
    case, known = CASE._replace(items=50), VectorFacts(1000, 3, 9, 45)
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
def test_a_statement_runs_as_explained(device, one_hub, form, at, semiring, tune):
    tune({"push_cost.rows.values": 1.0})  # half of all entries are too many to push along
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
    known = [u._store] if device == "cpu" else []  # there a statement counts in any case: a full vector has a kernel
    for least, asked in ((1500, known), (0, [u._store])):
        counted.clear()
        u._store.count, u._store.least = None, least
        assert gb.explain(A.T.mxv(u, few)).direction == "pull" and counted == asked
    counted.clear()
    u._store.count = None
    gb.explain(A.T.mxv(u, gb.semiring.plus_pair))
    assert counted == ([u._store] if device == "cpu" else []), "a GPU pulls counts, whatever is active"


def test_words_are_the_case_of_equal_products():
    A = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2, device="cpu")
    semiring = gb.semiring.lor_land[gb.dtypes.BOOL]
    case = plain_spmv.facts_of(A._store, np.bool_(True), semiring, transpose=True, flip=True)
    assert (case.verb, case.kind, case.product, case.fixed_order) == ("vxm", WORDS, True, "") and case.pull_transposed


@pytest.mark.parametrize("kind", (WORDS, COUNT, VALUES))
@pytest.mark.parametrize("threads", (1, 2, 16))
def test_a_full_vector_is_not_pushed_by_rows(kind, threads):
    case = CASE._replace(kind=kind, threads=threads)
    assert not decided(case=case, nvals=1000, work=10000, longest=20, active=10000).push


def pushed_along(tune, **form):
    """A path, a vector with few of its vertices, and a semiring."""
    tune({"rows_for_push.least": 0})
    at = np.arange(599)
    A = gb.Matrix.from_coo(at, at + 1, True, nrows=600, ncols=600, device="cpu", **form)
    return A, gb.Vector.from_coo(at[:20], 2.0, size=600, device="cpu"), gb.semiring.plus_first[gb.dtypes.FP64]


@pytest.mark.parametrize("prefer", ("time", "memory"))
def test_rows_are_made_beside_tiles_that_are_pushed_along(prefer, tune):
    A, u, plus = pushed_along(tune, format="b2sr", tile=8)
    keys, held, answers = [], [], []
    with config.set(prefer=prefer):
        for _ in range(18):
            answers.append(u.vxm(A, plus).new())
            keys.append(gb.explain(u.vxm(A, plus)).key)
            held.append(A._store.structure.has("csr"))
    later = "csr" if prefer == "time" else "b2sr8"
    assert (keys[0], keys[-1], held[0], held[-1]) == ("b2sr8", later, False, prefer == "time")
    assert A.format == "b2sr8" and all(answer.isequal(answers[0]) for answer in answers)
    many = gb.Vector.from_coo(np.arange(599), 1.0, size=600, device="cpu")
    assert gb.explain(A.mxv(many, plus)).key == "b2sr8", "pulls stay"


@pytest.mark.parametrize("form", ("nib", "split"))
def test_no_rows_are_made_beside_a_form_that_keeps_none(form, tune, monkeypatch):
    """They would be made in every push, and dropped."""
    A, u, plus = pushed_along(tune, format=form)
    if form == "nib":
        A._stored.structure.rows_credit = 1e9  # as after many pushes
    monkeypatch.setattr(type(A._store.structure.primary), "to_csr", None)  # building rows fails
    for _ in range(18):
        assert u.vxm(A, plus).new().to_coo()[0].tolist() == list(range(1, 21))


@pytest.mark.parametrize("key", ("nib", "cgr"))
def test_rows_of_codes_are_weighed_by_themselves(key):
    """As by the words before each row, which are those of all."""
    rng = np.random.default_rng(2)
    at = np.unique(rng.integers(0, 300, (2000, 2)) ** 2 // 300, axis=0)
    A = gb.Matrix.from_coo(at[:, 0], at[:, 1], True, nrows=300, ncols=300, device="cpu", format=key)
    form = A._store.structure.primary
    semiring = gb.semiring.any_pair[gb.dtypes.BOOL]
    case = plain_spmv.facts_of(A._store, np.True_, semiring, transpose=True, flip=True)
    assert case.early_exit == A.nvals / 300, "a row that pulls ends at its first hit, as plain ones do"
    for rows in ([], [0], [31, 32, 63, 64, 299], range(300)):
        v = gb.Vector.from_coo(list(rows), 1, dtype=int, size=300, device="cpu")._stored
        bits = np.packbits(np.isin(np.arange(320), list(rows)), bitorder="little").view(np.uint64)
        wanted = int(np.diff(form.ptr)[list(rows)].sum())
        assert form.format.kernels["mxv.push"].active(form, bits) == plain_spmv.active_entries(v, form) == wanted


def test_pushes_along_rows_beside_tiles_pay_where_pulls_are_by_tiles():
    both = CASE._replace(key="b2sr8", tile_entries=6.5)
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
    A._stored.structure.transpose_credit = 1e9  # as after many products
    before = sum(A.memory().forms.values())
    for _ in range(3):
        assert product.new().to_coo()[0].tolist() == ([6, 8] if both_ways else [6])
    assert gb.explain(product).direction == ("push" if both_ways else "pull")
    assert sum(A.memory().forms.values()) == before


def test_a_multivector_is_pushed_if_few_rows_have_entries(tune):
    A = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3, ncols=3, device="cpu", format="csr")._store.structure
    tune({"push_cost.multivector.cpu": 4})
    assert plan.multivector_push_limit(100, "cpu") == 25 and plan.multivector_push_limit(101, "cpu") == 26
    chosen = [plan.multivector_direction(A, "csr", True, 100, k) for k in (None, 24, 25)]
    assert [found.push for found in chosen] == [False, True, False]
    assert chosen[1].why == "24 of 100 rows active"
    missing = plan.multivector_direction(A, "csr", False, 100, 24)  # a push along rows of A' needs the transpose
    assert not missing.push and "needs the transpose" in missing.why


def test_which_products_of_a_loop_may_push():
    facts = plan.LoopFacts(False, "", mask_is_frontier=False, cannot_push="", push_ready=True, pull_ready=True)
    assert plan.loop_direction(facts) == (True, "few entries may be active", "")
    for change in ({"full": True}, {"fixed_order": "counts"}, {"mask_is_frontier": True}):
        found = plan.loop_direction(facts._replace(**change))
        assert not found.push and not found.missing and found.why
    found = plan.loop_direction(facts._replace(full=True, pull_ready=False))
    assert found.push, "a full vector is pushed if a pull would need the transpose"
    for change, missing in (
        ({"fixed_order": "counts", "pull_ready": False}, "counting by rows needs the transpose"),
        ({"cannot_push": "no kernel"}, "no kernel"),
        ({"push_ready": False}, "pushing needs the transpose"),
    ):
        assert missing in plan.loop_direction(facts._replace(**change)).missing


@pytest.mark.parametrize("form", ["csr", "nib", "b2sr"])
def test_rounds_of_a_loop_compare_with_numbers(form):
    n = 1000
    A = gb.Matrix.from_coo(np.arange(n), (np.arange(n) * 7) % n, True, nrows=n, ncols=n, device="cpu", format=form)
    layout = A._stored.structure.primary
    share = {"csr": 16, "nib": 16, "b2sr": 4}[form]
    other = layout.work // share, plan.NO_LIMIT
    assert plan.round_limits(layout, search=False) == other
    search = plan.round_limits(layout, search=True)
    assert search == (other if form == "b2sr" else (layout.work, layout.work + n // 16))
