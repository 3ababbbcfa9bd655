"""Components by kernels, of a matrix in host memory: connected ones by union-find, strongly connected ones by one
depth-first search, in time linear in vertices and edges. On a GPU, strongly connected ones by rounds in one launch,
after a contraction if the graph is sparse (kernels/strong.cu).
"""

from __future__ import annotations

import numpy as np

from .. import tuning
from ..device import Device, threads
from ..formats.csr.kernels import column_types
from ..formats.csr.layout import Csr, from_arrays, index_type
from ..kernels.variant import Variant
from ..store import MatrixStore
from ..typing import Array

ROOM = 4  # the edges of all rounds of a contraction that fit, per entry


def connected_components(A: MatrixStore) -> np.ndarray:
    """The smallest vertex number (the user's) in the component of each vertex of a square matrix in host memory, INT64;
    entries join both ways. Raises OutOfMemory."""
    device, rows, n = A.device, A.structure.plain_rows(keep=True), A.nrows
    kind = index_type(n + 1)
    device.foresee(f"components of {n} vertices", (kind.itemsize + 8) * n)
    parent, label = np.arange(n, dtype=kind), np.empty(n, np.int64)
    link, flatten = (device.kernel(Variant(f"kernels/{name}")) for name in ("link_rows", "flatten"))
    # one range at a time, so that an interrupt may end it between them
    in_turn = threads.as_chunks(threads.even_ranges(n, max(1, min(n, device.chunks(rows.nvals)))), threads.InTurn)
    first, largest = 0, -1
    if A.structure.symmetric:  # an entry of a vertex in the largest tree is also one of its other end
        first = tuning.count("components.first_entries")
        link(n, rows.ptr, rows.col, 0, first, largest, parent, bounds=in_turn)
        root = parent[parent[np.linspace(0, n - 1, tuning.count("components.sample"), dtype=np.int64)]]
        largest = int(np.bincount(root).argmax())
    link(n, rows.ptr, rows.col, first, rows.nvals, largest, parent, bounds=in_turn)
    flatten(n, parent, label)
    if A.order is None:
        return label
    label, vertex = label[A.order.inverse], np.empty(n, np.int64)
    vertex[label[::-1]] = np.arange(n - 1, -1, -1)  # the smallest vertex of each label is written last
    return vertex[label]


def strong_components(A: MatrixStore) -> np.ndarray:
    """The smallest vertex number in the strongly connected component of each vertex of a square matrix in host memory,
    INT64. Raises OutOfMemory."""
    if A.structure.symmetric:
        return connected_components(A)
    device, rows, n = A.device, A.structure.plain_rows(keep=True), A.nrows
    kind = index_type(n + 1)
    device.foresee(f"components of {n} vertices", (5 * kind.itemsize + rows.ptr.itemsize) * n)
    label, waiting, state = np.full(n, -1, kind), np.empty(n, kind), np.zeros(4, np.int64)
    entry, order, path = np.empty(n, rows.ptr.dtype), np.empty(n, kind), np.empty(n, kind)
    arrays = entry, order, np.zeros(n, kind), path, waiting, label
    kernel = device.kernel(Variant("kernels/strong_components"))
    while state[0] < n:  # in parts, so that an interrupt may end it between them
        kernel(1, rows.ptr, rows.col, *arrays, state, tuning.count("strong.interrupt"))
    return label.astype(np.int64)


def propagate_priorities(A: MatrixStore, label: Array, left: Array) -> None:
    """Set the label (INT64) of the vertices `left` (their numbers), of which no other vertex is in a component, to the
    smallest vertex of their component. A: square, on a GPU, with fewer than 2^31 vertices. Raises OutOfMemory: it needs
    40 bytes a vertex."""
    _propagate(A.structure.plain_rows(), A.structure.plain_rows(transposed=True), label, left)


def _propagate(rows: Csr, back: Csr, label: Array, left: Array) -> None:
    device, n = rows.device, rows.nrows
    device.foresee(f"strongly connected components of {n} vertices", 40 * n)
    pair = device.full(n, np.uint64(0xFFFFFFFFFFFFFFFF))
    pair[left] = np.uint64(0)
    component, smallest = device.full(n, np.int32(-1)), device.full(n, np.int32(n))
    items = (device.xp.empty(2 * n, np.uint32) for _ in range(3))  # least, now, next
    constants = {"THREADS": tuning.count("strong.block"), "RESIDENT": 1, "COOPERATIVE": 1}
    constants |= {"QUEUE": tuning.count("strong.queue"), "TURNS": tuning.count("strong.turns")}
    kernel = device.kernel(Variant("kernels/strong_rounds", column_types(rows), tuple(constants.items())))
    links = rows.ptr, rows.col, back.ptr, back.col
    kernel(n, n, *links, *items, pair, component, smallest, label, device.xp.zeros(6, np.uint64))


def contract_cycles(A: MatrixStore) -> Array:
    """The smallest vertex number in the strongly connected component of each vertex, INT64. Cycles and vertices that
    are reached from one vertex only are contracted until few edges are left, and priorities spread along these.

    A: square, on a GPU, with fewer than 2^31 vertices. Raises OutOfMemory: it needs 66 bytes a vertex and 64 an
    entry.
    """
    device, xp, rows, n = A.device, A.device.xp, A.structure.plain_rows(), A.nrows
    room = ROOM * rows.nvals
    device.foresee(f"strongly connected components of {n} vertices", 26 * n + 8 * (room + 4 * rows.nvals))
    label, edges = xp.empty(n, np.int64), xp.empty(room, np.uint64)
    kinds = np.uint32, np.int32, np.int32, np.uint32, np.uint8, np.uint8
    cluster = [xp.empty(n, kind) for kind in kinds]
    rounds = tuning.count("strong.contractions")
    state = xp.zeros(rounds + 5, np.uint64)  # barrier, rounds, where the edges of each round begin
    constants = {"THREADS": tuning.count("strong.block"), "RESIDENT": 2, "COOPERATIVE": 1}
    constants |= {"ROUNDS": rounds, "KEPT": tuning.count("strong.kept")}
    names = [f"kernels/strong_{name}" for name in ("contract", "expand")]
    contract, expand = (device.kernel(Variant(name, column_types(rows), tuple(constants.items()))) for name in names)
    contract(n, n, rows.ptr, rows.col, *cluster, edges, room, label, state)
    _, done, *begin = device.to_host(state).tolist()
    if begin[done] < begin[done + 1]:
        left, shift = edges[begin[done] : begin[done + 1]], np.uint64(32)
        _propagate(
            _sorted_rows(device, left, n), _sorted_rows(device, left << shift | left >> shift, n), label, left >> shift
        )
    state[0] = 0
    expand(n, n, *cluster, edges, label, state)
    return label


def _sorted_rows(device: Device, edges: Array, n: int) -> Csr:
    """Rows of edges from << 32 | to; equal edges stay."""
    xp, edges = device.xp, edges.copy()
    edges.sort()
    ptr = xp.searchsorted(edges, xp.arange(n + 1, dtype=np.uint64) << np.uint64(32))
    return from_arrays(device, n, n, ptr, edges & np.uint64(0xFFFFFFFF))
