"""Errors and warnings about edge lists and tables that are wrong or ambiguous. The first line names the columns only if
its ends cannot be vertices like those below it, or are words that tables use; no edge is left out silently."""

import io

import numpy as np
import pytest
from test_graph import edges

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import InvalidValue
from bitblas.io import read_edgelist


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def read(text, **options):
    """An edge list with blanks, or with commas where its first line has some."""
    mark = {"delimiter": ","} if "," in text.partition("\n")[0] else {}
    return read_edgelist(io.BytesIO(text.encode()), **mark | options)


# ---- the first line -------------------------------------------------------------------------------------------------

WORDS = ("unknown", "True", "N.A.", "NaT", "tbd", "n/a", "none", "nan", "weight", "")
BELOW = {"0,1": "1,2,3\n2,3,4\n", "anna,ben": "ben,carl,3\ncarl,anna,4\n", "007,008": "008,009,3\n009,007,4\n"}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("ends", BELOW)
def test_a_word_in_the_place_of_a_weight_is_refused_in_the_first_line_too(tmp_path, word, chunked, ends):
    path = tmp_path / "a.csv"
    path.write_text(f"{ends},{word}\n{BELOW[ends]}")
    with pytest.raises(InvalidValue) as caught:
        Graph.read(path, chunked=chunked)
    assert f"a.csv, line 1: expected a number as weight, got '{ends},{word}'" in str(caught.value)
    assert "header=True if line 1 names the columns" in str(caught.value)
    if ends != "0,1":
        assert Graph.read(path, chunked=chunked, header=True).matrix.nvals == 2
    assert Graph.read(path, chunked=chunked, weights=False).matrix.nvals == 3
    with pytest.raises(InvalidValue, match="line 1: expected a number as weight") as caught:
        Graph.read(path, chunked=chunked, header=False)
    assert "header=True" not in str(caught.value)


HEADS = {  # the first line and those below: whether it names the columns
    "words above numbers": ("payer,payee,sum\n0,1,5\n1,2,6\n", True),
    "any words above numbers": ("a,b,unknown\n0,1,5\n1,2,6\n", True),
    "signs above numbers": ("Source (id),Target (id),Weight (%)\n0,1,5\n1,2,6\n", True),
    "nothing above the weights": ("a,b,\n0,1,5\n1,2,6\n", True),
    "two columns above numbers": ("Node #1,Node #2\n0,1\n1,2\n", True),
    "a number above numbers": ("source,target,2019\n0,1,5\n", True),
    "well-known words above names": ("source,target,weight\na,b,5\nb,c,6\n", True),
    "well-known words that are a name below": ("from,to,hours\nfrom,b,5\nb,c,6\n", True),
    "words of tables above names": ("Follower_ID,followed,since\na,b,5\nb,c,6\n", True),
    "words of tables without weights": ("Sender,Receiver\nx,y\ny,ax\n", True),
    "words with numbers": ("Node 1,node 2\nx,y\ny,ax\n", True),
    "two ends of payments": ("payee,payer\nx,y\ny,ax\n", True),
    "words above numbers with zeros": ("agent,partner,hours\n007,008,5\n008,009,6\n", True),
    "an edge of names": ("a,b,4\nb,c,5\n", False),
    "an edge of numbers": ("0,1,4\n1,2,5\n", False),
}


@pytest.mark.parametrize("text, header", HEADS.values(), ids=HEADS)
def test_what_names_the_columns(text, header):
    found = read(text)
    assert found.matrix.nvals == text.count("\n") - header
    assert found.matrix.isequal(read(text, header=header).matrix, check_dtype=True)


def test_what_may_be_either_is_refused():
    """Words that name columns, above names, and a number: an edge of two such vertices, or a year."""
    text = "source,target,2019\na,b,5\n"
    with pytest.raises(InvalidValue, match=r"line 1: expected column names or an edge, got 'source,target,2019'"):
        read(text)
    assert read(text, header=True).labels == ("a", "b")
    assert read(text, header=False).labels == ("source", "target", "a", "b")
    # numbers that are names are no names like the words above them
    assert read("customer,article,count\n7001,8001,2\n7002,8001,3\n", labels=True).matrix.nvals == 2


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
        read("pkg,needs\na,b\npkg,needs\nc,d\n")
    assert read("\ufeffa b\nb c\n\ufeffa d\n").labels == ("a", "b", "c", "d")
    assert read("7 8\n0 1\n7 8\n", header=True).number_of_edges() == 2  # numbers are no names


