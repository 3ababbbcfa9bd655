"""Run a program on both libraries, statement by statement, and return the first difference."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

import graphblas as oracle
import numpy as np

import bitblas

from . import excluded, files, user_types
from .compare import agree, is_object, plain, same_error
from .program import NAME, Program, Statement


class Difference(NamedTuple):
    """kind: "error" (one of them raised, or both in other ways), or what the two do not agree on."""

    at: int  # the statement
    kind: str
    what: str


@lru_cache(maxsize=4096)
def _code(text: str) -> CodeType:
    return compile(text, "<program>", "exec")


def scope_of(gb: Any) -> dict[str, Any]:
    ours = gb is bitblas
    user_types.registered(gb)
    return {
        "gb": gb, "inf": float("inf"), "nan": float("nan"), "pickle": pickle, "tame": excluded.tame,
        "uint64": np.uint64, "through_files": files.ours if ours else files.expected,
        "form": lambda **how: how if ours else {}, "in_order": lambda A, order: A.reorder(order) if ours else A,
    }  # fmt: skip


def _attempt(text: str, scope: dict[str, Any]) -> Exception | None:
    scope.pop("r", None)
    try:
        exec(_code(text), scope)
        if "r" in scope:
            scope["r"] = plain(scope["r"])
    except Exception as error:
        return error
    return None


def declared(gb: Any, program: Program) -> dict[str, Any]:
    """The names of a program, with its objects."""
    scope = scope_of(gb)
    for declaration in program.declarations:
        exec(_code(declaration.text() if gb is bitblas else excluded.unsigned(declaration.text())), scope)
        if gb is oracle:
            excluded.tame(scope[declaration.name])
    return scope


def ask(statement: Statement, scope: dict[str, Any]) -> Exception | None:
    """The statement on python-graphblas; the error that it raised."""
    error = _attempt(excluded.asked(statement, scope), scope)
    if error is None and statement.kind in ("new", "set"):
        excluded.tame(scope[statement.out])
    return error


def oracle_alone(program: Program) -> None:
    """For a program that ended the process: was it the oracle?"""
    scope = declared(oracle, program)
    for statement in program.statements:
        ask(statement, scope)
        for x in [x for x in scope.values() if is_object(x)]:
            plain(x)


class Run:
    """Both scopes of a program, and counts: errors that both raise, excluded differences."""

    def __init__(self, program: Program) -> None:
        self.program, self.met = program, Counter[str]()
        self.ours, self.theirs = declared(bitblas, program), declared(oracle, program)

    def objects(self) -> list[str]:
        return [name for name, x in self.theirs.items() if NAME.fullmatch(name) and is_object(x)]

    def compare(self, at: int) -> Difference | None:
        """Compare all objects. If floats are close but not equal, the oracle continues with ours, so errors do not add
        up."""
        for name in self.objects():
            x, y = self.ours[name], self.theirs[name]
            try:
                found = agree(plain(x), plain(y))
            except oracle.exceptions.InvalidObject:
                self.met["excluded: SuiteSparse: an object is invalid after an error"] += 1
                found = "close"
            if found == "close":
                self.met["floats that are close"] += 1
                self.theirs[name] = excluded.taken_over(oracle, x)
            elif found != "exact" and excluded.is_broken(y):
                self.met["excluded: SuiteSparse: an assignment leaves an object that is none"] += 1
                self.theirs[name] = excluded.taken_over(oracle, x)
            elif found != "exact":
                return Difference(at, "values", f"{name}: {found}\nbitblas {plain(x)}\npython-graphblas {plain(y)}")
        return None

    def step(self, at: int) -> Difference | None:
        statement = self.program.statements[at]
        skipped = excluded.skipped(statement, self.theirs)
        if skipped is not None:
            self.met[f"skipped: {skipped}"] += 1
            return self.settle(at)
        theirs, ours = ask(statement, self.theirs), _attempt(statement.text(), self.ours)
        if ours is not None or theirs is not None:
            if ours is None or theirs is None or not same_error(ours, theirs):
                kind = f"error {type(ours).__name__}, {type(theirs).__name__}"
                return Difference(at, kind, f"bitblas: {ours!r}\npython-graphblas: {theirs!r}")
            self.met["errors of both"] += 1
            if statement.verb == "setdiag":  # python-graphblas has deleted the diagonal when it raises
                self.theirs[statement.out] = excluded.taken_over(oracle, self.ours[statement.out])
        elif statement.kind == "read":
            found = agree(self.ours["r"], self.theirs["r"])
            if found not in ("exact", "close"):
                both = f"\nbitblas {self.ours['r']}\npython-graphblas {self.theirs['r']}"
                return Difference(at, "read", f"{found}{both}")
        return self.settle(at)

    def settle(self, at: int) -> Difference | None:
        """Compares, unless a write waits."""
        statement = self.program.statements[at]
        last = at + 1 == len(self.program.statements)
        if last or not (statement.waits or self.program.at_end):
            return self.compare(at)
        return None

    def whole(self) -> Difference | None:
        for at, statement in enumerate(self.program.statements):
            found = self.step(at)
            if found is not None:
                reason = excluded.reason(statement, found)
                if reason is None:
                    return found
                self.met[f"excluded: {reason}"] += 1
                return None
        return None
