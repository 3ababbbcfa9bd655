"""Weights and vertices near the limits of 64 bits: read exactly by every reader, or refused; never wrapped or rounded
without a word. Sums of integer weights, of parallel edges, degrees and values: exact, or refused."""

import gzip
import io
import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import bitblas as gb
from bitblas import Graph
from bitblas.cli import main
from bitblas.config import config
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import build as builds
from bitblas.io import edgelist_parser, mmread, mmwrite, read_edgelist

TOP = 2**64 - 1
HEAD = "%%MatrixMarket matrix coordinate "
BOTH = pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])


@pytest.fixture(autouse=True)
def _on_the_cpu():
    with config.set(device="cpu"):
        yield


def values(graph):
    """Its entries, as Python's numbers."""
    A = getattr(graph, "matrix", graph)
    return {(i, j): x for i, row in A.to_dicts().items() for j, x in row.items()}


def weights(g):
    A = getattr(g, "matrix", g)
    return str(A.dtype), A.to_coo()[2].tolist()


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def text_of(kind, weights, field="integer"):
    """A file of a path 0 -> 1 -> 2 .. with these weights, and how its name ends."""
    lines = [(str(k), str(k + 1), str(x)) for k, x in enumerate(weights)]
    if kind == "mtx":
        n = len(lines) + 1
        body = "".join(f"{int(i) + 1} {int(j) + 1} {x}\n" for i, j, x in lines)
        return f"{HEAD}{field} general\n{n} {n} {n - 1}\n{body}"
    prefix, mark = ("v" if kind == "names.csv" else ""), "\t" if kind == "tsv" else ","
    return "".join(f"{prefix}{i}{mark}{prefix}{j}{mark}{x}\n" for i, j, x in lines)


KINDS = ("csv", "tsv", "names.csv", "mtx")


@BOTH
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "dtype, weights, got",
    [
        ("INT8", [5, 300], "300"), ("UINT8", [5, -1], "-1"), ("INT16", [-40000, 1], "-40000"),
        ("INT8", [2.7, 1], "2.7"), ("UINT64", [-3, 4], "-3"), ("INT64", [1, TOP], str(TOP)),
        ("INT64", [1.0, 2.0**63], "9.?22"), ("UINT32", [2**32, 0], str(2**32)),
    ],
)  # fmt: skip
def test_weights_that_the_type_does_not_hold_are_refused(tmp_path, tune, kind, dtype, weights, got, chunked):
    tune({"file.chunked_block": 8})  # a line or two
    field = "real" if any(isinstance(x, float) for x in weights) else "integer"
    path = written(tmp_path, f"a.{kind}", text_of(kind, weights, field))
    with pytest.raises(InvalidValue, match=rf"a\.{kind}: dtype {dtype}: expected weights that fit, got {got}"):
        Graph.read(path, dtype=dtype, chunked=chunked)


def test_tables_and_lists_check_the_type_too():
    for weight, dtype in (
        (300, "INT8"),
        (2.7, "INT8"),
        (-1, "UINT64"),
        (2**63 + 5, "INT64"),
        (2.0**63, "INT64"),
        (2.0**64, "UINT64"),
    ):
        table = {"source": [0, 1], "target": [1, 2], "weight": [weight, 1]}
        G = nx.DiGraph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1})])
        for make, *given in (
            (Graph.from_table, table, "source", "target", "weight"),
            (Graph.from_edges, [(0, 1, weight), (1, 2, 1)]),
            (gb.io.from_networkx, G),
        ):
            with pytest.raises(InvalidValue, match=f"dtype {dtype}: expected weights that|weight: expected a number"):
                make(*given, dtype=dtype)
    assert values(Graph.from_edges([(0, 1, True), (1, 2, False)], dtype="INT8")) == {(0, 1): 1, (1, 2): 0}


