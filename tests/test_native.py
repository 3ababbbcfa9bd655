"""CPU kernels as object files: calls, symbols that they need from the process, threads that share ranges."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from test_jit import fold

import bitblas as gb
from bitblas import device as devices
from bitblas.config import config
from bitblas.device import cpu, jit, native, object_files, threads
from bitblas.exceptions import JitError
from bitblas.operations.variants import BOTH, Call, elementwise_variant

POINTERS = np.array([0, 2, 5])


@pytest.fixture
def kernel():
    """The sums of segments, compiled for INT64."""
    return devices.get("cpu").kernel(fold())


def total(kernel, values, pointers=POINTERS, **how):
    sums = np.zeros(len(pointers) - 1, np.int64)
    kernel(len(sums), pointers, values, sums, **how)
    return sums.tolist()


def relocations(data):
    """The kinds of relocations of a 64-bit ELF object to other objects."""
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    for k in range(count):
        _, kind, _, _, offset, nbytes, *_ = struct.unpack_from("<IIQQQQIIQQ", data, start + size * k)
        for place in range(offset, offset + nbytes, 24) if kind == 4 else ():
            yield struct.unpack_from("<QII", data, place)[1]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="ELF of x86-64")
def test_no_reference_is_too_short_for_where_sections_may_lie():
    """LLVM ends the process where a reference of 32 bits does not reach."""
    power, _ = elementwise_variant(Call(BOTH), gb.binary.pow["FP64"], gb.dtypes.FP64, gb.dtypes.FP64)
    vector = ["uint64[]", "float64[]", "float64", "int"]
    types = ["int", *vector, *vector, "float64", "float64", "int64[]", "int64[]"]
    types += ["uint64[]", "int", "uint64", "int", "uint64[]", "float64[]"]
    made = (
        object_files.kernel_object(fold(), ["int64[]"] * 3),
        object_files.kernel_object(power, types),
        object_files.assembled_object("native", native.text(native.host())),
    )
    kinds = {kind for found in made for kind in relocations(found.data)}
    assert kinds and kinds <= {1, 24}  # R_X86_64_64, R_X86_64_PC64


def test_types_may_change_from_call_to_call(kernel):
    values = np.arange(1, 6)
    for _ in range(2):
        for dtype in (np.int64, np.int32, np.longlong, np.uint8):
            assert total(kernel, values.astype(dtype)) == [3, 12]
            assert total(kernel, values, POINTERS.astype(np.int32)) == [3, 12]


def test_a_call_goes_to_python_only_where_something_is_to_be_told(kernel, monkeypatch):
    values, told = np.arange(1, 6), []
    assert total(kernel, values) == [3, 12]  # its types are known now
    monkeypatch.setattr(cpu.threads, "limit_ranges", lambda bounds: told.append(len(bounds)) or bounds)
    assert total(kernel, values) == total(kernel, values, bounds=None) == [3, 12] and not told
    assert total(kernel, values, bounds=np.array([0, 1, 2])) == [3, 12] and told == [3]
    with gb.trace() as trace:
        assert total(kernel, values) == [3, 12] and len(trace) == 1
    assert total(kernel, values) == [3, 12] and len(trace) == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        total(kernel, values, other=3)


class Sub(np.ndarray):
    pass


def test_arrays_of_other_kinds(kernel):
    values = np.arange(1, 6)
    assert total(kernel, values.view(Sub)) == [3, 12]
    backwards = values[::-1]
    for bad in (backwards, values.reshape(1, 5), np.frombuffer(b"." + values.tobytes(), np.int64, 5, 1)):
        with pytest.raises(TypeError, match="kernel: expected a contiguous array of one dimension"):
            total(kernel, bad)
    assert total(kernel, values) == [3, 12]
    sums = np.zeros(2, np.int64)
    with pytest.raises(OverflowError):
        kernel(1 << 70, POINTERS, values, sums)
    assert sums.tolist() == [0, 0]


def test_a_kernel_with_a_constant_slice_compiles():
    """Numba's type of the slice contains a slice, which Python before 3.12 does not hash."""
    compiler = pytest.importorskip("bitblas.device.compiler")
    text = "from numba import njit\n\n\n@njit\ndef clear(lo, hi, x):\n    x[:] = 0\n"
    assert compiler.compile_kernel(text, "clear", "clear_all", ("int64[]",), [native.host()])[0][0]


