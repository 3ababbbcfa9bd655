"""A call for each kernel of what ranks exchange inside captured loops, on arrays of one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from call_operands import SIZE, types

import bitblas as gb
from bitblas.device import jit
from bitblas.kernels.variant import Variant


def launched(variant: Variant, *args: Any, grid: int = 2) -> None:
    """A kernel as it is, on arrays of the device."""
    device = gb.device.get(gb.config.device)
    device.load(variant)((grid,), (jit.BLOCK,), args)
    device.synchronize()


def lists_of_ranks(variant: Variant) -> None:
    """Places and values that ranks send each other: those with an entry, those that differ; taken, and put."""
    device = gb.device.get(gb.config.device)
    xp, word = device.xp, np.dtype(types(variant).get("W", "uint32").lower())
    before, room = np.arange(SIZE).astype(word), 40
    mine = before + (np.arange(SIZE) % 7 == 3)
    at = np.flatnonzero(mine != before)
    bits = xp.asarray(np.packbits(np.resize(mine != before, -(-SIZE // 64) * 64), bitorder="little").view(np.uint64))
    places, count, held = xp.zeros(room, np.uint32), xp.zeros(1, np.uint64), xp.zeros(SIZE, word)
    n, most, mine_there, before_there = np.int64(SIZE), np.int64(room), xp.asarray(mine), xp.asarray(before)
    if variant.kernel == "loop/gpu/list":
        launched(variant, n, n, bits, mine_there, before_there, places, most, count)
        found = device.to_host(places)[: min(room, len(at))]
        assert set(found) <= set(at) and len(set(found)) == len(found) and int(count[0]) >= len(found)
        assert (device.to_host(before_there) == (mine if variant.constant("DIFFERS") else before)).all()
        return
    few, count = np.resize(at, room).astype(np.uint32), count + np.uint64(3)
    if variant.constant("TAKES"):
        launched(variant, n, most, count, xp.asarray(few), mine_there, held, bits)
        assert (device.to_host(held)[:3] == mine[few[:3]]).all()
    else:
        launched(variant, n, most, count, xp.asarray(few), mine_there, held, bits)
        assert (device.to_host(held)[few[:3]] == mine[:3]).all()


def chosen(variant: Variant) -> None:
    """Nothing, lists, all: by what ranks have told, and all at first."""
    xp = gb.device.get(gb.config.device).xp
    known, sent, way, own = (xp.zeros(1, np.uint64) for _ in range(4))
    for told, wanted in (([0, 0], 2), ([0, 0], 0), ([7, 3], 1), ([3, 11], 2)):
        args = np.int64(2), xp.asarray(np.array(told, np.uint64)), np.int64(1), own, np.int64(10), known, sent
        launched(variant, *args, np.int64(5), np.int64(100), way, np.uint64(0), np.uint64(0), grid=1)
        assert int(way[0]) == wanted
    assert int(sent[0]) == 205


def listed(variant: Variant) -> None:
    """The entries of a vector, counted and listed: at the end of a round if that ran; of many the count alone."""
    if variant.constant("OPENS"):
        return  # beside a pull, in programs
    xp, per, late = gb.device.get(gb.config.device).xp, variant.constant("PER"), variant.constant("LATE")
    for size, every, most, runs in ((SIZE, 7, 2**64 - 1, 1), (1 << 17, 2, 1000, 1), (SIZE, 7, 2**64 - 1, 0)):
        if not (runs or late):
            continue
        there = np.arange(-(-size // 64) * 64) % every == 0
        there[size:] = False
        at, units, n = np.flatnonzero(there), -(-size // per), np.int64(size)
        bits = xp.asarray(np.packbits(there, bitorder="little").view(np.uint64))
        ptr = xp.asarray(np.arange(units + 1, dtype=np.int32) * 3)
        places, state, segments = xp.zeros(units, np.uint32), xp.zeros(8, np.uint64), xp.zeros(2 * units, np.uint32)
        head = (xp.zeros(1, np.uint64) + np.uint64(runs), xp.asarray(np.array([0, 9, 0])), np.int64(0)) if late else ()
        launched(variant, n, n, np.int64(512), np.uint64(most), bits, ptr, places, state, segments, *head)
        entries, count, _, work, _, remaining, *_ = map(int, state)
        assert entries == remaining == runs * len(at)
        if variant.constant("LISTS") and size == SIZE:
            assert set(places[:count].tolist()) == (set((at // per).tolist()) if runs else set())
        elif variant.constant("LISTS"):
            assert work > most


CALLS: dict[str, Callable[[Variant], None]] = {
    "loop/gpu/activate": listed, "loop/gpu/choose": chosen, "loop/gpu/list": lists_of_ranks,
    "loop/gpu/places": lists_of_ranks,
}  # fmt: skip
