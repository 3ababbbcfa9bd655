"""Algorithms on both libraries: graphs, results on the host, and a class for each library with the argument `gb`.

The python-graphblas half checks the programs themselves and needs no backend of bitblas; the bitblas half checks the
backends, on each `device`.
"""

import hypothesis
import numpy as np
import pytest
from oracles import GRAPHS, Graph

import bitblas

DTYPES = ["BOOL", "INT8", "UINT8", "INT32", "UINT64", "INT64", "FP32", "FP64"]
SYMMETRIC = {name: graph for name, graph in GRAPHS.items() if graph.symmetric}

every_graph = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
every_symmetric_graph = pytest.mark.parametrize("graph", SYMMETRIC.values(), ids=SYMMETRIC.keys())
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def matrix(gb, graph, values=True, dtype=None):
    return gb.Matrix.from_coo(graph.rows, graph.cols, values, dtype, nrows=graph.n, ncols=graph.n)


def entries(vector):
    """Indices and values on the host: `to_coo` gives arrays of the vector's device."""
    return [x.get() if hasattr(x, "__cuda_array_interface__") else np.asarray(x) for x in vector.to_coo()]


def as_dict(vector):
    index, value = entries(vector)
    return dict(zip(index.tolist(), value.tolist(), strict=True))


def full(vector):
    index, value = entries(vector)
    assert np.array_equal(index, np.arange(vector.size)), "expected an entry at every vertex"
    return value


def edges(A):
    """{(row, column): value} on the host."""
    rows, cols, values = (x.tolist() for x in entries(A))
    return dict(zip(zip(rows, cols, strict=True), values, strict=True))


def sources(graph):
    """A low number, a middle and the highest one: they often sit at different places of a graph."""
    return sorted({0, graph.n // 2, graph.n - 1})


@hypothesis.strategies.composite
def graphs(draw, symmetric=True):
    """Graphs of up to 9 vertices, with self loops, in several pieces or dense."""
    n = draw(hypothesis.strategies.integers(1, 9))
    vertex = hypothesis.strategies.integers(0, n - 1)
    pairs = hypothesis.strategies.sets(hypothesis.strategies.tuples(vertex, vertex), max_size=3 * n)
    return Graph.of(n, draw(pairs), symmetric=symmetric)


def few(names, graphs=GRAPHS):
    """Every graph, those not named only in slow runs."""
    marks = {name: () if name in names else (pytest.mark.slow,) for name in graphs}
    return pytest.mark.parametrize("graph", [pytest.param(graphs[name], id=name, marks=marks[name]) for name in graphs])


few_graphs = few(("karate", "directed_random"))
few_symmetric_graphs = few(("karate",), SYMMETRIC)


def networkx(graph, values=None):
    """The graph as NetworkX has it."""
    nx = pytest.importorskip("networkx")
    G = nx.Graph() if graph.symmetric else nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    values = np.ones(len(graph.rows)) if values is None else values
    G.add_weighted_edges_from(zip(graph.rows.tolist(), graph.cols.tolist(), values.tolist(), strict=True))
    return G


def by_vertex(found, graph):
    """NetworkX's dictionary as an array."""
    return np.array([found[v] for v in range(graph.n)])


class OnCpu:
    """bitblas on the device that compiles fastest; OnBitblas, a slow class, has the other devices."""

    @pytest.fixture
    def gb(self):
        with bitblas.config.set(device="cpu"):
            yield bitblas


class OnGraphBLAS:
    @pytest.fixture
    def gb(self):
        return pytest.importorskip("graphblas")


class OnBitblas:
    @pytest.fixture
    def gb(self, device):
        return bitblas
