"""Files by their suffix; conversions from and to matrices of other libraries."""

import io

import numpy as np
import pytest
from mm_files import DTYPES, as_dict, same, sample

import bitblas as gb
from bitblas.exceptions import DimensionMismatch, InvalidValue
from bitblas.io import (
    from_graphblas,
    from_networkx,
    from_scipy_sparse,
    read,
    to_graphblas,
    to_networkx,
    to_scipy_sparse,
    write,
)

# --- by suffix ---


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz", "a.tsv", "a.csv", "a.edges", "a.csv.gz", "a.txt"])
def test_by_suffix(tmp_path, name):
    A = gb.Matrix.from_coo([0, 1, 2], [2, 0, 1], [1, 2, 3], nrows=3, ncols=3)
    write(tmp_path / name, A)
    graph = read(tmp_path / name)
    same(A, graph.matrix)
    assert graph.labels is None
    assert (graph.vertex("2"), graph.label(2)) == (2, 2)
    kind = name.removesuffix(".gz").rpartition(".")[2].replace("txt", "edges")
    (tmp_path / name).rename(tmp_path / "b.xyz" if not name.endswith(".gz") else tmp_path / "b.gz")
    same(A, read(next(tmp_path.iterdir()), kind).matrix)
    with pytest.raises(InvalidValue, match="expected a name that ends in"):
        read(next(tmp_path.iterdir()))
    with pytest.raises(InvalidValue, match="file_format"):
        read(tmp_path / name, "xml")


