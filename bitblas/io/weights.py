"""Parse numbers and edge weights from text: syntax checks, decimal point or comma, the smallest exact dtype, hints.

SciPy parses numbers fast and rounds them correctly, but drops what follows a number: it reads ``1.5`` as the integer 1,
``3-4`` as 3 and ``1.0D+02`` as 1.0. So a `Scan` checks every text first, in one vectorized pass: each byte has a class,
and each pair of neighbouring classes is allowed or not. Faults that span more than two bytes, as in ``1.2.3``, remain;
a second check of the pairs without digits and signs finds them.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable

import numpy as np

from semirings.dtypes import lookup_dtype

from ..exceptions import InvalidValue
from ..typing import DTypeLike

# ---- Parse columns of a text with NumPy.


def parse_columns(text: bytes, columns: list[tuple[str, str]], delimiter: str | None = None) -> np.ndarray | None:
    """The lines of a text as a structured array; None unless each line that is not blank has exactly these columns.
    columns: names and types. delimiter: None for blanks."""
    text = text.replace(b"\r\n", b"\n")
    if b"\r" in text:
        return None
    if not text or text.isspace():
        return np.zeros(0, columns)
    lines = io.BytesIO(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # of a fraction as an integer
            found: np.ndarray = np.loadtxt(
                lines, columns, comments=None, delimiter=delimiter, ndmin=1, encoding="utf-8"
            )
            return found
    except (ValueError, OverflowError, DeprecationWarning):
        return None


# ---- Parse edge weights from text: decimal point or comma, the smallest exact dtype, and hints for bad values.

INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE)
WEIGHT = "a number as weight"
_LARGEST = 1 << 1023  # smaller integers can be converted to floats
_COMMA = re.compile(r"[+-]?\d[\d. ]*,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)


def check_decimal(decimal: str) -> str:
    """Validate a decimal mark. InvalidValue unless it is a point or a comma."""
    if decimal not in (".", ","):
        raise InvalidValue(f"decimal: expected '.' or ',', got {decimal!r}")
    return decimal


def with_decimal_point(text: str, decimal: str) -> str:
    """A number in Python's syntax; "" if it contains a point although the decimal mark is a comma."""
    if decimal == ".":
        return text
    return "" if "." in text else text.replace(",", ".")


def is_weight(text: str, decimal: str = ".") -> bool:
    """Whether a text is a number other than NaN."""
    try:
        value = float(with_decimal_point(text, decimal))
    except ValueError:
        return False
    return value == value and "_" not in text


def is_text(word: str) -> bool:
    """Whether a word contains a letter and is not a number, as EUR or unknown."""
    return any(map(str.isalpha, word)) and not is_weight(word) and not is_weight(word, ",")


def weight_hint(text: str, decimal: str = ".") -> str:
    """A hint for a weight that is not a number: "", or an explanation of its comma or point."""
    if decimal == ",":
        return ". Hint: with decimal=',' a point is not part of a number" if is_weight(text) else _thousands_hint(text)
    if _THOUSANDS.fullmatch(text):
        return ". Hint: pass decimal=',' if the comma is a decimal comma; remove thousands separators"
    if _COMMA.fullmatch(text) and not _thousands_hint(text):
        return ". Hint: pass decimal=',' if this is a decimal comma"
    return _thousands_hint(text)


def _thousands_hint(text: str) -> str:
    if not _COMMA.fullmatch(text) or text.replace(" ", "").replace(".", "") == text:
        return ""
    return (
        ". Hint: for decimal commas with thousands separators, use pandas.read_csv(path, sep=.., decimal=',', "
        "thousands='.') and Graph.from_table"
    )


def _text_hint(word: str) -> str:
    """A hint for a column of weights that contains words."""
    if is_weight(word.strip()):
        return ""
    return ". Hint: the column holds text: weight=None (pairs instead of triples) ignores it"


def value_of(integer: str) -> int:
    """The value of an integer in a text; 2^64 if it has more digits than Python may be configured to parse."""
    return int(integer) if len(integer) < 640 else 1 << 64


