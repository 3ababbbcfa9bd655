"""Find or build the object file of a CPU kernel: shipped with the package, in the cache folder, or compiled by Numba.

A file in the cache is named by the hash of the kernel's text, the types of its arguments, and everything else that the
compiled code depends on.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .. import status
from ..kernels.prologue import Variant
from . import jit, native, shipped, targets
from .shipped import Object

Made = Sequence[tuple[bytes, Sequence[str]]]  # for each target: an object file and its undefined symbols

compiled = 0  # CPU kernels that this process has compiled
also: tuple[str, ...] = ()  # names in targets.SHIPPED for which every kernel is compiled too
used: dict[str, set[str]] = {}  # keys in `shipped` of the requested kernels, by symbol


@contextmanager
def _said() -> Iterator[None]:
    """Show on a terminal that a kernel is being compiled, with its number; the line is removed afterwards."""
    import multiprocessing

    if sys.stderr.isatty() and multiprocessing.parent_process() is None:
        status.show(_said, f"bitblas: compiling kernel {compiled + 1}, once for this machine")
    try:
        yield
    finally:
        status.clear(_said)


def cpu_object(variant: Variant, signature: Sequence[str]) -> Object:
    """The object file of a variant for arguments of these types (`native.code_of`): shipped, cached or compiled."""
    keys = [shipped.key_of_variant(variant, signature)]
    if (found := shipped.find(keys[0])) is not None:
        return found
    text = jit.cpu_source(variant)
    keys.append(shipped.key_of_text(text, signature))
    if (found := shipped.find(keys[1])) is not None:
        return found

    def make(symbol: str) -> Made:
        global compiled
        where = (targets.host(), *(targets.SHIPPED[name] for name in also))
        try:
            with _said():
                from . import compiler

                made = compiler.compiled(text, variant.entry, symbol, signature, where)
            compiled += 1
            return made
        except Exception as error:
            raise jit.CompileError(f"{variant}\n{error}\n{jit.numbered(text)}") from error

    found = _kept(variant.entry, jit._key(text, *signature, *_compilers()), make)
    used.setdefault(found.symbol, set()).update(keys)
    return found


def is_there(variant: Variant, signature: Sequence[str]) -> bool:
    """Whether the object file is shipped or cached."""
    if shipped.find(shipped.key_of_variant(variant, signature)) is not None:
        return True
    text = jit.cpu_source(variant)
    if shipped.find(shipped.key_of_text(text, signature)) is not None:
        return True
    return _path(f"{variant.entry}_{jit._key(text, *signature, *_compilers())}", "cpu").exists()


def native_object() -> Object:
    """The object file of native.ll."""
    return assembled_object("native", native.text(targets.host()))


def assembled_object(name: str, text: str) -> Object:
    """The object file of LLVM assembly text."""
    if (found := shipped.find(shipped.key_of_text(text, ()))) is not None:
        return found
    key = jit._key(text, _compilers()[0], *_compilers()[-4:])
    return _kept(name, key, lambda symbol: [native.assembled(text, targets.host())])


def _kept(name: str, key: str, make: Callable[[str], Made]) -> Object:
    symbol = f"{name}_{key}"
    if (found := kept(symbol)) is not None:
        return found
    with jit.timed():
        made = make(symbol)
    for folder, (data, names) in zip(("cpu", *also), made):
        line = " ".join(names).encode()
        jit._write(_path(symbol, folder), b"\n".join((jit._digest(line + data), line, data)))
    return Object(made[0][0], symbol, tuple(made[0][1]))


def kept(symbol: str, folder: str = "cpu") -> Object | None:
    """Read an object from the cache. The file begins with a checksum of the rest and a line of undefined symbols. None
    if it is missing or damaged. folder: the target, a name of targets.SHIPPED."""
    try:
        check, wanted, data = _path(symbol, folder).read_bytes().split(b"\n", 2)
    except (OSError, ValueError):
        return None
    return Object(data, symbol, tuple(wanted.decode().split())) if check == jit._digest(wanted + data) else None


def _path(symbol: str, folder: str) -> Path:
    return jit.cache_dir() / folder / f"{symbol}.o"


@functools.cache
def _compilers() -> tuple[str, ...]:
    """Everything that determines the compiled code of a kernel, besides its text."""
    from importlib.util import find_spec

    texts = "".join((jit.PACKAGE / name).read_text() for name in shipped.COMPILERS)
    set_for_numba = [os.environ.get(name, "") for name in shipped.SETTINGS]
    numba = find_spec("numba")  # locates it without importing it
    version = Path(numba.origin).with_name("_version.py").read_text() if numba and numba.origin else ""
    return texts, version, *set_for_numba, targets.llvm_version(), *targets.host()