@BOTH
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", [[TOP, 0], [2**63, 2**53 + 1, TOP], [7, 2**63 - 1, 2**63]], ids=str)
def test_weights_from_2_to_the_63_are_unsigned(tmp_path, tune, kind, weights, chunked):
    """In the first block or a later one."""
    for size in (8, 1 << 20):
        tune({"file.chunked_block": size, "file.block": size})
        found = Graph.read(written(tmp_path, f"a.{kind}", text_of(kind, weights)), chunked=chunked).matrix
        assert str(found.dtype) == "UINT64"
        assert values(found) == {(k, k + 1): x for k, x in enumerate(weights)}


@BOTH
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.edges", "a.mtx", "a.csv.gz", "a.mtx.gz"])
@pytest.mark.parametrize("labels", [False, True])
def test_unsigned_weights_are_written_and_read_back(tmp_path, name, labels, chunked):
    weights = np.array([TOP, 2**63, 2**63 - 1, 2**53 + 1, 0], np.uint64)
    A = gb.Matrix.from_coo([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], weights, nrows=6, ncols=6)
    more = {"labels": [f"v{k}" for k in range(6)]} if labels and ".mtx" not in name else {}
    gb.io.write(tmp_path / name, A, **more)
    assert gb.io.read(tmp_path / name, chunked=chunked).matrix.isequal(A, check_dtype=True)
    symmetric = gb.Matrix.from_coo([0, 1], [1, 0], weights[:1].repeat(2), nrows=6, ncols=6)
    if ".mtx" in name:
        mmwrite(tmp_path / name, symmetric)
        assert mmread(tmp_path / name, chunked=chunked).isequal(symmetric, check_dtype=True)


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_no_integer_type_holds(tmp_path, tune, kind, chunked):
    """Negative numbers together with numbers from 2^63 on, and numbers beyond 2^64: rejected, or floats if requested.
    The same for any block size, also if a later line makes all of them floats."""
    for size in (8, 1 << 20):
        tune({"file.chunked_block": size, "file.block": size})
        for weights in ([-1, TOP], [TOP, 3, -1], [1, TOP + 1], [10**20, -5], [-(2**63) - 1, 1]):
            path = written(tmp_path, f"a.{kind}", text_of(kind, weights))
            with pytest.raises(InvalidValue, match=rf"a\.{kind}.*2\^64 - 1.*Hint: dtype='FP64' reads"):
                Graph.read(path, chunked=chunked)
            found = Graph.read(path, dtype="FP64", chunked=chunked).matrix
            assert values(found) == {(k, k + 1): float(x) for k, x in enumerate(weights)}
            if kind != "mtx":
                reals = written(tmp_path, f"b.{kind}", text_of(kind, [*weights, 0.5]))
                found = Graph.read(reals, chunked=chunked).matrix
                assert str(found.dtype) == "FP64" and found.nvals == len(weights) + 1


NEAR = [0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, TOP, TOP + 1, -(2**63) - 1, 10**25]
FLOATS = (np.float32, np.float64)
TEXTS = [*map(str, NEAR), "0.5", "1e3", "9.3e18", "007", "-0", "+7"]


