"""Communities with igraph's methods, compared with igraph; and single cells in place of scanpy.tl.leiden."""

from __future__ import annotations

import types

import numpy as np
import pytest
import scipy.sparse as sp

import bitblas as gb
from bitblas.exceptions import DimensionMismatch, InvalidValue
from bitblas.graph import Clustering
from bitblas.graph.clustering import METHODS


def blocks(sizes=(30, 20, 10), inside=0.8, outside=0.02, seed=0):
    """A symmetric matrix of weights with planted communities, and these."""
    g = np.random.default_rng(seed)
    label = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(label[:, None] == label, inside, outside)
    upper = np.triu(g.random((len(label), len(label))) < chance, 1) * g.random((len(label), len(label)))
    return sp.csr_array(upper + upper.T), label


def a_graph(directed=False, names=False, seed=0):
    A, _ = blocks(seed=seed)
    matrix = gb.io.from_scipy_sparse(sp.csr_array(sp.triu(A)) if directed else A)
    return gb.Graph(matrix, [f"v{k}" for k in range(matrix.nrows)] if names else None, directed=directed)


@pytest.fixture(autouse=True)
def cpu(on_the_cpu):
    pass


def partitions():
    g = np.random.default_rng(1)
    yield blocks()[1], g.integers(0, 4, 60)
    yield blocks()[1], blocks()[1][::-1].copy()
    yield np.zeros(60, np.int64), np.arange(60)
    yield np.zeros(60, np.int64), np.zeros(60, np.int64)


@pytest.mark.parametrize("method", METHODS)
def test_comparisons_are_those_of_igraph(method):
    igraph = pytest.importorskip("igraph")
    G = a_graph()
    for one, two in partitions():
        if method == "adjusted_rand" and len(set(one)) == len(set(two)) == 1:
            continue  # igraph divides by zero
        found = Clustering(G, one).compare_to(Clustering(G, two), method)
        assert found == pytest.approx(igraph.compare_communities(one.tolist(), two.tolist(), method), abs=1e-12)
        assert found == Clustering(G, one).compare_to(two.tolist(), method)


@pytest.mark.parametrize("directed", [False, True])
def test_methods_are_those_of_igraph(directed):
    pytest.importorskip("igraph")
    G = a_graph(directed, names=True)
    clusters = Clustering(G, np.random.default_rng(2).integers(0, 4, 60))
    theirs = clusters.to_igraph()
    assert clusters.membership.tolist() == theirs.membership and clusters.sizes() == theirs.sizes()
    assert clusters.n == theirs.n == 60 and len(clusters) == len(theirs)
    assert clusters.sizes() == sorted(clusters.sizes(), reverse=True)
    assert clusters.modularity() == pytest.approx(theirs.modularity)
    weights = theirs.graph.modularity(theirs.membership, weights="weight", directed=directed)
    assert clusters.modularity(weighted=True) == pytest.approx(weights)
    assert (
        list(clusters) == [[G.label(v) for v in part] for part in theirs] == [clusters[k] for k in range(len(clusters))]
    )
    assert clusters[-1] == list(clusters)[-1] and clusters[:2] == list(clusters)[:2]
    for mine, other in zip(clusters.subgraphs(), theirs.subgraphs()):
        assert len(mine) == other.vcount() and mine.number_of_edges() == other.ecount()
    assert clusters.giant().number_of_edges() == theirs.giant().ecount() or clusters.sizes()[0] == clusters.sizes()[1]
    small = theirs.cluster_graph(combine_edges={"weight": "sum"})
    expected = np.zeros((len(clusters), len(clusters)))
    for edge in small.es:
        expected[edge.tuple] += edge["weight"]
        if not directed and edge.source != edge.target:
            expected[edge.tuple[::-1]] += edge["weight"]
    found = clusters.cluster_graph()
    assert found.directed is directed and np.allclose(found.matrix.to_dense(0), expected)


def test_of_an_algorithm():
    G = a_graph(names=True)
    clusters = G.leiden(weighted=True).clustering()
    assert sorted(clusters.sizes(), reverse=True) == clusters.sizes() and len(clusters) == 3
    assert clusters.compare_to(blocks()[1], "nmi") == pytest.approx(1.0)
    assert repr(clusters) == "Clustering(60 vertices, 3 communities of 30, 20, 10 vertices)"
    assert {*clusters[0]} == {f"v{k}" for k in range(30)}
    counted = gb.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (1, 3)], directed=False)
    assert Clustering(counted, np.array([0, 0, 0, 1])).cluster_graph().matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}


def test_what_is_no_clustering():
    G = a_graph()
    clusters = Clustering(G, blocks()[1])
    with pytest.raises(InvalidValue, match="expected a community for each vertex, got 1 of 3"):
        gb.Graph.from_edges([(0, 1), (1, 2)], directed=True).bfs(2).clustering()
    with pytest.raises(ValueError, match="method: expected one of vi, nmi, rand, adjusted_rand, got 'x'"):
        clusters.compare_to(clusters, "x")
    with pytest.raises(DimensionMismatch, match="a community for each of 60 vertices"):
        clusters.compare_to([1, 2])
    with pytest.raises(IndexError, match="expected a number from 0 to 2, got 3"):
        clusters[3]
    empty = Clustering(gb.Graph(gb.Matrix(bool, 0, 0)), np.zeros(0, np.int64))
    assert len(empty) == 0 and list(empty) == [] and empty.sizes() == [] and "no vertices" in repr(empty)
    with pytest.raises(InvalidValue, match="expected a vertex, got none"):
        empty.giant()


