"""Load CPU kernels from object files with llvmlite and call them. Numba is not needed for either.

An object file defines one function, `i64 symbol(i64 lo, i64 hi, ptr slots)`. `native.ll` calls it: it unpacks the
arguments from their Python objects, releases the GIL, and distributes ranges over threads.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from .. import tuning
from ..exceptions import JitError
from ..kernels.variant import NO_MEMORY, OTHERS
from ..typing import Array
from .threads import fork_safe

# ---- Processors that kernels are compiled for: this machine's, and those with object files in the package.


class Target(NamedTuple):
    """A target of LLVM: triple, processor, and extra features (with a minus: missing features)."""

    triple: str
    cpu: str
    features: str

    @property
    def machine(self) -> str:
        """The instruction set, named as by `platform.machine`."""
        return self.triple.partition("-")[0]


# Features that a processor needs for each level of the x86-64 psABI, by LLVM's names; each level includes those before.
_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
NEEDS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2, "generic": ()}
_X86, _ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"

# Targets with shipped object files, by file name; best first.
SHIPPED = {name: Target(_X86, name, "") for name in ("x86-64-v4", "x86-64-v3", "x86-64-v2")}
SHIPPED["aarch64"] = Target(_ARM, "generic", "")
# Byte width of the widest element for which the level has an 8-lane permute (VPERMPD, VPERMPS).
PERMUTE_BYTES = {"x86-64-v4": 8, "x86-64-v3": 4}


@functools.cache
def binding() -> ModuleType:
    from llvmlite import binding

    # LLVM's objects are freed under llvmlite's lock, by whichever thread collects garbage. If a fork happens at that
    # moment, its child would block on the lock for ever. llvmlite has no public name for it.
    lock = getattr(getattr(binding.ffi.lib, "_lock", None), "_lock", None)
    if lock is not None:
        fork_safe(lock, inner=True)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@functools.cache
def host() -> Target:
    """This processor, or the one named by $NUMBA_CPU_NAME and $NUMBA_CPU_FEATURES."""
    name = os.environ.get("NUMBA_CPU_NAME") or binding().get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return Target(str(binding().get_process_triple()), str(name), _features() if features is None else features)


def _features() -> str:
    try:
        return str(binding().get_host_cpu_features().flatten())
    except RuntimeError:  # unknown to LLVM
        return ""


def best(target: Target) -> str | None:
    """The name in SHIPPED of the best target that a processor can run; None if there is none."""
    if target in SHIPPED.values():
        return target.cpu if target.machine == "x86_64" else target.machine
    if "-linux-" not in target.triple:  # shipped objects are ELF files
        return None
    can = {name[1:] for name in target.features.split(",") if name.startswith("+")}
    fits = (name for name, t in SHIPPED.items() if t.machine == target.machine and can.issuperset(NEEDS[t.cpu]))
    shipped = next(fits, None)
    if shipped is None and target.machine == "x86_64":
        warnings.warn(
            f"this processor ({target.cpu}) is older than x86-64-v2: it cannot run bitblas's precompiled kernels, "
            "so each kernel is compiled at its first use",
            stacklevel=2,
        )
    return shipped


# How code addresses data and functions. For x86-64, LLVM's allocator may place the sections of an object further apart
# than the 2 GB that short references reach; for AArch64 llvmlite places them next to each other.
_REFERENCES = {"x86-64": {"reloc": "static", "codemodel": "large"}}


@functools.cache
def machine(target: Target, level: int) -> Any:
    """LLVM's target machine: position-independent code, so that it can be stored in files."""
    if target.machine != host().machine:
        binding().initialize_all_targets()
        binding().initialize_all_asmprinters()
    family = binding().Target.from_triple(target.triple)
    references = _REFERENCES.get(family.name, {"reloc": "pic", "codemodel": "default"})
    return family.create_target_machine(cpu=target.cpu, features=target.features, opt=level, **references)