def test_parquet(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    for labels, dtype in ((None, "INT64"), (("x", "y", "z"), "FP64"), (None, "BOOL")):
        A = gb.Matrix.from_coo([0, 1, 2], [2, 0, 1], [1, 2, 3], nrows=3, ncols=3, dtype=dtype)
        gb.Graph(A, labels).write(path)
        graph = gb.Graph.read(path)
        assert (graph.matrix.nvals, graph.matrix.dtype) == (3, A.dtype)
        assert sorted(graph.vertices) == list(labels or range(3))
        for i, j, x in zip(*A.to_coo()):
            ends = (graph.vertex(end if labels is None else labels[end]) for end in (i, j))
            assert graph.matrix[tuple(ends)].new().value == x
    parquet.write_table(pa.table({"from": [0, 4], "to": [1, 2], "w": [0.5, 7], "when": ["a", "b"]}), path)
    assert read(path, source="from", target="to").matrix.dtype == "BOOL"
    weighted = read(io.BytesIO(path.read_bytes()), "parquet", source="from", target="to", weight="w", directed=False)
    assert weighted.matrix.to_dicts() == {0: {1: 0.5}, 1: {0: 0.5}, 2: {4: 7}, 4: {2: 7}}
    with pytest.raises(InvalidValue, match=r"a\.parquet: column 'source': expected one of"):
        read(path)
    path.write_bytes(b"PAR1 no table")
    with pytest.raises(InvalidValue, match=r"a\.parquet: expected a Parquet file"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.parquet")


def test_sif(tmp_path):
    """Relations and vertices without any; names with blanks where tabs divide; what NetworkX reads is said."""
    path = tmp_path / "genes.sif"
    path.write_text("a pp b\nb pd c d\ne\n\nc pp a a\n")
    g = gb.Graph.read(path)
    assert (g.labels, g.directed) == (("a", "b", "c", "d", "e"), True)
    assert [x.tolist() for x in g.matrix.to_coo(values=False)[:2]] == [[0, 1, 1, 2], [1, 2, 3, 0]]
    assert gb.Graph.read(path, relations=["pd"], directed=False).matrix.nvals == 4
    path.write_text("a b\tpp\tb c\r\nx\n")
    assert gb.Graph.read(path).labels == ("a b", "b c", "x")
    path.write_text("a pp b\na pp\n")
    with pytest.raises(InvalidValue, match=r"genes.sif, line 2: expected a relation and a name after 'a'"):
        gb.Graph.read(path)
    with pytest.raises(InvalidValue, match=r"expected a format that can be written, got sif.*Hint"):
        g.write(path)
    for name in ("a.graphml", "a.dot.gz"):
        with pytest.raises(InvalidValue, match=r"Hint: NetworkX reads it: bitblas.Graph.from_networkx"):
            gb.Graph.read(tmp_path / name)


def test_labels():
    graph = read(io.BytesIO(b"b a\na c\n"), "edges")
    assert (graph.labels, graph.vertex("a"), graph.label(1)) == (("b", "a", "c"), 1, "a")
    with pytest.raises(InvalidValue, match="one of the 3 labels"):
        graph.vertex("x")
    for wrong in ("x", 3, -1):
        with pytest.raises(InvalidValue, match="vertex"):
            read(io.BytesIO(b"0 2\n"), "edges").vertex(wrong)
    out = io.BytesIO()
    write(out, graph.matrix, "tsv", labels=graph.labels)
    assert out.getvalue() == b"b\ta\na\tc\n"


# --- NetworkX ---


def test_networkx_as_python_graphblas():
    networkx = pytest.importorskip("networkx")
    graphblas = pytest.importorskip("graphblas")
    G = networkx.DiGraph([("a", "b", {"weight": 2}), ("b", "c", {"weight": 3, "cost": 7}), ("c", "a", {})])
    for graph in (G, G.to_undirected()):
        for options in ({}, {"nodelist": ["c", "a"]}, {"dtype": "FP32"}, {"weight": "cost"}, {"weight": None}):
            ours, theirs = from_networkx(graph, **options), graphblas.io.from_networkx(graph, **options)
            assert to_graphblas(ours).isequal(theirs, check_dtype=True)
    assert from_networkx(G, name="G").name == "G"
    assert from_networkx(networkx.Graph()).shape == (0, 0)
    for wrong in (["a", "a"], ["a", "x"]):
        with pytest.raises(InvalidValue, match="nodelist"):
            from_networkx(G, nodelist=wrong)


def test_to_networkx():
    pytest.importorskip("networkx")
    A = gb.Matrix.from_coo([0, 1], [1, 3], [5, 6], nrows=4, ncols=4)
    G = to_networkx(A)
    assert list(G) == [0, 1, 2, 3]
    assert list(G.edges(data=True)) == [(0, 1, {"weight": 5}), (1, 3, {"weight": 6})]
    assert type(G.edges[0, 1]["weight"]) is int
    assert list(to_networkx(A, edge_attribute=None).edges(data=True)) == [(0, 1, {}), (1, 3, {})]
    assert list(to_networkx(A, edge_attribute="w").edges(data="w")) == [(0, 1, 5), (1, 3, 6)]
    same(A, from_networkx(G))
    with pytest.raises(DimensionMismatch, match="2 x 3"):
        to_networkx(gb.Matrix(bool, 2, 3))


# --- scipy.sparse and python-graphblas ---


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_scipy_round_trip(dtype, format):
    A = sample(dtype)
    S = to_scipy_sparse(A, format)
    assert (S.format, S.shape, S.nnz, S.dtype) == (format, A.shape, A.nvals, np.dtype(A.dtype.np_type))
    same(A, from_scipy_sparse(S))


@pytest.mark.parametrize("format", ["bsr", "csr", "csc", "coo", "lil", "dia", "dok", "CSR"])
def test_to_scipy_as_python_graphblas(format):
    graphblas = pytest.importorskip("graphblas")
    A = gb.Matrix.from_coo([0, 1, 2, 3], [2, 0, 1, 3], [1, 2, 3, 4], nrows=4, ncols=4)
    v = gb.Vector.from_coo([1, 3], [5, 6], size=5)
    for x, shape in ((A, (4, 4)), (v, (5, 1) if format == "csc" else (1, 5))):
        ours, theirs = to_scipy_sparse(x, format), graphblas.io.to_scipy_sparse(to_graphblas(x), format)
        assert type(ours) is type(theirs) and ours.shape == theirs.shape == shape and (ours != theirs).nnz == 0
        for name in ("indices", "indptr"):
            assert getattr(ours, name, ours).dtype == getattr(theirs, name, theirs).dtype


def test_scipy_duplicates_and_formats():
    import scipy.sparse as sp

    twice = sp.coo_array(([1.0, 2.0], ([1, 1], [0, 0])), shape=(2, 2))
    assert as_dict(from_scipy_sparse(twice, dup_op=gb.binary.plus)) == {(1, 0): 3.0}
    with pytest.raises(ValueError, match="dup"):
        from_scipy_sparse(twice)
    assert as_dict(from_scipy_sparse(sp.eye_array(2))) == {(0, 0): 1.0, (1, 1): 1.0}
    assert from_scipy_sparse(sp.csr_array((3, 4), dtype=np.int8)).shape == (3, 4)
    with pytest.raises(ValueError, match="format"):
        to_scipy_sparse(gb.Matrix(int, 1, 1), "xyz")


@pytest.mark.parametrize("dtype", DTYPES)
def test_graphblas_round_trip(dtype):
    graphblas = pytest.importorskip("graphblas")
    A = sample(dtype)
    M = to_graphblas(A)
    assert isinstance(M, graphblas.Matrix)
    assert str(M.dtype) == dtype
    same(A, from_graphblas(M))
    v = gb.Vector.from_coo([1, 4], [0, 1], dtype, size=6)
    u = to_graphblas(v)
    assert isinstance(u, graphblas.Vector) and (str(u.dtype), u.size) == (dtype, 6)
    assert from_graphblas(u).isequal(v, check_dtype=True)


def test_graphblas_iso():
    pytest.importorskip("graphblas")
    A = gb.Matrix.from_coo([0, 1], [1, 0], 2.5, nrows=2, ncols=2)
    assert to_graphblas(A).ss.is_iso
    zeros = gb.Matrix.from_coo([0, 1], [1, 0], [0.0, -0.0], nrows=2, ncols=2)
    assert np.signbit(to_graphblas(zeros).to_coo()[2]).tolist() == [False, True]
