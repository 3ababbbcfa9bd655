"""Figures of the papers that the formats come from, reproduced: sizes, ratios, codes, the sampling profile, classes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from coded_rows import bits_of, gamma, zeta
from test_formats import host

import bitblas as gb
from benchmarks import graphs
from bitblas.exceptions import InvalidValue
from bitblas.formats.mplg.layout import Mplg
from bitblas.formats.packing import packed_words, width_of
from bitblas.operations.row_sample import TILES, row_profile
from bitblas.plan.pattern import pattern_of

# ---- Bit-GraphBLAS: Chen, Sung, Shen, Tallent, Barker, Li. IPDPS 2022.

MYCIELSKIAN12 = {4: 675.70, 8: 361.46, 16: 358.89, 32: 429.89}  # KB of B2SR, section III.C


def of_graph(name: str, **options) -> gb.Matrix:
    graph = graphs.make(name)
    return gb.Matrix.from_csr(graph.ptr, graph.col, True, ncols=graph.n, **options)


@pytest.mark.parametrize("tile", MYCIELSKIAN12)
def test_sizes_of_mycielskian12(on_the_cpu, tile):
    """To the digit; in the paper a tile of T = 4 has four bytes, one per row, and two bytes here."""
    A = of_graph("mycielskian12", format="b2sr", tile=tile)
    layout = A._store.structure.primary
    more = 2 * len(layout.col) if tile == 4 else 0
    assert round((layout.nbytes + more) / 1024, 2) == MYCIELSKIAN12[tile]
    assert round((4 * (A.nrows + 1) + 8 * A.nvals) / (1 << 20), 2) == 3.12  # MB of CSR with FP32 values


def algorithm_1(A, chosen):
    """EstCompressionRate as the paper's lines have it, row by row and entry by entry."""
    rows = A._store.structure.plain_rows()
    RowPtr, ColInd = host(rows.ptr).tolist(), host(rows.col).tolist()
    ratios = {k: [] for k in (4, 8, 16, 32)}
    for i in chosen:
        for k in ratios:
            ColCounter = {}
            for e in range(RowPtr[i], RowPtr[i + 1]):
                ColCounter[ColInd[e] // k] = ColCounter.get(ColInd[e] // k, 0) + 1
            NnzElement, NnzBitRow = RowPtr[i + 1] - RowPtr[i], len(ColCounter)
            if NnzBitRow:
                ratios[k].append(NnzElement / NnzBitRow)
    return {k: float(np.mean(found)) if found else 0.0 for k, found in ratios.items()}


FORMS = ("csr", "mplg", "nib", "cgr", "b2sr", "split", "virtual")


@pytest.mark.parametrize("form", FORMS)
def test_sampling_profile(device, form):
    """Algorithm 1 of the rows that were sampled, in every format, next to the estimate from entries."""
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 90, 700), rng.integers(0, 20, 700) * rng.integers(1, 6, 700)
    keep = i % 7 > 0  # some rows are empty
    A = gb.Matrix.from_coo(i[keep], j[keep], True, nrows=90, ncols=101, format=form)
    held = A.memory().total
    for count, seed in ((1, 0), (30, 0), (30, 4), (90, 2)):
        chosen = np.random.default_rng(seed).choice(90, count, replace=False)
        seen, expected = row_profile(A._store, count, seed), algorithm_1(A, chosen)
        assert seen.rate == pytest.approx(expected) and seen.rows == count
        assert (seen.nonempty, seen.nvals) == (np.count_nonzero(chosen % 7), A.nvals)
    assert seen.entries == A.nvals and set(seen.rate_error.values()) == {0.0}, "all rows: nothing is estimated"
    exact = dict(A.profile().facts.tiles)
    assert {tile: seen.tiles[tile] for tile in TILES} == pytest.approx({tile: exact[tile] for tile in TILES})
    assert A.profile(rows=30) == row_profile(A._store, 30) and A.format.startswith(form)
    assert A.memory().total == held, "unchanged"


