"""Parse small Matrix Market files without SciPy, whose import takes longer than the parsing."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

FEW = 1 << 13  # entries; parsing them takes about 5 ms, importing scipy.io 0.2 s
# Syntax that Python and SciPy parse alike.
_LINE = {
    "pattern": rb"\d{1,18}[ \t]+\d{1,18}",
    "integer": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+-?\d{1,18}",
    "unsigned-integer": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}",
    "real": rb"\d{1,18}[ \t]+\d{1,18}[ \t]+-?\d{1,200}(?:\.\d{0,200})?",
}
_TYPES = {"pattern": np.float64, "integer": np.int64, "unsigned-integer": np.uint64, "real": np.float64}


class Entries(NamedTuple):
    """The attributes of scipy.sparse.coo_array."""

    row: np.ndarray
    col: np.ndarray
    data: np.ndarray


def entries(text: bytes, field: str, symmetry: str, nrows: int, ncols: int, count: int) -> Entries | None:
    """Parse `count` entries, one per line, followed by their mirror images if the header states a symmetry; None for
    any other text, which SciPy may parse or reject with a reason."""
    if field not in _LINE:
        return None
    line = rb"[ \t]*" + _LINE[field] + rb"[ \t]*\r?"
    signed = symmetry != "skew-symmetric" or field != "unsigned-integer"
    if not (count and signed) or not re.fullmatch(rb"(?:%s\n)+" % line, text):
        return None
    words = text.split()
    width = len(words) // count
    if len(words) != count * (2 if field == "pattern" else 3):
        return None
    rows, cols = list(map(int, words[::width])), list(map(int, words[1::width]))
    if min(rows) < 1 or max(rows) > nrows or min(cols) < 1 or max(cols) > ncols:
        return None
    kind = _TYPES[field]
    read = float if field == "real" else int
    values = np.ones(count) if width == 2 else np.array(list(map(read, words[2::width])), kind)
    index = np.int32 if max(nrows, ncols) < 1 << 31 else np.int64
    row, col = np.array(rows, index) - 1, np.array(cols, index) - 1
    if symmetry == "general":
        return Entries(row, col, values)
    off = row != col
    mirrored = -values[off] if symmetry == "skew-symmetric" else values[off]
    return Entries(np.append(row, col[off]), np.append(col, row[off]), np.append(values, mirrored))
