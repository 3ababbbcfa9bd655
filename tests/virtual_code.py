"""The format of virtual nodes decoded in plain Python, and checks of its invariants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from nib_code import host


def numbered(places: Any) -> list[tuple[bool, int]]:
    """For each place whether it is a node's, and its number among those alike."""
    flags = np.unpackbits(host(places.bits).view(np.uint8), bitorder="little")
    assert not flags[places.size :].any() and flags.sum() == places.nodes
    seen, found = {False: 0, True: 0}, []
    for flag in flags[: places.size].astype(bool).tolist():
        found.append((flag, seen[flag]))
        seen[flag] += 1
    return found


def entries(form: Any) -> list[tuple[int, int]]:
    """Those of R, and for each use of a node its columns."""
    rows, cols = numbered(form.rows), numbered(form.cols)
    left, uses, columns = [], [], defaultdict(list)
    for p, q in zip(*(host(x).tolist() for x in form.inner.coo())):
        (of_node, i), (to_node, j) = rows[p], cols[q]
        assert not (of_node and to_node)
        if of_node:
            columns[i].append(j)
        else:
            (uses if to_node else left).append((i, j))
    assert set(columns) == {k for _, k in uses} == set(range(form.rows.nodes))
    return left + [(i, j) for i, k in uses for j in columns[k]]


def sound_virtual(form: Any, predicted: Any, coded: dict[str, Callable[..., None]]) -> None:
    """Each entry is there once, the graph is sound in its own form, the bytes are those of the arrays."""
    form.check()
    assert (form.rows is form.cols) == (form.nrows == form.ncols) and form.rows.nodes == form.cols.nodes
    coded[form.inner.key](form.inner, predicted)
    rows, cols = (host(x).tolist() for x in form.to_csr(False)[0].coo())
    assert sorted(entries(form)) == list(zip(rows, cols))
    assert form.nbytes == sum(host(x).nbytes for x in form.arrays().values())
    assert form.nbytes == predicted(form, own=((form.key, float(form.nbytes)),))
