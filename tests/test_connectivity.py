"""Components of directed graphs and topological levels against SciPy and NetworkX: the same program text on
python-graphblas and on bitblas. Of bitblas, every device runs them in slow tests.
"""

import functools
from itertools import pairwise

import numpy as np
import oracles
import pytest
from algorithm_runs import (
    OnBitblas,
    OnCpu,
    OnGraphBLAS,
    as_dict,
    edges,
    few,
    few_graphs,
    few_symmetric_graphs,
    full,
    graphs,
    matrix,
    networkx,
)
from hypothesis import given
from oracles import GRAPHS, Graph

import bitblas
from bitblas import tuning
from bitblas.algorithms import (
    articulation_points,
    biconnected_components,
    bridges,
    condensation,
    connected_components,
    dag_longest_path,
    strongly_connected_components,
    topological_levels,
)
from bitblas.algorithms import weakly_connected_components as weakly_connected

strong = functools.partial(oracles.components, strong=True)
# A loop is a cycle.
LEVELLED = GRAPHS | {"loop": Graph.of(4, [(0, 1), (1, 1), (1, 2), (0, 3)])}


def topological(graph):
    """Kahn's algorithm, one vertex at a time."""
    into = np.bincount(graph.cols, minlength=graph.n)
    level = {v: 0 for v in range(graph.n) if not into[v]}
    for v in (order := list(level)):  # grows on the way
        for w in graph.cols[graph.rows == v].tolist():
            into[w] -= 1
            level[w] = max(level.get(w, 0), level[v] + 1)
            if not into[w]:
                order.append(w)
    return {v: level[v] for v in order}


def check_biconnected(gb, graph):
    """Blocks, articulation points and bridges against NetworkX's depth-first searches."""
    nx = pytest.importorskip("networkx")
    G = networkx(graph)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    values = graph.symmetric_integers(-9, 9)
    A = matrix(gb, graph, values, "INT16")
    B = biconnected_components(A, gb=gb)
    assert B.dtype == gb.dtypes.INT64
    blocks = {}
    for (i, j), block in edges(B).items():
        blocks.setdefault(block, set()).add(frozenset((i, j)))
        assert edges(B)[j, i] == block
    assert list(blocks) == list(range(len(blocks)))  # in the order of the first entries
    theirs = nx.biconnected_component_edges(G)
    assert {frozenset(block) for block in blocks.values()} == {frozenset(map(frozenset, block)) for block in theirs}
    points = articulation_points(A, gb=gb)
    assert points.dtype == gb.dtypes.BOOL and as_dict(points) == dict.fromkeys(nx.articulation_points(G), True)
    found = bridges(A, gb=gb)
    assert found.dtype == gb.dtypes.INT16 and found.nvals == 2 * sum(1 for _ in nx.bridges(G))
    weight = dict(zip(zip(graph.rows.tolist(), graph.cols.tolist(), strict=True), values.tolist(), strict=True))
    assert edges(found) == {e: weight[e] for u, v in nx.bridges(G) for e in ((u, v), (v, u))}


@pytest.mark.parametrize("edges", [120, 160, 250])
def test_strong_components_that_are_no_giant(device, edges):
    """Components of every size: cycles in chains, in random order. A GPU contracts them, or spreads priorities, or
    contracts for a while and spreads priorities along the edges that are left."""
    rng = np.random.default_rng(edges)
    graph = oracles.random(120, edges, 1)
    order, i = rng.permutation(240), np.arange(120)
    rows = order[np.concatenate([graph.rows, 120 + i, 120 + i[:-5]])]
    cols = order[np.concatenate([graph.cols, 120 + i - i % 5 + (i + 1) % 5, 125 + i[:-5]])]
    graph = Graph.of(240, list(zip(rows.tolist(), cols.tolist(), strict=True)))
    for contracted in (
        {"strong.sparse": 0},
        {"strong.contractions": 1},
        {"strong.contractions": 3},
        {"strong.kept": 8},
    ):
        # a short queue, so that blocks pass items on
        with tuning.override({"strong.queue": 32, "strong.block": 128, **contracted}):
            assert np.array_equal(full(strongly_connected_components(matrix(bitblas, graph))), strong(graph))


@pytest.mark.parametrize("edges", [100, 400, 3000])
def test_components_by_union_find(edges):
    """By one thread, which keeps the rows of tiles, and by rounds, also where rows do not fit into memory; in another
    order, and of directed graphs."""
    graph = oracles.random(300, edges, edges)
    label = oracles.components(graph)
    A = matrix(bitblas, Graph.of(300, [*zip(graph.rows.tolist(), graph.cols.tolist(), strict=True)]))
    U = bitblas.binary.pair(A | A.T).new()
    ordered, (i, j, _) = U.reorder("degree"), U.to_coo()
    tiles, packed = (
        bitblas.Matrix.from_coo(i, j, True, nrows=300, ncols=300, format=format) for format in ("b2sr", "mplg")
    )
    structures = [M._store.structure for M in (tiles, packed)]
    assert all(structure.reads_plain_rows for structure in structures)
    with bitblas.config.set(memory_limit=1):
        assert not any(structure.reads_plain_rows for structure in structures)
    for threads in (8, 0):
        with tuning.override({"components.threads": threads}):
            assert np.array_equal(full(weakly_connected(A)), label)
            for M in (U, U.T, ordered, tiles, packed):
                assert np.array_equal(full(connected_components(M)), label)
    assert "csr" in tiles.memory().forms and "csr" not in packed.memory().forms


