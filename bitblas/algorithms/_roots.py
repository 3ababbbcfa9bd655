"""Pointer jumping: find the root of each vertex in a forest stored as a parent vector.

Shiloach, Vishkin: An O(log n) parallel connectivity algorithm. J. of Algorithms 3 (1982).
"""


def at(p, f):
    """p[f] for a full Vector f of indices, which the API takes as an array."""
    return p[f.to_dense()].new()


def roots(p):
    """The root above each vertex: p = p[p] until nothing changes. The test costs as much as a step, so each test
    follows two.
    """
    while True:
        p = at(p, p)
        shorter = at(p, p)
        if shorter.isequal(p):
            return p
        p = shorter