@pytest.mark.parametrize("kind", ["csv", "names.csv", "mtx"])
def test_both_readers_agree_on_random_weights(tmp_path, tune, kind):
    """The same values and types, or both refuse, whatever the blocks; and what Python makes of the texts."""
    rng = np.random.default_rng(11)
    kinds = [None, "FP64", "UINT64", "INT64", "INT8", "BOOL", "FP32"]
    for number in range(150):
        last = len(TEXTS) - 2 * (kind == "mtx")  # SciPy reads no plus, and no unsigned -0
        some = rng.choice(last, rng.integers(1, 4), replace=False)  # few kinds in one file
        texts = [TEXTS[k] for k in rng.choice(some, rng.integers(1, 6))]
        field = "real" if kind == "mtx" and any(set(text) & set(".e") for text in texts) else "integer"
        path = written(tmp_path, f"a.{kind}", text_of(kind, texts, field))
        dtype, found = kinds[rng.integers(len(kinds))], []
        for chunked in (False, True):
            size = int(rng.choice([8, 30, 1 << 20]))
            tune({"file.chunked_block": size, "file.block": size})
            try:
                found.append(Graph.read(path, dtype=dtype, chunked=chunked).matrix)
            except InvalidValue as error:
                found.append(str(error))
        whole, parts = found
        told = (number, dtype, texts, found)
        assert isinstance(whole, str) == isinstance(parts, str), told
        if isinstance(whole, str):
            integers = [int(text) for text in texts if not set(text) & set(".e")]
            assert dtype in ("UINT64", "INT64", "INT8") or len(integers) == len(texts), told
            continue
        assert whole.isequal(parts, check_dtype=True), told
        kept = whole.dtype.np_type.type
        floats = kept in FLOATS or field == "real"
        exact = [float(text) if floats or set(text) & set(".e") else int(text) for text in texts]
        expected = [kept(bool(x)) if dtype == "BOOL" else kept(x if kept in FLOATS else int(x)) for x in exact]
        assert [whole[k, k + 1].value for k in range(len(texts))] == expected, told


def test_weights_of_lists_are_exact():
    """NumPy makes floats of [2**64 - 1, 4]."""
    edges_ = [(0, 1, TOP), (1, 2, 4)]
    table = {"source": [0, 1], "target": [1, 2], "weight": ["18446744073709551615", "4"]}
    G = nx.DiGraph()
    G.add_weighted_edges_from(edges_)
    many = nx.MultiDiGraph(G)
    for found in (
        Graph.from_edges(edges_), Graph.from_table(table, weight="weight", decimal="."), gb.io.from_networkx(G),
        gb.io.from_networkx(many, dup_op="min"), gb.io.from_networkx(G, dtype="UINT64"),
        Graph.from_networkx(G),
    ):  # fmt: skip
        A = getattr(found, "matrix", found)
        assert (str(A.dtype), values(A)) == ("UINT64", {(0, 1): TOP, (1, 2): 4})
    for wrong in (-4, TOP + 1):
        G.add_edge(1, 2, weight=wrong)
        for make, given in ((Graph.from_edges, [(0, 1, TOP), (1, 2, wrong)]), (gb.io.from_networkx, G)):
            with pytest.raises(InvalidValue, match=r"expected (integers that|a number from) .*Hint: dtype='FP64'"):
                make(given)
            assert values(make(given, dtype="FP64")) == {(0, 1): float(TOP), (1, 2): float(wrong)}


def test_weights_of_igraph_are_exact():
    """And their sums, of parallel edges."""
    igraph = pytest.importorskip("igraph")

    def graph(edges, values, **options):
        return Graph.from_igraph(igraph.Graph(edges, directed=True, edge_attrs={"weight": values}), **options)

    assert values(graph([(0, 1), (1, 2)], [TOP, 4])) == {(0, 1): TOP, (1, 2): 4}
    with pytest.raises(InvalidValue, match=f"weight: expected a number from .*got {TOP} on the edge from 0 to 1"):
        graph([(0, 1), (1, 2)], [TOP, -4])
    for weights_, expected in (([np.int8(100)] * 2, ("INT64", [200])), ([2**63 + 5, 1], ("UINT64", [2**63 + 6]))):
        assert weights(graph([(0, 1)] * 2, weights_, dup_op="plus")) == expected
    for wrong in ([2**62, 2**62], [2**64, 1]):
        with pytest.raises(InvalidValue, match="expected"):
            graph([(0, 1)] * 2, wrong, dup_op="plus")


@BOTH
def test_the_mirror_image_of_the_least_integer(tmp_path, chunked):
    """-(-2^63) is no INT64: a skew-symmetric file with it is refused, or read as floats."""
    for value in (-(2**63), 2**63):
        path = written(tmp_path, "a.mtx", f"{HEAD}integer skew-symmetric\n2 2 1\n2 1 {value}\n")
        with pytest.raises(InvalidValue, match=r"skew-symmetric|2\^64"):
            mmread(path, chunked=chunked)
        found = mmread(path, chunked=chunked, dtype="FP64")
        assert values(found) == {(1, 0): float(value), (0, 1): -float(value)}
    least = np.full(2, -128, np.int8)
    A = gb.Matrix.from_coo([0, 1], [1, 0], least, nrows=2, ncols=2)
    with pytest.raises(InvalidValue, match="expected a matrix that is skew-symmetric"):
        mmwrite(io.BytesIO(), A, symmetry="skew-symmetric")


