"""Choosing a device, several GPUs, arrays of other libraries, and each thing that can be missing or go wrong: with a
CuPy that only says so, and where it is there, on a GPU."""

from __future__ import annotations

import sys
import threading

import fake_cupy
import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas import jit
from bitblas.config import config
from bitblas.device import base, cuda
from bitblas.exceptions import DeviceError, JitError, OutOfMemory


@pytest.fixture
def fake(monkeypatch):
    """Put a fake CuPy in the place of the real one: fake(count=2, ..); all devices are made anew."""

    def put(module=None, **how):
        monkeypatch.setitem(sys.modules, "cupy", module if how == {} and module is not None else fake_cupy.Cupy(**how))
        monkeypatch.setattr(devices, "_devices", {})
        monkeypatch.setattr(devices, "several", False)
        monkeypatch.setattr(cuda, "_home", threading.local())
        cuda.import_cupy.cache_clear()
        return sys.modules["cupy"]

    monkeypatch.setattr(config, "_device", "cpu")
    yield put
    cuda.import_cupy.cache_clear()


# ---- what can be missing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"error": 35, "driver": 0}, "this machine has no NVIDIA driver; bitblas works on the CPU"),
        (
            {"error": 35, "driver": 12020},
            "the driver knows CUDA 12.2, this CuPy is for 13.0; update the driver, or pip",
        ),
        ({"error": 100}, "this machine has no GPU; bitblas works on the CPU"),
        ({"error": 999}, "no usable GPU or driver"),
        ({"count": 0}, "this machine has no GPU"),
        ({"version": "12.3.0"}, "expected CuPy 13 or newer, got 12.3.0; pip install"),
        ({"capability": (6, 1)}, "expected compute capability 7.0 or newer, got 6.1; bitblas works on the CPU"),
    ],
)
def test_what_is_missing_is_said_and_the_cpu_works(fake, how, said):
    fake(**how)
    for ask in (lambda: devices.get("cuda"), lambda: gb.Vector(gb.dtypes.BOOL, 3, device="cuda")):
        with pytest.raises(DeviceError, match=said):
            ask()
    assert devices.default() == "cpu" and devices.available()[0] == "cpu" and "cuda" not in devices.available()
    assert gb.Vector.from_dense([1, 2], device="cpu").nvals == 2


def test_no_cupy(fake, monkeypatch):
    fake()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceError, match=r"CuPy cannot be imported .*; pip install 'bit-graphblas\[cuda13\]'"):
        devices.get("cuda")


def test_no_nvrtc(monkeypatch):
    jit.nvrtc_version.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match="NVRTC, which compiles the kernels, cannot be loaded"):
        jit.nvrtc_version()
    monkeypatch.undo()
    jit.nvrtc_version.cache_clear()


def test_a_kernel_that_does_not_compile_is_a_jit_error():
    assert issubclass(jit.CompileError, JitError)


def test_unknown_names(fake):
    fake()
    for name in ("gpu", "cuda:", "cuda:x", "cuda:-1"):
        with pytest.raises(ValueError, match=r"device: expected one of cpu, .*cuda, cuda:0, cuda:1"):
            devices.get(name)
    with pytest.raises(DeviceError, match=r"device 'cuda:1': expected 0 to 0, as many GPUs are here"):
        devices.get("cuda:1")


# ---- several GPUs ---------------------------------------------------------------------------------------------------


def test_one_gpu_has_one_name(fake):
    fake(count=1)
    d = devices.get("cuda")
    assert d is devices.get("cuda:0") is devices.get(d) and d.name == "cuda" and d.arch == "sm_90"
    assert d.described() == "Fake GPU, sm_90, 16384 of 32768 MiB free, CuPy 14.0.0, driver of CUDA 13.0"
    assert devices.default() == "cuda" and devices.available()[-1] == "cuda" and not devices.several


@pytest.fixture
def two(fake, monkeypatch, emulator):
    """Two GPUs whose kernels the emulator runs."""
    from emulator.device import Emulator

    monkeypatch.setattr(cuda.Cuda, "load", Emulator.load)
    return fake(count=2)


def test_one_of_two_is_chosen(two, monkeypatch):
    first, second = devices.get("cuda:0"), devices.get("cuda:1")
    assert (first.name, second.name) == ("cuda:0", "cuda:1") and devices.several
    assert devices.available()[-2:] == ["cuda:0", "cuda:1"]
    # "cuda" is the one that the program chose, whatever bitblas worked on last
    assert devices.get("cuda") is first
    two.cuda.runtime.setDevice(1)
    assert devices.get("cuda") is second
    monkeypatch.setenv("BITBLAS_DEVICE", "cuda:1")
    assert devices.default() == "cuda:1"
    with config.set(device="cuda:1"):
        assert gb.Vector(gb.dtypes.BOOL, 3).device is second


