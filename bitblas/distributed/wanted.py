"""Remote gather: copy a whole distributed vector to every rank, updating an earlier copy; or fetch selected indices."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from semirings.dtypes import BOOL

from ..core import Vector
from ..store import VectorStore, full_bits
from . import exchange, lists
from .group import Group
from .lists import cut, narrow, shorter
from .start import current

KEPT = 4  # vectors whose gathered copies are kept and updated


def gathered(x: Any, values: bool = True) -> Vector:
    """A whole distributed Vector on every rank, read-only; x keeps it for the next time. values: whether they are read;
    otherwise all are set to one."""
    group, told = current(), x._told()
    if not (group.lists and group.size > 1):
        return exchange.gathered(x._part, x.shares, told, values=values)
    if x._sent is not None and x._sent[0] is told:
        kept: Vector = x._sent[1]
        return kept
    if not values:
        return exchange.gathered(x._part, x.shares, told, values=False)
    before = None if x._sent is None else x._sent[1]._stored.values
    x._sent = None  # until the whole vector has arrived
    found = exchange.gathered(x._part, x.shares, told, before=before)
    if found._stored.values.nbytes >= lists.LEAST:
        _keep(group, x, (told, found))
    return found


def _keep(group: Group, x: Any, sent: Any) -> None:
    """Keep the same few recent vectors on every rank, so that no rank needs to check whether another has a copy."""
    others = [ref for ref in group.kept if ref() is not x]
    for ref in others[: 1 - KEPT]:
        if (other := ref()) is not None:
            other._sent = None
    group.kept = [*others[1 - KEPT :], weakref.ref(x)]
    x._sent = sent


def picked(x: Any, at: Any) -> Vector:
    """x[at] of a distributed Vector. at: an array of positions, different on each rank. Values of other ranks are
    requested, unless sending the whole vector is as short."""
    group, s, told = current(), x.shares, x._told()
    dtype = x.dtype.np_type
    xp, nbytes, fresh = group.device.xp, dtype.itemsize, x._sent is not None and x._sent[0] is told
    usual = told.entries == s.size and told.one is None and x.dtype is not BOOL and at.dtype.kind in "iu"
    if not (group.lists and group.size > 1 and usual) or fresh or s.size * nbytes < lists.LEAST:
        return gathered(x)[at].new()
    wanted = xp.zeros(s.size, bool)
    wanted[at[(at >= 0) & (at < s.size)]] = True
    wanted[s.low : s.high] = False
    asked = xp.flatnonzero(wanted)
    sent = cut(group, asked, s)
    table = group.told(np.array(sent, np.int64))
    if not shorter(group, s, int(table.sum()), nbytes, (group.size - 1) * s.size * nbytes):
        return gathered(x)[at].new()
    received = table[:, group.rank].tolist()
    begins = xp.repeat(xp.asarray(s.bounds[:-1], np.int64), sent)
    questions = group.alltoall((asked - begins).astype(np.uint32), sent, received)
    own = exchange.slots(x._part._stored)[: s.mine]
    values = xp.empty(s.size, dtype)  # positions that are not requested are not read
    values[s.low : s.high] = own
    values[asked] = narrow(group, own[questions], lambda raw: group.alltoall(raw, received, sent))
    store = VectorStore(x.device, s.size, x.dtype, full_bits(x.device, s.size), values, s.size)
    return Vector._from_store(store)[at].new()
