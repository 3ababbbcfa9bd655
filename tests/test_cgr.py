"""CGR: the code bit by bit, segments of every kind, walks of every width, parts of long rows, programs."""

from __future__ import annotations

import numpy as np
import pytest
import test_loop
from battery import MATRICES
from battery_runs import ALGEBRAS
from coded_rows import bits_of, gamma, head_of, row_bits, zeta
from test_battery import REPLACE, SPLIT_SHAPES, run_matrices
from test_builds import rows_of
from test_formats import assert_sound, host, make

import bitblas as gb
from bitblas.formats import format_of
from bitblas.formats.cgr.layout import Cgr
from bitblas.formats.coded import coded_hub_columns
from bitblas.plan.facts import facts


def structure(rows, cols, nrows: int, ncols: int) -> Cgr:
    found = gb.Matrix.from_coo(rows, cols, True, nrows=nrows, ncols=ncols, format="cgr")._store.structure.primary
    assert isinstance(found, Cgr)
    return found


def test_the_code(device):
    """A row bit by bit: an interval of 4 columns, and six others."""
    row = [12, 18, 19, 20, 21, 24, 27, 28, 29, 101]
    form = structure([16] * 10, row, 102, 102)
    starts = gamma(0) + gamma(1) + "00101" + "1"  # one segment, one interval: 2 past the row, 4 long
    others = gamma(0) + gamma(6) + "01001000" + "01001100" + "1011" + "1001" + "1001" + "001001001000"
    assert bits_of(form, 16) == row_bits(16, row) == starts + others
    assert bits_of(form, 15) == bits_of(form, 17) == bits_of(form, 101) == ""
    assert [head_of(head) for head in host(form.heads).tolist()] == [(0, 6)] + [(8, 0)] * 4  # 56 bits in 2 words
    assert [zeta(x) for x in (0, 6, 7, 62, 63)] == ["1001", "1111", "01001000", "01111111", "001001000000"]


def segmented_rows(n: int):
    """Rows of no, one and many segments of intervals and of residuals, at every bit of a word, with codes of each
    length."""
    rng = np.random.default_rng(5)
    rows: list[list[int]] = [[] for _ in range(70)]
    for row in range(66):
        far = [int(x) for k in range(30) for x in rng.integers(0, 1 << min(30, 1 + k), row % 5)]
        runs = [int(a) + k for a in rng.integers(0, n - 400, row % 7 * 9) for k in range(4 + a % 60 * (row % 3))]
        rows[row] = sorted({j for j in far + runs + list(range(0, row * 11, 3)) if j < n})
    rows[67], rows[68] = list(range(5, 300)), [0, n - 1]
    return rows


def test_segments(device):
    """Encoded as they should be, and back; in the order that values have."""
    n = (1 << 31) - 1
    rows = rows_of(segmented_rows(n), n)
    form, order = Cgr.from_csr(rows, None, True)
    back, place = form.to_csr(True)
    assert np.array_equal(host(back.col), host(rows.col)) and np.array_equal(host(back.ptr), host(rows.ptr))
    assert np.array_equal(host(order)[host(place)], np.arange(rows.nvals))
    assert_sound(form)
    assert bits_of(form, 65) == row_bits(65, segmented_rows(n)[65])


@pytest.mark.parametrize("threads", [False, True])
def test_ranges_of_rows(threads, tune, on_the_cpu):
    """On the CPU threads take whole groups of rows."""
    tune({"formats.parallel_entries": 1} if threads else {})
    for name in ("gaps", "hub", "tall", "130x130", "last only"):
        assert_sound(make(MATRICES[name](), True, "BOOL", "cgr")._store.structure.primary)


# Matrices, and one product of each kind; long rows in parts in half of the cases (`run_matrices`).
CASES = (
    ("mxv pull", 0, "half iso", True),
    ("mxv pull", 5, "half", False),
    pytest.param("vxm push", 12, "sparse", False, marks=pytest.mark.slow),
)


