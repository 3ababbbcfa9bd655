"""Choosing a device, several GPUs, and each error of a device: with a fake CuPy, and on a GPU if there is one."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import fake_cupy
import numpy as np
import pytest

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.device import cubins, cuda, jit
from bitblas.device.memory import Readback
from bitblas.exceptions import DeviceError, JitError, OutOfMemory
from bitblas.kernels.variant import Variant

# ---- what can be missing --------------------------------------------------------------------------------------------


MISSING = [
    ({"error": 35, "driver": 0}, "this machine has no NVIDIA driver; bitblas works on the CPU"),
    ({"error": 35, "driver": 12020}, "driver supports CUDA 12.2, this CuPy is for 13.0; update the driver, or pip"),
    ({"error": 100}, "this machine has no GPU; bitblas works on the CPU"),
    ({"error": 999}, "no usable GPU or driver"),
    ({"count": 0}, "this machine has no GPU"),
    ({"version": "12.3.0"}, "expected CuPy 13 or newer, got 12.3.0; pip install"),
    ({"capability": (6, 1)}, "expected compute capability 7.0 or newer, got 6.1; bitblas works on the CPU"),
]


@pytest.mark.parametrize(("how", "said"), MISSING)
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
    with pytest.raises(DeviceError, match=r"CuPy cannot be imported .*; pip install cupy-cuda13x cuda-core"):
        devices.get("cuda")


def test_no_nvrtc(monkeypatch):
    cubins.nvrtc_version.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setattr(cubins, "DISTRIBUTIONS", ())
    with pytest.raises(DeviceError, match="NVRTC, which compiles the kernels, cannot be loaded"):
        cubins.nvrtc_version()
    monkeypatch.undo()
    cubins.nvrtc_version.cache_clear()


def test_unknown_names(fake):
    fake()
    assert issubclass(jit.CompileError, JitError)
    of = "device: expected one of cpu, .*"
    unknown = [(x, ValueError, f"{of}cuda, cuda:0, cuda:1") for x in ("gpu", "cuda:", "cuda:x", "cuda:-1")]
    unknown += [("cuda:1", DeviceError, r"device 'cuda:1': expected 0\.\.0 \(1 GPUs visible\)")]
    for name, error, match in (*unknown, ({}, ValueError, f"{of}got {{}}")):
        with pytest.raises(error, match=match):
            devices.get(name)
    for several in (["cpu", "cpu"], ("cuda:0", "cuda:1")):
        with pytest.raises(TypeError, match=r"the name of one device, got 2\. .*`bitblas run -n 2 program\.py`"):
            gb.Matrix(int, 2, 2, device=several)


# ---- several GPUs ---------------------------------------------------------------------------------------------------


def test_one_gpu_has_one_name(fake):
    fake(count=1)
    d = devices.get("cuda")
    assert d is devices.get("cuda:0") is devices.get(d) and d.name == "cuda" and d.arch == "sm_90"
    assert d.described() == "Fake GPU, sm_90, 16384 of 32768 MiB free, CuPy 14.0.0, driver for CUDA 13.0"
    assert devices.default() == "cuda" and devices.available()[-1] == "cuda" and not devices.several
    assert d.multiprocessors == 132


@pytest.fixture
def two(fake, monkeypatch, emulator):
    """Two GPUs whose kernels the emulator runs."""
    from emulator.device import Emulator

    def on_host(self, device, nbytes):
        self.device, self.address, self.host = device, 0, np.zeros(nbytes, np.uint8)

    monkeypatch.setattr(cuda.Cuda, "load", Emulator.load)
    monkeypatch.setattr(Readback, "__init__", on_host)
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


# ---- memory and faults ----------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_foreseen(device, monkeypatch, tune):
    d = devices.get(device)
    tune({"memory.checked_bytes": 1})
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3, format="csr")
    B = A.dup()
    monkeypatch.setattr(type(d), "free_bytes", lambda self: 5)
    advice = "choose a smaller format" if d.is_gpu else "free matrices that are not needed"
    for build in (
        lambda: A._store.structure.layout("b2sr8"),
        lambda: gb.Matrix.from_coo([2, 1, 0], [1, 2, 0], [1, 2, 3], nrows=3, ncols=3),
        lambda: gb.Matrix(gb.dtypes.BOOL, 5000, 30),
    ):
        with pytest.raises(OutOfMemory, match=rf"needs \d+ bytes on device '{device}', 5 are free; .*{advice}"):
            build()
    with pytest.raises(OutOfMemory, match="bits of 1099511627776 positions"):
        gb.Vector.from_scalar(True, 1 << 40)
    monkeypatch.undo()
    with config.set(device=device):
        assert A.isequal(B) and A._store.structure.layout("b2sr8").nvals == 3  # nothing is lost


def test_what_cannot_be_allocated_is_out_of_memory(device):
    """Not predicted, because it is no structure: the device raises the error, and later calls work."""
    A = gb.Matrix.from_coo([5], [5], 1.0, nrows=1 << 8, ncols=1 << 50)
    for make in (lambda: A.to_dense(0.0), lambda: gb.Matrix.from_scalar(1.0, 1 << 8, 1 << 50)):
        with pytest.raises(OutOfMemory):
            make()
    assert A.nvals == 1


def test_sizes_that_no_array_can_have_are_out_of_memory():
    A = gb.Matrix.from_coo([0], [1], 1, nrows=1000, ncols=1 << 60, device="cpu", format="csr")
    for make in (lambda: A.T.new(), lambda: A.to_dense(0)):
        with pytest.raises(OutOfMemory, match=r"needs \d{19} bytes"):
            make()
    assert A[[0, 1], [1, 2]].new().to_dicts() == {0: {0: 1}}
    assert [x.tolist() for x in A.T.to_coo()] == [[1], [0], [1]]  # sorted, without rows of the transpose
    other = ValueError("array is a small one")
    assert devices.get("cpu").explained(other) is other
    with pytest.raises(ValueError, match="lengths must match"):
        gb.Matrix.from_coo([0], [1, 2], 1, device="cpu")


def test_an_allocation_that_fails_says_what_was_needed(fake):
    fake(free=6100)  # of which 5100 had been allocated
    error = devices.get("cuda").explained(fake_cupy.OutOfMemoryError(123456))
    assert isinstance(error, OutOfMemory) and "needs 123456 bytes on device 'cuda', 1000 are free" in str(error)
    assert 1 << 20 < devices.get("cpu").free_bytes() <= 1 << 62


def test_a_statement_reports_what_the_device_raises(device, monkeypatch):
    d = devices.get(device)
    v = gb.Vector.from_dense([1.0, 2.0])
    w = v.dup()

    def full(self, variant):
        raise MemoryError("no room")

    monkeypatch.setattr(type(d), "kernel", full)
    for name in [name for name in sys.modules if name.startswith("bitblas.operations")]:
        for f in list(vars(sys.modules[name]).values()):
            if hasattr(f, "cache_clear") and f.__module__ == name:  # operators stay the objects they are
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

    fault = fake_cupy.CUDARuntimeError(700, "cudaErrorIllegalAddress: an illegal memory access")
    monkeypatch.setattr(cuda.Cuda, "load", lambda self, variant: Mock(side_effect=fault))
    lost = "device 'cuda:0': unusable in this process after a kernel fault .*illegal memory access.*"
    lost += "use device='cpu' or restart the process"
    launches = (lambda: v.apply(gb.unary.sin).new(), lambda: v.apply(gb.unary.tan).new())
    for again in (*launches, lambda: gb.Vector(gb.dtypes.BOOL, 3, device="cuda:0"), d.check):
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
def test_a_real_fault(device):
    """In a separate process, because it loses the GPU."""
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
    assert [("unusable in this process" in line) for line in lines[:3]] == [True] * 3 and lines[3] == "9", run


@pytest.mark.gpu
def test_two_real_gpus(device):
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU")
    n = 1000
    entries = np.arange(n), (7 * np.arange(n) + 3) % n, True
    made = [gb.Matrix.from_coo(*entries, nrows=n, ncols=n, device=f"cuda:{k}") for k in (0, 1)]
    for k in (1, 0, 1):
        v = gb.Vector.from_coo([5], True, size=n, device=f"cuda:{k}")
        cupy.cuda.Device(1 - k).use()
        w = v.vxm(made[k], gb.semiring.lor_land).new()
        assert w.device.name == f"cuda:{k}" and w.to_coo()[0].tolist() == [38] and w.to_coo()[0].device.id == k
    with pytest.raises(DeviceError, match="expected operands on one device"):
        v.vxm(made[0], gb.semiring.lor_land).new()
    with cupy.cuda.Device(1):
        there = cupy.ones(n)
    with pytest.raises(DeviceError, match="got one on GPU 1"):
        gb.Vector.from_dense(there, device="cuda:0")
    assert made[0].to("cuda:1").isequal(made[1])
    cupy.cuda.Device(0).use()


def test_arguments_lie_as_in_a_structure_of_c():
    """Each at a multiple of its size; a complex number as its two parts (Argument in complex.cuh)."""
    packed = cuda.Arguments(["q", "?", "dd", "f", "ff", "Q"])
    packed.put([5, True, np.complex128(1 + 2j), np.float32(2.5), np.complex64(3 - 1j), 7])
    assert struct.unpack("=q?7xddfff4xQ", packed.buffer.raw) == (5, True, 1, 2, 2.5, 3, -1, 7)
    assert packed.size.value == len(packed.buffer.raw) == 56
    assert list(packed.extra) == [1, ctypes.addressof(packed.buffer), 2, ctypes.addressof(packed.size), None]


class Module:
    """A module of CuPy whose driver refuses kernels with a status."""

    def __init__(self, refused):
        self.refused, self.loaded = refused, None

    def load(self, image):
        if self.refused:
            error = fake_cupy.CUDADriverError("CUDA_ERROR")
            error.status = self.refused.pop(0)
            raise error
        self.loaded = image

    def get_function(self, name):
        return SimpleNamespace(ptr=1, image=self.loaded)


@pytest.fixture
def refusing(fake, monkeypatch):
    """A GPU whose driver refuses to load kernels, with one status after the other."""

    def put(*statuses, shipped=None):
        cupy = fake(driver=12040)
        cupy.cuda.function = SimpleNamespace(Module=lambda: Module(list(statuses)))
        monkeypatch.setattr(cubins, "find_shipped", lambda text, arch: shipped)
        monkeypatch.setattr(cubins, "nvrtc_version", lambda: "13.5.37")
        monkeypatch.setattr(cubins, "start", lambda variant, arch, shipped=True: lambda: b"compiled")
        cubins.not_used.cache_clear()
        return devices.get("cuda")

    return put


def test_a_driver_older_than_nvrtc(refusing):
    d = refusing(222)
    match = r"driver, which supports CUDA 12.4, cannot load a kernel compiled by NVRTC 13.5.37 for sm_90 .*update the"
    with pytest.raises(DeviceError, match=match):
        d._function(Variant("kernels/pack"), lambda: b"compiled")


def test_a_shipped_cubin_that_the_driver_refuses_is_compiled(refusing):
    d = refusing(209, shipped=b"shipped")
    with pytest.warns(UserWarning, match="this driver cannot load it .*; kernels are compiled at their first use"):
        found = d._function(Variant("kernels/pack"), lambda: b"shipped")
    assert found.image == b"compiled"


def test_a_lost_gpu_is_not_an_old_driver(refusing):
    d = refusing(700)
    with pytest.raises(fake_cupy.CUDADriverError):
        d._function(Variant("kernels/pack"), lambda: b"compiled")


@pytest.mark.parametrize(("ordinal", "loaded", "created"), [(None, False, 1), (None, True, 0), (1, True, 1)])
def test_the_context_is_created_ahead_unless_another_gpu_may_be_current(monkeypatch, ordinal, loaded, created):
    for name in ("cupy", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    begun = Mock()
    monkeypatch.setattr(cuda.threading, "Thread", begun)
    cuda.create_context.cache_clear()
    cuda.create_context(ordinal)
    cuda.create_context.cache_clear()
    assert begun.return_value.start.call_count == created