# ---- columns --------------------------------------------------------------------------------------------------------

EXAMPLES = {  # the text, the hint, which are the options that read it
    "well-known words": (
        "id,payer,payee,sum,date\n1,Anna,Ben,3.5,2020\n2,Ben,Cleo,4,2021\n",
        "columns=['payer', 'payee', 'sum'] selects 3 of the columns 'id', 'payer', 'payee', 'sum', 'date'",
    ),
    "their order": ("target,source,kind,km\na,b,x,1\n", "columns=['source', 'target', 'km']"),
    "an index before them": (",city_a,city_b,minutes\n0,x,y,5\n", "columns=['city_a', 'city_b', 'minutes']"),
    "no weight": ("a,b,c,d\nx,y,z,w\n", "columns=['a', 'b'] selects 2 of"),
    "numbers below": ("u,v,w,x\n0,1,5,7\n", "columns=['u', 'v', 'w']"),
    "no names": ("0,1,5,7\n1,2,6,8\n", "columns=[0, 1, 2] selects 3 of the 4 columns, by number from 0"),
    "a name twice": ("a,a,b,c\nx,y,1,2\n", "columns=[0, 1, 2]"),
}  # fmt: skip


@pytest.mark.parametrize("text, hint", EXAMPLES.values(), ids=EXAMPLES)
def test_a_table_of_many_columns_lists_its_own_names(text, hint):
    count = text.partition("\n")[0].count(",") + 1
    for options in ({}, {"header": text[0].isalpha() or None}):
        with pytest.raises(InvalidValue) as caught:
            read(text, **options)
        assert f"expected two vertices and at most one weight, got {count} columns. Hint: {hint}" in str(caught.value)
    columns = eval(str(caught.value).partition("columns=")[2].partition("]")[0] + "]")
    header = None if isinstance(columns[0], str) else text[0].isalpha()
    assert read(text, columns=columns, header=header).matrix.nvals == text.count("\n") - (text[0] != "0")


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
    swapped = Graph.read(path, delimiter=";", columns=[2, 1], header=True)
    assert edges(swapped).keys() == {("Ulm", "Weber; Anna"), ('the "old" town', "Ulm")}
    assert edges(read("x 1 2 5\ny 2 0 7\n", columns=[1, 2, 3])) == {(1, 2): 5, (2, 0): 7}
    for columns, error, said in (
        (["payr", "payee"], InvalidValue, r"columns: expected some of \['id', .*'payr'; did you mean 'payer'"),
        (["payer"], InvalidValue, "two or three different"), ("payer,payee", TypeError, "expected a list of source"),
        ([0, 7], InvalidValue, "line 1: expected at least 8 columns"),
        (["payer", "payee", "id", "sum"], InvalidValue, "two or three"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            Graph.read(path, delimiter=";", columns=columns)


def test_columns_of_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    pandas, path = pytest.importorskip("pandas"), tmp_path / "a.parquet"
    pandas.DataFrame({"id": [7, 8], "payer": ["a", "b"], "payee": ["b", "c"], "sum": [2, 3]}).to_parquet(path)
    whole = Graph.read(path, source="payer", target="payee", weight="sum")
    for columns in (["payer", "payee", "sum"], [1, 2, 3], ("payer", 2, "sum")):
        found = Graph.read(path, columns=columns)
        assert found.labels == whole.labels and found.matrix.isequal(whole.matrix, check_dtype=True)
    for options in ({"columns": ["payer", "payee"]}, {"columns": [1, 2, 3], "weights": False}):
        assert str(Graph.read(path, **options).matrix.dtype) == "BOOL"
    for options, said in (
        ({"columns": ["payer", "to"]}, "column 'to': expected one of 'payer'"),
        ({"columns": [1, 9]}, "columns: expected numbers from 0 to 3, got 9"), ({"columns": ["payer"]}, "two or three"),
        ({"columns": [1, 2], "source": "id"}, "columns: expected none together with source, target or weight"),
    ):  # fmt: skip
        with pytest.raises(InvalidValue, match=said):
            Graph.read(path, **options)


def test_columns_of_unequal_length():
    rows = "columns 'source' and 'target': expected as many rows in both, got"
    for table, said in (
        ({"source": [0, 1], "target": [1]}, f"{rows} 2 and 1"),
        ({"source": ["a"], "target": ["b", "c"]}, f"{rows} 1 and 2"),
        ({"source": [0, 1], "target": [1, 2], "w": [1]}, "column 'w': expected 2 rows, as in .* of vertices, got 1"),
        ({"source": [0, 1], "target": [1, 2], "w": [1, 1, 1]}, "column 'w': expected 2 rows, .* of vertices, got 3"),
        ({"source": None, "target": [1]}, "column 'source': expected a list or an array, got None"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_table(table, weight="w" if "w" in table else None)
    with pytest.raises(InvalidValue, match="column 'km': expected 1 rows, as in the columns of vertices, got 2"):
        Graph.from_table({"source": [0], "target": [1], "km": [1, 2]}, attributes=["km"])


# ---- weights --------------------------------------------------------------------------------------------------------


def test_text_in_the_column_of_weights():
    """Which word; what leaves it out. A decimal comma is something else."""
    for text in ("a,b,EUR\nb,c,EUR\n", "0,1,EUR\n1,2,USD\n", "from,to,currency\na,b,EUR\n"):
        with pytest.raises(InvalidValue) as caught:
            read(text)
        for said in ("expected a number as weight", "the third column holds text, 'EUR'", "weights=False ignores it"):
            assert said in str(caught.value)
        assert "decimal" not in str(caught.value)
        assert read(text, weights=False).matrix.nvals == text.count("EUR") + text.count("USD")
    table = {"source": ["a", "b"], "target": ["b", "c"], "weight": ["EUR", "EUR"]}
    for make in (
        lambda: Graph.from_table(table, weight="weight"),
        lambda: Graph.from_table(table, weight="weight", decimal="."),
        lambda: Graph.from_edges(list(zip(*table.values()))),
    ):
        with pytest.raises(InvalidValue, match=r"'EUR' in row 0. Hint: the column holds text: weight=None") as caught:
            make()
        assert "decimal" not in str(caught.value)
    for words, hint in ((["3.5", "4"], r"decimal='\.'"), (["3,5", "4"], "decimal=','")):
        with pytest.raises(InvalidValue, match=hint):
            Graph.from_table(table | {"weight": words}, weight="weight")


def test_both_directions_with_one_weight_or_two(tmp_path):
    """Undirected, the smaller of two values is kept, as in `to_undirected`, or dup_op combines them, with a warning."""
    (path := tmp_path / "a.edges").write_text("a b 5\nb a 1.5\nb c 4\n")
    both = [("a", "b", 5), ("b", "a", 1.5), ("b", "c", 4)]
    for make in (
        lambda: Graph.from_edges(both, directed=False),
        *(lambda x=x: Graph.read(path, directed=False, chunked=x) for x in (False, True)),
    ):
        with pytest.warns(UserWarning, match="with different values; the smaller is kept. Hint: dup_op"):
            found = edges(make())
        assert found == edges(Graph.from_edges(both).to_undirected()) and found["a", "b"] == found["b", "a"] == 1.5
    assert edges(Graph.from_edges(both, directed=False, dup_op="plus"))["a", "b"] == 6.5
    equal = [("a", "b", 5), ("b", "a", 5)]
    assert edges(Graph.from_edges(equal, directed=False)) == {("a", "b"): 5, ("b", "a"): 5}
    with pytest.warns(UserWarning, match="in both directions with the same weight, and dup_op combines the two"):
        assert edges(Graph.from_edges(equal, directed=False, dup_op="plus"))["a", "b"] == 10
    assert edges(Graph.from_edges(equal, directed=False, dup_op="max"))["a", "b"] == 5


def test_sums_of_narrow_integers_have_room():
    table = {"source": [0, 0], "target": [1, 1], "minutes": np.array([100, 100], np.int8)}
    assert Graph.from_table(table, weight="minutes", dup_op="plus").matrix.to_dicts() == {0: {1: 200}}


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


# ---- lines that are wrong, or may be meant otherwise ----------------------------------------------------------------


def test_lines_that_are_wrong_are_listed_together(tmp_path, tune):
    """The first ones, and how many there are, whatever the blocks."""
    lines = [f"a{k},b{k},{'n/a' if k % 4 == 3 else k}" for k in range(20)]
    path = tmp_path / "sums.csv"
    path.write_text("\n".join([*lines, "a,b", "x,,4\n"]))
    said = r"sums\.csv, line 4: .* a number as weight, got 'a3,b3,n/a'; line 8: .*; line 12: .*; 7 malformed lines"
    for size in (30, 1 << 20):
        tune({"file.block": size})
        for chunked in (False, True):
            with pytest.raises(InvalidValue, match=said):
                read_edgelist(path, chunked=chunked)


THIRD = r"2 malformed lines in total. Hint: the third column holds text, .*columns=\[0, 2\]"
REFUSED = {  # text, options, the message
    "two lines": ("0 1 x\n-1 2 3\n", {"weights": True, "header": False},
                  r"line 1: .*got '0 1 x'; line 2: .*vertices from 0.*; 2 malformed lines"),
    "only a line of names": ("a;b;c;d\n", {"delimiter": ";"}, r"line 1: .*got 4 columns. Hint: columns=\["),
    "a word as weight": ("customer,article,count\n7001,root,2\n7002,8001,3\n", {"labels": True},
                         "line 1: expected a number as weight"),
    "beyond INT8": ("a b 300\nb c 3\n", {"dtype": "INT8"}, "dtype INT8: expected weights that fit, got 300"),
    "negative": ("a b -3\nb c 3\n", {"dtype": "UINT8"}, "dtype UINT8: expected weights that fit, got -3"),
    "fraction": ("a b 2.7\nb c 3\n", {"dtype": "INT64"}, "dtype INT64: expected weights that fit, got 2.7"),
    "field of two lines": ('a,b,note\nx,y,"one\ntwo,three,four"\n', {"columns": ["a", "b"]},
                           r"line 2: expected fields separated by .*Hint: if a quoted field"),
    "adjacency lists": ("app: libc zlib ssl\n", {}, r"4 columns. Hint: for adjacency lists, convert .*awk"),
    "relations": ("a pp b\nb pp c\n", {}, THIRD),
    "arrows": ("a -> b\nb -> c\n", {}, THIRD),
}  # fmt: skip


@pytest.mark.parametrize("text, options, said", REFUSED.values(), ids=REFUSED)
def test_lines_that_are_refused(text, options, said):
    with pytest.raises(InvalidValue, match=said):
        read(text, **options)
    if said == THIRD:
        assert edges(read(text, columns=[0, 2])) == {("a", "b"): 1, ("b", "c"): 1}


WARNED = {  # text, options, labels, the message
    "zeros in a vertex": ("0 2\n2 007\n", {}, None, "vertex numbers have leading zeros: pass labels=True"),
    "another mark": ("IST;LHR;19,1\nLHR;IST;3,5\n", {"delimiter": ","}, ("IST;LHR;19", "1", "LHR;IST;3", "5"),
                     "every line has ';' in its first column: pass delimiter=';'"),
    "a comment": ("# a,b,c\na,b#1,5\n#c,b,3\n# words\n", {"delimiter": ","}, ("a", "b#1"),
                  "lines such as '#c,b,3' are skipped because # and % start comments"),
    "a colon": ("app: libc\nweb: app\n", {}, ("app:", "libc", "web:", "app"), "every line's first word ends in ':'"),
}  # fmt: skip


@pytest.mark.parametrize("text, options, labels, said", WARNED.values(), ids=WARNED)
def test_lines_that_may_be_meant_otherwise(text, options, labels, said):
    with pytest.warns(UserWarning, match=said):
        assert read(text, **options).labels == labels


def test_lines_that_are_read_as_meant():
    assert read("001 002\n002 7\n").labels == ("001", "002", "7")
    assert read("0 2 007\n2 3 08\n").labels is None  # weights
    assert str(read("a b 2.7\n", dtype="FP32").matrix.dtype) == "FP32"
    named = "#id\tA\tB\n1\tx\ty\n2\ty\tz\n"
    assert edges(read(named, delimiter="\t", columns=["A", "B"])) == {("x", "y"): 1, ("y", "z"): 1}


def test_warnings_of_files(tmp_path):
    with pytest.raises(InvalidValue, match=r"expected UTF-8, got .*Hint: .*encoding='cp1252'"):
        read_edgelist(io.BytesIO("Zürich Köln\n".encode("cp1252")))
    with pytest.warns(UserWarning, match=r"ids\.csv: 3 different vertex numbers, but 7000004 vertices"):
        (tmp_path / "ids.csv").write_text("7000001,7000002\n7000002,7000003\n")
        read_edgelist(tmp_path / "ids.csv", chunked=True)
    with (
        pytest.warns(UserWarning, match="every line has tabs, and some fields contain blanks"),
        pytest.raises(InvalidValue),
    ):
        read("heat shock\tp53\np53\tMDM2\n")


def test_files_keep_the_direction_and_report_what_they_lose(tmp_path):
    """A list with each edge in both directions is read with directed=False; names and attributes that a file cannot
    store are reported."""
    pairs = [("Ulm", "Bern", 7.0), ("Bern", "Rom", 2.5), ("Ulm", "Rom", 11.0), ("Kiel", "Jena", 3.0)]
    roads = Graph.from_edges(pairs, directed=False)
    for name in ("roads.csv", "roads.tsv"):
        roads.write(tmp_path / name)
        with pytest.warns(UserWarning, match="every edge is present in both directions: pass directed=False"):
            assert Graph.read(tmp_path / name).directed
        again = Graph.read(tmp_path / name, directed=False)
        assert not again.directed and edges(again) == edges(roads) and "undirected, 5 vertices, 4 edges" in repr(again)
        assert Graph.read(tmp_path / name, directed=True).number_of_edges() == 8
    with pytest.warns(UserWarning, match="format mtx cannot store the names of the vertices: they are left out"):
        roads.write(tmp_path / "roads.mtx")
    with pytest.warns(UserWarning, match=r"names that look like numbers.*labels=True"):
        Graph.from_edges([("7", "0")]).write(tmp_path / "ids.csv")
    assert Graph.read(tmp_path / "ids.csv", labels=True).labels == ("7", "0")
    Graph.from_edges([("from", "to"), ("to", "x")]).write(tmp_path / "words.csv")
    assert Graph.read(tmp_path / "words.csv").labels == ("from", "to", "x")


# ---- arguments ------------------------------------------------------------------------------------------------------

PAIRS, ENDS = [("a", "b")], {"source": [0], "target": [1]}
CALLS = {  # a call, and the message of its TypeError
    **{f"edges {wrong}": (lambda wrong=wrong: Graph.from_edges(wrong),
                          f"edges: expected a list of pairs, or of triples with a weight, got {wrong}")
       for wrong in (None, 5, 2.5, True)},
    "dictionaries": (lambda: Graph.from_edges([{"source": "a", "target": "b"}]),
                     r"got dictionaries. Hint: Graph.from_table"),
    "weight of triples": (lambda: Graph.from_edges([("a", "b", 3)], weight="km"),
                          r"from_edges: .* among .* got 'weight'. Hint: pass the weight as the third value"),
    "direct": (lambda: Graph.from_table(ENDS, direct=False),
               r"from_table: expected options among .* got 'direct'. Hint: did you mean 'directed'"),
    "directed": (lambda: Graph.from_table(ENDS, directed="no"), "directed: expected True, False or None, got 'no'"),
    "labels": (lambda: Graph.from_edges(PAIRS, labels=["a", "b", "z"]), "labels: expected True, False or None"),
    "delimeter": (lambda: Graph.read("a.csv", delimeter=";"), r"got 'delimeter'. Hint: did you mean 'delimiter'"),
    "sep of arrays": (lambda: Graph.read("a.npz", sep=";"), r"got 'sep'$"),
    "sep to read": (lambda: Graph.read("a.csv", sep=";"), "no option 'sep'; use delimiter="),
    "sep to write": (lambda: Graph.from_edges(PAIRS).write("a.csv", sep=";"),
                     "write_edgelist: no option 'sep'; use delimiter=';'"),
    "two files": (lambda: Graph.read(["a.csv", "b.csv"]), r"got 2 of them. Hint: .*pandas.concat"),
    "a list of jumps": (lambda: Graph.from_edges(PAIRS).pagerank(personalization=["a"]),
                        r"personalization: expected numbers by the names of vertices, \{'a': 1.0\}"),
}  # fmt: skip


@pytest.mark.parametrize("call, said", CALLS.values(), ids=CALLS)
def test_arguments_that_are_refused(tmp_path, monkeypatch, call, said):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "a.npz"):
        gb.io.write(tmp_path / name, gb.Matrix(bool, 2, 2))
    with pytest.raises(TypeError, match=said):
        call()


def test_options_of_other_kinds_of_files(tmp_path):
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 6], nrows=3, ncols=3)
    for name, option in (("a.npz", "columns"), ("a.mtx", "labels"), ("a.bitblas", "header"), ("a.csv", "relations")):
        gb.io.write(tmp_path / name, A)
        said = f"read of a file of format {name[2:]}: expected options among .*directed.*, got '{option}'"
        with pytest.raises(TypeError, match=said):
            Graph.read(tmp_path / name, **{option: True})
    with pytest.raises(InvalidValue, match=r"the format of the file: file_format='edges', 'csv'"):
        Graph.read("access.log")
    with pytest.raises(InvalidValue, match="expected two vertices in every row, got None in row 1"):
        Graph.from_edges([((0, 1), (0, 2)), (None, (0, 1))])