@pytest.mark.parametrize("call, algebra, u, iso", CASES)
def test_products(device, call, algebra, u, iso, tune, monkeypatch):
    run_matrices(SPLIT_SHAPES[:-1], "cgr", call, ALGEBRAS[algebra], u, iso, tune, monkeypatch, **REPLACE)


@pytest.mark.slow
def test_programs(device, tune):
    """Levels and shortest paths along codes; rows cut into parts."""
    test_loop.test_shortest_paths(device, ("cgr", None), gb.dtypes.INT64)
    for change in ({}, {"loop.segment_entries": 2}):
        tune(change)
        test_loop.test_breadth_first_levels(device, ("cgr", None))


def test_marks_of_parts(emulator):
    """The parts of a row have its segments, each once, with the entries before them."""
    with gb.config.set(device="emulator"):
        n = (1 << 31) - 1
        lists = segmented_rows(n)
        form = Cgr.from_csr(rows_of(lists, n), None, True)[0]
        for size in (3, 8, 64):
            found = form.format.view.hubs(form, 9, size)
            begin, rows = host(found.begin).reshape(-1, 2, 3), host(found.row_of)
            assert len(found.rows) > 20
            for row in host(found.rows).tolist():
                mine = begin[rows == row]
                for kind in (0, 1):
                    at, count, before = mine[mine[:, kind, 1] > 0][:, kind].T.tolist()
                    assert at == [at[0] + 256 * k for k in np.cumsum([0, *count[:-1]])]
                    assert before[0] == 0 or kind == 1
                    assert sorted(before) == before and before[-1] <= len(lists[row])


@pytest.mark.parametrize("longest", [2, 1 << 20])  # words of a row that is not cut into parts
def test_a_push_gives_the_least_source_of_each_column(emulator, tune, longest):
    """However lanes share the rows: intervals, residuals, parts of long rows."""
    lists = [sorted({*range(r % 50, r % 50 + r % 40), *range(r % 7, 900, 3 + r * r % 90)}) for r in range(300)]
    lists[6], lists[7] = list(range(900)), sorted({k + j for k in range(0, 900, 9) for j in range(5)})
    wanted = np.full(900, 300)
    for i in reversed(range(300)):
        wanted[lists[i]] = i
    tune({"push_cost.gpu": 0.0, "pull.always.entries": 0, "cgr.longest": longest})
    with gb.config.set(device="emulator"):
        rows = np.repeat(np.arange(300), [len(row) for row in lists])
        A = gb.Matrix.from_coo(rows, np.concatenate(lists), True, nrows=300, ncols=900, format="cgr")
        sources = gb.Vector.from_coo(np.arange(299), np.arange(299), gb.dtypes.INT32, size=300)  # a full one is pulled
        product = sources.vxm(A, gb.semiring.min_first)
        assert gb.explain(product).direction == "push" and gb.explain(product).key == "cgr"
        found = product.new()
        wanted[wanted == 299] = 300
        assert np.array_equal(found.to_dense(300), wanted)


def test_what_it_cannot_number(on_the_cpu):
    match = r"'cgr' holds up to 2147483647 rows and columns, .* 'csr'"
    with pytest.raises(gb.exceptions.InvalidValue, match=match):
        gb.Matrix.from_coo([0], [0], True, nrows=3, ncols=1 << 31, format="cgr")
    wide = gb.Matrix.from_coo([0, 1], [0, 1 << 31], True, nrows=2, ncols=(1 << 31) + 1)
    assert "cgr" not in wide.profile().facts.forms


@pytest.mark.slow
def test_bytes_are_predicted(device):
    """To the byte where they are counted."""
    for name in ("gaps", "hub", "all ones", "wide", "tall", "129x129", "no entries", "0x5"):
        A = make(MATRICES[name](), True, "BOOL", "csr")
        held = A._store.structure.layout("cgr").nbytes
        assert facts(A._store.structure, exact=True).bytes_of("cgr") == held == A.memory().forms["cgr"]
        assert facts(A._store.structure).bytes_of("cgr") == pytest.approx(held, rel=0.2)


