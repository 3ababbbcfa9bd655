"""Merge all gathered copies of a distributed vector into one buffer.

The targets of exchanges of a vector, before the rounds and in them, become one vector if no statement needs its earlier
contents. This saves memory, and the copy can be updated with changed values only. A pure function of a body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .ir import Block, Body, Exchange, Gather, Part, Pointwise, Product, Vec, flat


def in_one_place(body: Body, kept: frozenset[Vec] = frozenset()) -> Body:
    """Merge the gathered copies of each vector. kept: vectors that must not be renamed."""
    groups: dict[Vec, list[Vec]] = {}
    for s in body.all:
        e, t = s.value, s.target
        if isinstance(e, Exchange) and isinstance(e.u, Vec) and isinstance(t, Vec) and (e.how.gathers or e.how.takes):
            part, whole = (e.u, t) if e.how.gathers else (t, e.u)
            groups.setdefault(part, []).append(whole)
    names, fixed = dict[Vec, Vec](), _fixed(body) | kept
    for targets in map(set, groups.values()):
        same = len({(t.size, t.dtype) for t in targets}) == 1 and targets <= body.own
        if same and not targets & fixed and not _missed(body, targets):
            first = min(targets, key=lambda t: t.id)
            names |= dict.fromkeys(targets - {first}, first)
    return renamed(body, names) if names else body


def _fixed(body: Body) -> set[Vec]:
    """The vectors that must not be renamed: those of blocks and masks, and of statements that are not element-wise."""
    found = set[Vec]()
    for s in (*body.begin, *body.statements, *body.end):
        for inside in flat((s,)):
            if isinstance(s, Block) or not isinstance(inside.value, (Gather, Pointwise, Exchange, Product)):
                found |= {*inside.vectors, *inside.elsewhere}
            if inside.mask is not None:
                found |= {inside.mask.vec, *([inside.target] if isinstance(inside.target, Vec) else [])}
    return found


def _missed(body: Body, targets: set[Vec]) -> bool:
    """Whether one of several vectors is read after another of them was written last."""
    last: Vec | None = None
    for s in flat((*body.begin, *body.statements, *body.statements, *body.end)):
        for x in (*s.vectors, *s.elsewhere):
            if x in targets and last not in (x, None):
                return True
        if s.target in targets:
            assert isinstance(s.target, Vec)
            last = s.target
    return False


def renamed(body: Body, names: Mapping[Vec, Vec]) -> Body:
    """Rename vectors of a body, except those of blocks and masks."""
    of = lambda t: names.get(t, t) if isinstance(t, Vec) else t

    def value_of(e: Any) -> Any:
        if isinstance(e, Gather):
            return replace(e, source=of(e.source), index=of(e.index))
        if isinstance(e, Pointwise):
            under = e.under if e.under is None else replace(e.under, vec=of(e.under.vec))
            return replace(e, u=of(e.u), v=of(e.v), under=under)
        if isinstance(e, (Exchange, Product)):
            return replace(e, u=of(e.u))
        return e

    def part(statements: Part) -> Part:
        return tuple(
            s if isinstance(s, Block) else replace(s, target=of(s.target), value=value_of(s.value)) for s in statements
        )

    return replace(body, begin=part(body.begin), statements=part(body.statements), end=part(body.end))
