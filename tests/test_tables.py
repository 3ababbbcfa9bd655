"""Tables of pandas, polars and Arrow, and igraph's graphs: reading, writing and errors."""

from __future__ import annotations

import io

import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import DimensionMismatch, InvalidValue
from bitblas.io import Graph, from_igraph, from_table, to_arrow, to_igraph, to_pandas, to_polars

ROADS = {"source": ["Ulm", "Bern", "Ulm"], "target": ["Bern", "Rom", "Rom"], "hours": [7.0, 2.5, 11.0]}
NUMBERS = {"from": np.array([0, 1, 0]), "to": np.array([1, 4, 4], np.uint8), "w": np.array([3, -1, 2])}
KINDS = {
    "dict": lambda columns: columns,
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
}
OUT = {"pandas": to_pandas, "polars": to_polars, "arrow": to_arrow}


def columns(table):
    names = getattr(table, "column_names", None) or list(table.columns)
    return {name: table[name].to_numpy().tolist() for name in names}


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_tables_in(kind):
    G = from_table(KINDS[kind](ROADS), weight="hours")
    assert G.labels == ("Ulm", "Bern", "Rom") and G.matrix.dtype == gb.dtypes.FP64
    assert G.matrix.to_dicts() == {0: {1: 7.0, 2: 11.0}, 1: {2: 2.5}}
    G = from_table(KINDS[kind](NUMBERS), "from", "to", "w")
    assert G.labels is None and G.matrix.shape == (5, 5) and G.matrix.dtype == gb.dtypes.INT64
    assert G.matrix.to_dicts() == {0: {1: 3, 4: 2}, 1: {4: -1}}
    pattern = from_table(KINDS[kind](NUMBERS), "from", "to", size=9).matrix
    assert pattern.shape == (9, 9) and pattern.dtype == gb.dtypes.BOOL and pattern.nvals == 3


@pytest.mark.parametrize("kind", OUT)
def test_tables_out_and_back(kind):
    pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    G = from_table(ROADS, weight="hours")
    table = OUT[kind](G)
    assert columns(table) == {
        "source": ["Ulm", "Ulm", "Bern"], "target": ["Bern", "Rom", "Rom"], "weight": [7.0, 11.0, 2.5],
    }  # fmt: skip
    back = from_table(table, weight="weight")
    assert back.matrix.isequal(G.matrix, check_dtype=True) and back.labels == G.labels
    assert columns(OUT[kind](G.matrix, columns=("i", "j"))) == {"i": [0, 0, 1], "j": [1, 2, 2]}
    v = gb.Vector.from_coo([0, 2], [5, 6], size=3)
    assert columns(OUT[kind](v)) == {"vertex": [0, 2], "value": [5, 6]}
    assert columns(OUT[kind](v, G.labels, ("city", "rank"))) == {"city": ["Ulm", "Rom"], "rank": [5, 6]}


def test_arrow_copies_no_numbers():
    pa = pytest.importorskip("pyarrow")
    weight = np.arange(1000.0)
    table = pa.table({"weight": weight})
    assert np.shares_memory(table["weight"].chunk(0).to_numpy(), weight)
    made = to_arrow(gb.Vector.from_dense(weight))
    assert made["value"].num_chunks == 1 and made["value"].to_numpy().tolist() == weight.tolist()


