"""Parse edge weights from text: decimal point or comma, the smallest exact dtype, and hints for bad values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..exceptions import InvalidValue
from .scan import Fault, Scan, numbers, pieces

INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
WEIGHT = "a number as weight"
INTEGERS = b"0123456789+- \t\r\n\v\f"
_LARGEST = 1 << 1023  # integers below are floats
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
    return value == value and "_" not in text


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


class WeightType:
    """The type that holds all weights of a file or table, which are read part by part.

    INT64 for integers, UINT64 if one of them is 2^63 or more, FP64 if the text of one is no integer. `check` refuses
    integers that no 64-bit type holds together. rounded: the weights become floats (or BOOL) anyway, so that every
    number is accepted.
    """

    def __init__(self, rounded: bool = False, whole: bool = False) -> None:
        self.rounded, self.real = rounded, False
        self.whole = whole  # whether they become integers: one beside floats stays exact
        self.floats = False  # whether some weights were read as floats
        self.low = self.high = 0  # of the integers; beyond 64 bits only where `note` read them from texts
        self.beyond = ""  # the line and the text of the first integer beyond 64 bits

    @property
    def mixed(self) -> bool:
        """Whether no 64-bit type holds all integers seen so far."""
        return integer_type([self.low, self.high]) is None

    @property
    def dtype(self) -> np.dtype:
        kind = None if self.floats else integer_type([self.low, self.high])
        return np.dtype(kind or np.float64)

    def add(self, values: np.ndarray, real: bool) -> None:
        """Some more weights. real: the text of one of them is no integer."""
        self.real |= real
        self.floats |= values.dtype.kind == "f"
        if values.dtype.kind in "iu" and len(values):
            self.low, self.high = min(self.low, int(values.min())), max(self.high, int(values.max()))

    def of_words(self, words: list[str], decimal: str, lines: Iterable[int] = ()) -> np.ndarray:
        """The weights in texts, which are added. lines: their line numbers in the file."""
        if not all(map(INTEGER.fullmatch, words)):
            found = np.array([float(pointed(word, decimal)) for word in words], np.float64)
            if not self.whole or not _are_whole(found):
                self.add(found, real=True)
                return found
            self.real = True
            return self.of_integers([value_of(x) if INTEGER.fullmatch(x) else int(y) for x, y in zip(words, found)])
        numbers = list(map(value_of, words))
        for number, word, line in zip(numbers, words, lines) if not self.beyond else ():
            if not -(1 << 63) <= number < 1 << 64:
                self.beyond = f"line {line}: expected a weight from -2^63 to 2^64 - 1, got {word[:60]!r}"
                break
        if integer_type(numbers) is not None:
            return self.of_integers(numbers)
        self.of_integers(numbers)
        return np.array(list(map(float, words)), np.float64)

    def of_integers(self, numbers: list[int]) -> np.ndarray:
        """The weights in Python's integers, which are added."""
        self.low, self.high = min([self.low, *numbers]), max([self.high, *numbers])
        kind = integer_type(numbers)
        if kind is not None:
            return np.array(numbers, kind)
        return np.array([float(x) if abs(x) < _LARGEST else float("inf" if x > 0 else "-inf") for x in numbers])

    def check(self, name: str, hint: str | None = None) -> None:
        """Refuse integers that no 64-bit type holds. name: of the file; hint: None: that of `dtype`."""
        if self.rounded or (self.real and not self.whole) or not self.mixed:
            return
        expected = "expected weights from -2^63 to 2^63 - 1, or from 0 to 2^64 - 1"
        alone = [number for number in (self.low, self.high) if integer_type([number]) is None]
        values = " and ".join(map(str, alone or (self.low, self.high)))
        got = f", {self.beyond}" if self.beyond else f": {expected}, got {values}"
        raise InvalidValue(f"{name}{got}. {hint or ROUNDED}")


ROUNDED = "Hint: dtype='FP64' reads such weights, rounded"


EXACT = 1 << 53  # integers from here on are not exact as FP64


