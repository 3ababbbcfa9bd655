"""Numba patches: faster replacements for compiler passes while a CPU kernel is compiled, with the same output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

from numba.core import compiler_machinery, errors, inline_closurecall, ir, lowering, ssa, typeinfer
from numba.core.compiler_lock import global_compiler_lock
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.types import functions
from numba.core.typing import typeof

from .versions import run_ssa


@contextmanager
def brief() -> Iterator[None]:
    """Install the patches while a kernel is compiled. Numba compiles under one global lock, which is held here, so no
    other compilation uses them."""
    with global_compiler_lock:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in OTHERS]
        for owner, name, other in OTHERS:
            setattr(owner, name, other)
        try:
            yield
        finally:
            for owner, name, own in before:
                setattr(owner, name, own)


class Plain:
    """A logger without output, and a color scheme without colors."""

    @staticmethod
    def debug(*_: Any) -> None:
        pass

    @staticmethod
    def code(text: str) -> str:
        return text

    errmsg = filename = indicate = highlight = code

    @staticmethod
    def reset() -> str:
        return ""


class Uncopied:
    """Replaces the module `copy` for functions that Numba inlines: it has just created them, each for one call, and
    would copy them twice."""

    @staticmethod
    def deepcopy(block: Any) -> Any:
        return block


_variables = ir.Inst._rec_list_vars
# Types that hold no variables; most values have one of them.
_PLAIN = frozenset((ir.Loc, str, int, float, bool, type(None), BuiltinFunctionType, FunctionType, type(ir.UNDEFINED)))
_PLAIN |= {ir.Const, ir.Global, ir.Arg}


def _listed(self: Any, value: Any) -> list[Any]:
    """The variables in a statement, or in part of one. Numba tests the type of each part five times."""
    if type(value) is not dict:
        return [] if type(value) in _PLAIN else _variables(self, value)
    found = []
    for part in value.values():
        kind = type(part)
        if kind is ir.Var:
            found.append(part)
        elif kind not in _PLAIN:
            found += _variables(self, part)
    return found


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


def _shortened(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """After eight of its passes Numba recomputes variable lifetimes, which are read only after the last one."""
    if emit_dels or self.func_ir.is_generator:
        _run(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


OTHERS: list[tuple[Any, str, Any]] = [
    (PostProcessor, "run", _shortened),
    (errors, "termcolor", Plain),  # colored candidate messages for operators, and reports that are not shown
    *((module, "_termcolor", Plain) for module in (compiler_machinery, functions, ir, typeinfer, typeof)),
    (ir.Inst, "_rec_list_vars", _listed),
    (lowering.BaseLower, "lower_block", _lower_block),
    (ssa, "_logger", Plain),
    (ssa, "_run_ssa", run_ssa),
    (inline_closurecall, "copy", Uncopied),
]
