"""CR2: the example of its slides number by number, clusters and pieces of all sizes, products, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import test_loop
from battery import MATRICES, values
from battery_runs import ALGEBRAS
from test_battery import run_matrices
from test_formats import assert_entries, assert_sound, host, make

import bitblas as gb
from bitblas import tuning
from bitblas.exceptions import InvalidValue
from bitblas.formats import packing
from bitblas.formats.cr2.cost import number_width
from bitblas.plan.facts import facts

# Clusters of 8 vertices and pieces of up to 4 entries; pieces of one entry; no clusters; clusters of 2, long pieces.
GRIDS = {"8 4": (3, 2), "8 1": (3, 0), "none 64": (0, 6), "2 1024": (1, 10)}


@pytest.fixture(params=GRIDS)
def grid(request, tune):
    log_cluster, log_longest = GRIDS[request.param]
    tune({"cr2.log_cluster": log_cluster, "cr2.log_longest": log_longest})
    return log_cluster, log_longest


# The graph of the slides, in clusters of 16: 4-bit numbers inside, 8-bit ones between.
SLIDES = {
    0: (1, 2, 3, 4, 5), 1: (2, 5), 2: (5,), 3: (16,), 4: (2, 3, 5, 17, 33), 5: (2,),
    16: (17,), 17: (16, 32), 32: (34,), 33: (32,), 34: (33, 35), 35: (32, 33),
}  # fmt: skip


def test_the_layout_of_the_slides(tune, on_the_cpu):
    """Rows of 5, 2, .. entries are pieces of 4, 2 and 1, whose sources are listed once, and nothing else is."""
    tune({"cr2.log_cluster": 4, "cr2.log_longest": 2})
    i = [row for row, cols in SLIDES.items() for _ in cols]
    j = [col for cols in SLIDES.values() for col in cols]
    form = gb.Matrix.from_coo(i, j, True, nrows=36, ncols=36, format="cr2")._store.structure.primary
    assert form.grid.clusters == 3 and form.grid.widths == (4, 8) and not form.ordered
    listed = lambda words, size, width: packing.unpack(form.device, words, size, width, np.int64).tolist()
    # of 4, 2 and 1 entries, in each cluster, then between
    assert np.diff(form.groups).tolist() == [1, 2, 4, 0, 0, 2, 0, 2, 2, 0, 1, 2]
    assert listed(form.inside_rows, 13, 4) == [0, 1, 4, 0, 2, 4, 5, 0, 1, 2, 3, 0, 1]
    assert listed(form.inside_cols, 20, 4) == [1, 2, 3, 4, 2, 5, 2, 3, 5, 5, 5, 2, 1, 0, 1, 3, 0, 1, 2, 0]
    assert listed(form.between_rows, 3, 8) == [4, 3, 17] and listed(form.between_cols, 4, 8) == [17, 33, 16, 32]
    words = packing.packed_words(13, 4) + packing.packed_words(20, 4) + packing.packed_words(3, 8)
    assert form.nbytes == 8 * 13 + 4 * (words + packing.packed_words(4, 8)) + 4


def test_widths():
    limits = {1: 4, 16: 4, 17: 8, 256: 8, 257: 16, 1 << 16: 16, (1 << 16) + 1: 32, 1 << 32: 32}
    assert {limit: number_width(limit) for limit in limits} == limits


@pytest.mark.in_turn
def test_every_matrix_comes_back(device, grid):
    for name, maker in MATRICES.items():
        p = maker()
        for x in (True, np.arange(len(p.rows))):
            A = make(p, x, "INT64", "cr2")
            form = A._store.structure.primary
            assert (form.log_cluster, form.log_longest) == grid and A.format == "cr2", name
            assert_entries(A, p, np.asarray(x, np.int64))
            assert_sound(form)
            assert_sound(A.T.new()._store.structure.primary)


def skewed(n=400, seed=3, both=False, **how):
    """Hubs whose numbers are anywhere: most entries are in few rows and columns. both: and the transpose."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(n)
    i, j = (place[(rng.random(12 * n) ** 3 * n).astype(int)] for _ in range(2))
    keys = np.unique(np.concatenate([i * n + j, j * n + i]) if both else i * n + j)
    x = how.pop("x", True)
    x = np.arange(len(keys)) % 7 + 1.5 if x is None else x
    return gb.Matrix.from_coo(keys // n, keys % n, x, nrows=n, ncols=n, **how)


def test_the_order_of_degrees_is_kept_where_it_saves_bytes(device, tune):
    """Its permutation belongs to the layout; results are in the order of the matrix."""
    tune({"cr2.log_cluster": 6})
    n, rng = 500, np.random.default_rng(8)  # every eighth vertex is a hub, with an edge to nearly every other hub
    hubs = [at for at in np.ndindex(n // 8, n // 8) if rng.random() < 0.9]
    i, j = np.unique(np.concatenate([8 * np.array(hubs), rng.integers(0, n, (300, 2))]), axis=0).T
    x = np.arange(len(i)) % 7 + 1.5
    A, B = (gb.Matrix.from_coo(i, j, x, nrows=n, ncols=n, format=form) for form in ("cr2", "csr"))
    form = A._store.structure.primary
    assert form.ordered and form.inside > 0.9 * form.nvals and A.isequal(B)
    degree = sum(np.bincount(host(x), minlength=n) for x in B._store.structure.coo())
    assert np.array_equal(host(form.perm), np.argsort(-degree, kind="stable"))
    assert_sound(form)
    assert A[8, :].new().isequal(B[8, :].new()) and A.get(16, 8) == B.get(16, 8)
    assert A[[16, 3, 8, 16], :].new().isequal(B[[16, 3, 8, 16], :].new())
    u = gb.Vector.from_dense(np.arange(n) % 5 + 0.5)
    some = gb.Vector.from_coo(np.arange(0, n, 7), 1.0, size=n)
    for op in ("plus_times", "min_plus", "plus_pair", "any_pair", "min_firsti"):
        op = gb.semiring.ss[op] if op.endswith("i") else gb.semiring[op]
        assert A.mxv(u, op).new().isclose(B.mxv(u, op).new())
        assert A.mxv(u, op).new(mask=~some.S).isclose(B.mxv(u, op).new(mask=~some.S))
        assert some.vxm(A, op).new().isclose(some.vxm(B, op).new())


def test_clusters_of_the_shipped_size(device):
    """Three of 2^16 vertices, the last one partial: numbers of 16 bits inside and of 32 between."""
    n, rng = 150_000, np.random.default_rng(4)
    near = rng.integers(0, n, 3000)
    i = np.concatenate([near, rng.integers(0, n, 2000), np.full(300, 70_000)])
    j = np.concatenate([np.minimum(near + rng.integers(0, 9, 3000), n - 1), rng.integers(0, n, 2300)])
    keys = np.unique(i * n + j)
    x = np.arange(len(keys)) % 5 + 1.5
    A, B = (gb.Matrix.from_coo(keys // n, keys % n, x, nrows=n, ncols=n, format=form) for form in ("cr2", "csr"))
    form = A._store.structure.primary
    assert (form.grid.clusters, form.grid.widths, form.log_longest) == (3, (16, 32), 6)
    assert_sound(form)
    u = gb.Vector.from_dense(np.arange(n) % 7 + 0.5)
    assert A.mxv(u, gb.semiring.plus_times).new().isclose(B.mxv(u, gb.semiring.plus_times).new())
    assert u.vxm(A, gb.semiring.min_plus).new().isequal(u.vxm(B, gb.semiring.min_plus).new())


def test_local_graphs_stay_as_they_are(device, tune):
    tune({"cr2.log_cluster": 5})
    i = np.arange(499)
    form = gb.Matrix.from_coo(i, i + 1, True, nrows=500, ncols=500, format="cr2")._store.structure.primary
    assert not form.ordered and form.inside == 499 - 15


CALLS = (
    ("mxv pull", 0, "half iso", True), ("vxm pull", 1, "full", False), ("mxv pull", 4, "half", False),
    ("vxm push", 0, "half iso", True), ("mxv push", 5, "half", False), ("vxm push", 4, "sparse", True),
)  # fmt: skip
SHAPES = "gaps,hub,long hub,dense column,wide,tall,all ones,no entries,63x63,130x130".split(",")


@pytest.mark.in_turn
@pytest.mark.parametrize(("call", "algebra", "u", "iso"), CALLS)
def test_products(device, grid, call, algebra, u, iso, tune, monkeypatch):
    run_matrices(SHAPES, "cr2", call, ALGEBRAS[algebra], u, iso, tune, monkeypatch)


def test_pushes_by_list_and_by_piece(device, tune):
    """Few entries are pushed along the lists of the pieces of their rows, many by all pieces; both answers are one."""
    tune({"cr2.log_cluster": 5, "cr2.log_longest": 3, "push_cost.cpu": 0.0, "push_cost.gpu": 0.0})
    tune({"pull.always.entries": -1})
    A, B = (skewed(format=form, x=None) for form in ("cr2", "csr"))
    for count, kernel in ((3, "push"), (250, "push_pieces")):
        at = np.arange(count) * 400 // count
        u = gb.Vector.from_coo(at, np.arange(count) + 1.0, size=400)
        for op in ("min_plus", "any_pair", "max_first"):
            op = gb.semiring[op]
            assert gb.explain(u.vxm(A, op)).direction == "push"
            with gb.trace() as t:
                found = u.vxm(A, op).new()
            assert found.isequal(u.vxm(B, op).new())
            assert f"formats/cr2/{kernel}" in {run.kernel for run in t}


def test_float_sums_have_one_order(device, monkeypatch):
    """However threads run: pieces are summed apart, and rows add theirs in turn."""
    A = skewed(n=1500, x=None, format="cr2")
    u = gb.Vector.from_dense(np.random.default_rng(5).random(1500))
    first = host(A.mxv(u, gb.semiring.plus_times).new().to_dense(0.0)).tobytes()
    for seed in "1", "2":
        monkeypatch.setenv("EMU_SEED", seed)
        with tuning.override({"parallel.entries": 1}):
            B = skewed(n=1500, x=None, format="cr2")
            again = B.mxv(u, gb.semiring.plus_times).new()
        assert host(again.to_dense(0.0)).tobytes() == first


def test_bytes_are_predicted(device, grid):
    """To the byte, where they are counted; a sample cannot."""
    for name in ("gaps", "hub", "all ones", "wide", "tall", "129x129", "0x5"):
        A = make(MATRICES[name](), True, "BOOL", "csr")
        held = A._store.structure.layout("cr2").nbytes
        assert facts(A._store.structure, exact=True).bytes_of("cr2") == held == A.memory().forms["cr2"]
    A = make(MATRICES["gaps"](), True, "BOOL", "cr2")
    assert A.profile().facts.bytes_of("cr2") == A.memory().structure
    assert "cr2" in str(A.profile()) and A.memory().forms == {"cr2": A.memory().structure}


def test_explain_and_memory(device):
    A = skewed(format="cr2")
    u = gb.Vector.from_dense(np.arange(400) % 3 + 0.5)
    plan = gb.explain(A.mxv(u, gb.semiring.plus_second))
    assert (plan.key, plan.direction) == ("cr2", "pull")
    assert gb.explain(A.mxv(u, gb.semiring.plus_second), source=True).source.count("pull") >= 2
    A.mxv(u, gb.semiring.plus_second).new()
    assert list(A.memory().forms) == ["cr2"], "no rows are built"


def test_it_is_chosen_only_on_request(device):
    with gb.config.set(prefer="memory"):
        A = skewed()
    assert A.format != "cr2" and A.profile().predicted("cr2") == {}


def test_what_it_cannot_number(on_the_cpu):
    with pytest.raises(InvalidValue, match=r"'cr2' holds up to 4294967296 rows and columns, .* 'hyper' holds more"):
        gb.Matrix.from_coo([0], [0], True, nrows=3, ncols=(1 << 32) + 1, format="cr2")
    wide = gb.Matrix.from_coo([0, 1], [0, 1 << 33], True, nrows=2, ncols=(1 << 33) + 1)
    assert "cr2" not in wide.profile().facts.forms
    A = gb.Matrix.from_coo([0, 2], [0, (1 << 32) - 1], [1, 2], nrows=3, ncols=1 << 32, format="cr2")
    assert A.to_coo()[1].tolist() == [0, (1 << 32) - 1]


def test_updates(device, tune):
    """The format stays; entries that change are in their new groups."""
    tune({"cr2.log_cluster": 3, "cr2.log_longest": 2})
    A, B = (skewed(n=60, x=None, format=form) for form in ("cr2", "csr"))
    for M in (A, B):
        M[3, 4] = 8.5
        del M[3, 5]
        M(gb.binary.plus) << M.T
    assert A.format == "cr2" and A.isequal(B)
    assert_sound(A._store.structure.primary)


def test_layouts_of_other_clusters_are_equal(on_the_cpu):
    forms = []
    for log in (0, 3, 16):
        with tuning.override({"cr2.log_cluster": log}):
            forms.append(skewed(n=90, format="cr2")._store.structure.primary)
    other = skewed(n=90, seed=4, format="cr2")._store.structure.primary
    assert all(a.equals(b) for a in forms for b in forms) and not any(a.equals(other) for a in forms)


def test_a_stored_layout_keeps_its_clusters(tmp_path, on_the_cpu):
    with tuning.override({"cr2.log_cluster": 4, "cr2.log_longest": 1}):
        A = skewed(n=90, x=None, format="cr2")
    A.save(tmp_path / "a.bitblas")
    B = gb.load(tmp_path / "a.bitblas", verify=True)
    form = B._store.structure.primary
    assert (form.log_cluster, form.log_longest) == (4, 1) and B.isequal(A)
    mapped = gb.load(tmp_path / "a.bitblas")._store.structure.primary.inside_cols
    assert not mapped.flags.owndata
    u = gb.Vector.from_dense(np.arange(90.0))
    assert B.mxv(u).new().isequal(A.mxv(u).new())


def test_programs(device):
    """Loops walk the rows as they are stored."""
    test_loop.test_breadth_first_levels(device, ("cr2", None))
    test_loop.test_shortest_paths(device, ("cr2", None), gb.dtypes.INT64)  # values move with their entries
    A, B = (skewed(both=True, format=form) for form in ("cr2", "csr"))
    for run in (lambda M: gb.algorithms.bfs_levels(M, 0), gb.algorithms.connected_components):
        assert run(A).isequal(run(B))
    assert next(iter(A.memory().forms)) == "cr2" and "csr" not in A.memory().forms


def test_values_of_every_type(device):
    for dtype in ("BOOL", "INT8", "UINT64", "FP32", "FC64"):
        p = MATRICES["gaps"]()
        A = make(p, values(np.random.default_rng(2), dtype, len(p.rows)), dtype, "cr2")
        B = make(p, values(np.random.default_rng(2), dtype, len(p.rows)), dtype, "csr")
        rows = [M.reduce_rowwise(gb.monoid.any).new() for M in (A, B)]
        assert A.isequal(B) and rows[0].nvals == rows[1].nvals


@pytest.mark.parametrize("ordered", [False, True])
def test_a_flipped_byte_is_found_or_makes_another_matrix(on_the_cpu, ordered, tune):
    """`check` raises ValueError and nothing else, unless the arrays are the layout of a matrix again."""
    tune({"cr2.log_cluster": 6 if ordered else 3, "cr2.log_longest": 2})
    n, step = (500, 29) if ordered else (64, 1)
    at = [(i, j) for i in range(0, n, 8) for j in range(0, n, 8)] if ordered else [(i, i ^ 1) for i in range(n)]
    i, j = np.array([*at, (3, n - 3), (n - 5, 10)]).T
    form = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format="cr2")._store.structure.primary
    assert form.ordered == ordered and 0 < form.inside
    found = 0
    for name, array in form.arrays().items():
        for byte in range(0, array.nbytes, step):
            changed = array.copy()
            changed.view(np.uint8)[byte] ^= 1 << byte % 8
            try:
                other = type(form).restored(form.device, form.numbers(), form.arrays() | {name: changed})
                other.check()
            except ValueError:
                found += 1
            else:
                assert name not in ("groups", "perm") and not other.equals(form)
                assert_sound(other)
    assert found * step > 0.5 * form.nbytes
