"""What goes in comes out, what python-graphblas reads we read alike, and what is broken is named."""

import bz2
import codecs
import gzip
import io
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bitblas as gb
from bitblas.io import (
    from_graphblas,
    from_networkx,
    from_scipy_sparse,
    mmfile,
    mmread,
    mmwrite,
    read,
    replacing,
    to_graphblas,
    to_networkx,
    to_scipy_sparse,
    write,
)

REAL = "%%MatrixMarket matrix coordinate real general\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n"
INTEGER = "%%MatrixMarket matrix coordinate integer general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"
DTYPES = "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FP32 FP64".split()

GOOD = {
    "pattern": (PATTERN + "2 3 2\n1 3\n2 1\n", "BOOL", (2, 3), {(0, 2): True, (1, 0): True}),
    "pattern twice": (PATTERN + "2 2 2\n1 1\n1 1\n", "BOOL", (2, 2), {(0, 0): True}),
    "integer": (INTEGER + "2 2 2\n1 1 -5\n2 2 7\n", "INT64", (2, 2), {(0, 0): -5, (1, 1): 7}),
    "real": (REAL + "2 2 2\n1 1 1.5\n2 1 -2E-3\n", "FP64", (2, 2), {(0, 0): 1.5, (1, 0): -2e-3}),
    "explicit zeros": (REAL + "2 2 2\n1 1 0\n2 1 0.0\n", "FP64", (2, 2), {(0, 0): 0.0, (1, 0): 0.0}),
    "infinite": (REAL + "1 2 2\n1 1 inf\n1 2 -Infinity\n", "FP64", (1, 2), {(0, 0): np.inf, (0, 1): -np.inf}),
    "symmetric": (REAL.replace("general", "symmetric") + "2 2 2\n1 1 1\n2 1 3\n", "FP64", (2, 2),
                  {(0, 0): 1, (1, 0): 3, (0, 1): 3}),
    "skew": (INTEGER.replace("general", "skew-symmetric") + "2 2 1\n2 1 3\n", "INT64", (2, 2), {(1, 0): 3, (0, 1): -3}),
    "skew with zeros": (REAL.replace("general", "skew-symmetric") + "2 2 3\n1 1 0\n2 1 3\n2 2 -0.0\n", "FP64", (2, 2),
                        {(0, 0): 0, (1, 0): 3, (0, 1): -3, (1, 1): 0}),
    "array": (ARRAY + "2 2\n1\n0\n3\n4\n", "FP64", (2, 2), {(0, 0): 1, (1, 0): 0, (0, 1): 3, (1, 1): 4}),
    "array symmetric": (ARRAY.replace("general", "symmetric") + "2 2\n1\n2\n3\n", "FP64", (2, 2),
                        {(0, 0): 1, (1, 0): 2, (0, 1): 2, (1, 1): 3}),
    "no entries": (PATTERN + "3 4 0\n", "BOOL", (3, 4), {}),
    "nothing": (REAL + "0 0 0\n", "FP64", (0, 0), {}),
    "comments, blanks": (REAL + "% c\n\n%\n 2  2\t1 \n\n1 2  5\n\n", "FP64", (2, 2), {(0, 1): 5}),
    "DOS": ((PATTERN + "% c\n2 2 1\n2 2\n").replace("\n", "\r\n"), "BOOL", (2, 2), {(1, 1): True}),
    "no last newline": (REAL + "1 1 1\n1 1 2", "FP64", (1, 1), {(0, 0): 2}),
    "long comment": (REAL + "%" * 300_000 + "\n2 2 1\n1 2 5\n", "FP64", (2, 2), {(0, 1): 5}),
    "capitals": (PATTERN.upper() + "1 1 1\n1 1\n", "BOOL", (1, 1), {(0, 0): True}),
}  # fmt: skip

