"""Edge lists: equal to a plain reader's result, and every fault is one exception with file and line."""

import gzip
import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mm_files import as_dict as entries

import bitblas as gb
from bitblas.io import edgelist_parser, read_edgelist, write_edgelist

InvalidValue = gb.exceptions.InvalidValue


def read(text, **options):
    return read_edgelist(io.BytesIO(text.encode()), **options)


B, I, F = "BOOL", "INT64", "FP64"
GOOD = {  # text, options, dtype, vertices, entries, labels
    "blanks": ("0 1\n1\t2\n  2   0  \n", {}, B, 3, {(0, 1): 1, (1, 2): 1, (2, 0): 1}, None),
    "comments": ("# from SNAP\n% or KONECT\n\n0 1\n #\n1 0\n", {"directed": True}, B, 2,
                 {(0, 1): 1, (1, 0): 1}, None),
    "integers": ("0 1 5\n1 2 -7\n", {}, I, 3, {(0, 1): 5, (1, 2): -7}, None),
    "reals": ("0 1 5\n1 2 .5e1\n", {}, F, 3, {(0, 1): 5.0, (1, 2): 5.0}, None),
    "real after integers": ("0 1 5\n1 2 inf\n", {}, F, 3, {(0, 1): 5.0, (1, 2): np.inf}, None),
    "plus": ("+0 1 +5\n", {}, I, 2, {(0, 1): 5}, None),
    "weights left out": ("0 1 5\n1 2 7\n", {"weights": False}, B, 3, {(0, 1): 1, (1, 2): 1}, None),
    "base 1": ("1 2\n2 3\n", {"base": 1}, B, 3, {(0, 1): 1, (1, 2): 1}, None),
    "undirected": ("0 1 5\n1 1 6\n", {"directed": False}, I, 2, {(0, 1): 5, (1, 0): 5, (1, 1): 6}, None),
    "both ways": ("0 1 3\n1 0 3\n1 2 4\n", {"directed": False}, I, 3,
                  {(0, 1): 3, (1, 0): 3, (1, 2): 4, (2, 1): 4}, None),
    "reals after integers, from 1": ("1 2 4\n2 3 2.5\n3 1 7\n", {"base": 1}, F, 3,
                                     {(0, 1): 4, (1, 2): 2.5, (2, 0): 7}, None),
    "size": ("0 1\n", {"size": 4}, B, 4, {(0, 1): 1}, None),
    "nothing": ("# no edge\n", {"size": 4}, B, 4, {}, None),
    "twice": ("0 1\n0 1\n", {}, B, 2, {(0, 1): 1}, None),
    "joined": ("0 1 4\n1 0 5\n0 1 .5\n", {"dup_op": gb.binary.plus}, F, 2, {(0, 1): 4.5, (1, 0): 5}, None),
    "in order": ("0 1 2\n1 0 3\n", {"dup_op": gb.binary.second, "directed": False}, I, 2, {(0, 1): 3, (1, 0): 3}, None),
    "DOS": ("0 1\r\n1 2\r\n", {}, B, 3, {(0, 1): 1, (1, 2): 1}, None),
    "Mac": ("a b\rb c\r", {}, B, 3, {(0, 1): 1, (1, 2): 1}, ("a", "b", "c")),
    "mark of UTF-8": ("\ufeff0 1\n", {}, B, 2, {(0, 1): 1}, None),
    "no last newline": ("0 1\n1 2", {}, B, 3, {(0, 1): 1, (1, 2): 1}, None),
    "comment without an end": ("0 1\n# so", {}, B, 2, {(0, 1): 1}, None),
    "commas": ("0,1\n1, 2\n", {"delimiter": ","}, B, 3, {(0, 1): 1, (1, 2): 1}, None),
    "header seen": ("from,to,w\n0,1,3\n", {"delimiter": ","}, I, 2, {(0, 1): 3}, None),
    "header above names and weights": ("payer,payee,hours\nx,y,1.5\n", {"delimiter": ","}, F, 2,
                                       {(0, 1): 1.5}, ("x", "y")),
    "header of a table of names": ("Source Target\nx y\n", {}, B, 2, {(0, 1): 1}, ("x", "y")),
    "an edge like others": ("a b\nb c\nc d\nd a\nx y\n", {}, B, 6,
                            {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 0): 1, (4, 5): 1}, tuple("abcdxy")),
    "header said": ("a,b\nx,y\n", {"delimiter": ",", "header": True}, B, 2, {(0, 1): 1}, ("x", "y")),
    "header of numbers": ("7 8\n0 1\n", {"header": True}, B, 2, {(0, 1): 1}, None),
    "labels": ("b a\na c\n", {}, B, 3, {(0, 1): 1, (1, 2): 1}, ("b", "a", "c")),
    "labels with weights": ("b a 2\na b 3.5\n", {}, F, 2, {(0, 1): 2, (1, 0): 3.5}, ("b", "a")),
    "labels with blanks": ("New York\tÅbo\t1\n", {"delimiter": "\t"}, I, 2, {(0, 1): 1}, ("New York", "Åbo")),
    "quoted": ('"a, b",c\n', {"delimiter": ","}, B, 2, {(0, 1): 1}, ("a, b", "c")),
    "numbers as labels": ("7 9\n9 8\n", {"labels": True}, B, 3, {(0, 1): 1, (1, 2): 1}, ("7", "9", "8")),
}  # fmt: skip
BAD = {
    "empty": ("", {}, ["expected edges", "size="]),
    "only comments": ("# a\n% b\n\n", {}, ["expected edges"]),
    "only a header": ("a b\n", {"header": True}, ["expected edges"]),
    "one column": ("3\n", {}, ["line 1", "two vertices", "1 column"]),
    "another mark": ("0;1;2\n", {}, ["line 1", "1 column.", "delimiter=';'"]),
    "tabs": ("a\tb c\n", {"delimiter": ","}, ["line 1", r"delimiter='\t'"]),
    "four columns": ("0 1 2 3\n", {}, ["line 1", "at most one weight", "4 columns", "columns="]),
    "no weight": ("0 1\n", {"weights": True}, ["line 1", "two vertices and a weight", "2 columns"]),
    "short line": ("# a\n0 1 2\n1 2\n", {}, ["line 3", "a weight", "'1 2'"]),
    "long line": ("0 1\n\n1 2 3\n", {}, ["line 3", "two vertices", "'1 2 3'"]),
    "word": ("0 1\n1 x\n", {}, ["line 2", "vertices from 0", "'1 x'"]),
    "negative": ("0 1\n-1 2\n", {}, ["line 2", "vertices from 0", "'-1 2'"]),
    "below the base": ("1 2\n0 1\n", {"base": 1}, ["line 2", "vertices from 1"]),
    "beyond the size": ("0 1\n0 4\n", {"size": 4}, ["line 2", "vertices from 0 to 3", "'0 4'"]),
    "fraction": ("0 1 2\n0 1.5 2\n", {}, ["line 2", "vertices from 0"]),
    "NaN": ("0 1 .5\nnan 1 .5\n", {}, ["line 2", "vertices from 0", "nan"]),
    "two numbers in one": ("0 1\n1 2-3\n", {}, ["line 2"]),
    "two points": ("0 1 2.5\n1 2 1.2.3\n", {}, ["line 2", "a number as weight"]),
    "bad weight": ("0 1 2\n1 2 x\n", {}, ["line 2", "a number as weight", "'1 2 x'"]),
    "weight below a header": ("payer payee sum\na b n/a\na c 2\n", {}, ["line 2", "a number as weight", "'a b n/a'"]),
    "NaN as weight": ("0 1 2\n1 2 nan\n", {}, ["line 2", "a number as weight", "'1 2 nan'"]),
    "NaN by name": ("a b 1.5\na c NaN\n", {}, ["line 2", "a number as weight", "'a c NaN'"]),
    "huge weight": ("0 1 99999999999999999999\n", {}, ["line 1", "weight"]),
    "huge number": ("0 99999999999999999999\n", {}, ["line 1", "vertices"]),
    "twice": ("0 1 2\n0 1 3\n", {}, ["line 2", "'0' to '1' twice", "dup_op"]),
    "twice from 1": ("1 2 2\n1 2 3\n", {"base": 1}, ["line 2", "'1' to '2' twice"]),
    "twice by name": ("a b 1\nb a 2\n# again\na b 3\n", {}, ["line 4", "'a' to 'b' twice"]),
    "two ways": ("0,1,1\n1,0,2\n0,1,3\n", {"directed": False, "delimiter": ","}, ["line 3", "'0' to '1' twice"]),
    "empty field": ("0,1\n0,,1\n", {"delimiter": ","}, ["line 2", "'0,,1'"]),
    "comma at the end": ("0,1\n0,1,\n", {"delimiter": ","}, ["line 2"]),
    "comma in a list with blanks": ("0 1\n0,1\n", {}, ["line 2"]),
    "no label": ("a,b\n,b\n", {"delimiter": ","}, ["line 2", "labels"]),
    "label without a weight": ("a b 1\nb c\n", {}, ["line 2", "a weight"]),
    "weight of a label": ("a b 1\nb c d\n", {}, ["line 2", "a number as weight"]),
    "quote not closed": ('"a,b\n', {"delimiter": ","}, ["line 1"]),
    "digits of a vertex": ("0 1\n0 " + "9" * 5000 + "\n", {}, ["line 2", "vertices"]),
    "digits of a weight": ("a b " + "9" * 5000 + "\n", {}, ["line 1", "weight"]),
    "base 2": ("0 1\n", {"base": 2}, ["base"]),
    "delimiter": ("0 1\n", {"delimiter": "ab"}, ["delimiter"]),
    "labels where a size is": ("a b\n", {"size": 3}, ["line 1", "vertices from 0 to 2"]),
    "negative size": ("0 1\n", {"size": -1}, ["size"]),
    "size of labels": ("a b\n", {"labels": True, "size": 3}, ["size"]),
}  # fmt: skip