Argument: TypeAlias = Array | np.generic | int  # of a kernel
HEAD = object.__basicsize__  # of every Python object; its last 8 bytes are the type
DIMS, SHAPE, DTYPE, FLAGS = HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # of PyArrayObject; its data pointer comes first
MAX_ARGUMENTS = 64  # maximum number of arguments
_PAUSES = {"x86_64": ("llvm.x86.sse2.pause", "", "")}
_PAUSES |= dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.hint", "i32", "i32 1"))

loading = fork_safe(threading.RLock())  # LLVM's engine and Numba are not thread-safe


def keep_forever(*objects: object) -> None:
    """Keep objects that compiled code or a function object points to until the process ends.

    A list in a module is not enough: Python clears modules before its last garbage collection, which still reads the
    method table of every function that is alive then.
    """
    for x in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))


def text(target: Target) -> str:
    """The text of native.ll for this Python and a processor."""
    name, kinds, values = _PAUSES.get(target.machine, ("llvm.donothing", "", ""))
    numbers = {"HEAD": HEAD, "TYPE": HEAD - 8, "DIMS": DIMS, "SHAPE": SHAPE, "DTYPE": DTYPE, "FLAGS": FLAGS}
    source = (Path(__file__).parent / "native.ll").read_text().replace("{PAUSE}", f"call void @{name}({values})")
    if "-windows-" in target.triple:
        source = re.sub(r"^declare i32 @(pthread|sched)_.*\n", "", source, flags=re.M)
        source += (Path(__file__).parent / "windows.ll").read_text()
    for word, number in (numbers | {"MOST": 2 * MAX_ARGUMENTS, "SPINS": tuning.count("parallel.spins")}).items():
        source = source.replace(f"{{{word}}}", str(number))
    return f"{source}\ndeclare void @{name}({kinds})\n"


@functools.cache
def layout_known() -> bool:
    """Whether Python's and NumPy's objects have the memory layout that `native.ll` assumes."""
    read = lambda x, place, kind: kind.from_address(id(x) + place).value
    array, scalar = np.arange(7, dtype=np.int32), np.float64(1.5)
    return (
        HEAD in (16, 32)
        and read(array, HEAD - 8, ctypes.c_void_p) == id(np.ndarray)
        and read(array, HEAD, ctypes.c_void_p) == array.ctypes.data
        and read(array, DIMS, ctypes.c_int32) == 1
        and ctypes.c_int64.from_address(read(array, SHAPE, ctypes.c_void_p)).value == 7
        and read(array, DTYPE, ctypes.c_void_p) == id(np.dtype(np.int32))
        and read(array, FLAGS, ctypes.c_int32) == array.flags.num
        and read(scalar, HEAD, ctypes.c_double) == 1.5
        and read(np.complex128(1.5 + 2j), HEAD, ctypes.c_double) == 1.5
        and read(np.bool_(True), HEAD, ctypes.c_int8) == 1
        and read(np.int16(-3), HEAD, ctypes.c_int16) == -3
    )


# ---- loading object files -------------------------------------------------------------------------------------------


def assembled(text: str, target: Target) -> tuple[bytes, list[str]]:
    """The object file of LLVM assembly text, and the names of its undefined symbols."""
    module = binding().parse_assembly(text)
    module.verify()
    undefined = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    return machine(target, 2).emit_object(module), undefined


@functools.cache
def _engine() -> Any:
    empty = binding().parse_assembly("")
    empty.triple = binding().get_process_triple()
    return binding().create_mcjit_compiler(empty, machine(Target(empty.triple, "", ""), 2))


# Numba's own names of C library functions.
_ALIASES = {f"numba_{name}{t}": f"{name}{t}" for name in ("frexp", "ldexp", "nextafter") for t in ("", "f")}
_ALIASES |= {"numba_gamma": "tgamma", "numba_gammaf": "tgammaf"}
# Python 3.10 declares PyObject_Vectorcall in headers only. `direct` calls only functions of Python by it.
IN_HEADERS = {"PyObject_Vectorcall": "_PyFunction_Vectorcall"}
if sys.version_info < (3, 11):
    _ALIASES |= IN_HEADERS