BAD = {
    "empty": ("", ["line 1", "an empty file"]),
    "junk": ("hello\n", ["line 1", "%%MatrixMarket", "hello"]),
    "no symmetry": ("%%MatrixMarket matrix coordinate real\n1 1 0\n", ["line 1"]),
    "vector": (REAL.replace("matrix", "vector", 1) + "1 0\n", ["line 1"]),
    "complex": (REAL.replace("real", "complex") + "1 1 1\n1 1 1 2\n", ["line 1", "real, integer", "complex"]),
    "hermitian": (REAL.replace("general", "hermitian") + "1 1 0\n", ["line 1", "hermitian"]),
    "array pattern": (ARRAY.replace("real", "pattern") + "1 1\n", ["line 1"]),
    "no size": (REAL + "% c\n", ["line 3", "end of the file"]),
    "short size": (REAL + "3 3\n1 1 5\n", ["line 2", "'3 3'"]),
    "negative size": (REAL + "-3 3 0\n", ["line 2", "-3"]),
    "huge size": (REAL + "99999999999999999999 3 0\n", ["line 2", "2^63"]),
    "not square": (REAL.replace("general", "symmetric") + "2 3 0\n", ["line 2", "square", "2 x 3"]),
    "row 0": (REAL + "3 3 1\n0 1 5\n", ["line 3", "1..3", "0 1 5"]),
    "row too high": (REAL + "% c\n3 3 2\n1 1 5\n4 1 2\n", ["line 5", "1..3", "4 1 2"]),
    "cut": (REAL + "3 3 3\n1 1 5\n2 2 1\n", ["expected 3 entries, got 2"]),
    "too long": (PATTERN + "3 3 1\n1 1\n2 2\n", ["line 4", "got more"]),
    "word": (REAL + "3 3 2\n1 1 5\n2 x 1\n", ["line 4", "2 x 1"]),
    "comment inside": (PATTERN + "3 3 2\n1 1\n% c\n2 2\n", ["line 4", "% c"]),
    "no value": (REAL + "3 3 2\n1 1\n2 2 1\n", ["line 3", "a real number"]),
    "value in a pattern": (PATTERN + "3 3 2\n1 1\n2 2 9\n", ["line 4", "nothing after it", "2 2 9"]),
    "two values": (REAL + "3 3 1\n1 1 9 9\n", ["line 3", "nothing after it"]),
    "fraction for an integer": (INTEGER + "2 2 1\n1 1 1.5\n", ["line 3", "an integer", "1 1 1.5"]),
    "Fortran's exponent": (REAL + "2 2 1\n1 1 1.0D+02\n", ["line 3", "1.0D+02", "written with E"]),
    "value overflows": (INTEGER + "2 2 1\n1 1 99999999999999999999\n", ["line 3", "out of range"]),
    "index overflows": (PATTERN + "2 2 1\n99999999999999999999 1\n", ["line 3", "out of range"]),
    "skew diagonal": (REAL.replace("general", "skew-symmetric") + "2 2 1\n1 1 1\n", ["line 3", "diagonal"]),
    "skew diagonal of NaN": (REAL.replace("general", "skew-symmetric") + "2 2 2\n2 2 0\n1 1 nan\n", ["line 4", "zero"]),
    "array cut": (ARRAY + "2 2\n1\n2\n3\n", ["expected 4 entries, got 3"]),
    "array too long": (ARRAY + "1 1\n1\n2\n", ["line 4", "expected 1 entries, got more"]),
    "array of several a line": (ARRAY + "2 2\n1 2\n3 4\n", ["line 3", "a real number and nothing after it, got '1 2'"]),
    "array symmetric cut": (ARRAY.replace("general", "symmetric") + "2 2\n1\n2\n", ["expected 3 entries, got 2"]),
    "array skew cut": (ARRAY.replace("general", "skew-symmetric") + "3 3\n1\n2\n", ["expected 3 entries, got 2"]),
    "array skew too long": (ARRAY.replace("general", "skew-symmetric") + "2 2\n1\n\n2\n",
                            ["line 5", "expected 1 entries, got more"]),
    "exponent cut": (REAL + "1 1 1\n1 1 1e", ["line 3", "1 1 1e"]),
    "size of many digits": (REAL + "9" * 5000 + " 1 0\n", ["line 2", "2^63"]),
    "twice": (REAL + "2 2 2\n2 1 1\n2 1 2\n", ["line 4", "row 2, column 1", "dup_op"]),
    "both triangles": (REAL.replace("general", "symmetric") + "2 2 2\n\n1 2 1\n2 1 3\n",
                       ["line 5", "row 1, column 2", "dup_op"]),
}  # fmt: skip


