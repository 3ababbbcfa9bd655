"""The codes of NIB and CGR, virtual nodes and the pieces of CR2 in plain Python; and checks of these formats'
invariants."""

from __future__ import annotations

import itertools
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np

from bitblas import device as devices
from bitblas.config import config
from bitblas.formats.cr2.cost import grid_of

SEGMENT, LEAST = 256, 4


def host(x: Any) -> np.ndarray:
    return devices.get(config.device).to_host(x)


def encoded(values: Any) -> list[int]:
    """The nibbles of values, one after the other."""
    found = []
    for v in values:
        while v > 7:
            found.append(v & 7)
            v >>= 3
        found.append(v | 8)
    return found


def row_values(row: int, cols: Any) -> list[int]:
    """The stored nibbles of a row."""
    return [folded(cols[0] - row), *(b - a - 1 for a, b in itertools.pairwise(cols))]


def head_of(head: int) -> tuple[int, int]:
    """The first word of a block, and the width of its numbers."""
    return head >> 6, head & 63


def units_of(form: Any, row: int) -> tuple[list[int], int, int]:
    """The words of a row's group behind its numbers, and where in them the row begins and ends, read as docs/formats.md
    describes."""
    heads, words = host(form.heads).tolist(), host(form.words).tolist()
    block, width = head_of(heads[row // 32])
    words = words[block : head_of(heads[row // 32 + 1])[0]]
    string = sum(word << (32 * k) for k, word in enumerate(words[:width]))
    room = (len(words) - width) * form.code.in_word
    later = [string >> (width * k) & ((1 << width) - 1) for k in range(32)]
    ends = [room * (k + 1) // 32 + (-(d + 1) // 2 if d % 2 else d // 2) for k, d in enumerate(later)]
    return words[width:], ends[row % 32 - 1] if row % 32 else 0, ends[row % 32]


def nibbles(form: Any, row: int) -> list[int]:
    """Those of a row."""
    words, begin, end = units_of(form, row)
    string = sum(word << (32 * k) for k, word in enumerate(words))
    return [string >> (4 * k) & 15 for k in range(begin, end)]


def gamma(x: int) -> str:
    return "0" * ((x + 1).bit_length() - 1) + f"{x + 1:b}"


def zeta(x: int) -> str:
    h = ((x + 1).bit_length() - 1) // 3
    return "0" * h + "1" + f"{x + 1:0{3 * (h + 1)}b}"


def folded(d: int) -> int:
    return 2 * d if d >= 0 else -2 * d - 1


def parts(cols: list[int], least: int = LEAST) -> tuple[list[tuple[int, int]], list[int]]:
    """The intervals of a row, of `least` columns or more, first column and length, and the other columns."""
    runs: list[list[int]] = []
    for j in cols:
        if runs and runs[-1][-1] + 1 == j:
            runs[-1].append(j)
        else:
            runs.append([j])
    return [(r[0], len(r)) for r in runs if len(r) >= least], [j for r in runs if len(r) < least for j in r]


def segmented(codes: list[tuple[str, str]]) -> str:
    """codes: each as the first one of a segment, and as one after another."""
    segments: list[list[tuple[str, str]]] = [[]]
    for code in codes:
        held = segments[-1]
        bits = gamma(len(held) + 1) + "".join(c[k > 0] for k, c in enumerate([*held, code]))
        if held and len(bits) > SEGMENT:
            segments.append([code])
        else:
            held.append(code)
    if len(segments) > 1:
        segments[-2:] = [segments[-2] + segments[-1]]
    found = [gamma(len(s)) + "".join(c[k > 0] for k, c in enumerate(s)) for s in segments]
    return gamma(len(found) - 1) + "".join(s.ljust(SEGMENT, "0") for s in found[:-1]) + found[-1]


def row_bits(row: int, cols: list[int]) -> str:
    """The stored bits of a row."""
    runs, others = parts(cols)
    ends = [a + n - 1 for a, n in runs]
    first = [gamma(folded(a - row)) + gamma(n - LEAST) for a, n in runs]
    later = [gamma(a - end - 1) + gamma(n - LEAST) for (a, n), end in zip(runs[1:], ends)]
    starts = list(zip(first, ["", *later]))
    gaps = ["", *(zeta(b - a - 1) for a, b in itertools.pairwise(others))]
    residuals = list(zip((zeta(folded(j - row)) for j in others), gaps))
    return segmented(starts) + segmented(residuals)


def bits_of(form: Any, row: int) -> str:
    """Those of a row."""
    words, begin, end = units_of(form, row)
    return "".join(f"{word:032b}" for word in words)[begin:end]


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


def check_coded(form: Any, predicted: Any) -> Any:
    """The rows of a layout of codes, which has the bytes that are predicted, with the values where CSR has them."""
    form.check()
    rows, place = form.to_csr(True)
    rows.check()
    ranks = 0 if form.value_ptr is None else host(form.value_ptr).nbytes
    assert form.nbytes - ranks == predicted(form, own=((form.key, form.format.cost.count(rows)),))
    assert ranks == 0 or np.array_equal(host(form.value_ptr), host(rows.ptr))
    return rows, place


def check_cgr(form: Any, predicted: Any) -> None:
    """Stored in the one way that there is, intervals before the other entries."""
    rows, place = check_coded(form, predicted)
    ptr, col, place = host(rows.ptr), host(rows.col), host(place)
    for row in range(form.nrows):
        cols = col[ptr[row] : ptr[row + 1]].tolist()
        assert bits_of(form, row) == (row_bits(row, cols) if cols else "")
        runs, others = parts(cols)
        ordered = [a + k for a, n in runs for k in range(n)] + others
        assert [ordered[p - ptr[row]] for p in place[ptr[row] : ptr[row + 1]].tolist()] == cols


def check_virtual(form: Any, predicted: Any) -> None:
    """Each entry is there once, the graph is sound in its own form, the bytes are those of the arrays."""
    form.check()
    assert (form.rows is form.cols) == (form.nrows == form.ncols) and form.rows.nodes == form.cols.nodes
    CODED[form.inner.key](form.inner, predicted)
    rows, cols = (host(x).tolist() for x in form.to_csr(False)[0].coo())
    assert sorted(entries(form)) == list(zip(rows, cols))
    assert form.nbytes == sum(host(x).nbytes for x in form.arrays().values())
    assert form.nbytes == predicted(form, own=((form.key, float(form.nbytes)),))


def check_cr2(form: Any, predicted: Any) -> None:
    """Each entry is in the group of its cluster and its piece, and the bytes are those predicted."""
    form.check()
    rows, cols = (host(x).tolist() for x in form.coo())
    if form.ordered:
        new = {old: k for k, old in enumerate(host(form.perm).tolist())}
        rows, cols = ([new[x] for x in of] for of in (rows, cols))
    assert list(zip(rows, cols)) == [at for piece in cr2_pieces(form, rows, cols) for at in piece]
    assert len(cr2_pieces(form, rows, cols)) == form.work == form.parts.inside_pieces + form.parts.between_pieces
    if form.grid == grid_of(form.nrows, form.ncols):
        assert form.nbytes == predicted(form, own=((form.key, form.parts),))


def cr2_pieces(form: Any, rows: list[int], cols: list[int]) -> list[list[tuple[int, int]]]:
    """The entries of each piece, in the order of the layout. Clusters beyond the others have those between."""
    lists, b = defaultdict(list), form.log_cluster
    for i, j in sorted(zip(rows, cols)):
        lists[i >> b if b and i >> b == j >> b else 1 << 40, i].append((i, j))
    found = []
    for (cluster, i), entries in lists.items():
        longest = 1 << form.log_longest
        while entries:
            k = min(longest, 1 << len(entries).bit_length() - 1)
            found.append(((cluster, -k, i, len(found)), entries[:k]))
            entries = entries[k:]
    return [entries for _, entries in sorted(found)]


def rows_order(key: str, i: Any, j: Any) -> Any:
    """The order of entries that a form by rows has."""
    if key == "cr2":  # one cluster
        places = {at: k for k, at in enumerate(zip(i.tolist(), j.tolist()))}
        form = SimpleNamespace(log_cluster=16, log_longest=6)
        return np.array([places[at] for piece in cr2_pieces(form, i.tolist(), j.tolist()) for at in piece])
    if key != "cgr":
        return np.lexsort((j, i))
    inside = {
        (row, a + k) for row in set(i.tolist()) for a, n in parts(sorted(j[i == row].tolist()))[0] for k in range(n)
    }
    return np.lexsort((j, [place not in inside for place in zip(i.tolist(), j.tolist())], i))


# Layouts, and their invariants.
CODED = {"nib": check_coded, "cgr": check_cgr, "virtual": check_virtual, "cr2": check_cr2}
