"""Vertex orders: permutations, the same on every device, with the intended effect."""

import numpy as np
import pytest
from battery import MATRICES
from test_reorder import host, matrix

import bitblas as gb
from bitblas import exceptions, reorder
from bitblas.device import memory

HOST = pytest.param("gorder", marks=pytest.mark.uses_cpu)  # one vertex after the other, on the host


@pytest.mark.in_turn
@pytest.mark.parametrize("order", [HOST if order == "gorder" else order for order in reorder.ORDERS])
def test_every_order_is_a_permutation_and_always_the_same(device, order):
    for name in list(MATRICES)[:: 1 if device == "cpu" else 6]:
        A = matrix(name)
        if A.nrows != A.ncols:
            with pytest.raises(exceptions.DimensionMismatch, match="expected a square matrix"):
                reorder.ORDERS[order](A)
            continue
        perm = host(reorder.ORDERS[order](A))
        assert perm.dtype == np.int64 and sorted(perm.tolist()) == list(range(A.nrows)), name
        assert (perm == host(reorder.ORDERS[order](A.T))).all(), name


def test_an_order_does_not_depend_on_the_device_form_or_order_of_what_it_is_asked_for(emulator):
    for order in reorder.ORDERS.values():
        A = matrix("gaps", device="cpu", format="csr")
        expected = order(A).tolist()
        assert order(matrix("gaps", device="emulator", format="b2sr", tile=8)).tolist() == expected
        assert order(A.reorder("degree")).tolist() == expected


def test_degree_counts_both_directions_and_keeps_ties():
    A = gb.Matrix.from_coo([0, 1, 2, 3, 3], [4, 4, 4, 2, 0], True, nrows=6, ncols=6, device="cpu")
    assert reorder.degree(A).tolist() == [4, 0, 2, 3, 1, 5]


def sequential(neighbours, roots):
    """Cuthill and McKee's queue."""
    order, seen = [], set(roots)
    for root in roots:
        queue = [root]
        for u in queue:
            fresh = sorted(neighbours[u] - seen, key=lambda v: (len(neighbours[v]), v))
            seen |= set(fresh)
            queue += fresh
        order += queue
    return order


@pytest.mark.parametrize("name", ["symmetric", "gaps", "33x33", "self loops"])
def test_rcm_is_the_sequential_algorithm(name):
    A = matrix(name, device="cpu")
    neighbours = {u: set() for u in range(A.nrows)}
    for i, j in A:
        neighbours[int(i)].add(int(j))
        neighbours[int(j)].add(int(i))
    label = gb.algorithms.connected_components(gb.binary.plus(A | A.T).new()).to_dense()
    parts = [np.flatnonzero(label == c).tolist() for c in np.unique(label)]
    orders = []
    for part in parts:
        rim = sequential(neighbours, [min(part, key=lambda v: (len(neighbours[v]), v))])[-1]
        orders += sequential(neighbours, [rim])
    assert reorder.rcm(A).tolist() == orders[::-1]
    assert reorder.bfs(A).tolist() == [v for part in parts for v in sequential(neighbours, part[:1])]


def grid(k, seed=0):
    """A grid of k x k, its vertices numbered at random."""
    at = np.random.default_rng(seed).permutation(k * k).reshape(k, k)
    ends = [(at[1:].ravel(), at[:-1].ravel()), (at[:, 1:].ravel(), at[:, :-1].ravel())]
    i, j = np.concatenate([e for e, _ in ends]), np.concatenate([e for _, e in ends])
    return gb.Matrix.from_coo(np.append(i, j), np.append(j, i), True, nrows=k * k, ncols=k * k, device="cpu")


