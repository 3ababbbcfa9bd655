"""Small rounds inside one cluster: transitions to the grid's kernels and back, bodies that it cannot run, and bodies
with element-wise statements, for which a cluster processes a worklist and leaves the state of the grid."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from test_loop import BOOL, FORMS, FP64, INT64, entries, graph, levels_program, options, oracle_levels

import bitblas as gb
from bitblas import device as devices
from bitblas.loop import Program
from bitblas.loop.analysis import sparse_vectors
from bitblas.loop.codegen.cuda_kernels import fused_variant
from bitblas.loop.codegen.numba_kernels import elementwise_kernel
from bitblas.loop.fuse import FusedElementwise
from bitblas.loop.ir import Const, Elementwise, Gather, Masked, Reduce, Scal, Statement, Vec
from bitblas.operations.variants import BOTH, LEFT, UNION
from semirings.catalog import BINARY, MONOIDS

HANDED = (FORMS[0], FORMS[1], FORMS[2], FORMS[5], FORMS[-1])  # rows, tiles whose units share words or have two, a Split


def mesh(k=20, weights=None, **form):
    """k x k points with their neighbours: frontiers grow and shrink."""
    i = np.arange(k * k).reshape(k, k)
    rows = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
    cols = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    values = True if weights is None else np.random.default_rng(0).integers(1, 9, len(rows)).astype(weights)
    return gb.Matrix.from_coo(rows, cols, values, nrows=k * k, ncols=k * k, **form)


def search(A, v, q, source=0, program=None):
    """Levels from a source: the program, and how many rounds it ran."""
    program = program or levels_program(A, v, q)
    v.clear()
    q.clear()
    q[source] = True
    rounds = program.run()
    expected = oracle_levels(A, source)
    assert dict(zip(*entries(v))) == expected and rounds == max(expected.values()) + 1
    return program, rounds


def in_cluster(program):
    """Rounds of the last run that a cluster did."""
    return int(program._captured.build.rounds[4])


@pytest.fixture
def clusters(device):
    if devices.get(device).cluster is None:
        pytest.skip("the device has no clusters")


@pytest.mark.in_turn
@pytest.mark.parametrize("most", [4, 10, 8192])
@pytest.mark.parametrize("form", HANDED)
def test_levels_go_back_and_forth(device, clusters, form, most, tune):
    """The frontier of a mesh passes any limit and comes back; wherever a cluster stops, the grid continues."""
    tune({"cluster.units": most, "cluster.row_entries": 0})
    A = mesh(**options(form))
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows)
    program, seen = None, set()
    for source in (0, 210, 399):
        program, rounds = search(A, v, q, source, program)
        seen.add("all" if in_cluster(program) == rounds else "none" if not in_cluster(program) else "some")
    units = A.nrows if form[1] is None else A.nrows // form[1]
    if most > units:  # but a block's queue may fill up: which block finds a unit first is not determined
        assert "all" in seen and "none" not in seen
    else:
        assert seen == {"some"}


@pytest.mark.in_turn
@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize("most", [12, 8192])
def test_lowest_parents(device, clusters, form, most, tune):
    """Values into which several entries are combined, in any of the buffers."""
    tune({"cluster.units": most})
    A = mesh(**options(form))
    n = A.nrows
    p, q = gb.Vector(INT64, n), gb.Vector(INT64, n)

    def body(_):
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.min_secondi)

    program = Program(body, while_=q)
    rows, cols, _ = entries(A)
    for source in (0, 210):
        p.clear()
        q.clear()
        q[source] = source
        program.run()
        level = oracle_levels(A, source)
        expected = {source: source}
        for child in set(level) - {source}:
            expected[child] = min(int(r) for r in rows[cols == child] if level[int(r)] == level[child] - 1)
        assert dict(zip(*entries(p))) == expected
        assert in_cluster(program) > 0


@pytest.mark.in_turn
@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize("most", [12, 8192])
def test_parents_are_kept_where_they_are_found(device, clusters, form, most, tune):
    """A copy of the frontier's values gets them a round early; it has no entries early, and keeps those it has."""
    tune({"cluster.units": most, "cluster.row_entries": 0})
    A = mesh(**options(form))
    n = A.nrows
    p, q, r = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(INT64, n)

    def body(_):
        r(q.S) << q
        p(q.S) << q
        q(~p.S, gb.replace) << q.vxm(A, gb.semiring.ss.any_secondi)

    rows, cols, _ = entries(A)
    edges = set(zip(rows.tolist(), cols.tolist()))
    for limit in (None, 5):
        program = Program(body, while_=q, limit=limit)
        for source in (0, 210):
            for x in (p, q, r):
                x.clear()
            p[399], q[source] = -1, source
            program.run()
            found, level = dict(zip(*entries(p))), oracle_levels(A, source)
            assert in_cluster(program) > 0
            assert found.pop(399) == -1 and found == dict(zip(*entries(r)))
            assert set(found) == {v for v in level if limit is None or level[v] < limit} - {399}
            assert all((u, v) in edges and level[u] + 1 == level[v] for v, u in found.items() if v != source)
            assert (q.nvals > 0) == (limit is not None)
            assert all(level[v] == limit and (u, v) in edges for v, u in zip(*entries(q)))