@BOTH
def test_unsigned_files_have_no_signs(tmp_path, chunked):
    good = written(tmp_path, "a.mtx", f"{HEAD}unsigned-integer symmetric\n3 3 2\n2 1 3\n3 3 4\n")
    assert mmread(good, chunked=chunked).dtype == gb.dtypes.UINT64
    for text in (f"{HEAD}unsigned-integer general\n3 3 1\n2 1 -3\n", f"{HEAD}unsigned-integer skew-symmetric\n3 3 0\n"):
        with pytest.raises(InvalidValue, match=r"of 0 or more|signed values"):
            mmread(written(tmp_path, "b.mtx", text), chunked=chunked)


def test_large_integers_of_open_files(tmp_path):
    text = text_of("mtx", [1, TOP]).encode()
    array = f"%%MatrixMarket matrix array integer general\n2 1\n3\n{TOP}\n".encode()
    for source in (io.BytesIO(text), io.BytesIO(gzip.compress(text)), io.StringIO(text.decode())):
        assert values(mmread(source)) == {(0, 1): 1, (1, 2): TOP}
    assert values(mmread(io.BytesIO(array))) == {(0, 0): 3, (1, 0): TOP}

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    assert values(mmread(Pipe(text))) == {(0, 1): 1, (1, 2): TOP}
    with pytest.raises(InvalidValue, match=r"line 3: .*'1 99999999999999999999 5'$"):  # a column, no value
        mmread(written(tmp_path, "a.mtx", f"{HEAD}integer general\n2 2 1\n1 99999999999999999999 5\n"))


@BOTH
def test_vertices_from_2_to_the_53_are_ids(tmp_path, chunked):
    """Refused with the option that reads them, exactly, whatever their size; as numbers if a size is given."""
    ids = [2**53, 2**53 + 1, 2**63, TOP, TOP + 1, 10**30]
    for far in ids:
        path = written(tmp_path, "a.csv", f"{far},1,0.5\n")
        said = r"line 1: expected vertices from 0 to 2\^53 - 1.*Hint: pass labels=True"
        with pytest.raises(InvalidValue, match=said):
            Graph.read(path, chunked=chunked)
    path = written(tmp_path, "a.csv", "".join(f"{a},{b},0.5\n" for a, b in pairwise(ids)))
    graph = Graph.read(path, labels=True, chunked=chunked)
    assert graph.labels == tuple(map(str, ids)) and graph.has_edge(2**53, 2**53 + 1) and graph.has_edge(TOP + 1, 10**30)
    sized = written(tmp_path, "b.csv", f"{2**53 + 1},{2**53 + 3},0.5\n7,{2**53 + 1},2\n")
    found = Graph.read(sized, size=2**60, chunked=chunked).matrix
    assert values(found) == {(2**53 + 1, 2**53 + 3): 0.5, (7, 2**53 + 1): 2.0}


def test_ids_of_tables():
    for far in (2**60, 2**63 + 1, TOP + 2):
        pairs = [(far, 1), (1, far - 1), (far - 1, far)]
        with pytest.raises(InvalidValue, match=rf"expected vertices from 0 to 2\^60 - 1, got {far}.*labels=True"):
            Graph.from_edges(pairs)
        graph = Graph.from_edges(pairs, labels=True)
        assert graph.labels == (far, 1, far - 1) and graph.has_edge(1, far - 1)


