"""Files of other programs: Binsparse, METIS, DIMACS, xz; and those that are refused with the command that converts."""

from __future__ import annotations

import bz2
import io
import json
import lzma

import numpy as np
import pytest

import bitblas as gb
from bitblas.exceptions import InvalidValue
from bitblas.io import (
    from_binsparse,
    read_binsparse,
    read_dimacs,
    read_metis,
    write_binsparse,
    write_metis,
)
from bitblas.io.binsparse import WRITTEN

TYPES = ("BOOL", "INT8", "UINT64", "FP32", "FC64")


@pytest.fixture(autouse=True)
def cpu(on_the_cpu):
    pass


def a_matrix(dtype, *, iso=False, n=12, m=9):
    g = np.random.default_rng(0)
    at, kind = g.permutation(n * m)[:30], gb.dtypes.lookup_dtype(dtype).np_type
    x = np.ones(1, kind)[0] if iso else g.integers(0, 100, 30).astype(kind)
    return gb.Matrix.from_coo(at // m, at % m, x, dtype, nrows=n, ncols=m)


# ---- Binsparse


@pytest.mark.parametrize("layout", WRITTEN)
@pytest.mark.parametrize("dtype", TYPES)
def test_binsparse_out_and_in(tmp_path, layout, dtype):
    pytest.importorskip("h5py")
    for A in (a_matrix(dtype), a_matrix(dtype, iso=True), gb.Matrix(dtype, 3, 0), a_matrix(dtype).T.new()):
        write_binsparse(tmp_path / "a.bsp.h5", A, layout=layout)
        B = read_binsparse(tmp_path / "a.bsp.h5")
        assert B.isequal(A, check_dtype=True) and (not A.nvals or B._stored.iso == A._stored.iso)


def test_binsparse_of_vectors_groups_and_graphs(tmp_path):
    h5py = pytest.importorskip("h5py")
    v = gb.Vector.from_coo([1, 5], [2.0, 3.0], size=9)
    write_binsparse(tmp_path / "v.h5", v, group="some/where")
    assert read_binsparse(tmp_path / "v.h5", group="some/where").isequal(v, check_dtype=True)
    with h5py.File(tmp_path / "v.h5") as file:
        header = json.loads(file["some/where"].attrs["binsparse"])["binsparse"]
    assert header["version"] == "0.1" and header["format"] == "CVEC" and header["data_types"]["values"] == "float64"
    with pytest.raises(InvalidValue, match="expected a matrix, got a vector"):
        gb.Graph.read(tmp_path / "v.h5", group="some/where")
    G = gb.Graph.from_edges([(0, 1, 2.0), (1, 2, 3.0)], directed=True)
    G.write(tmp_path / "g.bsp.h5")
    assert gb.Graph.read(tmp_path / "g.bsp.h5").matrix.isequal(G.matrix)
    both = gb.Graph.read(tmp_path / "g.bsp.h5", directed=False, dtype="FP32")
    assert not both.directed and both.matrix.nvals == 4 and both.matrix.dtype == "FP32"
    buffer = io.BytesIO()
    write_binsparse(buffer, G.matrix)
    assert read_binsparse(io.BytesIO(buffer.getvalue())).isequal(G.matrix)


@pytest.mark.parametrize("layout", WRITTEN)
def test_binsparse_of_its_reference_implementation(tmp_path, layout):
    reference = pytest.importorskip("binsparse", reason="the package binsparse")
    for A in (a_matrix("FP32"), a_matrix("BOOL", iso=True), a_matrix("FC64")):
        write_binsparse(tmp_path / "a.h5", A, layout=layout, version="0.1.0")
        tensor = reference.load_binsparse(tmp_path / "a.h5")
        assert tensor.shape == A.shape and tensor.number_of_stored_values == A.nvals
        reference.save_binsparse(tensor, tmp_path / "b.h5")
        assert read_binsparse(tmp_path / "b.h5").isequal(A, check_dtype=True)


class Foreign:
    """An object with the draft's protocol; or that of PyData Sparse, which returns both at once."""

    def __init__(self, header, arrays):
        self.both = {"binsparse": {"version": "0.1", **header}}, arrays

    def __binsparse__(self):
        return self.both


def coo(**changes):
    header = {"format": "COO", "shape": [3, 4], "number_of_stored_values": 2}
    types = {"indices_0": "int64", "indices_1": "int64", "values": "float64"}
    return {**header, "data_types": types, **changes}


def indices(i, j, x=(1.0, 2.0)):
    return [np.array(i, np.int64), np.array(j, np.int64), np.array(x)]


def test_arrays_in_memory(device):
    with gb.config.set(device=device):
        for A in (a_matrix("FP64"), a_matrix("BOOL", iso=True)):
            assert A.__binsparse_descriptor__()["binsparse"]["format"] == "CSR"
            arrays = {name: A.device.to_host(x) for name, x in A.__binsparse__().items()}
            other = Foreign(A.__binsparse_descriptor__()["binsparse"], arrays)
            assert from_binsparse(other).isequal(A, check_dtype=True)
            assert from_binsparse(Foreign(A.T.__binsparse_descriptor__()["binsparse"],
                                          {k: A.device.to_host(x) for k, x in A.T.__binsparse__().items()}
                                          )).isequal(A.T.new())  # fmt: skip
    assert from_binsparse(Foreign(coo(), indices([0, 2], [3, 1]))).to_dicts() == {0: {3: 1.0}, 2: {1: 2.0}}
    v = gb.Vector.from_coo([1, 5], [2.0, 3.0], size=9)
    assert from_binsparse(v).isequal(v, check_dtype=True)


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        ("symmetric_lower", {0: {0: 1.0, 1: 2.0}, 1: {0: 2.0}}),
        ("skew_symmetric_lower", {0: {0: 1.0, 1: -2.0}, 1: {0: 2.0}}),
        ("hermitian_lower", {0: {0: 1.0, 1: 2.0}, 1: {0: 2.0}}),
    ],
)
def test_structures_dense_and_other_bases(structure, expected):
    header = coo(shape=[2, 2], structure=structure)
    assert from_binsparse(Foreign(header, indices([0, 1], [0, 0]))).to_dicts() == expected
    one = coo(shape=[2, 2], index_base=1)
    assert from_binsparse(Foreign(one, indices([1, 2], [1, 2]))).to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}}
    dense = {"format": "DMATC", "shape": [2, 2], "number_of_stored_values": 4, "data_types": {"values": "int8"}}
    found = from_binsparse(Foreign(dense, [np.array([1, 2, 3, 4], np.int8)]))
    assert found.to_dicts() == {0: {0: 1, 1: 3}, 1: {0: 2, 1: 4}}


