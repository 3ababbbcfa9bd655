"""Mine virtual nodes: factor A = R or L V, where rows that share columns reference a node instead.

A node has the shared columns (a row of V), the rows have the node (entries of L), and R has what is left. Each entry of
A is in R or belongs to exactly one pair of L and V, so sums over R and over L V are those over A. Similar rows are
found by min-hashes: rows are sorted by signature, and those with equal prefixes form a cluster, whose bicliques
mining.cpu.py extracts. Runs on the host.

Buehrer, Chellapilla: A scalable pattern mining approach to web graph compression with communities. WSDM 2008.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ... import tuning
from ...kernels.variant import Variant
from ..csr.layout import Csr

MOST = 64  # rows per cluster: the bits of a word
BICLIQUES = Variant("formats/virtual/bicliques")


@dataclass(frozen=True, eq=False)
class Mined:
    """Result of mining: the remaining entries of the rows, as pointers and unsorted columns; and the nodes, numbered by
    the ascending middle row of their users. All INT64, on the host."""

    ptr: np.ndarray
    col: np.ndarray
    middle: np.ndarray  # per node: the row in the middle of its users
    node: np.ndarray  # uses: node[k] is used by row user[k]
    user: np.ndarray
    node_at: np.ndarray  # columns of nodes: node node_at[k] has the column member[k]
    member: np.ndarray

    @property
    def nodes(self) -> int:
        return len(self.middle)

    @property
    def entries(self) -> tuple[int, int, int]:
        """Number of entries of R, L and V."""
        return len(self.col), len(self.user), len(self.member)

    def worth(self, least: float) -> Mined:
        """Keep only nodes that save more than `least` entries; users of the others get the columns back."""
        users, columns = (np.bincount(x, minlength=self.nodes) for x in (self.node, self.node_at))
        kept = (users - 1) * (columns - 1) - 1 > least
        if kept.all():
            return self
        uses, has = kept[self.node], kept[self.node_at]
        order = np.argsort(self.node_at, kind="stable")
        first = np.cumsum(columns) - columns
        node = self.node[~uses]
        length = columns[node]
        use = np.repeat(np.arange(len(node)), length)
        at = first[node][use] + np.arange(len(use)) - (np.cumsum(length) - length)[use]
        nrows = len(self.ptr) - 1
        row = np.append(np.repeat(np.arange(nrows), np.diff(self.ptr)), self.user[~uses][use])
        ptr = np.append(0, np.cumsum(np.bincount(row, minlength=nrows)))
        col = np.append(self.col, self.member[order][at])[np.argsort(row, kind="stable")]
        number = np.cumsum(kept) - 1
        nodes = number[self.node[uses]], self.user[uses], number[self.node_at[has]], self.member[has]
        return Mined(ptr, col, self.middle[kept], *nodes)


def foresee(nrows: int, ncols: int, nvals: int) -> None:
    """OutOfMemory if the host has too little memory to mine such a matrix."""
    devices.get("cpu").foresee("virtual nodes", 90 * nvals + 30 * (nrows + ncols))


def mined(rows: Csr) -> Mined:
    """Mine virtual nodes of rows on any device. Peak memory on the host: 90 bytes per entry, 30 per row and column;
    OutOfMemory if there is less."""
    foresee(rows.nrows, rows.ncols, rows.nvals)
    ptr, col = (rows.device.to_host(part) for part in (rows.ptr, rows.col[: rows.nvals]))
    found, total = [], 0
    for seed in range(tuning.count("virtual.passes")):
        before = len(col)
        ptr, col, total, part = one_pass(ptr, col, seed, total)
        found.append(part)
        if (before - len(col)) * tuning.value("virtual.gain") < before or not before:
            break
    node, user, node_at, member = (np.concatenate(parts) for parts in zip(*found))
    number, middle = numbers_of(total, node, user)
    return Mined(ptr.astype(np.int64), col.astype(np.int64), middle, number[node], user, number[node_at], member)


def one_pass(
    ptr: np.ndarray, col: np.ndarray, seed: int, total: int
) -> tuple[np.ndarray, np.ndarray, int, tuple[np.ndarray, ...]]:
    """One pass of mining: the remaining pointers and columns; the total number of nodes; and for the new nodes the
    pairs (node, user) and (node, column)."""
    host, n, size = devices.get("cpu"), len(ptr) - 1, len(col)
    bounds, hashes = host.ranges(n, tuning.count("virtual.parallel_rows")), tuning.count("virtual.hashes")
    signature = np.empty(n * hashes, np.uint32)
    host.kernel(Variant("formats/virtual/minhash", (), (("HASHES", hashes),)))(
        n, ptr, col, seed, signature, bounds=bounds
    )
    degree = np.diff(ptr)
    some = np.flatnonzero(degree > 1)
    order, begins = clusters(signature.reshape(n, hashes)[some])
    rows = some[order]
    # Entries before each cluster: its nodes have at most half as many uses, and columns. Each part has its own
    # clusters, so the nodes do not depend on the number of threads.
    before = np.append(0, np.cumsum(degree[rows], dtype=np.int64))[begins]
    parts = host.parts if host.splits(int(before[-1]), tuning.count("virtual.parallel_entries")) else 1
    limits = np.append(np.searchsorted(before, np.linspace(0, before[-1], parts + 1)[:-1]), len(begins) - 1)
    most = [int(np.diff(before[low : high + 1]).max(initial=0)) for low, high in itertools.pairwise(limits.tolist())]
    rooms = np.append(0, np.cumsum(most))
    slot, places, columns, chain = (np.zeros(int(rooms[-1]) * k, t) for k, t in ((4, np.int32), *[(1, np.int64)] * 3))
    masks, taken = np.empty(int(rooms[-1]), np.uint64), np.empty(int(rooms[-1]), np.uint64)
    node, user, node_at, member = (np.empty(int(before[-1]) // 2 + 1, np.int64) for _ in range(4))
    gone, counts = np.zeros(size, np.uint8), np.zeros(3 * parts, np.int64)
    scratch, nodes_found = (slot, places, columns, masks, taken, chain), (node, user, node_at, member)
    read = limits, begins, before, rows, ptr, col, rooms
    host.kernel(BICLIQUES)(parts, *read, *scratch, *nodes_found, gone, counts, bounds=np.arange(parts + 1))
    nodes, uses, members = counts.reshape(parts, 3).T
    first = total + np.cumsum(nodes) - nodes
    begin = before[limits[:-1]] // 2
    per_part = [
        (node[at : at + u] + base, user[at : at + u], node_at[at : at + m] + base, member[at : at + m])
        for at, u, m, base in zip(begin.tolist(), uses.tolist(), members.tolist(), first.tolist())
    ]
    found = tuple(np.concatenate(of) for of in zip(*per_part))
    stays = gone == 0
    left = np.append(0, np.cumsum(stays))[ptr].astype(ptr.dtype)
    return left, col[stays], total + int(nodes.sum()), found


def clusters(signature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows by cluster, and the start of each cluster of at least two rows. Rows are clustered by their first hash;
    clusters of more than MOST rows are split by the second, and so on; rows that agree in all hashes are split into
    groups of MOST."""
    rows = len(signature)
    # One word per row: the first hash, and the row, descending, which saves 0.1 to 0.4 % on real graphs.
    number = np.arange(rows - 1, -1, -1, dtype=np.uint64)
    keys = np.sort(signature[:, 0].astype(np.uint64) << np.uint64(32) | number)
    order, first = rows - 1 - (keys & np.uint64(0xFFFFFFFF)).astype(np.int64), keys >> np.uint64(32)
    begins = np.ones(rows, bool)
    np.not_equal(first[1:], first[:-1], out=begins[1:])
    size = np.diff(np.flatnonzero(begins), append=rows)
    deep = np.flatnonzero(np.repeat(size > MOST, size))
    inside, begins[deep] = agreeing(signature[order[deep]])
    order[deep] = order[deep[inside]]
    size = np.diff(np.flatnonzero(begins), append=rows)
    kept = np.repeat(size > 1, size)
    return order[kept], np.append(0, np.cumsum(size[size > 1]))