def as_dict(A):
    rows, cols, values = A.to_coo()
    return dict(zip(zip(rows.tolist(), cols.tolist()), values.tolist()))


def sample(dtype, n=40):
    """A matrix with entries of that dtype, some of them zero, at the limits of the type."""
    rng = np.random.default_rng(1)
    at = rng.choice(n * (n + 3), 60, replace=False)
    kind = np.dtype(getattr(gb.dtypes, dtype).np_type)
    if kind.kind == "f":
        values = rng.standard_normal(60).astype(kind)
        values[:4] = [np.finfo(kind).max, np.finfo(kind).tiny, -np.inf, 1 / 3]
    elif kind.kind == "b":
        values = rng.random(60) < 0.5
    else:
        values = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, 60, kind, endpoint=True)
        values[:2] = [np.iinfo(kind).min, np.iinfo(kind).max]
    values[4:8] = 0
    return gb.Matrix.from_coo(at // (n + 3), at % (n + 3), values, dtype, nrows=n, ncols=n + 3)


def same(A, B):
    for a, b in zip(A.to_coo(), B.to_coo(), strict=True):
        assert np.array_equal(a, b)
    assert (str(A.dtype), A.nrows, A.ncols) == (str(B.dtype), B.nrows, B.ncols)


# --- Matrix Market in ---


@pytest.mark.parametrize("text, dtype, shape, entries", GOOD.values(), ids=GOOD)
def test_reads(tmp_path, text, dtype, shape, entries):
    path = tmp_path / "graph.mtx"
    path.write_bytes(text.encode())
    A = mmread(path)
    assert (str(A.dtype), A.shape, as_dict(A)) == (dtype, shape, entries)
    for source in (str(path), io.BytesIO(text.encode()), io.StringIO(text)):
        same(A, mmread(source))


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")  # python-graphblas' call
@pytest.mark.parametrize("text, dtype, shape, entries", GOOD.values(), ids=GOOD)
def test_reads_as_python_graphblas(text, dtype, shape, entries):
    graphblas = pytest.importorskip("graphblas")
    theirs = graphblas.io.mmread(
        io.BytesIO(text.replace(PATTERN.upper(), PATTERN).encode()),
        engine="scipy",
        dup_op=graphblas.binary.any if dtype == "BOOL" else None,
    )
    assert to_graphblas(mmread(io.BytesIO(text.encode()))).isequal(theirs)


@pytest.mark.parametrize("text, words", BAD.values(), ids=BAD)
def test_names_the_fault(tmp_path, text, words):
    path = tmp_path / "graph.mtx"
    path.write_bytes(text.encode())
    with pytest.raises(gb.exceptions.InvalidValue) as caught:
        mmread(path)
    for word in [str(path), *words]:
        assert word in str(caught.value)
    with pytest.raises(gb.exceptions.InvalidValue):
        mmread(io.StringIO(text))


def test_impossible_count(tmp_path):
    for name, data in [("a.mtx", b"%b3 3 99999999999\n1 1 5\n"), ("a.mtx.gz", b"%b3 3 99999999999\n1 1 5\n")]:
        data %= REAL.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        with pytest.raises(gb.exceptions.InvalidValue, match="99999999999 entries, but a file of"):
            mmread(tmp_path / name)


@pytest.mark.parametrize("text", [ARRAY + "2 2\n1 2\n3 4\n", ARRAY + "2 2\n1\n2\n3\n", ARRAY + "1 1\n1\n2\n"])
def test_names_the_count_where_lines_are_gone(text):
    with pytest.raises(gb.exceptions.InvalidValue, match=r"expected [14] entries, (one a line|got 3|got more)"):
        mmread(io.BytesIO(text.encode()))


@pytest.mark.parametrize("start, line", [("", 1), (REAL, 2), (REAL + "% c\n", 3), (REAL + "3 3 5000\n1 1 5\n", 4)])
@pytest.mark.parametrize("text", ["1 1 ", "0", "%", " "])
def test_endless_line(tmp_path, start, line, text):
    """A small file that unpacks to one line of 100 MB is refused when little of it is unpacked."""
    path = tmp_path / "a.mtx.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(start.encode())
        for _ in range(100):
            stream.write((text * (1_000_000 // len(text))).encode())
    tracemalloc.start()
    try:
        for options in ({}, {"chunked": True}):
            with pytest.raises(gb.exceptions.InvalidValue, match=f"line {line}: expected at most 1048576 bytes"):
                mmread(path, **options)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", [gzip, bz2])
def test_compressed(tmp_path, pack):
    text, _, _, entries = GOOD["real"]
    path = tmp_path / "graph.mtx.gz"
    path.write_bytes(pack.compress(text.encode()))
    if pack is gzip:
        assert as_dict(mmread(path)) == entries
    assert as_dict(mmread(io.BytesIO(path.read_bytes()))) == entries
    for broken in (path.read_bytes()[:-9], path.read_bytes()[:-8] + b"12345678"):
        with pytest.raises(gb.exceptions.InvalidValue, match="compressed data"):
            mmread(io.BytesIO(broken))


def test_not_compressed(tmp_path):
    path = tmp_path / "graph.mtx.gz"
    path.write_text(GOOD["real"][0])
    with pytest.raises(gb.exceptions.InvalidValue, match="expected gzip data"):
        mmread(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        mmread(tmp_path / "none.mtx")
    with pytest.raises(IsADirectoryError):
        mmread(tmp_path)
    with pytest.raises(TypeError, match="expected a path or an open file, got int"):
        mmread(3)


def test_duplicates_joined():
    text = REAL + "2 2 3\n2 1 1\n1 1 4\n2 1 2\n"
    assert as_dict(mmread(io.StringIO(text), dup_op=gb.binary.plus)) == {(1, 0): 3, (0, 0): 4}


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype(dtype):
    A = mmread(io.StringIO(PATTERN + "2 2 1\n1 2\n"), dtype=dtype)
    assert str(A.dtype) == dtype
    assert as_dict(A) == {(0, 1): 1}


def test_chunks(monkeypatch):
    """Lines and numbers that lie across the borders of what is read at once."""
    entries = {(i, (7 * i) % 100): i * 1.25 for i in range(100)}
    text = REAL + f"100 100 {len(entries)}\n" + "".join(f"{i + 1} {j + 1} {x}\n" for (i, j), x in entries.items())

    class Short(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7) if size > 0 else size)

    assert as_dict(mmread(Short(text.encode()))) == entries
    with pytest.raises(gb.exceptions.InvalidValue, match="line 102: "):
        mmread(Short(text.replace("100 94 123.75", "100 94 x").encode()))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_is_one_exception(data):
    text = bytearray(data.draw(st.sampled_from(sorted(GOOD.values(), key=str)))[0].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3) | st.sampled_from([b"9", b"\n"]))
        if not text:
            break
    try:
        mmfile.read(io.BytesIO(bytes(text)))
    except (gb.exceptions.InvalidValue, gb.exceptions.OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")


# --- Matrix Market out ---


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_round_trip(tmp_path, dtype, name):
    A = sample(dtype)
    mmwrite(tmp_path / name, A)
    same(A, mmread(tmp_path / name, dtype=dtype))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    stream = io.BytesIO()
    mmwrite(stream, A, comment="made by a test")
    assert b"made by a test" in stream.getvalue()
    stream.seek(0)
    same(A, mmread(stream, dtype=dtype))


def test_write_pattern_and_vector():
    stream = io.BytesIO()
    mmwrite(stream, gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2))
    assert stream.getvalue().splitlines()[0] == PATTERN.strip().encode()
    stream = io.BytesIO()
    mmwrite(stream, gb.Vector.from_coo([3], [2.5], size=5))
    stream.seek(0)
    A = mmread(stream)
    assert (A.shape, as_dict(A)) == ((5, 1), {(3, 0): 2.5})


def test_nothing_half_written(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("before")
    with pytest.raises(RuntimeError), replacing(path) as stream:
        stream.write(b"half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.mtx"]
    with pytest.raises(FileNotFoundError, match="none"):
        mmwrite(tmp_path / "none" / "a.mtx", sample("FP64"))


def test_write_into_a_device_and_nowhere():
    mmwrite("/dev/null", sample("FP64"))
    with pytest.raises(TypeError, match="target: expected a path"):
        mmwrite(3, sample("FP64"))


def test_does_not_fit():
    for head in ("999999999999 3 1", "3 999999999999 1"):
        with pytest.raises(gb.exceptions.OutOfMemory, match="<StringIO>, line 2: "):
            mmread(io.StringIO(PATTERN + head + "\n1 1\n"))


def test_shipped_graph():
    from bitblas.compare.comparison import demo_path

    A = mmread(demo_path())
    assert (A.shape, A.nvals, str(A.dtype)) == ((264346, 264346), 730100, "BOOL")


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "general"])
def test_write_symmetry(symmetry):
    sign = {"symmetric": 1, "skew-symmetric": -1, "general": 2}[symmetry]
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.5, sign * 1.5, np.inf, sign * np.inf], nrows=3, ncols=3)
    stream = io.BytesIO()
    mmwrite(stream, A)
    lines = stream.getvalue().decode().splitlines()
    assert lines[0].split()[-1] == symmetry
    assert len([line for line in lines if line[0] != "%"]) == (5 if symmetry == "general" else 3)
    same(A, mmread(io.BytesIO(stream.getvalue())))
    for asked in ("symmetric", "skew-symmetric", "general"):
        if asked in (symmetry, "general"):
            stream = io.BytesIO()
            mmwrite(stream, A, symmetry=asked)
            same(A, mmread(io.BytesIO(stream.getvalue())))
        else:
            with pytest.raises(gb.exceptions.InvalidValue, match=f"a matrix that is {asked}"):
                mmwrite(stream, A, symmetry=asked)


