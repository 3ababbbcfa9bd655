"""Weights with a decimal comma: in texts, in columns of tables, written; and numbers in quotes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from test_edgelist import entries, read

import bitblas as gb
from bitblas.exceptions import InvalidValue
from bitblas.io import from_table, read_edgelist, write_edgelist

pytestmark = pytest.mark.usefixtures("on_the_cpu")

I, F = "INT64", "FP64"
GOOD = {
    "decimal commas": ("0;1;3,5\n1;2;-2,5e1\n2;0;4\n", {"delimiter": ";", "decimal": ","}, F, 3,
                       {(0, 1): 3.5, (1, 2): -25.0, (2, 0): 4.0}, None),
    "decimal commas, blanks": ("a b ,5\nb a 1,\n", {"decimal": ","}, F, 2, {(0, 1): 0.5, (1, 0): 1.0}, ("a", "b")),
    "decimal commas below a header": ("von;nach;km\nx;y;3,14\n", {"delimiter": ";", "decimal": ","}, F, 2,
                                      {(0, 1): 3.14}, ("x", "y")),
    "decimal commas in quotes": ('0,1,"3,5"\n1,0,2\n', {"delimiter": ",", "decimal": ","}, F, 2,
                                 {(0, 1): 3.5, (1, 0): 2.0}, None),
    "integers of a decimal comma": ("0;1;3\n", {"delimiter": ";", "decimal": ","}, I, 2, {(0, 1): 3}, None),
    "quoted numbers": ('"0","1",3\n1,"0","4"\n', {"delimiter": ","}, I, 2, {(0, 1): 3, (1, 0): 4}, None),
}  # fmt: skip
BAD = {
    "decimal comma": ("a;b;2\nb;c;1,5\n", {"delimiter": ";"}, ["line 2", "'b;c;1,5'", "pass decimal=',' if"]),
    "comma of thousands": ("a b 1,500\n", {}, ["line 1", "remove thousands separators"]),
    "both": ("a;b;1.500,5\n", {"delimiter": ";", "decimal": ","}, ["line 1", "thousands='.'"]),
    "decimal point": ("0 1 2\n1 2 1.5\n", {"decimal": ","}, ["line 2", "a point is not part"]),
    "decimal point of names": ("a b 2\nb c 1.5\n", {"decimal": ","}, ["line 2", "a point is not part"]),
    "commas in a vertex": ("0 1 2,5\n1,0 2 1\n", {"decimal": ","}, ["line 2", "vertices from 0"]),
    "decimal": ("0 1\n", {"decimal": ";"}, ["decimal"]),
}  # fmt: skip


@pytest.mark.parametrize("text, options, dtype, n, expected, labels", GOOD.values(), ids=GOOD)
def test_reads(tmp_path, tune, text, options, dtype, n, expected, labels):
    graph = read(text, **options)
    assert (str(graph.matrix.dtype), graph.matrix.shape) == (dtype, (n, n))
    assert (entries(graph.matrix), graph.labels) == (expected, labels)
    (tmp_path / "a.edges").write_text(text)
    tune({"file.block": 16})  # a line or two at a time
    for chunked in (False, True):
        again = read_edgelist(tmp_path / "a.edges", chunked=chunked, **options)
        assert again.matrix.isequal(graph.matrix, check_dtype=True) and again.labels == labels


@pytest.mark.parametrize("text, options, words", BAD.values(), ids=BAD)
def test_names_the_fault(text, options, words):
    with pytest.raises(InvalidValue) as caught:
        read(text, **options)
    assert all(word in str(caught.value) for word in words)


def test_write_decimal_commas():
    """As a table of Excel's in Europe, which reads back the same; in quotes where the comma divides columns."""
    A = read("0 1 5.25\n1 0 1e-30\n").matrix
    for mark, first in ((";", b"0;1;5,25\n"), (",", b'0,1,"5,25"\n')):
        write_edgelist(out := io.BytesIO(), A, delimiter=mark, decimal=",")
        assert out.getvalue().startswith(first)
        assert read(out.getvalue().decode(), delimiter=mark, decimal=",").matrix.isequal(A, check_dtype=True)
    write_edgelist(out := io.BytesIO(), read("0 1 5\n").matrix, decimal=",")
    assert out.getvalue() == b"0 1 5\n"


def test_texts_as_weights():
    """Numbers with a decimal comma, or a point, by an option: in attributes too, and in triples."""
    table = {"source": ["a", "b"], "target": ["b", "c"], "km": ["3,5", " 2"], "h": np.array(["1,25", "4"], object)}
    g = gb.Graph.from_table(table, weight="km", attributes=["h"], decimal=",")
    assert g.matrix.to_coo()[2].tolist() == [3.5, 2.0] and g.by("h").matrix.to_coo()[2].tolist() == [1.25, 4.0]
    assert gb.Graph.from_edges([("a", "b", "3.5")], decimal=".").matrix.to_coo()[2].tolist() == [3.5]
    for decimal, km, said in (
        (None, table["km"], r"got text, '3,5' in row 0. Hint: .*decimal=','"),
        (".", table["km"], r"'3,5' in row 0. Hint: .*decimal=','"), (";", table["km"], "decimal: expected"),
        (",", ["1", "2.5"], r"got '2.5' in row 1. Hint: .* a point is not part"),
    ):  # fmt: skip
        with pytest.raises(InvalidValue, match=said):
            from_table(table | {"km": km}, weight="km", decimal=decimal)
