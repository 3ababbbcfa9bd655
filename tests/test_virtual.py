"""Virtual nodes: A = R or L V, each entry of A once; and what they save."""

from __future__ import annotations

import numpy as np
import pytest
from battery import MATRICES
from test_reorder import matrix

import bitblas as gb
from bitblas import device as devices
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.formats.csr.layout import from_arrays, split_keys
from bitblas.formats.virtual import layout, mining
from bitblas.loop.symbolic import recorder
from bitblas.plan.format_choice import choose_form


def dense(rows, cols, shape):
    found = np.zeros(shape, int)
    np.add.at(found, (rows, cols), 1)
    return found


def counted(A):
    """Each entry of A is there once, and no other; every node saves something. R, L and V, as counts."""
    rows = A._stored.structure.plain_rows()
    found = mining.mined(rows)
    left = np.repeat(np.arange(A.nrows), np.diff(found.ptr))
    R = dense(left, found.col, A.shape)
    L = dense(found.user, found.node, (A.nrows, found.nodes))
    V = dense(found.node_at, found.member, (found.nodes, A.ncols))
    assert (R + L @ V == dense(*(x.astype(int) for x in rows.coo()), A.shape)).all()
    users, columns = L.sum(0), V.sum(1)
    assert ((users - 1) * (columns - 1) - 1).min(initial=1) > 0 and (np.diff(found.middle) >= 0).all()
    assert found.entries == (R.sum(), L.sum(), V.sum())
    return found, R, L, V


def coo(rows):
    return [x for x, columns in enumerate(rows) for _ in columns], [j for columns in rows for j in columns]


def of_rows(rows, n):
    return gb.Matrix.from_coo(*coo(rows), True, nrows=len(rows), ncols=n, device="cpu")


def test_every_matrix_is_its_rest_and_its_nodes():
    for name in MATRICES:
        counted(matrix(name, device="cpu"))
    counted(matrix("gaps", device="cpu", format="nib"))


def test_rows_alike_use_one_node():
    """Two kinds of rows, with a unique column in every third one."""
    kinds = [3, 17, 18, 40, 41, 42], [0, 1, 2, 60, 61]
    rows = [sorted({*kinds[x % 2], 7 + x} if x % 3 == 0 else kinds[x % 2]) for x in range(40)]
    found, R, _, V = counted(of_rows(rows, 64))
    # one row may stay outside: if all its least hashes are those of its unique column
    assert found.nodes == 2 and 14 <= R.sum() <= 20
    assert sorted(tuple(np.flatnonzero(columns)) for columns in V if columns.any()) == sorted(map(tuple, kinds))


def test_more_rows_alike_than_a_cluster_has():
    rows = [[1, 2, 3, 4, 5]] * 200
    found, R, L, _ = counted(of_rows(rows, 9))
    assert R.sum() == 0 and found.nodes == 4 and sorted(L.sum(0).tolist()) == [8, 64, 64, 64]