def test_write_skew_symmetric_with_zeros():
    """The standard has no diagonal there, so that such a file is written on demand alone."""
    A = gb.Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], [0.0, 2.5, -2.5, -0.0], nrows=2, ncols=2)
    for asked in (None, "skew-symmetric"):
        stream = io.BytesIO()
        mmwrite(stream, A, symmetry=asked)
        assert stream.getvalue().splitlines()[0].endswith((asked or "general").encode())
        same(A, mmread(io.BytesIO(stream.getvalue())))
    A[1, 1] = 1
    with pytest.raises(gb.exceptions.InvalidValue, match="a matrix that is skew-symmetric"):
        mmwrite(io.BytesIO(), A, symmetry="skew-symmetric")


@pytest.mark.parametrize("values", [[1.5, 1.5, 2.0, 2.0, 3.0, 3.0], [1.5, -1.5, 2.0, 3.0, 3.0, 4.0]])
def test_write_transpose(values):
    graphblas = pytest.importorskip("graphblas")
    A = gb.Matrix.from_coo([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], values, nrows=3, ncols=3)
    files = []
    for M in (A.T, A.T.new(), to_graphblas(A).T):
        stream = io.BytesIO()
        mmwrite(stream, M)
        same(A.T.new(), mmread(io.BytesIO(stream.getvalue())))
        files.append(stream.getvalue().split(b"\n"))
    assert files[0] == files[1] == files[2]
    assert isinstance(to_graphblas(A.T), graphblas.Matrix) and to_graphblas(A.T).isequal(to_graphblas(A).T.new())


