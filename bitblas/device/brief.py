"""Numba's passes, while a kernel is compiled, without what they do for programs of other kinds: quicker functions in
the place of some of theirs, which give the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import errors, inline_closurecall, ssa
from numba.core.compiler_lock import global_compiler_lock
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg

from .versions import run_ssa


@contextmanager
def brief() -> Iterator[None]:
    """Numba compiles under one lock, which is held here: nobody else meets it so."""
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


class Uncopied:
    """In the place of the module `copy`, for functions that are written out in their callers: Numba has just made
    them, each for its one call, and copies them twice."""

    @staticmethod
    def deepcopy(block: Any) -> Any:
        return block


_run = PostProcessor.run


def _shortened(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """After eight of the passes Numba finds anew where each variable lives, which is read after the last one alone."""
    if emit_dels or self.func_ir.is_generator:
        _run(self, emit_dels, extend_lifetimes)
    else:
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)


OTHERS: list[tuple[Any, str, Any]] = [
    (PostProcessor, "run", _shortened),
    (errors, "termcolor", Plain),  # messages of what an operator might have been, in colors, and reports to nobody
    (ssa, "_logger", Plain),
    (ssa, "_run_ssa", run_ssa),
    (inline_closurecall, "copy", Uncopied),
]
