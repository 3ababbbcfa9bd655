"""Errors and warnings about input that is wrong or ambiguous: lines of files, names, weights, missing parts."""

import io

import numpy as np
import pytest

import bitblas as gb
from bitblas import Graph, foreign_names
from bitblas.exceptions import InvalidValue
from bitblas.io import read_edgelist

ROADS = [("Ulm", "Bern", 7.0), ("Bern", "Rom", 2.5), ("Ulm", "Rom", 11.0), ("Rom", "Bari", 4.0), ("Kiel", "Jena", 3.0)]


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def read(text, **options):
    return read_edgelist(io.BytesIO(text.encode()), **options)


def edges(graph):
    """The edges by name, each both ways where they have no direction."""
    return {(graph.label(i), graph.label(j)): x for i, row in graph.matrix.to_dicts().items() for j, x in row.items()}


def test_lines_that_are_wrong_are_told_together(tmp_path, tune):
    """The first ones, and how many there are, whatever the blocks; a decimal comma is named."""
    lines = [f"a{k},b{k},{'n/a' if k % 4 == 3 else k}" for k in range(20)]
    path = tmp_path / "sums.csv"
    path.write_text("\n".join([*lines, "a,b", "x,,4\n"]))
    said = (
        r"sums\.csv, line 4: expected a number as weight, got 'a3,b3,n/a'; line 8: .*; line 12: .*; 7 malformed lines"
    )
    for size in (30, 1 << 20):
        tune({"file.block": size})
        for chunked in (False, True):
            with pytest.raises(InvalidValue, match=said):
                read_edgelist(path, chunked=chunked)
    with pytest.raises(InvalidValue, match=r"line 1: .*got '0 1 x'; line 2: .*vertices from 0.*; 2 malformed lines"):
        read("0 1 x\n-1 2 3\n", weights=True, header=False)
    with pytest.raises(InvalidValue, match=r"got 'a;b;1,5'\. Hint: pass decimal=',' if this is a decimal comma"):
        read("a;b;1,5\nb;c;2\n", delimiter=";")


TABLE = """id;payer;payee;sum
1;"Weber; Anna";Ulm;3.5

# a comment
2;Ulm;"the ""old"" town";4
"""