def test_work_goes_to_the_gpu_of_the_operands(two):
    A, B = (gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3, device=f"cuda:{k}") for k in (0, 1))
    assert A.device.name == "cuda:0" and B.device.name == "cuda:1"
    for M, k in ((A, 0), (B, 1), (A, 0)):
        v = gb.Vector.from_coo([0], True, size=3, device=f"cuda:{k}")
        two.cuda.runtime.setDevice(1 - k)
        two.made_current.clear()
        w = v.vxm(M, gb.semiring.lor_land).new()
        assert set(two.made_current) == {k} and w.device is M.device
        assert w.to_coo()[0].tolist() == [1]
    v = gb.Vector.from_coo([0], True, size=3, device="cuda:0")
    with pytest.raises(DeviceError, match=r"expected operands on one device, got 'cuda:\d' and 'cuda:\d'"):
        v.vxm(B, gb.semiring.lor_land).new()
    assert A.to("cuda:1").isequal(B) and A.to("cuda:0") is A


# ---- arrays of other libraries --------------------------------------------------------------------------------------


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


def test_arrays_with_dlpack(device):
    i, x = Foreign([0, 2, 1]), Foreign([1.0, 2.0, 3.0])
    A = gb.Matrix.from_coo(i, i, x, nrows=3, ncols=3)
    assert A.dtype == gb.dtypes.FP64 and [a.tolist() for a in A.to_coo()] == [[0, 1, 2], [0, 1, 2], [1.0, 3.0, 2.0]]
    B = gb.Matrix.from_csr(Foreign(np.array([0, 1, 2, 3], np.int32)), Foreign(np.array([0, 1, 2], np.int32)), x,
                           nrows=3, ncols=3)  # fmt: skip
    assert B.to_coo()[2].tolist() == [1.0, 2.0, 3.0]
    v = gb.Vector.from_dense(x)
    assert v.to_dense().tolist() == [1.0, 2.0, 3.0] and gb.Vector.from_coo(i, x, size=3).nvals == 3
    for kind in {"cpu", device} - {"cuda"}:
        out = np.from_dlpack(gb.Vector.from_dense([5, 6], device=kind).to_dense())
        assert out.tolist() == [5, 6]


@pytest.mark.parametrize("make", [lambda x: Foreign(x, kind=2), lambda x: fake_cupy.on_gpu(x)])
def test_an_array_on_a_gpu_is_not_moved_to_the_host(make):
    x = make([1.0, 2.0])
    if not isinstance(x, Foreign):
        x = type("Numba", (), {"__cuda_array_interface__": {}, "__len__": lambda self: 2})()
    with pytest.raises(
        DeviceError, match=r"values: expected data in host memory for device 'cpu', got an array on a GPU"
    ):
        gb.Vector.from_dense(x, device="cpu")


def test_an_array_on_another_gpu(fake):
    fake(count=2)
    here, there = fake_cupy.on_gpu([1.0, 2.0], 0), fake_cupy.on_gpu([1.0, 2.0], 1)
    assert gb.device.get("cuda:0").adopt(here, "values") is here
    with pytest.raises(
        DeviceError, match=r"values: expected an array on device 'cuda:0', got one on GPU 1; copy it the"
    ):
        gb.Vector.from_dense(there, device="cuda:0")


def test_an_array_that_cannot_be_read(fake):
    class Tensor:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")

    fake()
    with pytest.raises(DeviceError, match=r"cannot be read: .* requires grad"):
        gb.device.get("cuda").adopt(Tensor(), "values")


def test_nobody_else_writes_into_an_object(device):
    """What goes in is copied where it would be kept, and what comes out belongs to the caller."""
    d = devices.get(device)
    i, ptr, col = (d.asarray(np.array(x, np.int32)) for x in ([0, 1, 2], [0, 1, 2, 3], [0, 1, 2]))
    x, dense = d.asarray(np.array([1.0, 2.0, 3.0])), d.asarray(np.full((2, 2), 4.0))
    objects = [
        gb.Matrix.from_coo(i, i, x, nrows=3, ncols=3), gb.Matrix.from_csr(ptr, col, x, nrows=3, ncols=3),
        gb.Vector.from_dense(x), gb.Vector.from_coo(i, x), gb.Matrix.from_dense(dense),
    ]  # fmt: skip
    before = [[d.to_host(a).tolist() for a in o.to_coo()] for o in objects]
    for array in (i, ptr, col, x, dense):
        array[...] = 0
    for o in objects:
        for array in (*o.to_coo(), *((o.to_coo(sort=False) + o.to_csr()) if o.ndim == 2 else (o.to_dense(),))):
            array[...] = 0
    assert [[d.to_host(a).tolist() for a in o.to_coo()] for o in objects] == before