# Libraries with C and system functions: those already loaded, or on Windows two libraries by name.
_LIBRARIES: tuple[str | None, ...] = (None,) if os.name == "posix" else ("ucrtbase", "kernel32")


@functools.cache
def _library(name: str | None) -> ctypes.CDLL:
    return ctypes.CDLL(name)


def address(symbol: str) -> int:
    """The address of a function of Python, of C, or of Numba's helpers. JitError if it is not found."""
    name = _ALIASES.get(symbol, symbol)
    for library in (ctypes.pythonapi, *map(_library, _LIBRARIES)):
        try:
            return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        except AttributeError:
            continue
    from numba.core.registry import cpu_target  # a user-defined function needs more of Numba than its compiler

    assert cpu_target.target_context is not None  # created at first use, which registers the names of Numba's library
    place = binding().address_of_symbol(symbol)
    if not place:
        raise JitError(f"device 'cpu': symbol {symbol}, which a kernel calls, not found in this process")
    return int(place)


_known: set[str] = set()
_loaded: dict[str, int] = {}


def load(data: bytes, symbol: str, undefined: Sequence[str]) -> int:
    """Load an object file and return the address of a function. undefined: the undefined symbols of the object."""
    with loading:
        if symbol in _loaded:  # variants with the same text share one object
            return _loaded[symbol]
        # LLVM may call functions that the text does not name. `undefined` finds them in ELF objects only.
        for name in undefined if data[:4] == b"\x7fELF" else {*undefined, "memcpy", "memmove", "memset"}:
            if name not in _known:
                binding().add_symbol(name, address(name))
                _known.add(name)
        engine = _engine()
        engine.add_object_file(binding().ObjectFileRef.from_data(data))
        engine.finalize_object()
        _loaded[symbol] = address_of(symbol)
        return _loaded[symbol]


def address_of(symbol: str) -> int:
    """The address of a symbol defined by a loaded object."""
    with loading:
        engine = _engine()
        return int(engine.get_function_address(symbol) or engine.get_global_value_address(symbol))


# ---- calls ----------------------------------------------------------------------------------------------------------


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FASTCALL, _KEYWORDS = 0x80, 0x02


def kernel_description(function: int, signature: Sequence[str]) -> ctypes.Array[ctypes.c_int64]:
    """The kernel description that `launch` reads."""
    words = [function, len(signature), id(int), id(np.ndarray), id(np.dtype(np.int64))]
    for code in signature:
        if code == "int":
            words += [-1, id(int), 0]
            continue
        dtype = np.dtype(code.removesuffix("[]"))
        words += [0, id(np.ndarray), id(dtype)] if code.endswith("[]") else [dtype.itemsize, id(dtype.type), 0]
    return (ctypes.c_int64 * len(words))(*words)


def kernel_callable(launch: int, function: int, signature: Sequence[str]) -> Callable[..., int]:
    """kernel(n or bounds, *arguments) as a Python function; its result is described in `native.ll`."""
    if len(signature) > MAX_ARGUMENTS:
        raise JitError(f"device 'cpu': expected a kernel of at most {MAX_ARGUMENTS} arguments, got {len(signature)}")
    return _function_object(launch, _FASTCALL, kernel_description(function, signature))


def _function_object(code: int, flags: int, words: ctypes.Array[ctypes.c_int64]) -> Callable[..., Any]:
    """Machine code as a function of Python. It receives the address of `words` in place of `self`."""
    method = _MethodDef(b"kernel", code, flags, None)
    keep_forever(words, method)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function_object: Callable[..., Any] = make(ctypes.addressof(method), ctypes.addressof(words), None)
    return function_object


