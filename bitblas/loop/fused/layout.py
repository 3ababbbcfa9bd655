"""How the vectors and products of a body are kept and made: pure functions of statements and of what vectors hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semirings.dtypes import DataType, cast_scalar

from ...plan.product import WORDS, any_order, kind_of
from ...store import VectorStore
from ...verbs.variants import BOTH, CELLS, LEFT
from ...verbs.vector import same_value
from ..recorded.ir import (
    Block,
    Body,
    Const,
    Gather,
    LineProduct,
    Part,
    Pointwise,
    Product,
    Ready,
    Scatter,
    Statement,
    Vec,
)
from .fuse import Pass, Pull, Round, Step


def iso_values(body: Body, held: Mapping[int, VectorStore]) -> dict[int, Any]:
    """The vectors whose entries all have one value whatever the loop does, and that value, by number.

    Begins with what the first statement or the object says, and drops a vector once anything else is written to it.
    """
    iso: dict[int, Any] = {}
    for x in body.vectors:
        store = held.get(x.id)
        if store is not None and store.count != 0:
            if store.iso:
                iso[x.id] = store.values
            continue
        first = next((s for s in body.all if s.target == x), None)
        if first is not None and (value := _constant(first, x.dtype, iso)) is not None:
            iso[x.id] = value
    dense = {x.id for x in body.vectors} - set(iso)
    while True:
        spoiled = {
            s.target.id for s in body.all
            if isinstance(s.target, Vec) and s.target.id in iso and not _keeps(s, iso)
        }  # fmt: skip
        if not spoiled:
            return iso
        for number in spoiled:
            del iso[number]
        dense |= spoiled


def full_vectors(body: Body, held: Mapping[int, VectorStore]) -> frozenset[Vec]:
    """The vectors that have an entry at every position whenever a statement reads them: they begin so, or are written
    so, and no statement takes an entry away."""
    full = {x for x in body.vectors if x.id not in held or held[x.id].nvals == x.size}
    full &= {s.target for s in body.all} | {x for x in full if x.id in held}
    while True:
        spoiled = {s.target for s in body.all if s.target in full and not _fills(s, full)}
        if not spoiled:
            return frozenset(full)
        full -= spoiled


def _fills(s: Statement, full: set[Vec]) -> bool:
    """Whether the target of a statement is full after it, where those of `full` are before."""
    if isinstance(s.value, (Scatter, Ready)):
        return True
    if s.mask is not None and s.replace:
        return False
    if s.accum is not None:
        return True
    if s.mask is not None and s.mask.structure and not s.mask.complement:
        full = full | {s.mask.vec}  # it has one wherever it is looked at
    return _is_everywhere(s.value, full)


def _is_everywhere(e: Any, full: set[Vec]) -> bool:
    if isinstance(e, Gather):
        return e.source in full and e.index in full
    if not isinstance(e, Pointwise) or e.keep or e.under is not None:
        return False
    there = [
        t in full if isinstance(t, Vec) else t.value is not None if isinstance(t, Const) else t.id < 0 for t in e.terms
    ]
    return there[0] if e.mode == LEFT else all(there) if e.mode == BOTH else any(there)


def prepared(body: Body, full: frozenset[Vec]) -> Body:
    """The body without what makes vectors ready that are full."""

    def part(statements: Part) -> Part:
        return tuple(
            replace(s, statements=part(s.statements)) if isinstance(s, Block) else s
            for s in statements if isinstance(s, Block) or not (isinstance(s.value, Ready) and s.target in full)
        )  # fmt: skip

    return replace(body, statements=part(body.statements), begin=part(body.begin), end=part(body.end))


def _keeps(s: Statement, iso: Mapping[int, Any]) -> bool:
    value = _constant(s, s.target.dtype, iso)
    return s.accum is None and value is not None and same_value(value, iso[s.target.id])


def _constant(s: Statement, dtype: DataType, iso: Mapping[int, Any]) -> Any:
    """The one value that a statement writes, None if it may write several."""
    e = s.value
    if isinstance(e, Product):
        kind, value = kind_of(e.semiring, e.matrix.raw, operand(e, iso), flip=e.flip)
        return cast_scalar(value, dtype) if kind == WORDS else None
    if not isinstance(e, Pointwise) or not (e.op is None or e.keep):
        return None
    if isinstance(e.u, Const):
        return None if e.u.value is None else cast_scalar(e.u.value, dtype)
    return cast_scalar(iso[e.u.id], dtype) if isinstance(e.u, Vec) and e.u.id in iso else None


def operand(product: Product, iso: Mapping[int, Any]) -> Any:
    """The values of the product's vector as plans look at them: one scalar where it is iso, else an array."""
    u = product.u
    return iso[u.id] if u.id in iso else np.empty(0, u.dtype.np_type)


def kind(product: Product, iso: Mapping[int, Any]) -> tuple[int, Any]:
    """WORDS, COUNT or VALUES, and the value of all products where they are equal."""
    return kind_of(product.semiring, product.matrix.raw, operand(product, iso), flip=product.flip)


def is_step(s: Statement, iso: Mapping[int, Any]) -> bool:
    """Whether the product of a statement can be made along its frontier: sums in any order, cells that atomics can
    swap, a square matrix, so that the result can be the next frontier."""
    product = s.value
    assert isinstance(product, Product)
    if isinstance(product, LineProduct):
        return False  # by rows, or along lines: what Pull is
    found, _ = kind(product, iso)
    square = product.matrix.nrows == product.matrix.ncols
    swapped = found == WORDS or product.semiring.return_type in CELLS
    return square and any_order(product.semiring, found) and swapped


def is_direct(s: Statement, iso: Mapping[int, Any]) -> bool:
    """Whether the step of a statement may write the target itself."""
    assert isinstance(s.value, Product) and isinstance(s.target, Vec)
    if not s.overwrites:
        return False
    if kind(s.value, iso)[0] == WORDS:
        return s.target.id in iso
    return s.target.id not in iso and s.target.dtype is s.value.semiring.return_type


def iso_of_added(round_: Round, body: Body, iso: dict[int, Any]) -> dict[int, Any]:
    """The iso values of vectors that fusing added."""
    added = {}
    for item in round_.all:
        if isinstance(item, (Step, Pull)) and item.target not in body.vectors:
            how, value = kind(item.product, iso)
            if how == WORDS:
                added[item.target.id] = item.target.dtype.np_type.type(value)
        elif isinstance(item, Pass):
            for s in item.statements:
                e = s.value
                masks = isinstance(e, Pointwise) and isinstance(e.u, Const)
                if masks and s.target not in body.vectors and isinstance(s.target, Vec):
                    added[s.target.id] = np.bool_(True)
    return added
