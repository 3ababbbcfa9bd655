"""Sample the edges around a batch of nodes, hop by hop, as graph neural networks are trained (GraphSAGE).

`sample_neighbors` of the algorithms gives matrices; this gives arrays for PyTorch: the nodes of a batch in the order in
which they are reached, and the edges between them by position. Random numbers are hashes of the seed, the hop and the
node, so a batch is the same on every device.

Hamilton, Ying, Leskovec: Inductive representation learning on large graphs. NIPS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from semirings.dtypes import lookup_dtype

from .. import tuning
from ..device import Device, dummy
from ..exceptions import OutOfMemory
from ..kernels.variant import Variant
from ..typing import Array

SLOTS = 2  # slots of a hash table per key


@dataclass(frozen=True, eq=False)
class EdgesByTarget:
    """The edges of each node, ascending by time if they have one: where they begin (INT64), the other ends, their
    numbers in the user's order, and their times."""

    device: Device
    ptr: Array
    col: Array
    number: Array
    time: Array | None = None

    @property
    def nodes(self) -> int:
        return len(self.ptr) - 1


def by_target(device: Device, sources: Array, targets: Array, nodes: int, time: Array | None) -> EdgesByTarget:
    """Sort edges by target, then time; edges of one time stay in their order."""
    xp = device.xp
    order = xp.argsort(targets, kind="stable") if time is None else xp.lexsort(xp.stack((time, targets)))
    ptr = xp.zeros(nodes + 1, np.int64)
    xp.cumsum(xp.bincount(targets, minlength=nodes), out=ptr[1:])
    narrow = np.int32 if nodes < 1 << 31 else np.int64
    sorted_time = None if time is None else time[order]
    return EdgesByTarget(device, ptr, sources[order].astype(narrow), order.astype(np.int64), sorted_time)


class Batch(NamedTuple):
    """nodes: by number, seeds first. owners: the seed that a node belongs to, if each seed has nodes of its own.
    sources, targets: the edges, as positions in `nodes`. edges: their numbers in the user's order."""

    nodes: Array
    owners: Array | None
    sources: Array
    targets: Array
    edges: Array


class Request(NamedTuple):
    """fanouts: edges per node in each hop, -1: all. until: the time of each seed, which makes the seeds disjoint.
    keys: a random number for each hop."""

    fanouts: tuple[int, ...]
    replace: bool
    keys: tuple[int, ...]
    until: Array | None = None


def sample(edges: EdgesByTarget, seeds: Array, request: Request) -> Batch:
    """The edges around the seeds (INT64, different unless they are disjoint)."""
    device, xp, nodes = edges.device, edges.device.xp, edges.nodes
    disjoint = request.until is not None
    numbering = Numbering(device)
    first = xp.arange(len(seeds), dtype=np.int64) * nodes + seeds if disjoint else seeds
    numbering.add(first)
    frontier, begin = first, 0
    parts: list[tuple[Array, Array, Array]] = []
    for fanout, key in zip(request.fanouts, request.keys, strict=True):
        if not len(frontier):
            break
        vertex = frontier % nodes if disjoint else frontier
        if request.until is None or edges.time is None:
            stop = edges.ptr[vertex + 1]
        else:
            stop = xp.empty(len(frontier), np.int64)
            variant = Variant("kernels/edges_before", (("TIME", lookup_dtype(edges.time.dtype)),), (("LANES", 1),))
            time = edges.time if len(edges.time) else dummy(device, edges.time.dtype.char)
            device.kernel(variant)(len(frontier), frontier, edges.ptr, time, request.until, nodes, stop)
        degree = stop - edges.ptr[vertex]
        count = (
            degree if fanout < 0 else xp.where(degree > 0, fanout, 0) if request.replace else xp.minimum(degree, fanout)
        )
        offset = xp.zeros(len(frontier) + 1, np.int64)
        xp.cumsum(count, out=offset[1:])
        total = int(offset[-1])
        entry, keys, center = (xp.empty(max(1, total), np.int64) for _ in range(3))
        flags = (("LANES", 1), ("REPLACE", int(request.replace and fanout >= 0)), ("DISJOINT", int(disjoint)))
        variant = Variant("kernels/sample_edges", (("COL", lookup_dtype(edges.col.dtype)),), flags)
        col = edges.col if len(edges.col) else dummy(device, edges.col.dtype.char)
        args = frontier, stop, edges.ptr, col, offset, nodes, begin, np.uint64(key), entry, keys, center
        least = tuning.count("sampling.nodes")
        device.kernel(variant)(len(frontier), *args, bounds=device.ranges(len(frontier), least))
        local, fresh = numbering.add(keys[:total])
        parts.append((local, center[:total], entry[:total]))
        begin, frontier = numbering.count - len(fresh), fresh
    reached = numbering.keys()
    empty = xp.zeros(0, np.int64)
    joined = [xp.concatenate(part) if part else empty for part in (tuple(zip(*parts)) or ((), (), ()))]
    return Batch(
        reached % nodes if disjoint else reached,
        reached // nodes if disjoint else None,
        joined[0], joined[1], edges.number[joined[2]],
    )  # fmt: skip


class Numbering:
    """Numbers of keys (INT64) in the order of their first appearance."""

    def __init__(self, device: Device) -> None:
        self.device, self.count = device, 0
        self._known = device.xp.empty(0, np.int64)  # the key of each number, then room
        self._slots = np.zeros(0, np.int32)

    def keys(self) -> Array:
        """All keys, by number."""
        found: Array = self._known[: self.count]
        return found

    def add(self, keys: Array) -> tuple[Array, Array]:
        """The number of each key, and the keys that are new."""
        before = self.count
        local = (self._hashed if self.device.host_memory else self._sorted)(keys)
        return local, self._known[before : self.count]

    def _hashed(self, keys: np.ndarray) -> np.ndarray:
        most = self.count + len(keys)
        if most > 1 << 31:
            raise OutOfMemory(f"a batch of up to {most} nodes: expected fewer than 2^31")
        known, self._known = self.keys(), np.empty(max(1, most), np.int64)
        if len(self._slots) < SLOTS * most or not len(self._slots):
            self._slots, self.count = np.full(1 << max(6, (SLOTS * most - 1).bit_length()), -1, np.int32), 0
            self._insert(known)
        else:
            self._known[: self.count] = known
        return self._insert(keys)

    def _insert(self, keys: np.ndarray) -> np.ndarray:
        local, count = np.empty(max(1, len(keys)), np.int64), np.array([self.count], np.int64)
        given = np.ascontiguousarray(keys) if len(keys) else dummy(self.device, "int64")
        kernel = self.device.kernel(Variant("kernels/number_nodes"))
        kernel(1, given, len(keys), len(self._slots) - 1, self._slots, count, self._known, local)
        self.count = int(count[0])
        return local[: len(keys)]

    def _sorted(self, keys: Array) -> Array:
        """The same by sorting, for devices that sort in parallel."""
        xp, known = self.device.xp, self.keys()
        every = xp.concatenate([known, keys])
        different, first, back = xp.unique(every, return_index=True, return_inverse=True)
        order = xp.argsort(first)
        number = xp.empty(len(different), np.int64)
        number[order] = xp.arange(len(different))
        self._known, self.count = different[order], len(different)
        local: Array = number[back.reshape(-1)[len(known) :]]
        return local
