"""Compiling kernels once: the contents of the cache, damaged entries, and errors. CPU kernels as object files: calls,
symbols that they need from the process, threads that share ranges."""

import os
import platform
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bitblas as gb
import semirings
from bitblas import device as devices
from bitblas.config import config
from bitblas.device import cpu, cubins, jit, native, object_files, threads
from bitblas.exceptions import JitError
from bitblas.kernels.variant import Function, Variant, sum_of
from bitblas.operations.variants import BOTH, Call, elementwise_variant
from semirings.dtypes import FP64, INT64


def fold(name="plus", t=INT64):
    """t[s] = the sum of segment s: the smallest kernel."""
    functions, values, _ = sum_of(semirings.monoid[name], t)
    take = Function("take", t, (("x", t),), (), "x")
    return Variant("kernels/fold", (("A", t), ("Z", t)), (), values, (*functions, take), f"monoid.{name}")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, for this process and its children."""

    remembering = (jit.cache_dir, jit.cuda_source, jit.cpu_source)  # tests replace some of them
    monkeypatch.setenv("BITBLAS_CACHE", str(tmp_path))
    for function in remembering:
        function.cache_clear()
    yield tmp_path
    for function in remembering:
        function.cache_clear()


def child(code, stderr=subprocess.PIPE, **env):
    """Start another process that can call `fold`."""
    head = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_jit import *\n"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", head + code], env={**os.environ, **env}, text=True,
        stdout=subprocess.PIPE, stderr=stderr, cwd=Path(__file__).parents[1],
    )  # fmt: skip


def answer(process):
    out, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (0, "")
    return out


SIGNATURE = ("int64[]", "int64[]", "int64[]")
RUN_ON_CPU = """
assert total(devices.get("cpu").kernel(fold())) == [3, 12]
print("numba" in sys.modules)
"""


POINTERS, VALUES = np.array([0, 2, 5]), np.arange(1, 6)


def total(kernel, values=VALUES, pointers=POINTERS, **how):
    sums = np.zeros(len(pointers) - 1, np.int64)
    kernel(len(sums), pointers, values, sums, **how)
    return sums.tolist()


def files(cache):
    return sorted((cache / "cpu").glob("fold_*"))


def test_another_process_finds_the_compiled_cpu_kernel(cache):
    assert answer(child(RUN_ON_CPU)).split() == ["True"]
    assert answer(child(RUN_ON_CPU)).split() == ["False"]


def test_two_processes_compile_for_the_cpu_at_once(cache):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(answer, [child(RUN_ON_CPU), child(RUN_ON_CPU)]))
    assert len(files(cache)) == 1
    assert answer(child(RUN_ON_CPU)).split() == ["False"]


def test_a_kill_leaves_nothing_in_the_cache(cache):
    kill = "os.fsync = os.replace = lambda *args: os.kill(os.getpid(), 9)\n"
    process = child(kill + RUN_ON_CPU)
    process.communicate(timeout=120)
    assert process.returncode == -9
    assert files(cache) == []
    assert answer(child(RUN_ON_CPU)).split() == ["True"]
    assert {path.suffix for path in (cache / "cpu").iterdir()} == {".o"}


@pytest.fixture
def made(monkeypatch):
    """The symbols requested from Numba, which optimizes; otherwise names with its counters stay in the result."""
    from bitblas.device import compiler

    monkeypatch.setattr(compiler.config, "OPT", 1)
    asked, real = [], compiler.compile_kernel

    def counted(text, name, symbol, *more):
        asked.append(symbol)
        return real(text, name, symbol, *more)

    monkeypatch.setattr(compiler, "compile_kernel", counted)
    return asked


damages = pytest.mark.parametrize(
    "damage",
    [lambda data: data[:99], lambda data: data[:-1] + b"x", lambda data: b"", lambda data: data.replace(b"ELF", b"F")],
)


@damages
def test_a_damaged_object_is_compiled_again(cache, made, damage):
    first = object_files.kernel_object(fold(), SIGNATURE)
    (path,) = files(cache)
    assert path.name == f"{first.symbol}.o"
    assert object_files.kernel_object(fold(), SIGNATURE) == first and len(made) == 1
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert object_files.kernel_object(fold(), SIGNATURE) == first and len(made) == 2
    assert path.read_bytes() == whole


def test_what_an_object_is_made_of_has_another_name(cache, made, monkeypatch):
    symbols = {object_files.kernel_object(fold(), SIGNATURE).symbol}
    symbols.add(object_files.kernel_object(fold(), ("int32[]", *SIGNATURE[1:])).symbol)
    text = jit.cpu_source(fold())
    monkeypatch.setattr(jit, "cpu_source", lambda variant: text + "\n# edited\n")
    symbols.add(object_files.kernel_object(fold(), SIGNATURE).symbol)
    monkeypatch.setenv("NUMBA_OPT", "2")
    object_files._compilers.cache_clear()
    symbols.add(object_files.kernel_object(fold(), SIGNATURE).symbol)
    object_files._compilers.cache_clear()
    assert len(symbols) == len(made) == len(files(cache)) == 4


def test_a_text_that_numba_refuses_is_shown(cache, monkeypatch):
    text = jit.cpu_source(fold()).replace("add(total", "no_such_name(total")
    monkeypatch.setattr(jit, "cpu_source", lambda variant: text)
    with pytest.raises(jit.CompileError, match="no_such_name") as error:
        object_files.kernel_object(fold(), SIGNATURE)
    said = str(error.value)
    assert said.startswith("kernels/fold monoid.plus A=INT64 Z=INT64\n") and jit.numbered(text) in said
    assert files(cache) == []


def test_variants_have_texts_of_their_own():
    texts = {f(v) for f in (jit.cpu_source, jit.cuda_source) for v in (fold(), fold("times"), fold("plus", FP64))}
    assert len(texts) == 6


def test_the_text_is_complete():
    text = jit.cuda_source(fold())
    assert "#include" not in text and text.startswith("// kernels/fold monoid.plus A=INT64 Z=INT64\n")
    assert "# include" not in jit.cpu_source(fold())


def test_a_folder_that_cannot_be_made(tmp_path, cache, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BITBLAS_CACHE", str(tmp_path / "file" / "folder"))
    jit.cache_dir.cache_clear()
    with pytest.warns(UserWarning, match=r"kernel cache: .*folder cannot be written; .* Hint: set \$BITBLAS_CACHE"):
        found = jit.cache_dir()
    assert found.is_dir() and os.access(found, os.W_OK)
    assert found == jit.cache_dir() and tmp_path not in found.parents


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder(tmp_path, cache):
    tmp_path.chmod(0o500)
    with pytest.warns(UserWarning, match="cannot be written"):
        assert jit.cache_dir() != tmp_path
    tmp_path.chmod(0o700)


# ---- CUDA -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch):
    """The architectures that NVRTC was called for."""
    pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")
    called, real = [], cubins.compile_text

    def counted(text, variant, arch):
        called.append(arch)
        return real(text, variant, arch)

    monkeypatch.setattr(cubins, "compile_text", counted)
    return called


ELF = b"\x7fELF"


def test_a_cubin_is_compiled_once_for_each_architecture(cache, compilations):
    first = cubins.cubin(fold(), "sm_90")
    assert first.read_bytes().startswith(ELF)
    assert cubins.cubin(fold(), "sm_90") == first
    assert cubins.cubin(fold(), "sm_80") != first
    assert compilations == ["sm_90", "sm_80"]
    code = 'cubins.compile_text = None\nprint(cubins.cubin(fold(), "sm_90"))'
    assert answer(child(code)).strip() == str(first)


@damages
def test_a_damaged_cubin_is_compiled_again(cache, compilations, damage):
    path = cubins.cubin(fold(), "sm_90")
    data = path.read_bytes()
    path.write_bytes(damage(data))
    assert cubins.cubin(fold(), "sm_90") == path
    assert path.read_bytes().startswith(ELF) and len(compilations) == 2


def test_two_processes_compile_a_cubin_at_once(cache, compilations):
    code = 'print(cubins.cubin(fold(), "sm_90"))'
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answer, [child(code), child(code)])
    assert first == second
    assert cubins.cubin(fold(), "sm_90") == Path(first.strip())
    assert compilations == []
    assert sorted(p.suffix for p in (cache / "cuda").iterdir()) == [".cubin", ".sha256"]


def test_changed_cuda_text_or_options_have_another_key(cache, compilations, monkeypatch):
    paths = {cubins.cubin(fold(), "sm_90")}
    monkeypatch.setitem(cubins.OPTIONS, "fma", True)
    paths.add(cubins.cubin(fold(), "sm_90"))
    text = jit.cuda_source(fold())
    monkeypatch.setattr(jit, "cuda_source", lambda variant: text + "\n// edited\n")
    paths.add(cubins.cubin(fold(), "sm_90"))
    assert len(paths) == 3


def test_a_compile_error_shows_the_numbered_source(cache, compilations, monkeypatch):
    text = jit.cuda_source(fold()) + "no_such_type x;\n"
    monkeypatch.setattr(jit, "cuda_source", lambda variant: text)
    with pytest.raises(jit.CompileError) as error:
        cubins.cubin(fold(), "sm_90")
    message, line = str(error.value), text.count("\n")
    assert message.startswith("kernels/fold monoid.plus A=INT64 Z=INT64 for sm_90\n")
    assert f"fold.cu({line}): error" in message and f"{line:4d}  no_such_type x;" in message
    assert not list(cache.glob("cuda/*"))


def test_every_device_gives_the_same_sums(device):
    chosen = devices.get(device)
    pointers, values = chosen.asarray(POINTERS), chosen.asarray(VALUES)
    sums = chosen.asarray(np.zeros(2, np.int64))
    chosen.kernel(fold())(2, pointers, values, sums)
    assert chosen.to_host(sums).tolist() == [3, 12]


@pytest.mark.off_cpu
def test_nothing_falls_back_to_the_cpu(device):
    with pytest.raises(AssertionError, match="a CPU kernel was asked for: kernels/fold"):
        devices.get("cpu").kernel(fold())


def test_the_text_of_a_kernel_keeps_what_it_reaches():
    """Definitions under a condition too, but no unused ones."""
    unused = "def unused():\n    pass\n"
    text = f"import numpy as np\nN = 3\nif N:\n    one, two = N, 2\n{unused}def run():\n    return two\n"
    kept = jit._reached((text,), ("run",))
    assert "one, two = N, 2" in kept and "N = 3" in kept and "import numpy" in kept and "unused" not in kept
    names: dict = {}
    exec(kept, names)
    assert names["run"]() == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_who_waits_at_a_terminal_is_told(tmp_path):
    """Which kernel is compiled, in a line that is gone afterwards; nothing where errors go to a file, or in a cache."""
    import pty

    code = "for name in ('plus', 'times'): object_files.kernel_object(fold(name), SIGNATURE)"
    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        process = child(code, theirs, BITBLAS_CACHE=str(tmp_path))
        assert process.communicate(timeout=200) == ("", None) and process.returncode == 0
        os.close(theirs)
        os.set_blocking(ours, False)
        try:
            said.append(os.read(ours, 9999).decode())
        except OSError:  # nothing
            said.append("")
        os.close(ours)
    line = "bitblas: compiling kernel {}, once for this machine"
    assert said == ["".join(f"{line.format(k)}\r{' ' * len(line.format(k))}\r" for k in (1, 2)), ""]
    assert answer(child(code, BITBLAS_CACHE=str(tmp_path / "another"))) == ""


# ---- object files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kernel():
    """The sums of segments, compiled for INT64."""
    return devices.get("cpu").kernel(fold())


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
    for _ in range(2):
        for dtype in (np.int64, np.int32, np.longlong, np.uint8):
            assert total(kernel, VALUES.astype(dtype)) == [3, 12]
            assert total(kernel, VALUES, POINTERS.astype(np.int32)) == [3, 12]


def test_a_call_goes_to_python_only_where_something_is_to_be_told(kernel, monkeypatch):
    told = []
    assert total(kernel) == [3, 12]  # its types are known now
    monkeypatch.setattr(cpu.threads, "limit_ranges", lambda bounds: told.append(len(bounds)) or bounds)
    assert total(kernel) == total(kernel, bounds=None) == [3, 12] and not told
    assert total(kernel, bounds=np.array([0, 1, 2])) == [3, 12] and told == [3]
    with gb.trace() as trace:
        assert total(kernel) == [3, 12] and len(trace) == 1
    assert total(kernel) == [3, 12] and len(trace) == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        total(kernel, other=3)


class Sub(np.ndarray):
    pass


def test_arrays_of_other_kinds(kernel):
    assert total(kernel, VALUES.view(Sub)) == [3, 12]
    backwards = VALUES[::-1]
    for bad in (backwards, VALUES.reshape(1, 5), np.frombuffer(b"." + VALUES.tobytes(), np.int64, 5, 1)):
        with pytest.raises(TypeError, match="kernel: expected a contiguous array of one dimension"):
            total(kernel, bad)
    assert total(kernel) == [3, 12]
    sums = np.zeros(2, np.int64)
    with pytest.raises(OverflowError):
        kernel(1 << 70, POINTERS, VALUES, sums)
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
    assert native.layout_known()
    monkeypatch.setattr(native, "layout_known", lambda: False)
    plain = cpu.Cpu().kernel(fold())  # kernels of another process are loaded again
    for _ in range(2):
        assert total(plain) == [3, 12] and total(plain, VALUES.astype(np.int32)) == [3, 12]
        assert total(plain, bounds=np.array([0, 1, 2])) == [3, 12]
        with pytest.raises(TypeError):
            total(plain, VALUES[::-1])


def test_memory_that_is_not_there(monkeypatch):
    """Scratch arrays of the size of a matrix: gustavson's row of sums."""
    A = gb.Matrix.from_coo([0], [1], 1.0, nrows=4, ncols=1 << 59, format="csr", device="cpu")
    B = gb.Matrix.from_coo([0], [1], 1.0, nrows=4, ncols=4, device="cpu")
    for _ in range(3):
        with pytest.raises((gb.exceptions.OutOfMemory, MemoryError)):
            B.mxm(A, gb.semiring.plus_times).new()
    assert A.nvals == 1 and B.mxm(B, gb.semiring.plus_times).new().nvals == 0