@pytest.mark.parametrize(
    ("changes", "arrays", "match"),
    [
        ({"version": "2.0"}, None, r"version '2.0', expected 0.1"),
        ({"format": "custom"}, None, r"the format 'custom', expected one of CSR"),
        ({"shape": [3]}, None, r"the shape \[3\] with 2 values, for the format COO"),
        ({"shape": [3, -4]}, None, r"the shape \[3, -4\]"),
        ({"number_of_stored_values": 3}, None, r"2 numbers as indices_0, expected 3"),
        ({"structure": "banded"}, None, r"the structure 'banded'"),
        ({"index_base": 2}, None, r"the index base 2"),
        ({"data_types": {}}, None, r"shorter|no array|argument"),
        ({}, indices([0, 3], [0, 1]), r"the index 3 in a dimension of 3"),
        ({}, indices([0, -1], [0, 1]), r"indices_0 with numbers below 0"),
        ({}, indices([0, 1], [0, 1], [1.0, 2.0, 3.0]), r"3 numbers as values, expected 2"),
        ({}, indices([0, 0], [1, 1]), r"expected every entry once"),
        ({"structure": "symmetric_lower"}, indices([0, 1], [1, 0]), r"structure with shape"),
        ({"structure": "symmetric_lower", "shape": [3, 3]}, indices([0, 1], [1, 0]), r"outside of the lower triangle"),
        ({"data_types": {"indices_0": "int64", "indices_1": "int64", "values": "float16"}}, None, r"type 'float16'"),
    ],
)
def test_binsparse_that_does_not_fit(changes, arrays, match):
    with pytest.raises(InvalidValue, match=match):
        from_binsparse(Foreign(coo(**changes), arrays or indices([0, 1], [0, 1])))


def test_a_fill_value_is_zero():
    header = coo(fill=True, data_types={**coo()["data_types"], "fill_value": "float64"})
    assert from_binsparse(Foreign(header, [*indices([0, 2], [3, 1]), np.array([0.0])])).nvals == 2
    with pytest.raises(InvalidValue, match="a fill value other than 0, which GraphBLAS does not have"):
        from_binsparse(Foreign(header, [*indices([0, 2], [3, 1]), np.array([1.0])]))


