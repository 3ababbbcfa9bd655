"""Matrix Market files for tests, valid and broken; and matrices for files and other libraries."""

import numpy as np

import bitblas as gb

REAL = "%%MatrixMarket matrix coordinate real general\n"
COMPLEX = REAL.replace("real", "complex")
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
    "complex": (COMPLEX + "2 2 2\n1 1 1 -2\n2 1 0.5 1e2\n", "FC64", (2, 2), {(0, 0): 1 - 2j, (1, 0): 0.5 + 100j}),
    "hermitian": (
        COMPLEX.replace("general", "hermitian") + "2 2 2\n1 1 1 0\n2 1 3 4\n", "FC64", (2, 2),
        {(0, 0): 1, (1, 0): 3 + 4j, (0, 1): 3 - 4j},
    ),
    "complex array": (
        ARRAY.replace("real", "complex") + "2 1\n1 2\n3 4\n", "FC64", (2, 1), {(0, 0): 1 + 2j, (1, 0): 3 + 4j},
    ),
    "capitals": (PATTERN.upper() + "1 1 1\n1 1\n", "BOOL", (1, 1), {(0, 0): True}),
}  # fmt: skip

BAD = {
    "empty": ("", ["line 1", "an empty file"]),
    "junk": ("hello\n", ["line 1", "%%MatrixMarket", "hello"]),
    "no symmetry": ("%%MatrixMarket matrix coordinate real\n1 1 0\n", ["line 1"]),
    "vector": (REAL.replace("matrix", "vector", 1) + "1 0\n", ["line 1"]),
    "quaternion": (REAL.replace("real", "quaternion") + "1 1 0\n", ["line 1", "real, integer, complex", "quaternion"]),
    "half a complex": (COMPLEX + "1 1 1\n1 1 1\n", ["line 3", "an imaginary part"]),
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
    "Fortran's exponent": (REAL + "2 2 1\n1 1 1.0D+02\n", ["line 3", "1.0D+02", "exponents with E"]),
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