def agreeing(signature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of rows and the starts of their clusters in it, splitting by as many hashes as necessary."""
    rows, hashes = signature.shape
    order = np.lexsort(signature.T[::-1])
    ordered = signature[order]
    fresh = np.ones((rows, hashes), bool)  # starts of runs of rows that agree in the first hashes
    np.logical_or.accumulate(ordered[1:] != ordered[:-1], axis=1, out=fresh[1:])
    begins, settled = np.zeros(rows, bool), np.zeros(rows, bool)
    for level in range(hashes):
        size = np.diff(np.flatnonzero(fresh[:, level]), append=rows)
        small = np.repeat(size <= MOST, size) & ~settled
        begins |= small & fresh[:, level]
        settled |= small
    heads = np.flatnonzero(fresh[:, -1])
    inside = np.arange(rows) - np.repeat(heads, np.diff(heads, append=rows))
    begins |= ~settled & (inside % MOST == 0)
    return order, begins


def numbers_of(total: int, node: np.ndarray, user: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number nodes by the ascending middle row of their users; also returns these middles, by number."""
    low, high = np.full(total, np.iinfo(np.int64).max), np.zeros(total, np.int64)
    np.minimum.at(low, node, user)
    np.maximum.at(high, node, user)
    middle = low + high >> 1
    order = np.argsort(middle, kind="stable")
    number = np.empty(total, np.int64)
    number[order] = np.arange(total)
    return number, middle[order]
