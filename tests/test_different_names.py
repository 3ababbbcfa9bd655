"""Vertex names are distinct and none is missing, in every reader; the error has the positions."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pytest

import bitblas as gb
from bitblas import Graph
from bitblas.exceptions import InvalidValue

pytestmark = pytest.mark.usefixtures("on_the_cpu")

NAN = float("nan")
WRONG = {  # names of three vertices, and the error
    "twice": (["x", "y", "x"], "expected different names, got 'x' at positions 0 and 2"),
    "an integer and a float": ([1, 2, 1.0], r"got 1 at position 0 and 1\.0 at position 2, which are equal"),
    "True and 1": ([True, 2, 1], "got True at position 0 and 1 at position 2, which are equal"),
    "integers of NumPy": (np.array([7, 8, 7]), r"expected different names, got .*7.* at positions 0 and 2"),
    "tuples": ([(0, 1), (1, 1), (0, 1.0)], r"got \(0, 1\) at position 0 and \(0, 1\.0\) at position 2"),
    "two NaN": (["x", NAN, float("nan")], "expected a name for every vertex, got nan at position 1"),
    "NaN": ([1.5, 2.5, NAN], "expected a name for every vertex, got nan at position 2"),
    "NaN in a tuple": ([(0, 1), (NAN, 0), (1, 1)], r"expected a name for every vertex, got \(nan, 0\) at position 1"),
    "None": (["x", "y", None], "expected a name for every vertex, got None at position 2"),
    "NaT": ([np.datetime64("NaT", "D"), "y", "z"], "expected a name for every vertex, got .*NaT.* at position 0"),
    "lists": ([[1], [2], [3]], r"expected hashable names, got \[1\] at position 0. Hint: convert lists by tuple\(\)"),
}
KEPT = [["x", "y", "z"], [1, "1", 2.5], [(0, None), (0, 1), 0], [datetime.date(2024, 1, 1), 5, b"x"]]


def path_of_three():
    return gb.Matrix.from_coo([0, 1], [1, 2], [1, 2], nrows=3, ncols=3)


@pytest.mark.parametrize("case", WRONG)
def test_names_that_are_refused(case, tmp_path):
    """By Graph, with_vertices, every writer and every table; nothing is written."""
    names, text = WRONG[case]
    A = path_of_three()
    write = lambda names, suffix: gb.io.write(tmp_path / f"a.{suffix}", A, labels=names)
    for argument, call in (
        ("labels", lambda: Graph(A, names)), ("names", lambda: Graph(A).with_vertices(names)),
        *(("labels", lambda suffix=suffix: write(names, suffix)) for suffix in ("csv", "tsv", "bitblas")),
        ("labels", lambda: gb.io.tables.table_of(A, names)),
    ):  # fmt: skip
        with pytest.raises(InvalidValue, match=f"{argument}: .*{text}"):
            call()
    assert not list(tmp_path.iterdir())


def test_missing_names_of_networkx_and_pandas():
    networkx, pandas = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    with pytest.raises(InvalidValue, match="expected a name for every vertex, got nan at position 0"):
        Graph.from_networkx(networkx.Graph([(NAN, "a")]))
    for missing in (pandas.NA, pandas.NaT):
        with pytest.raises(InvalidValue, match=r"expected a name for every vertex, got (<NA>|NaT) at position 1"):
            Graph(path_of_three(), ["x", missing, "z"])
    with pytest.raises(InvalidValue, match=r"got 'x' at positions 0 and 1"):
        Graph(path_of_three(), pandas.Series(["x", "x", "y"]))


@pytest.mark.parametrize("names", KEPT)
def test_names_that_are_different_stay(names):
    G = Graph(path_of_three(), names)
    assert G.labels == tuple(names) and list(G.degree()) == names
    assert Graph(path_of_three()).with_vertices([2, 0, 1]).labels == (2, 0, 1)


def test_names_of_files(tmp_path):
    """Names that differ may be equal as text; a damaged file has equal ones."""
    match = "labels: expected different names, got '1' at positions 0 and 2"
    with pytest.warns(UserWarning, match="read as numbers"), pytest.raises(InvalidValue, match=match):
        Graph(path_of_three(), [1, 2, "1"]).write(tmp_path / "a.csv")
    Graph(path_of_three(), ["ab", "cd", "ef"]).write(tmp_path / "a.bitblas")
    A = path_of_three()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitblas.graph.validation.different_names", lambda argument, names: tuple(names))
        gb.io.write(tmp_path / "b.bitblas", A, labels=["ab", "cd", "ab"])
    assert gb.io.read(tmp_path / "a.bitblas").labels == ("ab", "cd", "ef")
    with pytest.raises(InvalidValue, match=r"b\.bitblas: .*'ab' at positions 0 and 2"):
        gb.io.read(tmp_path / "b.bitblas")


def test_names_of_igraph():
    igraph = pytest.importorskip("igraph")
    G = igraph.Graph([(0, 1), (1, 2)])
    for names, text in (
        (["a", "b", "a"], "vertex attribute 'name': expected different names, got 'a' at positions 0 and 2"),
        (["a", None, None], "vertex attribute 'name': expected a name for every vertex, got None at position 1"),
        ([1, "b", "1"], "vertex attribute 'name', as strings: expected different names, got '1' at positions 0 and 2"),
    ):
        G.vs["name"] = names
        with pytest.raises(InvalidValue, match=text):
            Graph.from_igraph(G)
    G.vs["name"] = ["a", "b", "c"]
    assert Graph.from_igraph(G).labels == ("a", "b", "c")


@pytest.mark.parametrize("end", [None, NAN, np.datetime64("NaT", "D"), (NAN, 1.0)])
def test_edges_of_missing_vertices(end):
    day = np.datetime64("2024-02-29")
    for edges in ([(end, end)], [(end, "a")], [("a", "b"), ("a", end)], [(day, day), (day, end)]):
        with pytest.raises(InvalidValue, match=rf"\brow {len(edges) - 1}\b"):
            Graph.from_edges(edges)


def test_dates_of_numpy_are_names():
    first, second = np.datetime64("2024-02-29"), np.datetime64("2024-03-01")
    G = Graph.from_edges([(first, second)])
    assert G.labels == (first, second) and dict(G.bfs(first)) == {first: 0, second: 1}


def test_names_from_a_text_are_different():
    assert gb.io.read(io.BytesIO(b"a b\nb a\n"), "edges", directed=False).labels == ("a", "b")