@pytest.mark.parametrize("text, options, dtype, n, expected, labels", GOOD.values(), ids=GOOD)
def test_reads(tmp_path, tune, text, options, dtype, n, expected, labels):
    graph = read(text, **options)
    A, found = graph.matrix, graph.labels
    assert (str(A.dtype), A.shape, entries(A), found) == (dtype, (n, n), expected, labels)
    path = tmp_path / "graph.edges.gz"
    path.write_bytes(gzip.compress(text.encode()))
    size = 5 if "from" not in text else 16  # a line or two at a time
    tune({"file.block": size, "file.chunked_block": size})
    for chunked in (False, True):
        again = read_edgelist(path, chunked=chunked, **options)
        assert again.matrix.isequal(A, check_dtype=True) and again.matrix.shape == A.shape
        assert again.labels == labels


@pytest.mark.parametrize("text, options, words", BAD.values(), ids=BAD)
def test_names_the_fault(tmp_path, tune, text, options, words):
    path, errors = tmp_path / "graph.edges", []
    path.write_text(text)
    tune({"file.chunked_block": 20})
    for chunked in (False, True):
        with pytest.raises(InvalidValue) as caught:
            read_edgelist(path, chunked=chunked, **options)
        errors.append(str(caught.value))
    for word in words:
        assert word in errors[0]
    assert str(path) in errors[0] or words[0] in ("base", "delimiter", "size")
    # Chunks have no hints about whole columns, and do not find the line of an edge of another chunk.
    assert errors[1] in (errors[0], errors[0].partition(". Hint")[0]) or "every entry once, got one twice" in errors[1]


