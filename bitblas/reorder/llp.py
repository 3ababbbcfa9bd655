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

from types import ModuleType

import numpy as np

from semirings import monoid
from semirings.dtypes import INT64

from .. import tuning
from ..core import Matrix
from ..core.matrix.views import MatrixRead
from ..core.statement.running import guarded
from ..device import Device
from ..operations.value_arrays import reduce_segments
from ..typing import Array
from ._graph import firsts, hash16, square, undirected

FINEST = 10  # layers of gamma = 2^0, 2^-1 .. 2^-FINEST, as in the paper, then 0


def llp(A: MatrixRead) -> Array:
    """A: a square Matrix. Returns the permutation (INT64, size n).

    Peak memory: about 60 bytes per edge. Raises DimensionMismatch, TypeError.
    """
    return _llp(square(A))


@guarded
def _llp(A: Matrix) -> Array:
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


def propagated(device: Device, n: int, i: Array, j: Array, weight: int) -> Array:
    """Propagate labels until hardly any changes; a label is the number of a vertex."""
    xp = device.xp
    label, vertex, active = xp.arange(n), xp.arange(n), xp.ones(n, bool)
    changes, least = [n, n], tuning.count("llp.stop_share")
    for k in range(tuning.count("llp.rounds")):
        choosing = (hash16(vertex * 0x9E3779B1 + (k // 2 + 1) * 0x85EBCA6B) + k & 1 == 1) & active
        active &= ~choosing
        edges = choosing[i]
        v, choice = best_labels(device, n, i[edges], label[j[edges]], label, weight, k)
        changed = xp.zeros(n, bool)
        changed[v] = label[v] != choice
        label[v] = choice
        # a vertex reconsiders its label after a neighbour's label changed
        active[i[changed[j]]] = True
        changes[k % 2] = int(changed.sum())
        if sum(changes) * least < n:
            break
    return label


def best_labels(
    device: Device, n: int, i: Array, near: Array, label: Array, weight: int, k: int
) -> tuple[Array, Array]:
    """The distinct vertices of i, and the label that each takes. near: the labels of neighbours, by edge."""
    xp = device.xp
    if not len(i):
        return i, i
    keys = i * n + near
    keys.sort()
    heads = firsts(xp, keys)
    count = xp.diff(xp.append(heads, len(keys)))
    v, found = keys[heads] // n, keys[heads] % n
    is_current = found == label[v]
    # score = k[l] - gamma (vol[l] - k[l]), times 2^FINEST; a vertex is not its own neighbour
    others = xp.bincount(label, minlength=n)[found] - is_current - count
    tie_break = hash16(found * 0x9E3779B1 + (k + 1) * 0x85EBCA6B)
    score = ((count << FINEST) - weight * others << 1 | is_current) << 16 | tie_break
    at = xp.append(firsts(xp, v), len(v))
    best = reduce_segments(device, monoid.max[INT64], score, at)
    most = xp.flatnonzero(score == xp.repeat(best, xp.diff(at)))
    most = most[firsts(xp, v[most])]
    return v[most], found[most]


def layered(xp: ModuleType, label: Array, order: Array) -> Array:
    """Sort communities by the position of their first vertex; the order within a community is kept."""
    here = label[order]
    together = xp.argsort(here, kind="stable")
    heads = together[firsts(xp, here[together])]
    place = xp.empty(len(label), np.int64)
    place[here[heads]] = heads
    return order[xp.argsort(place[here], kind="stable")]
