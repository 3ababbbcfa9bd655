"""Files read in chunks give the same matrices as files read at once, and the same errors."""

from __future__ import annotations

import contextlib
import gzip
import io

import numpy as np
import pytest

import bitblas as gb
from bitblas.config import config
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import mmread, read_edgelist

HEAD = "%%MatrixMarket matrix coordinate "
FILES = {
    "pattern": HEAD + "pattern general\n% words\n4 5 5\n1 2\n4 5\n1 2\n3 1\n2 2\n",
    "integer": HEAD + "integer symmetric\n4 4 4\n2 1 7\n3 3 -4\n4 1 0\n4 2 9\n",
    "real": HEAD + "real general\n3 9 4\n1 9 2\n2 1 .5\n3 3 1e3\n1 1 -7\n",
    "skew": HEAD + "real skew-symmetric\n3 3 2\n2 1 1.5\n3 2 2\n",
    "skew with zeros": HEAD + "integer skew-symmetric\n3 3 3\n1 1 0\n2 1 5\n3 3 -0\n",
    "empty": HEAD + "real general\n3 9 0\n",
    "spaces": HEAD + "integer general\n3 3 3\n\n1 1 2\n   \n 2 2\t4\n3 3 1",
}
LISTS = {
    "both ways": ("a b 2\nb a 1.5\nb c 3\n", {"directed": False}),
    "numbers": ("0 1\n1 2\n2 0\n0 1\n# words\n5 1\n", {}),
    "undirected": ("0 1 4\n1 2 5\n3 3 1\n", {"directed": False}),
    "mixed": ("1 2 4\n2 3 2.5\n3 1 7\n", {"base": 1}),
    "labels": ("ann bob\nbob cat\ncat ann\n", {}),
    "decimal commas": ("a;b;1,5\nb;c;2\nc;a;,25\n", {"delimiter": ";", "decimal": ","}),
    "size": ("0 1\n", {"size": 9}),
    "header": ("from,to,w\n0,1,3\n1,2,4\n2,1,5\n", {"delimiter": ","}),
}


@pytest.fixture(autouse=True)
def _small(tune, few_objects):
    """On the CPU, and in blocks of a line or two."""
    tune({"file.chunked_block": 20})
    with config.set(device="cpu"):
        yield


@pytest.mark.parametrize("name", FILES)
def test_matrix_market(name, tmp_path):
    for path, pack in ((tmp_path / "a.mtx", bytes), (tmp_path / "a.mtx.gz", gzip.compress)):
        path.write_bytes(pack(FILES[name].encode()))
        found, expected = mmread(path, chunked=True), mmread(path)
        assert found.isequal(expected, check_dtype=True) and found.shape == expected.shape
    with pytest.raises(InvalidValue, match="chunked: expected a path"):
        mmread(io.StringIO(FILES[name]), chunked=True)


@pytest.mark.parametrize("name", LISTS)
def test_edge_lists(name, tmp_path):
    text, how = LISTS[name]
    path = tmp_path / "a.edges"
    path.write_text(text)
    warned = (
        pytest.warns(UserWarning, match="both directions with") if name == "both ways" else contextlib.nullcontext()
    )
    with warned:
        found = read_edgelist(path, chunked=True, **how)
    with warned:
        expected = read_edgelist(path, **how)
    assert found.matrix.isequal(expected.matrix, check_dtype=True) and found.labels == expected.labels
    assert found.matrix.shape == expected.matrix.shape


def test_entries_that_are_there_twice(tmp_path):
    path = tmp_path / "a.edges"
    path.write_text("0 1 4\n1 0 5\n0 1 .5\n")
    with pytest.raises(InvalidValue, match=r"a\.edges, line 3: expected every edge once, got '0' to '1' twice"):
        read_edgelist(path, chunked=True)
    found = read_edgelist(path, chunked=True, dup_op=gb.binary.plus).matrix
    assert found.to_dicts() == {0: {1: 4.5}, 1: {0: 5.0}}


@pytest.mark.parametrize(
    "body, match",
    [
        ("real general\n3 3 2\n1 1 2\n", "expected 2 entries, got 1"),
        ("real general\n3 3 1\n1 1 2\n2 2 2\n", "line 4: expected 1 entries, got more"),
        (
            "real general\n3 3 1\n1 4 2\n",
            r"line 3: expected a row in 1\.\.3, a column in 1\.\.3, a real number, got '1 4 2'",
        ),
        ("real general\n2 3 2\n1 1 1\n3 2 2\n", r"line 4: expected a row in 1\.\.2"),
        ("integer general\n3 3 1\n1 1 2.5\n", r"line 3: expected .* an integer, got '1 1 2.5'"),
        ("pattern general\n3 3 1\n1 1 2\n", "line 3: expected .* and nothing after it, got '1 1 2'"),
        ("real general\n3 3 1\n% no\n1 1 x\n", "line 3: expected .*, got '% no'"),
        ("real general\n3 3 2\n1 1 1\n%no 1\n2 2 2\n", "line 4: expected .*, got '%no 1'"),
        ("real skew-symmetric\n3 3 1\n1 1 2\n", "line 3: expected zeros on the diagonal"),
    ],
)
def test_faults(body, match, tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(HEAD + body)
    errors = []
    for chunked in (False, True):
        with pytest.raises(InvalidValue, match=match) as caught:
            mmread(path, chunked=chunked)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_array_files_are_read_at_once(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix array real general\n1 2\n3\n4\n")
    with pytest.raises(InvalidValue, match="chunked: expected coordinates"):
        mmread(path, chunked=True)
    assert mmread(path).nvals == 2


def test_files_that_do_not_fit_at_once_are_read_in_chunks(tmp_path, tune):
    """With a limit below the memory of reading at once: the same matrix; below that of chunks: OutOfMemory."""
    rng = np.random.default_rng(5)
    n, k = 200, 60_000
    i, j = rng.integers(0, n, k), rng.integers(0, n, k)
    A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format="csr")
    text = "".join(f"{a} {b}\n" for a, b in zip(i + 1, j + 1))
    (tmp_path / "a.mtx").write_text(f"{HEAD}pattern general\n{n} {n} {k}\n{text}")
    (tmp_path / "a.edges").write_text(text)
    tune({"file.chunked_block": 20_000})
    for read in (
        lambda: mmread(tmp_path / "a.mtx", format="csr"),
        lambda: read_edgelist(tmp_path / "a.edges", base=1, size=n, format="csr").matrix,
    ):
        config.memory_limit = A.memory().total + 1_400_000
        try:
            found = read()
            config.memory_limit = 2 * A.memory().total + 100_000
            with pytest.raises(OutOfMemory, match=r"a\.\w+: 60000 entries from chunks as csr: needs"):
                read()
        finally:
            config.memory_limit = None
        assert found.isequal(A)
