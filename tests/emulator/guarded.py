"""Arrays between inaccessible pages: an access outside of an array is a fault."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = mmap.PAGESIZE
GAP = 1 << 28  # inaccessible bytes before and after each array: catches wild indices, takes no memory
MAP_NORESERVE = 0x4000
SLACK = 0xA5


class Far(np.ndarray):
    """An array whose address for kernels is so many elements before its first: the end of an array that would not fit
    into memory. Nothing in front of it may be accessed."""

    far = 0

    @classmethod
    def of(cls, array: np.ndarray, far: int) -> Far:
        made = array.view(cls)
        made.far = far
        return made


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


def guard(arrays: Sequence[np.ndarray]) -> list[Guarded]:
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