BAD = {
    "no such column": ({"source": [1]}, {}, r"column 'target': expected one of 'source'"),
    "missing": ({"source": [0, 1], "target": ["a", None]}, {}, r"column 'target': expected a value.*1 rows without"),
    "names and numbers": (
        {"source": [0], "target": ["a"]},
        {},
        r"column 'source': .*strings in both, got 0 .*int64",
    ),
    "halves": ({"source": [0.5], "target": [1]}, {}, r"column 'source': expected .*integers or names, got 0\.5"),
    "ids of which some are missing": (
        {"source": np.array([1, np.nan]), "target": [1, 2]},
        {},
        r"column 'source': .*got none in 1 rows, the first is row 1",
    ),
    "below": ({"source": [0, -2], "target": [1, 1]}, {}, r"column 'source': expected vertices from 0, got -2"),
    "beyond": ({"source": [0], "target": [3]}, {"size": 3}, r"column 'target': expected vertices from 0 to 2, got 3"),
    "size of names": ({"source": ["a"], "target": ["b"]}, {"size": 3}, r"size: expected None for vertices that have"),
    "weight": (
        {**ROADS, "w": ["1", "2", "3"]},
        {"weight": "w"},
        r"column 'w': expected numbers, got text, '1' in row 0. Hint: decimal='\.'",
    ),
    "twice": (
        {"source": [0, 0], "target": [1, 1], "w": [1, 2]},
        {"weight": "w"},
        r"0 to 1 twice, in rows 0 and 1. Hint: dup_op.*'plus'",
    ),
    "twice by name": (
        {"source": ["a", "b", "a"], "target": ["b", "a", "b"], "w": [1, 2, 3]},
        {"weight": "w", "directed": False},
        r"'a' to 'b' twice, in rows 0 and 2",
    ),
    "an operator of another library": (
        ROADS,
        {"dup_op": "sum"},
        r"dup_op: expected .* operator, got 'sum'. Hint: 'plus'",
    ),
    "NaN": ({"source": [0, 0], "target": [1, 2], "w": [1.0, np.nan]}, {"weight": "w"}, r"column 'w'.*NaN in row 1"),
    "kinds in one column": (
        {"source": ["a", 1], "target": ["b", "c"]},
        {},
        r"column 'source': .*1 in row 1 and 'a' in",
    ),
    "deep": ({"source": np.zeros((2, 2), int), "target": [1, 1]}, {}, r"column 'source': expected one value in a row"),
}


@pytest.mark.parametrize("name", BAD)
def test_tables_that_are_refused(name):
    table, options, text = BAD[name]
    with pytest.raises(InvalidValue, match=text):
        from_table(table, **options)


def test_ids_of_two_types_stay_what_they_are():
    big = 2**63
    graph = from_table({"source": np.array([big + 5, big + 6], np.uint64), "target": np.array([1, 2])}, labels=True)
    assert set(graph.labels) == {big + 5, big + 6, 1, 2}


def test_an_array_is_no_table():
    with pytest.raises(TypeError, match=r"expected a table with named columns, got numpy\.ndarray. .*from_edges"):
        from_table(np.zeros((2, 2), int))


def test_other_edges_of_tables():
    twice = {"source": [0, 0], "target": [1, 1], "w": [1, 2]}
    assert from_table(twice, weight="w", dup_op=gb.binary.plus).matrix.to_dicts() == {0: {1: 3}}
    assert from_table(twice).matrix.nvals == 1
    none = {"source": np.zeros(0, int), "target": np.zeros(0, int)}
    assert from_table(none).matrix.shape == (0, 0) and from_table(none, size=2).matrix.shape == (2, 2)
    A = gb.Matrix.from_coo([0], [1], 2.5, nrows=2, ncols=2)
    with pytest.raises(InvalidValue, match="columns: expected 3 different names"):
        to_pandas(A, columns=("a", "a", "b"))
    with pytest.raises(InvalidValue, match="labels: expected one for each of 2 vertices, got 1"):
        to_pandas(A, labels=["a"])


def test_igraph():
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (1, 2), (3, 3)], directed=False)
    G.vs["name"] = list("abcd")
    G.es["weight"] = [1, 2, 3, 4]
    made = from_igraph(G)
    assert made.labels == ("a", "b", "c", "d") and made.matrix.dtype == gb.dtypes.INT64
    assert made.matrix.to_dicts() == {0: {1: 1}, 1: {0: 1, 2: 5}, 2: {1: 5}, 3: {3: 4}}
    assert from_igraph(G, None).matrix.to_dicts()[1] == {0: 1, 2: 2}
    back = to_igraph(made, directed=False)
    assert back.get_edgelist() == [(0, 1), (1, 2), (3, 3)] and back.es["weight"] == [1, 5, 4]
    assert back.vs["name"] == list("abcd")
    D = to_igraph(made.matrix, "cost")
    assert D.is_directed() and D.ecount() == 5 and sorted(D.es["cost"]) == [1, 1, 4, 5, 5]
    assert from_igraph(igraph.Graph(3)).matrix.nvals == 0
    G.es["weight"] = [1, 2, "3", 4]
    with pytest.raises(InvalidValue, match="of every edge, got '3' on the edge from 1 to 2"):
        from_igraph(G)
    G.es["weight"] = [1, None, 3, 4]
    with pytest.raises(InvalidValue, match="of every edge, got None on the edge from 1 to 2"):
        from_igraph(G)
    G.es["weight"] = [2**63 + 5, 2, 1, 0]
    assert from_igraph(G, dup_op="max").matrix.to_dicts()[0] == {1: 2**63 + 5}
    with pytest.raises(DimensionMismatch, match="expected a square matrix, got 1 x 2"):
        to_igraph(gb.Matrix(gb.dtypes.BOOL, 1, 2))