def test_columns_of_a_table(tmp_path, tune):
    """By name or number, in any block, with quotes; missing columns and lines that are too short are rejected."""
    path = tmp_path / "sums.csv"
    path.write_text(TABLE)
    for size in (20, 1 << 20):
        tune({"file.block": size})
        for chunked in (False, True):
            for columns in (["payer", "payee", "sum"], [1, 2, "sum"]):
                graph = Graph.read(path, delimiter=";", columns=columns, chunked=chunked)
                assert edges(graph) == {("Weber; Anna", "Ulm"): 3.5, ("Ulm", 'the "old" town'): 4.0}
    assert edges(Graph.read(path, delimiter=";", columns=[2, 1], header=True)).keys() == {
        ("Ulm", "Weber; Anna"), ('the "old" town', "Ulm"),
    }  # fmt: skip
    assert edges(read("x 1 2 5\ny 2 0 7\n", columns=[1, 2, 3])) == {(1, 2): 5, (2, 0): 7}
    for columns, error, said in (
        (["payr", "payee"], InvalidValue, r"columns: expected some of \['id', .*'payr'; did you mean 'payer'"),
        (["payer"], InvalidValue, "two or three different"), ("payer,payee", TypeError, "expected a list of source"),
        ([0, 7], InvalidValue, "line 1: expected at least 8 columns"),
        (["payer", "payee", "id", "sum"], InvalidValue, "two or three"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            Graph.read(path, delimiter=";", columns=columns)
    for text in (TABLE.partition("\n")[2], "a;b;c;d\n"):
        with pytest.raises(InvalidValue, match=r"line 1: .*got 4 columns. Hint: columns=\["):
            read(text, delimiter=";")


def test_what_may_be_meant_otherwise_is_said(tmp_path):
    """Leading zeros, other separators, values that do not fit a type, files of other encodings."""
    assert read("001 002\n002 7\n").labels == ("001", "002", "7")
    assert read("0 2 007\n2 3 08\n").labels is None  # weights
    with pytest.warns(UserWarning, match="vertex numbers have leading zeros: pass labels=True"):
        assert read("0 2\n2 007\n").labels is None
    with pytest.warns(UserWarning, match="every line has ';' in its first column: pass delimiter=';'"):
        read("IST;LHR;19,1\nLHR;IST;3,5\n", delimiter=",")
    for text in ("a b NA\nb c 3\n", "a b nan\nb c 3\n"):  # no names of columns
        with pytest.raises(InvalidValue, match="line 1: expected a number as weight"):
            read(text)
    for dtype, weight in (("INT8", 300), ("UINT8", -3), ("INT64", 2.7)):
        with pytest.raises(InvalidValue, match=f"dtype {dtype}: expected weights that fit, got {weight}"):
            read(f"a b {weight}\nb c 3\n", dtype=dtype)
    assert str(read("a b 2.7\n", dtype="FP32").matrix.dtype) == "FP32"
    with pytest.raises(InvalidValue, match=r"expected UTF-8, got .*Hint: .*encoding='cp1252'"):
        read_edgelist(io.BytesIO("Zürich Köln\n".encode("cp1252")))
    with pytest.warns(UserWarning, match=r"ids\.csv: 3 different vertex numbers, but 7000004 vertices"):
        (tmp_path / "ids.csv").write_text("7000001,7000002\n7000002,7000003\n")
        read_edgelist(tmp_path / "ids.csv", chunked=True)


def test_files_keep_the_direction_and_tell_what_they_lose(tmp_path):
    """A list with each edge in both directions is read with directed=False; names and attributes that a file cannot
    store are reported."""
    roads = Graph.from_edges(ROADS, directed=False)
    for name in ("roads.csv", "roads.tsv"):
        roads.write(tmp_path / name)
        with pytest.warns(UserWarning, match="every edge is present in both directions: pass directed=False"):
            assert Graph.read(tmp_path / name).directed
        again = Graph.read(tmp_path / name, directed=False)
        assert not again.directed and "undirected, 6 vertices, 5 edges" in repr(again)
        assert Graph.read(tmp_path / name, directed=True).number_of_edges() == 10
    with pytest.warns(UserWarning, match="format mtx cannot store the names of the vertices: they are left out"):
        roads.write(tmp_path / "roads.mtx")
    with pytest.warns(UserWarning, match=r"names that look like numbers.*labels=True"):
        Graph.from_edges([("7", "0")]).write(tmp_path / "ids.csv")
    assert Graph.read(tmp_path / "ids.csv", labels=True).labels == ("7", "0")
    Graph.from_edges([("from", "to"), ("to", "x")]).write(tmp_path / "words.csv")
    assert Graph.read(tmp_path / "words.csv").labels == ("from", "to", "x")


def test_what_takes_vertices_takes_names():
    """Integers that are names too; one where several are allowed."""
    ids = Graph.from_edges([(3, 0), (3, 1), (2, 4), (2, 5), (3, 4)], directed=False, labels=True)
    assert edges(ids.bipartite_projection([3, 2])) == {(3, 2): 1, (2, 3): 1}
    assert dict(ids.levels_from_each([3])[3]) == {3: 0, 0: 1, 1: 1, 4: 1, 2: 2, 5: 3}
    assert ids.has_edge(3, 4) and not ids.has_edge(3, 5)
    assert ids.random_walks(3, 1, seed=1)[0][0] == 3
    assert "Hint" not in Graph.pagerank.__doc__ and Graph.bfs(ids, 3)[5] == 3
    with pytest.raises(AttributeError, match="did you mean pagerank"):
        Graph.pagernk


def test_weights_are_no_names_of_attributes():
    table = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "km": [5, 6, 7], "lanes": [1, 2, 2]}
    graph = Graph.from_table(table, weight="km", attributes=["lanes"])
    for call in (lambda: graph.path("a", "c", weighted="lanes"), lambda: graph.degree(weighted="lanes")):
        with pytest.raises(TypeError, match=r"weighted: expected True or False, got 'lanes'. Hint: g\.by\('lanes'\)"):
            call()


def test_whatever_can_be_hashed_is_a_name():
    a, b, c = (8.1, 50.0), (8.3, 50.1), (8.4, 50.2)
    graph = Graph.from_edges([(a, b, 2.5), (b, c, 1.0), (a, c, 9.0)])
    assert graph.path(a, c) == [a, b, c] and graph.labels == (a, b, c) and graph.neighbors(a) == [b, c]
    for rows, said in (
        ([(a, "b")], r"one type, got \(8.1, 50.0\) in row 0 and 'b' in row 0"),
        ([([1], [2])], "expected hashable"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_edges(rows)


def test_a_name_that_is_not_there_leads_to_one_that_is():
    g = Graph.from_edges([("a", "b")])
    for name, hint in (("pagernk", "pagerank"), ("edges", "to_dataframe"), ("qqq", r"dir\(g\) lists")):
        with pytest.raises(AttributeError, match=hint):
            getattr(g, name)
    said = " ".join(foreign_names.GRAPH.values())
    assert all(hasattr(g, name) for name in ("neighbors", "to_dataframe", "vertices", "path", "sssp", "from_edges"))
    assert all(name in said for name in ("neighbors", "to_dataframe", "vertices", "path(", "from_edges"))


def test_parallel_edges_of_networkx_are_joined_when_asked():
    networkx = pytest.importorskip("networkx")
    G = networkx.MultiGraph([("a", "b", {"weight": 5}), ("b", "a", {"weight": 2}), ("b", "b", {"weight": 3})])
    with pytest.raises(InvalidValue, match=r"parallel ones from 'a' to 'b'. Hint: dup_op combines"):
        Graph.from_networkx(G)
    for dup_op, weight in (("min", 2), ("plus", 7), ("first", 5)):
        joined = Graph.from_networkx(G, dup_op=dup_op)
        assert joined.matrix.to_dicts() == {0: {1: weight}, 1: {0: weight, 1: 3}} and joined.labels == ("a", "b")
        assert gb.io.from_networkx(G, ["b", "a"], dup_op=dup_op).to_dicts() == {0: {0: 3, 1: weight}, 1: {0: weight}}
    assert Graph.from_networkx(networkx.MultiDiGraph([(0, 1), (0, 1)])).matrix.to_dicts() == {0: {1: 1}}
    assert gb.io.from_networkx(G).to_dicts() == {0: {1: 7}, 1: {0: 7, 1: 3}}


def test_vertices_without_edges_are_given_by_name():
    graph = Graph.from_edges([("a", "b", 2), ("b", "c", 3)], directed=False)
    wider = graph.with_vertices(["z", "c", "b", "a"])
    assert wider.labels == ("z", "c", "b", "a") and wider.degree()["z"] == 0 and wider.path("a", "c") == ["a", "b", "c"]
    assert not wider.directed and wider.matrix.to_dicts() == {1: {2: 3}, 2: {1: 3, 3: 2}, 3: {2: 2}}
    for wrong, said in ((["a", "b"], "got names without 'c'"), (["a", "b", "c", "a"], "got 'a' at positions 0 and 3")):
        with pytest.raises(InvalidValue, match=said):
            graph.with_vertices(wrong)


def test_unlike_weights_of_both_directions_are_warned_of():
    with pytest.warns(UserWarning, match="both directions with different values; the smaller is kept. Hint: dup_op"):
        graph = Graph.from_edges([("x", "y", 5), ("y", "x", 2)], directed=False)
    assert graph.matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}
    equal = Graph.from_edges([("x", "y", 5), ("y", "x", 5)], directed=False)  # not of these
    assert equal.matrix.to_dicts() == {0: {1: 5}, 1: {0: 5}}


def test_sums_of_narrow_integers_have_room():
    table = {"source": [0, 0], "target": [1, 1], "minutes": np.array([100, 100], np.int8)}
    assert Graph.from_table(table, weight="minutes", dup_op="plus").matrix.to_dicts() == {0: {1: 200}}
    with pytest.raises(TypeError, match="directed: expected True, False or None, got 'no'"):
        Graph.from_table(table, directed="no")
    with pytest.raises(TypeError, match="labels: expected True, False or None"):
        Graph.from_edges([("a", "b")], labels=["a", "b", "z"])
    assert len(Graph.from_edges([("a", "b"), ("b", "c")]).subgraph(["b", "a", "b"])) == 2


def test_tables_that_were_put_together(tmp_path, tune):
    """The line that names the columns is left out where it comes again, in any block, with columns= or without."""
    weighted, plain = "Node A,Node B,score\nx,y,5\ny,z,7\n", "source,target\na,b\nb,c\n"
    path = tmp_path / "both.csv"
    for size in (24, 1 << 20):
        tune({"file.block": size})
        for text, more, count in (
            (weighted + weighted.replace("x", "q"), {"dup_op": "max"}, 3), (plain + plain.replace("a,", "d,"), {}, 3),
            (weighted + weighted.replace("x", "q"), {"columns": ["Node B", "Node A"]}, 3),
            ("from,to\n0,1\nfrom,to\n1,2\n", {}, 2), ("\ufeff" + plain + "\ufeff" + plain, {}, 2),
        ):  # fmt: skip
            path.write_text(text)
            for chunked in (False, True):
                with pytest.warns(UserWarning, match="the header line '.*' occurs again and is skipped"):
                    assert Graph.read(path, chunked=chunked, **more).number_of_edges() == count
    with pytest.warns(UserWarning, match="'pkg needs', is read as an edge, but its words occur in no other line"):
        read("pkg,needs\na,b\npkg,needs\nc,d\n", delimiter=",")
    assert read("\ufeffa b\nb c\n\ufeffa d\n").labels == ("a", "b", "c", "d")
    assert read("7 8\n0 1\n7 8\n", header=True).number_of_edges() == 2  # numbers are no names


def test_lines_that_are_taken_otherwise_than_meant(tmp_path):
    """Names like comments, fields of two lines, words with a colon, blanks between tabs, sums of both ways."""
    with pytest.warns(UserWarning, match="lines such as '#c,b,3' are skipped because # and % start comments"):
        assert edges(read("# a,b,c\na,b#1,5\n#c,b,3\n# words\n", delimiter=",")) == {("a", "b#1"): 5}
    with pytest.raises(InvalidValue, match=r"line 2: expected fields separated by .*Hint: if a quoted field"):
        read('a,b,note\nx,y,"one\ntwo,three,four"\n', delimiter=",", columns=["a", "b"])
    with pytest.warns(UserWarning, match="every line's first word ends in ':'"):
        read("app: libc\nweb: app\n")
    with pytest.raises(InvalidValue, match=r"4 columns. Hint: for adjacency lists, convert .*awk"):
        read("app: libc zlib ssl\n")
    with (
        pytest.warns(UserWarning, match="every line has tabs, and some fields contain blanks"),
        pytest.raises(InvalidValue),
    ):
        read("heat shock\tp53\np53\tMDM2\n")
    for text in ("a pp b\nb pp c\n", "a -> b\nb -> c\n"):
        with pytest.raises(
            InvalidValue, match=r"2 malformed lines in total. Hint: the third column holds text, .*columns=\[0, 2\]"
        ):
            read(text)
        assert edges(read(text, columns=[0, 2])) == {("a", "b"): 1, ("b", "c"): 1}
    named = "#id\tA\tB\n1\tx\ty\n2\ty\tz\n"
    assert edges(read(named, delimiter="\t", columns=["A", "B"])) == {("x", "y"): 1, ("y", "z"): 1}
    with pytest.raises(TypeError, match=r"got dictionaries. Hint: Graph.from_table"):
        Graph.from_edges([{"source": "a", "target": "b"}])
    both = [("a", "b", 5), ("b", "a", 5)]
    with pytest.warns(UserWarning, match="in both directions with the same weight, and dup_op combines the two"):
        assert edges(Graph.from_edges(both, directed=False, dup_op="plus"))["a", "b"] == 10
    assert edges(Graph.from_edges(both, directed=False, dup_op="max"))["a", "b"] == 5
    graph = Graph.from_edges(both, directed=True)
    with pytest.raises(InvalidValue, match="got 'A'; did you mean 'a'"):
        graph.bfs("A")
    with pytest.raises(TypeError, match=r"personalization: expected numbers by the names of vertices, \{'a': 1.0\}"):
        graph.pagerank(personalization=["a"])
    with pytest.raises(AttributeError, match=r"subgraph.names. is the graph of those that stay"):
        graph.remove("a")
    with pytest.raises(TypeError, match=r"got 2 of them. Hint: .*pandas.concat"):
        Graph.read(["a.csv", "b.csv"])
    with pytest.raises(TypeError, match="write_edgelist: no option 'sep'; use delimiter=';'"):
        graph.write(tmp_path / "a.csv", sep=";")
    with pytest.raises(InvalidValue, match=r"the format of the file: file_format='edges', 'csv'"):
        Graph.read("access.log")