def test_symmetry_is_exact():
    zeros = gb.Matrix.from_coo([0, 1], [1, 0], [0.0, -0.0], nrows=2, ncols=2)
    stream = io.BytesIO()
    mmwrite(stream, zeros)
    back = mmread(io.BytesIO(stream.getvalue()))
    assert np.signbit(back.to_coo()[2]).tolist() == [False, True]
    nan = gb.Matrix.from_coo([0, 1], [1, 0], [np.nan, np.nan], nrows=2, ncols=2)
    stream = io.BytesIO()
    mmwrite(stream, nan)
    assert b"symmetric" in stream.getvalue()


def test_write_field_and_precision():
    A = gb.Matrix.from_coo([0, 1], [1, 1], [2.0, 3.0], nrows=2, ncols=2)
    found = {}
    for field in ("real", "integer", "pattern"):
        stream = io.BytesIO()
        mmwrite(stream, A, field=field)
        found[field] = mmread(io.BytesIO(stream.getvalue()))
    assert {field: str(B.dtype) for field, B in found.items()} == {
        "real": "FP64", "integer": "INT64", "pattern": "BOOL"
    }  # fmt: skip
    assert as_dict(found["real"]) == as_dict(found["integer"]) == {(0, 1): 2, (1, 1): 3}
    stream = io.BytesIO()
    mmwrite(stream, gb.Matrix.from_coo([0], [0], [1 / 3]), precision=3)
    assert as_dict(mmread(io.BytesIO(stream.getvalue()))) == {(0, 0): 0.333}
    B = gb.Matrix.from_coo([0], [0], [2.5])
    for options in ({"field": "complex"}, {"field": "integer"}, {"symmetry": "hermitian"}, {"engine": "mine"}):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"{next(iter(options))}: expected"):
            mmwrite(io.BytesIO(), B, **options)
    with pytest.raises(gb.exceptions.InvalidValue, match="engine: expected"):
        mmread(io.BytesIO(b""), "mine")


