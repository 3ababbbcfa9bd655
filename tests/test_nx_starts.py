"""Start vectors, personalization and dangling weights that are zero or incomplete: NetworkX's errors and answers."""

from __future__ import annotations

import warnings

import networkx as nx
import nx_backend
import pytest
from test_nx_functions import outcome, same

import bitblas.nx as bnx

nx_backend.register()

GRAPHS = {
    "karate": lambda: nx.Graph(nx.karate_club_graph()),
    "with a sink": lambda: nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)]),
    "two parts": lambda: nx.Graph([(0, 1), (1, 2), (2, 0), (5, 6), (6, 7), (7, 5)]),
}
VECTORS = {
    "zero": lambda G: dict.fromkeys(G, 0), "zero as floats": lambda G: dict.fromkeys(G, 0.0),
    "no node": lambda G: {}, "one node": lambda G: {0: 1}, "sum of 0": lambda G: {**dict.fromkeys(G, 0), 0: 1, 1: -1},
    "another node": lambda G: {"nowhere": 1}, "one more node": lambda G: {**dict.fromkeys(G, 1.0), "nowhere": 1.0},
    "one part": lambda G: {2: 1, 1: 3, 0: 2}, "backwards": lambda G: {v: 1.0 + v for v in reversed(list(G))},
    "NaN": lambda G: {**dict.fromkeys(G, 1.0), 0: float("nan")},
}  # fmt: skip


def check(function, G, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of a division by 0
        theirs = outcome(function, G, **options)
    ours = outcome(function, bnx.from_networkx(G), backend="bitblas", **options)
    assert same(ours, theirs), (options, ours, theirs)
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
    return theirs


@pytest.mark.parametrize("argument", ["nstart", "dangling", "personalization"])
@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("kind", GRAPHS)
def test_pagerank(kind, name, argument):
    G = GRAPHS[kind]()
    check(nx.pagerank, G, **{argument: VECTORS[name](G)})


def test_pagerank_says_of_zeros_what_networkx_does():
    G = GRAPHS["with a sink"]()
    zero, converted = dict.fromkeys(G, 0), bnx.from_networkx(G)
    for argument in ("nstart", "dangling"):
        with pytest.raises(nx.PowerIterationFailedConvergence, match="within 7 iterations"):
            nx.pagerank(converted, max_iter=7, **{argument: zero}, backend="bitblas")
    with pytest.raises(ZeroDivisionError):
        nx.pagerank(converted, nstart=zero, personalization=zero, backend="bitblas")


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("kind", GRAPHS)
def test_centralities_and_hubs(kind, name):
    G = GRAPHS[kind]()
    check(nx.katz_centrality, G, alpha=0.02, nstart=VECTORS[name](G))
    check(nx.eigenvector_centrality, G, max_iter=1000, nstart=VECTORS[name](G))
    if name != "NaN" and kind != "two parts":  # whose largest singular value is there twice
        check(nx.hits, G, nstart=VECTORS[name](G))


def test_katz_of_a_part_takes_nothing_from_other_nodes():
    G = nx.DiGraph([(0, 1), (1, 0), (2, 0)])
    found = check(nx.katz_centrality, G, alpha=0.1, nstart={0: 1, 1: 1}, normalized=False)
    assert found == pytest.approx({0: 10 / 9, 1: 10 / 9}, rel=1e-5)
    check(nx.katz_centrality, G, alpha=0.1, nstart={1: 1, 0: 1}, beta=dict.fromkeys(G, 2))


def test_hubs_of_graphs_that_scipy_refuses():
    for G in (nx.empty_graph(1), nx.empty_graph(3), nx.path_graph(1)):
        check(nx.hits, G)
    check(nx.hits, nx.path_graph(3), max_iter=0)