def test_nodes_have_numbers_near_their_users():
    n = 300
    rows = [list(range(10 * (x // 10), 10 * (x // 10) + 9)) for x in range(n)]
    found, _, L, _ = counted(of_rows(rows, n))
    assert found.nodes == n // 10
    for number, middle in enumerate(found.middle):
        assert abs(np.flatnonzero(L[:, number]).mean() - middle) <= 1


def scattered():
    """Sections of 64 rows, each with the columns of one list, which are anywhere."""
    rng, n = np.random.default_rng(2), 2048
    lists = [rng.choice(n, 20, replace=False).tolist() for _ in range(8)]
    return of_rows([sorted({*lists[x // 64], int(rng.integers(n))}) for x in range(512)], n)


def test_profile_tells_what_would_be_saved():
    A = scattered()
    seen = A.profile(virtual_nodes=True)
    assert seen.nodes >= 1 and seen.saved == seen.whole.nbytes - seen.nbytes > 0 and seen.whole.nvals == A.nvals
    assert sum(seen.entries) == seen.made.nvals < A.nvals / 2
    lines = str(seen).splitlines()
    assert lines[0].startswith(f"{seen.nodes} virtual nodes") and "% of the bytes saved" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["matrix", "A", "R", "L", "V", "R"]
    assert "<table" in seen._repr_html_()
    ring = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3, device="cpu")
    assert "nothing saved" in str(ring.profile(virtual_nodes=True))
    with pytest.raises(InvalidValue, match="one value"):
        gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], device="cpu").profile(virtual_nodes=True)
    with pytest.raises(InvalidValue, match="virtual_nodes alone"):
        A.profile(virtual_nodes=True, orders=True)


def test_nodes_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    lists = np.sort(rng.integers(0, 4000, (60, 16)), axis=1)
    A = of_rows([sorted({*lists[x % 60].tolist(), int(x * 7 % 4000)}) for x in range(4000)], 4000)
    plain = A._stored.structure.primary
    found = []
    for threads in (1, 2, 5):
        with gb.config.set(threads=threads):
            mine = mining.mined(plain)
            graph = layout.merged(mine, plain)
        found.append([*vars(mine).values(), graph.rows.ptr, graph.rows.col])
    assert found[0][2].size > 20
    assert all(np.array_equal(x, y) for others in found[1:] for x, y in zip(found[0], others, strict=True))


@pytest.mark.uses_cpu
def test_mining_runs_on_the_host_for_every_device(device):
    A = gb.Matrix.from_coo([0] * 4 + [1] * 4, [*range(4)] * 2, True, nrows=9, ncols=4)
    found = mining.mined(A._store.structure.primary)
    assert found.nodes == 1 and not len(found.col) and isinstance(found.user, np.ndarray)


def menus(n=600, x=True, both=False, **how):
    """Sections of 20 rows with a list of columns each, and a column of each row's own. both: and the transpose."""
    lists = [list(range(7 * k % 500, 7 * k % 500 + 12, 2)) for k in range(n // 20)]
    rows = [sorted({*lists[i // 20], i * 37 % n}) for i in range(n)]
    i, j = coo(rows)
    i, j = (i + j, j + i) if both else (i, j)
    values = x if x is True else np.arange(len(i)) % 9 - 4
    return gb.Matrix.from_coo(i, j, values, nrows=n, ncols=n, **how)


@pytest.mark.parametrize("most", [0, 2])
def test_rows_of_many_lists_are_sorted(most, tune):
    """On the CPU lists are merged one by one, of more than `most` sorted afterwards."""
    tune({"virtual.merged_lists": most})
    for name in ("gaps", "tall", "wide", "all ones", "no entries"):
        form = matrix(name, device="cpu", format="virtual")._stored.structure.primary
        found = form.to_csr(False)[0]
        found.check()
        keys = layout.keys_of(form.inner.to_csr(False)[0], form.rows, form.cols, form.nvals)
        ptr, col = split_keys(form.device, keys, form.nrows, form.ncols)
        assert found.equals(from_arrays(form.device, form.nrows, form.ncols, ptr, col))


@pytest.mark.in_turn
def test_products_run_on_the_graph_unless_they_differ_by_entry(device):
    """explain says which; a semiring that reads no values of A needs none to be alike."""
    v = gb.Vector.from_dense(np.arange(600) % 7 + 1)
    for x, ring, key in (
        (True, "plus_second", "virtual"), (True, "plus_times", "virtual"), (1, "plus_second", "virtual"),
        (1, "plus_times", "csr"), (True, "ss.min_secondi", "virtual"), (True, "ss.min_firsti", "csr"),
    ):  # fmt: skip
        A, B = (menus(x=x, format=form) for form in ("virtual", "csr"))
        assert A._store.structure.primary.rows.nodes >= 20
        op = gb.semiring.ss[ring[3:]] if ring.startswith("ss") else gb.semiring[ring]
        plan = gb.explain(A.mxv(v, op))
        assert plan.key == key and ("virtual nodes" if key == "virtual" else "converts to rows") in plan.reason
        for found, wanted in ((A.mxv(v, op), B.mxv(v, op)), (v.vxm(A, op), v.vxm(B, op))):
            assert found.new().isequal(wanted.new(), check_dtype=True)
        assert list(A.memory().forms) == ["virtual"]


@pytest.mark.parametrize("log_chunk", [6, 2])
def test_full_vectors_are_pulled_by_lanes(device, tune, log_chunk):
    """On a GPU rows of nodes, then the others, graded by their length; long ones are cut."""
    tune({"coded.binned_from": 1, "nib.bin_log_chunk": log_chunk})
    v = gb.Vector.from_dense((np.arange(600) % 7 + 1).astype(np.float32))
    op = gb.semiring.plus_second["FP32"]
    A, B = (menus(format=form) for form in ("virtual", "csr"))
    first = gb.semiring.plus_first["FP32"]
    for found, wanted in ((A.mxv(v, op), B.mxv(v, op)), (v.vxm(A, first), v.vxm(B, first))):
        wanted = wanted.new()
        assert found.new().isequal(wanted)
        with gb.trace() as t:
            assert found.new().isequal(wanted)
        graded = sum("pull_binned" in run.kernel for run in t)
        assert graded == 2 * devices.get(gb.config.device).is_simt


def test_nobody_mines_who_did_not_ask(device, monkeypatch):
    A, B = menus(format="virtual"), menus(format="csr")

    def never(*_):
        raise AssertionError("mined")

    monkeypatch.setattr(layout, "mined", never)
    nodes = lambda M: M._store.structure.primary.rows.nodes
    for found, wanted in ((A.T.new(), B.T.new()), (A.select("tril").new(), B.select("tril").new())):
        assert found.format == "virtual" and found.isequal(wanted)
    assert nodes(A.T.new()) == nodes(A) > 0 == nodes(A.select("tril").new())
    square = lambda M: M.mxm(M, gb.semiring.any_pair).new()
    assert square(A).isequal(square(B)) and A[:50, 3:].new().isequal(B[:50, 3:].new())
    with gb.config.set(prefer="memory"):
        menus()


def test_memory_takes_it_where_it_was_mined():
    A = scattered()
    with gb.config.set(prefer="memory"):
        assert choose_form(A._store.structure) != "virtual"
        seen = A.profile(virtual_nodes=True)
        assert choose_form(A._store.structure) == "virtual" and A.profile().facts.bytes_of("virtual") == seen.nbytes
    B = gb.Matrix.from_coo(*A.to_coo(), nrows=A.nrows, ncols=A.ncols, device="cpu", format="virtual")
    assert B.memory().structure == seen.nbytes < seen.whole.nbytes


def test_nodes_that_save_no_bytes_are_not_kept(monkeypatch):
    """Each by itself saves entries; where columns are anywhere, only nodes with many users pay for a row."""
    monkeypatch.setattr(layout, "LEAST", (0, 2, 4, 8, 16, 32, np.inf))
    rng, n = np.random.default_rng(5), 3000
    rows = [sorted(set((rng.random(14) ** 3 * n).astype(int).tolist())) for _ in range(n)]
    for x in range(200):  # one list that many have
        rows[x] = sorted({*rows[x], *range(5, n, 211)})
    plain = of_rows(rows, n)._stored.structure.primary
    found = mining.mined(plain)
    form, kept = layout.Virtual.of(found, plain)
    form.check()
    assert 0 < kept.nodes == form.rows.nodes < found.nodes / 10 and form.to_csr(False)[0].equals(plain)
    users, columns = (np.bincount(x) for x in (kept.node, kept.node_at))
    assert ((users - 1) * (columns - 1) > 3).all() and (np.diff(kept.middle) >= 0).all()
    graphs = form.inner.to_csr(False)[0], layout.merged(found, plain).rows, plain
    sizes = [min(layout.bytes_in(kind, graph) for kind in layout.INNER) for graph in graphs]
    assert sizes[0] < min(sizes[1:])


@pytest.mark.in_turn
def test_loops_give_what_rows_give(device, monkeypatch):
    """On the CPU statements run one by one; a device captures rows, or, for memory, statements with places for nodes,
    so that no rows are made but where values are read."""
    A, B = (menus(format=form) for form in ("virtual", "csr"))
    C, D = (menus(x=1, format=form).apply(gb.unary.abs).new() for form in ("virtual", "csr"))
    assert C.format == "virtual"
    assert gb.algorithms.sssp(C, 3).isequal(gb.algorithms.sssp(D, 3))
    assert gb.algorithms.bfs_levels(A, 7).isequal(gb.algorithms.bfs_levels(B, 7))
    with gb.config.set(prefer="memory"):
        monkeypatch.setattr(recorder, "rows_of", None)
        for start in (0, 311):
            assert gb.algorithms.bfs_levels(A, start).isequal(gb.algorithms.bfs_levels(B, start))
            assert gb.algorithms.bfs_parents(A, start).nvals == gb.algorithms.bfs_parents(B, start).nvals
        assert gb.algorithms.bfs_levels(A.T.new(), 0).isequal(gb.algorithms.bfs_levels(B.T.new(), 0))
        assert gb.algorithms.pagerank(A).isclose(gb.algorithms.pagerank(B))
        A, B = (menus(both=True, format=form) for form in ("virtual", "csr"))
        assert gb.algorithms.connected_components(A).isequal(gb.algorithms.connected_components(B))
        ring = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3, format="virtual")  # no nodes
        assert gb.algorithms.bfs_levels(ring, 0).to_dict() == {0: 0, 1: 1, 2: 2}


def test_what_does_not_fit_is_refused_before_memory_is_taken():
    A = gb.Matrix.from_coo([0, 1 << 58], [1, 2], True, nrows=1 << 60, ncols=1 << 60, device="cpu")
    with pytest.raises(OutOfMemory, match="virtual nodes"):
        A.profile(virtual_nodes=True)