@pytest.mark.parametrize(("k", "rows"), [(44, 4), (44, 0), (46, 4)])
def test_searches_along_rows_of_a_matrix_in_tiles(device, clusters, k, rows, tune):
    """If its visited bits fit into the shared memory of the cluster, 2048 in the emulator, and rows are short."""
    if device != "emulator":
        pytest.skip("a GPU has room for the bits of larger graphs")
    tune({"cluster.row_entries": rows})
    A = mesh(k, format="b2sr", tile=8)
    program, rounds = search(A, gb.Vector(INT64, k * k), gb.Vector(BOOL, k * k), k)
    assert in_cluster(program) == rounds
    kernel = "csr" if rows and k * k <= 2048 else "b2sr"
    assert f"in one cluster: formats/{kernel}/rounds" in str(program.explain())


def test_visited_bits_beyond_shared_memory(device, clusters):
    """2116 positions: the emulator's cluster has shared memory for 2048, and leaves the bits in global memory."""
    A = mesh(46)
    program, rounds = search(A, gb.Vector(INT64, A.nrows), gb.Vector(BOOL, A.nrows), 1000)
    assert in_cluster(program) == rounds


@pytest.mark.parametrize("steps", range(1, 9))
def test_a_limit_ends_them_anywhere(device, clusters, steps):
    """Three buffers turn: after any number of rounds the frontier is found where the next kernel looks."""
    A = mesh()
    v, q = gb.Vector(INT64, A.nrows), gb.Vector(INT64, A.nrows)
    q[0] = 7

    def body(level):
        v(q.S) << level
        q(~v.S, gb.replace) << q.vxm(A, gb.semiring.any_first[INT64])

    program = Program(body, while_=q, limit=steps)
    level = oracle_levels(A, 0)
    for turn in range(1, 4):
        assert program.run() == steps
        assert in_cluster(program) == steps
        found = dict(zip(*entries(q)))
        assert found == {i: 7 for i, k in level.items() if k == turn * steps}
    assert set(dict(zip(*entries(v)))) == {i for i, k in level.items() if k < 3 * steps}


def test_a_hub_belongs_to_the_grid(device, clusters):
    """A row that one group of lanes would walk alone ends small rounds; the frontier after it is too large."""
    n, k = 6000, 30  # more tiles in a row, too, than one group of lanes walks
    rows = np.concatenate([np.arange(k), np.full(n - 100, k), np.arange(k + 1, n - 100)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(100, n), np.arange(k + 2, n - 99)])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, format="b2sr", tile=8)
    program, rounds = search(A, gb.Vector(INT64, n), gb.Vector(BOOL, n))
    assert 0 < in_cluster(program) < rounds


def test_lists_without_room_spill(device, clusters):
    """Many rows of middle length found by few lanes: more items than a block has room for, though few in all before."""
    if device != "emulator":
        pytest.skip("a GPU has room for what its limits let in")
    k, n = 3, 1000
    rows = np.concatenate([np.zeros(k, int), np.repeat(np.arange(1, k + 1), 300)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(50, 50 + 300 * k)])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, format="csr")
    program, _ = search(A, gb.Vector(INT64, n), gb.Vector(BOOL, n))
    assert in_cluster(program) == 2


def test_what_a_cluster_cannot_run_is_explained(device, clusters, monkeypatch):
    A, W = graph(), graph(weights=np.float64)
    n = A.nrows
    v, q, p = gb.Vector(INT64, n), gb.Vector(BOOL, n), gb.Vector(BOOL, n)
    x, total = gb.Vector(FP64, n), gb.Scalar(FP64)
    program, _ = search(A, v, q)
    assert "rounds with small frontiers run in one cluster: formats/csr/rounds" in str(program.explain())
    any_pair = gb.semiring.any_pair[BOOL]

    def two(_):
        p << q.vxm(A, any_pair)
        q(~v.S, gb.replace) << p.vxm(A, any_pair)

    def own_mask(_):
        q(~q.S, gb.replace) << q.vxm(A, any_pair)

    def by_rows(_):
        x << W.mxv(x, gb.semiring.plus_times[FP64])
        q << q.vxm(A, any_pair)

    def floats(_):
        q << q.vxm(A, any_pair)
        x(q.S) << 1.5
        total << x.reduce(gb.monoid.plus)

    def everywhere(_):
        q << q.vxm(A, any_pair)
        x << 2.5

    for body, why in (
        (two, "a round has 2 advances"), (own_mask, "the advance's mask is the vector that it writes"),
        (by_rows, "a product pulls by rows"), (floats, "a sum of floats is taken in a fixed order"),
        (everywhere, "element-wise kernels write where no sparse vector has an entry"),
    ):  # fmt: skip
        q.clear()
        q[0] = True
        program = Program(body, while_=q, limit=3)
        program.run()
        assert f"no small rounds in a cluster: {why}" in str(program.explain())
        assert in_cluster(program) == 0
    monkeypatch.setattr(devices.get(device), "cluster", None)
    program, _ = search(A, v, q)
    assert "the device has no thread-block clusters" in str(program.explain())


