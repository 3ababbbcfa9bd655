"""Cubins of CUDA kernels: shipped in a package of their own, in the cache folder, or compiled by NVRTC.

The package `bitblas_cubins` (registry/cubins.py builds it) has one archive per architecture. Cubins are looked up by
the hash of the kernel's whole text, so that those of other sources are never used. What is missing is compiled by
NVRTC through cuda.core, which needs no GPU: `start` begins in a thread, so that kernels that are requested together
are compiled together. The cache keeps them under the hash of the text, the architecture, and NVRTC's version and
options, with a checksum, because a damaged cubin would fail on the device only, and every time.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable
from importlib import import_module, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import display, extras
from ..exceptions import DeviceError, warn
from ..kernels.variant import Variant
from . import jit

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Subnormals are kept and a*b+c rounds twice, as on the CPU: results then differ by summation order only.
OPTIONS: dict[str, Any] = {"std": "c++17", "ftz": False, "fma": False, "ptxas_options": ["-v"]}

# ---- Archives: a line with the format, the NVRTC version and the checksum of the index, the length of the index, the
# ---- index (a line per cubin: its key, compressed size and checksum), and the compressed cubins.

PACKAGE = "bitblas_cubins"
# Architectures of the archives. A cubin runs on GPUs of the same major version and an equal or higher minor version,
# so that of sm_80 on sm_86 and sm_89; "compute_" is PTX, which the driver compiles for later GPUs.
SHIPPED = ("sm_80", "sm_90", "sm_100", "sm_120", "compute_120")
_HEAD = "bitblas cubins 1"


def key_of_text(text: str) -> str:
    return jit._key("cubin", text, repr(OPTIONS))


class Archive:
    """The cubins of one architecture, by the hash of their text. ValueError if the archive is damaged."""

    def __init__(self, data: bytes) -> None:
        head, length, rest = data.split(b"\n", 2)
        index, self._cubins = rest[: int(length)], rest[int(length) :]
        name, self.nvrtc, check = head.decode().rsplit(" ", 2)
        if name != _HEAD or check.encode() != jit._digest(index):
            raise ValueError("damaged, or of another version of bitblas")
        self._places: dict[str, tuple[int, int, str]] = {}
        at = 0
        for line in index.decode().splitlines():
            key, size, digest = line.split()
            self._places[key] = at, int(size), digest
            at += int(size)

    def __len__(self) -> int:
        return len(self._places)

    def cubin(self, key: str) -> bytes | None:
        """None if it is missing. ValueError if it is damaged."""
        if key not in self._places:
            return None
        import lzma

        at, size, digest = self._places[key]
        data = self._cubins[at : at + size]
        if jit._digest(data).decode() != digest:
            raise ValueError("damaged")
        return lzma.decompress(data)


def compress(cubin: bytes) -> bytes:
    import lzma

    return lzma.compress(cubin, preset=9 | lzma.PRESET_EXTREME)


def pack_archive(cubins: Iterable[tuple[str, bytes]], nvrtc: str) -> bytes:
    """An archive of (key, compressed cubin)."""
    lines, parts = [], []
    for key, data in cubins:
        lines.append(f"{key} {len(data)} {jit._digest(data).decode()}")
        parts.append(data)
    index = "\n".join(lines).encode()
    head = f"{_HEAD} {nvrtc} {jit._digest(index).decode()}\n{len(index)}\n"
    return b"".join((head.encode(), index, *parts))


def shipped_for(arch: str) -> str | None:
    """The entry of SHIPPED that a GPU of this architecture runs: the nearest one of its major version, PTX if it is
    newer than all of them, else None."""
    number, cubins = int(arch[3:]), [int(name[3:]) for name in SHIPPED if name.startswith("sm_")]
    fits = [n for n in cubins if n // 10 == number // 10 and n <= number]
    return f"sm_{max(fits)}" if fits else SHIPPED[-1] if number > max(cubins) else None


@functools.cache
def archive(arch: str) -> Archive | None:
    """The installed archive for an architecture. None, with one warning if it cannot be read, if there is none."""
    spec = util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / f"{shipped_for(arch)}.cubins"
    try:
        return Archive(path.read_bytes()) if path.exists() else None
    except (OSError, ValueError) as error:
        not_used(arch, f"{path.name}: {error}")
        return None


@functools.cache
def not_used(arch: str, why: str) -> None:
    """Warn, once, that shipped cubins are compiled instead."""
    warn(f"{PACKAGE}, {shipped_for(arch)}: {why}; kernels are compiled at their first use. Hint: reinstall the package")


def find_shipped(text: str, arch: str) -> bytes | None:
    """The shipped cubin of a text, or PTX for a GPU newer than all archives."""
    found = archive(arch)
    try:
        return None if found is None else found.cubin(key_of_text(text))
    except ValueError as error:
        not_used(arch, str(error))
        return None


# ---- NVRTC.

DISTRIBUTIONS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12")


@functools.cache
def nvrtc_version() -> str:
    """The version of NVRTC, from the metadata of its package if it has one, because loading the library takes 0.1 to
    0.3 s. DeviceError if it is not installed."""
    from importlib import metadata

    for name in DISTRIBUTIONS:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    try:
        import cuda.bindings.nvrtc as nvrtc

        return ".".join(map(str, nvrtc.nvrtcVersion()[1:]))
    except (ImportError, RuntimeError, OSError) as error:  # RuntimeError: the library itself is missing
        raise _missing(error) from error


def _missing(error: Exception) -> DeviceError:
    return DeviceError(
        f"device 'cuda': NVRTC, which compiles the kernels, cannot be loaded ({' '.join(str(error).split())}); "
        f"{extras.hint('cuda13', jit.AS_THE_DRIVER)}"
    )


_importing = threading.Lock()


def cuda_core() -> Any:
    """The module cuda.core. One thread imports it: another one would find it half imported, because it replaces itself
    meanwhile. DeviceError if it is not installed."""
    try:
        with _importing:
            return import_module("cuda.core")
    except ImportError as error:
        raise _missing(error) from error


def compile_text(text: str, variant: Variant, arch: str) -> tuple[bytes, str]:
    """The cubin of a text (PTX for "compute_.."), and ptxas's report of registers, shared memory and spills."""
    if arch.startswith("compute_"):
        return _ptx(text, arch), ""
    return _compiled(text, variant, arch)[1:]