class Programs:
    @few_graphs
    def test_strongly_connected_components(self, gb, graph):
        label = strongly_connected_components(matrix(gb, graph), gb=gb)
        assert label.dtype == gb.dtypes.INT64
        assert np.array_equal(full(label), strong(graph))

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("edges", [120, 160, 250])
    def test_strong_components_near_the_threshold(self, gb, edges, seed):
        graph = oracles.random(120, edges, seed)
        assert np.array_equal(full(strongly_connected_components(matrix(gb, graph), gb=gb)), strong(graph))

    @few_graphs
    def test_weakly_connected_components(self, gb, graph):
        assert np.array_equal(full(weakly_connected(matrix(gb, graph, 1.0), gb=gb)), oracles.components(graph))

    @few(("directed_dag", "directed_cycle", "loop"), LEVELLED)
    def test_topological_levels(self, gb, graph):
        assert as_dict(topological_levels(matrix(gb, graph), gb=gb)) == topological(graph)

    def test_longest_paths_of_a_graph_without_cycles(self, gb):
        i, j = np.random.default_rng(4).integers(0, 80, (2, 200))
        order = np.random.default_rng(5).permutation(80)
        graph = Graph.of(80, [(order[min(e)], order[max(e)]) for e in zip(i, j, strict=True) if e[0] != e[1]])
        level = full(topological_levels(matrix(gb, graph), gb=gb))
        assert (level[graph.cols] > level[graph.rows]).all()
        for v in np.flatnonzero(level):
            assert level[v] - 1 in level[graph.rows[graph.cols == v]]


class More:
    """What compiles much: on python-graphblas, and on bitblas in slow tests."""

    @few(("directed_dag", "loop"), LEVELLED)
    def test_longest_path(self, gb, graph):
        nx = pytest.importorskip("networkx")
        for dtype, low in (("INT16", -5), ("FP32", 0), ("BOOL", 1)):
            weights = graph.integers(low, 5) if dtype != "BOOL" else np.ones(len(graph.rows), int)
            A = matrix(gb, graph, weights, dtype)
            G = nx.DiGraph(networkx(graph, weights))
            if not nx.is_directed_acyclic_graph(G):
                with pytest.raises(
                    gb.exceptions.InvalidValue, match="argument A: expected an acyclic graph, got one with"
                ):
                    dag_longest_path(A, gb=gb)
                continue
            path, length = dag_longest_path(A, gb=gb)
            assert length == nx.dag_longest_path_length(G) and type(length) is (float if dtype == "FP32" else int)
            assert length == sum(G[u][v]["weight"] for u, v in pairwise(path)) and path

    @pytest.mark.parametrize("seed", range(3))
    def test_longest_path_of_random_graphs(self, gb, seed):
        nx = pytest.importorskip("networkx")
        i, j = np.sort(np.random.default_rng(seed).integers(0, 60, (2, 150)), axis=0)
        graph = Graph.of(60, [(u, v) for u, v in zip(i, j, strict=True) if u != v])
        weights = graph.integers(-3, 6)
        path, length = dag_longest_path(matrix(gb, graph, weights, "INT8"), gb=gb)
        G = networkx(graph, weights)
        assert length == nx.dag_longest_path_length(G) == sum(G[u][v]["weight"] for u, v in pairwise(path))

    @few_graphs
    def test_condensation(self, gb, graph):
        C, label = condensation(matrix(gb, graph), gb=gb)
        value = full(label)
        assert np.array_equal(value, np.unique(strong(graph), return_inverse=True)[1])
        assert C.dtype == gb.dtypes.BOOL and C.nrows == C.ncols == len(set(value.tolist()))
        pairs = zip(value[graph.rows].tolist(), value[graph.cols].tolist(), strict=True)
        assert edges(C).keys() == {(c, d) for c, d in pairs if c != d}
        assert topological_levels(C, gb=gb).nvals == C.nrows

    @few_symmetric_graphs
    def test_biconnected_components(self, gb, graph):
        check_biconnected(gb, graph)

    def test_biconnected_components_along_a_long_path(self, gb):
        order = np.random.default_rng(1).permutation(1001)
        chords = [(order[k], order[k + 9]) for k in (3, 400, 405, 700)]
        pairs = [*pairwise(order), *chords]
        check_biconnected(gb, Graph.of(1001, pairs, symmetric=True))

    def test_no_vertices_to_cut(self, gb):
        A = gb.Matrix(gb.dtypes.FP32, 0, 0)
        assert biconnected_components(A, gb=gb).shape == bridges(A, gb=gb).shape == (0, 0)
        assert articulation_points(A, gb=gb).size == 0
        directed = matrix(gb, GRAPHS["directed_dag"])
        for program in (biconnected_components, articulation_points, bridges):
            with pytest.raises(gb.exceptions.InvalidValue, match="argument A: expected a symmetric matrix"):
                program(directed, gb=gb)


class TestOnGraphBLAS(OnGraphBLAS, Programs, More):
    """The programs themselves."""


class TestOnCpu(OnCpu, Programs):
    """The CPU."""


@pytest.mark.slow
class TestOnBitblas(OnBitblas, Programs, More):
    """Every device."""


@given(graphs())
def test_biconnected_components_of_small_graphs(graph):
    check_biconnected(pytest.importorskip("graphblas"), graph)
