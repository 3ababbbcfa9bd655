"""Compiles CUDA C++ for the CPU and launches it on NumPy arrays, with the signatures of cupy.RawModule.

    module = emu.RawModule(code=text)
    module.get_function("kernel")((blocks,), (threads,), (array, np.int64(7)), seed=1)

EMU_MODE=tsan looks for missing synchronisation; it needs `python tests/emulator/emu.py tsan COMMAND...`, which starts
COMMAND with ThreadSanitizer's library loaded. EMU_CXX names another compiler.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CXX = os.environ.get("EMU_CXX", "g++")
NO_COMPILER = f"the emulator compiles kernels with {CXX}, which is not installed"

FLAGS = (
    "-std=c++17 -fPIC -shared -fvisibility=hidden -fno-gnu-unique -fno-zero-initialized-in-bss -fno-strict-aliasing "
    "-ftrivial-auto-var-init=pattern -ffp-contract=off -fno-math-errno -fno-exceptions -fno-rtti -w"
).split()
# What is undefined in CUDA C++ too becomes a trap; the guard pages around arrays and stacks see the rest.
CHECKS = "shift,alignment,null,bounds,bool,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow"
MODES = {
    "": ["-O1", "-g1", f"-fsanitize={CHECKS}", "-fsanitize-undefined-trap-on-error"],
    "fast": ["-O2", "-g1"],
    "tsan": ["-O1", "-g1", "-fsanitize=thread"],
}
RUNTIME_FLAGS = {"tsan": ["-DEMU_TSAN"]}

# extern __shared__ int s[];  or with an alignment, before or after the type
_DYNAMIC_SHARED = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?([\w:<>, ]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_KERNEL_NAME = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)')

_launching = threading.Lock()  # the runtime has one state, and ctypes releases the GIL


class EmulatorError(RuntimeError):
    """What a kernel did wrong, or a compiler's log."""


def have_compiler() -> bool:
    return shutil.which(CXX) is not None


# ---- compiling ------------------------------------------------------------------------------------------------------