# ---- bodies with element-wise statements -----------------------------------------------------------------------------


def relax(A, d, q, worse):
    """A round of shortest paths: q are the vertices that became nearer."""
    q << q.vxm(A, gb.semiring.min_plus[q.dtype])
    worse << gb.binary.ge(q & d)
    q(~worse.V, gb.replace) << q
    d(q.S) << q


def assert_distances(d, A, source):
    rows, cols, values = entries(A)
    expected = dijkstra(csr_array((values.astype(float), (rows, cols)), shape=(A.nrows, A.nrows)), indices=source)
    found = np.full(A.nrows, np.inf)
    where, what = entries(d)
    found[where] = what
    np.testing.assert_array_equal(found, expected)


@pytest.mark.in_turn
@pytest.mark.parametrize("form", HANDED)
@pytest.mark.parametrize(("dtype", "most"), [(FP64, 1 << 15), (FP64, 60), (INT64, 30)])
def test_shortest_paths_by_lists(device, clusters, form, dtype, most, tune):
    """Element-wise kernels read the positions on a list; if it grows long, the grid continues, with sums and cells
    unchanged."""
    tune({"cluster.positions": most})
    A = mesh(weights=dtype.np_type, **options(form))
    n = A.nrows
    d, q, near, t = (gb.Vector(dtype, n) for _ in range(4))
    worse, nearest, far = gb.Vector(BOOL, n), gb.Scalar(dtype), gb.Scalar(dtype)

    def body(_):
        far << nearest.apply(gb.binary.plus, right=4)
        near << q.select(gb.select.valuele, far)
        q(~near.S, gb.replace) << q
        t << near.vxm(A, gb.semiring.min_plus[dtype])
        worse << gb.binary.ge(t & d)
        t(~worse.V, gb.replace) << t
        d(t.S) << t
        q(t.S) << t
        nearest << q.reduce(gb.monoid.min, allow_empty=False)

    program = Program(body, while_=q)
    for source in (0, 210):
        for x in (d, q):
            x.clear()
            x[source] = 0
        nearest.value = 0
        rounds = program.run()
        assert_distances(d, A, source)
        assert q.nvals == t.nvals == 0
        assert nearest.is_empty or nearest.value == np.inf or dtype == INT64
        assert 0 < in_cluster(program) <= rounds
        assert most < 1 << 15 or device == "emulator" or in_cluster(program) == rounds


@pytest.mark.parametrize("limit", range(1, 8))
def test_lists_end_at_any_round(device, clusters, limit):
    """The step's buffers turn; vectors, scalars and the condition are left as plain statements leave them."""
    A = mesh(weights=np.int64)
    n = A.nrows
    left, right = ([gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n), gb.Scalar(INT64)] for _ in range(2))

    def body(d, q, worse, least):
        relax(A, d, q, worse)
        least << q.reduce(gb.monoid.plus)

    for d, q, _, _ in (left, right):
        d[0] = q[0] = 0
    program = Program(lambda _: body(*left), while_=left[1], limit=limit)
    for _ in range(3):
        assert program.run() == limit
        assert in_cluster(program) == limit or (device == "emulator" and in_cluster(program) >= min(limit, 5))
        for _ in range(limit):
            body(*right)
        for x, y in zip(left, right):
            assert x.isequal(y)


def test_a_long_row_is_walked_by_a_block(device, clusters):
    n, k = 3000, 30
    rows = np.concatenate([np.arange(k), np.full(n - 100, k)])
    cols = np.concatenate([np.arange(1, k + 1), np.arange(100, n)])
    A = gb.Matrix.from_coo(rows, cols, np.arange(len(rows)) % 7 + 1, nrows=n, ncols=n)
    d, q, worse = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(BOOL, n)
    d[0] = q[0] = 0
    program = Program(lambda _: relax(A, d, q, worse), while_=q)
    program.run()
    assert_distances(d, A, 0)
    assert in_cluster(program) >= 10


