"""Building blocks on arrays: row degrees, induced subgraphs, edge lists to graphs, renumbering, pointer jumping.

Pointer jumping: Shiloach, Vishkin: An O(log n) parallel connectivity algorithm. J. of Algorithms 3 (1982).
"""

from __future__ import annotations

from .. import tuning
from . import _check as check

# ---- Building blocks on arrays: row degrees, induced subgraphs, edge lists to graphs, renumbering.


def degrees(A, gb):
    """The number of entries in each row of A: an INT64 array."""
    # d = A plus.pair 1
    ones = gb.Vector.from_scalar(True, A.ncols)
    return A.mxv(ones, gb.semiring.plus_pair[gb.dtypes.INT64]).new().to_dense(0)


def prefers_row_extraction(A, least):
    """Whether extracting rows on demand is cheaper than copying all entries: in host memory with more than `least`
    entries, or a share of that (`walks.decoding`) if the format must be decoded.
    """
    device, store = getattr(A, "device", None), getattr(A, "_store", None)  # both None on python-graphblas
    if device is not None and not device.host_memory:
        return False
    decoded = store is not None and store.structure.primary.format.decodes_single_rows
    return A.nvals > least / (tuning.value("walks.decoding") if decoded else 1)


def induced_subgraph(A, v, gb):
    """The subgraph of A induced by the entries of v: an n x n Matrix of A's dtype."""
    C, (i, _) = gb.Matrix(A.dtype, A.nrows, A.ncols), v.to_coo(values=False)
    # C(i, i) = A(i, i)
    C[i, i] << A[i, i].new()
    return C


def index_range(n, gb):
    """0 to n - 1: an INT64 array."""
    check.default_memory(gb, f"numbers of {n} places", 16 * n)
    return gb.Vector.from_scalar(0, n).apply(gb.indexunary.index).new().to_dense().astype("int64")


def undirected_graph(i, j, n, gb):
    """The undirected graph of the edges i - j: BOOL, n x n, each edge both ways, without self loops."""
    kept = i != j
    A = gb.Matrix.from_coo(i[kept], j[kept], True, nrows=n, ncols=n)
    # A = A or A'
    A << gb.binary.pair[gb.dtypes.BOOL](A | A.T)
    return A


def renumber(label, gb):
    """The labels renumbered to 0..k-1 in ascending order, and k."""
    n = len(label)
    # number[c] = the count of used labels below c
    there = gb.Vector.from_coo(label, 1, size=n).to_dense(0)
    return (there.cumsum() - 1)[label], int(there.sum())


# ---- Pointer jumping: find the root of each vertex in a forest stored as a parent vector.


def gather(p, f):
    """p[f] for a full Vector f of indices, which the API takes as an array."""
    return p[f.to_dense()].new()


def roots(p):
    """The root above each vertex: p = p[p] until nothing changes. The test costs as much as a step, so each test
    follows two.
    """
    while True:
        p = gather(p, p)
        shorter = gather(p, p)
        if shorter.isequal(p):
            return p
        p = shorter
