"""Graphs of WebGraph: every code, every part of a row, chunks, and files that are damaged."""

from __future__ import annotations

import numpy as np
import pytest
from webgraph_files import DEFAULT, coded, row, write

import bitblas as gb
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import webgraph
from bitblas.io.webgraph import read_webgraph


def web(n, seed=0):
    """Rows that copy, runs, far columns, empty rows."""
    rng = np.random.default_rng(seed)
    rows = []
    for x in range(n):
        found = set(rng.integers(0, n, rng.integers(0, 6)).tolist())
        start = int(rng.integers(0, n))
        found |= set(range(start, min(n, start + int(rng.integers(0, 12)))))
        if x and rng.random() < 0.8:
            other = rows[x - int(rng.integers(1, min(x, 9) + 1))]
            found |= {j for j in other if rng.random() < 0.8}
        rows.append(sorted(found) if rng.random() < 0.9 else [])
    return rows


def assert_holds(A, rows):
    assert A.shape == (len(rows), len(rows)) and A.dtype == gb.dtypes.BOOL
    assert list(zip(*(x.tolist() for x in A.to_coo()[:2]))) == [(x, j) for x, row in enumerate(rows) for j in row]


def test_codes_bit_by_bit():
    """Of the papers: gamma and zeta_3 as WebGraph has it, and a row of two copies, a run and two residuals."""
    for code, k, numbers in (
        ("gamma", 3, {0: "1", 1: "010", 2: "011", 3: "00100", 7: "0001000"}),
        ("delta", 3, {0: "1", 1: "0100", 2: "0101", 3: "01100", 7: "00100000"}),
        ("zeta", 3, {0: "100", 1: "1010", 2: "1011", 6: "1111", 7: "0100000"}),
        ("zeta", 1, {0: "1", 1: "010", 2: "011", 3: "00100"}),
    ):
        for number, expected in numbers.items():
            assert coded(code, number, k) == expected, (code, k, number)
    # eight columns; one row back; two blocks: 1 copied, 2 left, the rest copied; one run from 20; residuals 9 and 40
    found = row(10, [3, 9, 20, 21, 22, 23, 30, 40], [3, 5, 7, 30], 1, 4, 7, 3, DEFAULT)
    expected = "0001001010110100100100000101011101001011111"
    assert found == expected


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"window": 0, "least": 0},
        {"k": 1, "window": 1},
        {"outdegrees": "delta", "references": "gamma", "blocks": "delta", "block_count": "unary", "residuals": "gamma"},
        {"residuals": "delta", "references": "delta", "blocks": "unary", "least": 2, "window": 16},
    ],
    ids=["as usual", "neither copies nor runs", "copies of the row before", "other codes", "more of them"],
)
def test_every_code_and_part(tmp_path, how):
    rows = web(300)
    write(tmp_path / "g", rows, **how)
    assert_holds(read_webgraph(tmp_path / "g", device="cpu"), rows)


def test_names_forms_and_chunks(tmp_path, tune):
    """Chunks of a few rows, entries and bytes, and a row longer than any."""
    n = 250
    rows = web(n, seed=1)
    rows[150] = list(range(n))
    rows[151] = list(range(0, n, 2))
    write(tmp_path / "g", rows)
    whole = read_webgraph(tmp_path / "g.graph", device="cpu", name="web")
    assert_holds(whole, rows)
    assert whole.name == "web"
    tune({"webgraph.chunk_rows": 32, "webgraph.chunk_entries": 100, "webgraph.block": 16})
    chunks = list(webgraph.WebGraphChunks(str(tmp_path / "g"), False))
    assert len(chunks) > n // 32 and max(len(part) for part, _ in chunks) >= n
    assert read_webgraph(str(tmp_path / "g.properties"), device="cpu", format="nib", progress=False).isequal(whole)
    for empty in ([], [[], [], []]):
        write(tmp_path / "e", empty)
        assert_holds(read_webgraph(tmp_path / "e", device="cpu"), empty)