def test_progress(tmp_path, capsys, monkeypatch):
    from bitblas.io import progress

    path = tmp_path / "graph.mtx"
    mmwrite(path, sample("FP64"))
    assert mmread(path).nvals == 60
    assert capsys.readouterr().err == ""  # a small file, and no terminal
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    mmread(path, progress=True)
    err = capsys.readouterr().err
    assert "graph.mtx: [" in err
    assert "100 % of 0 MB" in err
    assert err.endswith("\r")  # and it is gone
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "LARGE", 10)
    mmread(path)
    assert "100 %" in capsys.readouterr().err
    mmread(path, progress=False)
    assert capsys.readouterr().err == ""


def test_streams_that_only_read():
    class Pipe:
        def __init__(self, data):
            self.stream = io.BytesIO(data)

        def read(self, size):
            return self.stream.read(min(size, 5))

    text, _, _, entries = GOOD["real"]
    assert as_dict(mmread(Pipe(text.encode()))) == entries
    assert as_dict(mmread(Pipe(text.encode()), progress=True)) == entries
    with pytest.raises(TypeError, match="binary reading"):
        mmread(codecs.getreader("utf-8")(io.BytesIO(text.encode())))
    assert as_dict(mmread(Pipe(gzip.compress(text.encode())))) == entries


