"""Precompiled CPU kernels in the package: one archive per entry of `targets.SHIPPED`, written when the wheel is built.

Kernels are looked up by their variant, without generating their text, and then by the text, for variants that differ
only in constants that their kernel does not read. Archives built from other sources, or damaged ones, are not used.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..kernels.prologue import Variant
from . import jit, targets

FOLDER = Path(__file__).parent / "data"
# Numba settings that bitblas honours: if one is set, shipped kernels are not used.
SETTINGS = tuple(f"NUMBA_{name}" for name in ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "CPU_NAME", "CPU_FEATURES"))
_HEAD = b"bitblas objects 2\n"


class Object(NamedTuple):
    """An object file, the symbol that it defines, and its undefined symbols."""

    data: bytes
    symbol: str
    wanted: tuple[str, ...]


def key_of_variant(variant: Variant, signature: Sequence[str]) -> str:
    return jit._key("variant", variant.kernel, variant.python(), *signature)


def key_of_text(text: str, signature: Sequence[str]) -> str:
    return jit._key("text", text, *signature)


def find(key: str) -> Object | None:
    """The shipped object for this processor with a key, or None."""
    found = _file()
    return None if found is None else found.object(key)


@functools.cache
def _file() -> File | None:
    if any(name in os.environ for name in SETTINGS) or not FOLDER.is_dir():
        return None
    name = targets.best(targets.host())
    try:
        return None if name is None else File((FOLDER / f"{name}.objects").read_bytes())
    except (OSError, ValueError):
        return None  # the package has none, or they are damaged: kernels are compiled at first use


class File:
    """An archive of object files: a line with the checksum of the index, the index, and the objects, each compressed.

    The index is a line of source files, preceded by their checksum, and a line per object: symbol, compressed size and
    checksum, keys, undefined symbols.
    """

    def __init__(self, data: bytes) -> None:
        """ValueError if the archive is damaged, or built from other sources than the installed ones."""
        head, check, length, rest = data.split(b"\n", 3)
        index, self._objects = rest[: int(length)], rest[int(length) :]
        if head + b"\n" != _HEAD or check != jit._digest(index):
            raise ValueError("damaged")
        sources, *lines = index.decode().splitlines()
        made_of, *names = sources.split()
        if made_of != digest_of(names):
            raise ValueError("built from other sources")
        self._places: dict[str, tuple[int, int, str, str, tuple[str, ...]]] = {}
        at = 0
        for line in lines:
            symbol, size, check_of, keys, *wanted = line.split()
            self._places |= dict.fromkeys(keys.split(","), (at, int(size), symbol, check_of, tuple(wanted)))
            at += int(size)

    def object(self, key: str) -> Object | None:
        """None if it is missing or damaged."""
        if key not in self._places:
            return None
        import zlib

        at, size, symbol, check, wanted = self._places[key]
        data = self._objects[at : at + size]
        return Object(zlib.decompress(data), symbol, wanted) if jit._digest(data).decode() == check else None


def packed(objects: Iterable[tuple[Object, Iterable[str]]]) -> bytes:
    """An archive of objects, each with its keys."""
    import zlib

    names = sources()
    lines, parts = [" ".join((digest_of(names), *names))], []
    for made, keys in objects:
        data = zlib.compress(made.data, 9)
        check = jit._digest(data).decode()
        lines.append(" ".join((made.symbol, str(len(data)), check, ",".join(sorted(keys)), *made.wanted)))
        parts.append(data)
    index = "\n".join(lines).encode()
    return b"".join((_HEAD, jit._digest(index), b"\n%d\n" % len(index), index, *parts))


COMPILERS = (
    *(f"kernels/{name}.py" for name in ("intrinsics", "lanes", "calls")),
    *(f"device/{name}.py" for name in ("compiler", "brief", "versions", "native", "specialise", "folding", "targets")),
)


def sources() -> list[str]:
    """The source files of the CPU's kernels, and of the code that compiles them."""
    kernels = sorted(path.relative_to(jit.PACKAGE).as_posix() for path in jit.PACKAGE.rglob("*.cpu.py"))
    return [*COMPILERS, "device/jit.py", "semirings/functions.py", *kernels]


def digest_of(names: Iterable[str]) -> str:
    """A checksum of files of the package. ValueError if a file is missing."""
    import hashlib

    found = hashlib.sha256()
    for name in names:
        root = jit.ALGEBRA.parent if name.startswith("semirings/") else jit.PACKAGE
        try:
            found.update((root / name).read_bytes())
        except OSError as error:
            raise ValueError(f"{name} is missing") from error
    return found.hexdigest()
