"""Numba patches: faster replacements for compiler passes while a CPU kernel is compiled, with the same output.

SSA construction: for each variable with several definitions Numba visits all statements twice; `run_ssa` visits only
the statements that define or read it. The handlers that do the work are Numba's (numba/core/ssa.py), so the result is
the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

from numba.core import compiler_machinery, errors, inline_closurecall, ir, lowering, ssa, typeinfer
from numba.core.compiler_lock import global_compiler_lock
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.types import functions
from numba.core.typing import typeof

# ---- A Numba patch: faster construction of static single assignment form, with Numba's own result.
#
# For each variable with several definitions Numba visits all statements twice; this code visits only the statements
# that define or read it. The handlers that do the work are Numba's (numba/core/ssa.py), so the result is the same.

T = TypeVar("T")
NONE: frozenset[str] = frozenset()


def _reads(statement: Any) -> frozenset[str]:
    """The names of the variables that a statement reads, if they may be renamed."""
    read = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(read, ir.Var):
        return frozenset((read.name,))
    return frozenset(x.name for x in read.list_vars()) if isinstance(read, ir.Inst) else NONE


def run_ssa(blocks: dict[int, Any]) -> dict[int, Any]:
    """The blocks of a function, with one variable per definition."""
    if not blocks:
        return {}
    cfg = ssa.compute_cfg_from_blocks(blocks)
    fronts, known = ssa._iterated_domfronts(cfg), ssa._CacheListVars()
    violators = ssa._find_defs_violators(blocks, cfg)
    blocks = {label: block.copy() for label, block in blocks.items()}
    scope = next(iter(blocks.values())).scope
    reads: dict[Any, frozenset[str]] = {}
    defined: dict[str, dict[int, None]] = defaultdict(dict)  # the defining blocks, in order
    read: dict[str, dict[int, None]] = defaultdict(dict)
    for label, block in blocks.items():
        for statement in block.body:
            reads[statement] = _reads(statement)
            for name in reads[statement]:
                read[name][label] = None
            if isinstance(statement, ir.Assign):
                defined[statement.target.name][label] = None

    for name in violators:
        states: dict[str, Any] = {"scope": scope, "varname": name, "defmap": defaultdict(list)}
        fresh, fix = ssa._FreshVarHandler(), ssa._FixSSAVars(known)
        for label in defined[name]:
            states.update(label=label, block=blocks[label])
            body = blocks[label].body
            for k, statement in enumerate(body):
                if isinstance(statement, ir.Assign) and statement.target.name == name:
                    body[k] = fresh.on_assign(states, statement)
                    reads[body[k]] = reads[statement]
        places = ssa._compute_phi_locations(fronts, states["defmap"])
        states.update(phimap=defaultdict(list), cfg=cfg, phi_locations=places)
        for label in read[name]:
            states.update(label=label, block=blocks[label])
            body = list(blocks[label].body)  # the handler reads the old body
            for k, statement in enumerate(body):
                if name in reads.get(statement, NONE):  # not a phi node
                    on = fix.on_assign if isinstance(statement, ir.Assign) else fix.on_other
                    body[k] = on(states, statement)
                    reads[body[k]] = reads[statement]
            blocks[label].body = body
        for label, met in states["phimap"].items():
            blocks[label].body = met + blocks[label].body
    return blocks


# ---- Numba patches: faster replacements for compiler passes while a CPU kernel is compiled, with the same output.


@contextmanager
def patched_numba() -> Iterator[None]:
    """Install the patches while a kernel is compiled. Numba compiles under one global lock, which is held here, so no
    other compilation uses them."""
    with global_compiler_lock:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in PATCHES]
        for owner, name, other in PATCHES:
            setattr(owner, name, other)
        try:
            yield
        finally:
            for owner, name, original in before:
                setattr(owner, name, original)


class SilentLogger:
    """A logger without output, and a color scheme without colors."""

    @staticmethod
    def debug(*_: object) -> None:
        pass

    @staticmethod
    def code(text: str) -> str:
        return text

    errmsg = filename = indicate = highlight = code

    @staticmethod
    def reset() -> str:
        return ""


class NoCopy:
    """Replaces the module `copy` for functions that Numba inlines: it has just created them, each for one call, and
    would copy them twice."""

    @staticmethod
    def deepcopy(block: T) -> T:
        return block


_variables = ir.Inst._rec_list_vars
# Types that hold no variables; most values have one of them.
_PLAIN = frozenset((ir.Loc, str, int, float, bool, type(None), BuiltinFunctionType, FunctionType, type(ir.UNDEFINED)))
_PLAIN |= {ir.Const, ir.Global, ir.Arg}


def _list_variables(self: Any, value: Any) -> list[Any]:
    """The variables in a statement, or in part of one. Numba tests the type of each part five times."""
    if type(value) is not dict:
        return [] if type(value) in _PLAIN else _variables(self, value)
    variables = []
    for part in value.values():
        kind = type(part)
        if kind is ir.Var:
            variables.append(part)
        elif kind not in _PLAIN:
            variables += _variables(self, part)
    return variables


def _lower_block(self: Any, block: Any) -> None:
    """Lower a block without formatting each statement first, which Numba does for debugging."""
    self.pre_block(block)
    try:
        for inst in block.body:
            self.loc = inst.loc
            if type(inst) is ir.Assign and type(inst.value) is not ir.Arg:
                self.notify_loc(self.loc)
                self.storevar(self.lower_assign(self.typeof(inst.target.name), inst), inst.target.name)
            else:
                self.lower_inst(inst)
    except Exception:
        kind = partial(errors.LoweringError, loc=self.loc)
        with lowering.new_error_context('lowering "{inst}" at {loc}', inst=inst, loc=self.loc, errcls_=kind):
            raise
    self.post_block(block)


_run = PostProcessor.run


def _run_postprocessor(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """After eight of its passes Numba recomputes variable lifetimes, which are read only after the last one."""
    if emit_dels or self.func_ir.is_generator:
        _run(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


PATCHES: list[tuple[object, str, object]] = [
    (PostProcessor, "run", _run_postprocessor),
    (errors, "termcolor", SilentLogger),  # colored candidate messages for operators, and reports that are not shown
    *((module, "_termcolor", SilentLogger) for module in (compiler_machinery, functions, ir, typeinfer, typeof)),
    (ir.Inst, "_rec_list_vars", _list_variables),
    (lowering.BaseLower, "lower_block", _lower_block),
    (ssa, "_logger", SilentLogger),
    (ssa, "_run_ssa", run_ssa),
    (inline_closurecall, "copy", NoCopy),
]
