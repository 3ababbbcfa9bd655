"""Tables of pandas, polars and Arrow, and igraph's graphs: columns are read exactly, or rejected with their
name, the row and a hint."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import DimensionMismatch, InvalidValue
from bitblas.io import Graph, from_igraph, from_table, to_arrow, to_igraph, to_pandas, to_polars

DAY = datetime.datetime(2024, 2, 29, 12)
BIG, EXACT = 2**64 - 1, 2**53 + 1
ROADS = {"source": ["Ulm", "Bern", "Ulm"], "target": ["Bern", "Rom", "Rom"], "hours": [7.0, 2.5, 11.0]}
NUMBERS = {"from": np.array([0, 1, 0]), "to": np.array([1, 4, 4], np.uint8), "w": np.array([3, -1, 2])}
LIBRARIES = ("dict", "pandas", "polars", "pyarrow")
OUT = {"pandas": to_pandas, "polars": to_polars, "pyarrow": to_arrow}


def columns(table):
    names = getattr(table, "column_names", None) or list(table.columns)
    return {name: table[name].to_numpy().tolist() for name in names}


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def of(library, columns):
    """A table of a library; `columns` holds lists, arrays or columns of it."""
    if library == "dict":
        return columns
    return getattr(pytest.importorskip(library), "table" if library == "pyarrow" else "DataFrame")(columns)


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_in(library):
    G = Graph.from_table(of(library, ROADS | {"lanes": [1, 2, 2]}), weight="hours", attributes=["lanes"])
    assert G.labels == ("Ulm", "Bern", "Rom") and G.matrix.dtype == gb.dtypes.FP64
    assert G.matrix.to_dicts() == {0: {1: 7.0, 2: 11.0}, 1: {2: 2.5}} and G.by("lanes").sssp("Ulm")["Rom"] == 2
    both = Graph.from_table(of(library, ROADS), weight="hours", directed=False)
    assert both.matrix.to_dicts() == {0: {1: 7.0, 2: 11.0}, 1: {0: 7.0, 2: 2.5}, 2: {0: 11.0, 1: 2.5}}
    G = from_table(of(library, NUMBERS), "from", "to", "w")
    assert G.labels is None and G.matrix.shape == (5, 5) and G.matrix.dtype == gb.dtypes.INT64
    assert G.matrix.to_dicts() == {0: {1: 3, 4: 2}, 1: {4: -1}}
    pattern = from_table(of(library, NUMBERS), "from", "to", size=9).matrix
    assert pattern.shape == (9, 9) and pattern.dtype == gb.dtypes.BOOL and pattern.nvals == 3


@pytest.mark.parametrize("kind", OUT)
def test_tables_out_and_back(kind):
    pytest.importorskip(kind)
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
    "names and numbers": ({"source": [0], "target": ["a"]}, {}, r"column 'source': .*strings in both, got 0 .*int64"),
    "halves": ({"source": [0.5], "target": [1]}, {}, r"column 'source': expected .*integers or names, got 0\.5"),
    "ids of which some are missing": ({"source": np.array([1, np.nan]), "target": [1, 2]}, {},
                                      r"column 'source': .*got none in 1 rows, the first is row 1"),
    "beyond": ({"source": [0], "target": [3]}, {"size": 3}, r"column 'target': expected vertices from 0 to 2, got 3"),
    "size of names": ({"source": ["a"], "target": ["b"]}, {"size": 3}, r"size: expected None for vertices that have"),
    "twice": ({"source": [0, 0], "target": [1, 1], "w": [1, 2]}, {"weight": "w"},
              r"0 to 1 twice, in rows 0 and 1. Hint: dup_op.*'plus'"),
    "twice by name": ({"source": ["a", "b", "a"], "target": ["b", "a", "b"], "w": [1, 2, 3]},
                      {"weight": "w", "directed": False}, r"'a' to 'b' twice, in rows 0 and 2"),
    "an operator of another library": (ROADS, {"dup_op": "sum"},
                                       r"dup_op: expected .* operator, got 'sum'. Hint: 'plus'"),
    "NaN": ({"source": [0, 0], "target": [1, 2], "w": [1.0, np.nan]}, {"weight": "w"}, r"column 'w'.*NaN in row 1"),
    "deep": ({"source": np.zeros((2, 2), int), "target": [1, 1]}, {}, r"column 'source': expected one value in a row"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_tables_that_are_refused(name):
    table, options, text = BAD[name]
    with pytest.raises(InvalidValue, match=text):
        from_table(table, **options)


def test_ids_of_two_types_stay_what_they_are():
    big = 2**63
    graph = from_table({"source": np.array([big + 5, big + 6], np.uint64), "target": np.array([1, 2])}, labels=True)
    assert set(graph.labels) == {big + 5, big + 6, 1, 2}


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
    assert Graph.from_igraph(D, "cost").directed and not (again := Graph.from_igraph(G, dup_op="plus")).directed
    assert again.to_igraph().get_edgelist() == [(0, 1), (1, 2), (3, 3)] and again.bfs("a")["c"] == 2
    assert from_igraph(igraph.Graph(3)).matrix.nvals == 0
    for wrong in ([1, 2, "3", 4], [1, 2, None, 4]):
        G.es["weight"] = wrong
        with pytest.raises(InvalidValue, match=f"of every edge, got {wrong[2]!r} on the edge from 1 to 2"):
            from_igraph(G)
    G.es["weight"] = [2**63 + 5, 2, 1, 0]
    assert from_igraph(G, dup_op="max").matrix.to_dicts()[0] == {1: 2**63 + 5}
    with pytest.raises(DimensionMismatch, match="expected a square matrix, got 1 x 2"):
        to_igraph(gb.Matrix(gb.dtypes.BOOL, 1, 2))


def test_ids_are_names_on_request():
    """No warning with explicit sizes, nor if a tenth of the numbers are used."""
    ids = {"a": np.array([7_000_012, 7_300_000], np.int64), "b": np.array([7_300_000, 9], np.uint32)}
    g = Graph.from_table(ids, "a", "b", labels=True)
    assert g.labels == (7_000_012, 7_300_000, 9)
    assert dict(g.bfs(7_000_012)) == {7_000_012: 0, 7_300_000: 1, 9: 2}
    assert len(Graph.from_table(ids, "a", "b", size=8_000_000)) == 8_000_000
    with pytest.raises(InvalidValue, match="labels"):
        Graph.from_edges([("a", "b")], labels=False)
    many = np.arange(3000)
    with pytest.warns(UserWarning, match="3001 different vertex numbers"):
        Graph.from_table({"source": many, "target": many * 0 + 40_000})
    Graph.from_table({"source": many, "target": many * 0 + 20_000})
    assert gb.io.read(io.BytesIO(b"007 7\n"), "edges", labels=True).labels == ("007", "7")


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_labels_in_columns_of_one_type(kind):
    """Integers beyond INT64 stay exact; names of two types, which the libraries would unify, are rejected."""
    pytest.importorskip(kind)
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


# ---- columns of every type ------------------------------------------------------------------------------------------


def edges(table, **options):
    """The weights by the ends of the edges, by their names if they have some."""
    G = Graph.from_table(table, weight="weight", **{"directed": True} | options)
    return {(G.label(i), G.label(j)): x for i, j, x in zip(*(part.tolist() for part in G.matrix.to_coo()))}


def columns_of(library):
    """Makers of columns: of each the name, and a function from the module of the library to a column of two rows, of
    which the second has no value."""
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        made = {
            dtype: pandas.Series([value, pandas.NA], dtype=dtype)
            for dtype, value in (
                ("string", "a"), ("boolean", True), ("object", "a"), ("Int64", 1), ("UInt8", 1), ("Float64", 1.5),
                ("category", "a"), ("category", 1),
            )
        }  # fmt: skip
        made["category of integers"] = pandas.Series([1, None], dtype="category")
        made["None"], made["nan"] = (pandas.Series(["a", value], dtype=object) for value in (None, np.nan))
        made["numbers"] = pandas.Series([1, pandas.NA], dtype=object)
        made["NaT"] = pandas.Series([1, pandas.NaT], dtype=object)
        made["times"] = pandas.Series([DAY, pandas.NaT], dtype=object)
        return made
    if library == "polars":
        polars = pytest.importorskip("polars")
        kinds = (
            (polars.String, "a"), (polars.Categorical, "a"), (polars.Enum(["a", "b"]), "a"), (polars.Int64, 1),
            (polars.UInt8, 1), (polars.Float64, 1.5), (polars.Boolean, True), (polars.Null, None),
            (polars.Datetime, DAY), (polars.Decimal(9, 2), Decimal("1.5")),
        )  # fmt: skip
        return {str(kind): polars.Series([value, None], dtype=kind) for kind, value in kinds}
    if library == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        kinds = (
            (pa.string(), "a"), (pa.large_string(), "a"), (pa.dictionary(pa.int8(), pa.string()), "a"),
            (pa.dictionary(pa.int32(), pa.int64()), 1), (pa.int64(), 1), (pa.uint8(), 1), (pa.float64(), 1.5),
            (pa.bool_(), True), (pa.null(), None), (pa.timestamp("us"), DAY), (pa.decimal128(9, 2), Decimal("1.5")),
        )  # fmt: skip
        made = {str(kind): pa.array([value, None], kind) for kind, value in kinds}
        made["null in a dictionary"] = pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))
        made["chunks"] = pa.chunked_array([["a"], [None]])
        return made
    masked = np.ma.array([1, 2], mask=[False, True])
    made = {"objects": np.array(["a", None], object), "numbers": [1, None], "texts": ["a", None], "masked": masked}
    return made | {"nan": ["a", float("nan")], "Decimal": [Decimal(1), Decimal("NaN")]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values_are_refused_with_column_and_row(library):
    """As vertices of both columns and as weights, for each kind of missing value."""
    for kind, column in columns_of(library).items():
        for name in ("source", "target", "weight"):
            columns = {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]} | {name: column}
            with pytest.raises(InvalidValue, match=rf"column '{name}': .*\brow [01]\b") as caught:
                edges(of(library, columns))
            first = "row 0" if "ull" in kind and "dictionary" not in kind else "row 1"
            assert first in str(caught.value) and "without one" in str(caught.value), (kind, name)


def refused(library):
    """Columns of two rows with a value in each, that are neither vertices nor weights, and words of both hints."""
    amounts, times, spans = [Decimal("1.10"), Decimal(2)], [DAY, DAY], [datetime.timedelta(1), datetime.timedelta(2)]
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        casts = r"\.astype\(float\)", r"\.astype\(str\)"
        whole = r"\.astype\('int64'\)"
        return {
            "Decimal": (pandas.Series(amounts), *casts),
            "datetime64": (pandas.Series(times), whole, casts[1]),
            "zone": (pandas.Series(times).dt.tz_localize("UTC"), whole, casts[1]),
            "timedelta64": (pandas.Series(spans), whole, casts[1]),
            "period": (pandas.Series(pandas.period_range("2024", periods=2)), whole, casts[1]),
            "dates": (pandas.Series([DAY.date(), DAY.date()], dtype=object), r"to_datetime\(column\)", casts[1]),
            "interval": (pandas.Series(pandas.interval_range(0, 2)), *casts),
            "category of times": (pandas.Series(times, dtype="category"), whole, casts[1]),
            "bytes": (pandas.Series([b"a", b"b"]), r"\.str\.decode", r"\.str\.decode"),
            "complex": (pandas.Series([1j, 2j]), r"\.real", casts[1]),
            "lists": (pandas.Series([[1], [2]]), *casts),
        }
    if library == "polars":
        polars = pytest.importorskip("polars")
        real, text = r"\.cast\(polars\.Float64\)", r"\.cast\(polars\.String\)"
        return {
            "Decimal": (polars.Series(amounts), real, text),
            "Datetime": (polars.Series(times), r"\.to_physical\(\)", text),
            "Date": (polars.Series([DAY.date()] * 2), r"\.to_physical\(\)", text),
            "Duration": (polars.Series(spans), r"\.to_physical\(\)", text),
            "Binary": (polars.Series([b"a", b"b"]), real, text),
            "List": (polars.Series([[1], [2]]), real, text),
        }
    if library == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        real, text, whole = r"\.cast\('float64'\)", r"\.cast\('string'\)", r"\.cast\('int64'\)"
        return {
            "decimal128": (pa.array(amounts), real, text),
            "timestamp": (pa.array(times), whole, text),
            "date32": (pa.array([DAY.date()] * 2), whole, text),
            "duration": (pa.array(spans), whole, text),
            "binary": (pa.array([b"a", b"b"]), real, text),
            "list": (pa.array([[1], [2]]), real, text),
            "dictionary": (pa.array(amounts).dictionary_encode(), real, text),
        }
    return {
        "Decimal": (amounts, r"float\(\)", r"str\(\)"),
        "Fraction": (np.array([Fraction(1, 3), Fraction(1)], object), r"float\(\)", r"str\(\)"),
        "times": (times, r"timestamp\(\)", r"str\(\)"),
        "datetime64": (np.array(times, "M8[s]"), r"\.astype\('int64'\)", r"\.astype\(str\)"),
        "timedelta64": (np.array(spans, "m8[s]"), r"\.astype\('int64'\)", r"\.astype\(str\)"),
        "bytes": (np.array([b"a", b"b"]), r"\.astype\(float\)", r"\.astype\(str\)"),
        "complex": ([1j, 2j], r"\.real", r"str\(\)"),
    }


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_other_types_are_refused_with_what_to_do(library):
    for kind, (column, as_weights, as_vertices) in refused(library).items():
        for name, hint in (("weight", as_weights), ("target", as_vertices), ("source", as_vertices)):
            columns = {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]} | {name: column}
            with pytest.raises(InvalidValue, match=rf"column '{name}': expected .*, got .*Hint: .*{hint}"):
                edges(of(library, columns))
                pytest.fail(f"{kind} as {name}")


def exact(library):
    """Columns of numbers of two rows, and the values that are read."""
    made = {
        "integers": ([2**62 + 1, -5], [2**62 + 1, -5]),
        "booleans": ([True, False], [True, False]),
        "floats": ([0.1, -2.5], [0.1, -2.5]),
        "integers as objects": (np.array([EXACT, 3], object), [EXACT, 3]),
        "beyond int64": ([BIG, 1], [BIG, 1]),
        "beyond int64 as objects": (np.array([2**63 + 5, 0], object), [2**63 + 5, 0]),
        "integers and floats": (np.array([2**53, 0.5], object), [2.0**53, 0.5]),
        "float16": (np.array([0.5, 2.25], np.float16), [0.5, 2.25]),
        "the other order of bytes": (np.array([EXACT, 3], ">i8"), [EXACT, 3]),
        "uint64": (np.array([BIG, EXACT], np.uint64), [BIG, EXACT]),
    }
    if library == "dict":
        return made | {"scalars": ([np.uint64(BIG), np.uint64(1)], [BIG, 1]), "mixed": ([True, 2], [1, 2])}
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        made |= {dtype: (pandas.Series([EXACT, 3], dtype=dtype), [EXACT, 3]) for dtype in ("Int64", "UInt64")}
        made["boolean"] = pandas.Series([True, False], dtype="boolean"), [True, False]
        made["UInt64 beyond int64"] = pandas.Series([BIG, 1], dtype="UInt64"), [BIG, 1]
        made["category"] = pandas.Series([EXACT, 3], dtype="category"), [EXACT, 3]
        made["sparse"] = pandas.Series([EXACT, 0], dtype=pandas.SparseDtype("int64", 0)), [EXACT, 0]
        return made
    del made["integers as objects"], made["beyond int64 as objects"], made["integers and floats"]
    if library == "polars":
        polars = pytest.importorskip("polars")
        del made["the other order of bytes"], made["beyond int64"]
        made["Int128"] = polars.Series([BIG, 1], dtype=polars.Int128), [BIG, 1]
        made["objects"] = polars.Series([2**63 + 5, 0], dtype=polars.Object), [2**63 + 5, 0]
        return made
    pa = pytest.importorskip("pyarrow")
    del made["the other order of bytes"], made["beyond int64"]
    made["chunks"] = pa.chunked_array([[EXACT], [], [3]]), [EXACT, 3]
    made["dictionary"] = pa.array([BIG, BIG], pa.uint64()).dictionary_encode(), [BIG, BIG]
    made["runs"] = pa.RunEndEncodedArray.from_arrays([1, 2], pa.array([EXACT, 3])), [EXACT, 3]
    return made


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_are_read_exactly(library):
    for kind, (column, expected) in exact(library).items():
        table = of(library, {"source": ["a", "b"], "target": ["b", "c"], "weight": column})
        found = list(edges(table).values())
        assert found == expected and [type(x) for x in found] == [type(x) for x in expected], kind


@pytest.mark.parametrize("library", LIBRARIES)
def test_vertices_that_are_integers_of_any_kind(library):
    for kind, (column, expected) in exact(library).items():
        table = of(library, {"source": column, "target": column, "weight": [1.0, 2.0]})
        if isinstance(expected[0], bool) or isinstance(expected[1], float):
            with pytest.raises(InvalidValue, match=r"column 'source': .*row [01]"):
                edges(table, labels=True)
        elif kind != "mixed":
            assert list(edges(table, labels=True, dup_op="first")) == [(x, x) for x in dict.fromkeys(expected)], kind


@pytest.mark.parametrize("values, text", [
    ([2**64, 1], r"column 'weight': expected integers that fit INT64 or UINT64, got 18446744073709551616 in row 0\."),
    ([1, -(2**63) - 1], r"got -9223372036854775809 in row 1\. Hint"),
    ([2**63, -1], r"got -1 in row 1 and 9223372036854775808 in row 0\. Hint"),
    ([0.5, EXACT], r"column 'weight': expected integers that are exact in FP64.*got 9007199254740993 in row 1"),
    ([np.longdouble(1), np.longdouble(2)], r"column 'weight': expected numbers, got .*row 0.*float\(\)"),
])  # fmt: skip
def test_integers_that_no_type_holds(values, text):
    for column in (values, np.array(values, object)):
        with pytest.raises(InvalidValue, match=text):
            edges({"source": [0, 1], "target": [1, 2], "weight": column})
    with pytest.raises(InvalidValue, match=text):
        Graph.from_edges([(0, 1, values[0]), (1, 2, values[1])])


def test_edges_of_python_integers_are_exact():
    G = Graph.from_edges([("a", "b", 2**63 + 5), ("b", "c", 1)])
    assert G.matrix.dtype == gb.dtypes.UINT64 and G.matrix.to_dicts() == {0: {1: 2**63 + 5}, 1: {2: 1}}
    with pytest.raises(InvalidValue, match=r"column 'source': expected vertices .*got True in row 1"):
        Graph.from_edges([(0, 1), (True, 2)])
    with pytest.raises(InvalidValue, match=r"column 'target': expected vertices .*got 2\.0 in row 1"):
        Graph.from_edges([(0, 1), (1, 2.0)])


def test_a_lazy_frame_is_collected():
    """The columns that are named alone; an absent one is refused before anything runs."""
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1, 2], "km": [3, 4]})
    seen = []
    lazy = frame.with_columns(
        polars.col("km").map_batches(lambda x: seen.append(len(x)) or x, return_dtype=polars.Int64)
    )
    assert edges(lazy) == {("a", "b"): 1, ("b", "c"): 2} and not seen
    G = Graph.from_table(lazy, weight="weight", attributes=["km"])
    assert G.by("km").matrix.to_dicts() == {0: {1: 3}, 1: {2: 4}} and seen == [2]
    with pytest.raises(InvalidValue, match="column 'miles': expected one of 'source', 'target', 'weight', 'km'"):
        Graph.from_table(lazy, weight="miles")


def coded(library):
    """Pairs of columns of categories: with unused and equal ones, alike in both columns or not, next to strings."""
    rows, cols = ["b", "a", "c", "b"], ["c", "b", "b", "zoë"]
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        kind = pandas.CategoricalDtype(["zoë", "unused", "c", "b", "a"])
        for dtypes in (
            (kind, kind),
            ("category", "category"),
            (kind, "string"),
            ("object", kind),
            ("string", "object"),
        ):
            yield [pandas.Series(column, dtype=dtype) for column, dtype in zip((rows, cols), dtypes)]
    elif library == "polars":
        polars = pytest.importorskip("polars")
        kind = polars.Enum(["zoë", "unused", "c", "b", "a"])
        names, text = polars.Categorical, polars.String
        for dtypes in ((kind, kind), (names, names), (kind, names), (text, kind), (text, text)):
            yield [polars.Series(column, dtype=dtype) for column, dtype in zip((rows, cols), dtypes)]
    else:
        pa = pytest.importorskip("pyarrow")
        whole = [pa.chunked_array([column[:2], [], column[2:]], pa.string()) for column in (rows, cols)]
        parts = [
            pa.chunked_array([pa.array(part).dictionary_encode() for part in (column[:1], column[1:])])
            for column in (rows, cols)
        ]
        unused = pa.DictionaryArray.from_arrays([2, 3, 1, 2], pa.array(["x", "c", "b", "a", "b"]))
        yield whole
        yield parts
        yield [parts[0].unify_dictionaries(), whole[1].cast(pa.large_string())]
        yield [unused, parts[1]]
        yield [whole[0].cast(pa.large_string()), whole[1]]
        yield [whole[0].combine_chunks().slice(1, 2), parts[1].combine_chunks().slice(1, 2)]


@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_names_are_numbered_by_rows_whatever_holds_them(library):
    """Strings, categories and dictionaries give the labels that lists give, in the order of rows."""
    for source, target in coded(library):
        lists = [list(getattr(column, "to_pylist", getattr(column, "to_list", None))()) for column in (source, target)]
        wanted = Graph.from_table(dict(zip(("source", "target"), lists)))
        for table in (of(library, {"source": source, "target": target}), {"source": source, "target": target}):
            found = Graph.from_table(table)
            assert found.labels == wanted.labels and found.matrix.isequal(wanted.matrix)
    assert len(wanted.labels) in (3, 4)


@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_tables_without_rows(library):
    table = of(library, {"source": ["a"], "target": ["b"], "weight": [1.5]})
    none = table[:0] if library != "pyarrow" else table.slice(0, 0)
    assert Graph.from_table(none, weight="weight").labels == ()


def test_columns_of_pandas_that_arrow_stores():
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    kind = pandas.ArrowDtype
    table = pandas.DataFrame({
        "source": pandas.Series(["a", "b"], dtype=kind(pa.string())),
        "target": pandas.Series(["b", "c"], dtype="string[pyarrow]"),
        "weight": pandas.Series([BIG, 1], dtype=kind(pa.uint64())),
    })  # fmt: skip
    assert edges(table) == {("a", "b"): BIG, ("b", "c"): 1}
    table["target"] = pandas.Series(["b", None], dtype="string[pyarrow]")
    with pytest.raises(InvalidValue, match=r"column 'target': .*first is row 1 .*keep_default_na"):
        edges(table)
    table["target"], table["weight"] = table["source"], pandas.Series([Decimal(1)] * 2, dtype=kind(pa.decimal128(3)))
    with pytest.raises(InvalidValue, match=r"column 'weight': .*decimal128.*\.astype\(float\)"):
        edges(table)


def test_ids_that_are_no_numbers_of_vertices():
    for ids in ([2**60], np.array([2**63 + 5], np.uint64), [-5]):
        text = rf"column 'source': expected vertices .*got {ids[0]}\. Hint: pass labels=True"
        with pytest.raises(InvalidValue, match=text):
            Graph.from_table({"source": ids, "target": [0]})
        assert Graph.from_table({"source": ids, "target": [0]}, labels=True).labels == (ids[0], 0)


def test_names_of_numpy_become_strings():
    names = np.array([["a", "b"], ["b", "c"]])
    for G in (Graph.from_edges(names), Graph.from_table({"source": names[:, 0], "target": list(names[:, 1])})):
        assert G.labels == ("a", "b", "c") and {*map(type, G.labels)} == {str}


def test_columns_of_unlike_lengths_or_of_one_name():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidValue, match="columns 'source' and 'target': expected as many rows in both, got 2 and 3"):
        Graph.from_table({"source": pandas.Series(["a", "b"]), "target": pandas.Series(["a", "b", "c"])})
    table = pandas.DataFrame([["a", "b", 1]], columns=["source", "target", "target"])
    with pytest.raises(InvalidValue, match="column 'target': expected one column of this name, got 2"):
        Graph.from_table(table)


def test_parquet_files_are_read_by_the_same_rules(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    rows = [f"user {k * 37 % 11}" for k in range(40)]
    columns = {"source": rows, "target": rows[::-1], "weight": list(range(2**62, 2**62 + 40))}
    wanted = Graph.from_table(columns, weight="weight", dup_op="max")
    table = pa.table(columns)
    coded = table.set_column(0, "source", table["source"].dictionary_encode())
    for one in (table, coded):
        parquet.write_table(one, path, row_group_size=3)
        found = Graph.read(path, dup_op="max", directed=True)
        assert found.labels == wanted.labels and found.matrix.isequal(wanted.matrix, check_dtype=True)
    for name, column, text in (
        ("source", pa.array([*rows[:7], None, *rows[8:]]), "expected a value in every row.*row 7"),
        ("weight", pa.array([Decimal(k) for k in range(40)]), r"decimal128.*cast\('float64'\)"),
        ("weight", pa.array([DAY] * 40), r"timestamp.*cast\('int64'\)"),
    ):
        parquet.write_table(table.set_column(table.column_names.index(name), name, column), path)
        with pytest.raises(InvalidValue, match=rf"a\.parquet: column '{name}': .*{text}"):
            Graph.read(path)


# ---- tables and results by Arrow's streams (__arrow_c_stream__)


class Stream:
    """A table that offers nothing but a stream of Arrow batches."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def arrow(columns, **options):
    return pytest.importorskip("pyarrow").table(columns, **options)


