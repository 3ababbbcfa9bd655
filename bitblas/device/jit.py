"""Source texts of kernels: Variant -> source text (prologue + headers + kernel), and the folder of compiled ones.

CUDA: NVRTC compiles a text to a cubin (cubins.py). CPU: Numba compiles it to an object file (object_files.py), which is
loaded without Numba (native.py). Both are shipped, or stored in the cache folder ($BITBLAS_CACHE, else
~/.cache/bitblas), under the hash of the whole text and of the compiler's version and options.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import semirings

from ..atomic import replacing
from ..exceptions import JitError, warn
from ..kernels.variant import Variant

# ---- Parse Python source, in one thread at a time.

# CPython 3.11 counts the depth of `ast.parse` per interpreter: if garbage collection switches to another thread that
# parses too, both raise SystemError "AST constructor recursion depth mismatch".
_one_at_a_time = threading.RLock()


def statements(text: str) -> list[ast.stmt]:
    with _one_at_a_time:
        return ast.parse(text).body


# ---- Views in CPU kernels: arguments that belong together under one name, as in CUDA C++ (kernels/views.cuh).
#
# A .cpu.py text writes `u: VectorView` in a signature and `u.bits` in the body. Numba gets plain arguments instead
# (`u_bits`), because a native call with single arguments costs least. `f(u)` passes all fields.

VIEWS = {
    "VectorView": ("bits", "values", "iso", "stride"),
    "DenseView": ("bits", "values"),
    "VectorValues": ("values", "iso", "stride"),
    "MatrixValues": ("values", "iso", "stride"),
    "MaskView": ("bits", "stride", "invert"),
    "RowsView": ("begin", "end", "row_of", "row_stride"),
    "ColumnsView": ("col", "width"),
    "TilesView": ("col", "bits", "value_ptr"),
    "PackedTilesView": ("col.col", "col.width", "bits", "value_ptr"),
    "RestView": ("near", "near_width", "far", "far_width", "in_tiles", "in_near", "parts"),
    "PiecesView": (
        *("col", "runs", "inside.rows", "inside.cols", "inside.width", "between.rows", "between.cols", "between.width"),
        *("first_piece", "first_entry", "log_cluster", "perm", "ordered"),
    ),
    "Region": ("row_low", "row_high", "col_low", "col_high", "diag_low", "diag_high"),
    "LinesView": ("bits", "values", "iso", "stride"),
    "LinesMask": ("bits", "stride", "invert"),
    "LinesOutput": ("bits", "values"),
    "NodesView": ("row_number", "number", "bits", "values"),
    "Values": ("values", "iso", "stride"),
    "LeftView": ("ptr", "col", "values", "iso", "stride"),
    "RightView": ("ptr", "col", "values", "iso", "stride"),
    "MaskRows": ("ptr", "rows", "col", "width"),
    "Matrix": ("ptr", "col", "width"),
    "MatrixC": ("ptr", "col", "values"),
    "PeelGraph": ("ptr", "col", "edge", "tail", "head", "live_end", "live_col", "live_edge", "triangles"),
    "PeelItems": ("count", "mark", "level"),
    "PeelLists": ("now", "next", "left", "kept"),
    "OutputView": ("bits", "values"),
    "KeysView": ("key", "values", "iso", "stride"),
    "ChoiceView": ("x", "y", "own", "active", "key", "score", "own_sum"),
    "Epilogue": ("w.bits", "w.values", "w.iso", "w.stride", "moved", "replace", "t.bits", "t.values"),
}
_VIEWED = re.compile(rf"\b(\w+): ({'|'.join(VIEWS)})\b")
_FUNCTION = re.compile(r"^def .*?(?=^[^\s)])|^def .*", re.M | re.S)


def arguments(name: str, view: str) -> list[str]:
    """The plain arguments of a view."""
    return [f"{name}_{field.replace('.', '_')}" for field in VIEWS[view]]


def without_views(text: str) -> str:
    """The text of a module in which functions take plain arguments."""
    return _FUNCTION.sub(lambda function: _expanded(function[0]), text) if _VIEWED.search(text) else text


def _expanded(function: str) -> str:
    for name, view in _VIEWED.findall(function[: function.index("):")]):
        every = ", ".join(arguments(name, view))
        function = function.replace(f"{name}: {view}", every, 1)
        for field in VIEWS[view]:
            function = re.sub(rf"(?<![\w.]){name}\.{re.escape(field)}\b", f"{name}_{field.replace('.', '_')}", function)
        function = re.sub(rf"(?<![\w.\"]){name}(?=[,)])", every, function)
    return function


# ---- Source texts of variants.

PACKAGE = Path(__file__).parent.parent
ALGEBRA = Path(semirings.__file__).parent
AS_THE_DRIVER = " (or [cuda12], as the driver is)"
BLOCK = 256  # threads per CUDA block: the size that every kernel is written for

_CPP_INCLUDE = re.compile(r'^#include "(?P<name>[^"]+)"\n', re.M)
# Indented includes are statements of a function, perhaps one of several fragments in a file.
_PY_INCLUDE = re.compile(r"^(?P<indent> *)# include: (?P<name>\S+)(?: (?P<fragment>\w+))?\n", re.M)

_WORD = re.compile(r"[A-Za-z_]\w*")

_PY_HEAD = """\
import numpy as np
from numba import njit
from bitblas.kernels.intrinsics import *
KERNEL = dict(error_model="numpy", boundscheck=False)
SLP = KERNEL  # combine independent statements of the same kind into vector statements (compiler.py)
FUNCTION = dict(inline="always", **KERNEL)  # inlined in Numba's IR: a third of the compile time of separate functions
"""


compile_seconds = 0.0  # spent by this process compiling kernels, for the CPU and for GPUs
_compiling = False


@contextmanager
def timed() -> Iterator[None]:
    """Add the time that the body takes to `compile_seconds`."""
    global compile_seconds, _compiling
    outermost, begin = not _compiling, time.perf_counter()
    _compiling = True
    try:
        yield
    finally:
        if outermost:
            _compiling = False
            compile_seconds += time.perf_counter() - begin


@functools.cache
def cache_dir() -> Path:
    """The folder of compiled kernels; a temporary folder, with one warning, if the default cannot be written."""
    home = os.environ.get("BITBLAS_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "bitblas")
    try:
        Path(home).mkdir(parents=True, exist_ok=True)
        if os.access(home, os.W_OK):
            return Path(home)
    except OSError:
        pass
    import tempfile

    made = tempfile.mkdtemp(prefix="bitblas-")
    warn(
        f"kernel cache: {home} cannot be written; this process keeps its compiled kernels in {made}. "
        "Hint: set $BITBLAS_CACHE to a folder that can be written"
    )
    return Path(made)


@functools.cache
def _text(name: str) -> str:
    return ((ALGEBRA.parent if name.startswith("semirings/") else PACKAGE) / name).read_text()


def _inline(text: str, pattern: re.Pattern[str], included: set[str]) -> str:
    """Replace each include line by the text of the file, once per file, or by a fragment of the file."""

    def load(match: re.Match[str]) -> str:
        found = match.groupdict("")
        name, fragment = found["name"], found.get("fragment")
        if name in included and not fragment:
            return ""
        included.add(name)
        text = _text(name)
        if fragment:
            parts = re.split(r"^# (\w+): .*\n", text, flags=re.M)
            text = parts[parts.index(fragment) + 1].rstrip() + "\n"
        return textwrap.indent(_inline(text, pattern, included), found.get("indent", ""))

    return pattern.sub(load, text)


# A .cu file has one kernel of its own name, or several: each between these lines, after what they share.
_SECTION = re.compile(r"^#ifdef KERNEL_(\w+)\n(.*?)^#endif  // KERNEL_\1\n", re.M | re.S)
_CPU_KERNEL = re.compile(r"^@njit\(\*\*(?!FUNCTION).*\).*\ndef (\w+)\(\s*lo,\s*hi\b", re.M)


@functools.cache
def kernels_of(folder: str, suffix: str) -> dict[str, Path]:
    """The files of a folder's kernels by the kernels' names; suffix ".cu" or ".cpu.py"."""
    files: dict[str, Path] = {}
    for path in sorted((PACKAGE / folder).glob(f"*{suffix}")):
        text, stem = path.read_text(), path.name.removesuffix(suffix)
        names = [m[1] for m in _SECTION.finditer(text)] or [stem] if suffix == ".cu" else _CPU_KERNEL.findall(text)
        files |= dict.fromkeys(names, path)
    return files


def kernel_file(kernel: str, suffix: str) -> Path:
    """The file of a kernel such as "formats/csr/pull": that of its name, or one with several kernels."""
    folder, name = kernel.rsplit("/", 1)
    path = PACKAGE / f"{kernel}{suffix}"
    return path if path.exists() else kernels_of(folder, suffix)[name]


def kernel_text(kernel: str) -> str:
    """The CUDA C++ of a kernel: its file without the sections of other kernels."""
    return _section(kernel_file(kernel, ".cu"), kernel)


@functools.cache
def _section(path: Path, kernel: str) -> str:
    name = kernel.rsplit("/", 1)[1]
    return _SECTION.sub(lambda m: m[2] if m[1] == name else "", path.read_text())


@functools.cache
def cuda_source(variant: Variant) -> str:
    """The complete CUDA C++ text of a variant."""
    included: set[str] = set()
    files = (
        "kernels/base.cuh",
        "semirings/functions.cuh",
        *(("semirings/complex.cuh",) if variant.is_complex() else ()),
    )
    head = _inline("".join(f'#include "{name}"\n' for name in files), _CPP_INCLUDE, included)
    body = _inline(kernel_text(variant.kernel), _CPP_INCLUDE, included)
    return f"// {variant}\n{head}{variant.cpp()}{body}"


@functools.cache
def awaits(variant: Variant) -> bool:
    """Whether a kernel begins with `await_previous` (kernels/base.cuh), so that it may be launched early."""
    return ") {\n  await_previous();\n" in cuda_source(variant)


@functools.cache
def cpu_source(variant: Variant) -> str:
    """The complete Python text of a variant, for Numba."""
    name, body = variant.entry, "" if variant.script else _cpu_body(variant.kernel)
    prologue = _inline(variant.python(), _PY_INCLUDE, set())
    signature = re.search(rf"^def {name}\(\s*lo,\s*hi,([^)]*)\):", body or prologue, re.M)
    if signature is None:
        raise SyntaxError(f"{variant.kernel}.cpu.py must define {name}(lo, hi, ...)")
    return f"# {variant.kernel}\n{_reached((_PY_HEAD, functions_text(), prologue, body), (name,))}"


@functools.cache
def functions_text() -> str:
    """The functions that operators call, for Numba."""
    return (ALGEBRA / "functions.py").read_text().replace("\ndef ", "\n@njit(**FUNCTION)\ndef ")


@functools.cache
def _cpu_body(kernel: str) -> str:
    return without_views(_inline(kernel_file(kernel, ".cpu.py").read_text(), _PY_INCLUDE, set()))


def _reached(texts: Iterable[str], roots: Iterable[str]) -> str:
    """The definitions, out of a module given in pieces, that `roots` need, and all imports. Variants that differ only
    in constants that their kernel does not read (lanes, on the CPU) get the same text, which is compiled once."""
    owners: dict[str, int] = {}  # the definition of each name; imports are all kept, keyed by their text
    parts: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        for names, part, words in _definitions(text):
            owners |= dict.fromkeys(names, len(parts))
            parts.append((part, words))
    pending, kept = [*roots, *(name for name in owners if "import " in name)], set[int]()
    while pending:
        number = owners.get(pending.pop())
        if number is not None and number not in kept:
            kept.add(number)
            pending += parts[number][1]
    return "\n".join(parts[k][0] for k in sorted(kept))


@functools.lru_cache(256)  # most pieces occur in many variants
def _definitions(text: str) -> list[tuple[tuple[str, ...], str, frozenset[str]]]:
    """The statements of a module: the names that each defines, its text, and the identifiers in it."""
    lines, definitions = text.splitlines(keepends=True), []
    for node in statements(text):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        part = "".join(lines[first - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef):
            names: tuple[str, ...] = (node.name,)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = (part,)
        else:  # assignments, including conditional ones
            stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            names = tuple(dict.fromkeys(stored))
        definitions.append((names, part, frozenset(_WORD.findall(part))))
    return definitions


def numbered(text: str) -> str:
    return "\n".join(f"{i:4d}  {line}" for i, line in enumerate(text.splitlines(), 1))


def _key(*parts: str) -> str:
    import hashlib  # imports OpenSSL: 5 ms

    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(data).hexdigest().encode()


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically: other processes may read or write it, or be killed meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as f:
        f.write(data)


class CompileError(JitError, RuntimeError):
    """A kernel that does not compile: the variant, the compiler's log, and the numbered source."""