@BOTH
def test_few_lines_with_far_vertices_take_little_memory(tmp_path, tune, chunked):
    """As in from_table: rows and columns that have entries are listed. The limit is far below a pointer for each."""
    tune({"file.chunked_block": 24})
    far = 10**12
    rows, cols, weights = [far, 5, 7, far - 1, 6], [1, far + 1, 7, far, 6], [3, 4, 5, 6, TOP]
    text = "".join(f"{i},{j},{x}\n" for i, j, x in zip(rows, cols, weights))
    path = written(tmp_path, "far.csv", text)
    with config.set(memory_limit=1 << 24):
        with pytest.warns(UserWarning, match="different vertex numbers"):
            found = read_edgelist(path, chunked=chunked).matrix
        with pytest.warns(UserWarning, match="different vertex numbers"):
            expected = Graph.from_edges(list(zip(rows, cols, weights))).matrix
        assert found.format == "hyper" and found.isequal(expected, check_dtype=True)
        with pytest.raises(OutOfMemory), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_edgelist(path, chunked=chunked, format="csr")


class Counted(io.BytesIO):
    """A file that counts the bytes that were read of it."""

    read_bytes = 0

    def read(self, size=-1):
        data = super().read(size)
        self.read_bytes += len(data)
        return data


@pytest.mark.parametrize("kind", ["csv", "names.csv", "mtx"])
def test_an_edge_that_is_there_twice_is_refused_early(tmp_path, monkeypatch, tune, kind):
    """Before anything is built; of an edge list when little of it is read."""
    lines = text_of(kind, range(200_000)).split("\n")
    first, again = {"mtx": (2, "1 2 77"), "csv": (0, "0,1,77"), "names.csv": (0, "v0,v1,77")}[kind]
    lines[first + 1] = again
    text = "\n".join(lines)
    monkeypatch.setattr(builds, "from_entries", lambda *args, **more: pytest.fail("built"))
    monkeypatch.setattr(gb.operations.build, "from_counts", lambda *args, **more: pytest.fail("built"))
    path = written(tmp_path, f"a.{kind}", text)
    match = rf"a\.{kind}, line {first + 2}: expected every (edge|entry) once, .* twice\. Hint: dup_op"
    for chunked in (False, True):
        with pytest.raises(InvalidValue, match=match):
            Graph.read(path, chunked=chunked)
    if kind != "mtx":
        stream = Counted(text.encode())
        tune({"file.block": 1 << 16})
        monkeypatch.setattr(edgelist_parser, "fields_of", lambda *args: pytest.fail("kernels for names"))
        with pytest.raises(InvalidValue, match="line 2: expected every edge once"):
            read_edgelist(stream, delimiter=",")
        assert stream.read_bytes < len(text) / 4


def test_edges_that_are_there_twice_in_later_lines(tmp_path, tune):
    """In one block and in two, with names, quotes, columns of a table: the line of the second one."""
    tune({"edgelist.early_lines": 2})
    lines = [f"v{k},v{k + 1},{k}" for k in range(60)]
    lines[41] = "v3,v4,9"
    for size in (1 << 20, 200):
        tune({"file.chunked_block": size, "file.block": size})
        with pytest.raises(InvalidValue, match="line 42: expected every edge once, got 'v3' to 'v4' twice"):
            read_edgelist(written(tmp_path, "a.csv", "\n".join(lines)))
        quoted = "\n".join(lines).replace("v", "").replace("3,4,9", '"3",4,9')
        with pytest.raises(InvalidValue, match="line 42: expected every edge once, got '3' to '4' twice"):
            read_edgelist(written(tmp_path, "b.csv", quoted))
    table = "\n".join(["a,b,c,w", *(f"{k},{k + 1},x,{k}" for k in range(9)), "2,3,y,5\n"])
    for chunked in (False, True):
        tune({"file.chunked_block": 1 << 20, "file.block": 1 << 20})
        with pytest.raises(InvalidValue, match="line 11: expected every edge once, got '2' to '3' twice"):
            Graph.read(written(tmp_path, "c.csv", table), columns=["a", "b", "w"], chunked=chunked)
    assert builds.repeated_entries(np.array([1, 0, 1, 0]), np.array([2, 5, 2, 5])).tolist() == [3, 2]
    far = np.array([2**59, 1, 2**59])
    assert builds.repeated_entries(far, far).tolist() == [2] and not len(builds.repeated_entries(far[:2], far[:2]))


