"""SciPy's .npz files: those of save_npz are read, and headers are validated."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from mm_files import DTYPES, as_dict, same, sample

import bitblas as gb
from bitblas.exceptions import InvalidValue, OutOfMemory
from bitblas.io import from_scipy_sparse, read_npz, to_scipy_sparse, write_npz


def stored(save, *args, **options):
    """The bytes that a function writes to a file."""
    stream = io.BytesIO()
    save(stream, *args, **options)
    return stream.getvalue()


def npz(**arrays):
    return stored(np.savez, **arrays)


def read(data, **options):
    return read_npz(io.BytesIO(data), **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_npz(tmp_path, dtype, layout):
    A, path = sample(dtype), tmp_path / "a.npz"
    write_npz(path, A, layout=layout)
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]
    theirs = sp.load_npz(path)
    assert (theirs.format, (theirs != to_scipy_sparse(A)).nnz) == (layout, 0) or dtype.startswith("FP")
    same(A, read_npz(path))
    sp.save_npz(path, to_scipy_sparse(A, layout), compressed=False)
    same(A, read_npz(path))
    with open(path, "rb") as stream:
        same(A, read_npz(stream))


@pytest.mark.parametrize("layout", ["bsr", "dia"])
def test_npz_of_other_layouts(layout):
    found = read(stored(sp.save_npz, sp.eye_array(4, format=layout)))
    assert as_dict(found.select("!=", 0).new()) == {(k, k): 1.0 for k in range(4)}


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_npz_of_one_value(layout):
    """A pattern stays a pattern, and an iso matrix stays iso."""
    for value in (True, np.float32(2.5), 0):
        A = gb.Matrix.from_coo([0, 2, 1], [1, 0, 1], value, nrows=3, ncols=3)
        for B in (read(stored(write_npz, A, layout=layout)), from_scipy_sparse(to_scipy_sparse(A, layout))):
            same(A, B)
            assert B.memory().values == A.memory().values < 3
    twice = npz(**COO | {"row": np.array([1, 1]), "col": np.array([0, 0])})
    with pytest.raises(InvalidValue, match="row 1, column 0 twice"):
        read(twice)
    assert as_dict(read(twice, dup_op=gb.binary.plus)) == {(1, 0): 2.0}


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_as_scipy_reads_it(layout):
    rng = np.random.default_rng(4)
    for shape in ((6, 9), (9, 6), (0, 3), (3, 0), (1, 1), (12, 12)):
        M = sp.random_array(shape, density=0.4, rng=rng, dtype=np.float64).asformat(layout)
        if layout == "dia" and min(shape) > 5:  # diagonals beyond the shape, and one longer than it
            M = sp.dia_array((rng.random((4, 15)), [-20, -2, 3, 40]), shape=shape)
        found, there = read(stored(sp.save_npz, M)), from_scipy_sparse(M)
        assert found.isequal(there, check_dtype=True) and found.shape == shape


def test_npz_of_pointers_short_of_the_end():
    assert as_dict(read(npz(**CSR | {"indptr": np.array([0, 1, 1], np.uint64)}))) == {(0, 0): 1.0}


BOTH = {"shape": (2, 2), "data": np.ones(2)}
CSR = {"format": b"csr", **BOTH, "indptr": np.array([0, 1, 2]), "indices": np.array([0, 1])}
COO = {"format": b"coo", **BOTH, "row": np.array([0, 1]), "col": np.array([0, 1])}
BSR = CSR | {"format": b"bsr", "data": np.ones((2, 1, 1))}
DIA = {"format": b"dia", **BOTH, "data": np.ones((2, 2)), "offsets": np.array([0, 1])}
BAD_NPZ = {
    "empty": b"",
    "junk": b"hello",
    "one array": stored(np.save, np.ones(3)),
    "no sparse matrix": npz(a=np.ones(3)),
    "no data": npz(**{k: v for k, v in CSR.items() if k != "data"}),
    "unknown format": npz(**CSR | {"format": b"xyz"}),
    "format no text": npz(**CSR | {"format": 3}),
    "shape of three": npz(**COO | {"shape": (2, 2, 2)}),
    "negative shape": npz(**CSR | {"shape": (-2, 2)}),
    "index outside": npz(**CSR | {"indices": np.array([0, 2])}),
    "negative index": npz(**CSR | {"indices": np.array([0, -1])}),
    "falling pointers": npz(**CSR | {"indptr": np.array([0, 3, 2])}),
    "coo outside": npz(**COO | {"row": np.array([0, 5])}),
    "coo negative": npz(**COO | {"row": np.array([0, -1])}),
    "lengths": npz(**COO | {"row": np.array([0])}),
    "NaN index": npz(**COO | {"row": np.array([0, np.nan])}),
    "long complex": npz(**CSR | {"data": np.ones(2, np.clongdouble)}),
    "text": npz(**CSR | {"data": np.array(["a", "b"])}),
    "pickled": npz(**CSR | {"data": np.array([1, "b"], object)}),
    "shape of fractions": npz(**CSR | {"shape": np.array([2.7, 2.0])}),
    "blocks of 0 x 0": npz(**BSR | {"data": np.ones((2, 0, 0))}),
    "blocks that do not fit": npz(**BSR | {"data": np.ones((2, 3, 1))}),
    "pointers too few": npz(**CSR | {"indptr": np.array([0, 2])}),
    "twice": npz(**COO | {"row": np.array([0, 0]), "col": np.array([0, 0]), "data": np.array([1.0, 2.0])}),
}


@pytest.mark.parametrize("data", BAD_NPZ.values(), ids=BAD_NPZ)
def test_bad_npz(tmp_path, data):
    path = tmp_path / "a.npz"
    path.write_bytes(data)
    with pytest.raises(InvalidValue, match=r"a\.npz: expected"):
        read_npz(path)


def test_npz_of_offsets_beyond_32_bits():
    wide = npz(**DIA | {"offsets": np.array([0, (1 << 32) + 1])})  # which is 1 in 32 bits; such a diagonal is empty
    assert as_dict(read(wide)) == {(0, 0): 1.0, (1, 1): 1.0}


MANY = np.zeros(5_000_000, np.int64)
LARGE_NPZ = {  # the error, or None
    "long shape": (CSR | {"shape": MANY}, "InvalidValue", "the shape as an array"),
    "long format": (CSR | {"format": b"csr" * 1_000_000}, "InvalidValue", "the format as an array"),
    "long pointers": (CSR | {"indptr": MANY}, "InvalidValue", "indptr of shape"),
    "more than places": (COO | {"data": MANY, "row": MANY, "col": MANY}, "InvalidValue", "5000000 entries for 2 x 2"),
    "another array": (CSR | {"more": MANY}, None, ""),
    "beyond the limit": (COO | {"shape": (9999, 9999), "data": MANY, "row": MANY, "col": MANY}, "OutOfMemory", "needs"),
}


@pytest.mark.parametrize("arrays, error, words", LARGE_NPZ.values(), ids=LARGE_NPZ)
def test_large_npz_is_not_unpacked(few_objects, arrays, error, words):
    data = stored(np.savez_compressed, **arrays)
    assert len(data) < 200_000
    tracemalloc.start()
    try:
        with gb.config.set(memory_limit=100_000_000):
            if error is None:
                assert read(data).nvals == 2
            else:
                with pytest.raises(getattr(gb.exceptions, error), match=words):
                    read(data)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_npz_that_lies_of_its_size():
    """Sizes in the archive's headers are bounded by the file's size, and an array by its member."""
    data = stored(np.savez_compressed, **CSR)
    at = data.index(b"PK\x01\x02")  # the entry of the first member in the archive's list
    for field, number in ((20, 1 << 30), (24, 1 << 30)):  # packed, unpacked
        wrong = bytearray(data)
        wrong[at + field : at + field + 4] = number.to_bytes(4, "little")
        with pytest.raises(InvalidValue, match=r"bytes as 'format', packed in|Overlapped entries"):
            read_npz(io.BytesIO(wrong))
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    stream = io.BytesIO(npz(**{name: array for name, array in CSR.items() if name != "data"}))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("data.npy", member.getvalue() + bytes(16))
    with pytest.raises(InvalidValue, match=r"144 bytes as 'data', for an array of \(1099511627776,\)"):
        read_npz(stream)


def test_npz_too_large(tmp_path):
    """If few rows have entries, they are listed; a pointer for each row would not fit."""
    path = tmp_path / "a.npz"
    path.write_bytes(npz(**COO | {"shape": (1 << 50, 2)}))
    assert read_npz(path).nrows == 1 << 50
    with pytest.raises(OutOfMemory, match=r"a\.npz: 1125899906842624 x 2"):
        read_npz(path, format="csr")
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "none.npz")
    with pytest.raises(InvalidValue, match="layout"):
        write_npz(path, sample("FP64"), layout="bsr")


@given(st.data())
def test_damaged_npz_is_read_or_refused(data):
    packed = bytearray(npz(**data.draw(st.sampled_from([CSR, COO]))))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(packed) - 1))
        packed[at : at + data.draw(st.sampled_from([1, 1, 4, 600]))] = data.draw(st.binary(min_size=1, max_size=4))
    try:
        A = read_npz(io.BytesIO(bytes(packed)), dup_op=gb.binary.plus)
    except (InvalidValue, OutOfMemory) as error:
        assert str(error).startswith("<BytesIO>")
    else:
        assert A.nvals <= 2