def test_numbers_of_every_type():
    """NumPy's scalars are read to the bit; Python's numbers as those that they are to NumPy."""
    d = devices.get("cpu")
    typed = (np.float64(2.5), np.float32(-0.5), np.int8(-7), np.uint64(1 << 63), np.bool_(True))
    typed += np.complex64(1 - 2.5j), np.complex128(0.1 + 3j)
    for value in (-3, 1 << 40, True, 0.1, 2j, *typed):
        x = gb.Vector.from_coo([0, 2], value, size=3, device="cpu")
        y = x.apply(gb.unary.identity).new()
        assert d is y.device and y.to_dict() == {0: value, 2: value}


def test_a_python_whose_objects_are_not_known(monkeypatch, kernel):
    values = np.arange(1, 6)
    assert native.layout_known()
    monkeypatch.setattr(native, "layout_known", lambda: False)
    plain = cpu.Cpu().kernel(fold())  # kernels of another process are loaded again
    for _ in range(2):
        assert total(plain, values) == [3, 12] and total(plain, values.astype(np.int32)) == [3, 12]
        assert total(plain, values, bounds=np.array([0, 1, 2])) == [3, 12]
        with pytest.raises(TypeError):
            total(plain, values[::-1])


def test_memory_that_is_not_there(monkeypatch):
    """Scratch arrays of the size of a matrix: gustavson's row of sums."""
    A = gb.Matrix.from_coo([0], [1], 1.0, nrows=4, ncols=1 << 59, format="csr", device="cpu")
    B = gb.Matrix.from_coo([0], [1], 1.0, nrows=4, ncols=4, device="cpu")
    for _ in range(3):
        with pytest.raises((gb.exceptions.OutOfMemory, MemoryError)):
            B.mxm(A, gb.semiring.plus_times).new()
    assert A.nvals == 1 and B.mxm(B, gb.semiring.plus_times).new().nvals == 0


def test_a_function_that_is_nowhere():
    with pytest.raises(
        JitError, match="symbol no_such_function_at_all, which a kernel calls, not found in this process"
    ):
        native.address("no_such_function_at_all")


FRESH = """
import sys
import bitblas as gb
A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], True, nrows=3, ncols=3, device="cpu")
print(gb.algorithms.bfs_levels(A, 0).to_dict(), gb.algorithms.pagerank(A).to_dict())
print("numba" in sys.modules)
"""


def run(code, **env):
    made = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=200,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.splitlines()


def test_a_warm_cache_needs_no_numba():
    first, second = run(FRESH), run(FRESH)
    assert first[0] == second[0] and second[1] == "False"


def test_operators_need_no_numba_when_they_are_loaded(monkeypatch):
    """What kernels of floats call is found in the process, or by the names of `native`."""
    one = "tgamma lgamma erf exp log2 expm1 cbrt sinh atanh frexpe frexpx".split()
    for t in ("FP32", "FP64"):
        x = gb.Vector.from_coo([0, 1], [0.5, 0.25], dtype=t, size=2, device="cpu")
        for expression in (
            *(x.apply(getattr(gb.unary, name)) for name in one),
            *(x.ewise_mult(x, getattr(gb.binary, name)) for name in ("atan2", "pow", "fmod", "hypot", "remainder")),
            x.ewise_mult(x, gb.binary.numpy.nextafter),
        ):
            assert expression.new().nvals == 2
    monkeypatch.setitem(sys.modules, "numba.core.registry", None)
    names: set[str] = set()
    for path in (jit.cache_dir() / "cpu").glob("*.o"):  # those of other tests too
        names.update(path.read_bytes().split(b"\n", 2)[1].decode().split())
    assert {"exp", "expf", "numba_frexp", "numba_gamma", "numba_nextafter"} <= names
    for name in names:
        if not name.startswith("NRT_"):  # functions of a program's that make arrays or errors
            assert native.address(name), name


