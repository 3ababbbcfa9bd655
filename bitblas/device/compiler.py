"""Compile a CPU kernel with Numba: from source text and argument types to an object file.

Numba's wrappers for calls from Python, its reference-counted arrays and its parallel loops are not used: `native.ll`
calls kernels and distributes ranges over threads, and scratch arrays live until the kernel returns.
"""

from __future__ import annotations

import ast
import functools
import gc
import operator
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

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

from . import native
from .jit import statements

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


_postprocess = PostProcessor.run


def _only_canonical(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Recompute the lifetimes of variables only where they are read. Numba does so after eight of its passes and reads
    them after the last one; this takes 15 % of a first call (docs/devices.md)."""
    if emit_dels or self.func_ir.is_generator:
        _postprocess(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


@contextmanager
def _faster_numba() -> Iterator[None]:
    """Replace Numba's PostProcessor.run, and disable garbage collection, while a kernel is compiled. Numba compiles
    under one global lock, which is held here, so that no other compilation uses the replacement. Everything that Numba
    allocates for a kernel lives until it is compiled; the collector would traverse it and all other objects of the
    process a hundred times: 10 to 25 % of the compile time."""
    with global_compiler_lock:
        collects = gc.isenabled()
        gc.disable()
        PostProcessor.run = _only_canonical
        try:
            yield
        finally:
            PostProcessor.run = _postprocess
            if collects:
                gc.enable()


@_faster_numba()
def compile_kernel(
    text: str, name: str, symbol: str, signature: Sequence[str], where: Sequence[native.Target]
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


def _object(module: Any, symbol: str, target: native.Target, slp: bool) -> tuple[bytes, list[str]]:
    """Run LLVM: keep one exported function, inline the rest or make it internal. slp: combine independent statements of
    the same kind into vector statements; each sum keeps its order."""
    machine = native.machine(target, int(config.OPT))
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


# ---- Constant folding of Python source: substitute constants for names and remove branches that are never taken.

if TYPE_CHECKING:

    class Number(ast.Constant):
        """A constant integer or truth value."""

        value: int


Expr = ast.expr
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1

_BINARY: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE: dict[type, Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _constant(node: ast.AST | None) -> TypeGuard[Number]:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def reachable_statements(body: Iterable[ast.stmt], constants: dict[str, int]) -> Iterable[ast.stmt]:
    """The reachable statements of a module; names of integers are added to `constants`."""
    for node in body:
        node = Fold(constants, None).visit(node) if not isinstance(node, ast.FunctionDef) else node
        if isinstance(node, list):
            yield from reachable_statements(node, constants)
            continue
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts))
            for left, right in pairs:
                if isinstance(left, ast.Name) and _constant(right):
                    constants[left.id] = int(right.value)
        if node is not None:
            yield node


def assigned_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _boolean(node: Expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


class Fold(ast.NodeTransformer):
    """Substitute constants for their names and fold the resulting expressions and branches."""

    def __init__(self, constants: dict[str, int], function: ast.FunctionDef | None) -> None:
        local = set() if function is None else {a.arg for a in function.args.args} | assigned_names(function.body)
        self.constants = {n: v for n, v in constants.items() if n not in local}

    def function(self, function: ast.FunctionDef) -> None:
        function.body = self.block(function.body) or [ast.Pass()]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in body:
            folded = self.visit(node)
            out += folded if isinstance(folded, list) else [] if folded is None else [folded]
            if out and isinstance(out[-1], (ast.Return, ast.Continue, ast.Break)):
                break
        return out

    def visit_Name(self, node: ast.Name) -> Expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.constants:
            return ast.Constant(self.constants[node.id])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Expr:
        self.generic_visit(node)
        function = _BINARY.get(type(node.op))
        if function is not None and _constant(node.left) and _constant(node.right):
            left, right = int(node.left.value), int(node.right.value)
            shift = isinstance(node.op, (ast.LShift, ast.RShift))
            if not (shift and not 0 <= right < 64) and not (isinstance(node.op, (ast.Mod, ast.FloorDiv)) and not right):
                if _LEAST <= (value := function(left, right)) <= _MOST:
                    return ast.Constant(value)
        return node

    def visit_Compare(self, node: ast.Compare) -> Expr:
        self.generic_visit(node)
        function = _COMPARE.get(type(node.ops[0]))
        if function is not None and len(node.ops) == 1 and _constant(node.left) and _constant(node.comparators[0]):
            return ast.Constant(function(node.left.value, node.comparators[0].value))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        self.generic_visit(node)
        if _constant(node.operand) and isinstance(node.op, ast.Not):
            return ast.Constant(not node.operand.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Expr:
        self.generic_visit(node)
        return self.joined(node, truth=False)

    def joined(self, node: ast.BoolOp, truth: bool) -> Expr:
        """Simplify `and` and `or` with constant operands. truth: only the truth value of the result matters."""
        decides = isinstance(node.op, ast.Or)  # the truth value that short-circuits
        kept: list[Expr] = []
        for value in node.values:
            plain = truth or all(map(_boolean, kept))
            if not isinstance(value, ast.Constant) or not _constant(value):
                kept.append(value)
            elif bool(value.value) is decides:
                kept = [value] if plain else [*kept, value]
                break
            elif value is node.values[-1] and not (plain and kept):
                kept.append(value)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def test(self, node: Expr) -> Expr:
        folded: Expr = self.visit(node)
        return self.joined(folded, truth=True) if isinstance(folded, ast.BoolOp) else folded

    def visit_IfExp(self, node: ast.IfExp) -> Expr:
        node.test = self.test(node.test)
        if _constant(node.test):
            chosen: Expr = self.visit(node.body if node.test.value else node.orelse)
            return chosen
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> ast.If | list[ast.stmt]:
        node.test = self.test(node.test)
        if _constant(node.test):
            return self.block(node.body if node.test.value else node.orelse)
        node.body, node.orelse = self.block(node.body) or [ast.Pass()], self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.While | list[ast.stmt]:
        node.test = self.test(node.test)
        if _constant(node.test) and not node.test.value:
            return []
        node.body = self.block(node.body) or [ast.Pass()]
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        node.iter = self.visit(node.iter)
        node.body = self.block(node.body) or [ast.Pass()]
        return node


# ---- Specialize a CPU kernel's source: substitute its constants and inline its functions before Numba compiles it.

SMALL = 8  # maximum nodes of an argument expression that may be duplicated
_WRITERS = ("put", "store_lanes")


def specialise(text: str, name: str) -> str:
    """An equivalent text that contains the kernel of that name."""
    constants: dict[str, int] = {}
    functions: dict[str, ast.FunctionDef] = {}
    others: list[ast.stmt] = []
    for node in reachable_statements(statements(text), constants):
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        else:
            others.append(node)
    done: dict[str, ast.FunctionDef] = {}

    def finished(called: str) -> ast.FunctionDef | None:
        if called not in done:
            if called not in functions:
                return None
            function = functions.pop(called)  # recursive functions are left to Numba
            Fold(constants, function).function(function)
            _Inline(finished).function(function)
            Fold(constants, function).function(function)
            done[called] = function
        return done[called]

    kept: dict[str, ast.FunctionDef] = {}  # functions that are still called
    pending = {name}.union(*(_named([node]) for node in others))
    while pending:
        if (called := pending.pop()) not in kept and (function := finished(called)) is not None:
            kept[called] = function
            pending |= _named(function.body)
    return ast.unparse(ast.fix_missing_locations(ast.Module([*others, *reversed(kept.values())], [])))


def _copied(node: Any) -> Any:
    """A deep copy of a tree or a list of trees; several times as fast as copy.deepcopy."""
    if isinstance(node, list):
        return [_copied(x) for x in node]
    if not isinstance(node, ast.AST):
        return node
    copy = type(node).__new__(type(node))
    copy.__dict__.update({name: _copied(x) for name, x in node.__dict__.items()})
    return copy


def _named(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


class _Names(ast.NodeTransformer):
    """Replace names: by expressions where they are read, by other names where they are written."""

    def __init__(self, reads: dict[str, Expr]) -> None:
        self.reads = reads

    def visit_Name(self, node: ast.Name) -> Expr:
        replacement = self.reads.get(node.id)
        if replacement is None:
            return node
        if isinstance(node.ctx, ast.Store):
            assert isinstance(replacement, ast.Name)
            return ast.Name(replacement.id, ast.Store())
        return _copied(replacement)


def _small(node: Expr) -> bool:
    return sum(1 for n in ast.walk(node) if isinstance(n, ast.expr)) <= SMALL


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WRITERS


def _uses(name: str, nodes: Iterable[ast.AST]) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for node in nodes for n in ast.walk(node))


def _straight(body: list[ast.stmt]) -> bool:
    """Whether the body is assignments to names followed by a return."""
    return isinstance(body[-1], ast.Return) and all(
        isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in body[:-1]
    )


def _returning(body: list[ast.stmt], result: str) -> list[ast.stmt] | None:
    """The statements of `body` with assignments to `result` in place of returns; None if a return leaves a loop."""
    out: list[ast.stmt] = []
    for k, node in enumerate(body):
        returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
        if isinstance(node, ast.Return):
            value = node.value or ast.Constant(None)
            return [*out, ast.Assign([ast.Name(result, ast.Store())], value)]
        if returns and not isinstance(node, ast.If):
            return None
        if returns:
            assert isinstance(node, ast.If)
            rest = body[k + 1 :]
            ends = [bool(b) and isinstance(b[-1], ast.Return) for b in (node.body, node.orelse)]
            if not any(ends) and rest:
                return None
            branches = [
                _returning(_copied(b) if end else [*_copied(b), *rest], result)
                for b, end in zip((node.body, node.orelse), ends)
            ]
            if None in branches:
                return None
            return [*out, ast.If(node.test, branches[0] or [ast.Pass()], branches[1] or [])]
        out.append(node)
    return out


class _Inline:
    """Inline the calls of functions that are defined in the text."""

    count = 0

    def __init__(self, finished: Callable[[str], ast.FunctionDef | None]) -> None:
        self.finished = finished

    def function(self, function: ast.FunctionDef) -> None:
        body = function.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # drop the docstring
        self.count = 0
        self.prefix, self.taken = function.name, assigned_names(body) | {a.arg for a in function.args.args}
        function.body = self.block(body)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [inlined for node in body for inlined in self.statement(node)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp) and self.calls(node.value):
            branches = [ast.Assign(_copied(node.targets), v) for v in (node.value.body, node.value.orelse)]
            return self.statement(ast.If(node.value.test, [branches[0]], [branches[1]]))
        if isinstance(node, ast.If):
            node.test = self.expression(node.test, before)
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        elif isinstance(node, ast.For):
            node.iter = self.expression(node.iter, before)
            node.body = self.block(node.body)
        elif isinstance(node, ast.While):
            node.test = self.expression(node.test, None)
            node.body = self.block(node.body)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)) and node.value is not None:
            node.value = self.expression(node.value, before, root=True)
            if isinstance(node, ast.Assign):
                node.targets = [self.expression(t, before) for t in node.targets]
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
                return before  # an inlined call
        return [*before, node]

    def calls(self, node: Expr) -> bool:
        called = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
        return any(isinstance(f, ast.Name) and self.finished(f.id) for f in called)

    def expression(self, node: Expr, before: list[ast.stmt] | None, root: bool = False) -> Expr:
        """`node` with its calls inlined. before: list for statements that must run first; None: there is no place."""
        if isinstance(node, ast.IfExp):
            node.test = self.expression(node.test, before)
            node.body, node.orelse = self.expression(node.body, None), self.expression(node.orelse, None)
            return node
        if isinstance(node, ast.BoolOp):
            first, *rest = node.values
            node.values = [self.expression(first, before), *(self.expression(v, None) for v in rest)]
            return node
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.expression(value, before))
            elif isinstance(value, list):
                setattr(node, field, [self.expression(v, before) if isinstance(v, ast.expr) else v for v in value])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            function = self.finished(node.func.id)
            if function is not None and len(function.args.args) == len(node.args):
                return self.written(node, function, before, root)
        return node

    def fresh(self, name: str) -> str:
        self.count += 1
        unused = f"{name}_{self.prefix}{self.count}"
        return self.fresh(name) if unused in self.taken else unused

    def written(self, call: ast.Call, function: ast.FunctionDef, before: list[ast.stmt] | None, root: bool) -> Expr:
        body = _copied(function.body)
        reads: dict[str, Expr] = {}
        assignments: list[ast.stmt] = []

        def name(n: str, value: Expr, uses: int) -> bool:
            """Substitute a value for n: the expression itself if it may be duplicated, otherwise a new variable."""
            if isinstance(value, (ast.Name, ast.Constant)) or uses <= 1 or (_small(value) and before is None):
                reads[n] = value
            elif before is None:
                return False
            else:
                variable = self.fresh(n)
                reads[n] = ast.Name(variable, ast.Load())
                assignments.append(ast.Assign([ast.Name(variable, ast.Store())], value))
            return True

        if _straight(body):
            for parameter, value in zip(function.args.args, call.args):
                if not name(parameter.arg, value, _uses(parameter.arg, body)):
                    return call
            for k, node in enumerate(body[:-1]):
                assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
                target = node.targets[0].id
                if not name(target, _Names(reads).visit(node.value), _uses(target, body[k + 1 :])):
                    return call
            assert isinstance(body[-1], ast.Return) and body[-1].value is not None
            if before is not None:
                before += assignments
            result: Expr = _Names(reads).visit(body[-1].value)
            return Fold({}, None).visit(result)
        if before is None or (not root and any(_writes(n) for node in body for n in ast.walk(node))):
            return call
        answer = self.fresh(function.name)
        statements = _returning(body, answer)
        if statements is None:
            return call
        changed = assigned_names(statements) - {answer}
        for parameter, value in zip(function.args.args, call.args):
            if parameter.arg in changed or not isinstance(value, (ast.Name, ast.Constant)):
                name_of_value = self.fresh(parameter.arg)
                reads[parameter.arg] = ast.Name(name_of_value, ast.Load())
                assignments.append(ast.Assign([ast.Name(name_of_value, ast.Store())], value))
            else:
                reads[parameter.arg] = value
        reads |= {n: ast.Name(self.fresh(n), ast.Load()) for n in changed if n not in reads}
        before += [*assignments, *(_Names(reads).visit(s) for s in statements)]
        return ast.Name(answer, ast.Load())