def test_a_function_that_is_nowhere():
    with pytest.raises(JitError, match="symbol no_such_function, which a kernel calls, not found in this process"):
        native.address("no_such_function")


FRESH = """
A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], True, nrows=3, ncols=3, device="cpu")
print(gb.algorithms.bfs_levels(A, 0).to_dict(), gb.algorithms.pagerank(A).to_dict())
print("numba" in sys.modules)
"""


def test_a_warm_cache_needs_no_numba():
    first, second = (answer(child(FRESH)).splitlines() for _ in range(2))
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
import threading
d, found = devices.get("cpu"), []
work = lambda name: found.append((name, total(d.kernel(fold(name)))))
threads = [threading.Thread(target=work, args=(name,)) for name in ("plus", "times", "plus", "times", "min", "max")]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(found))
"""
    expected = {"plus": [3, 12], "times": [2, 60], "min": [1, 3], "max": [2, 5]}
    made = answer(child(code, BITBLAS_CACHE=str(tmp_path)))
    assert made == f"{[(n, expected[n]) for n in ('max', 'min', 'plus', 'plus', 'times', 'times')]}\n"


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
        ({"proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/x\n", "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "50000\n",
          "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n"}, 1),
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
    program = """
A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0], nrows=2, ncols=2)
v = gb.Vector.from_coo([0], [1.0], size=2)
for _ in range(4):
    v = A.mxv(v, gb.semiring.plus_times).new()
print(v.to_dict())
"""
    made = child(program, PYTHONMALLOC="malloc", MALLOC_PERTURB_=freed, BITBLAS_DEVICE="cpu")
    assert answer(made) == "{0: 4.0}\n"
