"""The first line of an edge list: it names the columns only if its ends cannot be vertices like those below it, or are
words that tables use. No edge is left out silently; and the error for a table of many columns lists its own names."""

import io

import pytest

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import InvalidValue


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def read(text, **options):
    return gb.io.read_edgelist(io.StringIO(text), **({"delimiter": ","} | options))


WORDS = ("unknown", "True", "N.A.", "NaT", "tbd", "n/a", "none", "nan", "weight", "")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("ends", ["0,1", "anna,ben", "007,008"])
def test_a_word_in_the_place_of_a_weight_is_refused_in_the_first_line_too(tmp_path, word, chunked, ends):
    below = {"0,1": "1,2,3\n2,3,4\n", "anna,ben": "ben,carl,3\ncarl,anna,4\n", "007,008": "008,009,3\n009,007,4\n"}[
        ends
    ]
    path = tmp_path / "a.csv"
    path.write_text(f"{ends},{word}\n{below}")
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
    "well-known words above names": ("source,target,weight\na,b,5\nb,c,6\n", True),
    "well-known words that are a name below": ("from,to,hours\nfrom,b,5\nb,c,6\n", True),
    "words of tables above names": ("Follower_ID,followed,since\na,b,5\nb,c,6\n", True),
    "words of tables without weights": ("sender,receiver\na,b\nb,c\n", True),
    "words above numbers with zeros": ("agent,partner,hours\n007,008,5\n008,009,6\n", True),
    "an edge of names": ("a,b,4\nb,c,5\n", False),
    "an edge of numbers": ("0,1,4\n1,2,5\n", False),
}


@pytest.mark.parametrize("text, header", HEADS.values(), ids=HEADS)
def test_what_names_the_columns(text, header):
    found = read(text)
    assert found.matrix.nvals == text.count("\n") - header
    assert found.matrix.isequal(read(text, header=header).matrix, check_dtype=True)


def test_ids_below_words():
    """Numbers that are names are no names like the words above them."""
    assert read("customer,article,count\n7001,8001,2\n7002,8001,3\n", labels=True).matrix.nvals == 2
    with pytest.raises(InvalidValue, match="line 1: expected a number as weight"):
        read("customer,article,count\n7001,root,2\n7002,8001,3\n", labels=True)


def test_what_may_be_either_is_refused():
    """Words that name columns, above names, and a number: an edge of two such vertices, or a year."""
    text = "source,target,2019\na,b,5\n"
    with pytest.raises(InvalidValue, match=r"line 1: expected column names or an edge, got 'source,target,2019'"):
        read(text)
    assert read(text, header=True).labels == ("a", "b")
    assert read(text, header=False).labels == ("source", "target", "a", "b")
    assert read("source,target,2019\n0,1,5\n").matrix.nvals == 1  # they are no numbers


TABLE = "id,payer,payee,sum,date\n1,Anna,Ben,3.5,2020\n2,Ben,Cleo,4,2021\n"
EXAMPLES = {  # the text, the hint, the options that read it
    "well-known words": (
        TABLE, "columns=['payer', 'payee', 'sum'] selects 3 of the columns 'id', 'payer', 'payee', 'sum', 'date'",
    ),
    "their order": ("target,source,kind,km\na,b,x,1\n", "columns=['source', 'target', 'km']"),
    "an index before them": (",city_a,city_b,minutes\n0,x,y,5\n", "columns=['city_a', 'city_b', 'minutes']"),
    "no weight": ("a,b,c,d\nx,y,z,w\n", "columns=['a', 'b'] selects 2 of"),
    "numbers below": ("u,v,w,x\n0,1,5,7\n", "columns=['u', 'v', 'w']"),
    "no names": ("0,1,5,7\n1,2,6,8\n", "columns=[0, 1, 2] selects 3 of the 4 columns, by number from 0"),
    "a name twice": ("a,a,b,c\nx,y,1,2\n", "columns=[0, 1, 2]"),
}  # fmt: skip


