"""Compiling kernels once: the contents of the cache, damaged entries, and errors."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import semirings
from bitblas.device import jit, object_files
from bitblas.kernels.variant import Function, Variant, sum_of
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


def child(code, **env):
    """Start another process that can call `fold`."""
    head = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom test_jit import *\n"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", head + code], env={**os.environ, **env}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[1],
    )  # fmt: skip


def answer(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


SIGNATURE = ("int64[]", "int64[]", "int64[]")
RUN_ON_CPU = """
from bitblas import device
sums = np.zeros(2, np.int64)
device.get("cpu").kernel(fold())(2, np.array([0, 2, 5]), np.array([1, 2, 3, 4, 5]), sums)
assert sums.tolist() == [3, 12]
print("numba" in sys.modules)
"""


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


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:99], lambda data: data[:-1] + b"x", lambda data: b"", lambda data: data.replace(b"ELF", b"F")],
)
def test_a_damaged_object_is_compiled_again(cache, made, damage):
    first = object_files.kernel_object(fold(), SIGNATURE)
    (path,) = files(cache)
    assert (
        path.name == f"{first.symbol}.o" and object_files.kernel_object(fold(), SIGNATURE) == first and len(made) == 1
    )
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
    assert "#include" not in text
    assert text.startswith("// kernels/fold monoid.plus A=INT64 Z=INT64\n")
    assert "# include" not in jit.cpu_source(fold())


def test_a_folder_that_cannot_be_made(tmp_path, cache, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BITBLAS_CACHE", str(tmp_path / "file" / "folder"))
    jit.cache_dir.cache_clear()
    found = jit.cache_dir()
    assert found.is_dir()
    assert os.access(found, os.W_OK)
    assert found == jit.cache_dir()
    assert tmp_path not in found.parents


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder(tmp_path, cache):
    tmp_path.chmod(0o500)
    assert jit.cache_dir() != tmp_path
    tmp_path.chmod(0o700)


# ---- CUDA -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def compilations(monkeypatch):
    """The architectures that NVRTC was called for."""
    pytest.importorskip("cuda.core", reason="compiling CUDA kernels needs cuda-core and NVRTC")
    called, real = [], jit._nvrtc

    def counted(text, variant, arch):
        called.append(arch)
        return real(text, variant, arch)

    monkeypatch.setattr(jit, "_nvrtc", counted)
    return called


ELF = b"\x7fELF"


def test_a_cubin_is_compiled_once_for_each_architecture(cache, compilations):
    first = jit.cubin(fold(), "sm_90")
    assert first.read_bytes().startswith(ELF)
    assert jit.cubin(fold(), "sm_90") == first
    assert jit.cubin(fold(), "sm_80") != first
    assert compilations == ["sm_90", "sm_80"]
    code = 'jit._nvrtc = None\nprint(jit.cubin(fold(), "sm_90"))'
    assert answer(child(code)).strip() == str(first)


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: data[:-1] + b"x", lambda data: b""])
def test_a_damaged_cubin_is_compiled_again(cache, compilations, damage):
    path = jit.cubin(fold(), "sm_90")
    data = path.read_bytes()
    path.write_bytes(damage(data))
    assert jit.cubin(fold(), "sm_90") == path
    assert path.read_bytes().startswith(ELF)
    assert len(compilations) == 2


def test_two_processes_compile_a_cubin_at_once(cache, compilations):
    code = 'print(jit.cubin(fold(), "sm_90"))'
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answer, [child(code), child(code)])
    assert first == second
    assert jit.cubin(fold(), "sm_90") == Path(first.strip())
    assert compilations == []
    assert sorted(p.suffix for p in (cache / "cuda").iterdir()) == [".cubin", ".sha256"]


def test_changed_cuda_text_or_options_have_another_key(cache, compilations, monkeypatch):
    paths = {jit.cubin(fold(), "sm_90")}
    monkeypatch.setitem(jit._OPTIONS, "fma", True)
    paths.add(jit.cubin(fold(), "sm_90"))
    text = jit.cuda_source(fold())
    monkeypatch.setattr(jit, "cuda_source", lambda variant: text + "\n// edited\n")
    paths.add(jit.cubin(fold(), "sm_90"))
    assert len(paths) == 3


def test_a_compile_error_shows_the_numbered_source(cache, compilations, monkeypatch):
    text = jit.cuda_source(fold()) + "no_such_type x;\n"
    monkeypatch.setattr(jit, "cuda_source", lambda variant: text)
    with pytest.raises(jit.CompileError) as error:
        jit.cubin(fold(), "sm_90")
    message, line = str(error.value), text.count("\n")
    assert message.startswith("kernels/fold monoid.plus A=INT64 Z=INT64 for sm_90\n")
    assert f"fold.cu({line}): error" in message
    assert f"{line:4d}  no_such_type x;" in message
    assert not list(cache.glob("cuda/*"))


def test_every_device_gives_the_same_sums(device):
    import bitblas.device

    chosen = bitblas.device.get(device)
    pointers, values = chosen.asarray(np.array([0, 2, 5])), chosen.asarray(np.array([1, 2, 3, 4, 5]))
    sums = chosen.asarray(np.zeros(2, np.int64))
    chosen.kernel(fold())(2, pointers, values, sums)
    assert chosen.to_host(sums).tolist() == [3, 12]


@pytest.mark.off_cpu
def test_nothing_falls_back_to_the_cpu(device):
    import bitblas.device

    with pytest.raises(AssertionError, match="a CPU kernel was asked for: kernels/fold"):
        bitblas.device.get("cpu").kernel(fold())


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

    code = "import sys; sys.path.insert(0, sys.argv[1])\nimport test_jit, bitblas\n"
    code += "from bitblas.device import object_files\n"
    code += "for name in ('plus', 'times'): object_files.kernel_object(test_jit.fold(name), test_jit.SIGNATURE)"
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        env = {**os.environ, "BITBLAS_CACHE": str(tmp_path)}
        subprocess.run(command, stderr=theirs, env=env, timeout=200, check=True)
        os.close(theirs)
        os.set_blocking(ours, False)
        try:
            said.append(os.read(ours, 9999).decode())
        except OSError:  # nothing
            said.append("")
        os.close(ours)
    line = "bitblas: compiling kernel {}, once for this machine"
    assert said == ["".join(f"{line.format(k)}\r{' ' * len(line.format(k))}\r" for k in (1, 2)), ""]
    env = {**os.environ, "BITBLAS_CACHE": str(tmp_path / "another")}
    made = subprocess.run(command, capture_output=True, env=env, timeout=200, check=True)
    assert made.stderr == b""
