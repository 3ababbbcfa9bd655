"""Compile a CPU kernel with Numba: from source text and argument types to an object file.

Numba's wrappers for calls from Python, its reference-counted arrays and its parallel loops are not used: `native.ll`
calls kernels and distributes ranges over threads, and scratch arrays live until the kernel returns.
"""

from __future__ import annotations

import functools
import gc
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from llvmlite import binding, ir
from numba import from_dtype, types
from numba.core import callconv, cgutils, compiler, config, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.errors import NumbaRuntimeError
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.transforms import canonicalize_cfg

from . import targets
from .specialise import specialise

WORD = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()


class UncheckedPasses(PassManager):
    """Omit Numba's repairs after each pass (recomputing the control flow graph and live variables): none of the passes
    used here needs them."""

    _ENFORCING = False


class KernelCompiler(compiler.CompilerBase):
    """The Numba passes that a kernel needs: no closures, comprehensions, `with`, array expressions or arguments whose
    values become types. Dead branches are pruned once, after everything is inlined. Lifetimes of variables are computed
    only if references are counted."""

    def define_pipelines(self) -> list[PassManager]:
        u, t = untyped_passes, typed_passes
        passes = UncheckedPasses("kernel")
        for kind in (
            u.TranslateByteCode,
            u.FixupArgs,
            u.IRProcessing,
            u.RewriteSemanticConstants,
            u.GenericRewrites,
            u.InlineInlinables,
            u.DeadBranchPrune,
            u.ReconstructSSA,
            t.NopythonTypeInference,
            t.PreLowerStripPhis,
            *((t.IRLegalization,) if self.state.flags.nrt else ()),
            t.NativeLowering,
        ):
            passes.add_pass(kind, kind.__name__)
        passes.finalize()
        return [passes]


class KernelLibrary(JITCodeLibrary):
    """The LLVM module of one kernel, before LLVM optimizes it, and the separately compiled functions that it calls."""

    module: Any = None
    counts = False  # whether arrays and exceptions of user functions need Numba's run-time library

    def add_ir_module(self, ir_module: Any) -> None:
        self.module = ir_module

    def add_linking_library(self, library: Any) -> None:
        if (library is not rtsys.library or self.counts) and library not in self._linking_libraries:
            super().add_linking_library(library)

    def linked(self) -> Iterator[JITCodeLibrary]:
        return iter(self._linking_libraries)


# Numba's typing and lowering contexts with memoization: a kernel resolves the same operators for the same types some
# hundred times, and Numba computes each answer from scratch, which is a third of the compile time.
T = TypeVar("T")
Types: Any = type(cpu_target.typing_context)
Target: Any = type(cpu_target.target_context)


def _memoized(known: dict[object, T], key: object, ask: Callable[[], T]) -> T:
    """The result of ask(), computed once per key; computed each time if the key contains a slice, which Python before
    3.12 cannot hash."""
    try:
        hash(key)
    except TypeError:
        return ask()
    if key not in known:
        known[key] = ask()
    return known[key]


class MemoizedTyping(Types):
    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        builtin = isinstance(func, (types.Function, types.NumberClass)) or not isinstance(func, types.Type)
        if kws or not builtin:
            return super().resolve_function_type(func, args, kws)
        ask = super().resolve_function_type
        return _memoized(self.known, (func, tuple(args)), lambda: ask(func, args, kws))


class MemoizedLowering(Target):
    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        ask = super().get_function
        return _memoized(self.known, (fn, sig), lambda: ask(fn, sig, _firstcall))

    def get_abi_sizeof(self, ty: Any) -> int:
        if ty not in self.known:
            self.known[ty] = super().get_abi_sizeof(ty)
        return self.known[ty]


@functools.cache
def _contexts() -> tuple[MemoizedTyping, MemoizedLowering]:
    """Separate from Numba's own contexts, but sharing their contents, so that other users of Numba are not affected."""
    both = MemoizedTyping.__new__(MemoizedTyping), MemoizedLowering.__new__(MemoizedLowering)
    for context, numbas in zip(both, (cpu_target.typing_context, cpu_target.target_context), strict=True):
        context.__dict__.update(vars(numbas), known={})
    return both


def numba_type(code: str) -> types.Type:
    """The Numba type of an argument code: "int", or a dtype's name for a NumPy scalar, followed by [] for an array."""
    if code == "int":
        return types.int64
    dtype = from_dtype(np.dtype(code.removesuffix("[]")))
    return types.Array(dtype, 1, "C") if code.endswith("[]") else dtype


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: everything that Numba allocates for a kernel lives until it is compiled. The
    collector would traverse it and all other objects of the process a hundred times: 10 to 25 % of the compile time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


_postprocess = PostProcessor.run


