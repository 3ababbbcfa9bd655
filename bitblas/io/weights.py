"""Weights in a text: what is a number, with a decimal point or a decimal comma, and what is said of what is none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..exceptions import InvalidValue
from .scan import Fault, Scan, numbers, pieces

INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
WEIGHT = "a number as weight"
INTEGERS = b"0123456789+- \t\r\n\v\f"
_COMMA = re.compile(r"[+-]?\d[\d. ]*,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)
_PLUS = re.compile(rb"(?<![eE])\+")
_BLANKS = bytes.maketrans(b" \t\r\v\f", b"\n\n\n\n\n")


def decimal_of(given: Any) -> str:
    """What stands before the fraction of a number, as given. InvalidValue for anything but a point or a comma."""
    if given not in (".", ","):
        raise InvalidValue(f"decimal: expected '.' or ',', got {given!r}")
    return str(given)


def pointed(text: str, decimal: str) -> str:
    """A number as Python reads it; "" for one with a point where a comma stands before the fraction."""
    if decimal == ".":
        return text
    return "" if "." in text else text.replace(",", ".")


def is_weight(text: str, decimal: str = ".") -> bool:
    """Whether it is a number, and not NaN."""
    try:
        value = float(pointed(text, decimal))
    except ValueError:
        return False
    if value != value or "_" in text:
        return False
    return not INTEGER.fullmatch(text) or -(1 << 63) <= value_of(text) < 1 << 63


def is_text(word: str) -> bool:
    """Whether it has a letter and is no number, as EUR or unknown."""
    return any(map(str.isalpha, word)) and not is_weight(word) and not is_weight(word, ",")


def of_weight(text: str, decimal: str = ".") -> str:
    """What is said of a weight that is no number: nothing, or what its comma or point may be."""
    if decimal == ",":
        return ". Hint: with decimal=',' a point is no part of a number" if is_weight(text) else _in_thousands(text)
    if _THOUSANDS.fullmatch(text):
        return ". Hint: decimal=',' if the comma is a decimal comma; one that divides thousands must go"
    if _COMMA.fullmatch(text) and not _in_thousands(text):
        return ". Hint: a decimal comma? decimal=',' reads it"
    return _in_thousands(text)


def _in_thousands(text: str) -> str:
    if not _COMMA.fullmatch(text) or text.replace(" ", "").replace(".", "") == text:
        return ""
    return (
        ". Hint: a decimal comma, and marks between thousands? pandas.read_csv(path, sep=.., decimal=',', "
        "thousands='.') reads it, then Graph.from_table"
    )


def _of_text(word: str) -> str:
    """A hint for a column of weights that holds words."""
    if is_weight(word.strip()):
        return ""
    return ". Hint: the column holds text: weight=None (pairs instead of triples) leaves it out"


def value_of(integer: str) -> int:
    """Of an integer in a text; beyond every limit where it has more digits than Python may be set to read."""
    return int(integer) if len(integer) < 640 else 1 << 64


def numbers_of(words: list[str], decimal: str) -> np.ndarray:
    """Of weights, INT64 if all are integers, else FP64."""
    if all(map(INTEGER.fullmatch, words)):
        return np.array(list(map(int, words)), np.int64)
    return np.array([float(pointed(word, decimal)) for word in words], np.float64)


def kind_of(text: bytes) -> str:
    """Of the numbers in a text: "integer", or "real" where something else is in it."""
    return "real" if text.translate(None, INTEGERS) else "integer"


def table_of(text: bytes, kind: str, count: int) -> np.ndarray:
    """The numbers of a text that a Scan has seen. ValueError, OverflowError where they do not fit."""
    bare = _PLUS.sub(b" ", text) if b"+" in text else text  # SciPy reads no leading plus
    return numbers(bare.translate(_BLANKS), kind, count)


def plain_numbers(text: bytes, count: int, decimal: str) -> np.ndarray | None:
    """The numbers of a text, if it holds that many and nothing else."""
    if decimal == ",":
        if b"." in text:
            return None
        text = text.replace(b",", b".")
    kind = kind_of(text)
    scan = Scan(kind)
    try:
        for piece in pieces(text):
            scan.feed(piece)
        return table_of(text, kind, count) if scan.numbers == count else None
    except (Fault, ValueError, OverflowError):
        return None


def of_column(values: np.ndarray, name: str | None, decimal: str | None) -> np.ndarray:
    """The numbers of a column of a table, which may hold texts if decimal says how these are written. InvalidValue,
    with the row, for what is no number."""
    expected = f"column {name!r}: expected numbers"
    if values.dtype.kind in "biuf":
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InvalidValue(
                f"column {name!r}: expected a number in every row, got NaN in row {np.isnan(values).argmax()}"
            )
        return values
    words = values.tolist()
    if decimal is not None:
        words = [word.strip() if isinstance(word, str) else word for word in words]
        mark = decimal_of(decimal)
        wrong = next((k for k, x in enumerate(words) if not isinstance(x, str) or not is_weight(x, mark)), None)
        if wrong is None:
            return numbers_of(words, mark)
        hint = of_weight(words[wrong], mark) or _of_text(words[wrong]) if isinstance(words[wrong], str) else ""
        raise InvalidValue(f"{expected} as texts in every row, got {words[wrong]!r} in row {wrong}{hint}")
    row = next((k for k, value in enumerate(words) if isinstance(value, str)), None)
    if row is None:
        raise InvalidValue(f"{expected}, got values of type {values.dtype}")
    hint = of_weight(words[row]) or _of_text(words[row]) or ". Hint: decimal='.' reads such texts as numbers"
    raise InvalidValue(f"{expected}, got text, {str(words[row])!r} in row {row}{hint}")