def cache_dir() -> Path:
    home = os.environ.get("BITBLAS_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "bitblas")
    path = Path(home) / "emulator"
    path.mkdir(parents=True, exist_ok=True)
    return path


@functools.cache
def _compiler_version() -> str:
    if not have_compiler():
        raise EmulatorError(NO_COMPILER)
    return subprocess.run([CXX, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join((_compiler_version(), *parts)).encode()).hexdigest()[:24]


def _compile(target: Path, command: Sequence[str], text: str, link: Sequence[str] = ()) -> None:
    """Make `target` whole or not at all: another process may make the same. Messages and debug information speak of
    kernel.cu."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as folder:
        Path(folder, "kernel.cu").write_text(text)
        full = [*command, "-x", "c++", "kernel.cu", *link, "-o", "made.so"]
        done = subprocess.run(full, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise EmulatorError(f"the emulator's compiler refused:\n{done.stderr}")
        os.replace(os.path.join(folder, "made.so"), target)


@functools.cache
def _runtime(mode: str) -> Path:
    """The library with the fibers and the scheduler, compiled once."""
    text = (HERE / "runtime.cpp").read_text()
    flags = ["-std=c++17", "-O2", "-g1", "-fPIC", "-shared", "-pthread", *RUNTIME_FLAGS.get(mode, [])]
    command = [CXX, *flags, f"-I{HERE}"]
    key = _key(text, (HERE / "cuda_emu.h").read_text(), *flags)
    path = cache_dir() / f"runtime_{key}.so"
    if not path.exists():
        _compile(path, [*command, f"-Wl,-soname,{path.name}"], text)
    return path


def compile_library(text: str, names: Sequence[str], mode: str) -> Path:
    """The cached library of a CUDA C++ text, with one launcher per kernel in `names`."""
    text = _DYNAMIC_SHARED.sub(lambda m: f"{m[1]} *{m[2]} = ({m[1]} *)emu_context.dynamic_shared;", text)
    launchers = "".join(f'EMU_KERNEL({i}, "{name}", {name})\n' for i, name in enumerate(names))
    source = f'{text}\n#line 1 "launchers"\n{launchers}'
    runtime = _runtime(mode)
    command = [CXX, *FLAGS, *MODES[mode], "-include", str(HERE / "cuda_emu.h")]
    label = re.sub(r"[^A-Za-z0-9_]+", "_", names[0])
    path = runtime.parent / f"{label}_{_key(source, runtime.name, *FLAGS, *MODES[mode])}.so"
    if not path.exists():
        # The runtime is found beside the kernel's library, wherever the cache is moved. It brings the system's
        # libraries: linking to them for each kernel would take a third of the time.
        alone = [] if mode == "tsan" else ["-nostdlib"]
        links = [*alone, "-L", str(runtime.parent), f"-l:{runtime.name}", "-lgcc", "-Wl,-rpath,$ORIGIN"]
        _compile(path, command, source, links)
    return path


# ---- arrays between inaccessible pages ------------------------------------------------------------------------------

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = mmap.PAGESIZE
GAP = 1 << 28  # inaccessible bytes before and behind each array: catches wild indices, costs no memory
MAP_NORESERVE = 0x4000
SLACK = 0xA5


class Guarded:
    """A copy of `size` bytes at `start` that ends, to 16 bytes, at a gap. The slack is checked for stray writes."""

    def __init__(self, start: int, size: int) -> None:
        self.start, self.size, self.writable = start, size, False
        self.body = max(PAGE, -(-size // PAGE) * PAGE)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        self.base = _libc.mmap(None, self.body + 2 * GAP, 0, flags, -1, 0)
        if self.base in (None, ctypes.c_void_p(-1).value):
            raise MemoryError("the emulator cannot map an array")
        _libc.mprotect(self.base + GAP, self.body, mmap.PROT_READ | mmap.PROT_WRITE)
        self.offset = (self.body - size) // 16 * 16  # starts 16-byte aligned, as device memory does
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * self.body).from_address(self.base + GAP))
        self.bytes[:] = SLACK
        ctypes.memmove(self.address(start), start, size)

    def address(self, original: int) -> int:
        return self.base + GAP + self.offset + original - self.start

    def protect(self) -> None:
        """What every argument calls const cannot be written."""
        if not self.writable:
            _libc.mprotect(self.base + GAP, self.body, mmap.PROT_READ)

    def close(self, *, copy_back: bool) -> bool:
        """Give the memory back; False if there were writes outside."""
        end = self.offset + self.size
        clean = bool((self.bytes[: self.offset] == SLACK).all() and (self.bytes[end:] == SLACK).all())
        if copy_back and self.writable:
            ctypes.memmove(self.start, self.address(self.start), self.size)
        del self.bytes
        _libc.munmap(self.base, self.body + 2 * GAP)
        return clean


def _guard(arrays: Sequence[np.ndarray]) -> list[Guarded]:
    """One Guarded per array; arrays that share memory share theirs."""
    spans = sorted({(a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays})
    merged: list[list[int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    blocks = {start: Guarded(start, end - start) for start, end in merged}
    limits = {b.start: b.start + b.size for b in blocks.values()}
    return [
        next(b for start, b in blocks.items() if start <= a.ctypes.data and a.ctypes.data + a.nbytes <= limits[start])
        for a in arrays
    ]


# ---- launching ------------------------------------------------------------------------------------------------------


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("seed", ctypes.c_uint),
        ("strict", ctypes.c_uint),
        ("timeout_ms", ctypes.c_uint),
    ]


class Kernel:
    """One kernel: call it as kernel(grid, block, arguments)."""

    def __init__(self, module: RawModule, number: int, name: str) -> None:
        self.module, self.name, self.guard = module, name, module.guard
        self._run = getattr(module.library, f"emu_run_{number}")
        self._run.argtypes = [ctypes.POINTER(Config), ctypes.POINTER(ctypes.c_void_p)]
        signature = getattr(module.library, f"emu_signature_{number}")
        signature.restype = ctypes.c_char_p
        text = signature().decode()
        self.signature = [text[i : i + 4] for i in range(0, len(text), 4)]

    def _check(self, k: int, x: Any, wanted: str) -> None:
        pointer, const, kind, size = wanted
        where = f"{self.name}, argument {k}: the kernel wants {'a pointer to ' if pointer == 'P' else ''}{kind}{size}"
        if isinstance(x, np.ndarray):
            got = x.dtype.kind + str(x.itemsize)
            # void* takes all; structs (vector types) are filled from any array
            if pointer != "P" or not (kind in "vs" or got in (kind + size, f"{kind}{size}".replace("u1", "b1"))):
                raise TypeError(f"{where}, got an array of {x.dtype}")
            if not x.flags.c_contiguous:
                raise TypeError(f"{where}; the array is not contiguous")
            if const != "c" and not x.flags.writeable:
                raise TypeError(f"{where} that it may write; the array is read-only")
        elif isinstance(x, np.generic):
            if pointer == "P" or size != str(x.itemsize) or (kind == "f") != (x.dtype.kind == "f"):
                raise TypeError(f"{where}, got {x.dtype}")
        elif x is None:
            if pointer != "P":
                raise TypeError(f"{where}, got None")
        else:
            raise TypeError(f"{where}; pass NumPy scalars, got {type(x).__name__}")

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        seed: int = 0,
        strict: bool = False,
        timeout: float = 20.0,
    ) -> None:
        if len(args) != len(self.signature):
            raise TypeError(f"{self.name} takes {len(self.signature)} arguments, got {len(args)}")
        for k, (x, wanted) in enumerate(zip(args, self.signature)):
            self._check(k, x, wanted)
        arrays = [k for k, x in enumerate(args) if isinstance(x, np.ndarray)]
        guards = dict(zip(arrays, _guard([args[k] for k in arrays]))) if self.guard else {}
        cells = []  # the arguments' values, at stable addresses
        for k, x in enumerate(args):
            if isinstance(x, np.ndarray):
                if k in guards:
                    guards[k].writable |= self.signature[k][1] != "c"
                x = np.uint64(guards[k].address(x.ctypes.data) if k in guards else x.ctypes.data)
            cells.append(np.array([np.uint64(0) if x is None else x]))
        blocks = set(guards.values())
        for b in blocks:
            b.protect()
        pointers = (ctypes.c_void_p * max(1, len(cells)))(*[c.ctypes.data for c in cells])
        config = Config(shared_bytes=shared_mem, seed=seed, strict=strict, timeout_ms=int(timeout * 1000))
        for target, sizes in ((config.grid, grid), (config.block, block)):
            target[:] = [*sizes, 1, 1][:3]
        with _launching:
            failed = self._run(ctypes.byref(config), pointers)
            error = self.module.error() if failed else ""
        dirty = {b for b in blocks if not b.close(copy_back=not failed)}
        if failed:
            raise EmulatorError(error)
        if dirty:
            bad = [k for k, b in guards.items() if b in dirty]
            raise EmulatorError(f"kernel '{self.name}': wrote outside array argument(s) {bad}")


class RawModule:
    """Compiled CUDA C++ text. Kernels are those declared extern "C", or the template instances in name_expressions."""

    def __init__(self, *, code: str, name_expressions: Sequence[str] | None = None, mode: str | None = None) -> None:
        mode = os.environ.get("EMU_MODE", "") if mode is None else mode
        self.code, self.guard = code, mode != "tsan"  # ThreadSanitizer must see the arrays where they are
        names = list(name_expressions or _KERNEL_NAME.findall(code))
        self.path = compile_library(code, names, mode)
        self.library = ctypes.CDLL(str(self.path))
        self._runtime = ctypes.CDLL(str(_runtime(mode)))
        self._runtime.emu_error.restype = ctypes.c_char_p
        self._functions = {name: Kernel(self, i, name) for i, name in enumerate(names)}

    def get_function(self, name: str) -> Kernel:
        return self._functions[name]

    def error(self) -> str:
        """What the runtime says, and for a fault or a timeout the line of the kernel."""
        frames = (ctypes.c_void_p * 64)()
        count = self._runtime.emu_frames(frames)
        return self._runtime.emu_error().decode() + self._line_of([f or 0 for f in frames[:count]])

    def _line_of(self, frames: list[int]) -> str:
        maps = Path("/proc/self/maps").read_text().splitlines()
        # "in": where another process has put the same library there since, the name ends in "(deleted)".
        spans = [line.split()[0].split("-") for line in maps if self.path.name in line]
        if not frames or not spans or shutil.which("addr2line") is None:
            return ""
        low, high = int(spans[0][0], 16), int(spans[-1][1], 16)
        # Frame 2 is the instruction that the signal struck, the others are return addresses, one past the call.
        offsets = [hex(f - low - (i != 2)) for i, f in enumerate(frames) if low <= f < high]
        said = subprocess.run(["addr2line", "-i", "-e", str(self.path), *offsets], capture_output=True, text=True)
        found = re.search(r"\bkernel\.cu:(\d+)", said.stdout)
        if found is None:
            return ""
        line = int(found[1])
        return f" at kernel.cu:{line}: {self.code.splitlines()[line - 1].strip()}"


def under_thread_sanitizer(command: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that run `command` with EMU_MODE=tsan."""
    library = subprocess.run([CXX, "-print-file-name=libtsan.so"], capture_output=True, text=True).stdout.strip()
    options = "report_signal_unsafe=0 exitcode=66 history_size=4"
    env = {**os.environ, "EMU_MODE": "tsan", "LD_PRELOAD": library, "TSAN_OPTIONS": options}
    return ["setarch", "-R", *command], env  # without address randomisation, which the sanitizer cannot work with


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "tsan":
        sys.exit(f"usage: {sys.argv[0]} tsan COMMAND...")
    line, environment = under_thread_sanitizer(sys.argv[2:])
    os.execvpe(line[0], line, environment)
