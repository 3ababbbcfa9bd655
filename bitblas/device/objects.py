"""The object files of the CPU's kernels: from the cache folder, or compiled by Numba and kept there.

A file is named by the hash of the kernel's text, the types of its arguments, and all that decides what is made of them.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..kernels.prologue import Variant
from . import jit, native


class Object(NamedTuple):
    """An object file: what it defines, and what it calls and does not define."""

    data: bytes
    symbol: str
    wanted: tuple[str, ...]


compiled = 0  # kernels of the CPU that this process has compiled


@functools.cache
def _say_that_it_compiles() -> None:
    """Once, to who waits at a terminal."""
    import multiprocessing

    if sys.stderr.isatty() and multiprocessing.parent_process() is None:
        print("bitblas: compiling kernels, once for this machine", file=sys.stderr, flush=True)


def cpu_object(variant: Variant, signature: Sequence[str]) -> Object:
    """The object file of a variant for arguments of these types (`native.code_of`), from the cache or compiled."""
    text = jit.cpu_source(variant)

    def make(symbol: str) -> tuple[bytes, Sequence[str]]:
        global compiled
        _say_that_it_compiles()
        from . import compiler

        compiled += 1
        try:
            return compiler.compiled(text, variant.entry, symbol, signature)
        except Exception as error:
            raise jit.CompileError(f"{variant}\n{error}\n{jit.numbered(text)}") from error

    return _kept(variant.entry, jit._key(text, *signature, *_compilers()), make)


def native_object() -> Object:
    """The object file of native.ll."""
    text = native.text()

    def make(symbol: str) -> tuple[bytes, Sequence[str]]:
        return native.assembled(text, native.cpu_name())

    return _kept("native", jit._key(text, _compilers()[0], *_compilers()[-3:]), make)


def _kept(name: str, key: str, make: Callable[[str], tuple[bytes, Sequence[str]]]) -> Object:
    """From its file, which begins with a checksum of the rest and a line of the names that it wants."""
    symbol = f"{name}_{key}"
    path = jit.cache_dir() / "cpu" / f"{symbol}.o"
    try:
        check, wanted, data = path.read_bytes().split(b"\n", 2)
        if check == jit._digest(wanted + data):
            return Object(data, symbol, tuple(wanted.decode().split()))
    except (OSError, ValueError):
        pass  # not there, or damaged
    data, names = make(symbol)
    line = " ".join(names).encode()
    jit._write(path, b"\n".join((jit._digest(line + data), line, data)))
    return Object(data, symbol, tuple(names))


@functools.cache
def _compilers() -> tuple[str, ...]:
    """What decides, besides its text, what becomes of a kernel."""
    from importlib.util import find_spec

    ours = [f"kernels/{name}.py" for name in ("intrinsics", "lanes", "calls")]
    ours += [f"device/{name}.py" for name in ("compiler", "native", "specialise", "folding")]
    texts = "".join((jit.PACKAGE / name).read_text() for name in ours)
    set_for_numba = [os.environ.get(f"NUMBA_{name}", "") for name in ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")]
    numba = find_spec("numba")  # looked at, not imported
    version = Path(numba.origin).with_name("_version.py").read_text() if numba and numba.origin else ""
    return texts, version, *set_for_numba, native.llvm_version(), native.cpu_name(), native.features()