class WeightType:
    """Finds the type that holds all weights of a file or table, which are read part by part.

    INT64 for integers, UINT64 if one is 2^63 or more, FP64 if the text of one is not an integer. `check` refuses
    integers that fit no common 64-bit type. rounded: weights become floats (or BOOL) anyway, so that every number is
    accepted.
    """

    def __init__(self, rounded: bool = False, whole: bool = False) -> None:
        self.rounded, self.real = rounded, False
        self.whole = whole  # whether weights become integers: an integer among floats stays exact
        self.floats = False  # whether some weights were read as floats
        self.low = self.high = 0  # of the integers; beyond 64 bits only if parsed from text
        self.beyond = ""  # the line and the text of the first integer beyond 64 bits

    @property
    def mixed(self) -> bool:
        """Whether the integers seen so far fit no common 64-bit type."""
        return integer_type([self.low, self.high]) is None

    @property
    def dtype(self) -> np.dtype:
        kind = None if self.floats else integer_type([self.low, self.high])
        return np.dtype(kind or np.float64)

    def add(self, values: np.ndarray, real: bool) -> None:
        """Record more weights. real: the text of one of them is not an integer."""
        self.real |= real
        self.floats |= values.dtype.kind == "f"
        if values.dtype.kind in "iu" and len(values):
            self.low, self.high = min(self.low, int(values.min())), max(self.high, int(values.max()))

    def of_words(self, words: list[str], decimal: str, lines: Iterable[int] = ()) -> np.ndarray:
        """Parse weights from texts and record them. lines: their line numbers in the file."""
        if not all(map(INTEGER.fullmatch, words)):
            found = np.array([float(with_decimal_point(word, decimal)) for word in words], np.float64)
            if not self.whole or not _are_integral(found):
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
        """Convert Python integers to an array of weights and record them."""
        self.low, self.high = min([self.low, *numbers]), max([self.high, *numbers])
        kind = integer_type(numbers)
        if kind is not None:
            return np.array(numbers, kind)
        return np.array([float(x) if abs(x) < _LARGEST else float("inf" if x > 0 else "-inf") for x in numbers])

    def check(self, name: str, hint: str | None = None) -> None:
        """Raise InvalidValue if integers fit no common 64-bit type. name: of the file. hint: None: about `dtype`."""
        if self.rounded or (self.real and not self.whole) or not self.mixed:
            return
        expected = "expected weights from -2^63 to 2^63 - 1, or from 0 to 2^64 - 1"
        too_large = [number for number in (self.low, self.high) if integer_type([number]) is None]
        values = " and ".join(map(str, too_large or (self.low, self.high)))
        got = f", {self.beyond}" if self.beyond else f": {expected}, got {values}"
        raise InvalidValue(f"{name}{got}. {hint or ROUNDED}")


ROUNDED = "Hint: dtype='FP64' reads such weights, rounded"


EXACT = 1 << 53  # integers from here on may not be exact in FP64


def _are_integral(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def may_be_rounded(values: np.ndarray) -> bool:
    """Whether weights that were read as floats may be rounded integers."""
    return values.dtype.kind == "f" and bool((np.abs(values) >= EXACT).any())


def integral_as_int64(values: np.ndarray) -> np.ndarray:
    """Floats that are small integers as INT64; other arrays as they are."""
    small = values.dtype.kind == "f" and not may_be_rounded(values) and _are_integral(values)
    return values.astype(np.int64) if small else values


def is_whole(dtype: DTypeLike | None) -> bool:
    """Whether a type (None: not given) is an integer type."""
    return dtype is not None and lookup_dtype(dtype).kind in "iu"


def is_rounded(dtype: DTypeLike | None) -> bool:
    """Whether a type (None: not given) is float, complex or BOOL, to which any number is cast."""
    return dtype is not None and lookup_dtype(dtype).kind in "fcb"


def integer_type(numbers: list[int]) -> type[np.int64 | np.uint64] | None:
    """NumPy's INT64, or UINT64 if needed; None if neither holds all numbers."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    if -(1 << 63) <= low and high < 1 << 63:
        return np.int64
    return np.uint64 if low >= 0 and high < 1 << 64 else None


def concatenate_weights(source: str, parts: list[np.ndarray], rounded: bool = False) -> np.ndarray:
    """Concatenate arrays of weights in a type that holds all: INT64 and UINT64 stay exact. InvalidValue if no integer
    type holds all."""
    if len({part.dtype for part in parts}) > 1 and all(part.dtype.kind in "iu" for part in parts):
        common = WeightType(rounded)
        for part in parts:
            common.add(part, real=False)
        common.check(source)
        parts = [part.astype(common.dtype, copy=False) for part in parts]
    return np.concatenate(parts)


def parse_weight_column(values: np.ndarray, name: str | None, decimal: str | None, rounded: bool = False) -> np.ndarray:
    """The numbers of a table column, which may contain texts if `decimal` is given. rounded: integers beyond 64 bits
    become floats. InvalidValue, with the row, for a value that is not a number."""
    expected = f"column {name!r}: expected numbers"
    if values.dtype.kind in "biuf":
        if values.dtype.kind == "f" and np.isnan(values).any():
            row = np.isnan(values).argmax()
            raise InvalidValue(f"column {name!r}: expected a number in every row, got NaN in row {row}")
        return values
    words, common = values.tolist(), WeightType(rounded)
    if values.dtype == object and all(type(word) is int for word in words):  # beyond 64 bits
        found = common.of_integers(words)
        common.check(f"column {name!r}")
        return found
    if decimal is not None:
        words = [word.strip() if isinstance(word, str) else word for word in words]
        mark = check_decimal(decimal)
        wrong = next((k for k, x in enumerate(words) if not isinstance(x, str) or not is_weight(x, mark)), None)
        if wrong is None:
            found = common.of_words(words, mark)
            common.check(f"column {name!r}")
            return found
        hint = weight_hint(words[wrong], mark) or _text_hint(words[wrong]) if isinstance(words[wrong], str) else ""
        raise InvalidValue(f"{expected} as texts in every row, got {words[wrong]!r} in row {wrong}{hint}")
    row = next((k for k, value in enumerate(words) if isinstance(value, str)), None)
    if row is None:
        raise InvalidValue(f"{expected}, got values of type {values.dtype}")
    hint = weight_hint(words[row]) or _text_hint(words[row]) or ". Hint: decimal='.' reads such texts as numbers"
    raise InvalidValue(f"{expected}, got text, {str(words[row])!r} in row {row}{hint}")