def test_pointers_of_binsparse():
    header = coo(format="CSR", data_types={"pointers_to_1": "int64", "indices_1": "int64", "values": "float64"})
    for ptr, match in (
        ([0, 1, 2], "3 pointers, expected 4"),
        ([0, 2, 1, 2], "do not ascend"),
        ([1, 1, 1, 2], "ascend"),
    ):
        with pytest.raises(InvalidValue, match=match):
            from_binsparse(Foreign(header, [np.array(ptr), np.array([0, 1]), np.ones(2)]))


def test_other_files_and_objects(tmp_path, monkeypatch):
    import sys

    with pytest.raises(TypeError, match="expected an object with __binsparse__"):
        from_binsparse([1])
    with pytest.raises(InvalidValue, match="layout: expected one of CSR"):
        write_binsparse(tmp_path / "x.h5", a_matrix("FP64"), layout="ELL") if pytest.importorskip("h5py") else None
    (tmp_path / "x.h5").write_bytes(b"no HDF5")
    with pytest.raises(InvalidValue, match=r"x.h5: expected a Binsparse file, got"):
        read_binsparse(tmp_path / "x.h5")
    with pytest.raises(FileNotFoundError):
        read_binsparse(tmp_path / "none.h5")
    import h5py

    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = [1]
    with pytest.raises(InvalidValue, match=r"plain.h5: expected a Binsparse file, got .*binsparse"):
        gb.Graph.read(tmp_path / "plain.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"a Binsparse file needs h5py .*: pip install h5py"):
        gb.Graph.read(tmp_path / "plain.h5")


# ---- METIS


GRAPH = b"% of the manual\n4 3 001\n2 5\n1 5 3 7\n2 7 4 1\n3 1\n"


def test_metis_in_and_out(tmp_path):
    G = read_metis(io.BytesIO(GRAPH))
    assert not G.directed and G.matrix.to_dicts() == {0: {1: 5}, 1: {0: 5, 2: 7}, 2: {1: 7, 3: 1}, 3: {2: 1}}
    for name in ("g.graph", "g.metis.gz", "g.graph.xz"):
        G.write(tmp_path / name)
        back = gb.Graph.read(tmp_path / name)
        assert back.matrix.isequal(G.matrix, check_dtype=True) and not back.directed
    assert (tmp_path / "g.graph").read_bytes() == GRAPH.partition(b"\n")[2]
    pattern = gb.Graph.from_edges([(0, 1), (1, 3)], directed=False, size=5)
    pattern.write(tmp_path / "p.graph")
    assert (tmp_path / "p.graph").read_text() == "5 2\n2\n1 4\n\n2\n\n"
    assert gb.Graph.read(tmp_path / "p.graph").matrix.isequal(pattern.matrix, check_dtype=True)
    with pytest.warns(UserWarning, match="the weights and sizes of vertices are left out"):
        sized = read_metis(io.BytesIO(b"2 1 111 2\n9 1 1 2 4\n9 1 1 1 4\n"))
    assert sized.matrix.to_dicts() == {0: {1: 4}, 1: {0: 4}}
    assert read_metis(io.BytesIO(b"0 0\n")).matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"", r"line 1: expected vertices, edges, .* got ''"),
        (b"3\n", r"line 1: expected vertices, edges"),
        (b"2 1 7\n2\n1\n", r"format of three digits 0 or 1, got '7'"),
        (b"\0\1\n", r"binary data. Hint: read_webgraph"),
        (b"2 1\n2\n", r"expected 2 lines of vertices, got 1"),
        (b"2 1\n2\n1\n1\n", r"line 4: expected 2 lines of vertices, got more"),
        (b"2 1 1\n2\n1\n", r"line 2: expected a weight for each neighbour, got '2'"),
        (b"2 1\n2\nx\n", r"line 3: expected integers, got 'x'"),
        (b"2 1\n2\n\n", r"expected 1 edges, each at both of its vertices"),
        (b"2 1\n3\n1\n", r"expected neighbours from 1 to 2, got 3 at vertex 1"),
        (b"3 1\n2\n3\n\n", r"expected every edge at both of its vertices"),
        (b"2 1 1\n2 4\n1 5\n", r"with one weight, got others"),
        (b"2 2\n2 2\n1 1\n", r"expected every neighbour of a vertex once"),
    ],
)
def test_damaged_metis(text, match):
    with pytest.raises(InvalidValue, match=match):
        read_metis(io.BytesIO(text))


