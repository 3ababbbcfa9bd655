"""Vertices are numbered from 0, by every reader of edges: if vertex 0 has no edges, or most numbers are unused, one
warning says what to pass. Names are numbered by kernels as by a dictionary, and refused with their line."""

import io

import pytest

import bitblas as gb
from bitblas import Graph, cli
from bitblas.exceptions import InvalidValue
from bitblas.io import edgelist_parser, read_edgelist

FROM_ONE = r"vertex 0 has no edges: pass base=1 or labels=True"


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gb.config.set(device="cpu"):
        yield


def by_columns(edges, **options):
    source, target = map(list, zip(*edges))
    return Graph.from_table({"from": source, "to": target}, "from", "to", **options)


def by_lines(mark, kind):
    text = lambda edges: "".join(f"{i}{mark}{j}\n" for i, j in edges)
    return lambda edges, **options: Graph.read(io.StringIO(text(edges)), kind, **options)


ENTRANCES = {
    "from_edges": Graph.from_edges, "from_table": by_columns, "csv": by_lines(",", "csv"), "tsv": by_lines("\t", "tsv"),
    "edges": by_lines(" ", "edges"),
}  # fmt: skip


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("edges", [[(1, 2), (2, 3)], [(10, 20), (20, 30)], [(5, 1)]], ids=str)
def test_numbers_from_one_are_named(entrance, edges):
    read = ENTRANCES[entrance]
    with pytest.warns(UserWarning, match=FROM_ONE) as said:
        found = read(edges)
    assert len(said) == 1 and len(found) == 1 + max(map(max, edges)) and 0 not in dict(found.degree().largest(2))
    # Each of these is an answer, so that there is no warning.
    assert len(read(edges, base=1)) == max(map(max, edges))
    assert read(edges, base=1).matrix.nvals == len(edges)
    assert len(read(edges, base=0)) == len(found) == len(read(edges, size=len(found)))
    named = read(edges, labels=True)
    assert len(named) == len({end for edge in edges for end in edge})
    assert set(map(int, named.vertices)) == {end for edge in edges for end in edge}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_one_warning_of_ids(entrance):
    """Most numbers have no edge: only that is reported, whether or not vertex 0 is one of them."""
    for first in (0, 7_000_001):
        with pytest.warns(UserWarning, match=r"3 different vertex numbers, but 7000004 vertices.*labels=True") as said:
            ENTRANCES[entrance]([(first, 7_000_002), (7_000_002, 7_000_003)])
        assert len(said) == 1
    assert len(ENTRANCES[entrance]([(7_000_001, 7_000_002)], labels=True)) == 2
    assert ENTRANCES[entrance]([(0, 1), (1, 2)]).matrix.nvals == 2  # nothing to say


def test_files_in_chunks_and_parquet(tmp_path):
    path = tmp_path / "a.csv"
    for first, said in ((1, FROM_ONE), (7_000_001, "2 different vertex numbers, but 7000003 vertices")):
        path.write_text(f"{first},{first + 1}\n")
        for chunked in (True, False):
            with pytest.warns(UserWarning, match=said) as found:
                Graph.read(path, chunked=chunked)
            assert len(found) == 1
    path.write_text("1,2\n")
    assert Graph.read(path, chunked=True, base=1).matrix.shape == (2, 2)
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"source": [1], "target": [2]}).to_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match=rf"a\.parquet: {FROM_ONE}"):
        Graph.read(tmp_path / "a.parquet")
    assert Graph.read(tmp_path / "a.parquet", base=1).matrix.to_dicts() == {0: {1: True}}


