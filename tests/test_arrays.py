"""Arrays of other libraries as input, results as arrays for them, and ownership of the memory."""

from __future__ import annotations

import fake_cupy
import numpy as np
import pytest
import scipy.sparse as sp

import bitblas as gb
from bitblas import device as devices
from bitblas.exceptions import DeviceError, DimensionMismatch, InvalidValue


class Foreign:
    """An array that offers nothing but DLPack."""

    def __init__(self, array, kind=1, ordinal=0):
        self.array, self.kind, self.ordinal = np.asarray(array), kind, ordinal

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.kind, self.ordinal

    def __len__(self):
        return len(self.array)


@pytest.mark.uses_cpu
def test_arrays_with_dlpack(device):
    i, x = Foreign([0, 2, 1]), Foreign([1.0, 2.0, 3.0])
    A = gb.Matrix.from_coo(i, i, x, nrows=3, ncols=3)
    assert A.dtype == gb.dtypes.FP64 and [a.tolist() for a in A.to_coo()] == [[0, 1, 2], [0, 1, 2], [1.0, 3.0, 2.0]]
    ptr, col = (Foreign(np.arange(k, dtype=np.int32)) for k in (4, 3))
    assert gb.Matrix.from_csr(ptr, col, x, nrows=3, ncols=3).to_coo()[2].tolist() == [1.0, 2.0, 3.0]
    v = gb.Vector.from_dense(x)
    assert v.to_dense().tolist() == [1.0, 2.0, 3.0] and gb.Vector.from_coo(i, x, size=3).nvals == 3
    for kind in {"cpu", "cpu" if device.startswith("cuda") else device}:
        assert np.from_dlpack(gb.Vector.from_dense([5, 6], device=kind).to_dense()).tolist() == [5, 6]


NUMBA = type("Numba", (), {"__cuda_array_interface__": {}, "__len__": lambda self: 2})


@pytest.mark.parametrize("x", [Foreign([1.0, 2.0], kind=2), NUMBA()])
def test_an_array_on_a_gpu_is_not_moved_to_the_host(x):
    match = r"values: expected data in host memory for device 'cpu', got an array on a GPU"
    with pytest.raises(DeviceError, match=match):
        gb.Vector.from_dense(x, device="cpu")


def test_arrays_on_another_gpu_or_that_cannot_be_read(fake):
    class Tensor:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")

    fake(count=2)
    here, there = fake_cupy.on_gpu([1.0, 2.0], 0), fake_cupy.on_gpu([1.0, 2.0], 1)
    assert np.shares_memory(gb.device.get("cuda:0").adopt(here, "values"), here)
    match = r"values: expected an array on device 'cuda:0', got one on GPU 1; copy it the"
    with pytest.raises(DeviceError, match=match):
        gb.Vector.from_dense(there, device="cuda:0")
    with pytest.raises(DeviceError, match=r"cannot be read: .* requires grad"):
        gb.device.get("cuda").adopt(Tensor(), "values")


def test_nobody_else_writes_into_an_object(device):
    """Input is copied if the object would keep it, and output belongs to the caller."""
    d = devices.get(device)
    i, ptr, col = (d.asarray(np.array(x, np.int32)) for x in ([0, 1, 2], [0, 1, 2, 3], [0, 1, 2]))
    far = d.asarray(np.array([0, 1, 2]))  # INT64, as it would be kept
    x, dense = d.asarray(np.array([1.0, 2.0, 3.0])), d.asarray(np.full((2, 2), 4.0))
    objects = [
        gb.Matrix.from_coo(i, i, x, nrows=3, ncols=3), gb.Matrix.from_csr(ptr, col, x, nrows=3, ncols=3),
        gb.Vector.from_dense(x), gb.Vector.from_coo(i, x), gb.Matrix.from_dense(dense),
        gb.Matrix.from_coo(far, far, x, nrows=3, ncols=1 << 32),
    ]  # fmt: skip
    before = [[d.to_host(a).tolist() for a in o.to_coo()] for o in objects]
    for array in (i, ptr, col, far, x, dense):
        array[...] = 0
    for o in objects:
        for array in (*o.to_coo(), *((o.to_coo(sort=False) + o.to_csr()) if o.ndim == 2 else (o.to_dense(),))):
            array[...] = 0
    assert [[d.to_host(a).tolist() for a in o.to_coo()] for o in objects] == before


