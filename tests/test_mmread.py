"""Matrix Market files: equal to python-graphblas, and errors name the fault."""

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
from mm_files import ARRAY, BAD, DTYPES, GOOD, PATTERN, REAL, as_dict, same, sample

import bitblas as gb
from bitblas.io import matrixmarket, mmread, mmwrite, to_graphblas

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
    with pytest.raises(
        gb.exceptions.InvalidValue, match=r"expected ([14] entries, got|a real number and nothing after)"
    ):
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
    """Lines and numbers that cross the borders of blocks."""
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
        matrixmarket.parse(io.BytesIO(bytes(text)))
    except (gb.exceptions.InvalidValue, gb.exceptions.OutOfMemory) as error:
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
                with pytest.raises(gb.exceptions.OutOfMemory, match="need"):
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
    assert mmread(path).nvals == 60
    assert capsys.readouterr().err == ""  # a small file, and no terminal
    tune({"progress.file_interval": 0.0})
    mmread(path, progress=True)
    err = capsys.readouterr().err
    assert "graph.mtx: [" in err
    assert "100 % of 0 MB" in err
    assert err.endswith("\r")  # and it is gone
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    mmread(path)
    assert capsys.readouterr().err == ""  # it is read within a second
    tune({"progress.delay": 0.0})
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
        except gb.exceptions.InvalidValue as error:
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