@pytest.mark.parametrize("text, hint", EXAMPLES.values(), ids=EXAMPLES)
def test_a_table_of_many_columns_is_told_by_its_own_names(text, hint):
    count = text.partition("\n")[0].count(",") + 1
    for options in ({}, {"header": text[0].isalpha() or None}):
        with pytest.raises(InvalidValue) as caught:
            read(text, **options)
        assert f"expected two vertices and at most one weight, got {count} columns. Hint: {hint}" in str(caught.value)
    columns = eval(str(caught.value).partition("columns=")[2].partition("]")[0] + "]")
    header = None if isinstance(columns[0], str) else text[0].isalpha()
    assert read(text, columns=columns, header=header).matrix.nvals == text.count("\n") - (text[0] != "0")


def test_text_in_the_column_of_weights():
    """Which word; what leaves it out. A decimal comma is something else."""
    for text in ("a,b,EUR\nb,c,EUR\n", "0,1,EUR\n1,2,USD\n", "from,to,currency\na,b,EUR\n"):
        with pytest.raises(InvalidValue) as caught:
            read(text)
        assert "expected a number as weight" in str(caught.value) and "the third column holds text, 'EUR'" in str(
            caught.value
        )
        assert "weights=False ignores it" in str(caught.value) and "decimal" not in str(caught.value)
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


def test_what_is_no_list_of_edges():
    for wrong in (None, 5, 2.5, True):
        with pytest.raises(
            TypeError, match=f"edges: expected a list of pairs, or of triples with a weight, got {wrong}"
        ):
            Graph.from_edges(wrong)
    with pytest.raises(InvalidValue, match="expected two vertices in every row, got None in row 1"):
        Graph.from_edges([((0, 1), (0, 2)), (None, (0, 1))])
    with pytest.raises(
        TypeError, match=r"from_edges: expected options among .* got 'weight'. Hint: pass the weight as the third value"
    ):
        Graph.from_edges([("a", "b", 3)], weight="km")
    with pytest.raises(
        TypeError, match=r"from_table: expected options among .* got 'direct'. Hint: did you mean 'directed'"
    ):
        Graph.from_table({"source": [0], "target": [1]}, direct=False)


def test_columns_of_unequal_length():
    for table, said in (
        (
            {"source": [0, 1], "target": [1]},
            "columns 'source' and 'target': expected as many rows in both, got 2 and 1",
        ),
        (
            {"source": ["a"], "target": ["b", "c"]},
            "columns 'source' and 'target': expected as many rows in both, got 1 and 2",
        ),
        (
            {"source": [0, 1], "target": [1, 2], "w": [1]},
            "column 'w': expected 2 rows, as in the columns of vertices, got 1",
        ),
        ({"source": None, "target": [1]}, "column 'source': expected a list or an array, got None"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_table(table, weight="w" if "w" in table else None)
    with pytest.raises(InvalidValue, match="column 'km': expected 1 rows, as in the columns of vertices, got 2"):
        Graph.from_table({"source": [0], "target": [1], "km": [1, 2]}, attributes=["km"])


def test_options_of_other_kinds_of_files(tmp_path):
    A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 6], nrows=3, ncols=3)
    for name, option in (("a.npz", "columns"), ("a.mtx", "labels"), ("a.bitblas", "header"), ("a.csv", "relations")):
        gb.io.write(tmp_path / name, A)
        said = f"read of a file of format {name[2:]}: expected options among .*directed.*, got '{option}'"
        with pytest.raises(TypeError, match=said):
            Graph.read(tmp_path / name, **{option: True})
    with pytest.raises(TypeError, match=r"got 'delimeter'. Hint: did you mean 'delimiter'"):
        Graph.read(tmp_path / "a.csv", delimeter=";")
    with pytest.raises(TypeError, match=r"got 'sep'$"):
        Graph.read(tmp_path / "a.npz", sep=";")


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
