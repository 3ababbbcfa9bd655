"""Build the graph with virtual nodes from rows, and expand it back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...device import Device
from ...kernels.prologue import Variant
from ..csr.format import PARALLEL_ENTRIES, Csr, from_arrays, index_type, numbers_of, pointers_of
from .mining import Mined
from .places import Places

UNFOLD = Variant("formats/virtual/unfold", (), (("MOST", 64),))  # lists per row that are merged one by one


def ordered_variant(sort: int) -> Variant:
    return Variant("formats/virtual/ordered", (), (("SORT", sort),))


class Graph(NamedTuple):
    """Rows with nodes among the rows and columns, and the positions of nodes there, on the host."""

    rows: Csr
    row_nodes: np.ndarray
    col_nodes: np.ndarray


def merged(found: Mined, of: Csr) -> Graph:
    """The graph of mined rows. A node is placed before the row in the middle of its users, and before that column, so
    most gaps stay as short as they were."""
    nrows, ncols, many = of.nrows, of.ncols, np.arange(found.nodes)
    before = found.middle, np.minimum(found.middle, ncols)
    row_nodes, col_nodes = (middle + many for middle in before)
    rows, cols = (
        np.arange(size) + np.searchsorted(middle, np.arange(size), side="right")
        for size, middle in zip((nrows, ncols), before)
    )
    left = np.repeat(np.arange(nrows), np.diff(found.ptr))
    row = np.concatenate([rows[left], rows[found.user], row_nodes[found.node_at]])
    col = np.concatenate([cols[found.col], col_nodes[found.node], cols[found.member]])
    device = of.device
    ptr, col = (device.asarray(x) for x in rows_in_order(nrows + found.nodes, ncols + found.nodes, row, col))
    return Graph(from_arrays(device, nrows + found.nodes, ncols + found.nodes, ptr, col), row_nodes, col_nodes)


def rows_in_order(nrows: int, ncols: int, row: np.ndarray, col: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pointers and columns of distinct entries in any order, on the host."""
    host = devices.get("cpu")
    ptr = np.append(0, np.cumsum(np.bincount(row, minlength=nrows)))
    found = np.empty(len(row), index_type(ncols))
    for sort, units in enumerate((len(row), nrows)):
        bounds = host.ranges(nrows, PARALLEL_ENTRIES, work=len(row)) if sort else None
        host.kernel(ordered_variant(sort))(units, row, col, ptr[:-1].copy(), ptr, found, bounds=bounds)
    return ptr, found


def keys_of(inner: Csr, rows: Places, cols: Places, nvals: int) -> Any:
    """The matrix entries that the graph represents, as ascending row * ncols + column: those between rows and columns,
    and for each use of a node the node's columns. ValueError unless there are `nvals`."""
    xp, device = inner.device.xp, inner.device
    row = numbers_of(inner.ptr, inner.nvals, device)
    col = inner.columns().astype(np.int64)
    (of_node, row_number), (to_node, col_number) = rows.numbers(), cols.numbers()
    is_use, is_member = to_node[col], of_node[row]
    if bool((is_use & is_member).any()):
        raise ValueError("nodes: expected no node that uses another")
    left = ~(is_use | is_member)
    user, node = row_number[row[is_use]], col_number[col[is_use]]
    member = col_number[col[is_member]]
    first = pointers_of(row_number[row[is_member]], rows.nodes, device)
    many = first[1:] - first[:-1]
    if bool((many == 0).any()) or not bool(_used(xp, node, rows.nodes).all()):
        raise ValueError("nodes: expected each node to have columns and a use")
    length = many[node]
    ptr = xp.zeros(len(node) + 1, np.int64)
    xp.cumsum(length, out=ptr[1:])
    rest, total = col_number[col[left]], int(ptr[-1])
    if len(rest) + total != nvals:
        raise ValueError(f"nodes: expected {nvals} entries, got {len(rest) + total}")
    use = numbers_of(ptr, total, device)
    among = first[node][use] + xp.arange(total) - ptr[use]
    keys = xp.concatenate([row_number[row[left]] * cols.others + rest, user[use] * cols.others + member[among]])
    keys.sort()
    return keys


def unfolded(inner: Csr, rows: Places, cols: Places, nrows: int, ncols: int, nvals: int) -> Csr:
    """The rows that the graph represents, from the entries of `keys_of`; on the CPU row by row."""
    device, xp = inner.device, inner.device.xp
    if not device.host_memory:
        return rows_of(device, keys_of(inner, rows, cols, nvals), nrows, ncols)
    (of_node, _), (to_node, number) = rows.numbers(), cols.numbers()
    node_rows, length = np.flatnonzero(of_node), np.diff(inner.ptr)
    many = np.append(0, np.cumsum(np.where(to_node, 0, 1)[inner.columns()], dtype=np.int64))  # columns before an entry
    named = np.flatnonzero(to_node[inner.columns()])
    sizes = many[inner.ptr[1:]] - many[inner.ptr[:-1]]
    if bool((sizes[node_rows] < length[node_rows]).any()):
        raise ValueError("nodes: expected no node that uses another")
    user = np.searchsorted(inner.ptr, named, side="right") - 1
    sizes += np.bincount(user, length[node_rows[number[inner.columns()[named]]]], len(sizes)).astype(np.int64)
    ptr = np.append(0, np.cumsum(sizes[~of_node]))
    if int(ptr[-1]) != nvals:
        raise ValueError(f"nodes: expected {nvals} entries, got {int(ptr[-1])}")
    col, unsorted = xp.empty(nvals, index_type(ncols)), xp.empty(nrows, bool)
    device.kernel(UNFOLD)(
        nrows, np.flatnonzero(~of_node), inner.ptr, inner.col, np.where(to_node, ~number, number), node_rows, ptr, col,
        unsorted, bounds=device.ranges(nrows, PARALLEL_ENTRIES, work=nvals),
    )  # fmt: skip
    for row in np.flatnonzero(unsorted):
        col[ptr[row] : ptr[row + 1]].sort()
    return from_arrays(device, nrows, ncols, ptr, col)


def _used(xp: Any, node: Any, nodes: int) -> Any:
    """Which nodes are used."""
    found = xp.zeros(nodes, bool)
    found[node] = True
    return found


def rows_of(device: Device, keys: Any, nrows: int, ncols: int) -> Csr:
    """Rows from ascending keys."""
    row = keys // max(1, ncols)
    ptr = pointers_of(row, nrows, device)
    col = (keys - row * ncols).astype(index_type(ncols))
    return from_arrays(device, nrows, ncols, ptr, col)