# ---- single cells


class Cells(types.SimpleNamespace):
    """What the adapter reads and writes of an AnnData object."""

    def copy(self):
        return Cells(obs=self.obs.copy(), obsp=dict(self.obsp), uns=dict(self.uns))


def cells(**obsp):
    pandas = pytest.importorskip("pandas")
    A, label = blocks()
    obs = pandas.DataFrame({"batch": pandas.Categorical(np.where(label == 0, "a", "b"))})
    return Cells(obs=obs, obsp=obsp or {"connectivities": sp.csr_matrix(A)}, uns={"neighbors": {}})


def test_cells_are_clustered_as_by_scanpy():
    adata = cells()
    assert gb.scanpy.leiden(adata, resolution=1.0) is None
    found = adata.obs["leiden"]
    assert list(found.cat.categories) == ["0", "1", "2"] and found.value_counts().to_dict() == {
        "0": 30,
        "1": 20,
        "2": 10,
    }
    assert adata.uns["leiden"]["params"] == {"resolution": 1.0, "random_state": 0, "n_iterations": -1}
    G = gb.Graph(gb.io.from_scipy_sparse(adata.obsp["connectivities"]), directed=False)
    assert adata.uns["leiden"]["modularity"] == pytest.approx(
        Clustering(G, found.cat.codes.to_numpy()).modularity(weighted=True)
    )
    again = cells()
    gb.scanpy.leiden(again, resolution=1.0)
    assert (again.obs["leiden"] == found).all()


def test_options_of_cells():
    A = sp.csr_matrix(blocks()[0])
    other = cells(connectivities=A, x=A, mine=A)
    other.uns["k"] = {"connectivities_key": "mine"}
    for how in ({"obsp": "x"}, {"neighbors_key": "k"}, {"adjacency": A}, {"use_weights": False}, {"flavor": "igraph"}):
        gb.scanpy.leiden(other, key_added="c", **how)
        assert len(other.obs["c"].cat.categories) == 3, how
    copied = gb.scanpy.leiden(other, key_added="d", copy=True)
    assert "d" in copied.obs and "d" not in other.obs
    gb.scanpy.leiden(other, 0.5, restrict_to=("batch", ["b"]))
    parts = other.obs["leiden_R"].value_counts().to_dict()
    assert parts == {"a": 30, "b,0": 20, "b,1": 10}
    assert gb.scanpy._natural("10") > gb.scanpy._natural("9") and gb.scanpy._natural("a,2") < gb.scanpy._natural("a,10")


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"directed": True}, ValueError, "directed: expected None or False"),
        ({"partition_type": int}, ValueError, "partition_type: expected None"),
        ({"obsp": "x", "neighbors_key": "k"}, ValueError, "obsp, neighbors_key: expected one of them, got both"),
        ({"obsp": "x"}, ValueError, r"neighbours in adata.obsp\['x'\], got none. Hint: scanpy.pp.neighbors"),
        ({"neighbors_key": "k"}, ValueError, "neighbors_key: expected a key of adata.uns, got 'k'"),
        ({"restrict_to": ("batch", ["z"])}, ValueError, r"categories of obs\['batch'\], as strings, got 'z'"),
        ({"adjacency": sp.csr_matrix((3, 3))}, DimensionMismatch, "expected 60 x 60"),
        ({"adjacency": sp.triu(blocks()[0])}, InvalidValue, "adjacency: expected a symmetric matrix"),
    ],
)
def test_cells_that_are_refused_stay_unchanged(change, error, match):
    adata = cells()
    with pytest.raises(error, match=match):
        gb.scanpy.leiden(adata, **change)
    assert list(adata.obs) == ["batch"] and list(adata.uns) == ["neighbors"]


@pytest.mark.filterwarnings("ignore")
def test_with_anndata_and_scanpy():
    anndata = pytest.importorskip("anndata")
    scanpy = pytest.importorskip("scanpy")
    g = np.random.default_rng(0)
    X = np.concatenate([g.normal(center, 1, (80, 10)) for center in (0, 4, 8)]).astype(np.float32)
    adata = anndata.AnnData(X)
    scanpy.pp.neighbors(adata, n_neighbors=15, use_rep="X")
    scanpy.tl.leiden(adata, resolution=0.3, flavor="igraph", n_iterations=2, directed=False, key_added="theirs")
    gb.scanpy.leiden(adata, resolution=0.3, key_added="mine")
    G = gb.Graph(gb.io.from_scipy_sparse(adata.obsp["connectivities"]), directed=False)
    codes = [adata.obs[name].cat.codes.to_numpy() for name in ("mine", "theirs")]
    mine, theirs = (Clustering(G, code) for code in codes)
    assert mine.modularity(weighted=True, resolution=0.3) >= 0.99 * theirs.modularity(weighted=True, resolution=0.3)
    assert list(adata.obs["mine"].cat.categories) == [str(k) for k in range(len(mine))]
