"""Matrix Market files: read equal to python-graphblas, with errors that name the fault, and written so that reading
them back gives the same matrix, in as few lines as symmetry allows."""

import bz2
import codecs
import contextlib
import gzip
import io
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mm_files import BAD, DTYPES, GOOD, PATTERN, REAL, as_dict, same, sample

import bitblas as gb
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import matrixmarket, mmread, mmwrite, replacing, to_graphblas

# --- Matrix Market in ---


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")  # python-graphblas' call
@pytest.mark.parametrize("text, dtype, shape, entries", GOOD.values(), ids=GOOD)
def test_reads(tmp_path, text, dtype, shape, entries):
    path = tmp_path / "graph.mtx"
    path.write_bytes(text.encode())
    A = mmread(path)
    assert (str(A.dtype), A.shape, as_dict(A)) == (dtype, shape, entries)
    for source in (str(path), io.BytesIO(text.encode()), io.StringIO(text)):
        same(A, mmread(source))
    graphblas = pytest.importorskip("graphblas")
    theirs = graphblas.io.mmread(
        io.BytesIO(text.replace(PATTERN.upper(), PATTERN).encode()),
        engine="scipy",
        dup_op=graphblas.binary.any if dtype == "BOOL" else None,
    )
    assert to_graphblas(A).isequal(theirs)


@pytest.mark.parametrize("text, words", BAD.values(), ids=BAD)
def test_names_the_fault(tmp_path, text, words):
    path = tmp_path / "graph.mtx"
    path.write_bytes(text.encode())
    for source in (path, io.StringIO(text), io.BytesIO(text.encode())):
        with pytest.raises(InvalidValue) as caught:
            mmread(source)
        # where an entry is there twice, the lines of a stream are gone
        expected = [str(path), *words] if source is path else words[1:] if "dup_op" in words else words
        assert [word for word in expected if word not in str(caught.value)] == []


