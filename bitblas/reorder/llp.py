"""Layered label propagation: nested communities at every scale, without a given size.

One layer is label propagation with a resolution gamma: a vertex takes the label l that maximizes
k[l] - gamma (vol[l] - k[l]), where k[l] of its neighbours and vol[l] of all vertices have it. Large gammas give small,
dense communities, zero the largest. Layers go from fine to coarse. After each layer, communities are sorted by their
first vertices and keep the previous order inside, so that the coarsest layer is the outermost.

A random half of the vertices chooses at once in each round: if all did, two neighbours would only swap labels. Scores
are integers and ties are broken by a hash, so the order is the same on every device. (In the authors' code vertices
choose one after the other, and the order of the layers is random.)

Boldi, Rosa, Santini, Vigna: Layered label propagation: a multiresolution coordinate-free ordering for compressing
social networks. WWW 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semirings import monoid
from semirings.dtypes import INT64

from .. import tuning
from ..core.statement.running import guarded
from ..operations.value_arrays import reduce_segments
from ._graph import firsts, square, undirected

FINEST = 10  # layers of gamma = 2^0, 2^-1 .. 2^-FINEST, as in the paper, then 0


def llp(A: Any) -> Any:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: about 60 bytes per edge. Raises DimensionMismatch, TypeError.
    """
    return _llp(square(A))


@guarded
def _llp(A: Any) -> Any:
    device, xp, n = A.device, A.device.xp, A.nrows
    i, j = undirected(A)._stored.coo()
    kept = i != j
    i, j = i[kept], j[kept]
    order = xp.arange(n)
    for layer in range(FINEST + 2):
        # gamma = weight / 2^FINEST
        weight = (1 << FINEST) >> layer if layer <= FINEST else 0
        order = layered(xp, propagated(device, n, i, j, weight), order)
    return order


def propagated(device: Any, n: int, i: Any, j: Any, weight: int) -> Any:
    """Propagate labels until hardly any changes; a label is the number of a vertex."""
    xp = device.xp
    label, vertex, awake = xp.arange(n), xp.arange(n), xp.ones(n, bool)
    moved, least = [n, n], tuning.count("llp.stop_share")
    for k in range(tuning.count("llp.rounds")):
        turn = (mixed(vertex, k // 2) + k & 1 == 1) & awake
        awake &= ~turn
        edges = turn[i]
        v, wish = chosen(device, n, i[edges], label[j[edges]], label, weight, k)
        fresh = xp.zeros(n, bool)
        fresh[v] = label[v] != wish
        label[v] = wish
        # a vertex reconsiders its label after a neighbour's label changed
        awake[i[fresh[j]]] = True
        moved[k % 2] = int(fresh.sum())
        if sum(moved) * least < n:
            break
    return label


def chosen(device: Any, n: int, i: Any, near: Any, label: Any, weight: int, k: int) -> tuple[Any, Any]:
    """The distinct vertices of i, and the label that each takes. near: the labels of neighbours, by edge."""
    xp = device.xp
    if not len(i):
        return i, i
    keys = i * n + near
    keys.sort()
    heads = firsts(xp, keys)
    count = xp.diff(xp.append(heads, len(keys)))
    v, found = keys[heads] // n, keys[heads] % n
    own = found == label[v]
    # score = k[l] - gamma (vol[l] - k[l]), times 2^FINEST; a vertex is not its own neighbour
    others = xp.bincount(label, minlength=n)[found] - own - count
    score = ((count << FINEST) - weight * others << 1 | own) << 16 | mixed(found, k)
    at = xp.append(firsts(xp, v), len(v))
    best = reduce_segments(device, monoid.max[INT64], score, at)
    most = xp.flatnonzero(score == xp.repeat(best, xp.diff(at)))
    most = most[firsts(xp, v[most])]
    return v[most], found[most]


def layered(xp: Any, label: Any, order: Any) -> Any:
    """Sort communities by the position of their first vertex; the order within a community is kept."""
    here = label[order]
    together = xp.argsort(here, kind="stable")
    heads = together[firsts(xp, here[together])]
    place = xp.empty(len(label), np.int64)
    place[here[heads]] = heads
    return order[xp.argsort(place[here], kind="stable")]


def mixed(x: Any, k: int) -> Any:
    """A 16-bit hash."""
    x = (x * 0x9E3779B1 + (k + 1) * 0x85EBCA6B) & 0xFFFFFFFF
    x = ((x ^ x >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    return (x ^ x >> 13) & 0xFFFF
