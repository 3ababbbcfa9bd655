"""From rows to the graph with virtual nodes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import device as devices
from ...device import Device
from ..csr.format import Csr, from_arrays, index_type, numbers_of, pointers_of
from .mining import Mined
from .places import Places


def merged(found: Mined, nrows: int, ncols: int) -> tuple[Csr, np.ndarray, np.ndarray]:
    """Rows, on the host, in which nodes stand among the rows and among the columns; and their places there. A node
    stands before the row in the middle of its users, and before that column: so most gaps stay as short as they
    were."""
    many = np.arange(found.nodes)
    before = found.middle, np.minimum(found.middle, ncols)
    nodes = tuple(middle + many for middle in before)
    rows, cols = (
        np.arange(size) + np.searchsorted(middle, np.arange(size), side="right")
        for size, middle in zip((nrows, ncols), before)
    )
    left = np.repeat(np.arange(nrows), np.diff(found.ptr))
    row = np.concatenate([rows[left], rows[found.user], nodes[0][found.node_at]])
    col = np.concatenate([cols[found.col], nodes[1][found.node], cols[found.member]])
    key = row * (ncols + found.nodes) + col
    key.sort()
    row, col = np.divmod(key, max(1, ncols + found.nodes))
    ptr = np.append(0, np.cumsum(np.bincount(row, minlength=nrows + found.nodes)))
    host = devices.get("cpu")
    return from_arrays(host, nrows + found.nodes, ncols + found.nodes, ptr, col), *nodes


def on_device(device: Device, rows: Csr) -> Csr:
    """The same rows there."""
    return Csr(device, rows.nrows, rows.ncols, *map(device.asarray, (rows.ptr, rows.col)), rows.nvals)


def keys_of(inner: Csr, rows: Places, cols: Places, nvals: int) -> Any:
    """The entries that the graph stands for, as ascending row * ncols + column: those between rows and columns, and
    for each use of a node its columns. ValueError unless they are `nvals`."""
    xp, device = inner.device.xp, inner.device
    row = numbers_of(inner.ptr, inner.nvals, device)
    col = inner.columns().astype(np.int64)
    (of_node, row_number), (to_node, col_number) = rows.numbers(), cols.numbers()
    is_use, is_member = to_node[col], of_node[row]
    if bool((is_use & is_member).any()):
        raise ValueError("nodes: expected none that uses another")
    left = ~(is_use | is_member)
    user, node = row_number[row[is_use]], col_number[col[is_use]]
    member = col_number[col[is_member]]
    first = pointers_of(row_number[row[is_member]], rows.nodes, device)
    many = first[1:] - first[:-1]
    if bool((many == 0).any()) or not bool(_used(xp, node, rows.nodes).all()):
        raise ValueError("nodes: expected columns and a use of each")
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


def _used(xp: Any, node: Any, nodes: int) -> Any:
    """Which nodes are named."""
    found = xp.zeros(nodes, bool)
    found[node] = True
    return found


def rows_of(device: Device, keys: Any, nrows: int, ncols: int) -> Csr:
    """Rows of ascending keys."""
    row = keys // max(1, ncols)
    ptr = pointers_of(row, nrows, device)
    col = (keys - row * ncols).astype(index_type(ncols))
    return from_arrays(device, nrows, ncols, ptr, col)