def _only_canonical(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Recompute the lifetimes of variables only where they are read. Numba does so after eight of its passes and reads
    them after the last one; this takes 15 % of a first call (docs/devices.md)."""
    if emit_dels or self.func_ir.is_generator:
        _postprocess(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


@contextmanager
def _fewer_lifetimes() -> Iterator[None]:
    """Replace Numba's PostProcessor.run while a kernel is compiled. Numba compiles under one global lock, which is held
    here, so that no other compilation uses the replacement."""
    with global_compiler_lock:
        PostProcessor.run = _only_canonical
        try:
            yield
        finally:
            PostProcessor.run = _postprocess


@_without_garbage_collection()
@_fewer_lifetimes()
def compile_kernel(
    text: str, name: str, symbol: str, signature: Sequence[str], where: Sequence[targets.Target]
) -> list[tuple[bytes, list[str]]]:
    """For each target, an object file that defines `symbol`, and the names of its undefined symbols. name: the kernel's
    name in the text."""
    namespace: dict[str, Any] = {"__name__": "bitblas.kernel"}
    exec(compile(specialise(text, name), f"<{symbol}>", "exec"), namespace)
    arguments = (types.int64, types.int64, *map(numba_type, signature))
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    typing, target = _contexts()
    codegen = target.codegen()

    def lowered(counts: bool) -> tuple[KernelLibrary, Any]:
        flags = compiler.Flags()
        flags.error_model, flags.enable_ssa, flags.no_compile, flags.nrt = "numpy", True, True, counts
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        library = KernelLibrary(codegen, symbol)
        library.counts = counts
        passes = KernelCompiler(typing, target, library, arguments, None, flags, {})
        return library, passes.compile_extra(namespace[name].py_func)

    try:
        library, result = lowered(counts=False)
    except NumbaRuntimeError:
        library, result = lowered(counts=True)
    _entry(library.module, result.fndesc.llvm_func_name, symbol, arguments[2:])
    module = binding.parse_assembly(cgutils.normalize_ir_text(str(library.module)))
    for other in library.linked():
        module.link_in(other._get_module_for_linking(), preserve=True)
    slp = bool(config.SLP_VECTORIZE) or "SLP" in namespace
    return [_object(module.clone(), symbol, target, slp) for target in where]


def _entry(module: Any, kernel: str, symbol: str, arguments: Sequence[types.Type]) -> None:
    """`i64 symbol(i64 lo, i64 hi, ptr slots)`: calls the kernel, and frees its scratch arrays."""
    callee = module.globals[kernel]
    callee.linkage = "internal"
    function = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD, POINTER]), symbol)
    b = ir.IRBuilder(function.append_basic_block())
    at = lambda k: b.gep(function.args[2], [ir.Constant(WORD, 8 * k)])
    read = lambda k, kind: b.load(b.bitcast(at(k), kind.as_pointer()))
    result, raised, *expected = (a.type for a in callee.args)
    values, kinds = list(function.args[:2]), iter(expected[2:])
    for k, argument in enumerate(arguments):
        if isinstance(argument, types.Complex):  # two arguments in the ABI
            width = argument.underlying_float.bitwidth // 8
            for part, kind in enumerate((next(kinds), next(kinds))):
                place = b.gep(function.args[2], [ir.Constant(WORD, 16 * k + width * part)])
                values.append(b.load(b.bitcast(place, kind.as_pointer())))
            continue
        if not isinstance(argument, types.Array):
            values.append(read(2 * k, next(kinds)))
            continue
        meminfo, parent, _, _, data, _, _ = (next(kinds) for _ in range(7))
        size, step = read(2 * k + 1, WORD), ir.Constant(WORD, max(8, getattr(argument.dtype, "bitwidth", 8)) // 8)
        values += [meminfo(None), parent(None), size, step, read(2 * k, data), size, step]
    count = getattr(module, "scratch", 0) + 1
    frame = b.alloca(POINTER, count)  # the kernel's exception, then its scratch arrays
    noted = [b.gep(frame, [ir.Constant(WORD, k)]) for k in range(count)]
    for place in noted:
        b.store(POINTER(None), place)
    status = b.call(callee, [b.alloca(result.pointee), b.bitcast(frame, raised), *values])
    free = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), [POINTER]), "free")
    for place in noted[1:]:
        b.call(free, [b.load(place)])
    raises = b.icmp_signed("==", status, ir.Constant(status.type, callconv.FIRST_USEREXC))
    b.ret(b.select(raises, b.ptrtoint(b.load(frame), WORD), b.sext(status, WORD)))


def _object(module: Any, symbol: str, target: targets.Target, slp: bool) -> tuple[bytes, list[str]]:
    """Run LLVM: keep one exported function, inline the rest or make it internal. slp: combine independent statements of
    the same kind into vector statements; each sum keeps its order."""
    machine = targets.machine(target, int(config.OPT))
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    for defined in (*module.functions, *module.global_variables):
        if not defined.is_declaration and defined.name != symbol:
            defined.linkage = "internal"
    module.verify()
    options = binding.create_pipeline_tuning_options(int(config.OPT))
    options.loop_vectorization, options.slp_vectorization = bool(config.LOOP_VECTORIZE), slp
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    declared = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    data = machine.emit_object(module)
    return data, sorted({*declared, *undefined(data)})


def undefined(data: bytes) -> set[str]:
    """Undefined symbols of an ELF object: LLVM may call functions (memset) that do not occur in the text."""
    if data[:5] != b"\x7fELF\x02":
        return set()
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * k) for k in range(count)]
    names = set()
    for _, kind, _, _, offset, nbytes, link, _, _, width in sections:
        for place in range(offset, offset + nbytes, width) if kind == 2 else ():
            name, _, _, section = struct.unpack_from("<IBBH", data, place)
            if section == 0 and name:
                begin = sections[link][4] + name
                names.add(data[begin : data.index(b"\0", begin)].decode())
    return names