@pytest.mark.gpu
def test_arrays_of_torch_stay_on_the_gpu(device):
    torch = pytest.importorskip("torch")
    i, x = torch.tensor([0, 2, 1], device="cuda"), torch.tensor([1.0, 2.0, 3.0], device="cuda")
    A = gb.Matrix.from_coo(i, i, x, nrows=3, ncols=3)
    v = gb.Vector.from_dense(torch.tensor([True, False, True], device="cuda"))
    out = torch.from_dlpack(A.mxv(gb.Vector.from_dense(x)).new().to_dense())
    assert out.is_cuda and out.tolist() == [1.0, 6.0, 6.0] and v.dtype == gb.dtypes.BOOL
    for array in (*A.to_coo(), *A.to_csr(), v.to_dense(), A.to_dense(0.0)):
        assert torch.from_dlpack(array).is_cuda
    assert gb.Vector.from_dense(torch.tensor([1, 2])).to_dense().tolist() == [1, 2]  # from the host it is copied
    with pytest.raises(DeviceError, match="cannot be read"):
        gb.Vector.from_dense(torch.ones(3, device="cuda", requires_grad=True))
    with pytest.raises(DeviceError, match="expected data in host memory"):
        gb.Vector.from_dense(x, device="cpu")


class Column:
    """A column of a data frame as polars has it: a type of its own, which NumPy reads."""

    class dtype: ...

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


class Frame(dict):
    """A data frame: named columns."""

    shape, columns = (3, 2), property(list)

    def __array__(self, dtype=None, copy=None):
        return np.stack([np.asarray(column) for column in self.values()], axis=1)


def test_columns():
    i, x = Column([0, 2, 1]), Column([1.5, 2.0, 3.0])
    expected = [[0, 1, 2], [0, 1, 2], [1.5, 3.0, 2.0]]
    for A in (
        gb.Matrix.from_coo(i, i, x),
        gb.Matrix.from_edgelist(Frame(a=i, b=i, c=x)),
        gb.Matrix.from_edgelist(Frame(a=i, b=i), x),
    ):
        assert A.dtype == gb.dtypes.FP64 and [part.tolist() for part in A.to_coo()] == expected
    assert gb.Matrix.from_coo(i, i, x, "INT8").to_coo()[2].tolist() == [1, 3, 2]
    assert gb.Vector.from_coo(i, x).to_coo()[1].tolist() == expected[2]
    with pytest.raises(ValueError, match="edgelist: expected two or three columns, got 1"):
        gb.Matrix.from_edgelist(Frame(a=i))


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"from": [0, 2], "to": [1, 0], "weight": [1.5, 2.5]})
    A = gb.Matrix.from_edgelist(frame)
    assert A.to_dicts() == {0: {1: 1.5}, 2: {0: 2.5}}
    for kind in ("Int64", "category"):
        parts = frame["from"].astype(kind), frame["to"].astype(kind), frame["weight"]
        assert gb.Matrix.from_coo(*parts, nrows=3, ncols=2).isequal(A)


@pytest.mark.parametrize("kind", ["object", "string", "category", "numpy", "list", "column"])
def test_columns_of_text_are_refused(kind):
    series = lambda names: pytest.importorskip("pandas").Series(names, dtype=kind)
    names = {"numpy": np.array, "column": Column, "list": list}.get(kind, series)(["a", "b", "c"])
    number = [0, 1, 2]
    for name, call in {
        "rows": lambda: gb.Matrix.from_coo(names, number, 1),
        "columns": lambda: gb.Matrix.from_coo(number, names, 1),
        "indices": lambda: gb.Vector.from_coo(names, 1),
        "rows of edges": lambda: gb.Matrix.from_edgelist([(name, 1) for name in np.asarray(names).tolist()]),
        "rows of a frame": lambda: gb.Matrix.from_edgelist(Frame(a=names, b=number)),
    }.items():
        with pytest.raises(ValueError, match=rf"^{name.split()[0]}: expected integers, got text, .*'a'.*unique"):
            call()
    for dtype in (None, "INT64", "FP32", bool):
        for of, places in ((gb.Matrix, (number, number)), (gb.Vector, (number,))):
            with pytest.raises(ValueError, match=r"^values: expected numbers, got text, such as .*'a'"):
                of.from_coo(*places, names, dtype)
    with pytest.raises(ValueError, match="values: expected numbers, got an array of datetime64"):
        gb.Vector.from_coo([0], np.array(["2020-01-01"], "M8[D]"))


def test_data_in_the_place_of_a_type():
    """NumPy takes the dtype of what has one, so that a matrix of SciPy made an empty one of 0 x 0."""
    for data in (sp.eye_array(3, format="csr"), np.ones((2, 3)), gb.Matrix(int, 2, 2)):
        with pytest.raises(ValueError, match=r"dtype: expected one of BOOL, .* got data of shape .*from_scipy_sparse"):
            gb.Matrix(data)
    with pytest.raises(ValueError, match=r"got data of shape \(3,\) \(numpy.ndarray\)"):
        gb.Vector(np.ones(3))


def shares(x, y):
    return x.__array_interface__["data"][0] == y.__array_interface__["data"][0]