@pytest.mark.parametrize("precision", [True, False, 1.0, 3.5, -1, 0, 18, 22, 100, 2**70, "3", np.float64(3)], ids=repr)
def test_a_precision_that_no_real_has_is_refused(tmp_path, precision):
    A = gb.Matrix.from_coo([0], [0], [1 / 3])
    with pytest.raises(InvalidValue, match="precision: expected an integer from 1 to 17, got"):
        mmwrite(tmp_path / "a.mtx", A, precision=precision)
    with pytest.raises(InvalidValue, match="precision: expected"):
        Graph(A).write(tmp_path / "a.mtx", precision=precision)
    assert not list(tmp_path.iterdir())


def test_precisions_that_are_written():
    for precision, digits in ((1, "3e-01"), (3, "3.33e-01"), (np.int8(17), "3.3333333333333331e-01")):
        stream = io.BytesIO()
        mmwrite(stream, gb.Matrix.from_coo([0], [0], [1 / 3]), precision=precision)
        assert stream.getvalue().split()[-1].decode() == digits


# ---- sums of integer weights ----------------------------------------------------------------------------------------


def two_ways(values, dtype):
    """A graph with an edge there and back."""
    return Graph(gb.Matrix.from_coo([0, 1], [1, 0], values, dtype, nrows=2, ncols=2), ["x", "y"], directed=True)


BEYOND = None  # 64 bits


@pytest.mark.parametrize(
    ("dtype", "values", "dup_op", "expected"),
    [
        ("INT8", [100, 100], "plus", ("INT64", 200)), ("UINT8", [200, 100], "plus", ("INT64", 300)),
        ("UINT8", [3, 5], "minus", ("INT64", -2)), ("INT16", [300, 300], "times", ("INT64", 90000)),
        ("INT32", [2**31 - 1, 2**31 - 1], "plus", ("INT64", 2**32 - 2)),
        ("INT64", [2**62, 2**62 - 1], "plus", ("INT64", 2**63 - 1)),
        ("INT64", [-(2**62), -(2**62)], "plus", ("INT64", -(2**63))),
        ("UINT64", [2**63 + 5, 2**62], "plus", ("UINT64", 2**63 + 2**62 + 5)),
        ("INT8", [100, 90], "max", ("INT8", 100)), ("FP32", [1, 2], "plus", ("FP32", 3)),
        ("INT8", [7, 100], gb.binary.plus, ("INT64", 107)),
        ("INT64", [2**62, 2**62], "plus", BEYOND), ("INT64", [-(2**62) - 1, -(2**62)], "plus", BEYOND),
        ("INT64", [2**40, 2**40], "times", BEYOND), ("UINT64", [2**63, 2**63], "plus", BEYOND),
        ("UINT64", [3, 5], "minus", BEYOND),
    ],
)  # fmt: skip
def test_to_undirected_widens_sums_or_refuses_them(dtype, values, dup_op, expected):
    g = two_ways(values, dtype)
    g.attributes["more"] = g.matrix
    if expected is BEYOND:
        with pytest.raises(InvalidValue, match=r"to_undirected: dup_op '\w+': expected weights from"):
            g.to_undirected(dup_op=dup_op)
    else:
        made = g.to_undirected(dup_op=dup_op)
        assert weights(made) == weights(made.by("more")) == (expected[0], [expected[1]] * 2)