def test_what_the_sampling_profile_reports(on_the_cpu):
    A = of_graph("mycielskian12", format="csr")
    seen = A.profile(rows=1000)
    for tile in TILES:
        B = of_graph("mycielskian12", format="b2sr", tile=tile)
        right = B._store.structure.primary.nbytes / seen.csr
        assert seen.by_entries(tile) == pytest.approx(right, rel=0.1)
        assert seen.by_rows(tile) < right, "a lower bound: some bit rows of a tile are empty"
        assert 0 < seen.rate_error[tile] < 0.1 * seen.rate[tile]
    assert list(seen.rate.values()) == sorted(seen.rate.values()), "a bit row of 32 has those of 16"
    lines = str(seen).splitlines()
    assert len(lines) == 6 and lines[0].startswith("3071 x 3071, 407200 entries; 1000 sampled rows")
    assert [line.split()[0] for line in lines[1:]] == ["tile", "4", "8", "16", "32"] and "<table>" in seen._repr_html_()
    empty = gb.Matrix(bool, 4, 3).profile(rows=2)
    assert empty.rate == dict.fromkeys(TILES, 0.0) and (empty.nonempty, empty.entries) == (0, 0)


def test_rows_to_sample(device):
    A = gb.Matrix.from_coo([0, 1], [1, 0], True)
    for rows in (0, 3):
        with pytest.raises(InvalidValue, match=f"rows: expected 1 to 2 rows to sample, got {rows}"):
            A.profile(rows=rows)
    for rows in (1.5, True, "2"):
        with pytest.raises(TypeError, match="rows: expected a non-negative integer"):
            A.profile(rows=rows)
    for other in ({"measure": True}, {"orders": True}, {"virtual_nodes": True}):
        with pytest.raises(InvalidValue, match="profile: expected rows alone"):
            A.profile(rows=1, **other)


