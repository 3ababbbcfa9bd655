"""Algorithms for undirected graphs refuse a matrix that has an edge in one direction only, on both libraries."""

import inspect
import re

import pytest
from algorithm_runs import OnBitblas, OnGraphBLAS

import bitblas
from bitblas import Graph, algorithms
from bitblas.exceptions import InvalidValue
from bitblas.graph import methods

NEEDS = sorted(name for name, program in methods.programs().items() if program.facts.undirected)
NEEDS += ["average_clustering", "local_clustering"]
MORE = {"k_core": {"k": 2}, "k_truss": {"k": 3}, "bipartite_projection": {"vertices": [0]}}


def upper(gb):
    """The triangle 0-1-2 with a tail to 3, each edge once."""
    return gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1.0, 2.0, 3.0, 4.0], nrows=4, ncols=4)


class Programs:
    @pytest.mark.parametrize("name", NEEDS)
    def test_an_upper_triangle_is_refused(self, gb, name):
        program, A = getattr(algorithms, name), upper(gb)
        before = A.dup()
        for part in (A, A.T):
            with pytest.raises(gb.exceptions.InvalidValue, match=r"argument A: expected a symmetric .*to_undirected"):
                program(part, **MORE.get(name, {}), gb=gb)
        assert A.isequal(before)
        both = A.ewise_add(A.T, "max").new()
        if "bipart" not in name and name != "maximum_matching":  # a triangle has no two sides
            assert program(both, **MORE.get(name, {}), gb=gb) is not None


class TestOnGraphBLAS(OnGraphBLAS, Programs):
    """The programs themselves."""


class TestOnBitblas(OnBitblas, Programs):
    """The backends."""


def test_the_docstrings_say_what_is_checked():
    for name in NEEDS:
        doc = " ".join(inspect.getdoc(getattr(algorithms, name)).split())
        assert "structure (checked)" in doc or "structure is checked" in doc, name
        assert "A not symmetric" in doc and "not checked" not in doc, name


def test_directed_variants_take_any_square_matrix():
    A = upper(bitblas)
    assert algorithms.local_clustering(A, directed=True).to_dense(0).tolist()[0] == 0.5
    assert algorithms.average_clustering(A, directed=True) > 0
    assert algorithms.weakly_connected_components(A).to_dense().tolist() == [0, 0, 0, 0]


def test_a_matrix_that_changes_is_looked_at_again():
    A = upper(bitblas)
    both = A.ewise_add(A.T, "max").new()
    assert algorithms.triangle_count(both) == 1 == algorithms.triangle_count(both)
    both[3, 0] << 1.0
    with pytest.raises(InvalidValue, match="expected a symmetric matrix"):
        algorithms.triangle_count(both)
    both[0, 3] << 1.0
    assert algorithms.triangle_count(both) == 2


def test_symmetry_is_found_once(monkeypatch):
    from bitblas.formats.csr.layout import Csr

    A, calls = upper(bitblas), []
    both = A.ewise_add(A.T, "max").new(bitblas.dtypes.FP64)
    seen = Csr.is_symmetric
    monkeypatch.setattr(Csr, "is_symmetric", lambda self: calls.append(self) or seen(self))
    for _ in range(3):
        assert algorithms.triangle_count(both) == 1
    assert len(calls) == 1


def test_a_graph_said_to_be_undirected_with_edges_one_way():
    g = Graph(upper(bitblas), "abcd", directed=False)
    with pytest.raises(InvalidValue, match=re.escape("the graph: expected a symmetric matrix")):
        g.triangle_count()
    whole = g.to_undirected()
    assert whole.triangle_count() == 1 and whole.number_of_edges() == 4 and whole.to_undirected() is whole
    with pytest.warns(UserWarning, match="edge directions are ignored"):
        assert Graph(upper(bitblas), "abcd").triangle_count() == 1


def test_a_graph_with_cycles_has_no_topological_levels():
    cycle = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(
        InvalidValue, match=r"expected an acyclic graph, got one with 3 of 3 vertices on or behind cycles: 'a', 'b'"
    ):
        cycle.topological_levels()
    behind = Graph.from_edges([("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("t", "u")])
    with pytest.raises(InvalidValue, match=r"4 of 5 vertices on or behind cycles: 'a', 'b', 't', \.\."):
        behind.topological_levels()
    with pytest.raises(InvalidValue, match="1 of 1 vertices"):
        Graph.from_edges([("a", "a")], directed=True).topological_levels()
    assert dict(Graph.from_edges([("s", "a"), ("a", "b")]).topological_levels()) == {"s": 0, "a": 1, "b": 2}
    assert dict(algorithms.topological_levels(behind.matrix).to_dict()) == {0: 0}