def test_to_undirected_refuses_operators_that_are_none():
    for g in (two_ways(True, "BOOL"), two_ways([1, 2], "INT8"), Graph.from_edges([(0, 1)], directed=False)):
        with pytest.raises(InvalidValue, match=r"dup_op: expected the name .* got 'avg'\. Hint: 'plus'"):
            g.to_undirected(dup_op="avg")
    with pytest.raises(InvalidValue, match="dup_op: expected a binary operator of BOOL, got 'band'"):
        two_ways(True, "BOOL").to_undirected(dup_op="band")
    with pytest.raises(TypeError, match="dup_op: expected a BinaryOp"):
        two_ways([1, 2], "INT8").to_undirected(dup_op=5)


@pytest.mark.parametrize("kind", [nx.MultiDiGraph, nx.MultiGraph])
@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([np.int8(100)] * 2, None, ("INT64", 200)), ([np.int8(100)] * 2, "INT16", ("INT16", 200)),
        ([2**53 + 1, 1, 1], None, ("INT64", 2**53 + 3)), ([2**63 + 5, 1], None, ("UINT64", 2**63 + 6)),
        ([2**62, 2**62], "UINT64", ("UINT64", 2**63)), ([2**64, 1], "FP64", ("FP64", 2.0**64)),
        ([2**62, 2**62], None, None), ([100, 100], "INT8", None), ([2**64, 1], None, None), ([300], "INT8", None),
        ([0.5], "INT64", None),
    ],
)  # fmt: skip
def test_parallel_edges_of_networkx_are_summed_exactly(kind, values, dtype, expected):
    G = kind(("a", "b", {"weight": x}) for x in values)
    if expected is None:
        with pytest.raises(InvalidValue, match="expected"):
            gb.io.from_networkx(G, dtype=dtype)
        return
    right = expected[0], [expected[1]] * (1 if kind is nx.MultiDiGraph else 2)
    assert weights(Graph.from_networkx(G, dup_op="plus", dtype=dtype)) == right
    assert weights(gb.io.from_networkx(G, dtype=dtype)) == right


def test_tables_and_lists_of_edges_are_summed_exactly():
    edges = [("a", "b", 2**63 + 5), ("a", "b", 1), ("b", "c", 7)]
    assert weights(Graph.from_edges(edges, dup_op="plus")) == ("UINT64", [2**63 + 6, 7])
    table = {"source": [0, 0], "target": [1, 1], "weight": np.array([100, 100], np.int8)}
    assert weights(Graph.from_table(table, weight="weight", dup_op="plus")) == ("INT64", [200])
    assert weights(Graph.from_table(table, weight="weight", dup_op="plus", dtype="INT16")) == ("INT16", [200])
    with pytest.raises(InvalidValue, match="dtype INT8: expected weights that fit, got 200"):
        Graph.from_table(table, weight="weight", dup_op="plus", dtype="INT8")
    for x, y, dup_op, said in (
        (2**62, 2**62, "plus", "dup_op 'plus': expected weights from"),
        (2**40, 2**40, "times", "dup_op 'times': expected weights from"),
        (2**64, 1, None, r"column 'weight': .* got 18446744073709551616 in row 0\. Hint: dtype='FP64'"),
    ):
        with pytest.raises(InvalidValue, match=said):
            Graph.from_edges([(0, 1, x), (0, 1, y)], dup_op=dup_op)


@pytest.mark.parametrize("suffix", ["csv", "mtx"])
@pytest.mark.parametrize("chunked", [False, True])
def test_readers_sum_exactly(tmp_path, suffix, chunked):
    def read(x, y, **options):
        path = tmp_path / f"edges.{suffix}"
        if suffix == "csv":
            path.write_text(f"0,1,{x}\n0,1,{y}\n1,0,5\n")
        else:
            path.write_text(f"%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 {x}\n1 2 {y}\n2 1 5\n")
        return Graph.read(path, chunked=chunked, **options)

    assert weights(read(100, 100, dup_op="plus")) == ("INT64", [200, 5])
    assert weights(read(100, 100, dup_op="plus", dtype="UINT8")) == ("UINT8", [200, 5])
    assert weights(read(2**62, 2**62 - 1, dup_op="plus")) == ("INT64", [2**63 - 1, 5])
    assert weights(read(2**62, 2**62, dup_op="max")) == ("INT64", [2**62, 5])
    assert weights(read(2**62, 2**62, dup_op="plus", dtype="FP64")) == ("FP64", [2.0**63, 5])
    for x, dup_op, dtype in (
        (100, "plus", "INT8"),
        (2**62, "plus", None),
        (2**40, "times", None),
        (20, "times", "INT8"),
    ):
        with pytest.raises(InvalidValue, match="expected weights"):
            read(x, x, dup_op=dup_op, dtype=dtype)


