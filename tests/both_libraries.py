"""The same text on bitblas and on python-graphblas: the results must be the same.

`both` runs a program (lines of text) with the names of one library, then of the other, on the same random operands,
and compares what each name of `look` holds: dtype, shape, structure, values.
"""

import math

import numpy as np
import pytest
from fuzz.compare import is_kind_of

import bitblas

oracle = pytest.importorskip("graphblas")

NAMES = "Matrix Vector Scalar binary unary indexunary monoid semiring select replace dtypes".split()
N, M = 70, 9  # more than one word of bits; few columns, so that rows meet


def values(rng, dtype, k):
    if dtype == "BOOL":
        return rng.random(k) < 0.6
    if dtype.startswith("FP"):
        return rng.integers(-4, 5, k).astype(dtype.replace("FP", "float")) / 2
    return rng.integers(0 if dtype.startswith("U") else -5, 9, k).astype(dtype.lower())


def operands(gb, seed, dtype, other=None):
    """v, w: vectors of N; b: a BOOL one; A, B: N x N; R: N x M; L: N x N BOOL; e: empty; i: iso."""
    rng = np.random.default_rng(seed)
    other = other or dtype
    scope = {name: getattr(gb, name) for name in NAMES} | {"gb": gb, "np": np, "n": N, "m": M, "plain": plain}

    def vector(kind, k, size=N):
        at = rng.permutation(size)[:k]
        return gb.Vector.from_coo(at, values(rng, kind, k), kind, size=size)

    def matrix(kind, k, nrows=N, ncols=N):
        at = rng.permutation(nrows * ncols)[:k]
        return gb.Matrix.from_coo(at // ncols, at % ncols, values(rng, kind, k), kind, nrows=nrows, ncols=ncols)

    scope |= {
        "v": vector(dtype, 30), "w": vector(other, 40), "b": vector("BOOL", 33), "s": vector(other, 5, M),
        "A": matrix(dtype, 300), "B": matrix(other, 400), "R": matrix(dtype, 120, N, M), "L": matrix("BOOL", 350),
        "e": gb.Vector(dtype, N), "E": gb.Matrix(dtype, N, N),
        "i": gb.Vector.from_coo(rng.permutation(N)[:25], 3, dtype, size=N) if dtype != "BOOL" else vector("BOOL", 9),
    }  # fmt: skip
    at = rng.permutation(N * N)[:200]
    scope["I"] = gb.Matrix.from_coo(at // N, at % N, True, dtype, nrows=N, ncols=N)
    return scope


def plain(x):
    """What two libraries can agree on."""
    if hasattr(x, "new") and not isinstance(x, (bitblas.Matrix, bitblas.Vector, bitblas.Scalar)):
        if type(x).__module__.partition(".")[0] in ("bitblas", "graphblas"):
            x = x.new()
    name = type(x).__name__
    if name == "Vector":
        return name, str(x.dtype), x.shape, *(a.tolist() for a in x.to_coo())
    if name == "Matrix":
        return name, str(x.dtype), x.shape, sorted(zip(*(a.tolist() for a in x.to_coo())))
    if name == "Scalar":
        return name, str(x.dtype), x.value
    if isinstance(x, np.ndarray) or hasattr(x, "__cuda_array_interface__"):
        return "array", str(x.dtype), x.tolist()
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return int(x) if isinstance(x, np.integer) else x


def same(x, y):
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float) and isinstance(y, float):
        return math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(x) and math.isnan(y))
    return x == y and type(x) is type(y)


def outcome(gb, text, look, seed, dtype, other):
    scope = operands(gb, seed, dtype, other)
    try:
        exec(text, scope)
        return "values", [plain(eval(name, scope)) for name in look.split(", ")]
    except Exception as error:
        return "error", error


def both(text, look, dtype="INT64", other=None, seed=0):
    expected = outcome(oracle, text, look, seed, dtype, other)
    found = outcome(bitblas, text, look, seed, dtype, other)
    context = f"\n{text}\n[{dtype}, {other}, seed {seed}]"
    if expected[0] == "error" or found[0] == "error":
        assert expected[0] == found[0], f"{expected}\n{found}{context}"
        assert is_kind_of(found[1], expected[1]), f"expected {expected[1]!r}\nfound {found[1]!r}{context}"
        assert str(found[1]), "an error says what it is about"
        return
    for name, x, y in zip(look.split(", "), expected[1], found[1]):
        assert same(x, y), f"{name}:\nexpected {x}\nfound    {y}{context}"


def each(block):
    return [text.strip() for text in block.split(";")]
