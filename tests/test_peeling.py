"""Peeling (operations/peeling.py): core numbers, trusses and triangles on every device, on graphs that need each
kernel, against NetworkX; and strong components of graphs whose giant component, pivot or ends are missing.
"""

import numpy as np
import pytest
from algorithm_runs import edges, full

import bitblas as gb
from bitblas import algorithms as al
from bitblas.operations import peeling

nx = pytest.importorskip("networkx")


def _graphs():
    yield "empty", nx.empty_graph(5)
    yield "one vertex", nx.empty_graph(1)
    yield "one edge", nx.path_graph(2)
    yield "path", nx.path_graph(90)
    yield "star", nx.star_graph(70)
    yield "clique", nx.complete_graph(21)
    yield "bipartite", nx.complete_bipartite_graph(7, 12)
    yield "grid", nx.convert_node_labels_to_integers(nx.grid_2d_graph(7, 9))
    yield "wheel", nx.wheel_graph(40)
    yield "cliques in a row", nx.relaxed_caveman_graph(6, 9, 0.2, seed=1)
    yield "hubs", nx.barabasi_albert_graph(130, 5, seed=2)
    yield "random", nx.gnm_random_graph(50, 300, seed=3)
    apart = nx.disjoint_union_all([nx.complete_graph(6), nx.empty_graph(3), nx.cycle_graph(5), nx.complete_graph(4)])
    apart.add_edges_from((v, v) for v in (0, 3, 6, 7, 12))
    yield "apart, with self loops", apart
    yield "self loops alone", nx.Graph([(v, v) for v in range(4)])


GRAPHS = dict(_graphs())
# The whole GPU; one block for most rounds; rows in segments and in several tables; warps for all items; many calls;
# lists of triangles, of which a warp keeps few.
LIMITS = {
    "as they are": {},
    "the whole GPU": {
        "small_round": 0,
        "small_scan": 0,
        "block.core": 64,
        "block.truss": 64,
        "few_entries": 0,
        "segment.core": 4,
        "segment.truss": 4,
        "listed": 0,
    },
    "one block": {
        "merged_row": 0,
        "small_round": 9,
        "small_scan": 9,
        "block.core": 64,
        "block.truss": 64,
        "segment.core": 8,
        "short_row": 4,
        "row_table": 8,
    },
    "warps": {
        "merged_row": 1,
        "few_entries": 0,
        "segment.truss": 4,
        "short_row": 4,
        "row_table": 32,
        "interrupt": 7,
        "block.core": 64,
        "block.truss": 64,
    },
    "lists": {"listed": 32, "few_entries": 99, "own_rounds": 2, "small_scan": 0, "block.truss": 32},
}
every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())


def adjacency(G, **how):
    G = G.to_directed()
    rows, cols = np.array([*G.edges], np.int64).reshape(-1, 2).T
    return gb.Matrix.from_coo(rows, cols, True, nrows=len(G), ncols=len(G), **how)


def simple(G):
    G = G.copy()
    G.remove_edges_from([*nx.selfloop_edges(G)])
    return G


def by_vertex(values, G):
    return [values[v] for v in range(len(G))]


def truss_numbers(G):
    """By NetworkX: the last k whose truss has the edge, and the trusses."""
    numbers, trusses, k = {(i, j): 2 for i in G for j in G[i]}, {}, 2
    while (H := nx.k_truss(G, k)).size() or k == 2:
        near = {v: set(H[v]) for v in H}
        trusses[k] = {(i, j): len(near[i] & near[j]) for i in H for j in H[i]}
        numbers |= dict.fromkeys(trusses[k], k)
        k += 1
    return numbers, {**trusses, k: {}}


@pytest.mark.in_turn
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
@every_graph
def test_every_way_to_peel(device, tune, graph, limits):
    tune({f"peeling.{name}": value for name, value in limits.items()} | {"parallel.entries": 1})
    A, G = adjacency(graph), simple(graph)
    assert full(al.core_numbers(A)).tolist() == by_vertex(nx.core_number(G), G)
    numbers, trusses = truss_numbers(G)
    assert edges(al.truss_numbers(A)) == numbers
    for k, right in trusses.items():
        assert edges(al.k_truss(A, k)) == right
    assert edges(al.triangles_per_edge(A)) == trusses[2]
    assert full(al.triangles_per_vertex(A)).tolist() == by_vertex(nx.triangles(G), G)
    assert full(al.local_clustering(A)) == pytest.approx(by_vertex(nx.clustering(G), G))