def test_what_metis_cannot_store(tmp_path):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.5, 1.5], nrows=2, ncols=2)
    for wrong, match in (
        (A, "True or integers above 0"),
        (gb.Matrix.from_coo([0], [1], nrows=2, ncols=2), "expected a symmetric one"),
        (gb.Matrix.from_coo([0], [0], True, nrows=2, ncols=2), "no self-loops"),
        (gb.Matrix.from_coo([0, 1], [1, 0], [0, 0], nrows=2, ncols=2), "integers above 0"),
        (gb.Matrix(bool, 2, 3), "square matrix"),
    ):
        with pytest.raises(gb.exceptions.GraphblasException, match=match):
            write_metis(tmp_path / "x.graph", wrong)
        assert not (tmp_path / "x.graph").exists()
    with pytest.raises(InvalidValue, match="expected an undirected graph for METIS"):
        gb.Graph.from_edges([(0, 1)], directed=True).write(tmp_path / "x.graph")
    write_metis(tmp_path / "y.graph", gb.Matrix(bool, 2, 2))
    with pytest.raises(InvalidValue, match="METIS files are undirected"):
        gb.Graph.read(tmp_path / "y.graph", directed=True)


# ---- DIMACS

ROADS = b"c 9th DIMACS challenge\nc\np sp 4 3\nc arcs\na 1 2 5\na 2 1 5\na 3 4 11\n"


def test_dimacs(tmp_path):
    (tmp_path / "roads.gr.bz2").write_bytes(bz2.compress(ROADS))
    G = gb.Graph.read(tmp_path / "roads.gr.bz2")
    assert G.directed and G.labels is None and G.matrix.dtype == gb.dtypes.INT64
    assert G.matrix.to_dicts() == {0: {1: 5}, 1: {0: 5}, 2: {3: 11}}
    both = read_dimacs(io.BytesIO(ROADS.replace(b"\n", b"\r\n")), directed=False, dtype="FP32")
    assert both.matrix.nvals == 4 and both.matrix.dtype == gb.dtypes.FP32
    twice = ROADS.replace(b"4 3\n", b"4 4\n") + b"a 3 4 2\n"
    assert read_dimacs(io.BytesIO(twice), dup_op="min").matrix[2, 3].new().value == 2
    with pytest.raises(InvalidValue, match="expected a format that can be written, got dimacs"):
        G.write(tmp_path / "out.gr")


def test_dimacs_in_many_blocks(tune):
    tune({"file.block": 64})
    lines = b"".join(b"a %d %d %d\n" % (k, k + 1, k) for k in range(1, 500))
    G = read_dimacs(io.BytesIO(b"c x\n" * 40 + b"p sp 500 499\n" + lines))
    assert G.matrix.nvals == 499 and G.matrix[498, 499].new().value == 499
    with pytest.raises(InvalidValue, match=r"line 100: expected c \(comment\), p \(problem\) or a \(arc\), got 'x 1'"):
        read_dimacs(io.BytesIO(b"c x\n" * 40 + b"p sp 500 499\n" + lines[:0].join([lines.replace(
            b"a 59 60 59", b"x 1")])))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (b"", r"expected 'p sp vertices arcs', got no such line"),
        (b"a 1 2 3\n", r"expected 'p sp vertices arcs' before the arcs"),
        (b"p max 3 1\n", r"line 1: expected one 'p sp vertices arcs', got 'p max 3 1'"),
        (b"p sp 3 1\np sp 3 1\n", r"line 2: expected one 'p sp"),
        (b"p sp 3 2\na 1 2 3\n", r"expected 2 arcs, as the line 'p' says, got 1"),
        (b"p sp 3 1\na 1 4 3\n", r"line 2: expected vertices from 1 to 3"),
        (b"p sp 3 1\na 0 1 3\n", r"line 2: expected vertices from 1 to 3"),
        (b"p sp 3 1\nb 1 2\n", r"line 2: expected c \(comment\), p"),
        (b"p sp 3 1\na 1 2\n", r"line 2: expected two vertices and a weight"),
        (b"p sp 3 2\na 1 2 3\na 1 2 4\n", r"line 3: expected every edge once"),
    ],
)
def test_damaged_dimacs(text, match):
    with pytest.raises(InvalidValue, match=match):
        read_dimacs(io.BytesIO(text))


# ---- damaged files