def test_streams_in():
    pa = pytest.importorskip("pyarrow")
    both = pa.concat_tables([arrow(ROADS), arrow({name: x[:1] for name, x in ROADS.items()} | {"source": ["Rom"]})])
    more = both.append_column("note", pa.array([b"x", None, b"y", b"z"]))  # not read, whatever it holds
    G = Graph.from_table(Stream(more), weight="hours", attributes=["hours"])
    assert G.labels == ("Ulm", "Bern", "Rom")
    assert G.matrix.to_dicts() == {0: {1: 7.0, 2: 11.0}, 1: {2: 2.5}, 2: {1: 7.0}}
    coded = arrow(ROADS).set_column(0, "source", pa.array(ROADS["source"]).dictionary_encode())
    assert Graph.from_table(Stream(coded), weight="hours").matrix.nvals == 3
    assert Graph.from_table(Stream(arrow(ROADS).slice(0, 0)), weight="hours").matrix.shape == (0, 0)


def test_duckdb_in_and_out():
    duckdb, _ = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    with duckdb.connect() as db:
        roads = db.sql("select * from (values ('Ulm','Bern',7.0::double),('Bern','Rom',2.5::double)) t(a, b, hours)")
        G = Graph.from_table(roads, "a", "b", "hours")
        assert G.matrix.to_dicts() == {0: {1: 7.0}, 1: {2: 2.5}}
        levels = G.bfs("Ulm")  # noqa: F841  # DuckDB finds tables by the names of variables
        assert sorted(db.sql("select vertex, value from levels").fetchall()) == [("Bern", 1), ("Rom", 2), ("Ulm", 0)]
        assert db.sql("select sum(weight) from G").fetchall() == [(9.5,)]


