"""Object files of CPU kernels: shipped with the package, in the cache folder, or compiled by Numba.

The package has one archive per entry of `native.SHIPPED`, written when the wheel is built. Kernels are looked up by
their variant, without generating their text, and then by the text, for variants that differ only in constants that
their kernel does not read. Archives built from other sources, or damaged ones, are not used.

A file in the cache is named by the hash of the kernel's text, the types of its arguments, and everything else that the
compiled code depends on.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .. import display
from ..kernels.variant import Variant
from . import jit, native

# ---- Precompiled CPU kernels in the package: one archive per entry of `native.SHIPPED`, written when the wheel is
# built.

FOLDER = Path(__file__).parent / "data"
# Numba settings that bitblas honours: if one is set, shipped kernels are not used.
SETTINGS = tuple(f"NUMBA_{name}" for name in ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "CPU_NAME", "CPU_FEATURES"))
_HEAD = b"bitblas objects 2\n"


class Object(NamedTuple):
    """An object file, the symbol that it defines, and its undefined symbols."""

    data: bytes
    symbol: str
    undefined: tuple[str, ...]


def key_of_variant(variant: Variant, signature: Sequence[str]) -> str:
    return jit._key("variant", variant.kernel, variant.python(), *signature)


def key_of_text(text: str, signature: Sequence[str]) -> str:
    return jit._key("text", text, *signature)


def find_shipped(key: str) -> Object | None:
    """The shipped object for this processor with a key, or None."""
    archive = _archive()
    return None if archive is None else archive.object(key)


@functools.cache
def _archive() -> Archive | None:
    if any(name in os.environ for name in SETTINGS) or not FOLDER.is_dir():
        return None
    name = native.best(native.host())
    try:
        return None if name is None else Archive((FOLDER / f"{name}.objects").read_bytes())
    except (OSError, ValueError):
        return None  # the package has none, or they are damaged: kernels are compiled at first use


class Archive:
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
        if made_of != digest_of_files(names):
            raise ValueError("built from other sources")
        self._places: dict[str, tuple[int, int, str, str, tuple[str, ...]]] = {}
        at = 0
        for line in lines:
            symbol, size, check_of, keys, *undefined = line.split()
            self._places |= dict.fromkeys(keys.split(","), (at, int(size), symbol, check_of, tuple(undefined)))
            at += int(size)

    def object(self, key: str) -> Object | None:
        """None if it is missing or damaged."""
        if key not in self._places:
            return None
        import zlib

        at, size, symbol, check, undefined = self._places[key]
        data = self._objects[at : at + size]
        return Object(zlib.decompress(data), symbol, undefined) if jit._digest(data).decode() == check else None


def pack_archive(objects: Iterable[tuple[Object, Iterable[str]]]) -> bytes:
    """An archive of objects, each with its keys."""
    import zlib

    names = archive_sources()
    lines, parts = [" ".join((digest_of_files(names), *names))], []
    for built, keys in objects:
        data = zlib.compress(built.data, 9)
        check = jit._digest(data).decode()
        lines.append(" ".join((built.symbol, str(len(data)), check, ",".join(sorted(keys)), *built.undefined)))
        parts.append(data)
    index = "\n".join(lines).encode()
    return b"".join((_HEAD, jit._digest(index), b"\n%d\n" % len(index), index, *parts))


COMPILERS = (
    *(f"kernels/{name}.py" for name in ("intrinsics", "variant")),
    *(f"device/{name}.py" for name in ("compiler", "native")),
)


def archive_sources() -> list[str]:
    """The source files of the CPU's kernels, and of the code that compiles them."""
    kernels = sorted(path.relative_to(jit.PACKAGE).as_posix() for path in jit.PACKAGE.rglob("*.cpu.py"))
    return [*COMPILERS, "device/jit.py", "semirings/functions.py", *kernels]


def digest_of_files(names: Iterable[str]) -> str:
    """A checksum of files of the package. ValueError if a file is missing."""
    import hashlib

    digest = hashlib.sha256()
    for name in names:
        root = jit.ALGEBRA.parent if name.startswith("semirings/") else jit.PACKAGE
        try:
            digest.update((root / name).read_bytes())
        except OSError as error:
            raise ValueError(f"{name} is missing") from error
    return digest.hexdigest()