# ---- memory and faults ----------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_foreseen(device, monkeypatch):
    d = devices.get(device)
    monkeypatch.setattr(base, "FORESEEN", 1)
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3, format="csr")
    B = A.dup()
    monkeypatch.setattr(type(d), "free_bytes", lambda self: 5)
    advice = "ask for the smaller form" if d.is_gpu else "free matrices that are not needed"
    for build in (
        lambda: A._store.structure.form("b2sr8"),
        lambda: gb.Matrix.from_coo([2, 1, 0], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3),
        lambda: gb.Matrix(gb.dtypes.BOOL, 30, 30),
    ):
        with pytest.raises(OutOfMemory, match=rf"needs \d+ bytes on device '{device}', 5 are free; .*{advice}"):
            build()
    with pytest.raises(OutOfMemory, match="presence bits of a vector of size"):
        gb.Vector(gb.dtypes.BOOL, 1 << 40)
    monkeypatch.undo()
    with config.set(device=device):
        assert A.isequal(B) and A._store.structure.form("b2sr8").nvals == 3  # nothing is lost


def test_the_free_memory_of_the_host_is_known():
    assert 1 << 20 < devices.get("cpu").free_bytes() <= 1 << 62


def test_an_allocation_that_fails_says_what_was_needed(fake):
    fake(free=1000)
    error = devices.get("cuda").explained(fake_cupy.OutOfMemoryError(123456))
    assert isinstance(error, OutOfMemory) and "needs 123456 bytes on device 'cuda', 1000 are free" in str(error)


def test_a_statement_reports_what_the_device_raises(device, monkeypatch):
    d = devices.get(device)
    v = gb.Vector.from_dense([1.0, 2.0])
    w = v.dup()

    def full(self, variant):
        raise MemoryError("no room")

    monkeypatch.setattr(type(d), "kernel", full)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("bitblas.verbs"):
            for f in list(vars(module).values()):
                if hasattr(f, "cache_clear"):
                    f.cache_clear()
    with pytest.raises(OutOfMemory, match="no room"):
        v << v.apply(gb.unary.cos)
    monkeypatch.undo()
    with config.set(device=device):
        assert v.isequal(w)


def test_a_kernel_that_faulted_leaves_the_cpu(two, monkeypatch):
    d = devices.get("cuda:0")
    v = gb.Vector.from_dense([1.0, 2.0], device="cuda:0")
    kept = gb.Vector.from_dense([1.0, 2.0], device="cpu")

    def faulty(self, variant):
        def launch(*how):
            raise fake_cupy.CUDARuntimeError(700, "cudaErrorIllegalAddress: an illegal memory access")

        return launch

    monkeypatch.setattr(cuda.Cuda, "load", faulty)
    lost = "device 'cuda:0': lost to this process since a kernel faulted .*illegal memory access.*device='cpu' works on"
    with pytest.raises(DeviceError, match=lost):
        v.apply(gb.unary.sin).new()
    for again in (lambda: v.apply(gb.unary.tan).new(), lambda: gb.Vector(gb.dtypes.BOOL, 3, device="cuda:0"), d.check):
        with pytest.raises(DeviceError, match=lost):
            again()
    assert kept.apply(gb.unary.ainv).new().to_dense().tolist() == [-1.0, -2.0]


def test_other_errors_are_device_errors(fake):
    fake()
    d = devices.get("cuda")
    error = d.explained(fake_cupy.CUDARuntimeError(1, "cudaErrorInvalidValue"))
    assert type(error) is DeviceError and "cudaErrorInvalidValue" in str(error) and not d.lost
    assert d.explained(error) is error


# ---- on a GPU -------------------------------------------------------------------------------------------------------


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


@pytest.mark.gpu
def test_a_real_fault(device):
    """In a process of its own, as it loses the GPU."""
    import subprocess

    code = """
import cupy, numpy as np, bitblas as gb
v, kept = gb.Vector.from_dense(np.ones(9), device="cuda"), gb.Vector.from_dense(np.ones(9), device="cpu")
bad = cupy.RawKernel('extern "C" __global__ void bad(int* p) { p[1ll << 40] = 1; }', "bad")
bad((1,), (1,), (cupy.zeros(1, cupy.int32),))
new = lambda: gb.Vector(int, 3, device="cuda")
for f in (lambda: v.apply(gb.unary.ainv).new().to_coo(), lambda: v.reduce().new(), new):
    try:
        f()
    except gb.exceptions.DeviceError as error:
        print(error)
print(kept.apply(gb.unary.ainv).new().nvals)
import os; os._exit(0)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = run.stdout.splitlines()
    assert [("lost to this process" in line) for line in lines[:3]] == [True] * 3 and lines[3] == "9", run