def test_a_graph_is_what_files_give(tmp_path):
    G = from_table(ROADS, weight="hours")
    assert isinstance(G, Graph) and G.vertex("Rom") == 2
    gb.io.write(tmp_path / "roads.tsv", G.matrix, labels=G.labels)
    again = gb.io.read(tmp_path / "roads.tsv")
    assert again.labels == ("Ulm", "Bern", "Rom") and again.matrix.to_dicts() == G.matrix.to_dicts()


def test_ids_are_names_where_one_says_so():
    """Integers that are ids: names on request, else a warning; no warning with explicit sizes."""
    ids = {"a": np.array([7_000_012, 7_300_000], np.int64), "b": np.array([7_300_000, 9], np.uint32)}
    with pytest.warns(UserWarning, match=r"table: 3 different vertex numbers, but 7300001 vertices.*labels=True"):
        assert len(gb.Graph.from_table(ids, "a", "b")) == 7_300_001
    g = gb.Graph.from_table(ids, "a", "b", labels=True)
    assert g.labels == (7_000_012, 7_300_000, 9)
    assert dict(g.bfs(7_000_012)) == {7_000_012: 0, 7_300_000: 1, 9: 2}
    assert len(gb.Graph.from_table(ids, "a", "b", size=8_000_000)) == 8_000_000
    assert gb.Graph.from_edges([(5000, 7)], labels=True).labels == (5000, 7)
    with pytest.raises(InvalidValue, match="labels"):
        gb.Graph.from_edges([("a", "b")], labels=False)
    many = np.arange(3000)
    with pytest.warns(UserWarning, match="3001 different vertex numbers"):
        gb.Graph.from_table({"source": many, "target": many * 0 + 40_000})
    gb.Graph.from_table({"source": many, "target": many * 0 + 20_000})
    with pytest.warns(UserWarning, match="2 different vertex numbers"):
        assert len(gb.io.read(io.BytesIO(b"5 4000\n"), "edges")) == 4001
    assert gb.io.read(io.BytesIO(b"007 7\n"), "edges", labels=True).labels == ("007", "7")


def test_a_path_or_an_option_that_is_none(tmp_path):
    with pytest.raises(TypeError, match=r"Graph\.read"):
        from_table("a.csv", "a", "b")
    with pytest.raises(TypeError, match="no option 'sep'; use delimiter="):
        gb.io.read(io.BytesIO(b"a;b\n"), "csv", sep=";")
    with pytest.raises(InvalidValue, match="the graph has none"):
        Graph.from_edges([(0, 1)]).by("x")


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_labels_in_columns_of_one_type(kind):
    """Integers beyond INT64 stay exact; names of two types, which the libraries would unify, are rejected."""
    pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 6], nrows=3, ncols=3)
    big = [2**64 - 1, 2**53 + 1, 0]
    assert columns(OUT[kind](A, big)) == {"source": big[:2], "target": big[1:], "weight": [5, 6]}
    for names, text in (
        ([1, "a", 2.5], "got 1 and 'a'"),
        ([b"a", "b", "c"], "got b'a' and 'b'"),
        ([1, 2.5, 3], "got 1 and 2.5"),
        ([2**64, 1, 2], "got 18446744073709551616 in row 0"),
    ):
        with pytest.raises(InvalidValue, match=f"labels: expected .*{text}"):
            OUT[kind](Graph(A, names))
