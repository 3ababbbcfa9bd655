"""Writing Matrix Market files: reading them back gives the same matrix, in as few lines as symmetry allows."""

import io

import numpy as np
import pytest
from mm_files import DTYPES, PATTERN, as_dict, same, sample

import bitblas as gb
from bitblas.io import (
    mmread,
    mmwrite,
    replacing,
    to_graphblas,
)

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
    for options in ({"field": "quaternion"}, {"field": "integer"}, {"symmetry": "hermitian"}, {"engine": "mine"}):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"{next(iter(options))}: expected"):
            mmwrite(io.BytesIO(), B, **options)
    with pytest.raises(gb.exceptions.InvalidValue, match="engine: expected"):
        mmread(io.BytesIO(b""), "mine")
