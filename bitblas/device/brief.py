"""Numba's passes, while a kernel is compiled, without what they do for programs of other kinds: quicker functions in
the place of some of theirs, which give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from numba.core import errors, interpreter, ir, ssa
from numba.core.compiler_lock import global_compiler_lock
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg

Blocks = dict[int, Any]


@contextmanager
def brief() -> Iterator[None]:
    """Numba compiles under one lock, which is held here: nobody else meets it so. A fifth of what compiling costs."""
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
    """A logger that nobody listens to, and colors that are none."""

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


_run = PostProcessor.run


def _shortened(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """After eight of the passes Numba finds anew where each variable lives, which is read after the last one alone."""
    if emit_dels or self.func_ir.is_generator:
        _run(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


# ---- the variables of an instruction --------------------------------------------------------------------------------

_general = ir.Inst._rec_list_vars
_without: set[type] = set()  # types of what is and holds no variable: places in the text, names, numbers


def _variables(self: Any, value: Any) -> list[Any]:
    """Asked some ten thousand times a kernel: an instruction is a dictionary whose values are mostly no variables."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in _without:
        return []
    parts: Iterable[Any]
    if kind is dict:
        parts = value.values()
    elif kind is list or kind is tuple:
        parts = value
    else:
        if not isinstance(value, (ir.Var, ir.Inst, list, tuple, dict)):
            _without.add(kind)
        return cast("list[Any]", _general(self, value))
    found: list[Any] = []
    for part in parts:
        if type(part) not in _without:
            found += _variables(self, part)
    return found


# ---- one assignment for each variable -------------------------------------------------------------------------------

_analysis, _rewrite = ssa._run_block_analysis, ssa._run_block_rewrite
_met: dict[str, set[int]] = {}  # by variable: the blocks, of the function that is looked at, that name it


def _noted(blocks: Blocks, states: dict[str, Any], handler: Any) -> None:
    _analysis(blocks, states, handler)
    _met.clear()
    _met.update({name: {label for _, label in found} for name, found in states["defs"].items()})
    for name, labels in states["uses"].items():
        _met.setdefault(name, set()).update(labels)


def _where_met(blocks: Blocks, states: dict[str, Any], handler: Any) -> Blocks:
    """Numba goes through the whole function, twice, for each variable that is assigned more than once."""
    labels, made = _met.get(states["varname"], ()), Blocks()
    for label, block in blocks.items():
        made[label] = _rewrite({label: block}, states, handler)[label] if label in labels else block.copy()
    return made


# ---- what is mended of the bytecode ---------------------------------------------------------------------------------

_mend = interpreter.Interpreter.post_process


def _mended(self: Any, peepholes: Iterable[Callable[[Any], Any]], func_ir: Any) -> Any:
    """Dictionaries and `with` only where there are some."""
    statements = [s for block in func_ir.blocks.values() for s in block.body]
    made = [s.value for s in statements if type(s) is ir.Assign and type(s.value) is ir.Expr]
    needless = set()
    if not any(e.op == "build_map" or (e.op == "getattr" and e.attr == "_update_from_bytecode") for e in made):
        needless.add("peep_hole_fuse_dict_add_updates")
    if not any(isinstance(s, ir.EnterWith) for s in statements):
        needless.add("peep_hole_delete_with_exit")
    return _mend(self, [p for p in peepholes if p.__name__ not in needless], func_ir)


OTHERS: list[tuple[Any, str, Any]] = [
    (PostProcessor, "run", _shortened),
    (errors, "termcolor", Plain),  # messages of what an operator might have been, in colors, and reports to nobody
    (ssa, "_logger", Plain),
    (ssa, "_run_block_analysis", _noted),
    (ssa, "_run_block_rewrite", _where_met),
    (ir.Inst, "_rec_list_vars", _variables),
    (interpreter.Interpreter, "post_process", _mended),
]