def blocks(n: int, size: int):
    """Full squares apart from the diagonal."""
    i, j = np.divmod(np.arange(size * size), size)
    return np.concatenate([i, i + n // 2]), np.concatenate([j + n // 2, j])


def lines(n: int):
    """A steep line, a flat one, and one that falls."""
    k = np.arange(n)
    return np.concatenate([k, k // 5, n - 1 - k]), np.concatenate([k // 4, k, k])


CLASSES = {
    "diagonal": lambda n: (np.repeat(np.arange(n), 5), (np.arange(n)[:, None] + np.arange(5)).ravel().clip(0, n - 1)),
    "block": lambda n: blocks(n, n // 6),
    "stripe": lines,
    "dot": lambda n: tuple(np.random.default_rng(2).integers(0, n, (2, 12 * n))),
}


@pytest.mark.parametrize("form", (*FORMS, "hyper", "bitmap"))
@pytest.mark.parametrize("kind", CLASSES)
def test_pattern_classes(device, kind, form):
    i, j = CLASSES[kind](600)
    A = gb.Matrix.from_coo(i, j, True, nrows=600, ncols=600, format=form)
    found = A.profile().pattern
    assert found == pattern_of(A._store.structure) and found.classes[0] == kind
    assert sum(found.shares.values()) == pytest.approx(1) and found.shares[kind] > 0.6
    assert f"pattern: {found}" in str(A.profile())


def test_pattern_classes_of_the_paper(on_the_cpu):
    """mycielskian9 and 10 are among its blocks."""
    for name in ("mycielskian9", "mycielskian10"):
        assert "block" in of_graph(name).profile().pattern.classes
    found = of_graph("road_ny").profile().pattern
    assert found.classes == ("diagonal", "road", "hybrid") and str(found).startswith("hybrid: diagonal (9")
    assert of_graph("even_n12").profile().pattern.classes == ("dot",)
    assert gb.Matrix(bool, 3, 3).profile().pattern.classes == () and "pattern" not in str(
        gb.Matrix(bool, 3, 3).profile()
    )
    assert gb.Matrix.from_coo([0], [0], True).profile().pattern.shares["dot"] in (0.0, 1.0)


SCHEMES = Path(__file__).parents[1] / "docs" / "semiring_schemes.py"


def test_table_of_semirings_and_schemes(on_the_cpu):
    """As the paper's Table IV: what the products of every algorithm read and write, from their plans."""
    module = runpy.run_path(str(SCHEMES))
    kept = (SCHEMES.parents[1] / "semirings" / "data" / "algorithms.md").read_text()
    assert kept == f"{module['table']()}\n", "python docs/semiring_schemes.py > semirings/data/algorithms.md"
    for verb, semiring, kind, scheme in (
        ("vxm", "any_pair", "words", "bin-bin-bin"), ("mxv", "plus_pair", "count", "bin-bin-full"),
        ("mxv", "plus_second", "values", "bin-full-full"), ("vxm", "plus_first", "values", "bin-full-full"),
        ("mxv", "plus_first", "values", "full-bin-full"), ("vxm", "any_secondi", "values", "bin-bin-full"),
        ("mxv", "min_plus", "values", "full-full-full"),
    ):  # fmt: skip
        assert module["scheme_of"](verb, semiring, kind) == scheme


# ---- MPLG: Azami, Burtscher. Compressed In-memory Graphs for Accelerating GPU-based Analytics.

# Vertices, and the compression ratio of Table II in percent: bits of a column over 32, cut after a digit.
TABLE_2 = {
    "2d-2e20.sym": (1048576, 62.5), "amazon0601": (403394, 59.3), "as-skitter": (1696415, 65.6),
    "cit-Patents": (3774768, 68.7), "citationCiteseer": (268495, 59.3), "coPapersDBLP": (540486, 62.5),
    "delaunay_n24": (16777216, 78.1), "europa_osm": (50912018, 81.2), "in-2004": (1382908, 65.6),
    "kron_g500-logn21": (2097152, 65.6), "r4-2e23.sym": (8388608, 71.8), "rmat22.sym": (4194304, 71.8),
    "soc-LiveJournal1": (4847571, 71.8), "uk-2002": (18520486, 78.1), "USA-road-d.USA": (23947347, 78.1),
}  # fmt: skip
WIDER = {"delaunay_n24", "rmat22.sym"}  # 2^k vertices: k bits suffice, the paper has k + 1


@pytest.mark.parametrize("name", TABLE_2)
def test_ratios_of_table_2(name):
    """13 of 15; with a bit more the other two. Three other graphs of 2^k vertices have k bits in the paper, too."""
    n, percent = TABLE_2[name]
    width = width_of(n) + (name in WIDER)
    assert int(1000 * width / 32) / 10 == percent
    assert name not in WIDER or n == 1 << (width - 1)


def test_log_encoding(device):
    """Three numbers of 14 bits in two words (Figure 2); ours have a word after them."""
    A = gb.Matrix.from_coo([0, 0, 0], [1, 5, 9000], True, nrows=1, ncols=1 << 14, format="mplg")
    layout = A._store.structure.primary
    assert isinstance(layout, Mplg) and layout.width == 14 and len(layout.col) == packed_words(3, 14) == 2 + 1


# ---- CGR: Sha, Li, Tan. GPU-based Graph Traversal on Compressed Graphs. SIGMOD 2019.

NODE_16 = [12, 18, 19, 20, 21, 24, 27, 28, 29, 101]
TABLE_3 = {  # integer: gamma code and zeta_3 code
    1: ("1", "1001"), 2: ("010", "1010"), 3: ("011", "1011"), 4: ("00100", "1100"), 5: ("00101", "1101"),
    6: ("00110", "1110"), 12: ("0001100", "01001100"), 34: ("00000100010", "01100010"),
}  # fmt: skip


def test_codes_of_table_3():
    """A code of x is one of x + 1 in the paper: its codes have no zero (appendix C)."""
    assert {n: (gamma(n - 1), zeta(n - 1)) for n in TABLE_3} == TABLE_3


def test_node_16(device):
    """Example 3.1: 320 bits become 55 if every number is a gamma code and nothing is shifted; 56 in the authors'
    program, which is what CGR stores (bit by bit: test_cgr.py, test_the_code)."""
    signed = lambda x: 2 * x if x >= 0 else 2 * -x + 1  # appendix C; the program has 2 |x| - 1 for negative numbers
    shown = [10, 2, signed(2), 4, 6, 3, signed(-4), 12, 77]  # degree, intervals, (start, length) of each, residuals
    assert len("".join(gamma(x - 1) for x in shown)) == 55
    A = gb.Matrix.from_coo([16] * 10, NODE_16, True, nrows=102, ncols=102, format="cgr")
    assert len(bits_of(A._store.structure.primary, 16)) == 56 and 32 * len(NODE_16) == 320
