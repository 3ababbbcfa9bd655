"""The code of NIB in plain Python, nibble by nibble, and checks of the format's invariants."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bitblas import device as devices
from bitblas.config import config


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
    d = cols[0] - row
    return [2 * d if d >= 0 else -2 * d - 1, *(b - a - 1 for a, b in itertools.pairwise(cols))]


def head_of(head: int) -> tuple[int, int]:
    """The first word of a block, and the width of its numbers."""
    return head >> 6, head & 63


def units_of(form: Any, row: int) -> tuple[list[int], int, int]:
    """The words of a row's group behind its numbers, and where in them the row begins and ends, read as docs/formats.md
    describes."""
    heads, words = host(form.heads).tolist(), host(form.words).tolist()
    block, width = head_of(heads[row // 32])
    words = words[block : head_of(heads[row // 32 + 1])[0]]
    string, room = (
        sum(word << (32 * k) for k, word in enumerate(words[:width])),
        (len(words) - width) * form.code.in_word,
    )
    later = [string >> (width * k) & ((1 << width) - 1) for k in range(32)]
    ends = [room * (k + 1) // 32 + (-(d + 1) // 2 if d % 2 else d // 2) for k, d in enumerate(later)]
    return words[width:], ends[row % 32 - 1] if row % 32 else 0, ends[row % 32]


def nibbles(form: Any, row: int) -> list[int]:
    """Those of a row."""
    words, begin, end = units_of(form, row)
    string = sum(word << (32 * k) for k, word in enumerate(words))
    return [string >> (4 * k) & 15 for k in range(begin, end)]


def sound_nib(form: Any, predicted: Any) -> None:
    """Stored in the one way that there is, in the bytes that are predicted, with the values where CSR has them."""
    form.check()
    rows = form.to_csr(False)[0]
    rows.check()
    ranks = 0 if form.value_ptr is None else host(form.value_ptr).nbytes
    assert form.nbytes - ranks == predicted(form, own=(("nib", form.format.cost.count(rows)),))
    assert ranks == 0 or np.array_equal(host(form.value_ptr), host(rows.ptr))
