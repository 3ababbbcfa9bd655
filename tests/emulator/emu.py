"""Compiles CUDA C++ for the CPU and launches it on NumPy arrays, with the signatures of cupy.RawModule.

    module = emu.RawModule(code=text)
    module.get_function("kernel")((blocks,), (threads,), (array, np.int64(7)), seed=1)

EMU_MODE, EMU_CXX: see compiling.py.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import shutil
import subprocess
import threading
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .compiling import NO_COMPILER, EmulatorError, compile_library, have_compiler, runtime

# extern __shared__ int s[];  or with an alignment, before or after the type
_DYNAMIC_SHARED = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?([\w:<>, ]+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_STATIC_SHARED = re.compile(
    r"(?<!extern )__shared__\s+((?:(?:unsigned|signed|long|short)\s+)*[\w:]+(?:<[\w:, ]*>)?)\s+([^;{}]+);"
)
_DECLARED = re.compile(r"\s*(\w+)((?:\s*\[[^\[\]]*\])*)\s*(?:,|$)")
_KERNEL_NAME = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)')
_launching = threading.Lock()  # the runtime has one state, and ctypes releases the GIL

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = mmap.PAGESIZE
GAP = 1 << 28  # inaccessible bytes before and after each array: catches wild indices, takes no memory
MAP_NORESERVE = 0x4000
SLACK = 0xA5


def _with_shared_memory(code: str) -> str:
    """Shared memory where the runtime has it, in as many lines."""

    def fixed(m: re.Match[str]) -> str:
        made = "static {0} emu_{1}{2}; auto &{1} = emu_shared(emu_{1});"
        return " ".join(made.format(m[1], d[1], d[2]) for d in _DECLARED.finditer(m[2]))

    code = _DYNAMIC_SHARED.sub(lambda m: f"{m[1]} *{m[2]} = ({m[1]} *)emu_context.dynamic_shared;", code)
    return _STATIC_SHARED.sub(fixed, code)


# ---- arrays between inaccessible pages: an access outside of an array is a fault ------------------------------


class Far(np.ndarray):
    """An array whose address for kernels is so many elements before its first: the end of an array that would not fit
    into memory. Nothing in front of it may be accessed."""

    far = 0

    @classmethod
    def of(cls, array: np.ndarray, far: int) -> Far:
        made = array.view(cls)
        made.far = far
        return made


# Inaccessible mappings of one page between gaps, which small arrays use in turn: mapping one for each array of each
# launch takes longer than most kernels run.
_spare: list[tuple[int, np.ndarray]] = []


def _mapped(body: int) -> tuple[int, np.ndarray]:
    """The address of `body` writable bytes between gaps, and the bytes."""
    if body == PAGE and _spare:
        base, seen = _spare.pop()
    else:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        gap = _libc.mmap(None, body + 2 * GAP, 0, flags, -1, 0)
        if gap in (None, ctypes.c_void_p(-1).value):
            raise MemoryError("the emulator cannot map an array")
        base = gap + GAP
        seen = np.ctypeslib.as_array((ctypes.c_uint8 * body).from_address(base))
    _libc.mprotect(base, body, mmap.PROT_READ | mmap.PROT_WRITE)
    return base, seen


class Guarded:
    """A copy of `size` bytes at `start` that ends, to 16 bytes, at a gap. The slack is checked for stray writes."""

    def __init__(self, start: int, size: int) -> None:
        self.start, self.size, self.writable = start, size, False
        self.body = max(PAGE, -(-size // PAGE) * PAGE)
        self.base, self.bytes = _mapped(self.body)
        self.offset = (self.body - size) // 16 * 16  # starts 16-byte aligned, as device memory does
        self.bytes.fill(SLACK)
        ctypes.memmove(self.address(start), start, size)

    def address(self, original: int) -> int:
        return self.base + self.offset + original - self.start

    def protect(self) -> None:
        """What every argument calls const cannot be written."""
        if not self.writable:
            _libc.mprotect(self.base, self.body, mmap.PROT_READ)

    def close(self, *, copy_back: bool) -> bool:
        """Give the memory back; False if there were writes outside."""
        clean, end = True, self.offset + self.size
        if self.writable:
            clean = bool((self.bytes[: self.offset] == SLACK).all() and (self.bytes[end:] == SLACK).all())
            if copy_back:
                ctypes.memmove(self.start, self.address(self.start), self.size)
        if self.body != PAGE:
            del self.bytes
            _libc.munmap(self.base - GAP, self.body + 2 * GAP)
            return clean
        _libc.mprotect(self.base, self.body, 0)
        _spare.append((self.base, self.bytes))
        return clean


def guard(spans: Sequence[tuple[int, int]]) -> list[Guarded]:
    """One Guarded per array, of its first address and the one after its last; arrays that share memory share theirs."""
    merged: list[list[int]] = []
    for start, end in sorted(set(spans)):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    # Arrays without elements may be at the end of one block and the beginning of the next: it is the first's.
    blocks, ends = [Guarded(start, end - start) for start, end in merged], [end for _, end in merged]
    return [blocks[bisect_left(ends, end)] for _, end in spans]


# ---- kernels ------------------------------------------------------------------------------------------


class Config(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint * 3) for name in ("grid", "block")]
    _fields_ += [(name, ctypes.c_uint) for name in ("shared_bytes", "seed", "strict", "timeout_ms", "cluster")]


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
            if pointer == "P" or int(size, 36) != x.itemsize or (kind == "f") != (x.dtype.kind == "f"):
                raise TypeError(f"{where}, got {x.dtype}")
        elif x is not None:
            raise TypeError(f"{where}; pass NumPy scalars, got {type(x).__name__}")
        elif pointer != "P":
            raise TypeError(f"{where}, got None")

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
        cluster: int = 1,
    ) -> None:
        if len(args) != len(self.signature):
            raise TypeError(f"{self.name} takes {len(self.signature)} arguments, got {len(args)}")
        for k, (x, wanted) in enumerate(zip(args, self.signature)):
            self._check(k, x, wanted)
        places = {k: x.ctypes.data for k, x in enumerate(args) if isinstance(x, np.ndarray)}
        spans = [(at, at + args[k].nbytes) for k, at in places.items()]
        guards = dict(zip(places, guard(spans))) if self.guard else {}
        cells = []  # the arguments' values, at stable addresses
        for k, x in enumerate(args):
            if isinstance(x, np.ndarray):
                at = places[k]
                if k in guards:
                    guards[k].writable |= self.signature[k][1] != "c"
                    at = guards[k].address(at)
                at = at if x.nbytes else 0  # as CuPy's arrays without elements
                x = np.uint64(at - getattr(x, "far", 0) * x.itemsize)
            cells.append(np.array([np.uint64(0) if x is None else x]))
        blocks = set(guards.values())
        for b in blocks:
            b.protect()
        pointers = (ctypes.c_void_p * max(1, len(cells)))(*[c.ctypes.data for c in cells])
        grid, block = (tuple([*sizes, 1, 1][:3]) for sizes in (grid, block))
        config = Config(grid, block, shared_mem, seed, strict, int(timeout * 1000), cluster)
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
        # ThreadSanitizer must see the arrays where they are; guarding them takes half of the time of small kernels.
        self.code, self.guard = code, mode not in ("tsan", "record")
        names = list(name_expressions or _KERNEL_NAME.findall(code))
        self.path = compile_library(_with_shared_memory(code), names, mode)
        self.library = ctypes.CDLL(str(self.path))
        self._runtime = ctypes.CDLL(str(runtime(mode)))
        self._runtime.emu_error.restype = ctypes.c_char_p
        self._functions = {name: Kernel(self, i, name) for i, name in enumerate(names)}

    def get_function(self, name: str) -> Kernel:
        return self._functions[name]

    def error(self) -> str:
        """The runtime's message, with the line of the kernel for a fault or a timeout."""
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


__all__ = ["NO_COMPILER", "EmulatorError", "Kernel", "RawModule", "have_compiler"]
