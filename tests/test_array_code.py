"""The arrays of a GPU (device/arrays.py) give what NumPy's arrays give: values, types, shapes."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.array_code import array_module

from bitblas.device import arrays

pytestmark = pytest.mark.off_cpu
rng = np.random.default_rng(1)
TYPES = [t.name for t in arrays.TYPES]
SOME = ["bool", "int8", "int32", "int64", "uint16", "uint64", "float32", "float64"]


@pytest.fixture
def xp(device):
    return array_module(device)


@pytest.fixture(autouse=True)
def handled(xp, monkeypatch):
    """Nothing is left to the array library, unless a test says so."""

    def refuse(self, *args):
        raise AssertionError(f"left to {xp.library.__name__}: {args}")

    monkeypatch.setattr(arrays.NotHandled, "__init__", refuse)


def sample(dtype: str, n: int = 300) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(n) < 0.5
    if kind.kind == "f":
        x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 6, n)
        x[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1.0
        return x.astype(kind)
    info = np.iinfo(kind)
    x = rng.integers(info.min, info.max, n, kind, endpoint=True)
    x[: n // 2] %= kind.type(7)
    x[:3] = info.min, info.max, 0
    return x


def same(got, expected) -> None:
    host = got.get() if hasattr(got, "get") else np.asarray(got)
    expected = np.asarray(expected)
    assert host.dtype == expected.dtype and host.shape == expected.shape
    np.testing.assert_array_equal(host, expected)


def both(xp, *given):
    return [xp.asarray(x) if isinstance(x, np.ndarray) else x for x in given]


BINARY = (
    "add subtract multiply true_divide minimum maximum equal not_equal less less_equal greater greater_equal".split()
)
INTEGER = "floor_divide remainder bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()


@pytest.mark.parametrize("b", SOME)
@pytest.mark.parametrize("a", SOME)
def test_binary_operators(xp, a, b):
    x, y = sample(a), sample(b)
    for name in BINARY + INTEGER:
        f = getattr(np, name)
        try:
            computed = f.resolve_dtypes((x.dtype, y.dtype, None))[0]
        except TypeError:
            continue
        if computed.kind == "f" and (name in INTEGER or computed.itemsize == 2):
            continue
        if "shift" in name:  # NumPy defines no shift by negative numbers
            y = np.abs(y.astype(np.int64) % 70).astype(y.dtype)
        with np.errstate(all="ignore"):
            same(getattr(xp, name)(*both(xp, x, y)), f(x, y))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("number", [0, 3, 2.5, True, np.int32(-2), np.float32(0.1), np.uint64(2**63 + 5)], ids=repr)
def test_operators_with_numbers(xp, dtype, number):
    x = sample(dtype)
    (d,) = both(xp, x)
    with np.errstate(all="ignore"):
        for run in (lambda x: x + number, lambda x: x * number, lambda x: number + x, lambda x: x == number):
            same(run(d), run(x))
        same(d < number, x < number)
        if dtype != "bool":
            same(number - d, number - x)
            same(d / number if number else d, x / number if number else x)
        if dtype == "int64" and isinstance(number, int) and number:
            same(d // number, x // number)
            same(-7 % d.clip(1), -7 % x.clip(1))
            same(xp.clip(d, -3, 5), np.clip(x, -3, 5))
            same(xp.clip(d, None, xp.abs(d) % 9), np.clip(x, None, np.abs(x) % 9))


def test_comparisons_of_integers_are_exact(xp):
    x = np.array([-1, 0, 2**62], np.int64)
    (d,) = both(xp, x)
    u = np.array([2**64 - 1, 0, 2**62], np.uint64)
    same(d < xp.asarray(u), [True, False, False])
    same(xp.asarray(u) > -1, [True] * 3)
    same(xp.asarray(np.uint8([1, 255])) < 300, [True, True])


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_conversions(xp, source, to):
    x = sample(source)
    if np.dtype(source).kind == "f" and to != "bool" and np.dtype(to).kind != "f":
        x = np.nan_to_num(x, posinf=5, neginf=3) % 100  # C does not define others
    with np.errstate(all="ignore"):
        same(xp.asarray(x).astype(to), x.astype(to))
    assert xp.asarray(x).astype(source, copy=False).dtype == x.dtype


@pytest.mark.parametrize("dtype", TYPES)
def test_unary_operators(xp, dtype):
    x = sample(dtype)
    (d,) = both(xp, x)
    with np.errstate(all="ignore"):
        if dtype != "bool":
            same(-d, -x), same(abs(d), abs(x))
        if np.dtype(dtype).kind == "f":
            same(xp.sqrt(d), np.sqrt(x)), same(xp.trunc(d), np.trunc(x)), same(xp.signbit(d), np.signbit(x))
            same(xp.isfinite(d), np.isfinite(x))
        else:
            same(~d, ~x)


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(xp, dtype):
    for n in (1, 2, 255, 256, 257, 40_000, 70_001):
        x = sample(dtype, max(n, 8))[:n]
        x = np.where(np.isfinite(x), x, 1).astype(dtype) if np.dtype(dtype).kind == "f" else x
        (d,) = both(xp, x)
        for name in ("max", "min", "all", "any", "argmax", "argmin"):
            same(getattr(d, name)(), getattr(x, name)())
        got, expected = d.sum(), x.sum()
        assert got.dtype == expected.dtype and float(got) == pytest.approx(float(expected), rel=1e-5, abs=1e-2 * n)
        if expected.dtype.kind in "iu":
            assert int(got) == int(expected)


def test_reductions_along_an_axis_and_of_nothing(xp):
    x = rng.integers(0, 9, (37, 5))
    (d,) = both(xp, x)
    for axis in (0, 1, -1):
        for name in ("sum", "max", "min", "argmax", "argmin"):
            same(getattr(d, name)(axis=axis), getattr(x, name)(axis=axis))
        same((d > 3).any(axis=axis), (x > 3).any(axis=axis))
    same(d.T.sum(axis=0), x.T.sum(axis=0))
    nothing = np.zeros(0)
    same(xp.asarray(nothing).sum(), nothing.sum()), same(xp.asarray(nothing).all(), np.bool_(True))
    with pytest.raises(ValueError, match="zero-size array"):
        xp.asarray(nothing).max()
    nan = np.array([1.0, np.nan, 3.0, np.nan])
    same(xp.asarray(nan).max(), nan.max()), same(xp.asarray(nan).argmax(), nan.argmax())


@pytest.mark.parametrize("dtype", [*TYPES, "complex128"])
def test_gather_scatter_and_selection(xp, dtype):
    x = sample(dtype) if dtype in TYPES else np.arange(300) * 1j
    (d,) = both(xp, x)
    for kind in ("int32", "int64", "uint64"):
        at = rng.integers(0 if kind == "uint64" else -300, 300, 77).astype(kind)
        same(d[xp.asarray(at)], x[at])
    same(d[at.tolist()], x[at]), same(d[[]], x[:0])
    flags = rng.random(300) < 0.3
    same(d[xp.asarray(flags)], x[flags])
    same(d[::2][xp.asarray(flags[::2])], x[::2][flags[::2]])
    same(xp.flatnonzero(xp.asarray(flags)), np.flatnonzero(flags))
    if dtype in TYPES:
        places = rng.permutation(300)[:50]
        for values in (x[:50], x[7]):
            y, e = x.copy(), d.copy()
            y[places], e[xp.asarray(places)] = values, xp.asarray(values) if values.shape else values
            same(e, y)
        y[flags], e[xp.asarray(flags)] = 1, 1
        same(e, y)


def test_slices_and_broadcasting(xp):
    x, y = np.arange(60), np.arange(60) % 7
    d, e = both(xp, x, y)
    same(d[1:] - d[:-1], x[1:] - x[:-1])
    same(d[::3] * e[::3], x[::3] * y[::3])
    same(d[:6, None] - e[None, :5], x[:6, None] - y[None, :5])
    same(d[:, None].astype(np.uint64) << np.uint64(1), x[:, None].astype(np.uint64) << np.uint64(1))
    same(d**2, x**2), same(d.astype(float) ** 0.5, x.astype(float) ** 0.5)
    same(d[xp.asarray([2, 5]), None] - e, x[[2, 5], None] - y)
    z, f = np.zeros((6, 10)), xp.zeros((6, 10))
    z[:, 3], f[:, 3] = x[:6], d[:6]
    z[2], f[2] = y[:10], e[:10]
    z[1:3, ::2], f[1:3, ::2] = 9, 9
    same(f, z), same(f.T.copy(), z.T.copy())
    same(f[xp.asarray([5, 1])], z[[5, 1]])
    z += 1
    f += 1
    same(f, z)
    d[5], x[5] = 77, 77
    d[1::2], x[1::2] = e[:30], y[:30]
    d[:4], x[:4] = [9, 8, 7, 6], [9, 8, 7, 6]
    same(d, x)
    with pytest.raises(ValueError, match="broadcast"):
        d[:4] = e[:5]


def test_scans_searches_sets_and_sorts(xp):
    for dtype in ("bool", "uint8", "int32", "int64", "uint64", "float64"):
        x = (
            (np.abs(np.nan_to_num(sample(dtype), posinf=1, neginf=1)) % 50).astype(dtype)
            if dtype != "bool"
            else sample(dtype)
        )
        (d,) = both(xp, x)
        host = d.cumsum()
        if dtype == "float64":  # in another order
            np.testing.assert_allclose(xp.library.asarray(host).tolist(), x.cumsum(), rtol=1e-13)
        else:
            same(host, x.cumsum())
        if dtype == "bool":
            continue
        same(xp.sort(d), np.sort(x)), same(d.argsort(), x.argsort(kind="stable"))
        for side in ("left", "right"):
            same(xp.searchsorted(xp.sort(d), d[:20], side), np.searchsorted(np.sort(x), x[:20], side))
        if dtype != "float64":
            for got, expected in zip(xp.unique(d, True, True, True), np.unique(x, True, True, True)):
                same(got, expected)
            same(xp.bincount(d, minlength=70), np.bincount(x.astype(np.int64), minlength=70))
            same(xp.union1d(d, d[:3] + 1), np.union1d(x, x[:3] + 1))
    ends, out = np.zeros(301, np.int32), xp.zeros(301, np.int32)
    np.cumsum(x > 9, out=ends[1:]), xp.cumsum(d > 9, out=out[1:])
    same(out, ends), same(xp.cumsum(out, out=out), np.cumsum(ends, out=ends))
    same(xp.sort(d).searchsorted(3), np.sort(x).searchsorted(3)), same(xp.diff(d, append=9), np.diff(x, append=9))


def test_scans_along_rows(xp):
    for dtype in ("bool", "int32", "uint64"):
        x = (np.arange(35) % 7).astype(dtype).reshape(7, 5)
        (
            same(xp.cumsum(xp.asarray(x), axis=1), x.cumsum(axis=1)),
            same(xp.asarray(x.T).cumsum(axis=-1), x.T.cumsum(axis=-1)),
        )
    same(xp.zeros((0, 4), np.int64).cumsum(axis=1), np.zeros((0, 4), np.int64))


def test_a_scan_longer_than_one_of_cub(xp, monkeypatch):
    monkeypatch.setattr(arrays, "LONGEST_SCAN", 64)
    x = np.arange(300) % 5
    same(xp.asarray(x).cumsum(), x.cumsum())


def test_new_arrays(xp):
    for args in ((5,), (2, 9), (2, 9, 3), (9, 2, -2), (np.int32(0), np.int64(7))):
        same(xp.arange(*args), np.arange(*args))
    (
        same(xp.arange(4, dtype=np.uint64), np.arange(4, dtype=np.uint64)),
        same(xp.arange(0.0, 1.0, 0.3), np.arange(0.0, 1.0, 0.3)),
    )
    (
        same(xp.full(3, 7, np.int16), np.full(3, 7, np.int16)),
        same(xp.full((2, 3), np.uint64(2**64 - 1)), np.full((2, 3), np.uint64(2**64 - 1))),
    )
    (
        same(xp.ones(4, bool), np.ones(4, bool)),
        same(xp.zeros(3), np.zeros(3)),
        same(xp.full(2, np.nan), np.full(2, np.nan)),
    )
    x, y = np.arange(5), np.arange(3, dtype=np.int32)
    d, e = both(xp, x, y)
    same(xp.concatenate((d, e, np.float32([1]))), np.concatenate((x, y, np.float32([1]))))
    same(xp.append(d, 9), np.append(x, 9)), same(xp.tile(e, 4), np.tile(y, 4))
    same(xp.repeat(d, 3), np.repeat(x, 3)), same(d.repeat(xp.asarray(x)), x.repeat(x))
    for axis in (0, 1):
        same(xp.stack((e, e + 1), axis=axis), np.stack((y, y + 1), axis=axis))
    same(xp.where(d > 2, d, -1), np.where(x > 2, x, -1)), same(xp.where(d > 2, 1.5, d), np.where(x > 2, 1.5, x))
    flags = rng.random(77) < 0.5
    packed = np.packbits(flags, bitorder="little")
    same(xp.packbits(xp.asarray(flags), bitorder="little"), packed)
    same(xp.unpackbits(xp.asarray(packed), bitorder="little"), np.unpackbits(packed, bitorder="little"))


def test_complex_arrays_are_left_to_the_library(xp, monkeypatch):
    monkeypatch.undo()
    x = xp.full((2, 3), 1j)
    x[1], x[0, 1] = 2, 3j
    same(x, [[1j, 3j, 1j], [2, 2, 2]])
    x.fill(4j)
    same(x.astype(np.complex64), np.full((2, 3), 4j, np.complex64))


def test_results_are_arrays_of_the_module(xp):
    d = xp.asarray(np.arange(9))
    for x in (d + 1, d[2:], d[d > 3], d.reshape(3, 3).T, d.astype(float), d.view(np.uint64), xp.unique(d), d.sum()):
        assert isinstance(x, xp.Array) or x.shape == ()