def test_base_of_tables():
    graph = Graph.from_table({"source": [1, 2], "target": [2, 3], "w": [5, 6]}, weight="w", base=1, attributes=["w"])
    assert graph.matrix.to_dicts() == graph.by("w").matrix.to_dicts() == {0: {1: 5}, 1: {2: 6}}
    assert len(Graph.from_edges([(1, 2)], base=1, size=5)) == 5
    assert Graph.from_edges([("a", "b")], base=1).labels == ("a", "b")
    with pytest.raises(InvalidValue, match="column 'target': expected vertices from 1 to 3, got 0"):
        Graph.from_edges([(1, 0)], base=1, size=3)
    with pytest.raises(InvalidValue, match="column 'source': expected vertices from 1 to 3, got 4"):
        Graph.from_edges([(4, 1)], base=1, size=3)
    with pytest.raises(InvalidValue, match="expected every edge once, got 1 to 2 twice, in rows 0 and 1"):
        Graph.from_edges([(1, 2, 5), (1, 2, 6)], base=1)
    for base in (2, "1", -1):
        with pytest.raises(InvalidValue, match=r"base: expected 0 or 1, got "):
            Graph.from_edges([(1, 2)], base=base)


@pytest.mark.filterwarnings("always")
def test_the_command_line_names_its_options(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n2,3\n")
    said = "vertex 0 has no edges: pass --base 1 or --labels; --base 0 if this is intended\n"
    for options, vertices, warned in (
        ([], 4, said), (["--base", "1"], 3, ""), (["--base", "0"], 4, ""), (["--labels"], 3, ""),
        (["--size", "4"], 4, ""),
    ):  # fmt: skip
        assert cli.main(["info", str(path), "--device", "cpu", *options]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"{vertices} vertices") and err.endswith(warned) and bool(err) == bool(warned), options


# ---- names ----------------------------------------------------------------------------------------------------------


def read(text, **options):
    return read_edgelist(io.BytesIO(text.encode()), **options)


LONG = "a name of more than sixteen letters"
WORDS = {  # texts that the kernels read, or leave to the reader of lines, and how
    "blanks": ("".join(f"v{k * k % 97} \t w{k % 31}\n" for k in range(400)), {}),
    "long": (
        f"{LONG}\t{LONG}.\n\n{LONG[:16]}\t{LONG[:8]}\n{LONG}\tZürich\n Zürich \t{LONG[:17]}\r\n",
        {"delimiter": "\t"},
    ),
    "weights": ("a,b c,1\nb c,a,+2\nc,c,-3e2\n", {"delimiter": ","}),
    "decimal commas": ("a;b c;1,5\nb c;a;+2\nc;c;-3,25e2\n", {"delimiter": ";", "decimal": ","}),
    "third column": ("a b x\nc a y\n", {"weights": False}),
    "zeros": ("a\0,a\na,a\0\0\nb,a\0\n", {"delimiter": ","}),
    "quotes": ('a,"b, c"\nd,a\n', {"delimiter": ","}),
    "blanks of Unicode": ("a\u2003b\nb\u00a0c\n", {}),
}


@pytest.mark.parametrize("case", WORDS)
def test_names_by_kernels(case, tune):
    """The table of names, and the dictionary of a small file, number alike; also in blocks, the first of them small."""
    text, options = WORDS[case]
    expected = read(text, labels=True, **options)
    tune({"labels.kernel_bytes": 0, "labels.launch_words": 64})
    found = read(text, labels=True, **options)
    assert found.labels == expected.labels and found.matrix.isequal(expected.matrix, check_dtype=True)
    tune({"labels.kernel_bytes": 20})
    how = {"delimiter": None, "weights": None} | options
    layout = edgelist_parser.EdgeListOptions(header=False, labels=True, **how)
    reader = edgelist_parser.Reader("text", layout, 0, None)
    for line in text.encode().splitlines(keepends=True):
        reader.feed(line)
    rows, cols, _ = reader.finish()
    assert reader.labels == expected.labels
    assert set(zip(rows.tolist(), cols.tolist())) == set(expected.matrix)


@pytest.mark.parametrize("text", ["a b\nc\n", "a b\nc d e\n", "a,b\nc,\n", "a b 1\nb c x\n", "a b 1\nb c 1_0\n"])
def test_what_kernels_refuse_has_its_line(text, tune):
    tune({"labels.kernel_bytes": 0})
    with pytest.raises(InvalidValue, match="line 2"):
        read(text, labels=True, delimiter="," if "," in text else None)