@pytest.mark.parametrize("kind", ["CSR", "DCSC", "COO", "metis", "dimacs"])
def test_damage_is_refused_or_read(kind):
    """Whatever a few bytes become: a graph, or InvalidValue or OutOfMemory."""
    g, read = np.random.default_rng(3), {"metis": read_metis, "dimacs": read_dimacs}.get(kind, read_binsparse)
    data = {"metis": GRAPH, "dimacs": ROADS}.get(kind, b"")
    if not data:
        pytest.importorskip("h5py")
        buffer = io.BytesIO()
        write_binsparse(buffer, a_matrix("FP64"), layout=kind)
        data = buffer.getvalue()
    refused = 0
    for _ in range(100):
        damaged = bytearray(data)
        for _ in range(g.integers(1, 4)):
            place = int(g.integers(0, len(damaged)))
            damaged[place] = int(g.integers(0, 256)) if g.random() < 0.5 else ord(g.choice([*"0123456789 -\nap%"]))
        if g.random() < 0.3:
            del damaged[int(g.integers(0, len(damaged))) :]
        try:
            read(io.BytesIO(bytes(damaged)))
        except (InvalidValue, gb.exceptions.OutOfMemory):
            refused += 1
    assert refused > 20


# ---- compressed files, and those that are not read


def test_xz(tmp_path):
    G = gb.Graph.from_edges([("a", "b", 2.0), ("b", "c", 3.0)], directed=True)
    G.write(tmp_path / "g.csv.xz")
    assert lzma.decompress((tmp_path / "g.csv.xz").read_bytes()).startswith(b"a,b,2.0\n")
    assert gb.Graph.read(tmp_path / "g.csv.xz").matrix.isequal(G.matrix)
    (tmp_path / "cut.csv.xz").write_bytes((tmp_path / "g.csv.xz").read_bytes()[:-20])
    with pytest.raises(InvalidValue, match=r"cut.csv.xz: expected intact compressed data"):
        gb.Graph.read(tmp_path / "cut.csv.xz")
    (tmp_path / "no.csv.xz").write_bytes(b"a,b\n")
    with pytest.raises(InvalidValue, match="expected xz data because of the file name"):
        gb.Graph.read(tmp_path / "no.csv.xz")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        (
            "g.csv.zst",
            b"",
            r"plain, .gz, .bz2 or .xz, got .zst. Hint: zstd -d '?[^ ]*g.csv.zst",
        ),
        ("g.csv.zip", b"", r"got .zip. Hint: unzip"),
        ("g.mtx.7z", b"", r"got .7z. Hint: 7z x"),
        ("g.csv", b"\x28\xb5\x2f\xfdxxx", r"got .zst. Hint: zstd -d"),
        ("my links.tsv", b"PK\x03\x04xx", r"got .zip. Hint: unzip '.*my links.tsv'"),
        (
            "g.graphml",
            b"<graphml/>",
            r"NetworkX reads it: .*networkx.read_graphml\(path\)",
        ),
        ("g.net", b"*Vertices 2", r"NetworkX reads it: .*networkx.read_pajek\(path\)"),
    ],
)
def test_files_that_are_refused_with_a_command(tmp_path, name, content, match):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidValue, match=match):
        gb.Graph.read(tmp_path / name)


@pytest.mark.parametrize("suffix", ["graphml", "net"])
def test_the_calls_for_networkx_read_them(tmp_path, suffix):
    networkx = pytest.importorskip("networkx")
    G = networkx.DiGraph()
    G.add_edge("a", "b", weight=2.0)
    G.add_edge("b", "c", weight=3.0)
    path = tmp_path / f"g.{suffix}"
    {"graphml": networkx.write_graphml, "net": networkx.write_pajek}[suffix](G, path)
    with pytest.raises(InvalidValue) as caught:
        gb.Graph.read(path)
    call = str(caught.value).partition("NetworkX reads it: ")[2].removesuffix(".")
    found = eval(call, {"bitblas": gb, "networkx": networkx, "path": path})
    assert found.directed and found.labels == ("a", "b", "c") and found.matrix.to_dicts() == {0: {1: 2.0}, 1: {2: 3.0}}


def test_the_commands_read_them(tmp_path, capsys):
    from bitblas.cli import main

    (tmp_path / "roads.gr").write_bytes(ROADS)
    (tmp_path / "g.graph").write_bytes(GRAPH)
    assert main(["convert", str(tmp_path / "roads.gr"), "--out", str(tmp_path / "roads.tsv")]) in (0, None)
    assert (tmp_path / "roads.tsv").read_text() == "0\t1\t5\n1\t0\t5\n2\t3\t11\n"
    assert main(["convert", str(tmp_path / "g.graph"), "--out", str(tmp_path / "g.mtx")]) in (0, None)
    assert gb.Graph.read(tmp_path / "g.mtx").matrix.isequal(read_metis(io.BytesIO(GRAPH)).matrix)
    assert main(["convert", str(tmp_path / "g.mtx"), "--out", str(tmp_path / "h.graph")]) in (0, None)
    assert (tmp_path / "h.graph").read_bytes() == GRAPH.partition(b"\n")[2]