def test_impossible_count(tmp_path):
    data = REAL.encode() + b"3 3 99999999999\n1 1 5\n"
    for name, content in (("a.mtx", data), ("a.mtx.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidValue, match="99999999999 entries, but a file of"):
            mmread(tmp_path / name)


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
            with pytest.raises(InvalidValue, match=f"line {line}: expected at most 1048576 bytes"):
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
        with pytest.raises(InvalidValue, match="compressed data"):
            mmread(io.BytesIO(broken))


def test_sources_that_are_no_file_of_this_kind(tmp_path):
    (tmp_path / "graph.mtx.gz").write_text(GOOD["real"][0])
    for source, error, said in (
        (tmp_path / "graph.mtx.gz", InvalidValue, "expected gzip data"),
        (tmp_path / "none.mtx", FileNotFoundError, "none.mtx"),
        (tmp_path, IsADirectoryError, "directory"),
        (3, TypeError, "expected a path or an open file, got int"),
    ):
        with pytest.raises(error, match=said):
            mmread(source)


def test_duplicates_joined():
    text = REAL + "2 2 3\n2 1 1\n1 1 4\n2 1 2\n"
    assert as_dict(mmread(io.StringIO(text), dup_op=gb.binary.plus)) == {(1, 0): 3, (0, 0): 4}


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype(dtype):
    A = mmread(io.StringIO(PATTERN + "2 2 1\n1 2\n"), dtype=dtype)
    assert (A.dtype, as_dict(A)) == (dtype, {(0, 1): 1})


class Pipe:
    """A file that only reads, a few bytes at a time."""

    def __init__(self, data, most=5):
        self.stream, self.most = io.BytesIO(data), most

    def read(self, size):
        return self.stream.read(min(size, self.most))


def test_blocks_end_anywhere():
    """Lines and numbers that cross the borders of blocks."""
    entries = {(i, (7 * i) % 100): i * 1.25 for i in range(100)}
    text = REAL + f"100 100 {len(entries)}\n" + "".join(f"{i + 1} {j + 1} {x}\n" for (i, j), x in entries.items())
    assert as_dict(mmread(Pipe(text.encode(), 7))) == entries
    with pytest.raises(InvalidValue, match="line 102: "):
        mmread(Pipe(text.replace("100 94 123.75", "100 94 x").encode(), 7))


def test_streams_that_only_read():
    text, _, _, entries = GOOD["real"]
    assert as_dict(mmread(Pipe(text.encode()))) == as_dict(mmread(Pipe(text.encode()), progress=True)) == entries
    assert as_dict(mmread(Pipe(gzip.compress(text.encode())))) == entries
    with pytest.raises(TypeError, match="binary reading"):
        mmread(codecs.getreader("utf-8")(io.BytesIO(text.encode())))


def damaged(data, text, most, sizes, more):
    """The text with a few bytes replaced."""
    for _ in range(data.draw(st.integers(1, most))):
        at = data.draw(st.integers(0, max(0, len(text) - 1)))
        new = data.draw(st.binary(max_size=sizes) | st.sampled_from(more))
        text = text[:at] + new + text[at + data.draw(st.integers(0, 3)) :]
    return text


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_is_one_exception(data):
    text = data.draw(st.sampled_from(sorted(GOOD.values(), key=str)))[0].encode()
    try:
        matrixmarket.parse(io.BytesIO(damaged(data, text, 4, 3, [b"9", b"\n"])))
    except (InvalidValue, OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")


def test_sizes_without_room_for_pointers(tmp_path):
    """Few entries are stored as a hypersparse matrix, as from_coo stores them; with a form of rows they do not fit."""
    path = tmp_path / "far.mtx"
    for shape, entry in (((10**12, 3), (10**12 - 1, 1)), ((3, 10**12), (1, 10**12 - 1))):
        text = PATTERN + f"{shape[0]} {shape[1]} 1\n{entry[0] + 1} {entry[1] + 1}\n"
        path.write_text(text)
        for A in (mmread(io.StringIO(text)), mmread(path), mmread(path, chunked=True)):
            assert (A.shape, as_dict(A), A.format) == (shape, {entry: True}, "hyper")
        if shape[0] > 3:
            for source, chunked in ((io.StringIO(text), False), (path, True)):
                with pytest.raises(OutOfMemory, match="need"):
                    mmread(source, chunked=chunked, format="csr")
    mmwrite(path, A)
    assert mmread(path).isequal(A)


def test_shipped_graph():
    from bitblas.compare import demo_path

    A = mmread(demo_path())
    assert (A.shape, A.nvals, str(A.dtype)) == ((264346, 264346), 730100, "BOOL")


def test_progress(tmp_path, capsys, monkeypatch, tune):
    path = tmp_path / "graph.mtx"
    mmwrite(path, sample("FP64"))

    def said(**options):
        assert mmread(path, **options).nvals == 60
        return capsys.readouterr().err

    assert said() == ""  # a small file, and no terminal
    tune({"progress.file_interval": 0.0})
    err = said(progress=True)
    assert "graph.mtx: [" in err and "100 % of 0 MB" in err and err.endswith("\r")  # and it is gone
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert said() == ""  # it is read within a second
    tune({"progress.delay": 0.0})
    assert "100 %" in said()
    assert said(progress=False) == ""


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
    text = b"9 9 9\n" + b"".join(b"%d %d%s\n" % (i + 1, 9 - i, b" .5" * (field == "real")) for i in range(9))
    whole = head.encode() + damaged(data, text, 3, 2, [b"1", b"\n", b" ", b"-", b"+", b".", b"e", b"\n%"])
    try:
        A = mmread(io.BytesIO(whole))
    except (InvalidValue, OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")
    else:
        assert as_dict(A) == plain(whole.decode("latin-1"), field)


LINES = {
    "pattern": ["{} {}", "{} {}", " {}\t{} ", "{} {} 1"],
    "integer": ["{} {} 5", "{} {} -3", "{} {} 007", "{} {} +4", "{} {} 123456789012345678",
                "{} {} 9223372036854775807"],
    "unsigned-integer": ["{} {} 5", "{} {} 7", "{} {} 18446744073709551615", "{} {} -3"],
    "real": ["{} {} 0.1", "{} {} -2.5", "{} {} 3.", "{} {} .5", "{} {} 1e-3", "{} {} 2.2250738585072011e-308",
             "{} {} inf", "{} {} 179769313486231580793728971405301", "{} {} 0.30000000000000004440892098500626",
             "{} {} -0.0"],
}  # fmt: skip


@pytest.mark.parametrize("field", LINES)
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_reads_as_scipy_whatever_the_blocks(monkeypatch, tune, field, symmetry):
    """The same arrays as SciPy, in the same order, and the same errors in blocks of a line or two."""
    from scipy import io as scipy_io

    if (field, symmetry) == ("pattern", "skew-symmetric"):
        return  # there is no such file
    rng, read_alike = random.Random(1), 0
    monkeypatch.setattr(matrixmarket, "check_fits", lambda *args: None)

    def read(text):
        try:
            head, arrays = matrixmarket.parse(io.BytesIO(text))
            return head, [None if a is None else (a.dtype, a.tolist(), np.signbit(a).tolist()) for a in arrays]
        except InvalidValue as error:
            return str(error)

    for n in (4, 3_000_000_000):
        for _ in range(60):
            plain = rng.random() < 0.5
            lines = [rng.choice(LINES[field][: 2 if plain else None]) for _ in range(rng.randrange(6))]
            lines = [line.format(rng.randint(1 - (rng.random() < 0.05), 4), rng.randint(1, 4)) for line in lines]
            end = rng.choice(["\n", "\n", "\r\n", "\n\n"])
            count = len(lines) + (rng.random() < 0.1)
            head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {count}\n"
            text = f"{head}{end.join(lines)}{end}".encode()
            tune({"file.chunked_block": 1 << 20})
            whole = read(text)
            tune({"file.chunked_block": 8})
            assert whole == read(text), text
            if isinstance(whole, str):
                continue
            with contextlib.suppress(ValueError, OverflowError):  # SciPy reads no plus
                theirs = scipy_io.mmread(io.BytesIO(text), spmatrix=False)
                arrays = [theirs.row, theirs.col, theirs.data][: 2 if field == "pattern" else 3]
                assert [part and part[1] for part in whole[1]][: len(arrays)] == [a.tolist() for a in arrays], text
                read_alike += 1
    assert read_alike > 20 or (field, symmetry) == ("unsigned-integer", "skew-symmetric")


# --- Matrix Market out ---


def file_of(A, **options):
    """What mmwrite writes."""
    stream = io.BytesIO()
    mmwrite(stream, A, **options)
    return stream.getvalue()


def read_back(A, **options):
    return mmread(io.BytesIO(file_of(A, **options)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_round_trip(tmp_path, dtype, name):
    A = sample(dtype)
    mmwrite(tmp_path / name, A)
    same(A, mmread(tmp_path / name, dtype=dtype))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    data = file_of(A, comment="made by a test")
    assert b"made by a test" in data
    same(A, mmread(io.BytesIO(data), dtype=dtype))


def test_write_pattern_and_vector():
    assert file_of(gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)).startswith(PATTERN.encode())
    A = read_back(gb.Vector.from_coo([3], [2.5], size=5))
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


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "general"])
def test_write_symmetry(symmetry):
    sign = {"symmetric": 1, "skew-symmetric": -1, "general": 2}[symmetry]
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.5, sign * 1.5, np.inf, sign * np.inf], nrows=3, ncols=3)
    lines = file_of(A).decode().splitlines()
    assert lines[0].split()[-1] == symmetry
    assert len([line for line in lines if line[0] != "%"]) == (5 if symmetry == "general" else 3)
    same(A, read_back(A))
    for asked in ("symmetric", "skew-symmetric", "general"):
        if asked in (symmetry, "general"):
            same(A, read_back(A, symmetry=asked))
        else:
            with pytest.raises(InvalidValue, match=f"a matrix that is {asked}"):
                file_of(A, symmetry=asked)


def test_write_skew_symmetric_with_zeros():
    """The standard has no diagonal there, so that such a file is written on demand alone."""
    A = gb.Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], [0.0, 2.5, -2.5, -0.0], nrows=2, ncols=2)
    for asked in (None, "skew-symmetric"):
        assert file_of(A, symmetry=asked).splitlines()[0].endswith((asked or "general").encode())
        same(A, read_back(A, symmetry=asked))
    A[1, 1] = 1
    with pytest.raises(InvalidValue, match="a matrix that is skew-symmetric"):
        file_of(A, symmetry="skew-symmetric")