def compile_with_ptx(text: str, variant: Variant, arch: str) -> tuple[bytes, bytes]:
    """The cubin of a text, and the PTX of which it was made: that of "compute_..", without compiling again."""
    from cuda.bindings import nvrtc

    program, cubin, _ = _compiled(text, variant, arch)
    ptx = b" " * nvrtc.nvrtcGetPTXSize(program.handle)[1]
    nvrtc.nvrtcGetPTX(program.handle, ptx)
    return cubin, ptx


def _compiled(text: str, variant: Variant, arch: str) -> tuple[Any, bytes, str]:
    """NVRTC's program, which has compiled the text, its cubin, and ptxas's report."""
    core = cuda_core()
    options, logs = core.ProgramOptions(arch=arch, name=f"{variant.entry}.cu", **OPTIONS), io.StringIO()
    try:
        program = core.Program(text, "c++", options)
        code = program.compile("cubin", logs=logs)
    except Exception as error:
        report = f"{variant} for {arch}\n{error}\n{logs.getvalue()}\n{jit.numbered(text)}"
        raise jit.CompileError(report) from error
    return program, bytes(code.code), logs.getvalue().replace("\0", "")


def _ptx(text: str, arch: str) -> bytes:
    """PTX by NVRTC itself: cuda.core makes none without a driver."""
    from cuda.bindings import nvrtc

    def done(answer: Any) -> Any:
        if answer[0]:
            raise jit.CompileError(f"{arch}: {answer[0].name}\n{jit.numbered(text)}")
        return answer[1] if len(answer) > 1 else None

    program = done(nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], []))
    options = [f"-arch={arch}", f"-std={OPTIONS['std']}", f"-ftz={str(OPTIONS['ftz']).lower()}", "-fmad=false"]
    done(nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options]))
    ptx = b" " * done(nvrtc.nvrtcGetPTXSize(program))
    done(nvrtc.nvrtcGetPTX(program, ptx))
    done(nvrtc.nvrtcDestroyProgram(program))
    return ptx