def test_levels_by_a_scalar_and_counts(device, clusters):
    """Topological levels: in-degrees of waiting vertices fall, and vertices of in-degree 0 are next."""
    rng = np.random.default_rng(2)
    n = 120
    rows, cols = np.triu_indices(n, 1)
    kept = (rng.random(len(rows)) < 0.04) & (cols - rows < 20)
    rows, cols = rows[kept], cols[kept]
    A = gb.Matrix.from_coo(rows, cols, 1, INT64, nrows=n, ncols=n)
    waits = gb.Vector.from_coo(range(n), np.bincount(cols, minlength=n), size=n, dtype=INT64)
    level, q, fewer = gb.Vector(INT64, n), gb.Vector(INT64, n), gb.Vector(INT64, n)
    q << waits.select(gb.select.valueeq, 0)
    q(q.S) << 1

    def body(k):
        level(q.S) << k
        fewer << q.vxm(A, gb.semiring.plus_times[INT64])
        waits(fewer.S, gb.binary.minus) << fewer
        q << waits.select(gb.select.valueeq, 0)
        q(fewer.S, gb.replace) << q
        q(q.S) << 1

    expected = np.zeros(n, int)
    for r, c in sorted(zip(rows, cols)):
        expected[c] = max(expected[c], expected[r] + 1)
    program = Program(body, while_=q)
    assert program.run() == expected.max() + 1
    assert entries(level)[1].tolist() == expected.tolist()


def test_which_vectors_are_sparse():
    """Where none of these has an entry, the passes do nothing; the distances are not among them."""
    x, y, z = (Vec(k, 9, INT64) for k in range(3))
    one, s = Const(INT64, np.int64(1)), Scal(0, INT64)
    copy, const, under_x = Elementwise(LEFT, None, y), Elementwise(LEFT, None, one), Masked(x, True, False)
    add, times = BINARY["plus"][INT64], BINARY["times"][INT64]
    read = Gather(y, Vec(0, 9, INT64), 0)  # whose index is x: a missing one raises an error
    empty = {
        Statement(z, read): None, Statement(z, read, None, add): None, Statement(z, read, under_x): {x},
        Statement(z, read, Masked(y, True, False), add): {y}, Statement(z, read, Masked(y, True, True)): None,
        Statement(z, copy, under_x): {x}, Statement(z, const): None, Statement(z, const, under_x): {x},
        Statement(z, const, Masked(x, True, True)): None, Statement(z, copy): {y, z},
        Statement(z, copy, None, add): {y},
        Statement(z, copy, under_x, None, True): {x, z}, Statement(z, copy, under_x, add, True): {x, z},
        Statement(z, Elementwise(BOTH, times, x, y)): {x, z}, Statement(z, Elementwise(UNION, add, x, y)): {x, y, z},
        Statement(s, Reduce(MONOIDS["min"][INT64], x)): {x}, Statement(s, Elementwise(LEFT, None, one)): set(),
        Statement(x, Elementwise(LEFT, None, x), Masked(y, False, True), None, True): {x},
    }  # fmt: skip
    for statement, expected in empty.items():
        found = sparse_vectors([FusedElementwise([statement])], ())
        assert found == (None if expected is None else frozenset(expected)), statement
    assert sparse_vectors([FusedElementwise([Statement(z, copy, None, add)])], {x}) == {x, y}
    many = [Statement(Vec(k, 9, INT64), const, Masked(Vec(k + 1, 9, INT64), True, False)) for k in range(9)]
    assert sparse_vectors([FusedElementwise(many)], ()) is None


def test_a_program_is_made_over_what_another_left(device):
    """Programs share memory: their launches meet bits of another one when they are made, and list them at most once. In
    the emulator each one is made so (emulator/device.py)."""
    n = 1024  # with a hub, because the body then also occurs before its loop
    A = gb.Matrix.from_coo([0] * (n - 1), range(1, n), range(1, n), nrows=n, ncols=n)
    assert gb.algorithms.sssp(A, 0).to_dense().tolist() == list(range(n))


def test_a_statement_that_only_removes_entries_writes_no_values():
    q, kept = Vec(0, 64, INT64), Vec(1, 64, BOOL)
    removes = [Statement(q, Elementwise(LEFT, None, q), Masked(kept, False, False), None, True)]
    cuda, _ = fused_variant(removes, {}, None)
    assert "b0 = has;" in cuda.text and "d0 = true" not in cuda.text
    numba = elementwise_kernel(removes, {}).variant
    assert "w0 = " in numba.script and "put(x0_val" not in numba.script
