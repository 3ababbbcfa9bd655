"""Columns of tables (pandas, polars, Arrow, lists) are read exactly, or rejected with name, row and hint."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import InvalidValue

DAY = datetime.datetime(2024, 2, 29, 12)
BIG, EXACT = 2**64 - 1, 2**53 + 1
LIBRARIES = ("dict", "pandas", "polars", "arrow")


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def edges(table, **options):
    """The weights by the ends of the edges, by their names if they have some."""
    G = Graph.from_table(table, weight="weight", **{"directed": True} | options)
    return {(G.label(i), G.label(j)): x for i, j, x in zip(*(part.tolist() for part in G.matrix.to_coo()))}


def of(library, columns):
    """A table of a library; `columns` holds lists, arrays or columns of it."""
    if library == "dict":
        return columns
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    return pytest.importorskip("pyarrow").table(columns)


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
    if library == "arrow":
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
    if library == "arrow":
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
    none = table[:0] if library != "arrow" else table.slice(0, 0)
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


def test_weights_are_as_many_as_edges():
    """One weight is not taken for all edges."""
    for weights in ([1], [1, 1, 1]):
        with pytest.raises(InvalidValue, match=f"column 'weight': expected 2 rows, .*, got {len(weights)}"):
            edges({"source": ["a", "b"], "target": ["b", "c"], "weight": weights})


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