@pytest.mark.parametrize(
    ("column", "match"),
    [
        (
            [Decimal("1.5"), Decimal("2.5")],
            r"column 'w': expected numbers, got values of type decimal128\(2, 1\)",
        ),
        ([DAY, DAY], r"column 'w': expected numbers, got values of type timestamp\[us\]. Hint: .cast\('int64'\)"),
        ([1, None], r"column 'w': expected a value in every row, got 1 rows without one, the first is row 1"),
        ([b"x", b"y"], r"column 'w': expected numbers, got values of type binary"),
        ([[1], [2]], r"column 'w': expected numbers, got values of type list"),
    ],
)
def test_columns_of_streams_that_are_refused(column, match):
    table = arrow({"source": [0, 1], "target": [1, 0], "w": column})
    with pytest.raises(InvalidValue, match=match):
        from_table(Stream(table), weight="w")
    with pytest.raises(InvalidValue, match=r"column 'cost': expected one of 'source', 'target', 'w'"):
        from_table(Stream(table), weight="cost")
    twice = table.rename_columns(["source", "target", "target"])
    with pytest.raises(InvalidValue, match=r"column 'target': expected one column of this name, got 2"):
        from_table(Stream(twice))


def test_a_stream_without_pyarrow(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"a table of test_tables.Stream needs pyarrow .*: pip install pyarrow"):
        from_table(Stream(None))
    with pytest.raises(ImportError, match=r"__arrow_c_stream__ needs pyarrow .*: pip install pyarrow"):
        Graph.from_edges([("a", "b")]).__arrow_c_stream__()


