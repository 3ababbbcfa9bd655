"""Vectors as masks, and the part of a vector that a mask allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings.catalog import UNARY
from semirings.dtypes import BOOL

from ..sparse import SparseStore
from ..store import VectorStore, unpack, words, write_bits
from . import local
from .operands import Mask, allowed, dummy, make, stored, word_bounds
from .variants import LEFT
from .vector import pointwise


def mask_of(u: VectorStore, *, structural: bool, complement: bool) -> Mask:
    """Where u has an entry (structural), or a nonzero entry (value); or everywhere else."""
    if type(u) is not SparseStore:
        named = u.present if structural else mask_words(u)
    elif structural or (u.iso and u.listed):
        named = u.with_value(BOOL, BOOL.np_type.type(True))
    else:
        held = local.renumbered(u, u.index)
        keep = unpack(u.device, mask_words(held), u.count or 0)
        named = SparseStore(u.device, u.size, BOOL, u.index[keep], BOOL.np_type.type(True))
    made: Mask = make(Mask, (named, complement))
    return made


def restrict(w: VectorStore, mask: Mask) -> None:
    """w<mask, replace> = w in place."""
    if type(w) is SparseStore:
        z = local.renumbered(w, w.index).copy()
        restrict(z, local.mask_at(mask, w.index, w.device, w.size))
        w.become(local.back(z, w.index, w.size))
        return
    for bits in (w.present,) if w.iso or w.dtype is not BOOL else (w.present, w.values):
        write_bits(w.device, w.size, bits, bits, mask)
    w.count = None


def mask_words(u: VectorStore) -> Any:
    """The bitset of the nonzero entries; it may be an array of u."""
    if u.iso:
        return u.present if u.values else u.device.xp.zeros_like(u.present)
    return u.values if u.dtype is BOOL else truths(u)


def truths(u: VectorStore) -> Any:
    """The bitset of the nonzero entries."""
    kind = u.dtype.name
    kernel = pointwise(u.device, LEFT, UNARY["identity"][BOOL], kind, kind, "x", True, False, True, True).kernel
    bits = u.device.xp.empty(words(u.size), np.uint64)
    zero, none = u.dtype.np_type.type(0), dummy(u.device, "int64")
    values = stored(u.device, u.dtype, u.values)
    kernel(
        words(u.size), u.size, u.present, *values, u.present, *values, zero, zero, none, none,
        *allowed(u.device, None), 0, bits, dummy(u.device, u.dtype.np_type.char), bounds=word_bounds(u),
    )  # fmt: skip
    return bits
