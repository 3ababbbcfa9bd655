"""Rows as codes (NIB, CGR) whose bits were changed, or whose numbers lie: refused, and never read beyond the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from battery import MATRICES
from test_builds import rows_of
from test_formats import host, make

from bitblas.formats.cgr import layout
from bitblas.formats.cgr.format import Cgr


def nibbles():
    return make(MATRICES["33x33"](), True, "BOOL", "nib")._store.structure.primary


def segments():
    """Several of both kinds."""
    rows = [[] for _ in range(40)]
    rows[3] = sorted({*range(0, 3000, 30), *(a + k for a in range(5, 3000, 60) for k in range(4 + a % 3))})
    rows[33], rows[39] = list(range(100, 120)), [0, 2999]
    return Cgr.of_segments(rows_of(rows, 3000), layout.SEGMENT, False)[0]


MADE = {"nib": nibbles, "cgr": segments}
LIES = {
    ("nib", "rows"): ({"nrows": 65}, "heads: expected"), ("nib", "columns"): ({"ncols": 3}, "col: expected"),
    ("nib", "entries"): ({"nvals": 5}, "words: expected 5 entries"),
    ("nib", "too many"): ({"ncols": 1 << 31}, "holds up to"),
    ("cgr", "rows"): ({"nrows": 65}, "heads: expected"),
    ("cgr", "columns"): ({"ncols": 3}, "words: expected intervals .* of row 3"),
    ("cgr", "entries"): ({"nvals": 5}, "words: expected 5 entries"),
    ("cgr", "too many"): ({"ncols": 1 << 31}, "holds up to"),
    ("cgr", "segment"): ({"segment": 255}, "segment: expected 256"),
    ("cgr", "segments"): ({"segment": 300}, "words: expected"),
}  # fmt: skip


@pytest.mark.parametrize("key", ["nib", pytest.param("cgr", marks=pytest.mark.slow)])
def test_every_changed_bit_is_refused_or_another_matrix(device, key):
    """Of what is stored: nothing is read beyond the arrays, and what is no encoding of rows is refused."""
    form = MADE[key]()
    d, refused, other = form.device, 0, 0
    for name, array in form.arrays().items():
        data = host(array)
        for bit in range(8 * data.nbytes):
            changed = data.copy()
            changed.view(np.uint8)[bit // 8] ^= 1 << bit % 8
            arrays = form.arrays() | {name: d.asarray(changed)}
            try:
                made = type(form).restored(d, form.numbers(), arrays)
                made.check()
            except ValueError:
                refused += 1
            else:
                other += 1
                assert not made.equals(form)
    assert refused > 2 * other > 0


@pytest.mark.parametrize(("key", "lie"), LIES)
def test_lies_are_refused(device, key, lie):
    change, match = LIES[key, lie]
    form = MADE[key]()
    with pytest.raises(ValueError, match=match):
        type(form).restored(form.device, form.numbers() | change, form.arrays()).check()
    for name, array in form.arrays().items():
        with pytest.raises(ValueError, match="expected"):
            type(form).restored(form.device, form.numbers(), form.arrays() | {name: array[:-1]}).check()