# ---- Find or build the object file of a CPU kernel: shipped with the package, in the cache folder, or compiled by
# Numba.

Made = Sequence[tuple[bytes, Sequence[str]]]  # for each target: an object file and its undefined symbols

compiled = 0  # CPU kernels that this process has compiled
also: tuple[str, ...] = ()  # names in native.SHIPPED for which every kernel is compiled too
used: dict[str, set[str]] = {}  # keys in `shipped` of the requested kernels, by symbol


@contextmanager
def _notice() -> Iterator[None]:
    """Show on a terminal that a kernel is being compiled, with its number; the line is removed afterwards."""
    import multiprocessing

    if sys.stderr.isatty() and multiprocessing.parent_process() is None:
        display.show_status(_notice, f"bitblas: compiling kernel {compiled + 1}, once for this machine")
    try:
        yield
    finally:
        display.clear_status(_notice)


def kernel_object(variant: Variant, signature: Sequence[str]) -> Object:
    """The object file of a variant for arguments of these types (`native.type_code`): shipped, cached or compiled."""
    keys = [key_of_variant(variant, signature)]
    if (result := find_shipped(keys[0])) is not None:
        return result
    text = jit.cpu_source(variant)
    keys.append(key_of_text(text, signature))
    if (result := find_shipped(keys[1])) is not None:
        return result

    def make(symbol: str) -> Made:
        global compiled
        where = (native.host(), *(native.SHIPPED[name] for name in also))
        try:
            with _notice():
                from . import compiler

                objects = compiler.compile_kernel(text, variant.entry, symbol, signature, where)
            compiled += 1
            return objects
        except Exception as error:
            raise jit.CompileError(f"{variant}\n{error}\n{jit.numbered(text)}") from error

    result = _load_or_build(variant.entry, jit._key(text, *signature, *_compilers()), make)
    used.setdefault(result.symbol, set()).update(keys)
    return result


def is_available(variant: Variant, signature: Sequence[str]) -> bool:
    """Whether the object file is shipped or cached."""
    if find_shipped(key_of_variant(variant, signature)) is not None:
        return True
    text = jit.cpu_source(variant)
    if find_shipped(key_of_text(text, signature)) is not None:
        return True
    return _path(f"{variant.entry}_{jit._key(text, *signature, *_compilers())}", "cpu").exists()


def assembled_object(name: str, text: str) -> Object:
    """The object file of LLVM assembly text."""
    if (shipped := find_shipped(key_of_text(text, ()))) is not None:
        return shipped
    key = jit._key(text, _compilers()[0], *_compilers()[-4:])
    return _load_or_build(name, key, lambda symbol: [native.assembled(text, native.host())])


def _load_or_build(name: str, key: str, make: Callable[[str], Made]) -> Object:
    symbol = f"{name}_{key}"
    if (cached := cached_object(symbol)) is not None:
        return cached
    with jit.timed():
        objects = make(symbol)
    for folder, (data, names) in zip(("cpu", *also), objects):
        line = " ".join(names).encode()
        jit._write(_path(symbol, folder), b"\n".join((jit._digest(line + data), line, data)))
    return Object(objects[0][0], symbol, tuple(objects[0][1]))


def cached_object(symbol: str, folder: str = "cpu") -> Object | None:
    """Read an object from the cache. The file begins with a checksum of the rest and a line of undefined symbols. None
    if it is missing or damaged. folder: the target, a name of native.SHIPPED."""
    try:
        check, undefined, data = _path(symbol, folder).read_bytes().split(b"\n", 2)
    except (OSError, ValueError):
        return None
    return Object(data, symbol, tuple(undefined.decode().split())) if check == jit._digest(undefined + data) else None


def _path(symbol: str, folder: str) -> Path:
    return jit.cache_dir() / folder / f"{symbol}.o"


@functools.cache
def _compilers() -> tuple[str, ...]:
    """Everything that determines the compiled code of a kernel, besides its text."""
    from importlib.util import find_spec

    import llvmlite

    texts = "".join((jit.PACKAGE / name).read_text() for name in COMPILERS)
    set_for_numba = [os.environ.get(name, "") for name in SETTINGS]
    numba = find_spec("numba")  # locates it without importing it
    version = Path(numba.origin).with_name("_version.py").read_text() if numba and numba.origin else ""
    return texts, version, *set_for_numba, str(llvmlite.__version__), *native.host()
