"""Read Python's nested dicts (adjacency of NetworkX graphs) into arrays, by the machine code of `dictionaries.ll`.

A Python loop touches each object in turn and waits for memory each time. This code prefetches many objects before it
reads the first. It holds the GIL, so other threads cannot change the dicts meanwhile; keys whose hash is a Python
function would release it, and are not supported here.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from . import native, object_files

Dicts: TypeAlias = Mapping[Any, Any]  # of any keys
WAIT, ROWS = 64, 64  # entries, and dicts, that are prefetched together
_TEXT = (Path(__file__).parent / "dictionaries.ll").read_text()
TEXT = _TEXT.replace("{WAIT}", str(WAIT)).replace("{ROWS}", str(ROWS))
HASHES, INTEGERS, FLOATS = range(3)


def hashes(top: Dicts, count: int) -> np.ndarray:
    """The hashes of the keys of the dicts in `top`, in order, as INT64. count: their expected number; RuntimeError if
    it differs."""
    result = np.empty(count, np.int64)
    if not _read(top, 1, HASHES, result, count):
        raise RuntimeError(f"expected {count} keys in nested dictionaries: they were modified while they were read")
    return result


def attributes(
    top: Dicts, depth: int, count: int, kept: np.ndarray | None, name: object, default: object
) -> np.ndarray | None:
    """An attribute (or the default) of the dicts `depth` levels below `top`: INT64, or FP64 if any value is a float.
    None if a value is neither int nor float, or does not fit into 64 bits.
    count: the number of dicts; kept: BOOL, which of them are read."""
    for what, kind in ((INTEGERS, np.int64), (FLOATS, np.float64)):
        result = np.empty(count if kept is None else np.count_nonzero(kept), kind)
        try:
            if _read(top, depth, what, result, count, kept, name, default):
                return result
        except OverflowError:
            return None
    return None


def _read(
    top: Dicts,
    depth: int,
    what: int,
    result: np.ndarray,
    count: int,
    kept: np.ndarray | None = None,
    name: object = None,
    default: object = None,
) -> bool:
    """Whether all entries were read."""
    state = np.zeros(11 + WAIT, np.int64)
    mask = 0 if kept is None else kept.ctypes.data
    state[:10] = what, result.ctypes.data, count, 0, 0, mask, id(name), id(default), id(int), id(float)
    return bool(_walk()(top, depth, state.ctypes.data)) and state[3] == count and state[4] == len(result)


@functools.cache
def _walk() -> Callable[..., int]:
    """The function `walk`, called with the GIL held and with Python's exceptions propagated."""
    with native.loading:
        built = object_files.assembled_object("dictionaries", TEXT)
        kind = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_int64, ctypes.c_void_p)
        return kind(native.load(built.data, "walk", built.undefined))