def web(n: int = 3000):
    """Places of the links of pages: some that those before them have too, a menu of neighbours, and far ones."""
    rng = np.random.default_rng(2)
    lists = [np.arange(12)] * 8
    for page in range(8, n):
        like = lists[max(0, page - 1 - rng.geometric(0.3))]
        menu = page // 64 * 64 + rng.integers(0, 30) + np.arange(int(rng.integers(12, 40)))
        far = rng.integers(0, n, 2)
        lists.append(np.unique(np.clip(np.concatenate([like[rng.random(len(like)) < 0.2], far, menu]), 0, n - 1)))
    return np.repeat(np.arange(n), [len(row) for row in lists]), np.concatenate(lists)


def test_the_estimate_is_near(device):
    """Of a graph too large to read every entry."""
    rows, cols = web()
    A = gb.Matrix.from_coo(rows, cols, True, nrows=3000, ncols=3000, format="csr")
    guess = dict(A.profile().facts.own)["cgr"]
    assert guess == pytest.approx(format_of("cgr").cost.count(A._store.structure.primary), rel=0.1)


def test_it_is_chosen_where_bytes_count(device):
    """Pages of a site link to its menu: intervals."""
    entries = *web(1200), True
    with gb.config.set(prefer="memory"):
        A = gb.Matrix.from_coo(*entries, nrows=1200, ncols=1200)
    B = gb.Matrix.from_coo(*entries, nrows=1200, ncols=1200, format="csr")
    nib = facts(B._store.structure, exact=True).bytes_of("nib")
    assert A.format == "cgr" and A.memory().structure < 0.9 * nib
    v, plus = gb.Vector.from_dense(np.arange(1200) % 7 < 3), gb.semiring.plus_second["INT64"]
    assert A.mxv(v, plus).new().isequal(B.mxv(v, plus).new())
    assert list(A.memory().forms) == ["cgr"] and "pull on cgr" in str(gb.explain(A.mxv(v, gb.semiring.lor_land)))


def test_rows_next_to_a_hub_of_intervals_have_a_hub_column(emulator):
    """No lane's residuals wait for the intervals of another: what has no hub column is taken to have no entry."""
    n = 4096
    wide = np.arange(8, n).reshape(-1, 8)[:, :4].ravel()  # some 500 intervals of row 0
    rows, cols = np.r_[np.zeros(len(wide) + 3, int), wide, 1, 2, 3], np.r_[wide, 1, 2, 3, np.zeros(len(wide) + 3, int)]
    with gb.config.set(device="emulator"):
        form = structure(rows, cols, n, n)
        hub, filled = coded_hub_columns(form)
    assert np.unpackbits(filled.view(np.uint8), bitorder="little").tolist() == (hub != 0xFFFFFFFF).tolist()
    assert hub[1:4].tolist() == [0, 0, 0] and (hub[wide] == 0).all() and hub[4] == 0xFFFFFFFF


@pytest.mark.parametrize("n", [136, 184])  # the lanes of the last row's group look beyond the words of its block
def test_lanes_look_behind_the_last_code(emulator, n):
    r = np.random.default_rng(n)
    i, j = r.integers(0, n, (2, n * 3))
    hub = np.arange(0, n // 2) * 2 % (n - 1)
    i, j = np.r_[i[i != j], np.full(hub.size, n - 1)], np.r_[j[i != j], hub]
    i, j = np.divmod(np.unique(np.r_[i * n + j, j * n + i]), n)
    near, right = (
        gb.algorithms.sssp(gb.Matrix.from_coo(i, j, np.float32(1), format=form, device=device), n - 1)
        for form, device in (("cgr", "emulator"), ("csr", "cpu"))
    )
    assert near.to_dense(-1).tolist() == right.to_dense(-1).tolist()
