"""The code of CGR in plain Python, bit by bit, and checks of the format's invariants."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from nib_code import host, sound_nib, units_of
from virtual_code import sound_virtual

SEGMENT, LEAST = 256, 4


def gamma(x: int) -> str:
    return "0" * ((x + 1).bit_length() - 1) + f"{x + 1:b}"


def zeta(x: int) -> str:
    h = ((x + 1).bit_length() - 1) // 3
    return "0" * h + "1" + f"{x + 1:0{3 * (h + 1)}b}"


def folded(d: int) -> int:
    return 2 * d if d >= 0 else -2 * d - 1


def parts(cols: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """The intervals of a row, first column and length, and the other columns."""
    runs: list[list[int]] = []
    for j in cols:
        if runs and runs[-1][-1] + 1 == j:
            runs[-1].append(j)
        else:
            runs.append([j])
    return [(r[0], len(r)) for r in runs if len(r) >= LEAST], [j for r in runs if len(r) < LEAST for j in r]


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


def sound_cgr(form: Any, predicted: Any) -> None:
    """Stored in the one way that there is, in the bytes that are predicted, intervals before the other entries."""
    form.check()
    rows, place = form.to_csr(True)
    rows.check()
    ranks = 0 if form.value_ptr is None else host(form.value_ptr).nbytes
    assert form.nbytes - ranks == predicted(form, own=(("cgr", form.format.cost.count(rows)),))
    assert ranks == 0 or np.array_equal(host(form.value_ptr), host(rows.ptr))
    ptr, col, place = host(rows.ptr), host(rows.col), host(place)
    for row in range(form.nrows):
        cols = col[ptr[row] : ptr[row + 1]].tolist()
        assert bits_of(form, row) == (row_bits(row, cols) if cols else "")
        runs, others = parts(cols)
        ordered = [a + k for a, n in runs for k in range(n)] + others
        assert [ordered[p - ptr[row]] for p in place[ptr[row] : ptr[row + 1]].tolist()] == cols


def rows_order(key: str, i: Any, j: Any) -> Any:
    """The order of entries that a form by rows has."""
    if key != "cgr":
        return np.lexsort((j, i))
    inside = {
        (row, a + k) for row in set(i.tolist()) for a, n in parts(sorted(j[i == row].tolist()))[0] for k in range(n)
    }
    return np.lexsort((j, [place not in inside for place in zip(i.tolist(), j.tolist())], i))


CODED = {"nib": sound_nib, "cgr": sound_cgr}  # layouts, and their invariants
CODED["virtual"] = lambda form, predicted: sound_virtual(form, predicted, CODED)