@pytest.mark.parametrize(
    "how", [{"format": "nib"}, {"format": "b2sr"}, {"format": "mplg"}, {"order": "degree"}], ids=str
)
def test_formats_and_orders(device, how):
    G = GRAPHS["cliques in a row"]
    A = adjacency(G, **{k: v for k, v in how.items() if k == "format"})
    A = A.reorder(how["order"]) if "order" in how else A
    numbers, trusses = truss_numbers(G)
    for B in (A, A.T):
        assert full(al.core_numbers(B)).tolist() == by_vertex(nx.core_number(G), G)
        assert edges(al.truss_numbers(B)) == numbers and edges(al.k_truss(B, 5)) == trusses[5]
        assert full(al.triangles_per_vertex(B)).tolist() == by_vertex(nx.triangles(G), G)


def test_peeling_sees_changes(device):
    A = adjacency(nx.complete_graph(5))
    assert set(edges(al.truss_numbers(A)).values()) == {5}
    del A[0, 1], A[1, 0]
    assert edges(al.truss_numbers(A))[2, 3] == 4 and full(al.core_numbers(A)).tolist() == [3] * 5


def test_only_rows_of_removed_edges_are_read(tune):
    """A clique and a long path: the path is removed at the first level, and no call reads the clique again before its
    own level."""
    G = nx.disjoint_union(nx.complete_graph(30), nx.path_graph(2000))
    edge_numbers, calls = peeling.number_edges(adjacency(G, device="cpu")._stored), []
    peeling.count_triangles(edge_numbers)
    tune({"peeling.interrupt": 1})
    kernel = edge_numbers.device.kernel

    class Counting:
        def __getattr__(self, name):
            return getattr(edge_numbers.device, name)

        def kernel(self, variant):
            run = kernel(variant)
            return lambda *args, **how: (calls.append(variant.entry), run(*args, **how))[1]

    T = peeling.truss_numbers(peeling.EdgeNumbers(Counting(), *list(vars(edge_numbers).values())[1:6]))
    # a scan of each of the two levels; no edge of the path has a triangle, and none is left without the clique
    assert calls.count("peel_levels") <= 3 and T.nvals == 2 * G.size()


# ---- strong components ----------------------------------------------------------------------------------------------

DIRECTED = {
    "no component but vertices": nx.gn_graph(40, seed=1),
    "a cycle with a tail": nx.DiGraph([*((v, (v + 1) % 9) for v in range(9)), (3, 9), (9, 10), (11, 4)]),
    "two cycles": nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (4, 4)]),
    "a pivot that is no cycle": nx.DiGraph(
        [*((v, 9) for v in range(6)), *((9, v) for v in range(10, 16)), (16, 17), (17, 16)]
    ),
    "random": nx.gnp_random_graph(60, 0.03, seed=5, directed=True),
    "dense": nx.gnp_random_graph(40, 0.2, seed=6, directed=True),
    "symmetric": nx.gnp_random_graph(50, 0.03, seed=7),
    "long": nx.DiGraph([*((v, v + 1) for v in range(200)), (200, 100), (99, 0)]),
    "one": nx.empty_graph(1, create_using=nx.DiGraph),
    "none": nx.empty_graph(0, create_using=nx.DiGraph),
}


@pytest.mark.in_turn
@pytest.mark.parametrize("graph", DIRECTED.values(), ids=DIRECTED.keys())
def test_strong_components(device, tune, graph):
    size = max(graph, default=-1) + 1
    graph = nx.compose(nx.empty_graph(size, create_using=nx.DiGraph), graph.to_directed())
    right = {v: min(part) for part in nx.strongly_connected_components(graph) for v in part}
    A = adjacency(graph)
    for rows in ({"strong.interrupt": 3}, {"strong.threads": 0}):
        tune(rows)
        for B in (A, A.T):
            assert full(al.strongly_connected_components(B)).tolist() == [right[v] for v in range(size)]