# ---- threads --------------------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch):
    """Set the number of threads for a test; restore it at the end."""
    before = config.threads
    yield lambda number: config.set(threads=number)
    config.threads = before


@pytest.mark.parametrize("number", [1, 2, 3, 16])
def test_ranges_are_run_once_by_every_number_of_threads(few, kernel, number):
    few(number)
    n = 1 << 12
    values = np.arange(n)
    for parts in (2, 7, 64):
        bounds = np.linspace(0, n - 1, parts + 1).astype(np.int64)
        for _ in range(50):
            assert total(kernel, values, np.arange(n), bounds=bounds) == values[: n - 1].tolist()


def test_threads_that_compile_at_once(tmp_path):
    code = """
import sys, threading
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_jit import fold
from bitblas import device
from semirings.dtypes import FP64, INT64
d, found = device.get("cpu"), []
def work(name):
    sums = np.zeros(2, np.int64)
    d.kernel(fold(name))(2, np.array([0, 2, 5]), np.array([1, 2, 3, 4, 5]), sums)
    found.append((name, sums.tolist()))
threads = [threading.Thread(target=work, args=(name,)) for name in ("plus", "times", "plus", "times", "min", "max")]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(found))
"""
    made = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, os.path.dirname(__file__)], capture_output=True, text=True,
        env={**os.environ, "BITBLAS_CACHE": str(tmp_path)}, timeout=200,
    )  # fmt: skip
    expected = {"plus": [3, 12], "times": [2, 60], "min": [1, 3], "max": [2, 5]}
    assert made.stderr == ""
    assert made.stdout == f"{[(n, expected[n]) for n in ('max', 'min', 'plus', 'plus', 'times', 'times')]}\n"


def test_several_python_threads_at_once(few, kernel):
    few(3)
    n = 1 << 10
    values = np.arange(n)
    bounds = np.linspace(0, n - 1, 9).astype(np.int64)

    def work(k):
        found = [total(kernel, values + k, np.arange(n), bounds=bounds) for _ in range(60)]
        return all(sums == (values[:-1] + k).tolist() for sums in found)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


def test_settings_of_threads(few, monkeypatch):
    with config.set(threads=5):
        assert config.threads == config["threads"] == devices.get("cpu").threads == 5
    assert config.threads == config.get("threads")
    for bad in (0, -1, 1025, 2.0, "2", True):
        with pytest.raises(ValueError, match="threads: expected 1 to 1024, or None, got"):
            config.set(threads=bad, device="cpu")
    for named, expected in (({"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "7"}, 3), ({"OMP_NUM_THREADS": "7,2"}, 7)):
        for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        config.threads = None
        assert config.threads == expected
    monkeypatch.delenv("OMP_NUM_THREADS")
    config.threads = None
    assert config.threads == threads.processors() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, threads.MAX_THREADS),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, threads.MAX_THREADS),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/x\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
        ({"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}, threads.MAX_THREADS),
    ],
)  # fmt: skip
def test_quotas_of_control_groups(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert threads._quota(tmp_path) == expected


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="MALLOC_PERTURB_ is glibc's")
@pytest.mark.parametrize("freed", ["2", "254"])
def test_the_interpreter_reads_no_freed_memory_when_it_ends(freed):
    """The last garbage collection reads method tables of kernels after modules are cleared. Freed memory is filled."""
    program = (
        "import bitblas as gb\n"
        "A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)\n"
        "v = gb.Vector.from_coo([0], [1.0], size=2)\n"
        "for _ in range(4):\n"
        "    v = A.mxv(v, gb.semiring.plus_times).new()\n"
        "print(v.to_dict())"
    )
    env = dict(os.environ, PYTHONMALLOC="malloc", MALLOC_PERTURB_=freed, BITBLAS_DEVICE="cpu")
    command = [sys.executable, "-c", program]
    made = subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(__file__).parents[1], timeout=120)
    assert made.returncode == 0 and made.stdout == "{0: 4.0}\n", (made.returncode, made.stderr)
