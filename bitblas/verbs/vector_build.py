"""Vectors from lists of indices and values: GraphBLAS C API 2.1, section 4.2.4.7."""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import Monoid, Typed
from semirings.catalog import MONOIDS
from semirings.dtypes import DataType

from ..device import Device
from ..store import VectorStore, pack
from . import arrays, product
from .vector import cast, entries, scattered


def build(
    device: Device, size: int, dtype: DataType, indices: Any, values: Any, dup: Typed | None = None
) -> VectorStore:
    """Entries in any order; equal indices are combined from left to right by `dup` (ValueError without one)."""
    xp, iso = device.xp, isinstance(values, np.generic)
    ascending = len(indices) < 2 or bool((indices[1:] > indices[:-1]).all())
    if not ascending and dup is not None and not iso and (monoid := _unordered(dup)) is not None:
        return cast(product.scatter(device, size, indices, values, monoid), dtype)
    if not ascending:
        order = xp.argsort(indices, kind="stable")
        indices, values = indices[order], values if iso else values[order]
        fresh = xp.ones(len(indices), bool)
        fresh[1:] = indices[1:] != indices[:-1]
        starts = xp.flatnonzero(fresh)
        if len(starts) < len(indices) and not iso:
            if dup is None:
                raise ValueError("Duplicate indices found, must provide `dup_op` BinaryOp")
            values = arrays.fold_segments(device, dup, values, dtype, xp.append(starts, len(indices)))
        elif not iso:
            values = values[starts]
        indices = indices[starts]
    flags = xp.zeros(size, bool)
    flags[indices] = True
    t = VectorStore(device, size, dtype, pack(device, flags), values if iso else None, len(indices))
    if not iso:
        t.values = scattered(device, size, dtype, indices, values)
    return t


def _unordered(op: Typed) -> Typed[Monoid] | None:
    """The monoid of a binary operator, if the order of what it sums does not matter."""
    monoid: Any = op.op if isinstance(op.op, Monoid) else MONOIDS.get(op.op.name)
    if monoid is None or monoid.name == "any" or op.dtype not in monoid.types:
        return None
    exact = op.return_type.kind != "f" or monoid.is_exact_in_any_order
    return monoid[op.dtype] if exact and op.return_type is op.dtype else None


def place(u: VectorStore, offset: int, size: int) -> VectorStore:
    """A vector of `size` with entry i of u at i + offset; what falls outside is dropped."""
    indices, values = entries(u)
    moved = indices + offset
    inside = (moved >= 0) & (moved < size)
    return build(u.device, size, u.dtype, moved[inside], u.values if u.iso else values[inside])
