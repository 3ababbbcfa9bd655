"""Sums of integer weights in graphs: parallel edges joined, weighted degrees, sums of values. Exact, or refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import InvalidValue


def weights(g):
    return str(g.matrix.dtype), g.matrix.to_coo()[2].tolist()


def two_ways(values, dtype):
    """A graph with an edge there and back."""
    return Graph(gb.Matrix.from_coo([0, 1], [1, 0], values, dtype, nrows=2, ncols=2), ["x", "y"], directed=True)


@pytest.mark.parametrize(
    ("dtype", "values", "dup_op", "expected"),
    [
        ("INT8", [100, 100], "plus", ("INT64", 200)),
        ("UINT8", [200, 100], "plus", ("INT64", 300)),
        ("UINT8", [3, 5], "minus", ("INT64", -2)),
        ("INT16", [300, 300], "times", ("INT64", 90000)),
        ("INT32", [2**31 - 1, 2**31 - 1], "plus", ("INT64", 2**32 - 2)),
        ("INT64", [2**62, 2**62 - 1], "plus", ("INT64", 2**63 - 1)),
        ("INT64", [-(2**62), -(2**62)], "plus", ("INT64", -(2**63))),
        ("UINT64", [2**63 + 5, 2**62], "plus", ("UINT64", 2**63 + 2**62 + 5)),
        ("INT8", [100, 90], "max", ("INT8", 100)),
        ("FP32", [1, 2], "plus", ("FP32", 3)),
        ("INT8", [7, 100], gb.binary.plus, ("INT64", 107)),
    ],
)
def test_to_undirected_widens_sums(dtype, values, dup_op, expected):
    g = two_ways(values, dtype)
    g.attributes["more"] = g.matrix
    made = g.to_undirected(dup_op=dup_op)
    assert weights(made) == weights(made.by("more")) == (expected[0], [expected[1]] * 2)


@pytest.mark.parametrize(
    ("dtype", "values", "dup_op"),
    [
        ("INT64", [2**62, 2**62], "plus"),
        ("INT64", [-(2**62) - 1, -(2**62)], "plus"),
        ("INT64", [2**40, 2**40], "times"),
        ("UINT64", [2**63, 2**63], "plus"),
        ("UINT64", [3, 5], "minus"),
    ],
)
def test_to_undirected_refuses_sums_beyond_64_bits(dtype, values, dup_op):
    with pytest.raises(InvalidValue, match=r"to_undirected: dup_op '\w+': expected weights from"):
        two_ways(values, dtype).to_undirected(dup_op=dup_op)


def test_to_undirected_refuses_operators_that_are_none():
    for g in (two_ways(True, "BOOL"), two_ways([1, 2], "INT8"), Graph.from_edges([(0, 1)], directed=False)):
        with pytest.raises(InvalidValue, match=r"dup_op: expected the name .* got 'avg'\. Hint: 'plus'"):
            g.to_undirected(dup_op="avg")
    with pytest.raises(InvalidValue, match="dup_op: expected a binary operator of BOOL, got 'band'"):
        two_ways(True, "BOOL").to_undirected(dup_op="band")
    with pytest.raises(TypeError, match="dup_op: expected a BinaryOp"):
        two_ways([1, 2], "INT8").to_undirected(dup_op=5)


def multigraph(kind, values):
    G = kind()
    for x in values:
        G.add_edge("a", "b", weight=x)
    return G


@pytest.mark.parametrize("kind", [nx.MultiDiGraph, nx.MultiGraph])
def test_parallel_edges_of_networkx_are_summed_exactly(kind):
    ways = 1 if kind is nx.MultiDiGraph else 2
    for values, dtype, expected in (
        ([np.int8(100)] * 2, None, ("INT64", 200)),
        ([np.int8(100)] * 2, "INT16", ("INT16", 200)),
        ([2**53 + 1, 1, 1], None, ("INT64", 2**53 + 3)),
        ([2**63 + 5, 1], None, ("UINT64", 2**63 + 6)),
        ([2**62, 2**62], "UINT64", ("UINT64", 2**63)),
        ([2**64, 1], "FP64", ("FP64", 2.0**64)),
    ):
        G = multigraph(kind, values)
        assert weights(Graph.from_networkx(G, dup_op="plus", dtype=dtype)) == (expected[0], [expected[1]] * ways)
        A = gb.io.from_networkx(G, dtype=dtype)
        assert (str(A.dtype), A.to_coo()[2].tolist()) == (expected[0], [expected[1]] * ways)
    for values, dtype in (
        ([2**62, 2**62], None),
        ([100, 100], "INT8"),
        ([2**64, 1], None),
        ([300], "INT8"),
        ([0.5], "INT64"),
    ):
        with pytest.raises(InvalidValue, match="expected"):
            gb.io.from_networkx(multigraph(kind, values), dtype=dtype)


def test_large_weights_of_networkx_keep_their_digits():
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 2**63 + 5), (1, 2, 1)])
    assert weights(Graph.from_networkx(G)) == ("UINT64", [2**63 + 5, 1])
    assert gb.io.from_networkx(G, dtype="UINT64").get(0, 1) == 2**63 + 5
    with pytest.raises(InvalidValue, match="expected a number from -9223372036854775808 to 9223372036854775807"):
        gb.io.from_networkx(G, dtype="INT64")


def test_parallel_edges_of_igraph_are_summed_exactly():
    igraph = pytest.importorskip("igraph")

    def graph(values):
        G = igraph.Graph(n=2, edges=[(0, 1)] * len(values), directed=True)
        G.es["weight"] = values
        return Graph.from_igraph(G, dup_op="plus")

    assert weights(graph([np.int8(100)] * 2)) == ("INT64", [200])
    assert weights(graph([2**63 + 5, 1])) == ("UINT64", [2**63 + 6])
    for wrong in ([2**62, 2**62], [2**64, 1]):
        with pytest.raises(InvalidValue, match="expected"):
            graph(wrong)


def test_tables_and_lists_of_edges_are_summed_exactly():
    edges = [("a", "b", 2**63 + 5), ("a", "b", 1), ("b", "c", 7)]
    assert weights(Graph.from_edges(edges, dup_op="plus")) == ("UINT64", [2**63 + 6, 7])
    table = {"source": [0, 0], "target": [1, 1], "weight": np.array([100, 100], np.int8)}
    assert weights(Graph.from_table(table, weight="weight", dup_op="plus")) == ("INT64", [200])
    assert weights(Graph.from_table(table, weight="weight", dup_op="plus", dtype="INT16")) == ("INT16", [200])
    with pytest.raises(InvalidValue, match="dtype INT8: expected weights that fit, got 200"):
        Graph.from_table(table, weight="weight", dup_op="plus", dtype="INT8")
    with pytest.raises(InvalidValue, match="dup_op 'plus': expected weights from"):
        Graph.from_edges([(0, 1, 2**62), (0, 1, 2**62)], dup_op="plus")
    with pytest.raises(InvalidValue, match="dup_op 'times': expected weights from"):
        Graph.from_edges([(0, 1, 2**40), (0, 1, 2**40)], dup_op="times")
    with pytest.raises(
        InvalidValue, match=r"column 'weight': .* got 18446744073709551616 in row 0\. Hint: dtype='FP64'"
    ):
        Graph.from_edges([(0, 1, 2**64), (0, 1, 1)])


@pytest.mark.parametrize("suffix", ["csv", "mtx"])
@pytest.mark.parametrize("chunked", [False, True])
def test_readers_sum_exactly(tmp_path, suffix, chunked):
    def read(x, y, **options):
        path = tmp_path / f"edges.{suffix}"
        if suffix == "csv":
            path.write_text(f"0,1,{x}\n0,1,{y}\n1,0,5\n")
        else:
            path.write_text(f"%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 {x}\n1 2 {y}\n2 1 5\n")
        return Graph.read(path, chunked=chunked, **options)

    assert weights(read(100, 100, dup_op="plus")) == ("INT64", [200, 5])
    assert weights(read(100, 100, dup_op="plus", dtype="UINT8")) == ("UINT8", [200, 5])
    assert weights(read(2**62, 2**62 - 1, dup_op="plus")) == ("INT64", [2**63 - 1, 5])
    assert weights(read(2**62, 2**62, dup_op="max")) == ("INT64", [2**62, 5])
    assert weights(read(2**62, 2**62, dup_op="plus", dtype="FP64")) == ("FP64", [2.0**63, 5])
    for x, dup_op, dtype in (
        (100, "plus", "INT8"),
        (2**62, "plus", None),
        (2**40, "times", None),
        (20, "times", "INT8"),
    ):
        with pytest.raises(InvalidValue, match="expected weights"):
            read(x, x, dup_op=dup_op, dtype=dtype)


def test_entries_of_scipy_and_npz_are_summed_exactly(tmp_path):
    small = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
    A = gb.io.from_scipy_sparse(small, dup_op="plus")
    assert (A.dtype, A.get(0, 1)) == ("INT64", 200)
    assert gb.io.from_scipy_sparse(small, dup_op="max").dtype == "INT8"
    sp.save_npz(tmp_path / "small.npz", small)
    assert weights(Graph.read(tmp_path / "small.npz", dup_op="plus")) == ("INT64", [200])
    large = sp.coo_array((np.array([2**62, 2**62]), ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(InvalidValue, match="dup_op 'plus'"):
        gb.io.from_scipy_sparse(large, dup_op="plus")


def fan(values, dtype):
    n = len(values)
    return Graph(gb.Matrix.from_coo([0] * n, range(1, n + 1), values, dtype, nrows=n + 1, ncols=n + 1), directed=True)


def test_weighted_degrees_do_not_wrap():
    large = 4 * 10**18
    g = fan([large, large], "INT64")
    assert dict(g.degree(weighted=True)) == {0: 2 * large, 1: large, 2: large}
    assert dict(g.to_undirected().degree(weighted=True)) == {0: 2 * large, 1: large, 2: large}
    g = fan([large] * 3, "INT64")
    assert dict(g.out_degree(weighted=True)) == {0: 3 * large, 1: 0, 2: 0, 3: 0}
    assert g.out_degree(weighted=True).vector.dtype == "UINT64"
    g = fan([2**63 + 5, 2], "UINT64")
    assert dict(g.in_degree(weighted=True)) == {0: 0, 1: 2**63 + 5, 2: 2}
    assert dict(g.degree(weighted=True)) == {0: 2**63 + 7, 1: 2**63 + 5, 2: 2}
    loop = Graph(gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [2**62, 1, 1], nrows=2, ncols=2), directed=False)
    assert dict(loop.degree(weighted=True)) == {0: 2**63 + 1, 1: 1}
    assert dict(fan([100, 100], "INT8").degree(weighted=True)) == {0: 200, 1: 100, 2: 100}
    assert fan([5, 6], "UINT64").degree(weighted=True).vector.dtype == "INT64"
    for values, dtype in (([2**64 - 1, 1], "UINT64"), ([-(2**62) - 1, -(2**62)], "INT64")):
        with pytest.raises(InvalidValue, match=r"weighted: expected sums of weights .* at vertex 0"):
            fan(values, dtype).degree(weighted=True)


def test_values_have_exact_sums_and_means():
    g = fan([4 * 10**18] * 3, "INT64")
    found = g.in_degree(weighted=True)
    assert found.sum() == 12 * 10**18
    assert found.mean() == 3e18
    assert fan([2**64 - 1, 1, 2**64 - 1], "UINT64").in_degree(weighted=True).sum() == 2**65 - 1
    assert fan([-(2**63), -(2**63)], "INT64").in_degree(weighted=True).sum() == -(2**64)
    assert found.median() == 4e18
    assert found.largest(1) == [(1, 4 * 10**18)]
    assert fan([0.5, 0.25], "FP64").in_degree(weighted=True).sum() == 0.75


def test_the_weight_of_a_forest_is_exact(tmp_path, capsys):
    from bitblas.cli import main

    path = tmp_path / "edges.csv"
    path.write_text("".join(f"0,{k},{4 * 10**18}\n" for k in range(1, 4)))
    main(["msf", str(path), "--undirected", "--json"])
    assert f'"weight": {12 * 10**18}' in capsys.readouterr().out