def tiles(A, perm):
    """The 8 x 8 tiles with an entry."""
    place = np.argsort(perm)
    i, j, _ = A.to_coo()
    return len(np.unique(place[i.astype(int)] // 8 * A.nrows + place[j.astype(int)] // 8))


def test_local_orders_fill_tiles():
    A = grid(40)
    found = {name: A.nvals / tiles(A, order(A)) for name, order in reorder.ORDERS.items()}
    assert found["degree"] < 1.5 and found["rcm"] > 3 and found["community"] > 4 and found["gorder"] > 2.5


def test_layers_put_every_clique_together_and_cliques_of_one_ring_too(device):
    """Rings of cliques, shuffled: labels of one clique, then of neighbouring ones, are alike."""
    k, cliques = 6, 12
    i, j = (x.ravel() for x in np.indices((k * cliques, k * cliques)))
    inside, bridge = i // k == j // k, (abs(i - j) == 1) & (np.maximum(i, j) % k == 0)
    i, j = (x[(inside | bridge) & (i != j)] for x in (i, j))
    at = np.random.default_rng(3).permutation(k * cliques)
    A = gb.Matrix.from_coo(at[i], at[j], True, nrows=k * cliques, ncols=k * cliques)
    order = A.device.to_host(reorder.llp(A))
    assert sorted(order.tolist()) == list(range(k * cliques))
    clique = np.argsort(at)[order] // k
    assert (np.diff(clique) != 0).sum() == cliques - 1
    assert (abs(np.diff(clique)) == 1).sum() > 3  # by chance one in six of the eleven
    assert (A.device.to_host(reorder.llp(A.T)) == order).all()


@pytest.mark.parametrize("name", ["symmetric", "gaps", "33x33", "a graph with hubs"])
def test_gorder_takes_one_of_the_highest_score_each_time(name):
    if name in MATRICES:
        A = matrix(name, device="cpu")
    else:
        rng = np.random.default_rng(0)
        i, j = (rng.random((2, 900)) ** 3 * 200).astype(int)
        A = gb.Matrix.from_coo(i, j, True, nrows=200, ncols=200, device="cpu")
    n, order = A.nrows, reorder.gorder(A)
    edge = np.zeros((n, n), int)
    edge[tuple(index.astype(int) for index in A.to_coo()[:2])] = 1
    edge |= edge.T
    np.fill_diagonal(edge, 0)
    degree = edge.sum(0)
    few = degree <= np.sqrt(n)
    assert name in MATRICES or 0 < few.sum() < n
    score = edge + edge * few @ edge
    left = np.ones(n, bool)
    assert degree[order[0]] == degree.max()
    for k, v in enumerate(order):
        found = score[:, order[max(0, k - 5) : k]].sum(1)
        best = left & (found == found[left].max())
        assert best[v], (k, v)
        left[v] = False


def test_hubs_stand_first_and_leaves_of_one_star_together():
    n = 400
    i = np.arange(2, n)
    hubs = i % 2
    A = gb.Matrix.from_coo(np.append(i, hubs), np.append(hubs, i), True, nrows=n, ncols=n, device="cpu")
    order = reorder.community(A)
    assert sorted(order[:2].tolist()) == [0, 1]
    B = gb.Matrix.from_coo(i, i % 50, True, nrows=n, ncols=n, device="cpu")  # no hub: stars of 8
    star = reorder.community(B) % 50
    assert (star[1:] != star[:-1]).sum() < 2 * 50


def test_a_search_waits_once_a_level(device, monkeypatch):
    """On a graph of many levels the host's waits are what an order takes."""
    waits, n = [], 40
    read = memory.Readback.read
    monkeypatch.setattr(memory.Readback, "read", lambda self, *a: waits.append(a) or read(self, *a))
    i = np.arange(n - 1)
    A = gb.Matrix.from_coo(np.r_[i, i + 1], np.r_[i + 1, i], True, nrows=n, ncols=n)
    d = A.device
    degree, label = d.asarray(np.r_[1, np.full(n - 2, 2), 1]), d.asarray(np.zeros(n, np.int64))
    waits.clear()
    found = reorder.search_order(A, d.asarray(np.zeros(1, np.int64)), label, degree)
    assert d.to_host(found).tolist() == list(range(n))
    assert len(waits) <= n + 2


@pytest.mark.parametrize("who", ["mask", "output"])
def test_a_right_side_that_moves_the_mask_or_the_output(device, who):
    """A product puts its vector into the order of its matrix, after the mask was put into the user's."""
    A = gb.Matrix.from_coo([8], [6], [2.0], nrows=9, ncols=9, device=device).reorder("rcm")
    u = gb.Vector.from_coo([0, 6], [1.0, 3.0], size=9, device=device)
    w = u if who == "output" else gb.Vector(float, 9, device=device)
    w(u.S)[::-1] << u.vxm(A.T, gb.semiring.plus_second)  # which has an entry at 8
    assert w.isequal(gb.Vector.from_coo([0], [2.0], size=9, device=device))


@pytest.mark.parametrize("form", ["csr", "bitmap", "hyper", "b2sr"])
def test_single_writes_go_where_the_user_means(device, form):
    A = gb.Matrix.from_coo([15], [11], [1], nrows=16, ncols=16, device=device, format=form).reorder("rcm")
    expected = gb.Matrix.from_coo([3, 15], [4, 11], [5, 1], nrows=16, ncols=16, device=device)
    A[3, 4] = 5
    assert A.isequal(expected) and A.order is not None
    del A[3, 4], A[1, 8]
    assert A.isequal(expected.select("==", 1).new()) and A.order is not None


def test_what_a_scalar_on_the_right_moves_is_moved_before(device):
    """A positional product converts v, which is in the order of A, to the user's order."""
    A = gb.Matrix.from_coo([8], [6], [1.0], nrows=9, ncols=9, device=device).reorder("degree")
    u, v = gb.Vector(int, 9, device=device), gb.Vector.from_coo([5], [1.0], size=9, device=device)
    w = gb.Vector(float, 9, device=device)
    w(v.S) << A.reduce_rowwise(gb.monoid.plus)  # puts v there
    v(u.V) << gb.semiring.min_firsti(u @ v)
    assert v.to_coo()[0].tolist() == [5]


def test_positions_in_a_reordered_bitmap_are_the_users(device):
    A = gb.Matrix.from_coo([9], [13], [2.5], nrows=14, ncols=14, device=device, format="bitmap").reorder("rcm")
    assert A.select("triu", 3).new().nvals == 1 and A.select("triu", 5).new().nvals == 0
    for op, *more, expected in ((gb.indexunary.rowindex, 1, 10), (gb.binary.secondj, 0, 13), (gb.unary.positionj, 13)):
        assert A.apply(op, *more).new().reduce_scalar("plus").new().value == expected