def plain(text, field):
    """A coordinate general file as a dict; None where an entry is there twice."""
    lines = [line.split() for line in text.split("\n")[1:] if line.strip() and not line.strip().startswith("%")]
    found = {}
    for i, j, *value in lines[1:]:
        if (int(i) - 1, int(j) - 1) in found and field != "pattern":
            return None
        found[int(i) - 1, int(j) - 1] = True if field == "pattern" else float(value[0])
    assert len(lines) - 1 == int(lines[0][2])
    return found


@given(st.data())
def test_damage_is_read_right_or_refused(data):
    field = data.draw(st.sampled_from(["pattern", "real"]))
    head = {"pattern": PATTERN, "real": REAL}[field]
    text = bytearray(b"9 9 9\n" + b"".join(b"%d %d%s\n" % (i + 1, 9 - i, b" .5" * (field == "real")) for i in range(9)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(st.binary(max_size=2) | st.sampled_from([b"1", b"\n", b" ", b"-", b"+", b".", b"e", b"\n%"]))
        text[at : at + data.draw(st.integers(0, 3))] = new
    whole = head.encode() + bytes(text)
    try:
        A = mmread(io.BytesIO(whole))
    except (gb.exceptions.InvalidValue, gb.exceptions.OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")
    else:
        assert as_dict(A) == plain(whole.decode("latin-1"), field)


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
    with pytest.raises(gb.exceptions.InvalidValue, match="expected a name that ends in"):
        read(next(tmp_path.iterdir()))
    with pytest.raises(gb.exceptions.InvalidValue, match="file_format"):
        read(tmp_path / name, "xml")


def test_labels():
    graph = read(io.BytesIO(b"b a\na c\n"), "edges")
    assert (graph.labels, graph.vertex("a"), graph.label(1)) == (("b", "a", "c"), 1, "a")
    with pytest.raises(gb.exceptions.InvalidValue, match="one of the 3 labels"):
        graph.vertex("x")
    for wrong in ("x", 3, -1):
        with pytest.raises(gb.exceptions.InvalidValue, match="vertex"):
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
        with pytest.raises(gb.exceptions.InvalidValue, match="nodelist"):
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
    with pytest.raises(gb.exceptions.DimensionMismatch, match="2 x 3"):
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
    ours, theirs = to_scipy_sparse(A, format), graphblas.io.to_scipy_sparse(to_graphblas(A), format)
    assert type(ours) is type(theirs)
    assert (ours != theirs).nnz == 0
    for name in ("indices", "indptr"):
        if hasattr(theirs, name):
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype
    v = gb.Vector.from_coo([1, 3], [5, 6], size=5)
    ours, theirs = to_scipy_sparse(v, format), graphblas.io.to_scipy_sparse(to_graphblas(v), format)
    assert ours.shape == theirs.shape == ((5, 1) if format == "csc" else (1, 5))
    assert (ours != theirs).nnz == 0


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
    assert isinstance(u, graphblas.Vector)
    assert (str(u.dtype), u.size) == (dtype, 6)
    w = from_graphblas(u)
    assert (str(w.dtype), w.size) == (dtype, 6)
    assert all(np.array_equal(a, b) for a, b in zip(w.to_coo(), v.to_coo(), strict=True))


def test_graphblas_iso():
    pytest.importorskip("graphblas")
    A = gb.Matrix.from_coo([0, 1], [1, 0], 2.5, nrows=2, ncols=2)
    assert to_graphblas(A).ss.is_iso
    zeros = gb.Matrix.from_coo([0, 1], [1, 0], [0.0, -0.0], nrows=2, ncols=2)
    assert np.signbit(to_graphblas(zeros).to_coo()[2]).tolist() == [False, True]


def test_import_is_light():
    code = "import sys, bitblas; sys.exit(any(m in sys.modules for m in ('scipy', 'numba', 'cupy', 'graphblas')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
