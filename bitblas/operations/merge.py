"""Merge of a computed vector into the output, in place: w<mask, accum, replace> = t."""

from __future__ import annotations

import functools

import numpy as np

from semirings import Typed
from semirings.dtypes import BOOL, cast_scalar, lookup_dtype

from .. import tuning
from ..device import Device, Kernel
from ..formats.hyper.layout import merge_lists
from ..plan.epilogue import plan_epilogue
from ..store import SparseStore, VectorStore, dense_values
from ..typing import Array
from . import compressed
from .operands import ZERO, Mask, allowed, nothing, stored, word_bounds
from .variants import merge_variant


@functools.lru_cache(1 << 12)
def _merge(
    device: Device, t_name: str, t_value: bytes | None, w_name: str, w_value: bytes | None, accum: Typed | None
) -> tuple[Kernel, bool, tuple[Array, np.generic], tuple[Array, np.generic]]:
    """The kernel, whether w gets an array of values, and the kernel arguments for the values of w and of t if iso, or
    if they are an array. Types by name, as in `pointwise`; values: the bytes of the one value of all entries."""
    t, w = lookup_dtype(t_name), lookup_dtype(w_name)
    one = None if t_value is None else np.frombuffer(t_value, t.np_type)[0]
    value = None if w_value is None else np.frombuffer(w_value, w.np_type)[0]
    end = plan_epilogue(t, one, w, value, accum)
    of_w, of_t = (nothing(device, w), ZERO[w_name]), (nothing(device, t), ZERO[t_name])
    return device.kernel(merge_variant(t, end)), end.store, of_w, of_t


def merge(w: VectorStore, t: VectorStore, mask: Mask | None, accum: Typed | None, replace: bool) -> None:
    """w<mask, accum, replace> = t in place; w keeps its type. GraphBLAS C API 2.1, section 2.3.4."""
    device = w.device
    if type(t) is SparseStore and type(w) is SparseStore:
        at = merge_lists(device.xp, w.index, t.index)
        z, m = compressed.compress(w, at).copy(), None if mask is None else compressed.mask_at(mask, at, device, w.size)
        merge(z, compressed.compress(t, at), m, accum, replace)
        w.become(compressed.expand(z, at, w.size))
        return
    touched = compressed.touched(w, t, mask, accum, replace)
    if touched is not None:
        at = touched
        z, m = compressed.extract(w, at), None if mask is None else compressed.mask_at(mask, at, device, w.size)
        merge(z, compressed.extract(t, at), m, accum, False)
        compressed.put_back(w, at, z)
        w.changed(grown=accum is not None)
        return
    if type(w) is SparseStore:
        _ = w.present  # converts w to bits
    size, x, y = w.size, w.values, t.values
    n = (size + 63) >> 6 or 1  # words
    one_w, one_t = isinstance(x, np.generic), isinstance(y, np.generic)
    if one_w and one_t and (w.nvals if device.host_memory else w.count) == 0:  # no entry has the value yet
        w.values = x = cast_scalar(y, w.dtype)
    t_key, w_key = (t.dtype.name, y.tobytes() if one_t else None), (w.dtype.name, x.tobytes() if one_w else None)
    kernel, store, (none_w, zero_w), (none_t, zero_t) = _merge(device, *t_key, *w_key, accum)
    if store:
        old, new = (none_w, x, 0) if one_w else (x, zero_w, 1), x
        operand = (none_t, y, 0) if one_t else (y, zero_t, 1)
        if one_w:
            new = device.xp.empty(n, np.uint64) if w.dtype is BOOL else dense_values(device, size, w.dtype)
    else:
        old = operand = stored(device, BOOL, np.True_)
        new = old[0]
    bounds = None if n < tuning.count("parallel.words") else word_bounds(t)
    kernel(n, size, w.present, *old, t.present, *operand, *allowed(device, mask), int(replace), new, bounds=bounds)
    if store:
        w.values = new
    w.changed(grown=accum is not None and not replace)