def test_streams_out():
    pa = pytest.importorskip("pyarrow")
    G = Graph.from_table(ROADS | {"lanes": [1, 2, 2]}, weight="hours", attributes=["lanes"], directed=False)
    table = pa.RecordBatchReader.from_stream(G).read_all().to_pydict()
    assert table == G.to_dataframe().to_dict("list") and list(table) == ["source", "target", "weight", "lanes"]
    stream = lambda x: pa.RecordBatchReader.from_stream(x).read_all().to_pydict()
    assert stream(G.degree()) == G.degree().to_dataframe().to_dict("list")
    assert stream(G.bfs_parents("Ulm"))["value"] == ["Ulm", "Ulm", "Ulm"]
    v = gb.Vector.from_coo([0, 2], [5, 6], size=3)
    assert stream(v) == {"vertex": [0, 2], "value": [5, 6]}
    assert stream(G.matrix.T)["weight"] == [7.0, 11.0, 7.0, 2.5, 11.0, 2.5]
    with pytest.raises(InvalidValue, match="labels: expected names of one type for a column of Arrow"):
        pa.RecordBatchReader.from_stream(gb.Graph(G.matrix, ["a", 1, 2.5]))
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(G).columns == ["source", "target", "weight", "lanes"]


def test_series():
    pytest.importorskip("pandas")
    levels = Graph.from_table(ROADS).bfs("Ulm")
    series = levels.to_series("steps")
    assert series.name == "steps" and series.index.name == "vertex" and series.to_dict() == dict(levels)
    assert levels.to_series("vertex").to_dict() == dict(levels) and levels.to_series().name == "value"