def test_entries_of_scipy_and_npz_are_summed_exactly(tmp_path):
    small = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 2))
    A = gb.io.from_scipy_sparse(small, dup_op="plus")
    assert (A.dtype, A.get(0, 1)) == ("INT64", 200)
    assert gb.io.from_scipy_sparse(small, dup_op="max").dtype == "INT8"
    sp.save_npz(tmp_path / "small.npz", small)
    assert weights(Graph.read(tmp_path / "small.npz", dup_op="plus")) == ("INT64", [200])
    large = sp.coo_array((np.array([2**62, 2**62]), ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(InvalidValue, match="dup_op 'plus'"):
        gb.io.from_scipy_sparse(large, dup_op="plus")


def fan(values, dtype):
    n = len(values)
    return Graph(gb.Matrix.from_coo([0] * n, range(1, n + 1), values, dtype, nrows=n + 1, ncols=n + 1), directed=True)


def test_weighted_degrees_do_not_wrap():
    large = 4 * 10**18
    g = fan([large, large], "INT64")
    assert dict(g.degree(weighted=True)) == {0: 2 * large, 1: large, 2: large}
    assert dict(g.to_undirected().degree(weighted=True)) == {0: 2 * large, 1: large, 2: large}
    found = fan([large] * 3, "INT64").out_degree(weighted=True)
    assert dict(found) == {0: 3 * large, 1: 0, 2: 0, 3: 0} and found.vector.dtype == "UINT64"
    g = fan([2**63 + 5, 2], "UINT64")
    assert dict(g.in_degree(weighted=True)) == {0: 0, 1: 2**63 + 5, 2: 2}
    assert dict(g.degree(weighted=True)) == {0: 2**63 + 7, 1: 2**63 + 5, 2: 2}
    loop = Graph(gb.Matrix.from_coo([0, 0, 1], [0, 1, 0], [2**62, 1, 1], nrows=2, ncols=2), directed=False)
    assert dict(loop.degree(weighted=True)) == {0: 2**63 + 1, 1: 1}
    assert dict(fan([100, 100], "INT8").degree(weighted=True)) == {0: 200, 1: 100, 2: 100}
    assert fan([5, 6], "UINT64").degree(weighted=True).vector.dtype == "INT64"
    for values, dtype in (([2**64 - 1, 1], "UINT64"), ([-(2**62) - 1, -(2**62)], "INT64")):
        with pytest.raises(InvalidValue, match=r"weighted: expected sums of weights .* at vertex 0"):
            fan(values, dtype).degree(weighted=True)


def test_values_have_exact_sums_and_means():
    found = fan([4 * 10**18] * 3, "INT64").in_degree(weighted=True)
    assert (found.sum(), found.mean(), found.median()) == (12 * 10**18, 3e18, 4e18)
    assert found.largest(1) == [(1, 4 * 10**18)]
    top, least = 2**64 - 1, -(2**63)
    for values, dtype, total in (
        ([top, 1, top], "UINT64", 2**65 - 1), ([least] * 2, "INT64", 2 * least), ([0.5, 0.25], "FP64", 0.75),
    ):  # fmt: skip
        assert fan(values, dtype).in_degree(weighted=True).sum() == total


def test_the_weight_of_a_forest_is_exact(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"0,{k},{4 * 10**18}\n" for k in range(1, 4)))
    main(["msf", str(path), "--undirected", "--json"])
    assert f'"weight": {12 * 10**18}' in capsys.readouterr().out