def changed(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("BVGraph\nver", "labelling.BitStreamArcLabelledImmutableGraph\nver", "a BVGraph, got graphclass=BitStream"),
        ("nodes=300", "nodes=many", "nodes from 0"),
        ("nodes=300", "nodes=-1", "nodes from 0"),
        ("nodes=300", "", "got none"),
        ("nodes=300", "nodes=299", "in row|arcs according to its properties"),
        ("nodes=300", "nodes=400", "end of the file in row"),
        ("version=0", "version=1", "version from 0 to 0"),
        ("windowsize=7", "windowsize=99999", "windowsize"),
        ("windowsize=7", "windowsize=0", "in row"),
        ("zetak=3", "zetak=0", "zetak"),
        ("compressionflags=", "compressionflags=RESIDUALS_NIBBLE", "RESIDUALS_NIBBLE"),
        ("zetak=3", "zetak=3\nendianness=little", "endianness=little"),
    ],
)
def test_properties_that_lie(tmp_path, old, new, message):
    write(tmp_path / "g", web(300))
    changed(tmp_path / "g.properties", old, new)
    with pytest.raises(InvalidValue, match=message) as error:
        read_webgraph(tmp_path / "g", device="cpu")
    assert str(tmp_path / "g") in str(error.value)


def test_one_code_for_blocks_and_their_number_where_the_byte_order_is_said(tmp_path):
    rows = web(100)
    write(tmp_path / "g", rows, blocks="delta", block_count="delta")
    changed(tmp_path / "g.properties", "BLOCKS_DELTA | BLOCK_COUNT_DELTA", "BLOCKS_DELTA")
    with pytest.raises(InvalidValue):
        read_webgraph(tmp_path / "g", device="cpu")
    changed(tmp_path / "g.properties", "zetak", "endianness=big\nzetak")
    assert_holds(read_webgraph(tmp_path / "g", device="cpu"), rows)


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"g\.properties"):
        read_webgraph(tmp_path / "g")
    write(tmp_path / "g", web(9))
    (tmp_path / "g.graph").unlink()
    with pytest.raises(FileNotFoundError, match=r"g\.graph"):
        read_webgraph(tmp_path / "g")
    with pytest.raises(TypeError, match="expected a path, got int"):
        read_webgraph(3)


def test_damaged_bytes_and_lengths(tmp_path):
    """A file that is cut short is refused; one whose bits changed is refused or is another graph of as many arcs."""
    rows = web(40)
    write(tmp_path / "g", rows)
    path = tmp_path / "g.graph"
    data = path.read_bytes()
    for length in range(0, len(data) - 1, 13):
        path.write_bytes(data[:length])
        with pytest.raises(InvalidValue, match=r"g\.graph: expected"):
            read_webgraph(tmp_path / "g", device="cpu")
    path.write_bytes(data + bytes(15))  # filled up to words
    assert_holds(read_webgraph(tmp_path / "g", device="cpu"), rows)
    path.write_bytes(data + bytes(40))
    with pytest.raises(InvalidValue, match="more bytes"):
        read_webgraph(tmp_path / "g", device="cpu")
    faults = set()
    for place in range(0, len(data), 2):
        for bits in (0xFF, 0x08):
            path.write_bytes(data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :])
            try:
                A = read_webgraph(tmp_path / "g", device="cpu")
            except InvalidValue as error:
                faults.add(str(error).partition("expected ")[2].partition(" in row")[0])
            else:
                assert A.nvals == sum(map(len, rows))
    assert len(faults) >= 5, faults


def test_a_row_that_does_not_fit_is_refused_before_memory_is_taken(tmp_path):
    """A row of 2^44 arcs: a run, in a few bytes."""
    n = 1 << 44
    parts = ("gamma", n), ("unary", 0), ("gamma", 1), ("gamma", 0), ("gamma", n - 4)
    text = "".join(coded(code, value) for code, value in parts)
    text += "0" * (-len(text) % 8)
    write(tmp_path / "g", [[]])
    (tmp_path / "g.graph").write_bytes(bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8)))
    changed(tmp_path / "g.properties", "nodes=1\narcs=0", f"nodes={n}\narcs={n}")
    with pytest.raises(OutOfMemory, match=f"row 0: {n} columns"):
        list(webgraph.WebGraphChunks(str(tmp_path / "g"), False))
