"""Validate the syntax of numbers in a text in one vectorized pass, and parse them with SciPy.

SciPy parses numbers fast and rounds them correctly, but drops what follows a number: it reads ``1.5`` as the integer 1,
``3-4`` as 3 and ``1.0D+02`` as 1.0. So a `Scan` checks every text first: each byte has a class, and each pair of
neighbouring classes is allowed or not. Faults that span more than two bytes, as in ``1.2.3``, remain; a second check of
the pairs without digits and signs finds them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .files import CHUNK

# Classes of bytes: blank, digit, sign, point, exponent, letter of inf and nan; anything else is 6.
_GROUPS = {"_": b" \t\r\n\v\f", "0": b"0123456789", "-": b"+-", ".": b".", "e": b"eE", "a": b"infatyINFATY"}
_CODES = {name: code for code, name in enumerate(_GROUPS)}
_OTHER = 6
_CLASSES = bytes(next((_CODES[k] for k, g in _GROUPS.items() if byte in g), _OTHER) for byte in range(256))


def _pairs(words: str) -> bytes:
    return bytes(8 * _CODES[pair[0]] + _CODES[pair[1]] for pair in words.split())


# Allowed pairs of neighbours; and those that are allowed after removing digits and signs.
_NEAR = {"integer": _pairs("__ _0 _- 0_ 00 -0")}
_NEAR["real"] = _NEAR["integer"] + _pairs("_. 0. 0e -. .0 ._ .e e0 e- _a -a aa a_")
_FAR = _pairs("__ _. _e ._ .e e_ _a aa a_")
_GONE = bytes([_CODES["0"], _CODES["-"]])
_DIGITS = np.frombuffer(b"0123456789", np.uint8)
_WORDS = {b"inf", b"nan", b"infinity"}
_TOKEN = {
    "integer": re.compile(rb"[+-]?\d+"),
    "real": re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE),
}


class Fault(Exception):
    """A malformed number: its line, counted from 1, and the text of the line."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(line, text)
        self.line, self.text = line, text


class Scan:
    """Validates a text in pieces of whole lines. kind: "integer" or "real"; lines: the number of lines before it."""

    def __init__(self, kind: str, lines: int = 0) -> None:
        self.kind, self.lines = kind, lines
        self.numbers = 0  # seen so far

    def feed(self, piece: bytes) -> None:
        """Validate the next lines. Raises Fault."""
        codes = piece.translate(_CLASSES)
        near = _neighbours(codes)
        wrong: Any = near.tobytes().translate(None, _NEAR[self.kind])
        if not wrong and self.kind == "real":
            wrong = _neighbours(codes.translate(None, _GONE)).tobytes().translate(None, _FAR)
            if not wrong and _CODES["a"] in codes:
                wrong = set(re.findall(rb"[a-df-z]+", piece.lower())) - _WORDS
        if wrong:
            raise self._fault(piece)
        self.numbers += int(np.count_nonzero(near - np.uint8(1) < 7))  # pairs of a blank and a nonblank
        self.lines += piece.count(b"\n")

    def _fault(self, piece: bytes) -> Fault:
        whole = _TOKEN[self.kind].fullmatch
        lines = list(enumerate(piece.split(b"\n"), self.lines + 1))
        number, line = next((pair for pair in lines if not all(map(whole, pair[1].split()))), lines[-1])
        return Fault(number, line.strip()[:60].decode("latin-1"))


def _neighbours(codes: bytes) -> Any:
    """8 * a + b for each pair of neighbours a, b of the codes, between blanks."""
    array = np.full(len(codes) + 2, _CODES["_"], np.uint8)
    array[1:-1] = np.frombuffer(codes, np.uint8)
    return array[:-1] * np.uint8(8) + array[1:]


def pieces(text: bytes) -> Iterator[bytes]:
    """The lines of a text, a CHUNK or little more at a time."""
    start = 0
    while start < len(text):
        end = text.find(b"\n", start + CHUNK) + 1 or len(text)
        yield text[start:end]
        start = end


def checked(block: bytes, text: bytes, kind: str, mark: bytes | None, columns: int) -> tuple[int, bool]:
    """The number of numbers in a text whose lines contain `columns` numbers or none, and whether one of the first two
    of a line has leading zeros. Raises Fault."""
    scan = Scan(kind)
    for piece in pieces(text):
        scan.feed(piece)
    letters = np.frombuffer(text, np.uint8)
    full = letters > 32
    starts = np.flatnonzero(full & ~np.concatenate([[False], full[:-1]]))
    ends = np.append(np.flatnonzero(letters == 10), len(text))
    per_line = np.diff(np.searchsorted(starts, ends), prepend=0)
    right = (per_line == columns) | (per_line == 0)
    if mark is not None and right.all():
        marks = np.flatnonzero(np.frombuffer(block, np.uint8) == mark[0])
        right = np.diff(np.searchsorted(marks, ends), prepend=0) == np.where(per_line == 0, 0, columns - 1)
    if not right.all():
        raise Fault(int(np.argmin(right)) + 1, "")
    if kind == "real":  # vertices are integers, so points and letters may only occur in the third column
        marks = np.flatnonzero((letters == 46) | (letters > 64))
        if columns == 2 or (np.searchsorted(starts, marks, side="right") % 3 != 0).any():
            raise Fault(1, "")
    zeros = np.flatnonzero(letters[starts] == 48)
    led = starts[zeros[zeros % columns < 2]] + 1
    return len(starts), bool(np.isin(letters[led[led < len(letters)]], _DIGITS).any())


def numbers(text: bytes, kind: str, count: int) -> np.ndarray:
    """Parse `count` numbers, one per line, as INT64 or FP64. ValueError, OverflowError if the text does not match."""
    from scipy.io import mmread

    if not count:
        return np.zeros(0, np.int64 if kind == "integer" else np.float64)
    head = b"%%%%MatrixMarket matrix array %s general\n%d 1\n" % (kind.encode(), count)
    return np.asarray(mmread(io.BytesIO(head + text + b"\n"), spmatrix=False)).ravel()
