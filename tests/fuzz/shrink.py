"""The smallest program that still differs in the same way: parts are dropped while it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .palette import NUMBERS
from .program import Declaration, Program, Statement


def shrink(program: Program, kind: str, differs: Callable[[Program], str | None], tries: int = 2000) -> Program:
    """`differs` gives the kind of difference of a program, None where there is none (or it does not run)."""
    best, changed = program, True
    while changed and tries > 0:
        changed = False
        for candidate in _smaller(best):
            tries -= 1
            if tries <= 0:
                break
            if differs(candidate) == kind:
                best, changed = candidate, True
                break
    return best


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with one part less, the largest parts first."""
    declarations, statements = program.declarations, program.statements
    for k in range(len(statements) - 1, -1, -1):
        if len(statements) > 1:
            yield program._replace(statements=statements[:k] + statements[k + 1 :])
    used = program.used()
    if any(d.name not in used for d in declarations):
        yield program._replace(declarations=tuple(d for d in declarations if d.name in used))
    if program.at_end:
        yield program._replace(at_end=False)
    for k, statement in enumerate(statements):
        for less in _simpler(statement):
            yield program._replace(statements=(*statements[:k], less, *statements[k + 1 :]))
    for k, declaration in enumerate(declarations):
        for fewer in _fewer(declaration):
            yield program._replace(declarations=(*declarations[:k], fewer, *declarations[k + 1 :]))
    for size in sorted({n for d in declarations for n in d.shape}, reverse=True):
        for less in sorted({1, 2, 3, size // 2, size - 1} - {0, size}):
            if less < size:
                yield program._replace(declarations=tuple(_cut(d, size, less) for d in declarations))


def _simpler(statement: Statement) -> Iterator[Statement]:
    for field, blank in (("mask", ""), ("accum", ""), ("replace", False), ("dtype", ""), ("region", "")):
        if getattr(statement, field) != blank and (field != "region" or statement.kind == "assign"):
            yield statement._replace(**{field: blank})
    if statement.mask:
        for part in statement.mask.replace("|", "&").split(" & "):
            if part != statement.mask:
                yield statement._replace(mask=part)
        if statement.mask.startswith("~"):
            yield statement._replace(mask=statement.mask[1:])


def _fewer(declaration: Declaration) -> Iterator[Declaration]:
    d = declaration
    if d.order:
        yield d._replace(order="")
    for part in (", packed=True", ", symmetric=True"):
        if part in d.form:
            yield d._replace(form=d.form.replace(part, ""))
    if d.form and d.form != 'format="csr"':
        yield d._replace(form='format="csr"')
    if not d.shape:
        return
    size = len(d.where)
    part = size
    while part:
        for lo in range(0, size, part):
            kept = d.where[:lo] + d.where[lo + part :]
            values = d.values if d.is_iso else d.values[:lo] + d.values[lo + part :]
            yield d._replace(where=kept, values=values if kept else ())
        part //= 2
    if not d.is_iso and size <= 8:
        for k, x in enumerate(d.values):
            if x != 1 and d.dtype in NUMBERS:
                yield d._replace(values=(*d.values[:k], 1, *d.values[k + 1 :]))


def _cut(declaration: Declaration, size: int, less: int) -> Declaration:
    """All axes of that size made shorter; entries beyond are dropped."""
    d = declaration
    shape = tuple(less if n == size else n for n in d.shape)
    if shape == d.shape:
        return d
    kept = [k for k, place in enumerate(d.where) if all(i < n for i, n in zip(place, shape))]
    values = d.values if d.is_iso and kept else tuple(d.values[k] for k in kept)
    return d._replace(shape=shape, where=tuple(d.where[k] for k in kept), values=values)
