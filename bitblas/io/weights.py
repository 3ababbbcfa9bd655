"""Parse numbers and edge weights from text: syntax checks, decimal point or comma, the smallest exact dtype, hints.

SciPy parses numbers fast and rounds them correctly, but drops what follows a number: it reads ``1.5`` as the integer 1,
``3-4`` as 3 and ``1.0D+02`` as 1.0. So a `Scan` checks every text first, in one vectorized pass: each byte has a class,
and each pair of neighbouring classes is allowed or not. Faults that span more than two bytes, as in ``1.2.3``, remain;
a second check of the pairs without digits and signs finds them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator

import numpy as np

from semirings.dtypes import lookup_dtype

from .. import tuning
from ..exceptions import InvalidValue
from ..typing import DTypeLike

# ---- Validate the syntax of numbers in a text in one vectorized pass, and parse them with SciPy.

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
        wrong = bool(near.tobytes().translate(None, _NEAR[self.kind]))
        if not wrong and self.kind == "real":
            wrong = bool(_neighbours(codes.translate(None, _GONE)).tobytes().translate(None, _FAR))
            if not wrong and _CODES["a"] in codes:
                wrong = not _WORDS.issuperset(re.findall(rb"[a-df-z]+", piece.lower()))
        if wrong:
            raise self._fault(piece)
        self.numbers += int(np.count_nonzero(near - np.uint8(1) < 7))  # pairs of a blank and a nonblank
        self.lines += piece.count(b"\n")

    def _fault(self, piece: bytes) -> Fault:
        whole = _TOKEN[self.kind].fullmatch
        lines = list(enumerate(piece.split(b"\n"), self.lines + 1))
        number, line = next((pair for pair in lines if not all(map(whole, pair[1].split()))), lines[-1])
        return Fault(number, line.strip()[:60].decode("latin-1"))


def _neighbours(codes: bytes) -> np.ndarray:
    """8 * a + b for each pair of neighbours a, b of the codes, between blanks."""
    array = np.full(len(codes) + 2, _CODES["_"], np.uint8)
    array[1:-1] = np.frombuffer(codes, np.uint8)
    return array[:-1] * np.uint8(8) + array[1:]


def pieces(text: bytes) -> Iterator[bytes]:
    """The lines of a text, a chunk or little more at a time."""
    start, chunk = 0, tuning.count("file.chunk")
    while start < len(text):
        end = text.find(b"\n", start + chunk) + 1 or len(text)
        yield text[start:end]
        start = end


def check_numbers(block: bytes, text: bytes, kind: str, mark: bytes | None, columns: int) -> tuple[int, bool]:
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


def parse_numbers(text: bytes, kind: str, count: int) -> np.ndarray:
    """Parse `count` numbers, one per line, as INT64 or FP64. ValueError, OverflowError if the text does not match."""
    from scipy.io import mmread

    if not count:
        return np.zeros(0, np.int64 if kind == "integer" else np.float64)
    head = b"%%%%MatrixMarket matrix array %s general\n%d 1\n" % (kind.encode(), count)
    return np.asarray(mmread(io.BytesIO(head + text + b"\n"), spmatrix=False)).ravel()


# ---- Parse edge weights from text: decimal point or comma, the smallest exact dtype, and hints for bad values.

INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
WEIGHT = "a number as weight"
INTEGERS = b"0123456789+- \t\r\n\v\f"
_LARGEST = 1 << 1023  # smaller integers can be converted to floats
_COMMA = re.compile(r"[+-]?\d[\d. ]*,\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+", re.ASCII)
_PLUS = re.compile(rb"(?<![eE])\+")
_BLANKS = bytes.maketrans(b" \t\r\v\f", b"\n\n\n\n\n")


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


def kind_of(text: bytes) -> str:
    """The kind of the numbers in a text: "integer", or "real" if it contains other characters."""
    return "real" if text.translate(None, INTEGERS) else "integer"


def parse_number_table(text: bytes, kind: str, count: int, rounded: bool = False) -> np.ndarray:
    """Parse the numbers of a text that passed a Scan: INT64, UINT64 if integers need it, or FP64. rounded: integers
    that do not fit become FP64; otherwise they raise ValueError or OverflowError."""
    bare = _PLUS.sub(b" ", text) if b"+" in text else text  # SciPy does not parse a leading plus
    bare = bare.translate(_BLANKS)
    try:
        return parse_numbers(bare, kind, count)
    except (ValueError, OverflowError):
        if kind == "real":
            raise
    try:
        return parse_numbers(bare, "unsigned-integer", count)
    except (ValueError, OverflowError):
        if not rounded:
            raise
    return parse_numbers(bare, "real", count)


def parse_plain_numbers(text: bytes, count: int, decimal: str, rounded: bool = False) -> np.ndarray | None:
    """The numbers of a text as in `table_of`; None unless it contains exactly `count` numbers."""
    if decimal == ",":
        if b"." in text:
            return None
        text = text.replace(b",", b".")
    kind = kind_of(text)
    scan = Scan(kind)
    try:
        for piece in pieces(text):
            scan.feed(piece)
        return parse_number_table(text, kind, count, rounded) if scan.numbers == count else None
    except (Fault, ValueError, OverflowError):
        return None


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