@pytest.mark.parametrize("values", [[1.5, 1.5, 2.0, 2.0, 3.0, 3.0], [1.5, -1.5, 2.0, 3.0, 3.0, 4.0]])
def test_write_transpose(values):
    graphblas = pytest.importorskip("graphblas")
    A = gb.Matrix.from_coo([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], values, nrows=3, ncols=3)
    for M in (A.T, A.T.new(), to_graphblas(A).T):
        same(A.T.new(), read_back(M))
        assert file_of(M) == file_of(A.T)
    assert isinstance(to_graphblas(A.T), graphblas.Matrix) and to_graphblas(A.T).isequal(to_graphblas(A).T.new())


def test_symmetry_is_exact():
    zeros, nan = (gb.Matrix.from_coo([0, 1], [1, 0], x, nrows=2, ncols=2) for x in ([0.0, -0.0], [np.nan, np.nan]))
    assert np.signbit(read_back(zeros).to_coo()[2]).tolist() == [False, True]
    assert b"symmetric" in file_of(nan)


def test_write_field_and_precision():
    A = gb.Matrix.from_coo([0, 1], [1, 1], [2.0, 3.0], nrows=2, ncols=2)
    for field, dtype, values in (("real", "FP64", [2, 3]), ("integer", "INT64", [2, 3]), ("pattern", "BOOL", [1, 1])):
        found = read_back(A, field=field)
        assert found.dtype == dtype and as_dict(found) == dict(zip([(0, 1), (1, 1)], values))
    assert as_dict(read_back(gb.Matrix.from_coo([0], [0], [1 / 3]), precision=3)) == {(0, 0): 0.333}
    B = gb.Matrix.from_coo([0], [0], [2.5])
    for options in ({"field": "quaternion"}, {"field": "integer"}, {"symmetry": "hermitian"}, {"engine": "mine"}):
        with pytest.raises(InvalidValue, match=f"{next(iter(options))}: expected"):
            file_of(B, **options)
    with pytest.raises(InvalidValue, match="engine: expected"):
        mmread(io.BytesIO(b""), "mine")