def _are_whole(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def rounds(values: np.ndarray) -> bool:
    """Whether integers may have been rounded where these weights were read as floats."""
    return values.dtype.kind == "f" and bool((np.abs(values) >= EXACT).any())


def as_integers(values: np.ndarray) -> np.ndarray:
    """Floats that are small integers as INT64; other arrays as they are."""
    small = values.dtype.kind == "f" and not rounds(values) and _are_whole(values)
    return values.astype(np.int64) if small else values


def is_whole(dtype: Any) -> bool:
    """Whether a type (None: not given) is one of integers."""
    import bitblas as gb

    return dtype is not None and getattr(gb.dtypes.lookup_dtype(dtype).np_type, "kind", "") in "iu"


def is_rounded(dtype: Any) -> bool:
    """Whether weights of a type (None: not given) are floats, complex or BOOL, to which any number is cast."""
    import bitblas as gb

    return dtype is not None and getattr(gb.dtypes.lookup_dtype(dtype).np_type, "kind", "") in "fcb"


def integer_type(numbers: list[int]) -> Any:
    """INT64, or UINT64 where it is needed, of NumPy; None where neither holds all."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    if -(1 << 63) <= low and high < 1 << 63:
        return np.int64
    return np.uint64 if low >= 0 and high < 1 << 64 else None


def joined(source: str, parts: list[np.ndarray], rounded: bool = False) -> np.ndarray:
    """Arrays of weights one after the other, in a type that holds all: integers of INT64 and UINT64 stay exact.
    InvalidValue where no integer type does."""
    if len({part.dtype for part in parts}) > 1 and all(part.dtype.kind in "iu" for part in parts):
        seen = WeightType(rounded)
        for part in parts:
            seen.add(part, real=False)
        seen.check(source)
        parts = [part.astype(seen.dtype, copy=False) for part in parts]
    return np.concatenate(parts)


def kind_of(text: bytes) -> str:
    """Of the numbers in a text: "integer", or "real" where something else is in it."""
    return "real" if text.translate(None, INTEGERS) else "integer"


def table_of(text: bytes, kind: str, count: int, rounded: bool = False) -> np.ndarray:
    """The numbers of a text that a Scan has seen: INT64, UINT64 where integers need it, or FP64. rounded: integers that
    do not fit become FP64. ValueError, OverflowError where they do not fit."""
    bare = _PLUS.sub(b" ", text) if b"+" in text else text  # SciPy reads no leading plus
    bare = bare.translate(_BLANKS)
    try:
        return numbers(bare, kind, count)
    except (ValueError, OverflowError):
        if kind == "real":
            raise
    try:
        return numbers(bare, "unsigned-integer", count)
    except (ValueError, OverflowError):
        if not rounded:
            raise
    return numbers(bare, "real", count)


def plain_numbers(text: bytes, count: int, decimal: str, rounded: bool = False) -> np.ndarray | None:
    """The numbers of a text as `table_of` reads them, if it holds that many and nothing else."""
    if decimal == ",":
        if b"." in text:
            return None
        text = text.replace(b",", b".")
    kind = kind_of(text)
    scan = Scan(kind)
    try:
        for piece in pieces(text):
            scan.feed(piece)
        return table_of(text, kind, count, rounded) if scan.numbers == count else None
    except (Fault, ValueError, OverflowError):
        return None


def of_column(values: np.ndarray, name: str | None, decimal: str | None, rounded: bool = False) -> np.ndarray:
    """The numbers of a column of a table, which may hold texts if decimal says how these are written. rounded: integers
    that no 64-bit type holds become floats. InvalidValue, with the row, for what is no number."""
    expected = f"column {name!r}: expected numbers"
    if values.dtype.kind in "biuf":
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InvalidValue(
                f"column {name!r}: expected a number in every row, got NaN in row {np.isnan(values).argmax()}"
            )
        return values
    words = values.tolist()
    if values.dtype == object and all(type(word) is int for word in words):  # of which no 64-bit type holds all
        seen = WeightType(rounded)
        found = seen.of_integers(words)
        seen.check(f"column {name!r}")
        return found
    if decimal is not None:
        words = [word.strip() if isinstance(word, str) else word for word in words]
        mark = decimal_of(decimal)
        wrong = next((k for k, x in enumerate(words) if not isinstance(x, str) or not is_weight(x, mark)), None)
        if wrong is None:
            seen = WeightType(rounded)
            found = seen.of_words(words, mark)
            seen.check(f"column {name!r}")
            return found
        hint = of_weight(words[wrong], mark) or _of_text(words[wrong]) if isinstance(words[wrong], str) else ""
        raise InvalidValue(f"{expected} as texts in every row, got {words[wrong]!r} in row {wrong}{hint}")
    row = next((k for k, value in enumerate(words) if isinstance(value, str)), None)
    if row is None:
        raise InvalidValue(f"{expected}, got values of type {values.dtype}")
    hint = of_weight(words[row]) or _of_text(words[row]) or ". Hint: decimal='.' reads such texts as numbers"
    raise InvalidValue(f"{expected}, got text, {str(words[row])!r} in row {row}{hint}")