def on_the_host(device):
    """Arrays of the device, as another library may have them in host memory."""
    if device.startswith("cuda"):
        pytest.skip("tests/test_torch.py does this with tensors on a GPU")


@pytest.mark.uses_cpu
@pytest.mark.parametrize("dtype", ["FP32", "INT64", "UINT8", "FC64"])
def test_a_full_vector_is_an_array_without_a_copy(device, dtype):
    on_the_host(device)
    x = np.arange(1, 6).astype(gb.dtypes.lookup_dtype(dtype).np_type)
    v = gb.Vector.from_dlpack(Foreign(x), device=device)
    assert v.dtype == dtype and v.size == v.nvals == 5 and v.to_dense().tolist() == x.tolist()
    y = np.from_dlpack(v)
    assert shares(x, y) and v.__dlpack_device__() == (1, 0)
    x[0] = 9  # seen by the vector, and the other way round
    assert v[0].new().value == 9
    v[1] = 7
    assert v.nvals == 5 and x.tolist()[:2] == [9, 7]
    one = gb.Vector.from_scalar(2, 4, dtype)
    assert np.from_dlpack(one).tolist() == [2] * 4 and one.to_dense().tolist() == [2] * 4
    assert gb.Vector.from_dlpack(x[:0], device=device).size == 0


@pytest.mark.uses_cpu
@pytest.mark.parametrize("shape", [(70, 8), (70, 64), (8, 70), (130, 128)])
def test_a_full_multivector_is_an_array_without_a_copy(device, shape):
    on_the_host(device)
    x = np.random.default_rng(0).random((max(shape), min(shape)))
    x = x if shape[0] > shape[1] else x.T
    M = gb.Matrix.from_dlpack(x, device=device)
    assert M.format == "bitmap" and M.shape == shape and M.nvals == x.size
    assert shares(np.from_dlpack(M), x) and np.array_equal(np.from_dlpack(M), x)
    n = shape[0]
    ring = gb.Matrix.from_coo(np.arange(n), (np.arange(n) + 1) % n, 2.0, nrows=n, ncols=n)
    assert np.array_equal(ring.mxm(M, "plus_times").new().to_dense(0), 2 * np.roll(x, -1, 0))
    padded = gb.Matrix.from_dense(np.ones((70, 5)), format="bitmap")
    y = np.from_dlpack(padded)
    assert y.shape == (70, 5) and y.strides == (64, 8) and (y == 1).all()
    y[3, 4] = 2
    assert padded[3, 4].new().value == 2


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: gb.Vector(float, 4), r"entry at every position for DLPack, got 0 of 4. Hint: to_dense\(fill_value\)"),
        (lambda: gb.Vector.from_dense([True, False]), r"expected numbers for DLPack, got BOOL, whose values are bits"),
        (lambda: gb.Matrix.from_coo([0], [1], 1.0, nrows=20, ncols=2, format="csr"), r"format 'bitmap' .* got 'csr'"),
        (lambda: gb.Matrix.from_coo([0], [1], 1.0, nrows=20, ncols=2, format="bitmap"), r"got 1 of 40"),
    ],
)
def test_what_is_no_array_of_numbers_says_so(on_the_cpu, make, match):
    with pytest.raises(BufferError, match=match):
        make().__dlpack__()


@pytest.mark.parametrize(
    ("kind", "x", "error", "match"),
    [
        (gb.Vector, [1.0, 2.0], TypeError, r"x: expected an array with __dlpack__, got builtins.list"),
        (gb.Vector, np.ones((2, 2)), DimensionMismatch, r"x: expected 1 dimensions, got 2"),
        (gb.Vector, np.ones(4)[::2], InvalidValue, r"contiguous array, got strides .* Hint: Vector.from_dense"),
        (gb.Vector, np.ones(4, bool), InvalidValue, r"x: expected numbers, got bool"),
        (gb.Vector, np.ones(4, np.float16), InvalidValue, r"x: expected numbers, got float16"),
        (gb.Vector, np.broadcast_to(np.ones(1), 1), InvalidValue, r"may be written, got a read-only one"),
        (gb.Vector, Foreign([1.0], kind=7), DeviceError, r"host memory or on an NVIDIA GPU, got DLPack device 7"),
        (gb.Matrix, np.ones((70, 7)), InvalidValue, r"x: expected 8, 16, 32 or a multiple of 64 columns .* \(70, 7\)"),
        (gb.Matrix, np.ones((70, 16), order="F"), InvalidValue, r"contiguous array, row after row"),
    ],
)
def test_arrays_that_cannot_be_shared_are_refused(on_the_cpu, kind, x, error, match):
    with pytest.raises(error, match=match):
        kind.from_dlpack(x)