# ---- The cache.


def cubin(variant: Variant, arch: str, log: Callable[[str], None] | None = None) -> Path:
    """The cached cubin of a variant for `arch` ("sm_90"); compiled if it is not in the cache, or if its checksum is
    wrong. With `log`, always compiles, and passes ptxas's report to it."""
    text = jit.cuda_source(variant)
    path = _path(text, variant, arch)
    if log is None and _cached(path) is not None:
        return path
    with jit.timed():
        data, report = compile_text(text, variant, arch)
    if log is not None:
        log(report)
    _keep(path, data)
    return path


def _path(text: str, variant: Variant, arch: str) -> Path:
    return jit.cache_dir() / "cuda" / f"{variant.entry}_{jit._key(text, arch, nvrtc_version(), repr(OPTIONS))}.cubin"


def _cached(path: Path) -> bytes | None:
    try:
        data, check = path.read_bytes(), path.with_suffix(".sha256").read_bytes()
    except OSError:
        return None
    return data if check == jit._digest(data) else None


def _keep(path: Path, data: bytes) -> None:
    jit._write(path, data)
    jit._write(path.with_suffix(".sha256"), jit._digest(data))


# ---- Compile in threads: cuda.core releases the interpreter while NVRTC runs.

_lock = threading.Lock()
_started: dict[tuple[Variant, str], Future[bytes]] = {}
requested, finished = 0, 0  # compilations of this process


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # imports logging

    return ThreadPoolExecutor(max(2, os.cpu_count() or 1), "bitblas-nvrtc")


def _forget() -> None:
    """A forked process has none of the threads."""
    global _lock, _importing
    _lock, _importing = threading.Lock(), threading.Lock()
    _pool.cache_clear()
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def start(variant: Variant, arch: str, *, shipped: bool = True) -> Callable[[], bytes]:
    """Find the cubin of a variant, or begin to compile it in a thread. The returned function waits for the result.
    shipped: whether a shipped cubin will do."""
    global requested
    with _lock:
        future = _started.get((variant, arch))
    if future is not None:
        return functools.partial(_wait, future)
    text = jit.cuda_source(variant)
    data = find_shipped(text, arch) if shipped else None
    data = data or _cached(path := _path(text, variant, arch))
    if data is not None:
        return lambda: data
    with _lock:
        requested += 1
        future = _started[variant, arch] = _pool().submit(_compile, text, variant, arch, path)
    future.add_done_callback(lambda _: _started.pop((variant, arch), None))
    return functools.partial(_wait, future)


def _compile(text: str, variant: Variant, arch: str, path: Path) -> bytes:
    global finished
    try:
        data, _ = compile_text(text, variant, arch)
        _keep(path, data)
        return data
    finally:
        with _lock:
            finished += 1


def _wait(future: Future[bytes]) -> bytes:
    """The cubin; while it is compiled, a terminal shows how many are."""
    if future.done():
        return future.result()
    from concurrent.futures import wait

    with jit.timed():
        try:
            while sys.stderr.isatty() and not wait([future], 0.1).done:
                text = f"bitblas: compiling kernel {finished + 1} of {requested}, once for this machine"
                display.show_status(_wait, text)
            return future.result()
        finally:
            display.clear_status(_wait)