def direct_callable(direct: int, call: Callable[..., None]) -> tuple[Callable[..., None], Callable[[Any], None]]:
    """Machine code in place of `call`, which runs the kernel last given by `kernel_callable` directly; and a function
    that sets that kernel."""
    cell = (ctypes.c_int64 * 3)(id(call), id(None), 0)
    keep_forever(call)

    def known(quick: Any) -> None:
        cell[2] = id(quick.__self__)

    return _function_object(direct, _FASTCALL | _KEYWORDS, cell), known


def ctypes_callable(share: int, function: int, signature: Sequence[str]) -> Callable[..., int]:
    """The same by ctypes, which is slower: for Pythons with another object layout."""
    word = ctypes.c_int64
    run = ctypes.CFUNCTYPE(word, word, word, ctypes.c_void_p)(function)
    spread = ctypes.CFUNCTYPE(word, ctypes.c_void_p, ctypes.c_void_p, word, ctypes.c_void_p)(share)

    def call(units: np.ndarray | int, *args: Argument) -> int:
        if tuple(map(type_code, args)) != tuple(signature) or not all(map(_flat, args)):
            return OTHERS
        slots = argument_slots(args)
        if isinstance(units, int):
            return run(0, units, slots.ctypes.data)
        return spread(function, units.ctypes.data, len(units) - 1, slots.ctypes.data)

    return call


def argument_slots(args: Sequence[Argument]) -> np.ndarray:
    """The arguments in the form that a kernel reads: address and size of an array, or the bytes of a number."""
    slots = np.zeros(2 * max(1, len(args)), np.uint64)
    for k, x in enumerate(args):
        if isinstance(x, np.ndarray):
            slots[2 * k], slots[2 * k + 1] = x.ctypes.data, x.size
        else:
            data = np.asarray(x, np.int64 if isinstance(x, int) else x.dtype).tobytes()
            slots.view(np.uint8)[16 * k : 16 * k + len(data)] = np.frombuffer(data, np.uint8)
    return slots


def _flat(x: Argument) -> bool:
    return not isinstance(x, np.ndarray) or (x.ndim == 1 and x.flags.c_contiguous and x.flags.aligned)


def type_code(x: Argument) -> str:
    """The type code of an argument: "int", or a dtype's name for a NumPy scalar, followed by [] for an array."""
    if isinstance(x, np.ndarray):
        return _array_code(x.dtype)
    return "int" if type(x) is int else np.asarray(x).dtype.name


@functools.cache
def _array_code(dtype: np.dtype[Any]) -> str:
    """Cached, because NumPy formats a dtype's name on each access, which takes as long as all other checks."""
    return f"{dtype.name}[]"


def plain_argument(x: Argument) -> Argument:
    """Convert an argument to NumPy's plain type: no subclass, no other dtype of the same name. TypeError for arrays
    that kernels cannot read in place."""
    if not isinstance(x, np.ndarray):
        return x if type(x) is int else np.dtype(type_code(x)).type(x)
    if not _flat(x):
        raise TypeError(f"kernel: expected a contiguous array of one dimension, got {x.shape}, strides {x.strides}")
    return x.view(np.ndarray).view(np.dtype(x.dtype.name))


def raise_status(status: int) -> NoReturn:
    """Raise the exception for a kernel's return code."""
    if status == NO_MEMORY:
        raise MemoryError("out of memory for the scratch arrays of a kernel")
    if status < 4096:
        raise SystemError(f"a kernel failed with status {status}")
    import pickle

    from llvmlite import ir

    # Numba's excinfo_t: the pickled (class, arguments, location) and its length; arguments that are computed when the
    # exception is raised are missing
    data = ctypes.c_void_p.from_address(status).value or 0
    kind, arguments, _ = pickle.loads(ctypes.string_at(data, ctypes.c_int32.from_address(status + 8).value))
    raise kind(*(x for x in arguments if not isinstance(x, ir.Value)))