@pytest.mark.parametrize("text", ["1 1 ", "a", "#", "\n0 1\n#"])
def test_endless_line(tmp_path, text):
    """A small file that unpacks to one line of 100 MB is refused when little of it is unpacked."""
    path = tmp_path / "graph.edges.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(text.encode())
        for _ in range(100):
            stream.write((text.split("\n")[-1] * (1_000_000 // len(text))).encode())
    for chunked in (False, True):
        tracemalloc.start()
        with pytest.raises(InvalidValue, match=rf"line {1 + text.count(chr(10))}: expected at most 1048576 bytes"):
            read_edgelist(path, chunked=chunked)
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
        tracemalloc.stop()


def test_long_comment():
    text = "0 1\n#" + "x" * 1_000_000 + "\n1 2\n"
    assert read(text).matrix.nvals == 2
    with pytest.raises(InvalidValue, match="line 3: expected at most 1048576 bytes"):
        read("0 1\n" + text.replace("x", "xx") + "1 2\n" * 300_000)


def test_a_first_line_that_may_name_the_columns(tmp_path):
    """No other line has its words: it is an edge, with a warning."""
    text = "boss,clerk\nx,y\ny,z\np,q\n"
    with pytest.warns(UserWarning, match=r"a\.csv: the first line, 'boss clerk', is read as an edge.*header=True"):
        (tmp_path / "a.csv").write_text(text)
        assert read_edgelist(tmp_path / "a.csv").matrix.nvals == 4
    for other in ("boss,clerk\nboss,y\ny,z\nz,boss\n", "boss,clerk\nx,y\n", "child,parent\nx,child\n"):
        assert read(other, delimiter=",").matrix.nvals == other.count("\n")


def test_binary_junk():
    with pytest.raises(InvalidValue, match="<BytesIO>, line 2: expected UTF-8"):
        read_edgelist(io.BytesIO(b"a b\n\xff\xfe c\n"))
    with pytest.raises(InvalidValue, match="line 2"):
        read_edgelist(io.BytesIO(b"0 1\n\x00\x01 \x02\n"))


def test_huge_number_of_vertices(tmp_path):
    """From 0 on, with few edges: stored as Graph.from_edges and from_table store them, with a warning."""
    path, far = tmp_path / "far.edges", 10**12
    path.write_text(f"0 {far}\n{far} 7\n")
    for make in (
        lambda: read(path.read_text()), lambda: read_edgelist(path, chunked=True), lambda: read_edgelist(path),
        lambda: gb.Graph.from_edges([(0, far), (far, 7)]),
    ):  # fmt: skip
        with pytest.warns(match="3 different vertex numbers, but 1000000000001 vertices"):
            A = make().matrix
        assert (A.shape, entries(A), A.format) == ((far + 1, far + 1), {(0, far): True, (far, 7): True}, "hyper")
    with pytest.raises(gb.exceptions.OutOfMemory, match="needs"), pytest.warns(match="3 different"):
        read(path.read_text(), format="csr")


def test_text_and_suffix(tmp_path):
    assert entries(read_edgelist(io.StringIO("0 1\n")).matrix) == {(0, 1): True}
    for name, mark in [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ","), ("a.edges", " ")]:
        assert (edgelist_parser.delimiter_of(tmp_path / name, None) or " ") == mark


# --- out ---


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.edges", "a.csv.gz"])
@pytest.mark.parametrize("dtype", "BOOL INT8 INT64 UINT32 FP32 FP64".split())
@pytest.mark.parametrize("options", [{}, {"base": 1}, {"header": True}, {"labels": True}], ids=str)
def test_round_trip(tmp_path, name, dtype, options):
    rng = np.random.default_rng(2)
    rows, cols = np.divmod(np.sort(rng.choice(400, 60, replace=False)), 20)
    values = rng.integers(0, 2, 60) if dtype == "BOOL" else (rng.standard_normal(60) * 100).astype(np.int64)
    if dtype.startswith("FP"):
        values = rng.standard_normal(60)
        values[:2] = [np.inf, 1 / 3]
    A = gb.Matrix.from_coo(rows, cols, np.abs(values) if dtype[0] == "U" else values, dtype, nrows=20, ncols=20)
    labelled = options.get("labels")
    names = [f"v{k}" for k in range(20)]
    write_edgelist(tmp_path / name, A, **{**options, "labels": names if labelled else None})
    assert [path.name for path in tmp_path.iterdir()] == [name]
    graph = read_edgelist(
        tmp_path / name, base=options.get("base", 0), header=options.get("header"), size=None if labelled else 20,
        dtype=dtype,
    )  # fmt: skip
    back, labels = graph.matrix, graph.labels
    if labelled:
        there = {(names[i], names[j]): x for (i, j), x in entries(A).items()}
        assert {(labels[i], labels[j]): x for (i, j), x in entries(back).items()} == there
    else:
        assert back.isequal(A, check_dtype=True)


def test_write_undirected(tmp_path):
    A = read("0 1 5\n1 1 6\n2 0 7\n", directed=False).matrix
    out = io.BytesIO()
    write_edgelist(out, A, directed=False)
    assert out.getvalue() == b"0 1 5\n0 2 7\n1 1 6\n"
    with pytest.raises(InvalidValue, match="symmetric"):
        write_edgelist(io.BytesIO(), read("0 1\n").matrix, directed=False)


def test_write_quotes():
    out, names = io.BytesIO(), ["Weber, Anna", 'the "b"']
    write_edgelist(out, read("0 1\n1 0\n", directed=True).matrix, delimiter=",", labels=names)
    assert out.getvalue() == b'"Weber, Anna","the ""b"""\n"the ""b""","Weber, Anna"\n'
    assert read(out.getvalue().decode(), delimiter=",", directed=False).labels == tuple(names)
    write_edgelist(out := io.BytesIO(), read("0 1\n").matrix, delimiter=",", labels=["#1", "%"])
    assert read(out.getvalue().decode(), delimiter=",").labels == ("#1", "%")


def test_write_refuses(tmp_path):
    A = read("0 1\n").matrix
    path = tmp_path / "a.edges"
    path.write_text("before")
    for options in ({"labels": ["a b", "c"]}, {"labels": ["a", "a"]}, {"labels": ["#", "b"]}, {"labels": ["a"]},
                    {"labels": ["", "b"]}, {"base": 3}, {"delimiter": "x"}):  # fmt: skip
        with pytest.raises(InvalidValue):
            write_edgelist(path, A, **options)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="2 x 3"):
        write_edgelist(path, gb.Matrix(bool, 2, 3))
    assert path.read_text() == "before"


# --- against a plain reader ---


def plain(lines, weighted):
    """The edges of a list of numbers with blanks between, one line at a time; None if a line is none."""
    found = {}
    for fields in map(str.split, lines):
        if len(fields) != 2 + weighted:
            return None
        edge = int(fields[0]), int(fields[1])
        if weighted and edge in found:
            return None
        found[edge] = float(fields[2]) if weighted else True
    return found


@given(st.data())
def test_damage_is_read_right_or_refused(data):
    weighted = data.draw(st.booleans())
    third = " 0.5" if weighted else ""
    text = bytearray("".join(f"{i} {(7 * i) % 9}{third}\n" for i in range(9)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(st.binary(max_size=2) | st.sampled_from([b"1", b"\n", b" ", b"-", b".", b"e", b"#"]))
        text[at : at + data.draw(st.integers(0, 3))] = new
    try:
        graph = read_edgelist(io.BytesIO(bytes(text)), header=False, labels=False, directed=True)
    except (InvalidValue, gb.exceptions.OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")
        return
    A = graph.matrix
    assert graph.labels is None
    lines = [line for line in text.decode("latin-1").split("\n") if line.strip() and line.strip()[0] not in "#%"]
    found = plain(lines, len(lines[0].split()) == 3)
    assert {edge: float(x) for edge, x in entries(A).items()} == found
