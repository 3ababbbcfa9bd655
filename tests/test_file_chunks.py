"""Files read in chunks give the same matrices as files read at once, and the same errors."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from mm_files import ARRAY, BAD, COMPLEX, GOOD, PATTERN, REAL

import bitblas as gb
from bitblas.config import config
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import mmread, read_edgelist

FAULTS = {name: text for name, (text, _) in BAD.items()} | {
    "column too high": REAL + "3 3 1\n1 4 2\n",
    "comment like an entry": REAL + "3 3 2\n1 1 1\n%no 1\n2 2 2\n",
}


@pytest.fixture(autouse=True)
def _small(tune, few_objects):
    """On the CPU, and in blocks of a line or two."""
    tune({"file.chunked_block": 20})
    with config.set(device="cpu"):
        yield


def at_once_only(text):
    return text.startswith((ARRAY.partition(" real")[0], COMPLEX.partition(" general")[0]))


@pytest.mark.parametrize("text", [text for text, *_ in GOOD.values()], ids=GOOD)
def test_matrix_market(text, tmp_path):
    for path, pack in ((tmp_path / "a.mtx", bytes), (tmp_path / "a.mtx.gz", gzip.compress)):
        path.write_bytes(pack(text.encode()))
        expected = mmread(path)
        if at_once_only(text):
            with pytest.raises(InvalidValue, match="chunked: expected coordinates"):
                mmread(path, chunked=True)
        else:
            found = mmread(path, chunked=True)
            assert found.isequal(expected, check_dtype=True) and found.shape == expected.shape
    with pytest.raises(InvalidValue, match="chunked: expected a path"):
        mmread(io.StringIO(text), chunked=True)


@pytest.mark.parametrize("text", FAULTS.values(), ids=FAULTS)
def test_faults(text, tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(text)
    errors = []
    for chunked in (False, True):
        with pytest.raises(InvalidValue) as caught:
            mmread(path, chunked=chunked)
        errors.append(str(caught.value))
    if at_once_only(text) and "line 1:" not in errors[0]:
        assert "chunked: expected coordinates" in errors[1]
    else:  # entries of other chunks are not listed by line
        assert errors[1] == errors[0] or "expected every entry once, got one twice" in errors[1]


def test_files_that_do_not_fit_at_once_are_read_in_chunks(tmp_path, tune):
    """With a limit below the memory of reading at once: the same matrix; below that of chunks: OutOfMemory."""
    rng = np.random.default_rng(5)
    n, k = 200, 60_000
    i, j = rng.integers(0, n, k), rng.integers(0, n, k)
    A = gb.Matrix.from_coo(i, j, True, nrows=n, ncols=n, format="csr")
    text = "".join(f"{a} {b}\n" for a, b in zip(i + 1, j + 1))
    (tmp_path / "a.mtx").write_text(f"{PATTERN}{n} {n} {k}\n{text}")
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
